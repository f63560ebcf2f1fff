"""Streams that are right, each in an unusual way that Hadoop's documents permit.

They share a plain base that takes nothing from the reference streams, and declare nothing.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

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
    FSDataInputStream,
    Release,
    no_release,
)
from tests.unusual.store import PlainFileSystem


class Plain(FSDataInputStream):
    """A stream with as little as the interface asks for: no capability, no statistics."""

    def __init__(self, data: bytes, path: str = "/plain", declared: int | None = None) -> None:
        self.data = data[:declared]
        self.path = path
        self.position = 0
        self.closed = False

    def _open(self) -> None:
        if self.closed:
            raise PathIOException(self.path, "the stream is closed")

    def _most(self, count: int) -> int:
        """Return how many of `count` bytes one read delivers."""
        return count

    def _refuse(self, position: int) -> None:
        raise EOFException(f"position {position} is not in the file")

    def close(self) -> None:
        self.closed = True

    def get_pos(self) -> int:
        self._open()
        return self.position

    def seek(self, position: int) -> None:
        self._open()
        if not 0 <= position <= len(self.data):
            self._refuse(position)
        self.position = position

    def seek_to_new_source(self, position: int) -> bool:
        return False

    def read_byte(self) -> int:
        self._open()
        if self.position >= len(self.data):
            return -1
        self.position += 1
        return self.data[self.position - 1]

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._open()
        count = self._copy(self.position, buffer, offset, length)
        self.position += max(count, 0)
        return count

    def _copy(self, position: int, buffer: Buffer, offset: int, length: int | None) -> int:
        if buffer is None:
            raise IllegalArgumentException("no buffer")
        wanted = len(buffer) - offset if length is None else length
        if offset < 0 or wanted < 0 or wanted > len(buffer) - offset:
            raise IndexError(f"{wanted} bytes at {offset} of {len(buffer)}")
        if wanted == 0:
            return 0
        part = self.data[position : position + self._most(wanted)]
        buffer[offset : offset + len(part)] = part
        return len(part) or -1

    def skip(self, count: int) -> int:
        self._open()
        skipped = max(0, min(count, len(self.data) - self.position))
        self.position += skipped
        return skipped

    def available(self) -> int:
        self._open()
        return max(0, len(self.data) - self.position)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        self._open()
        if buffer is None or (length is not None and length < 0):
            raise IllegalArgumentException("no buffer, or a negative length")
        if position < 0:
            self._refuse(position)
        return self._copy(position, buffer, offset, length)

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        self._open()
        if buffer is None or (length is not None and length < 0):
            raise IllegalArgumentException("no buffer, or a negative length")
        wanted = len(buffer) - offset if length is None else length
        if offset < 0 or wanted > len(buffer) - offset:
            raise IndexError(f"{wanted} bytes at {offset} of {len(buffer)}")
        if position < 0 or (wanted and position + wanted > len(self.data)):
            self._refuse(position)
        buffer[offset : offset + wanted] = self.data[position : position + wanted]

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        self._open()
        self._check(ranges, allocate)
        if release is None:
            raise TypeError("no function to release buffers")
        for item in ranges:
            item.data = Future()
            self._fill(item, allocate)

    def _check(self, ranges: Sequence[FileRange], allocate: Allocate) -> None:
        if ranges is None or allocate is None:
            raise TypeError("ranges and an allocator are needed")
        for item in ranges:
            if item is None:
                raise TypeError("a range is None")
            if item.offset < 0:
                self._refuse(item.offset)
            if item.length < 0:
                raise IllegalArgumentException(f"length {item.length}")
        self._refuse_overlaps(ranges)

    def _refuse_overlaps(self, ranges: Sequence[FileRange]) -> None:
        end = 0
        for item in sorted(ranges, key=lambda item: item.offset):
            if item.offset < end:
                raise IllegalArgumentException("ranges overlap")
            end = item.offset + item.length

    def _fill(self, item: FileRange, allocate: Allocate) -> None:
        assert item.data is not None
        if item.offset + item.length > len(self.data):
            item.data.set_exception(EOFException("past the end"))
            return
        buffer = memoryview(allocate(item.length))[: item.length]
        buffer[:] = self.data[item.offset : item.offset + item.length]
        item.data.set_result(buffer)

    def read_buffer(self, buffer: ByteBuffer) -> int:
        raise UnsupportedOperationException("read_buffer")

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        raise UnsupportedOperationException("pread_buffer")

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        raise UnsupportedOperationException("read_fully_buffer")

    def unbuffer(self) -> None:
        pass

    def has_capability(self, name: str) -> bool:
        return name.lower() == "in:readvectored"

    def as_file(self) -> io.RawIOBase:
        raise UnsupportedOperationException("as_file")


# Counts ---------------------------------------------------------------------------------------


class OneByteAtATime(Plain):
    """A read delivers one byte, and skip() skips one."""

    def _most(self, count: int) -> int:
        return min(count, 1)

    def skip(self, count: int) -> int:
        return super().skip(min(count, 1))


class OddCounts(Plain):
    """A read delivers another number of bytes each time, up to seven."""

    _turn = 0

    def _most(self, count: int) -> int:
        self._turn += 3
        return min(count, 1 + self._turn % 7)


class StopsAtBlocks(Plain):
    """A read never crosses the end of a block of four bytes."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        room = 4 - self.position % 4
        if buffer is not None and 0 <= offset <= len(buffer):
            space = len(buffer) - offset
            if length is None:
                length = min(space, room)
            elif length <= space:
                length = min(length, room)
        return super().read_into(buffer, offset, length)


class SkipsNothing(Plain):
    """skip() may skip fewer bytes than asked for, even none."""

    def skip(self, count: int) -> int:
        self._open()
        return 0


class NoEstimate(Plain):
    """available() never promises a byte."""

    def available(self) -> int:
        self._open()
        return 0


class AvailableIsOne(Plain):
    """available() promises one byte at a time."""

    def available(self) -> int:
        return min(1, super().available())


class OwnNumbers(Plain):
    """Counts and positions are of a subclass of int."""

    class Number(int):
        """A whole number with a name."""

    def get_pos(self) -> int:
        return self.Number(super().get_pos())

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        return self.Number(super().read_into(buffer, offset, length))

    def read_byte(self) -> int:
        return self.Number(super().read_byte())

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        return self.Number(super().pread(position, buffer, offset, length))

    def skip(self, count: int) -> int:
        return self.Number(super().skip(count))

    def available(self) -> int:
        return self.Number(super().available())


# Seeks ----------------------------------------------------------------------------------------


class SeeksAnywhere(Plain):
    """A seek past the end is accepted; reads there find the end."""

    def seek(self, position: int) -> None:
        self._open()
        if position < 0:
            self._refuse(position)
        self.position = position


class StaysAtTheEnd(Plain):
    """A seek past the end succeeds and moves to the end."""

    def seek(self, position: int) -> None:
        self._open()
        if position < 0:
            self._refuse(position)
        self.position = min(position, len(self.data))


class RefusedSeekMovesToTheEnd(Plain):
    """A seek past the end fails and leaves the stream at the end."""

    def seek(self, position: int) -> None:
        try:
            super().seek(position)
        except EOFException:
            self.position = len(self.data)
            raise


class RefusedSeekMovesToTheStart(Plain):
    """A failed seek may leave the stream anywhere: here at the start."""

    def seek(self, position: int) -> None:
        try:
            super().seek(position)
        except EOFException:
            self.position = 0
            raise


class SeeksLazily(Plain):
    """A seek only notes the position; it is checked by the next call."""

    def seek(self, position: int) -> None:
        self._open()
        if position < 0:
            self._refuse(position)
        self._next = position
        self.position = position

    def get_pos(self) -> int:
        self._open()
        return self.position


class SeeksWithinLimits(SeeksAnywhere):
    """A seek past the end is accepted, but not past what a store can address."""

    def seek(self, position: int) -> None:
        if position >= 1 << 62:
            self._open()
            self._refuse(position)
        super().seek(position)


class OtherReplicas(Plain):
    """seek_to_new_source() says that there is no other source by an error."""

    def seek_to_new_source(self, position: int) -> bool:
        raise UnsupportedOperationException("one source only")


# Errors and closed streams --------------------------------------------------------------------


class PlainErrors(Plain):
    """A refused position is a plain OSError, except in vectored reads."""

    def _refuse(self, position: int) -> None:
        raise OSError(f"position {position}")

    def _check(self, ranges: Sequence[FileRange], allocate: Allocate) -> None:
        if any(item is not None and item.offset < 0 for item in ranges or ()):
            raise EOFException("a range starts before the file")
        super()._check(ranges, allocate)


class PythonErrors(Plain):
    """A missing buffer is a TypeError, a wrong size a ValueError, a closed stream an OSError."""

    def _open(self) -> None:
        if self.closed:
            raise OSError("closed")

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._open()
        if buffer is None:
            raise TypeError("a buffer is needed")
        return super().read_into(buffer, offset, length)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        self._open()
        if buffer is None:
            raise TypeError("a buffer is needed")
        return super().pread(position, buffer, offset, length)


class PositionOfClosed(Plain):
    """get_pos() of a closed stream returns the last position."""

    def get_pos(self) -> int:
        return self.position


class SeeksWhenClosed(Plain):
    """A seek on a closed stream does nothing; reads notice that it is closed."""

    def seek(self, position: int) -> None:
        if not self.closed:
            super().seek(position)


class CountsZeroFirst(Plain):
    """A read of no bytes returns 0 before anything else is checked, even on a closed stream."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if buffer is not None and length == 0 and 0 <= offset <= len(buffer):
            return 0
        return super().read_into(buffer, offset, length)


class NothingToReadAtTheEnd(Plain):
    """A positioned read of no bytes at or past the end is at the end."""

    def _copy(self, position: int, buffer: Buffer, offset: int, length: int | None) -> int:
        count = super()._copy(position, buffer, offset, length)
        return -1 if count == 0 and position >= len(self.data) > self.position else count


class FillsWhatItCan(Plain):
    """A readFully() that reaches the end fails after it has filled a part of the buffer."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        try:
            super().read_fully(position, buffer, offset, length)
        except EOFException:
            if 0 <= position < len(self.data):
                self._copy(position, buffer, offset, length)
            raise


class ClosesLoudly(Plain):
    """close() reports an error of the connection, and the stream is closed all the same."""

    def close(self) -> None:
        first, self.closed = not self.closed, True
        if first:
            raise PathIOException(self.path, "the connection broke")


# Buffers --------------------------------------------------------------------------------------


class ReadsAhead(Plain):
    """Stream reads come from a buffer of eight bytes, which a seek within it keeps."""

    _start, _buffer = 0, b""

    def read_byte(self) -> int:
        one = bytearray(1)
        return one[0] if self.read_into(one) == 1 else -1

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._open()
        if buffer is not None and length is None:
            length = len(buffer) - offset
        ahead = self._start + len(self._buffer) - self.position
        if length and not 0 < ahead <= len(self._buffer):
            self._start, ahead = self.position, 8
            self._buffer = self.data[self.position : self.position + 8]
        if buffer is None or offset < 0 or not length or not 0 <= length <= len(buffer) - offset:
            return super().read_into(buffer, offset, length)
        first = self.position - self._start
        part = self._buffer[first : first + length]
        buffer[offset : offset + len(part)] = part
        self.position += len(part)
        return len(part) or -1

    def unbuffer(self) -> None:
        self._buffer = b""

    def has_capability(self, name: str) -> bool:
        return name.lower() in ("in:unbuffer", "in:readvectored")


class SeeksToRead(Plain):
    """A positioned read moves the stream under a lock, and moves it back."""

    def __init__(self, data: bytes, path: str = "/plain", declared: int | None = None) -> None:
        super().__init__(data, path, declared)
        self._lock = threading.RLock()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        with self._lock:
            return super().pread(position, buffer, offset, length)

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        with self._lock:
            return super().read_into(buffer, offset, length)


class ReadsAtOneCursor(Plain):
    """All streams read at one cursor, which each moves under a lock before it reads."""

    _cursor = 0
    _lock = threading.RLock()

    def read_byte(self) -> int:
        with self._lock:
            self._move()
            return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        with self._lock:
            self._move()
            return super().read_into(buffer, offset, length)

    def _move(self) -> None:
        ReadsAtOneCursor._cursor = self.position
        self.position = ReadsAtOneCursor._cursor


class ReleasesWhenClosed(Plain):
    """close() forgets the data, and unbuffer() of a closed stream does nothing."""

    def close(self) -> None:
        super().close()
        self.data = b""
        self.position = 0


class AllCapabilities(Plain):
    """It has reads into ByteBuffers, and says so in any case of letters."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        self._open()
        if buffer is None:
            raise TypeError("no buffer")
        part = self.data[self.position : self.position + buffer.remaining]
        if not part:
            return -1 if buffer.remaining else 0
        buffer.window()[: len(part)] = part
        buffer.position += len(part)
        self.position += len(part)
        return len(part)

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        self._open()
        if buffer is None:
            raise TypeError("no buffer")
        if position < 0:
            self._refuse(position)
        part = self.data[position : position + buffer.remaining]
        if not part:
            return -1 if buffer.remaining else 0
        buffer.window()[: len(part)] = part
        buffer.position += len(part)
        return len(part)

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        self._open()
        if buffer is None:
            raise TypeError("no buffer")
        if position < 0 or (buffer.remaining and position + buffer.remaining > len(self.data)):
            self._refuse(position)
        if buffer.remaining:
            self.pread_buffer(position, buffer)

    def has_capability(self, name: str) -> bool:
        return name.lower() in (
            "in:readbytebuffer",
            "in:preadbytebuffer",
            "in:readvectored",
            "in:unbuffer",
        )


class ClosedBeforeUnsupported(Plain):
    """Without reads into ByteBuffers, it checks first whether it is closed."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        self._open()
        raise UnsupportedOperationException("no reads into ByteBuffers")

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        return self.read_buffer(buffer)

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        self.read_buffer(buffer)


class UndeclaredByteBuffers(AllCapabilities):
    """It has reads into ByteBuffers, and declares no capability."""

    def has_capability(self, name: str) -> bool:
        return False


class ShortByteBuffers(AllCapabilities):
    """Reads into a ByteBuffer deliver one byte at a time."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        if buffer is None or buffer.remaining < 2:
            return super().read_buffer(buffer)
        limit, buffer.limit = buffer.limit, buffer.position + 1
        try:
            return super().read_buffer(buffer)
        finally:
            buffer.limit = limit


class CaseCounts(Plain):
    """Names of capabilities are compared with their case."""

    def has_capability(self, name: str) -> bool:
        return name == "in:readvectored"


# Vectored reads -------------------------------------------------------------------------------


class EarlyCheck(Plain):
    """A range past the end fails the whole call."""

    def _check(self, ranges: Sequence[FileRange], allocate: Allocate) -> None:
        super()._check(ranges, allocate)
        for item in ranges:
            if item.offset + item.length > len(self.data):
                raise EOFException("a range ends past the end")


class Overlaps(Plain):
    """Ranges may overlap."""

    def _refuse_overlaps(self, ranges: Sequence[FileRange]) -> None:
        pass


class OverlapsAndEarlyCheck(EarlyCheck, Overlaps):
    """Ranges may overlap, and one past the end fails the whole call."""


class NeedsRanges(Plain):
    """An empty list of ranges is refused."""

    def _check(self, ranges: Sequence[FileRange], allocate: Allocate) -> None:
        super()._check(ranges, allocate)
        if not ranges:
            raise IllegalArgumentException("no ranges")


class LastRangeFirst(Plain):
    """Ranges are read from the last to the first."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        self._open()
        self._check(ranges, allocate)
        if release is None:
            raise TypeError("no function to release buffers")
        for item in ranges:
            item.data = Future()
        for item in reversed(ranges):
            self._fill(item, allocate)


class ThreadForEachRange(Plain):
    """A separate thread reads each range."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        self._open()
        self._check(ranges, allocate)
        if release is None:
            raise TypeError("no function to release buffers")
        for item in ranges:
            item.data = Future()
        threads = [threading.Thread(target=self._fill, args=(i, allocate)) for i in ranges]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class MergesRanges(Plain):
    """Near ranges are read by one request, and get slices of its buffer."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        self._open()
        self._check(ranges, allocate)
        if release is None:
            raise TypeError("no function to release buffers")
        for item in ranges:
            item.data = Future()
        inside = [i for i in ranges if i.offset + i.length <= len(self.data)]
        if not inside:
            for item in ranges:
                self._fill(item, allocate)
            return
        start = min(item.offset for item in inside)
        end = max(item.offset + item.length for item in inside)
        buffer = memoryview(allocate(end - start))
        buffer[: end - start] = self.data[start:end]
        for item in ranges:
            if item in inside and item.data is not None:
                begin = item.offset - start
                item.data.set_result(buffer[begin : begin + item.length])
            else:
                self._fill(item, allocate)


class RoundsAllocations(Plain):
    """Buffers are allocated in blocks, of which a range gets the first bytes."""

    def _fill(self, item: FileRange, allocate: Allocate) -> None:
        super()._fill(item, lambda size: memoryview(allocate(-(-size // 64) * 64))[:size])


# Sizes ----------------------------------------------------------------------------------------


class OddBuffer(Plain):
    """Its buffer has no round size, and a read never crosses the end of it."""

    buffer_size = 1000

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        room = self.buffer_size - self.position % self.buffer_size
        wanted = len(buffer or b"") - offset if length is None else length
        if wanted <= room or buffer is None or wanted > len(buffer) - offset:
            return super().read_into(buffer, offset, length)
        return super().read_into(buffer, offset, room)


class ReadsPages(Plain):
    """A read delivers a page at most, and skip() skips no more."""

    def _most(self, count: int) -> int:
        return min(count, 4096)

    def skip(self, count: int) -> int:
        return super().skip(min(count, 4096))


class SizesOfNoUse(Plain):
    """Attributes that look like sizes, but are none, or are far larger than any file."""

    block_size = 1 << 62
    buffer_size = -1
    chunk_size = True
    page_size = "4k"
    part_size = 0.5
    readahead = None

    @property
    def prefetch_size(self) -> int:
        """Raise an error: it is known only after a request."""
        raise RuntimeError("no request was made")


class CopiesWhatItOpens(Plain):
    """Each stream has a copy of the file, and gives it back when it is closed."""

    def __init__(self, data: bytes, path: str = "/plain", declared: int | None = None) -> None:
        super().__init__(bytes(bytearray(data)), path, declared)

    def close(self) -> None:
        self.data = b""
        super().close()


#: Every stream of this module.
STREAMS: tuple[type[Plain], ...] = tuple(
    value
    for value in vars(sys.modules[__name__]).values()
    if isinstance(value, type) and issubclass(value, Plain)
)
ALL = STREAMS


def target(stream: type[Plain]) -> Any:
    """Return a filesystem with these streams."""
    return PlainFileSystem(stream)
