"""Option type of S3, the Spark source and the commands, and parsers of option values.

A table of options is a sequence of `Option`. The kind of an option is a function that converts text
to a value of its type, or raises ValueError with the allowed values. Kinds used by several tables
are here, others are next to their table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from fscontract.contract.api.errors import IllegalArgumentException

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
#: Maximum size and count of an option unless its table sets a lower one.
LARGEST = 1 << 53

_SIZES = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*(ms|s|m|h)?", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(r"\d{1,15}", re.ASCII)
_TRUTHS = {"true": True, "false": False}
_SWITCHES = {**_TRUTHS, "yes": True, "on": True, "1": True, "no": False, "off": False, "0": False}


def parse_size(text: str, minimum: float = 0, maximum: float = LARGEST) -> int:
    """Return the bytes of a size such as `4096`, `64K` or `1 MiB`; raise ValueError."""
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _SIZES[match[2].upper()] if match else -1
    if not minimum <= size <= maximum:
        bounds = f"from {_short(minimum)} to {_short(maximum)}"
        raise ValueError(f"expected a size such as 64K, {bounds}")
    return size


def parse_duration(
    text: str, minimum: float = 0.0, maximum: float = LARGEST, unit: str = "s"
) -> float:
    """Return the seconds of a time such as `500ms`, `5s` or `2m`; raise ValueError.

    A plain number has the unit `unit`.
    """
    match = _TIME.fullmatch(text.strip())
    seconds = float(match[1]) * _TIMES[(match[2] or unit).lower()] if match else -1.0
    if not minimum <= seconds <= maximum:
        bounds = f"from {minimum:.15g} to {maximum:.15g} seconds"
        raise ValueError(f"expected a time such as 500ms, 5s or 2m, {bounds}")
    return seconds


def _short(size: float) -> str:
    """Return a size as text for `parse_size`, in the largest unit of which it is a multiple."""
    units = (u for u in reversed(_SIZES) if size and size % _SIZES[u] == 0)
    unit = next(units, "")
    return f"{int(size) // _SIZES[unit]}{unit}"


@dataclass(frozen=True)
class Option:
    """One option of a table; `kind` parses its text. `meaning` is for the documentation."""

    name: str
    kind: Kind
    meaning: str
    default: Any = None
    minimum: float = 0
    maximum: float = LARGEST
    choices: tuple[str, ...] = ()
    #: Unit of a duration without one.
    unit: str = "s"

    #: Name of an option in messages.
    label: ClassVar[str] = "option"
    #: Kinds whose values are never shown in a message.
    hidden: ClassVar[tuple[Kind, ...]] = ()

    def parse(self, value: Any, origin: str = "") -> Any:
        """Return the value of the option's type; raise IllegalArgumentException.

        The message names the option, its `origin`, the value, and the allowed values.
        """
        try:
            return self.kind(self, str(value))
        except ValueError as error:
            source = f", from {origin}," if origin else ""
            text = "the given value" if self.kind in self.hidden else f"{value!r:.80}"
            raise IllegalArgumentException(
                f"{self.label} {self.name!r}{source} can't be {text}: {error}"
            ) from None


#: Converts the text of an option to its value; raises ValueError with the allowed values.
Kind: TypeAlias = Callable[[Option, str], Any]


def boolean(option: Option, text: str) -> bool:
    """Parse `true` or `false`."""
    return _truth(text, _TRUTHS)


def switch(option: Option, text: str) -> bool:
    """Parse `true` or `false`, or other words for them that environment variables use."""
    return _truth(text, _SWITCHES)


def _truth(text: str, words: Mapping[str, bool]) -> bool:
    truth = words.get(text.strip().lower())
    if truth is None:
        raise ValueError("expected true or false")
    return truth


def count(option: Option, text: str) -> int:
    """Parse a whole number."""
    number = int(text) if _COUNT.fullmatch(text.strip()) else -1
    if not option.minimum <= number <= option.maximum:
        bounds = f"from {option.minimum:.15g} to {option.maximum:.15g}"
        raise ValueError(f"expected a whole number {bounds}")
    return number


def size(option: Option, text: str) -> int:
    """Parse a number of bytes."""
    return parse_size(text, option.minimum, option.maximum)


def duration(option: Option, text: str) -> float:
    """Parse a time in seconds."""
    return parse_duration(text, option.minimum, option.maximum, option.unit)


def choice(option: Option, text: str) -> str:
    """Parse one of the option's choices, in any case."""
    choices = {name.lower(): name for name in option.choices}
    name = text.strip()
    if name.lower() not in choices:
        hint = _near_misses(name, option.choices)
        raise ValueError(f"expected one of {', '.join(option.choices)}{hint}")
    return choices[name.lower()]


def text(option: Option, text: str) -> str:
    """Parse any text that is not empty."""
    if not text:
        raise ValueError("must not be empty")
    return text


def unknown_option(
    name: str, known: Iterable[str], names: Iterable[str], label: str = Option.label
) -> IllegalArgumentException:
    """Return the error for an unknown name, with similar names or else `names`."""
    hint = _near_misses(name, known) or f"; known: {', '.join(names)}"
    return IllegalArgumentException(f"unknown {label} {name!r:.80}{hint}")


def parse_options(given: Mapping[str, Any], table: Sequence[Option]) -> dict[str, Any]:
    """Return the value of every option of a table by its name, or its default.

    Names are case-insensitive. Raise IllegalArgumentException for unknown names and invalid values.
    """
    by_name = {option.name.lower(): option for option in table}
    values = {option.name: option.default for option in table}
    for name, value in given.items():
        option = by_name.get(name.lower())
        if option is None:
            names = [option.name for option in table]
            raise unknown_option(name, names, names)
        values[option.name] = option.parse(value)
    return values


def _near_misses(name: str, known: Iterable[str]) -> str:
    # imported late, so that commands start quickly
    from fscontract.contract.spec.clauses import near_misses

    return near_misses(name, known)
