"""The options of `open_file` and the read policies: the table of specs/openfile-options.yaml.

Importing this costs nothing; the table is read, once, when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

#: What every standard key starts with.
PREFIX = "fs.option.openfile."
BUFFER_SIZE = PREFIX + "buffer.size"
READ_POLICY = PREFIX + "read.policy"
LENGTH = PREFIX + "length"
SPLIT_START = PREFIX + "split.start"
SPLIT_END = PREFIX + "split.end"
FOOTER_CACHE = PREFIX + "footer.cache"
#: Where MapReduce has the options of its readers.
JOB_OPTIONAL = "mapreduce.job.input.file.option."
JOB_MANDATORY = "mapreduce.job.input.file.must."

#: What an option comes to; None is unset.
Value: TypeAlias = int | bool | str | None


@dataclass(frozen=True)
class ValueType:
    """How a value is read. `examples` are pairs of what is set and what it means."""

    name: str
    rule: str
    reading: str = ""
    examples: tuple[tuple[str | int | float | bool, Value], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Option:
    """One key. `least` is the least value, below which it is unset; `zero` is what 0 means."""

    key: str
    #: Who has it: "standard", "s3a" or "abfs".
    store: str
    #: The name of its ValueType.
    type: str
    #: What applies where it is unset.
    default: str
    meaning: str
    unit: str = ""
    least: int | None = None
    zero: str = ""
    #: The first Hadoop release that has it, or "".
    since: str = ""
    #: The reading taken where the document contradicts itself.
    reading: str = ""
    #: Where Hadoop does otherwise.
    hadoop: str = ""

    @property
    def standard(self) -> bool:
        """Whether every filesystem has to recognise it."""
        return self.store == "standard"

    @property
    def field(self) -> str:
        """A standard key as the name of an attribute, such as `split_start`."""
        return self.key.removeprefix(PREFIX).replace(".", "_")


@dataclass(frozen=True)
class Policy:
    """One read policy. `expects` are the reads to come: "sequential", "random", "vector"."""

    name: str
    since: str
    meaning: str
    expects: tuple[str, ...]
    #: Whether its file format has the footer cached by default; None if it brings no default.
    footer_cache: bool | None
    #: What our local streams tell the operating system: "normal", "sequential" or "random".
    advice: str
    #: How many bytes our local streams read ahead; None for their default.
    buffer: int | None


@dataclass(frozen=True)
class OptionTable:
    """Everything there is to know about the options, in the order of the file."""

    source: str
    types: Mapping[str, ValueType]
    options: Mapping[str, Option]
    policies: Mapping[str, Policy]

    @cached_property
    def standard_keys(self) -> frozenset[str]:
        """The keys that every filesystem has to recognise."""
        return frozenset(key for key, option in self.options.items() if option.standard)


@lru_cache(maxsize=1)
def option_table() -> OptionTable:
    """The table of specs/openfile-options.yaml."""
    # Here, so that a filesystem is imported, and opens files without options, free of YAML.
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
