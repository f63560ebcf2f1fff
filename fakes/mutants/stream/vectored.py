"""Mutants of read_vectored that a single call shows."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import pairwise

from fscontract.contract.api.errors import EOFException, IllegalArgumentException, PathIOException
from fscontract.contract.api.filesystem import no_release
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.stream.calls import READ_VECTORED, VectoredRead
from fscontract.fakes.mutants.stream.variants import LateEndCheck, OverlappingRanges
from fscontract.implementations.memory import MemoryInputStream


def _done(data: bytes | bytearray) -> Future[memoryview]:
    future: Future[memoryview] = Future()
    future.set_result(memoryview(data))
    return future


def _failed(error: Exception) -> Future[memoryview]:
    future: Future[memoryview] = Future()
    future.set_exception(error)
    return future


@mutant("read-vectored.data", READ_VECTORED)
def mixes_up_ranges(call: VectoredRead) -> None:
    """Ranges are read in the order of their offsets and returned in the order of the call."""
    call.proceed()
    if len({r.length for r in call.ranges}) == 1:
        futures = [r.data for r in sorted(call.ranges, key=lambda r: r.offset)]
        for item, future in zip(call.ranges, futures, strict=True):
            item.data = future


@mutant("read-vectored.data", READ_VECTORED)
def cuts_merged_wrong(call: VectoredRead) -> None:
    """Two adjacent ranges are read as one and cut apart one byte too early."""
    call.proceed()
    for first, second in pairwise(call.ranges):
        if first.length and second.length and first.offset + first.length == second.offset:
            start = second.offset - 1
            second.data = _done(call.stream.data[start : start + second.length])


@mutant("read-vectored.remaining", READ_VECTORED)
def whole_allocation(call: VectoredRead) -> None:
    """The buffer of a range has one byte more than requested, if the file has one."""
    call.proceed()
    for item in call.ranges:
        if item.length:
            end = item.offset + item.length + 1
            item.data = _done(call.stream.data[item.offset : end])


@mutant("read-vectored.empty", READ_VECTORED)
def needs_ranges(call: VectoredRead) -> None:
    """An empty list of ranges raises EOFException."""
    call.proceed()
    if not call.ranges:
        raise EOFException("there is no range to read")


@mutant("read-vectored.null-ranges", READ_VECTORED)
def no_ranges_is_empty(call: VectoredRead) -> None:
    """A missing list of ranges is treated as an empty one."""
    call.ranges = call.ranges or ()
    call.proceed()


@mutant("read-vectored.null-range", READ_VECTORED)
def skips_missing_range(call: VectoredRead) -> None:
    """A missing range in the list is skipped."""
    call.ranges = call.ranges and [item for item in call.ranges if item is not None]
    call.proceed()


@mutant("read-vectored.null-allocate", READ_VECTORED)
def own_allocator(call: VectoredRead) -> None:
    """A missing allocator is replaced by the stream's own."""
    call.allocate = bytearray if call.allocate is None else call.allocate
    call.proceed()


@mutant("read-vectored.null-allocate", READ_VECTORED)
def allocator_fails_late(call: VectoredRead) -> None:
    """A missing allocator fails in the futures only."""
    is_missing = call.allocate is None
    call.allocate = bytearray if is_missing else call.allocate
    call.proceed()
    if is_missing:
        for item in call.ranges:
            item.data = _failed(TypeError("there is no allocator"))


@mutant("read-vectored.null-release", READ_VECTORED)
def own_release(call: VectoredRead) -> None:
    """A missing release operation is accepted, until a read fails."""
    call.release = no_release if call.release is None else call.release
    call.proceed()


@mutant("read-vectored.negative-offset", READ_VECTORED)
def range_from_end(call: VectoredRead) -> None:
    """A range with a negative offset is taken from the end of the file."""
    negative = [r for r in call.ranges or () if r is not None and r.offset < 0 < r.length]
    call.ranges = call.ranges and [r for r in call.ranges if r not in negative]
    call.proceed()
    for item in negative:
        start = max(call.stream._size + item.offset, 0)
        item.data = _done(call.stream.data[start : start + item.length])


@mutant("read-vectored.negative-length", READ_VECTORED)
def range_to_end(call: VectoredRead) -> None:
    """A range with a negative length reads to the end of the file."""
    negative = [r for r in call.ranges or () if r is not None and r.length < 0 <= r.offset]
    call.ranges = call.ranges and [r for r in call.ranges if r not in negative]
    call.proceed()
    for item in negative:
        item.data = _done(call.stream.data[item.offset :])


@mutant("read-vectored.negative-length", READ_VECTORED)
def negative_length_is_end(call: VectoredRead) -> None:
    """A range with a negative length raises EOFException."""
    if any(r is not None and r.length < 0 for r in call.ranges or ()):
        raise EOFException("a range ends before it starts")
    call.proceed()


@mutant("read-vectored.overlap")
class ReadsOverlaps(MemoryInputStream):
    """Overlapping ranges are read although that is not declared."""

    read_vectored = OverlappingRanges.read_vectored


@mutant("read-vectored.overlap", READ_VECTORED)
def refuses_adjacent(call: VectoredRead) -> None:
    """Adjacent ranges are treated as overlapping."""
    call.proceed()
    ends = {item.offset + item.length for item in call.ranges if item.length}
    if any(item.offset in ends for item in call.ranges):
        raise IllegalArgumentException("the ranges overlap")


@mutant("read-vectored.overlap-allowed", READ_VECTORED.on(OverlappingRanges))
def shares_overlap(call: VectoredRead) -> None:
    """The part that two ranges share is delivered to the first of them only."""
    call.proceed()
    for first, second in pairwise(call.ranges):
        shared = first.offset + first.length - second.offset
        if first.offset <= second.offset and shared > 0 and second.length:
            data = bytes(shared) + call.stream.data[second.offset + shared :]
            second.data = _done(data[: second.length])


@mutant("read-vectored.eof-early")
class ChecksLate(MemoryInputStream):
    """A range beyond the end fails in its future although the early check is declared."""

    read_vectored = LateEndCheck.read_vectored


@mutant("read-vectored.eof-late", READ_VECTORED.on(LateEndCheck))
def short_buffer(call: VectoredRead) -> None:
    """The future of a range beyond the end returns the available bytes."""
    call.proceed()
    for item in call.ranges:
        if item.length and item.offset + item.length > call.stream._size:
            item.data = _done(call.stream.data[item.offset : item.offset + item.length])


@mutant("read-vectored.eof-late")
class ChecksEarly(LateEndCheck):
    """A range beyond the end fails the call although the early check is not declared."""

    read_vectored = MemoryInputStream.read_vectored


@mutant("read-vectored.exact-end", READ_VECTORED)
def end_is_outside(call: VectoredRead) -> None:
    """A range that ends exactly at the end of the file raises EOFException."""
    call.proceed()
    if any(r.length and r.offset + r.length == call.stream._size for r in call.ranges):
        raise EOFException("a range ends outside the file")


@mutant("read-vectored.good-ranges", READ_VECTORED.on(LateEndCheck))
def all_for_one(call: VectoredRead) -> None:
    """One range beyond the end makes all futures fail."""
    call.proceed()
    if any(r.length and r.offset + r.length > call.stream._size for r in call.ranges):
        for item in call.ranges:
            item.data = _failed(EOFException("one of the ranges ends outside the file"))


@mutant("read-vectored.zero-length", READ_VECTORED)
def no_empty_range(call: VectoredRead) -> None:
    """The future of an empty range fails, because such a request is not possible."""
    call.proceed()
    for item in call.ranges:
        if item.length == 0:
            item.data = _failed(PathIOException(call.stream.path, "bad request"))


@mutant("read-vectored.position", READ_VECTORED)
def vectored_moves(call: VectoredRead) -> None:
    """A vectored read moves the stream to the end of its last range."""
    call.proceed()
    if call.ranges:
        call.stream._pos = call.ranges[-1].offset + call.ranges[-1].length
