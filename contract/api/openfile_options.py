"""The options of `open_file` and the read policies: the table of specs/openfile-options.yaml.

The import is cheap: the table is loaded once, at its first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

#: The prefix of every standard key.
PREFIX = "fs.option.openfile."
BUFFER_SIZE = PREFIX + "buffer.size"
READ_POLICY = PREFIX + "read.policy"
LENGTH = PREFIX + "length"
SPLIT_START = PREFIX + "split.start"
SPLIT_END = PREFIX + "split.end"
FOOTER_CACHE = PREFIX + "footer.cache"
#: The prefix of MapReduce's reader options.
JOB_OPTIONAL = "mapreduce.job.input.file.option."
JOB_MANDATORY = "mapreduce.job.input.file.must."

#: The value of an option; None means unset.
Value: TypeAlias = int | bool | str | None


@dataclass(frozen=True)
class ValueType:
    """A type of option values. `examples` are pairs of a set value and its meaning."""

    name: str
    rule: str
    reading: str = ""
    examples: tuple[tuple[str | int | float | bool, Value], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Option:
    """One key.

    `least` is the least valid value, below which it is unset; `zero` is the meaning of 0.
    """

    key: str
    #: The store that defines it: "standard", "s3a" or "abfs".
    store: str
    #: The name of its ValueType.
    type: str
    #: The behaviour if it is unset.
    default: str
    meaning: str
    unit: str = ""
    least: int | None = None
    zero: str = ""
    #: The first Hadoop release with the option, or "".
    since: str = ""
    #: The interpretation chosen if the document contradicts itself.
    reading: str = ""
    #: How Hadoop's implementation differs.
    hadoop: str = ""

    @property
    def standard(self) -> bool:
        """True if every filesystem must recognise the key."""
        return self.store == "standard"

    @property
    def field(self) -> str:
        """A standard key as the name of an attribute, such as `split_start`."""
        return self.key.removeprefix(PREFIX).replace(".", "_")


@dataclass(frozen=True)
class Policy:
    """One read policy. `expects` lists the expected reads: "sequential", "random", "vector"."""

    name: str
    since: str
    meaning: str
    expects: tuple[str, ...]
    #: The default of footer caching for its file format; None if it has no default.
    footer_cache: bool | None
    #: The advice of our local streams to the operating system: "normal", "sequential" or "random".
    advice: str
    #: Read-ahead of our local streams, in bytes; None for their default.
    buffer: int | None


@dataclass(frozen=True)
class OptionTable:
    """All options, their types and the read policies, in the order of the file."""

    source: str
    types: Mapping[str, ValueType]
    options: Mapping[str, Option]
    policies: Mapping[str, Policy]

    @cached_property
    def standard_keys(self) -> frozenset[str]:
        """The keys that every filesystem must recognise."""
        return frozenset(key for key, option in self.options.items() if option.standard)


@lru_cache(maxsize=1)
def option_table() -> OptionTable:
    """Return the table of specs/openfile-options.yaml."""
    # Imported here, so that a filesystem can open files without options without loading YAML.
    from fscontract.contract.untrusted import parse_yaml

    text = files("fscontract.specs").joinpath("openfile-options.yaml").read_text("utf-8")
    data = parse_yaml(text)
    return OptionTable(
        source=data["source"],
        types={name: _type(name, entry) for name, entry in data["types"].items()},
        options={key: Option(key, **entry) for key, entry in data["options"].items()},
        policies={name: _policy(name, entry) for name, entry in data["policies"].items()},
    )


def _type(name: str, entry: Mapping[str, Any]) -> ValueType:
    examples = tuple((given, meant) for given, meant in entry["examples"])
    return ValueType(name, entry["rule"], entry.get("reading", ""), examples)


def _policy(name: str, entry: Mapping[str, Any]) -> Policy:
    ours = entry["ours"]
    return Policy(
        name=name,
        since=entry["since"],
        meaning=entry["meaning"],
        expects=tuple(entry["expects"]),
        footer_cache=entry.get("footer-cache"),
        advice=ours["advice"],
        buffer=ours.get("buffer"),
    )
