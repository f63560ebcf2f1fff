"""Read `[tool.fscontract]` of pyproject.toml: defaults of runs, and the targets of a project.

The values have the names and meanings of the options of `fscontract check`. Those of a target
override the defaults, and options of the command line override both. Paths are relative to the
file.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fscontract.contract.targets import names_code
from fscontract.contract.untrusted import UntrustedError, listed, load_text, schema_mistakes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NAME = "pyproject.toml"
_TABLE = "tool.fscontract"
#: Names of options whose values are secrets. A committed file must not hold them.
_SECRET = re.compile(r"pass|pwd|secret|token|cred|cookie|bearer|key\Z", re.IGNORECASE)
#: Options whose values are paths; the value of `profile` may also be a name.
_PATHS = ("known", "content")


class ConfigError(ValueError):
    """An invalid configuration; the message has one line for each error, with file and key."""


@dataclass(frozen=True)
class Config:
    """The table of one file: values for all targets, and those of each target by option."""

    path: Path | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    targets: Sequence[Mapping[str, Any]] = ()

    def runs(self, target: str | None = None) -> list[dict[str, Any]]:
        """Return the values of each configured run, those of `target` if it is given.

        A target that the file does not list gets the defaults.
        """
        entries = [e for e in self.targets if target is None or e["target"] == target]
        if target is not None:
            entries = entries or [{"target": target}]
        return [{**self.defaults, **entry} for entry in entries]


def find_config(folder: Path) -> Config:
    """Return the configuration of the nearest pyproject.toml that has one, from `folder` upwards.

    It is empty if there is none. Raise ConfigError for an invalid table.
    """
    for parent in (folder, *folder.parents):
        path = parent / _NAME
        if path.is_file():
            config = load_config(path)
            if config is not None:
                return config
    return Config()


def load_config(path: Path) -> Config | None:
    """Return the configuration of a file, None if it has no table. Raise ConfigError."""
    try:
        data = tomllib.loads(load_text(path))
    except (UntrustedError, tomllib.TOMLDecodeError, RecursionError) as error:
        where = "" if isinstance(error, UntrustedError) else f"{path}: not TOML: "
        raise ConfigError(f"{where}{error}") from None
    tool = data.get("tool")
    if not isinstance(tool, dict) or "fscontract" not in tool:
        return None
    table = tool["fscontract"]
    for check in (_schema_mistakes, _secrets):
        mistakes = listed(f"{path}: {mistake}" for mistake in check(table))
        if mistakes:
            raise ConfigError(mistakes)
    targets = [_values(entry, path.parent) for entry in table.pop("target", ())]
    return Config(path, _values(table, path.parent), targets)


def _schema_mistakes(table: Any) -> Iterator[str]:
    for mistake in schema_mistakes(table, "config"):
        place, _, text = mistake.partition(": ")
        inner = "" if place == "top level" else f".{place}"
        yield f"{_TABLE}{inner}: {text}"


def _secrets(table: Mapping[str, Any]) -> Iterator[str]:
    for number, entry in enumerate(table.get("target", ())):
        for name in entry.get("options", {}):
            if _SECRET.search(name):
                place = f"{_TABLE}.target[{number}].options.{name}"
                yield f"{place}: secrets must not be in a file; use the environment or -o"


def _values(entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the values of a table as option values.

    Relative paths become relative to the current directory.
    """
    values = dict(entry)
    for name in ("features", "clauses", "exclude", "fail_on"):
        if name in values:
            values[name] = tuple(values[name])
    if "strict" in values:
        strict = (
            ["inherited"] * values["strict"]
            if isinstance(values["strict"], bool)
            else values["strict"]
        )
        values["strict"] = (strict,) if isinstance(strict, str) else tuple(strict)
    for name in _PATHS:
        if name in values:
            values[name] = Path(_relative(values[name], folder))
    if "profile" in values and (folder / values["profile"]).is_file():
        values["profile"] = _relative(values["profile"], folder)
    if values.get("budget") == "none":
        values["budget"] = math.inf
    if "options" in values:
        values["options"] = {name: _text(value) for name, value in values["options"].items()}
    for name in ("target", "encode"):
        if name in values:
            values[name] = _target(values[name], folder)
    return values


def _target(target: str, folder: Path) -> str:
    """Return the target as the user would type it in the current directory."""
    path, colon, name = target.rpartition(":")
    if not (names_code(target) and path.endswith(".py")):
        return target
    return f"{_relative(path, folder)}{colon}{name}"


def _relative(path: str, folder: Path) -> str:
    if folder == Path.cwd() or os.path.isabs(path):
        return path
    return os.path.relpath(folder / path)


def _text(value: Any) -> str:
    """Return a TOML value as written on a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
