"""The ways in which a request to the fake store fails."""

from __future__ import annotations

import errno
from typing import ClassVar

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)


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
