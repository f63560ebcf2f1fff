"""Tests of the buffers of vectored reads, which the caller uses while the stream continues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from fscontract.contract.api.filesystem import Allocate, FileRange, Release
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.implementations.bindings.open_file import OpenedStream
from fscontract.implementations.bindings.range_buffers import RangeBuffers, bind_vectored

DATA = content(40)
Read = Callable[[Sequence[FileRange], Allocate, Release], None]


def opened(read: Read) -> OpenedStream:
    """Return an opened stream that has no other method."""

    class Stream:
        read_vectored = staticmethod(read)

    return OpenedStream(Stream())  # type: ignore[arg-type]


def done(data: Any) -> Future[memoryview]:
    """Return a completed future of a buffer."""
    future: Future[memoryview] = Future()
    future.set_result(memoryview(data))
    return future


def read(stream: OpenedStream, *ranges: tuple[int, int], release: str = "absent") -> Outcome:
    """Return the outcome of a vectored read of these ranges."""
    return bind_vectored(ranges, "heap", release)(stream)


def right(*ranges: tuple[int, int]) -> Outcome:
    """Return the outcome of a right vectored read."""
    return returned(tuple(returned(n, DATA[at : at + n]) for at, n in ranges))


def test_parts_of_one_buffer_are_right() -> None:
    """Ranges that were read together are parts of one buffer."""

    def together(ranges: Sequence[FileRange], allocate: Allocate, *_: Any) -> None:
        whole = memoryview(allocate(40))
        whole[:] = DATA
        for item in ranges:
            item.data = done(whole[item.offset : item.offset + item.length])

    stream = opened(together)
    assert read(stream, (1, 4), (5, 3)) == right((1, 4), (5, 3))
    assert read(stream, (5, 3), (0, 2)) == right((5, 3), (0, 2))


def test_one_buffer_for_two_ranges_shows() -> None:
    """The caller writes to the first range's buffer before it reads the second one's."""

    def shared(ranges: Sequence[FileRange], *_: Any) -> None:
        memory = bytearray(DATA[9:13])
        for item in ranges:
            item.data = done(memory)

    outcome = read(opened(shared), (9, 4), (20, 4))
    assert outcome.value == (returned(4, DATA[9:13]), returned(4, bytes([FILL]) * 4))


def test_overlapping_ranges_may_share_memory() -> None:
    """Parts of one buffer have the shared bytes twice."""
    memory = bytearray(DATA)

    def shared(ranges: Sequence[FileRange], *_: Any) -> None:
        for item in ranges:
            item.data = done(memoryview(memory)[item.offset : item.offset + item.length])

    assert read(opened(shared), (0, 4), (2, 4)) == right((0, 4), (2, 4))


def test_a_buffer_that_the_next_call_fills_shows() -> None:
    """The stream keeps the first buffer, and reads the next call's range into it."""
    kept = bytearray(4)

    def reused(ranges: Sequence[FileRange], *_: Any) -> None:
        for item in ranges:
            kept[:] = DATA[item.offset : item.offset + 4]
            item.data = done(kept)

    stream = opened(reused)
    assert read(stream, (0, 4)) == right((0, 4))
    assert read(stream, (8, 4)).kind is Kind.OTHER


def test_what_the_caller_wrote_is_undone_with_the_stream() -> None:
    """A stream over shared memory fails, but its file is as before."""
    memory = bytearray(DATA)

    def aliased(ranges: Sequence[FileRange], *_: Any) -> None:
        for item in ranges:
            item.data = done(memoryview(memory)[item.offset : item.offset + item.length])

    stream = opened(aliased)
    read(stream, (3, 4))
    assert bytes(memory) != DATA
    assert read(stream, (3, 4)).value == (returned(4, bytes([FILL]) * 4),)
    stream.take_back()
    assert bytes(memory) == DATA


@pytest.mark.parametrize("twice", [False, True])
def test_a_buffer_that_is_released_twice_is_handed_out_twice(twice: bool) -> None:
    """With a release, the allocator is a pool."""
    buffers = RangeBuffers()
    allocate = buffers.allocator(bytearray)
    first = allocate(4)
    for _ in range(1 + twice):
        buffers.release(first)
    assert allocate(4) is first
    assert (allocate(4) is first) == twice


def test_a_released_buffer_holds_no_data() -> None:
    """A stream that releases the buffer of a complete range loses its bytes."""

    def released(ranges: Sequence[FileRange], allocate: Allocate, release: Release) -> None:
        for item in ranges:
            buffer = allocate(item.length)
            buffer[:] = DATA[item.offset : item.offset + item.length]
            item.data = done(buffer)
            release(buffer)

    outcome = read(opened(released), (0, 4), release="given")
    assert outcome.value == (returned(4, bytes([FILL]) * 4),)


def test_a_range_that_is_changed_is_reported() -> None:
    """The caller finds out by the range where its bytes belong."""

    def widens(ranges: Sequence[FileRange], *_: Any) -> None:
        for item in ranges:
            item.data = done(DATA[item.offset : item.offset + item.length])
            item.offset = 0

    assert read(opened(widens), (4, 2)).kind is Kind.OTHER
