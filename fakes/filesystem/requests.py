"""Requests to the fake store: what they ask for, what came of them, and how they fail."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.program.faults import Turn
from fscontract.fakes.filesystem.tree import Check


@dataclass(frozen=True)
class Latency:
    """How many seconds a request takes, and each byte of its body on top."""

    request: float = 0.02
    byte: float = 1e-8

    def __post_init__(self) -> None:
        if not (self.request >= 0 and self.byte >= 0):
            raise IllegalArgumentException(f"a latency is 0 or more, not {self}")


class Request(NamedTuple):
    """One line of the log: what was asked of the store, when, and what came of it.

    `kind` is "open", "status", "list", "read", or what changes something: "put", "mkdirs",
    "delete", "rename", "permission"; "access" asks for permissions. `offset`, `length` (in bytes,
    as asked for), `version` (an etag) and `replica` are those of a read. It began `at` a moment of
    the clock and took `seconds`. `outcome` is "ok" or one word for what was wrong: the kind of the
    fault, "missing", "denied", "precondition", "range", "lost", "refused".
    """

    kind: str
    path: str
    offset: int | None
    length: int | None
    version: str | None
    replica: int | None
    at: float
    seconds: float
    outcome: str


class Target(NamedTuple):
    """What a read asks for besides the path: see `Request`."""

    offset: int | None = None
    length: int | None = None
    version: str | None = None
    replica: int | None = None


class Answer(NamedTuple):
    """The body of a read, and the checks of all the bytes that it should have."""

    body: bytes
    checks: tuple[Check, ...]


@dataclass
class Exchange:
    """A request while it is under way: its turn in the plan of faults, and what it comes to."""

    path: str
    turn: Turn
    seconds: float
    outcome: str = "ok"

    @property
    def fault(self) -> str:
        """The kind of the fault that strikes it, or ""."""
        return "" if self.turn.fault is None else self.turn.fault.kind

    def take_effect(self) -> None:
        """Count the fault, and let it be the outcome."""
        self.outcome = self.fault
        self.turn.took_effect()


class RequestFailed(PathIOException):
    """A request that was not answered as it should be."""

    #: What the log of requests says.
    outcome: ClassVar[str] = "failed"
    #: Whether trying again may help.
    transient: ClassVar[bool] = True
    #: How many seconds the store asks to wait for before that.
    wait: float = 0.0


class ConnectionReset(RequestFailed, ConnectionResetError):
    """The connection was reset."""

    outcome = "reset"


class RequestTimedOut(RequestFailed, TimeoutError):
    """There was no answer in time."""

    outcome = "timeout"


class SlowDown(RequestFailed):
    """The store is busy (503), and says when to come back."""

    outcome = "throttle"

    def __init__(self, path: str, wait: float) -> None:
        super().__init__(path, f"the store is busy; it asks to wait for {wait:g} s")
        self.wait = wait


class RangeNotSatisfiable(RequestFailed):
    """The range begins beyond the end (416); `length` is where the store says the end is."""

    outcome = "range"
    transient = False

    def __init__(self, path: str, offset: int, length: int) -> None:
        super().__init__(path, f"no bytes from {offset} on, says the store, in {length} bytes")
        self.length = length


class TooManyOpenFiles(RequestFailed):
    """There is no descriptor left (EMFILE)."""

    outcome = "descriptors"
    transient = False

    def __init__(self, path: str) -> None:
        super().__init__(path, "too many open files")
        self.errno = errno.EMFILE


class BodyCut(RequestFailed):
    """The body ended before it should have."""

    outcome = "cut-body"


class ReplicaFailed(RequestFailed):
    """A replica does not have the bytes that it should have; another one may."""


class ReplicaLost(ReplicaFailed):
    """The replica has no copy of the block."""

    outcome = "lost"


class ChecksumMismatch(ReplicaFailed):
    """The bytes are not those that were written."""

    outcome = "corrupt"


def changed(path: str) -> RemoteFileChangedException:
    """The error for a file that is no longer the version that was asked for (412)."""
    return RemoteFileChangedException(path, "the file was changed or replaced")


def outcome_of(error: BaseException) -> str:
    """An error as one word for the log of requests."""
    if isinstance(error, RequestFailed):
        return error.outcome
    words = (
        (FileNotFoundException, "missing"),
        (AccessControlException, "denied"),
        (RemoteFileChangedException, "precondition"),
    )
    return next((word for kind, word in words if isinstance(error, kind)), "refused")
