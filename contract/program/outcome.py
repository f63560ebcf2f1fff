"""What one call did, in words that no API owns."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class Kind(str, Enum):
    """How a call ended."""

    RETURNED = "returned"
    EOF = "EOF"
    IO = "IO"
    ILLEGAL_ARGUMENT = "ILLEGAL_ARGUMENT"
    INDEX = "INDEX"
    NULL = "NULL"
    UNSUPPORTED = "UNSUPPORTED"
    OTHER = "OTHER"
    ENVIRONMENT = "ENVIRONMENT"  # network or set-up: no verdict on the stream
    INEXPRESSIBLE = "INEXPRESSIBLE"  # the API has no way to make the call

    __hash__ = str.__hash__  # Enum's own is a Python call, and outcomes are keys

    def __str__(self) -> str:
        return self.value


#: Hadoop's exception hierarchy: what a caller that catches IOException catches.
IO_KINDS = frozenset({Kind.EOF, Kind.IO})
#: ... and what one that catches RuntimeException catches.
RUNTIME_KINDS = frozenset({Kind.ILLEGAL_ARGUMENT, Kind.INDEX, Kind.NULL, Kind.UNSUPPORTED})

#: Larger numbers are told by their size: Python shows no number of any length.
_MOST_BITS = 256

#: Messages longer than this are cut before anything is done with them.
_LONGEST = 10_000

#: The value of every byte of a buffer before a call. File content never holds it.
FILL = 1


class Outcome(NamedTuple):
    """One observed outcome.

    `value` is what the call returned: a count in bytes, a byte, a position, a bool, bytes, None,
    or for a vectored read a tuple with the Outcome of each range. `buffer` is the whole
    destination buffer after the call (it held only FILL before), None where there is none.
    `detail` says which exception it was; two outcomes that differ in it only are the same.
    """

    kind: Kind
    value: Any = None
    buffer: bytes | None = None
    detail: str = ""

    @property
    def raised(self) -> bool:
        """Whether the call ended in an exception."""
        return self.kind is not Kind.RETURNED

    def __str__(self) -> str:
        if self.kind is not Kind.RETURNED:
            return f"{self.kind} ({self.detail})" if self.detail else str(self.kind)
        text = "returned" if self.value is None else f"returned {_show(self.value)}"
        return text if self.buffer is None else f"{text}, buffer {show_bytes(self.buffer)}"


def returned(value: Any = None, buffer: bytes | None = None) -> Outcome:
    """The outcome of a call that returned."""
    return Outcome(Kind.RETURNED, value, buffer)


def show_bytes(data: bytes, limit: int = 16) -> str:
    """Bytes as short hexadecimal, cut after `most`."""
    text = data[:limit].hex(" ") or "(empty)"
    return text if len(data) <= limit else f"{text} ... ({len(data)} bytes)"


def _show(value: Any) -> str:
    if isinstance(value, bytes):
        return show_bytes(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(str(item) for item in value) + "]"
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return f"a number of {value.bit_length()} bits"
    return clip(repr(value))


def clip(text: str, limit: int = 160) -> str:
    """The text, or its beginning if it is long."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


#: Exceptions that say the way to the store failed, not that the stream broke its contract.
_ENVIRONMENT = (ConnectionError, TimeoutError)
#: First match wins. UNSUPPORTED is an OSError and a ValueError in Python, so it comes first.
_BY_CLASS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], Kind], ...] = (
    (_ENVIRONMENT, Kind.ENVIRONMENT),
    (NotImplementedError, Kind.UNSUPPORTED),
    (EOFError, Kind.EOF),
    (OSError, Kind.IO),
    (IndexError, Kind.INDEX),
    (ValueError, Kind.ILLEGAL_ARGUMENT),
    (OverflowError, Kind.ILLEGAL_ARGUMENT),
    (TypeError, Kind.NULL),
)


def classify(error: BaseException) -> Kind:
    """The neutral kind of a Python exception."""
    from io import UnsupportedOperation

    if isinstance(error, UnsupportedOperation):
        return Kind.UNSUPPORTED
    for classes, kind in _BY_CLASS:
        if isinstance(error, classes):
            return kind
    return Kind.OTHER


def raised(error: BaseException, kind: Kind | None = None) -> Outcome:
    """The outcome of a call that raised `error`; `kind` overrides the classification."""
    text = " ".join(text_of(error).split())[:160]
    detail = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Outcome(kind or classify(error), None, None, detail)


def text_of(error: BaseException) -> str:
    """What an exception says, or the beginning of it; nothing if it can't be made to."""
    try:
        return str(error)[:_LONGEST]
    except BaseException:  # code of the target, of which nothing can be relied on
        return ""


INEXPRESSIBLE = Outcome(Kind.INEXPRESSIBLE)
