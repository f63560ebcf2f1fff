"""Mutants whose later reads are wrong after one failed, was cut short, or fetched too much."""

from __future__ import annotations

import os
from concurrent.futures import Future

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import Allocate, FileRange, Release
from fscontract.fakes.filesystem.client import Connection, FakeInputStream
from fscontract.fakes.filesystem.requests import BodyCut, RequestFailed
from fscontract.fakes.mutants.registry import mutant, right


@mutant("fault.data", faults={"short"})
class KeepsTheShortBody(Connection):
    """What a short response left out is taken from the next response on, which begins earlier."""

    _lacking = 0

    def read(self, position: int, view: memoryview) -> int:
        lacking, self._lacking = self._lacking, 0
        count = super().read(max(position - lacking, 0), view)
        rest = self.version.length - position
        if 0 < count < min(len(view), rest):
            self._lacking = 1
        return count


@mutant("fault.position", faults={"reset", "timeout"})
class PrefetchOfFailedRead(FakeInputStream):
    """After a failed read the buffer counts as filled from the position, with what it held."""

    def _fill(self) -> int:
        before = self._end - self._start
        try:
            return super()._fill()
        except RequestFailed:
            if before > 0:
                self._start, self._end = self._pos, min(self._size, self._pos + before)
            raise


@mutant("fault.data", faults={"reset"})
class SecondReadOfFooter(FakeInputStream):
    """A positioned read that failed is answered with zeros when it is made again."""

    _failed: tuple[int, int] | None = None

    def _pread_at(self, position: int, view: memoryview) -> int:
        if self._failed == (position, len(view)):
            view[:] = bytes(len(view))
            return len(view)
        try:
            return super()._pread_at(position, view)
        except RequestFailed:
            self._failed = position, len(view)
            raise


@mutant("fault.data", faults={"cut-body"})
class AppendsTheRetry(Connection):
    """The read after a cut one begins a byte later, as if that one had been delivered."""

    _cut = False

    def read(self, position: int, view: memoryview) -> int:
        cut, self._cut = self._cut, False
        last = position + len(view) >= self.version.length
        try:
            return super().read(position + 1 if cut and not last else position, view)
        except BodyCut:
            self._cut = True
            raise


@mutant("fault.data", FakeInputStream._read_range, faults={"timeout"})
def ranges_of_failed_call(
    self: FakeInputStream, item: FileRange, allocate: Allocate, release: Release
) -> Future[memoryview]:
    """After a failed range the next one begins a byte too late, unless it ends with the file."""
    failed = getattr(self, "failed_range", False)
    if failed and item.offset + item.length < self._size:
        self.failed_range = False  # type: ignore[attr-defined]
        item = FileRange(item.offset + 1, item.length)
    future = right(self)._read_range(item, allocate, release)
    if isinstance(future.exception(), RequestFailed):
        self.failed_range = True  # type: ignore[attr-defined]
    return future


@mutant("fault.next", faults={"throttle", "reset"})
class SecondReadFails(FakeInputStream):
    """The second read after a failed one finds a connection without a socket."""

    _since = -1

    def _read_at(self, position: int, view: memoryview) -> int:
        if self._since >= 0:
            self._since += 1
        if self._since == 2:
            raise AttributeError("'NoneType' object has no attribute 'recv'")
        try:
            return super()._read_at(position, view)
        except RequestFailed:
            self._since = 0
            raise


@mutant("fault.position", FakeInputStream._fill, faults={"reset"})
def seek_after_failure_is_lost(self: FakeInputStream) -> int:
    """After a failed read-ahead the next one goes back to where that began."""
    back = getattr(self, "failed_at", None)
    if back is not None and back < self._pos:
        self._pos = back
        self.failed_at = None  # type: ignore[attr-defined]
    try:
        return right(self)._fill()
    except OSError:
        self.failed_at = self._pos  # type: ignore[attr-defined]
        raise


@mutant("fault.end", faults={"timeout"})
class EndOfPrefetch(FakeInputStream):
    """After a failed read the file ends where the buffer did."""

    def _fill(self) -> int:
        try:
            return super()._fill()
        except RequestFailed:
            self._size = max(self._end, self._pos)
            raise


@mutant("fault.release", faults={"reset"})
class FailedStreamIsKept(FakeInputStream):
    """A stream with a failed read opens a file for a report, which is never closed."""

    def _read_at(self, position: int, view: memoryview) -> int:
        try:
            return super()._read_at(position, view)
        except RequestFailed as error:
            os.open(os.devnull, os.O_RDONLY)
            raise PathIOException(self.path, "the read failed") from error
