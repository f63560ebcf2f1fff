"""Mutants of read_vectored that show in a single call."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from itertools import pairwise
from typing import Any

from fscontract.contract.api.errors import EOFException, IllegalArgumentException, PathIOException
from fscontract.contract.api.filesystem import Allocate, FileRange, Release, no_release
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import LateEndCheck, OverlappingRanges
from fscontract.implementations.memory import MemoryInputStream


def _done(data: bytes | bytearray) -> Future[memoryview]:
    future: Future[memoryview] = Future()
    future.set_result(memoryview(data))
    return future


def _failed(error: Exception) -> Future[memoryview]:
    future: Future[memoryview] = Future()
    future.set_exception(error)
    return future


@mutant("read-vectored.data")
class MixesUpRanges(MemoryInputStream):
    """Ranges are read in the order of their offsets and handed out in the order of the call."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        if len({r.length for r in ranges}) == 1:
            futures = [r.data for r in sorted(ranges, key=lambda r: r.offset)]
            for item, future in zip(ranges, futures, strict=True):
                item.data = future


@mutant("read-vectored.data")
class CutsMergedWrong(MemoryInputStream):
    """Two adjacent ranges are read as one and cut apart one byte too early."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        for first, second in pairwise(ranges):
            if first.length and second.length and first.offset + first.length == second.offset:
                start = second.offset - 1
                second.data = _done(self._data[start : start + second.length])


@mutant("read-vectored.remaining")
class WholeAllocation(MemoryInputStream):
    """The buffer of a range holds one byte more than was asked for, where the file has one."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        for item in ranges:
            if item.length:
                end = item.offset + item.length + 1
                item.data = _done(self._data[item.offset : end])


@mutant("read-vectored.empty")
class NeedsRanges(MemoryInputStream):
    """An empty list of ranges raises IllegalArgumentException."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        if not ranges:
            raise IllegalArgumentException("there is no range to read")


@mutant("read-vectored.null-ranges")
class NoRangesIsEmpty(MemoryInputStream):
    """A missing list of ranges is taken as an empty one."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges or (), *how, **named)


@mutant("read-vectored.null-range")
class SkipsMissingRange(MemoryInputStream):
    """A missing range in the list is passed over."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        present = ranges and [item for item in ranges if item is not None]
        super().read_vectored(present, *how, **named)


@mutant("read-vectored.null-allocate")
class OwnAllocator(MemoryInputStream):
    """A missing allocator is replaced by the stream's own."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, bytearray if allocate is None else allocate, release)


@mutant("read-vectored.null-allocate")
class AllocatorFailsLate(MemoryInputStream):
    """A missing allocator shows in the futures only."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, bytearray if allocate is None else allocate, release)
        if allocate is None:
            for item in ranges:
                item.data = _failed(TypeError("there is no allocator"))


@mutant("read-vectored.null-release")
class OwnRelease(MemoryInputStream):
    """A missing release operation is put up with, until a read fails."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, no_release if release is None else release)


@mutant("read-vectored.negative-offset")
class RangeFromEnd(MemoryInputStream):
    """A range with a negative offset is taken from the end of the file."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        negative = [r for r in ranges or () if r is not None and r.offset < 0 < r.length]
        rest = ranges and [r for r in ranges if r not in negative]
        super().read_vectored(rest, *how, **named)
        for item in negative:
            start = max(self._size + item.offset, 0)
            item.data = _done(self._data[start : start + item.length])


@mutant("read-vectored.negative-length")
class RangeToEnd(MemoryInputStream):
    """A range with a negative length reads to the end of the file."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        negative = [r for r in ranges or () if r is not None and r.length < 0 <= r.offset]
        rest = ranges and [r for r in ranges if r not in negative]
        super().read_vectored(rest, *how, **named)
        for item in negative:
            item.data = _done(self._data[item.offset :])


@mutant("read-vectored.negative-length")
class NegativeLengthIsEnd(MemoryInputStream):
    """A range with a negative length raises EOFException."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        if any(r is not None and r.length < 0 for r in ranges or ()):
            raise EOFException("a range ends before it starts")
        super().read_vectored(ranges, *how, **named)


@mutant("read-vectored.overlap")
class ReadsOverlaps(MemoryInputStream):
    """Overlapping ranges are read although that is not declared."""

    read_vectored = OverlappingRanges.read_vectored


@mutant("read-vectored.overlap")
class RefusesAdjacent(MemoryInputStream):
    """Ranges that merely touch are taken for overlapping."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        ends = {item.offset + item.length for item in ranges if item.length}
        if any(item.offset in ends for item in ranges):
            raise IllegalArgumentException("the ranges overlap")


@mutant("read-vectored.overlap-allowed")
class SharesOverlap(OverlappingRanges):
    """The part that two ranges share is delivered to the first of them only."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        for first, second in pairwise(ranges):
            shared = first.offset + first.length - second.offset
            if first.offset <= second.offset and shared > 0 and second.length:
                data = bytes(shared) + self._data[second.offset + shared :]
                second.data = _done(data[: second.length])


@mutant("read-vectored.eof-early")
class ChecksLate(MemoryInputStream):
    """A range beyond the end fails in its future although the early check is declared."""

    read_vectored = LateEndCheck.read_vectored


@mutant("read-vectored.eof-late")
class ShortBuffer(LateEndCheck):
    """The future of a range beyond the end yields what there is."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        for item in ranges:
            if item.length and item.offset + item.length > self._size:
                item.data = _done(self._data[item.offset : item.offset + item.length])


@mutant("read-vectored.eof-late")
class ChecksEarly(LateEndCheck):
    """A range beyond the end fails the call although the early check is not declared."""

    read_vectored = MemoryInputStream.read_vectored


@mutant("read-vectored.exact-end")
class EndIsOutside(MemoryInputStream):
    """A range that ends exactly at the end of the file raises EOFException."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        if any(r.length and r.offset + r.length == self._size for r in ranges):
            raise EOFException("a range ends outside the file")


@mutant("read-vectored.good-ranges")
class AllForOne(LateEndCheck):
    """One range beyond the end fails the futures of all."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        if any(r.length and r.offset + r.length > self._size for r in ranges):
            for item in ranges:
                item.data = _failed(EOFException("one of the ranges ends outside the file"))


@mutant("read-vectored.zero-length")
class NoEmptyRange(MemoryInputStream):
    """The future of an empty range fails, for no such request can be made."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        for item in ranges:
            if item.length == 0:
                item.data = _failed(PathIOException(self.path, "bad request"))


@mutant("read-vectored.position")
class VectoredMoves(MemoryInputStream):
    """A vectored read leaves the stream behind its last range."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        super().read_vectored(ranges, *how, **named)
        if ranges:
            self._pos = ranges[-1].offset + ranges[-1].length
