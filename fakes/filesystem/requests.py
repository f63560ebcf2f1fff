"""Requests to the fake store: their parameters, outcomes and errors, and their log."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar, NamedTuple

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.fault_kinds import OPERATIONS
from fscontract.fakes.filesystem.tree import Check


@dataclass(frozen=True)
class Latency:
    """Seconds that a request takes, and each byte of its body in addition."""

    request: float = 0.02
    byte: float = 1e-8

    def __post_init__(self) -> None:
        if not (self.request >= 0 and self.byte >= 0):
            raise IllegalArgumentException(f"a latency is 0 or more, not {self}")


class Request(NamedTuple):
    """One line of the log: a request to the store, its time and its outcome.

    `operation` is one of the operations that faults strike; "get" is a read of bytes, "head" of a
    status. `offset`, `length` (requested bytes), `version` (an etag) and `replica` are those of a
    get; a put has a `length`, too. The request started `at` a time of the clock and took
    `seconds`. `outcome` is "ok" or one word for the failure: the kind of the fault, "missing",
    "denied", "precondition", "range", "lost", "refused".
    """

    operation: str
    path: str
    offset: int | None
    length: int | None
    version: str | None
    replica: int | None
    at: float
    seconds: float
    outcome: str


class Target(NamedTuple):
    """The parameters of a read or write besides the path: see `Request`."""

    offset: int | None = None
    length: int | None = None
    version: str | None = None
    replica: int | None = None


class Answer(NamedTuple):
    """The body of a read, and the checksums of all its expected bytes."""

    body: bytes
    checks: tuple[Check, ...]


@dataclass
class Exchange:
    """A request in progress: its turn in the plan of faults, and its outcome.

    `size` is the number of bytes that it writes.
    """

    path: str
    turn: Turn
    seconds: float
    size: int = 0
    outcome: str = "ok"

    @property
    def fault(self) -> str:
        """The kind of the fault that strikes it, or ""."""
        return "" if self.turn.fault is None else self.turn.fault.kind

    def take_effect(self) -> None:
        """Count the fault, and set it as the outcome."""
        self.outcome = self.fault
        self.turn.took_effect()


class RequestFailed(PathIOException):
    """A failed request."""

    #: The outcome in the log of requests.
    outcome: ClassVar[str] = "failed"
    #: True if a retry may help.
    transient: ClassVar[bool] = True
    #: The delay in seconds that the store requests before a retry.
    wait: float = 0.0


class ConnectionReset(RequestFailed, ConnectionResetError):
    """The connection was reset."""

    outcome = "reset"


class AcknowledgementLost(ConnectionReset):
    """The connection was reset after the request took effect."""

    outcome = "lost-ack"


class WriteCut(ConnectionReset):
    """The connection was reset during a write, of which the store kept the beginning."""

    outcome = "partial-write"


class RequestTimedOut(RequestFailed, TimeoutError):
    """There was no answer within the timeout."""

    outcome = "timeout"


class SlowDown(RequestFailed):
    """The store is busy (503); the answer has the delay before a retry."""

    outcome = "throttle"

    def __init__(self, path: str, wait: float) -> None:
        super().__init__(path, f"the store is busy; it asks to wait for {wait:g} s")
        self.wait = wait
        self.errno = errno.EBUSY


class RangeNotSatisfiable(RequestFailed):
    """The range begins beyond the end (416); `length` is the end that the store reports."""

    outcome = "range"
    transient = False

    def __init__(self, path: str, offset: int, length: int) -> None:
        super().__init__(path, f"no bytes from {offset} on, says the store, in {length} bytes")
        self.length = length


class TooManyOpenFiles(RequestFailed):
    """There are no free descriptors (EMFILE)."""

    outcome = "descriptors"
    transient = False

    def __init__(self, path: str) -> None:
        super().__init__(path, "too many open files")
        self.errno = errno.EMFILE


class QuotaExceeded(RequestFailed):
    """There is no room for a write (EDQUOT)."""

    outcome = "quota"
    transient = False

    def __init__(self, path: str, limit: int) -> None:
        super().__init__(path, f"the quota of {limit} bytes is exceeded")
        self.errno = getattr(errno, "EDQUOT", errno.ENOSPC)


class CredentialsExpired(RequestFailed, AccessControlException):
    """The credentials of the client have expired (403)."""

    outcome = "expired"
    transient = False


class BodyCut(RequestFailed):
    """The body is shorter than announced."""

    outcome = "cut-body"


class ReplicaFailed(RequestFailed):
    """A replica lacks the right bytes; another one may have them."""


class ReplicaLost(ReplicaFailed):
    """The replica has no copy of the block."""

    outcome = "lost"


class ChecksumMismatch(ReplicaFailed):
    """The checksum of the bytes differs."""

    outcome = "corrupt"


def changed(path: str) -> RemoteFileChangedException:
    """Return the error for a changed version of a file (412)."""
    return RemoteFileChangedException(path, "the file was changed or replaced")


def outcome_of(error: BaseException) -> str:
    """Return an error as one word for the log of requests."""
    if isinstance(error, RequestFailed):
        return error.outcome
    words = (
        (FileNotFoundException, "missing"),
        (AccessControlException, "denied"),
        (RemoteFileChangedException, "precondition"),
    )
    return next((word for kind, word in words if isinstance(error, kind)), "refused")


#: The most requests that a table shows; it leaves out those in the middle.
MOST_ROWS = 40
_HEADING = ("", "operation", "path", "range", "at", "seconds", "outcome")
_NUMERIC = (0, 3, 4, 5)
#: The name of the budget for the requests of all operations.
TOTAL = "total"


class Requests(tuple[Request, ...]):
    """Requests to a store, the oldest first; their text is a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return table(self)

    def counts(self) -> dict[str, int]:
        """Return the number of requests of each operation."""
        return dict(Counter(request.operation for request in self))

    def check(self, budgets: Mapping[str, int]) -> None:
        """Raise AssertionError if the number of requests of an operation is not the given one.

        Operations without a number may have any; "total" counts all. Raise
        IllegalArgumentException for an unknown operation.
        """
        _check_budgets(budgets)
        counts = self.counts()
        wrong = [
            f"{name}={counts.get(name, 0) if name != TOTAL else len(self)} (expected {number})"
            for name, number in budgets.items()
            if number != (counts.get(name, 0) if name != TOTAL else len(self))
        ]
        if wrong:
            raise AssertionError(f"requests: {', '.join(wrong)}\n{self}")


def table(requests: Iterable[Request]) -> str:
    """Return requests as a table, with times in seconds of the clock."""
    rows = [_row(number, request) for number, request in enumerate(requests, 1)]
    if not rows:
        return "no requests"
    left_out = len(rows) - MOST_ROWS
    shown = rows if left_out <= 0 else rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :]
    widths = [max(len(row[i]) for row in (_HEADING, *shown)) for i in range(len(_HEADING))]
    lines = [_line(row, widths) for row in (_HEADING, *shown)]
    if left_out > 0:
        lines.insert(1 + MOST_ROWS // 2, f"... {left_out} requests left out")
    return "\n".join(lines)


def _row(number: int, request: Request) -> tuple[str, ...]:
    extent = ""
    if request.offset is not None and request.length is not None:
        extent = f"{request.offset}+{request.length}"
    path = request.path if request.path.isprintable() else ascii(request.path)[1:-1]
    times = f"{request.at:g}", f"{request.seconds:g}"
    return (str(number), request.operation, path, extent, *times, request.outcome)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (
        cell.rjust(width) if i in _NUMERIC else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def _check_budgets(budgets: Mapping[str, int]) -> None:
    known = (*OPERATIONS, TOTAL)
    if not budgets:
        raise IllegalArgumentException(f"expected a number for one of {', '.join(known)}")
    for name, number in budgets.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise IllegalArgumentException(
                f"unknown operation {name!r:.40}; allowed: {', '.join(known)}{meant}"
            )
        if type(number) is not int or number < 0:
            raise IllegalArgumentException(
                f"{name} must be a number of requests, got {number!r:.40}"
            )
