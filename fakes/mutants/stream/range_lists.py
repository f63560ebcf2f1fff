"""Mutants of read_vectored that show in long lists, near ranges, repeated calls or used buffers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import partial
from itertools import pairwise

from fscontract.contract.api.errors import EOFException, PathIOException
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    FileRange,
    Release,
    no_release,
)
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.stream.calls import READ_VECTORED, VectoredRead
from fscontract.fakes.mutants.stream.variants import (
    LateEndCheck,
    MergesLate,
    MergesRanges,
    OverlappingRanges,
    Pending,
    PendingRanges,
)
from fscontract.implementations.memory import MemoryInputStream


def _done(data: bytes | bytearray | memoryview) -> Future[memoryview]:
    future: Future[memoryview] = Future()
    future.set_result(memoryview(data))
    return future


def _failed(error: Exception) -> Future[memoryview]:
    future: Future[memoryview] = Future()
    future.set_exception(error)
    return future


# Long lists -----------------------------------------------------------------------------------


@mutant("read-vectored.data", READ_VECTORED)
def batch_of_hundred(call: VectoredRead) -> None:
    """Ranges are read in batches of 100, and the last batch only if it is full."""
    call.proceed()
    count = len(call.ranges)
    for item in call.ranges[max(100, count - count % 100) :]:
        item.data = None


@mutant("read-vectored.data", READ_VECTORED)
def number_in_a_byte(call: VectoredRead) -> None:
    """Ranges are numbered in seven bits: the 129th one delivers the data of the first."""
    call.proceed()
    for number, item in enumerate(call.ranges):
        other = call.ranges[number % 128]
        if other.length == item.length:
            item.data = other.data


@mutant("read-vectored.data", READ_VECTORED)
def too_many_for_a_header(call: VectoredRead) -> None:
    """More than 64 ranges don't fit into one request, which fails."""
    call.proceed()
    if len(call.ranges) > 64:
        for item in call.ranges:
            item.data = _failed(PathIOException(call.stream.path, "bad request"))


@mutant("read-vectored.data", READ_VECTORED)
def one_of_a_pair(call: VectoredRead) -> None:
    """Ranges are read in pairs; if their number is odd and over 4, the last one is left out."""
    call.proceed()
    if len(call.ranges) > 4 and len(call.ranges) % 2:
        call.ranges[-1].data = None


@mutant("read-vectored.data", READ_VECTORED)
def queue_is_full(call: VectoredRead) -> None:
    """The queue of a pool takes 32 ranges; later ones are rejected."""
    call.proceed()
    for item in call.ranges[32:]:
        item.data = _failed(PathIOException(call.stream.path, "the pool rejected the task"))


@mutant("read-vectored.data", READ_VECTORED)
def sorts_by_text(call: VectoredRead) -> None:
    """Equally long ranges are sorted by their offsets as text, and delivered by number."""
    call.proceed()
    if len({r.length for r in call.ranges}) == 1:
        by_number = sorted(call.ranges, key=lambda r: r.offset)
        by_text = sorted(call.ranges, key=lambda r: str(r.offset))
        found = [r.data for r in by_text]
        for item, data in zip(by_number, found, strict=True):
            item.data = data


# Ranges that are read together ----------------------------------------------------------------


@mutant("read-vectored.zero-length")
class KeyedByOffset(MergesRanges):
    """Results are kept by offset: an empty range gets the data of the one that begins there."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        found = {item.offset: item.data for item in group if item.length}
        for item in group:
            item.data = found.get(item.offset, item.data)


@mutant("read-vectored.data")
class SlicesFromFirstOfList(MergesRanges):
    """What was read together is cut as if it began with the range that the caller named first."""

    _first: FileRange

    def groups(self, ranges: Sequence[FileRange]) -> list[list[FileRange]]:
        groups = super().groups(ranges)
        return [sorted(group, key=list(ranges).index) for group in groups]

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        whole = sorted(group, key=lambda r: r.offset)
        super().fetch(whole, allocate)
        moved = group[0].offset - whole[0].offset
        if 0 < moved < 8:
            for item in group:
                start = item.offset + moved
                item.data = _done(bytearray(self.data[start : start + item.length]))


@mutant("read-vectored.data")
class GapIsSkippedTwice(MergesRanges):
    """Behind a gap of exactly the limit less one, the data begins a byte too late."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        for first, second in pairwise(group):
            if second.offset - self.end(first) == self.min_seek - 1:
                start = second.offset + 1
                second.data = _done(self.data[start : start + second.length].ljust(second.length))


@mutant("read-vectored.data")
class MoreThanItMayRead(MergesRanges):
    """The buffer for ranges that are read together has as many bytes as they, without the gaps."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        space = sum(item.length for item in group)
        for item in group:
            if item.offset - group[0].offset > max(space, 2000):
                item.data = _failed(IndexError("outside the buffer"))


@mutant("read-vectored.remaining")
class CutAtTheLimit(MergesRanges):
    """A single range above the limit for ranges that are read together is cut to it."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        for item in group:
            if item.length > self.max_read:
                item.data = _done(self.data[item.offset : item.offset + self.max_read])


@mutant("read-vectored.data")
class SecondGroupFromFirst(MergesRanges):
    """The third and later groups are cut as if they began with the second one."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        for group in self.groups(ranges)[2:]:
            for item in group[1:]:
                start = item.offset - 1
                item.data = _done(bytearray(self.data[start : start + item.length]))


@mutant("read-vectored.data")
class ZeroIsALimit(MergesRanges):
    """The most bytes to read together are 0, which switches that off: nothing is read."""

    max_read = 0

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        for item in group:
            if item.length > self.max_read:
                item.data = _failed(EOFException("nothing is left to read"))


@mutant("read-vectored.data")
class EndOfLongestIsLost(MergesRanges):
    """Read together, more than eight ranges have the end of the one before the last."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        if len(group) > 8 and group[-1].length:
            group[-1].data = _done(bytearray(group[-1].length))


@mutant("read-vectored.remaining")
class RoundsUpRead(MergesRanges):
    """The last of several ranges that are read together has the rest of the block, too."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        last = group[-1]
        if len(group) > 2:
            end = -(-self.end(last) // 512) * 512
            last.data = _done(bytearray(self.data[last.offset : end]))


@mutant("read-vectored.exact-end")
class RoundsUpPastEnd(MergesRanges):
    """Ranges that are read together are read to the end of a block, which the file may lack."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        if len(group) > 1 and -(-self.end(group[-1]) // 512) * 512 > self._size:
            group[-1].data = _failed(EOFException("the file ends in the block"))


@mutant("read-vectored.zero-length")
class EmptyJoinsNothing(MergesRanges):
    """The future of an empty range between two others that are read together is not set."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        for item in group[1:-1]:
            if item.length == 0:
                item.data = None


@mutant("read-vectored.good-ranges")
class EndFailsNeighbours(MergesLate):
    """A range past the end fails those with which it is read together."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        for group in self.groups(ranges):
            if self.end(group[-1]) > self._size:
                for item in group:
                    item.data = group[-1].data


@mutant("read-vectored.good-ranges", READ_VECTORED.on(LateEndCheck))
def stops_at_the_end(call: VectoredRead) -> None:
    """The ranges behind one past the end, in the order of the call, are not read."""
    call.proceed()
    late = False
    for item in call.ranges:
        if late and item.length and item.offset + item.length <= call.stream._size:
            item.data = None
        late = late or item.offset + item.length > call.stream._size


@mutant("read-vectored.eof-late")
class PadsTheEnd(MergesLate):
    """A range that only begins inside the file is filled up with zeros among others."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        for item in ranges[1:]:
            if item.offset < self._size < self.end(item):
                item.data = _done(self.data[item.offset :].ljust(item.length, b"\0"))


@mutant("read-vectored.eof-early", READ_VECTORED)
def checks_the_last(call: VectoredRead) -> None:
    """Only the last range of the list is compared with the end of the file."""
    beyond = [r for r in call.ranges[:-1] if r and r.offset + r.length > call.stream._size]
    if len(call.ranges) > 2 and beyond and None not in call.ranges:
        for item in beyond:
            item.data = _failed(EOFException("past the end"))
        call.ranges = [r for r in call.ranges if r not in beyond]
    call.proceed()


@mutant("read-vectored.overlap", READ_VECTORED)
def compares_neighbours_of_list(call: VectoredRead) -> None:
    """Overlaps are looked for between neighbours in the list, before it is sorted."""
    ranges = [r for r in call.ranges or () if r is not None]
    near = any(
        a.offset < b.offset + b.length and b.offset < a.offset + a.length
        for a, b in pairwise(ranges)
        if a.length and b.length
    )
    is_whole = bool(ranges) and len(ranges) == len(call.ranges)
    if near or not is_whole or call.allocate is None or call.release is None:
        call.proceed()
        return
    for item in ranges:
        replace(call, ranges=[item]).proceed()


@mutant("read-vectored.zero-length", READ_VECTORED)
def gap_is_overlap(call: VectoredRead) -> None:
    """An empty range at the end of another one, or between two, counts as an overlap."""
    call.proceed()
    ends = {r.offset + r.length for r in call.ranges if r.length}
    if len(call.ranges) > 2 and any(r.length == 0 and r.offset in ends for r in call.ranges):
        raise ValueError("the ranges overlap")


@mutant("read-vectored.negative-offset", READ_VECTORED)
def first_is_checked(call: VectoredRead) -> None:
    """A negative offset is looked for in the first range only; others fail in their futures."""
    bad = [r for r in (call.ranges or ())[1:] if r is not None and r.offset < 0]
    call.ranges = call.ranges and [r for r in call.ranges if r not in bad]
    call.proceed()
    for item in bad:
        item.data = _failed(EOFException("before the file"))


@mutant("read-vectored.overlap-allowed", READ_VECTORED.on(OverlappingRanges))
def keeps_one_of_equals(call: VectoredRead) -> None:
    """Of equal ranges only the last one is read."""
    call.proceed()
    for number, item in enumerate(call.ranges):
        if item.length and item in call.ranges[number + 1 :]:
            item.data = None


@mutant("read-vectored.overlap-allowed", READ_VECTORED.on(OverlappingRanges))
def inner_range_is_cut(call: VectoredRead) -> None:
    """A range inside another one gets the bytes of the outer one's end."""
    call.proceed()
    for outer in call.ranges:
        end = outer.offset + outer.length
        for item in call.ranges:
            if item.length and outer.offset < item.offset and item.offset + item.length < end:
                item.data = _done(bytearray(call.stream.data[end - item.length : end]))


# Buffers --------------------------------------------------------------------------------------


@mutant("read-vectored.data")
class OneScratchBuffer(PendingRanges):
    """All pending ranges are read into one buffer, of which each gets a view."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        scratch = bytearray(max((item.length for item in ranges), default=0))

        def read(item: FileRange) -> Future[memoryview]:
            view = memoryview(scratch)[: item.length]
            self._read_whole(item.offset, view)
            return _done(view)

        for item in ranges:
            item.data = Pending(partial(read, replace(item)))


@mutant("read-vectored.data")
class KeepsItsBuffer(MemoryInputStream):
    """The buffer of a call's first range is used again for the next call's first range."""

    _kept: memoryview | None = None

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        if not ranges or ranges[0].data is None or ranges[0].data.exception():
            return
        data = ranges[0].data.result()
        if self._kept is not None and len(self._kept) >= len(data):
            self._kept[: len(data)] = data
            ranges[0].data = _done(self._kept[: len(data)])
        else:
            self._kept = data


@mutant("read-vectored.data")
class GivesItsCache(MemoryInputStream):
    """Ranges are views of a cache, from which the next vectored read of them comes, too."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._cache: dict[tuple[int, int], memoryview] = {}

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        for item in ranges:
            if item.data is not None and item.data.exception() is None:
                key = item.offset, item.length
                item.data = _done(self._cache.setdefault(key, item.data.result()))


@mutant("read-byte.value")
class GivesItsReadAhead(MemoryInputStream):
    """A range is a view of the buffer from which single bytes are read afterwards."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        if ranges and not self._closed:
            self.data = bytearray(self.data)  # type: ignore[assignment]
            self._view = memoryview(self.data)
            for item in ranges:
                if item.data is not None and item.data.exception() is None:
                    item.data = _done(self._view[item.offset : item.offset + item.length])


@mutant("read-vectored.data")
class GivesBuffersBack(MemoryInputStream):
    """A buffer is released when its range is complete, and filled for the next one."""

    def _read_range(
        self, item: FileRange, allocate: Allocate, release: Release
    ) -> Future[memoryview]:
        given: list[Buffer] = []

        def noted(size: int) -> Buffer:
            given.append(allocate(size))
            return given[-1]

        future = super()._read_range(item, noted, release)
        if future.exception() is None:
            release(given[0])
        return future


# Calls one after the other, and at once -------------------------------------------------------


@mutant("read-vectored.data")
class RefusedStaysBusy(MemoryInputStream):
    """A call with wrong ranges leaves the stream busy: later vectored reads fail."""

    _busy = False

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        if self._busy:
            raise PathIOException(self.path, "a vectored read is in progress")
        self._busy = True
        super().read_vectored(ranges, allocate, release)
        self._busy = False


@mutant("read-vectored.data")
class RefusedStaysQueued(MemoryInputStream):
    """The ranges of a refused call are read with those of the next one, before them."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._queued: list[FileRange] = []

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        try:
            super().read_vectored(ranges, allocate, release)
        except (EOFException, ValueError):
            self._queued = [r for r in ranges if 0 <= r.offset < self._size and r.length > 0]
            raise
        for item, queued in zip(ranges, self._queued, strict=False):
            start = queued.offset
            item.data = _done(self.data[start : start + item.length].ljust(item.length))
        self._queued = []


@mutant("read-vectored.position")
class RefusedMoves(MemoryInputStream):
    """A refused vectored read leaves the stream at the offset of its first range."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        try:
            super().read_vectored(ranges, allocate, release)
        except (EOFException, ValueError):
            self._pos = min(max(ranges[0].offset, 0), self._size)
            raise


@mutant("read-vectored.position")
class MovesBackOnce(MergesRanges):
    """Only after the first group of ranges the stream is moved back to where it was."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        groups = self.groups(ranges)
        if len(groups) > 1:
            self._pos = self.end(groups[-1][-1])


@mutant("read-vectored.multiple")
class SecondCancelsFirst(PendingRanges):
    """A vectored read cancels the ranges of the one before that are not read yet."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._pending: list[Future[memoryview]] = []

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        for future in self._pending:
            if not future.done():
                future.set_exception(CancelledError())
        self._pending = [item.data for item in ranges if item.data is not None]


@mutant("read-vectored.multiple")
class ReadsOffsetsOfLast(PendingRanges):
    """Pending ranges are looked up by number in the list of the last call."""

    _last: Sequence[FileRange] = ()

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        self._last = [replace(item) for item in ranges]

        def read(number: int, item: FileRange) -> Future[memoryview]:
            other = self._last[number] if number < len(self._last) else item
            offset = min(other.offset, self._size - item.length)
            return self._read_range(FileRange(offset, item.length), allocate, release)

        for number, item in enumerate(ranges):
            item.data = Pending(partial(read, number, replace(item)))


@mutant("read-vectored.concurrent")
class PendingMoves(PendingRanges):
    """A pending range is read by a seek of the stream and a read."""

    def _read_range(
        self, item: FileRange, allocate: Allocate, release: Release
    ) -> Future[memoryview]:
        before, self._pos = self._pos, item.offset
        buffer = memoryview(allocate(item.length))
        if item.length:
            self._read_next(buffer)
        self._pos = before
        return _done(buffer)


@mutant("read-vectored.data")
class ChangesRanges(MergesRanges):
    """Ranges are widened to whole blocks in the caller's list, which keeps them so."""

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        super().fetch(group, allocate)
        for item in group:
            item.offset -= item.offset % 512
