"""Mutants that don't get over a failure: their position, their next call, their end."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TypeVar

from fscontract.fakes.filesystem.client import Client, Connection
from fscontract.fakes.filesystem.failures import RequestFailed
from fscontract.fakes.filesystem.stream import FakeInputStream
from fscontract.fakes.mutants.faults.registry import DiskFiles, fault_mutant
from fscontract.implementations.descriptors import Descriptor

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
