"""Correct streams with other features or permitted choices than the memory stream.

Each must pass the whole suite under its features. Mutants of clauses that need a feature derive
from the variant that has it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NoReturn

from fscontract.contract.api.errors import (
    EOFException,
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    ByteBuffer,
    FileRange,
    Release,
    no_release,
)
from fscontract.implementations.input_stream import (
    CAPABILITIES,
    ReferenceInputStream,
    stream_length,
    vectored_ranges,
)
from fscontract.implementations.memory import MemoryInputStream


def _unsupported(operation: str) -> NoReturn:
    raise UnsupportedOperationException(f"{operation} is not possible")


class Variant(MemoryInputStream):
    """A correct stream with other features than those of the profile "reference"."""

    #: The features, with "!" before missing ones.
    features: ClassVar[tuple[str, ...]] = ()


class LaxSeek(Variant):
    """Seeks beyond the end are accepted; reads there return -1."""

    features = ("!rejects-seek-past-eof",)

    def seek(self, position: int) -> None:
        if self._closed:
            self._reject_closed()
        if position < 0:
            raise EOFException(f"seek to {position}")
        self._pos = position


class NoSeek(Variant):
    """Every seek is rejected."""

    features = ("!supports-seek",)

    def seek(self, position: int) -> None:
        _unsupported("seek")


class SeekOnClosed(Variant):
    """A seek ignores that the stream is closed; reads do not."""

    features = ("supports-seek-on-closed-file",)

    def seek(self, position: int) -> None:
        if not self._closed:
            super().seek(position)


class AvailableOnClosed(Variant):
    """available() ignores that the stream is closed."""

    features = ("supports-available-on-closed-file",)

    def available(self) -> int:
        return 0 if self._closed else super().available()


class LooseExceptions(Variant):
    """Faults at the end of the data are plain IOExceptions."""

    features = ("!supports-strict-exceptions",)

    def seek(self, position: int) -> None:
        try:
            super().seek(position)
        except EOFException as error:
            raise PathIOException(self.path, str(error)) from None

    def read_fully(self, *arguments: Any, **named: Any) -> None:
        try:
            super().read_fully(*arguments, **named)
        except EOFException as error:
            raise PathIOException(self.path, str(error)) from None


class NoPositionedReads(Variant):
    """Only stream reads are supported: positioned and vectored ones are rejected."""

    features = ("!supports-positioned-readable", "!supports-vectored-io")

    def pread(self, *arguments: Any, **named: Any) -> NoReturn:
        _unsupported("pread")

    def read_fully(self, *arguments: Any, **named: Any) -> NoReturn:
        _unsupported("read_fully")

    def read_vectored(self, *arguments: Any, **named: Any) -> NoReturn:
        _unsupported("read_vectored")

    def has_capability(self, name: str) -> bool:
        return name.lower() != "in:readvectored" and super().has_capability(name)


class NoUnbuffer(Variant):
    """unbuffer() does nothing."""

    features = ("!supports-unbuffer",)

    def unbuffer(self) -> None:
        pass

    def has_capability(self, name: str) -> bool:
        return name.lower() in CAPABILITIES - {"in:unbuffer"}


class NoByteBuffers(Variant):
    """Reads into a ByteBuffer are not supported."""

    features = ("!supports-bytebuffer-read", "!supports-bytebuffer-pread")

    def read_buffer(self, buffer: ByteBuffer) -> int:
        _unsupported("read_buffer")

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        _unsupported("pread_buffer")

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        _unsupported("read_fully_buffer")

    def has_capability(self, name: str) -> bool:
        return "bytebuffer" not in name.lower() and super().has_capability(name)


class NoSkipping(Variant):
    """skip() and available() are not supported."""

    features = ("!supports-skip", "!supports-available")

    def skip(self, count: int) -> int:
        _unsupported("skip")

    def available(self) -> int:
        _unsupported("available")


class OverlappingRanges(Variant):
    """The ranges of a vectored read may overlap."""

    features = ("vector-io-overlapping-ranges",)

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        if self._closed:
            self._reject_closed()
        vectored_ranges(ranges[:0] if ranges else ranges, allocate, release, self._size)
        for item in ranges:
            vectored_ranges([item], allocate, release, self._size)
        for item in ranges:
            item.data = self._read_range(item, allocate, release)


class LateEndCheck(Variant):
    """A range beyond the end fails in its own future, not in the call."""

    features = ("!vector-io-early-eof-check",)

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        if self._closed:
            self._reject_closed()
        vectored_ranges(ranges, allocate, release, 1 << 63)
        for item in ranges:
            item.data = self._read_range(item, allocate, release)


class Replicated(Variant):
    """There is a second source: the first call of seek_to_new_source() finds it."""

    features = ("supports-new-source",)

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._replicas = [data]

    def seek_to_new_source(self, position: int) -> bool:
        if self._closed:
            self._reject_closed()
        if not self._replicas:
            return False
        self.data = self._replicas.pop()
        self._view = memoryview(self.data)
        return True


class ShortReads(Variant):
    """A stream read delivers two bytes at most, skip() one, and available() returns 1."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        space = length is None and offset <= len(buffer)
        room = len(buffer) - offset if space else length
        if room is not None and 0 <= offset <= len(buffer) - room:
            room = min(room, 2)
        return super().read_into(buffer, offset, room)

    def skip(self, count: int) -> int:
        return super().skip(min(count, 1))

    def available(self) -> int:
        return min(super().available(), 1)


class FailedSeekMoves(Variant):
    """A seek that fails leaves the stream at the end."""

    def seek(self, position: int) -> None:
        try:
            super().seek(position)
        except EOFException:
            self._pos = self._size
            raise


class RefusesNewSource(Variant):
    """seek_to_new_source() raises an error instead of returning False."""

    def seek_to_new_source(self, position: int) -> bool:
        _unsupported("seek_to_new_source")


class PositionWhenClosed(Variant):
    """get_pos() also works on a closed stream."""

    def get_pos(self) -> int:
        return self._pos


class HoldsDescriptor(Variant):
    """A descriptor is held from the first read on, until unbuffer() or close()."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._give_back: weakref.finalize[[int], HoldsDescriptor] | None = None

    def read_byte(self) -> int:
        if not self._closed and self._give_back is None:
            number = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            self._give_back = weakref.finalize(self, os.close, number)
        return super().read_byte()

    def _release(self) -> None:
        if self._give_back is not None:
            self._give_back()
            self._give_back = None


class RefusesNoRanges(Variant):
    """An empty list of ranges raises IllegalArgumentException, as in newer releases of Hadoop."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        if not ranges:
            raise IllegalArgumentException("no ranges")


class MergesRanges(Variant):
    """Near ranges are read together, into one buffer of which each gets its part."""

    #: Ranges with at least this distance are read separately, in bytes.
    min_seek: ClassVar[int] = 4096
    #: The most bytes to read together; 0: no ranges are read together.
    max_read: ClassVar[int] = 16_384
    #: Whether a range past the end is refused by the call.
    checks_early: ClassVar[bool] = True

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        if self._closed:
            self._reject_closed()
        vectored_ranges(ranges, allocate, release, self._size if self.checks_early else 1 << 63)
        for group in self.groups(ranges):
            if self.end(group[-1]) > self._size:
                for item in group:
                    item.data = self._read_range(item, allocate, release)
            else:
                self.fetch(group, allocate)

    def groups(self, ranges: Sequence[FileRange]) -> list[list[FileRange]]:
        """Return the ranges by offset, those in one list that are read together."""
        groups: list[list[FileRange]] = []
        for item in sorted(ranges, key=lambda r: (r.offset, r.length)):
            if groups and self.joins(groups[-1], item):
                groups[-1].append(item)
            else:
                groups.append([item])
        return groups

    def joins(self, group: list[FileRange], item: FileRange) -> bool:
        """Return whether a range is read together with those before it."""
        gap, size = item.offset - self.end(group[-1]), self.end(item) - group[0].offset
        return gap < self.min_seek and size <= self.max_read

    @staticmethod
    def end(item: FileRange) -> int:
        """Return the offset behind a range."""
        return item.offset + item.length

    def fetch(self, group: list[FileRange], allocate: Allocate) -> None:
        """Read a group, and complete its ranges."""
        start = group[0].offset
        whole = memoryview(allocate(self.end(group[-1]) - start))
        self._read_whole(start, whole)
        for item in group:
            item.data = Future()
            item.data.set_result(whole[item.offset - start : self.end(item) - start])


class MergesLate(MergesRanges):
    """Near ranges are read together, and one past the end fails in its own future."""

    features = ("!vector-io-early-eof-check",)
    checks_early = False


class Pending(Future[memoryview]):
    """A future whose range is read by the first call of result()."""

    def __init__(self, read: Callable[[], Future[memoryview]]) -> None:
        super().__init__()
        self._read = read
        self._is_reading = threading.Lock()

    def result(self, timeout: float | None = None) -> memoryview:
        with self._is_reading:
            if not self.done():
                try:
                    self.set_result(self._read().result())
                except Exception as error:
                    self.set_exception(error)
        return super().result(timeout)


class PendingRanges(Variant):
    """A vectored read only notes its ranges; each is read when its data is asked for."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        if self._closed:
            self._reject_closed()
        vectored_ranges(ranges, allocate, release, self._size)
        for item in ranges:
            item.data = Pending(partial(self._read_range, replace(item), allocate, release))


class HiddenBlocks(Variant):
    """Reads go through a cache of a few blocks of the file; nothing says how large they are."""

    span: ClassVar[int] = 1 << 16
    #: The most blocks in the cache.
    kept: ClassVar[int] = 3

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._blocks: dict[int, bytes] = {}

    # MemoryInputStream reads without _read_at.
    read_byte = ReferenceInputStream.read_byte
    read_into = ReferenceInputStream.read_into
    pread = ReferenceInputStream.pread

    def request(self, start: int, end: int) -> bytes:
        """Return a range of the file from the store, which ends at the end of the file."""
        return self.data[start:end]

    def block(self, number: int) -> bytes:
        """Return a block, from the cache if it has it."""
        block = self._blocks.pop(number, None)
        if block is None:
            block = self.request(number * self.span, (number + 1) * self.span)
            while len(self._blocks) >= self.kept:
                del self._blocks[next(iter(self._blocks))]
        self._blocks[number] = block
        return block

    def _read_at(self, position: int, view: memoryview) -> int:
        done = 0
        while done < len(view):
            number, start = divmod(position + done, self.span)
            part = self.block(number)[start : start + len(view) - done]
            if not part:
                break
            view[done : done + len(part)] = part
            done += len(part)
        return done

    def _release(self) -> None:
        self._blocks.clear()


class StatedBlocks(HiddenBlocks):
    """Reads go through a cache of blocks, whose size is an attribute of the stream."""

    span = 16_000
    block_size = span


class OneAtATime(Variant):
    """A read delivers one byte at most, as from a pipe."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        stream_length(buffer, offset, length)
        return super().read_into(buffer, offset, length and min(length, 1))


class OneRequest(Variant):
    """A read delivers what is left of a response of 5,000 bytes."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        asked = stream_length(buffer, offset, length)
        return super().read_into(buffer, offset, min(asked, 5_000 - self._pos % 5_000))


#: Every variant.
VARIANTS: tuple[type[Variant], ...] = (
    LaxSeek,
    NoSeek,
    SeekOnClosed,
    AvailableOnClosed,
    LooseExceptions,
    NoPositionedReads,
    NoUnbuffer,
    NoByteBuffers,
    NoSkipping,
    OverlappingRanges,
    LateEndCheck,
    Replicated,
    ShortReads,
    FailedSeekMoves,
    RefusesNewSource,
    PositionWhenClosed,
    HoldsDescriptor,
    RefusesNoRanges,
    HiddenBlocks,
    StatedBlocks,
    OneAtATime,
    OneRequest,
)
#: Variants of vectored reads alone.
OF_RANGES: tuple[type[Variant], ...] = (MergesRanges, MergesLate, PendingRanges)
