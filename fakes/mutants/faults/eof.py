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
from fscontract.fakes.mutants.faults.registry import DiskFiles, fault_mutant
from fscontract.implementations.local_stream import Descriptor

T = TypeVar("T")


@fault_mutant("fault.position", "timeout")
class PreadForgetsTheWayBack(FakeInputStream):
    """A positioned read seeks, reads, and seeks back unless there is no answer."""

    def _pread_at(self, position: int, view: memoryview) -> int:
        before, self._pos = self._pos, position
        count = self._read_at(position, view)
        self._pos = before
        return count


@fault_mutant("fault.position", "reset", "range")
class MovesByTheBuffer(FakeInputStream):
    """A failed read-ahead moves the stream by as much as it wanted to have."""

    def _fill(self) -> int:
        try:
            return super()._fill()
        except OSError:
            self._pos = min(self._size, self._pos + len(self._buffer))
            raise


@fault_mutant("fault.position", "throttle", "corrupt", "cut-body")
class CountsRetries(FakeInputStream):
    """A byte that came at the second attempt counts twice."""

    def read_byte(self) -> int:
        before = self._sources.requests
        byte = super().read_byte()
        if self._sources.requests > before + 1:
            self._pos = min(self._size, self._pos + 1)
        return byte


@fault_mutant("fault.next", "reset", "precondition")
class HalfClosed(Connection):
    """What a failed read has thrown away the next one looks for."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except OSError:
            del self._client
            raise


@fault_mutant("fault.close", "timeout", "range")
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


@fault_mutant("fault.release", "descriptors")
class FailedOpenLeaks(DiskFiles):
    """An open that fails keeps a descriptor that it took before."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[int] = []
        weakref.finalize(self, _close_all, self._kept)

    def _open_descriptor(self, path: str, host: str, advice: str, look: bool) -> Descriptor:
        self._kept.append(os.dup(2))
        found = super()._open_descriptor(path, host, advice, look)
        os.close(self._kept.pop())
        return found


@fault_mutant("fault.release", "reset")
class FailureLeavesThread(Client):
    """Each failure that stays one leaves a thread that waits for better times."""

    def send(self, request: Callable[[], T]) -> T:
        try:
            return super().send(request)
        except RequestFailed:
            better = threading.Event()
            threading.Thread(target=better.wait, daemon=True).start()
            weakref.finalize(self, better.set)
            raise


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


@fault_mutant("fault.end", "short")
class ShortIsEnd(FakeInputStream):
    """A request that gives less than it was asked for has met the end of the file."""

    def _read_at(self, position: int, view: memoryview) -> int:
        wanted = max(0, min(len(view), self._size - position))
        if wanted == 0:
            return 0
        count = (self._descriptor or self._reopen()).read(position, view[:wanted])
        if count < wanted:
            self._size = position + count
        return count


@fault_mutant("fault.end", "reset")
class ResetIsEnd(Connection):
    """A connection that breaks off has delivered everything."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except ConnectionReset:
            return 0


@fault_mutant("fault.end", "range")
class RangeIsEnd(Connection):
    """A range that the store can't satisfy lies beyond the end, wherever it is."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except RangeNotSatisfiable:
            return 0


@fault_mutant("fault.end", "revoke")
class DeniedIsEmpty(Connection):
    """What must not be read has no bytes."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except AccessControlException:
            return 0


@fault_mutant("fault.end", "delete")
class DeletedIsEof(Connection):
    """A file that is gone ends where the reader is."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except FileNotFoundException as error:
            raise EOFException(f"no more of {self._path!r}") from error


@fault_mutant("fault.end", "cut-body")
class CutIsEof(Connection):
    """A body that ends early is told of by an EOFException."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except BodyCut as error:
            raise EOFException("premature end of the body") from error


@fault_mutant("fault.end", "throttle")
class RangeFailsWithEof(FakeInputStream):
    """The future of a range that failed holds an EOFException."""

    def _read_range(
        self, item: FileRange, allocate: Allocate, release: Release
    ) -> Future[memoryview]:
        future = super()._read_range(item, allocate, release)
        if not isinstance(future.exception(), RequestFailed):
            return future
        ended: Future[memoryview] = Future()
        ended.set_exception(EOFException("fewer bytes than asked for"))
        return ended


@fault_mutant("fault.end", "range", "precondition")
class EndsAfterFailure(FakeInputStream):
    """After a failed read the stream says that it is at the end."""

    def _read_at(self, position: int, view: memoryview) -> int:
        try:
            return super()._read_at(position, view)
        except OSError:
            self._size = 0
            raise
