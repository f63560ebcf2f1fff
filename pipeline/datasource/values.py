"""What the texts of options stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fscontract.pipeline.datasource.errors import SourceException

if TYPE_CHECKING:
    from fscontract.pipeline.datasource.options import Option

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d{1,15})\s*([kmg]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_TRUTHS = {"true": True, "false": False}


def read_value(option: Option, text: str) -> Any:
    """The value of an option; SourceException."""
    try:
        return _KINDS[option.kind](option, text)
    except ValueError as error:
        raise SourceException(f"option {option.name!r} can't be {text!r:.80}: {error}") from None


def _size(option: Option, text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError("a number of bytes, such as 1048576 or 64m")
    return _bounded(option, int(found[1]) * _UNITS[found[2].lower()])


def _count(option: Option, text: str) -> int:
    if not re.fullmatch(r"\d{1,15}", text.strip(), re.ASCII):
        raise ValueError("a whole number")
    return _bounded(option, int(text))


def _bounded(option: Option, number: int) -> int:
    if not option.least <= number <= option.most:
        raise ValueError(f"from {option.least} to {option.most}")
    return number


def _seconds(option: Option, text: str) -> float:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip(), re.ASCII) or not float(text):
        raise ValueError("a number of seconds, more than 0")
    return float(text)


def _boolean(option: Option, text: str) -> bool:
    found = _TRUTHS.get(text.strip().lower())
    if found is None:
        raise ValueError("true or false")
    return found


def _choice(option: Option, text: str) -> str:
    if text.strip().lower() not in option.choices:
        raise ValueError(f"one of {', '.join(option.choices)}")
    return text.strip().lower()


def _columns(option: Option, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _text(option: Option, text: str) -> str:
    if not text:
        raise ValueError("it is empty")
    return text


def _hex(option: Option, text: str) -> bytes:
    found = bytes.fromhex(text)
    if not found:
        raise ValueError("it is empty")
    return found


def _pattern(option: Option, text: str) -> str | None:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text or None


_KINDS: dict[str, Callable[[Option, str], Any]] = {
    "boolean": _boolean,
    "choice": _choice,
    "columns": _columns,
    "count": _count,
    "hex": _hex,
    "location": _text,
    "pattern": _pattern,
    "seconds": _seconds,
    "size": _size,
    "text": _text,
}
