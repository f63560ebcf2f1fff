"""Outcomes of calls, independent of the API, and the observer of exceptions that become outcomes.

An outcome keeps the class and the message of an exception only. Who examines a failure observes the
exception itself; without an observer, as for programs that pass, nothing is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

#: Called with an exception, and with the texts to hide in its message.
Observer: TypeAlias = Callable[[BaseException, tuple[str, ...]], None]

#: The observer of this thread: threads of abandoned programs have none.
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


def notice(error: BaseException, secrets: Iterable[str] = ()) -> None:
    """Pass an exception that becomes an outcome to the observer, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(error, tuple(secrets))


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Call `observer` with each exception that becomes an outcome in this thread."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


class Kind(str, Enum):
    """The way in which a call ended."""

    RETURNED = "returned"
    EOF = "EOF"
    IO = "IO"
    NOT_FOUND = "NOT_FOUND"  # an I/O error as well: there is no file at the path
    ILLEGAL_ARGUMENT = "ILLEGAL_ARGUMENT"
    INDEX = "INDEX"
    NULL = "NULL"
    UNSUPPORTED = "UNSUPPORTED"
    OTHER = "OTHER"
    ENVIRONMENT = "ENVIRONMENT"  # network or setup: no verdict on the stream
    INEXPRESSIBLE = "INEXPRESSIBLE"  # the API has no way to make the call

    __hash__ = str.__hash__  # outcomes are keys, and Enum's own hash is a slow Python call

    def __str__(self) -> str:
        return self.value


#: Hadoop's exception hierarchy: the kinds that a caller catches with IOException.
IO_KINDS = frozenset({Kind.EOF, Kind.IO, Kind.NOT_FOUND})
#: ... and those that a caller catches with RuntimeException.
RUNTIME_KINDS = frozenset({Kind.ILLEGAL_ARGUMENT, Kind.INDEX, Kind.NULL, Kind.UNSUPPORTED})


def words(kinds: Iterable[Kind]) -> str:
    """Return kinds of exceptions as text; IO includes NOT_FOUND."""
    names = {kind.value for kind in kinds}
    if Kind.IO.value in names:
        names.discard(Kind.NOT_FOUND.value)
    return " or ".join(sorted(names))


#: The exception of an object that lacks a method or attribute of Python's files.
_LACKS = re.compile(
    r"^AttributeError: (?!'NoneType').* object has no attribute "
    r"'(read(|able|all|into1?|line|lines|1)|seek(able)?|tell|peek|clos(e|ed)|writ(e|able))'$"
    r"|^TypeError: .* object (is not iterable|does not support the context manager protocol)$"
)
#: What clients quote of the answer of a store that is busy.
_BUSY = re.compile(r"\bService Unavailable\b|\bToo Many Requests\b|\bSlowDown\b|\bServerBusy\b")
#: Exceptions of clients whose connection failed, or whose answer ended too early, and what they
#: quote of a proxy that got no answer.
_INTERRUPTED = re.compile(
    r"(^|\(from )\w*(Connect|Disconnect|Timeout|IncompleteRead|Payload|ChunkedEncoding)\w*\b"
    r"|(^|\(from )(BadStatusLine|ContentTooShortError|MaxRetryError|(Remote)?ProtocolError"
    r"|ReadError|ResponseStreamingError|SSHException)\b"
    r"|\bBad Gateway\b|\bGateway Time-?out\b|\bInternal Server Error\b|\bInternalError\b"
    r"|\b(HTTP|[Ss]tatus|[Cc]ode)\W{1,3}5\d\d\b|\bIncompleteRead\b"
    r"|\bConnection broken\b|\bpartial file\b|^\w+: Unexpected \(temporary\)"
    r"|\b(before|reading) (the )?(message|response) (completed|length reached|body)\b"
)
#: The number of runs in which a call has to be interrupted to be judged: a client makes a wrong
#: request each time, and a network that interrupts 1 of 200 answers does so twice in some runs.
INTERRUPTED_RUNS = 4
#: Larger numbers are shown by their size: Python limits the digits that it converts.
_MOST_BITS = 256

#: Messages longer than this are cut before any other processing.
_LONGEST = 10_000

#: The value of every byte of a buffer before a call. File content never holds it.
FILL = 1


class Outcome(NamedTuple):
    """One observed outcome.

    `value` is the call's return value: a count in bytes, a byte, a position, a bool, bytes, None,
    or for a vectored read a tuple with the Outcome of each range. `buffer` is the whole destination
    buffer after the call (it held only FILL before), None if there is none. `detail` describes the
    exception; outcomes that differ only in `detail` are equal.
    """

    kind: Kind
    value: Any = None
    buffer: bytes | None = None
    detail: str = ""

    @property
    def raised(self) -> bool:
        """True if the call raised an exception."""
        return self.kind is not Kind.RETURNED

    @property
    def lacks_method(self) -> bool:
        """Return whether the call raised because the object has no such method."""
        return self.raised and _LACKS.search(self.detail) is not None

    @property
    def is_unanswered(self) -> bool:
        """Return whether the connection failed, or the store was busy, in the call or a range."""
        if self.kind is Kind.RETURNED:
            return type(self.value) is tuple and any(part.is_unanswered for part in self._parts)
        return self.kind is Kind.ENVIRONMENT or _BUSY.search(self.detail) is not None

    @property
    def is_interrupted(self) -> bool:
        """Return whether an exception of the call or a range is that of an interrupted answer.

        A network may interrupt one, but so does a client that makes a wrong request: every time.
        """
        if self.raised and _INTERRUPTED.search(self.detail):
            return True
        return any(part.is_interrupted for part in self._parts)

    @property
    def _parts(self) -> list[Outcome]:
        """The outcomes of the ranges of a vectored read."""
        values = self.value if type(self.value) is tuple else ()
        return [part for part in values if isinstance(part, Outcome)]

    def __str__(self) -> str:
        if self.kind is not Kind.RETURNED:
            return f"{self.kind} ({self.detail})" if self.detail else str(self.kind)
        text = "returned" if self.value is None else f"returned {_show(self.value)}"
        return text if self.buffer is None else f"{text}, buffer {show_bytes(self.buffer)}"


def returned(value: Any = None, buffer: bytes | None = None) -> Outcome:
    """Return the outcome of a call that returned."""
    return Outcome(Kind.RETURNED, value, buffer)


#: The bytes of a value or a buffer that the text of an outcome shows.
SHOWN_BYTES = 16
#: The characters of the items of a list that the text of an outcome shows.
_LIST = 320


def show_bytes(data: bytes, limit: int = SHOWN_BYTES) -> str:
    """Return bytes as short hexadecimal, cut after `limit`."""
    text = data[:limit].hex(" ") or "(empty)"
    return text if len(data) <= limit else f"{text} ... ({len(data)} bytes)"


def _show(value: Any, levels: int = 2) -> str:
    if isinstance(value, bytes):
        return show_bytes(value)
    if isinstance(value, Outcome):
        return str(value)
    if isinstance(value, tuple) and levels:
        items = [_show(item, levels - 1) for item in value]
        sizes = accumulate(map(len, items))
        shown = max(1, sum(size <= _LIST for size in sizes))
        rest = [f"... ({len(items)} items)"] if len(items) > shown else []
        return "[" + ", ".join([*items[:shown], *rest]) + "]"
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return f"a number of {value.bit_length()} bits"
    return clip(repr(value))


def clip(text: str, limit: int = 160) -> str:
    """Return the text, or its beginning if it is long."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


#: Exceptions that report a failed connection to the store, not a violation of the contract.
_ENVIRONMENT = (ConnectionError, TimeoutError)
#: First match wins. UNSUPPORTED is an OSError and a ValueError in Python, so it comes first.
_BY_CLASS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], Kind], ...] = (
    (_ENVIRONMENT, Kind.ENVIRONMENT),
    (NotImplementedError, Kind.UNSUPPORTED),
    (EOFError, Kind.EOF),
    (FileNotFoundError, Kind.NOT_FOUND),
    (OSError, Kind.IO),
    (IndexError, Kind.INDEX),
    (ValueError, Kind.ILLEGAL_ARGUMENT),
    (OverflowError, Kind.ILLEGAL_ARGUMENT),
    (TypeError, Kind.NULL),
)


def classify(error: BaseException) -> Kind:
    """Return the API-neutral kind of a Python exception."""
    from io import UnsupportedOperation

    if isinstance(error, UnsupportedOperation):
        return Kind.UNSUPPORTED
    for classes, kind in _BY_CLASS:
        if isinstance(error, classes):
            return kind
    return Kind.OTHER


def raised(error: BaseException, kind: Kind | None = None) -> Outcome:
    """Return the outcome of a call that raised `error`; `kind` overrides the classification."""
    notice(error)
    return raised_as(error, _described, kind)


def raised_as(
    error: BaseException, describe: Callable[[BaseException], str], kind: Kind | None = None
) -> Outcome:
    """Return the outcome of a call that raised `error`, as `describe` shows it.

    The detail also has its cause if that is what the network did: a client may raise the same
    exception for a lost answer as for a missing file.
    """
    outcome, cause = Outcome(kind or classify(error), detail=describe(error)), error.__cause__
    if cause is None or outcome.is_unanswered or outcome.is_interrupted:
        return outcome
    lost = Outcome(classify(cause), detail=describe(cause))
    if not (lost.is_unanswered or lost.is_interrupted):
        return outcome
    return outcome._replace(detail=f"{outcome.detail} (from {lost.detail})")


def _described(error: BaseException) -> str:
    text = " ".join(text_of(error).split())[:160]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def text_of(error: BaseException) -> str:
    """Return the message of an exception, or its beginning; empty if `str` fails."""
    try:
        return str(error)[:_LONGEST]
    except BaseException:  # code of the target may raise anything
        return ""


INEXPRESSIBLE = Outcome(Kind.INEXPRESSIBLE)
