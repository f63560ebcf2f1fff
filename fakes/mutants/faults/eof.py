"""Mutants that do not recover after a failure: position, next call, end of file."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
)
from fscontract.contract.api.filesystem import Allocate, FileRange, Release
from fscontract.fakes.filesystem.client import Client, Connection, FakeInputStream
from fscontract.fakes.filesystem.errors import (
    BodyCut,
    ConnectionReset,
    RangeNotSatisfiable,
    RequestFailed,
)
from fscontract.fakes.mutants.faults.filesystems import DiskFiles
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.local_stream import Descriptor

T = TypeVar("T")


@mutant("fault.position", FakeInputStream._pread_at, faults={"timeout"})
def pread_forgets_the_way_back(self: FakeInputStream, position: int, view: memoryview) -> int:
    """A positioned read seeks, reads, and seeks back unless there is no answer."""
    before, self._pos = self._pos, position
    count = self._read_at(position, view)
    self._pos = before
    return count


@mutant("fault.position", FakeInputStream._fill, faults={"reset", "range"})
def moves_by_the_buffer(self: FakeInputStream) -> int:
    """A failed read-ahead moves the stream by as much as it wanted to have."""
    try:
        return right(self)._fill()
    except OSError:
        self._pos = min(self._size, self._pos + len(self._buffer))
        raise


@mutant("fault.position", FakeInputStream.read_byte, faults={"throttle", "corrupt", "cut-body"})
def counts_retries(self: FakeInputStream) -> int:
    """A byte that came at the second attempt counts twice."""
    before = self._sources.requests
    byte = right(self).read_byte()
    if self._sources.requests > before + 1:
        self._pos = min(self._size, self._pos + 1)
    return byte


@mutant("fault.next", Connection.read, faults={"reset", "precondition"})
def half_closed(self: Connection, position: int, view: memoryview) -> int:
    """A read after a failed one uses a client that the failed one dropped."""
    try:
        return right(self).read(position, view)
    except OSError:
        del self._client
        raise


@mutant("fault.close", faults={"timeout", "range"})
class CloseTellsAgain(FakeInputStream):
    """The error of a read comes out of close() once more."""

    _error: OSError | None = None

    def _read_at(self, position: int, view: memoryview) -> int:
        try:
            return super()._read_at(position, view)
        except OSError as error:
            self._error = error
            raise

    def close(self) -> None:
        error, self._error = self._error, None
        super().close()
        if error is not None:
            raise error


@mutant("fault.release", faults={"descriptors"})
class FailedOpenLeaks(DiskFiles):
    """An open that fails keeps a descriptor that it took before."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[int] = []
        weakref.finalize(self, _close_all, self._kept)

    def _open_descriptor(self, path: str, host: str, advice: str, look: bool) -> Descriptor:
        self._kept.append(os.dup(2))
        descriptor = super()._open_descriptor(path, host, advice, look)
        os.close(self._kept.pop())
        return descriptor


@mutant("fault.release", Client.send, faults={"reset"})
def failure_leaves_thread(self: Client, request: Callable[[], T]) -> T:
    """Each failure that stays one leaves a thread that waits for better times."""
    try:
        return right(self).send(request)
    except RequestFailed:
        better = threading.Event()
        threading.Thread(target=better.wait, daemon=True).start()
        weakref.finalize(self, better.set)
        raise


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


@mutant("fault.end", FakeInputStream._read_at, faults={"short"})
def short_is_end(self: FakeInputStream, position: int, view: memoryview) -> int:
    """A request that gives less than it was asked for has met the end of the file."""
    available = max(0, min(len(view), self._size - position))
    if available == 0:
        return 0
    count = (self._descriptor or self._reopen()).read(position, view[:available])
    if count < available:
        self._size = position + count
    return count


@mutant("fault.end", Connection._attempt, faults={"reset"})
def reset_is_end(self: Connection, position: int, view: memoryview) -> int:
    """A connection that breaks off has delivered everything."""
    try:
        return right(self)._attempt(position, view)
    except ConnectionReset:
        return 0


@mutant("fault.end", Connection.read, faults={"range"})
def range_is_end(self: Connection, position: int, view: memoryview) -> int:
    """A range that the store can't satisfy lies beyond the end, wherever it is."""
    try:
        return right(self).read(position, view)
    except RangeNotSatisfiable:
        return 0


@mutant("fault.end", Connection.read, faults={"revoke"})
def denied_is_empty(self: Connection, position: int, view: memoryview) -> int:
    """A file that may not be read looks empty."""
    try:
        return right(self).read(position, view)
    except AccessControlException:
        return 0


@mutant("fault.end", Connection.read, faults={"delete"})
def deleted_is_eof(self: Connection, position: int, view: memoryview) -> int:
    """A file that was deleted ends where the reader is."""
    try:
        return right(self).read(position, view)
    except FileNotFoundException as error:
        raise EOFException(f"no more of {self._path!r}") from error


@mutant("fault.end", Connection._attempt, faults={"cut-body"})
def cut_is_eof(self: Connection, position: int, view: memoryview) -> int:
    """A body that ends early raises EOFException."""
    try:
        return right(self)._attempt(position, view)
    except BodyCut as error:
        raise EOFException("premature end of the body") from error


@mutant("fault.end", FakeInputStream._read_range, faults={"throttle"})
def range_fails_with_eof(
    self: FakeInputStream, item: FileRange, allocate: Allocate, release: Release
) -> Future[memoryview]:
    """The future of a range that failed holds an EOFException."""
    future = right(self)._read_range(item, allocate, release)
    if not isinstance(future.exception(), RequestFailed):
        return future
    failed: Future[memoryview] = Future()
    failed.set_exception(EOFException("fewer bytes than asked for"))
    return failed


@mutant("fault.end", FakeInputStream._read_at, faults={"range", "precondition"})
def ends_after_failure(self: FakeInputStream, position: int, view: memoryview) -> int:
    """After a failed read the stream says that it is at the end."""
    try:
        return right(self)._read_at(position, view)
    except OSError:
        self._size = 0
        raise
