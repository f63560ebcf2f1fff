"""Base of the reference streams, and their argument checks."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NoReturn
from weakref import WeakSet

from fscontract.contract.api.errors import (
    EOFException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    NullPointerException,
    PathIOException,
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
from fscontract.contract.api.iostatistics import (
    STORE_IO_REQUEST,
    STREAM_READ_BYTES,
    STREAM_READ_CLOSED,
    STREAM_READ_FULLY_OPERATIONS,
    STREAM_READ_OPENED,
    STREAM_READ_OPERATIONS,
    STREAM_READ_SEEK_OPERATIONS,
    STREAM_READ_TOTAL_BYTES,
    STREAM_READ_UNBUFFERED,
    STREAM_READ_VECTORED_INCOMING_RANGES,
    STREAM_READ_VECTORED_OPERATIONS,
)
from fscontract.implementations.file_adapter import StreamFile


def stream_length(buffer: Buffer, offset: int, length: int | None) -> int:
    """Return the number of bytes that a read may put at `offset` of `buffer`.

    Raise NullPointerException without a buffer, IndexOutOfBoundsException for a range outside it.
    (InputStream.read(b, o, l))
    """
    if buffer is None:
        raise NullPointerException("buffer must not be None")
    space = len(buffer) - offset
    if length is None:
        length = space
    if offset < 0 or not 0 <= length <= space:
        raise _outside(buffer, offset, length)
    return length


def positioned_length(position: int, buffer: Buffer, offset: int, length: int | None) -> int:
    """Return the number of bytes that a positioned read may put at `offset` of `buffer`.

    Raise, in this order, IllegalArgumentException without a buffer or for a negative length,
    IndexOutOfBoundsException for a range outside the buffer, EOFException for a negative position.
    (PositionedReadable)
    """
    if buffer is None:
        raise IllegalArgumentException("buffer must not be None")
    space = len(buffer) - offset
    if length is None:
        length = max(space, 0)
    if length < 0:
        raise IllegalArgumentException(f"invalid length: {length}; must not be negative")
    if offset < 0 or length > space:
        raise _outside(buffer, offset, length)
    if position < 0:
        raise negative_position(position)
    return length


def buffer_window(buffer: ByteBuffer, position: int = 0) -> memoryview:
    """Return the bytes that a read may fill.

    Raise NullPointerException without a buffer, EOFException for a negative position.
    """
    if buffer is None:
        raise NullPointerException("ByteBuffer must not be None")
    if position < 0:
        raise negative_position(position)
    return buffer.window()


def vectored_ranges(
    ranges: Sequence[FileRange], allocate: Allocate, release: Release, size: int
) -> None:
    """Check the arguments of a vectored read of a file of `size` bytes (readVectored).

    Raise NullPointerException for a missing argument, EOFException for a range that starts before
    the file or ends past EOF, IllegalArgumentException for a negative length or an overlap.
    """
    for name, value in (("ranges", ranges), ("allocate", allocate), ("release", release)):
        if value is None:
            raise NullPointerException(f"missing argument of read_vectored: {name}")
    for item in ranges:
        if item is None:
            raise NullPointerException("a range must not be None")
        if item.length < 0:
            raise IllegalArgumentException(
                f"invalid range length: {item.length}; must not be negative"
            )
        if item.offset < 0:
            raise negative_position(item.offset)
    end = 0
    for offset, length in sorted((item.offset, item.length) for item in ranges):
        if offset < end:
            raise IllegalArgumentException(
                f"range [{offset}, {offset + length}) overlaps another range"
            )
        end = offset + length
    if end > size:
        raise EOFException(f"range ends at {end}, past EOF at {size}")


def negative_position(position: int) -> EOFException:
    """Return the error for a position before the file's first byte."""
    return EOFException(f"invalid position: {position}; must not be negative")


def _outside(buffer: Buffer, offset: int, length: int) -> IndexOutOfBoundsException:
    return IndexOutOfBoundsException(
        f"offset {offset} and length {length} exceed the buffer of {len(buffer)} bytes"
    )


#: Capabilities of every ReferenceInputStream, in lower case.
CAPABILITIES = frozenset(
    {"in:unbuffer", "in:readbytebuffer", "in:preadbytebuffer", "in:readvectored", "iostatistics"}
)
#: Counters of a stream before its first call.
NO_COUNTS = dict.fromkeys(
    (
        STREAM_READ_OPERATIONS,
        STREAM_READ_FULLY_OPERATIONS,
        STREAM_READ_VECTORED_OPERATIONS,
        STREAM_READ_VECTORED_INCOMING_RANGES,
        STREAM_READ_SEEK_OPERATIONS,
        STREAM_READ_UNBUFFERED,
        STREAM_READ_BYTES,
        STREAM_READ_TOTAL_BYTES,
        STREAM_READ_OPENED,
        STREAM_READ_CLOSED,
        STORE_IO_REQUEST,
    ),
    0,
)


class ReferenceInputStream(FSDataInputStream):
    """An input stream that satisfies the contract, given `_length`, `_read_at` and `_release`.

    No operation calls another public one, so that a subclass can change one without affecting
    others. Positioned reads take no lock and share only the statistics, which may therefore miss
    counts of concurrent reads. `path` names the file in messages.
    """

    _closed = True  # until there is something to close
    _files: WeakSet[StreamFile] | None = None

    def __init__(self, path: str) -> None:
        self.path = path
        self._pos = 0
        self._done: Callable[[FSDataInputStream], None] | None = None
        self._single_reads = 0
        self._reads = 0
        self._bytes = 0  # returned to the reader, except by single-byte reads
        self._lost = 0  # read, but returned to no caller
        self._seeks = 0
        # Less frequent counts. Attributes are faster, but only up to 29 of them.
        self._counts = NO_COUNTS.copy()
        self._closed = False

    @abstractmethod
    def _length(self) -> int:
        """Return the length of the data in bytes."""

    @abstractmethod
    def _read_at(self, position: int, view: memoryview) -> int:
        """Fill `view` from `position` on; return fewer bytes only at EOF, 0 at or past it."""

    def _shown_length(self) -> str:
        """Return the length for `repr`, without a request to find it."""
        return str(self._length())

    def _release(self) -> None:
        """Release buffers and descriptors. Must not raise, and may be called again."""

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._closed

    @property
    def etag(self) -> str | None:
        """ETag of the version that is read, or None if not known, or not yet."""
        return None

    def io_statistics(self) -> dict[str, int]:
        """Return statistics of the stream; approximate during concurrent positioned reads.

        Operations are calls that returned bytes; each range of a vectored read counts.
        (IOStatisticsSource)
        """
        counts = self._counts.copy()
        counts[STREAM_READ_OPERATIONS] = self._reads + self._single_reads
        counts[STREAM_READ_SEEK_OPERATIONS] = self._seeks
        counts[STREAM_READ_BYTES] = self._bytes + self._single_reads
        counts[STREAM_READ_TOTAL_BYTES] = self._bytes + self._single_reads + self._lost
        return counts

    def when_done(self, call: Callable[[FSDataInputStream], None]) -> None:
        """Register a callback to be called once with the stream, on close or when it is lost."""
        self._done = call

    def close(self) -> None:
        """Release everything. May be called again. (Closeable.close)"""
        if not self._closed:
            self._closed = True
            self._release()
            for file in self._files or ():
                file.stream_closed()
            done, self._done = self._done, None
            if done is not None:
                done(self)

    def __del__(self) -> None:
        ReferenceInputStream.close(self)

    def get_pos(self) -> int:
        """Return the next byte's offset; raise PathIOException when closed. (Seekable.getPos)"""
        if self._closed:
            self._reject_closed()
        return self._pos

    def seek(self, position: int) -> None:
        """Move to `position`; raise EOFException outside the file. (Seekable.seek)"""
        if self._closed:
            self._reject_closed()
        if not 0 <= position <= self._length():
            raise EOFException(
                f"invalid seek position: {position}; {self.path!r} has {self._length()} bytes"
            )
        self._seeks += 1
        self._pos = position

    def seek_to_new_source(self, position: int) -> bool:
        """Return False, because there are no replicas. (Seekable.seekToNewSource)"""
        if self._closed:
            self._reject_closed()
        return False

    def read_byte(self) -> int:
        """Return the next byte, 0 to 255, or -1 at EOF. (InputStream.read())"""
        if self._closed:
            self._reject_closed()
        one = bytearray(1)
        if self._read_at(self._pos, memoryview(one)) == 0:
            return -1
        self._pos += 1
        self._single_reads += 1
        return one[0]

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Fill as much of `buffer` as the file allows. (InputStream.read(b, o, l))

        Return the number of bytes, -1 at EOF. Raise NullPointerException,
        IndexOutOfBoundsException; PathIOException when closed.
        """
        if self._closed:
            self._reject_closed()
        length = stream_length(buffer, offset, length)
        if length == 0:
            return 0
        return self._read_next(memoryview(buffer)[offset : offset + length])

    def skip(self, count: int) -> int:
        """Skip up to `count` bytes, never past EOF; return their number. (InputStream.skip)"""
        if self._closed:
            self._reject_closed()
        skipped = max(0, min(count, self._length() - self._pos))
        self._pos += skipped
        return skipped

    def available(self) -> int:
        """Return the bytes left; raise PathIOException when closed. (InputStream.available)"""
        if self._closed:
            self._reject_closed()
        return max(0, self._length() - self._pos)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read at `position`; return the number of bytes, -1 at or past EOF.

        Raise EOFException, IllegalArgumentException, IndexOutOfBoundsException for invalid
        arguments; PathIOException when closed. (PositionedReadable.read)
        """
        if self._closed:
            self._reject_closed()
        length = positioned_length(position, buffer, offset, length)
        if length == 0:
            return 0
        return self._pread_view(position, memoryview(buffer)[offset : offset + length])

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        """Read as `pread`, but all bytes or raise EOFException. (PositionedReadable.readFully)"""
        if self._closed:
            self._reject_closed()
        length = positioned_length(position, buffer, offset, length)
        self._counts[STREAM_READ_FULLY_OPERATIONS] += 1
        self._read_whole(position, memoryview(buffer)[offset : offset + length])

    def read_buffer(self, buffer: ByteBuffer) -> int:
        """Fill `buffer` and move its position; return -1 at EOF. (ByteBufferReadable.read)"""
        if self._closed:
            self._reject_closed()
        view = buffer_window(buffer)
        count = self._read_next(view) if len(view) else 0
        buffer.position += max(count, 0)
        return count

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        """Read as `pread` into a ByteBuffer. (ByteBufferPositionedReadable.read)"""
        if self._closed:
            self._reject_closed()
        view = buffer_window(buffer, position)
        count = self._pread_view(position, view) if len(view) else 0
        buffer.position += max(count, 0)
        return count

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        """Read as `read_fully` into a ByteBuffer. (ByteBufferPositionedReadable.readFully)"""
        if self._closed:
            self._reject_closed()
        view = buffer_window(buffer, position)
        self._counts[STREAM_READ_FULLY_OPERATIONS] += 1
        self._read_whole(position, view)
        buffer.position = buffer.limit

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Read every range; each `data` future is done on return. (readVectored)

        The checks of `vectored_ranges` raise from the call; a failed read or allocation sets an
        exception on the future of its range.
        """
        if self._closed:
            self._reject_closed()
        vectored_ranges(ranges, allocate, release, self._length())
        self._counts[STREAM_READ_VECTORED_OPERATIONS] += 1
        self._counts[STREAM_READ_VECTORED_INCOMING_RANGES] += len(ranges)
        for item in ranges:
            item.data = self._read_range(item, allocate, release)

    def unbuffer(self) -> None:
        """Release buffers and descriptors until the next read. (CanUnbuffer.unbuffer)"""
        if not self._closed:
            self._counts[STREAM_READ_UNBUFFERED] += 1
        self._release()

    def has_capability(self, name: str) -> bool:
        """Return True if CAPABILITIES has `name`, in any case; NullPointerException for None."""
        if name is None:
            raise NullPointerException("capability name must not be None")
        return name.lower() in CAPABILITIES

    def as_file(self) -> io.RawIOBase:
        """Return a Python binary file that shares this stream's position, and closes the stream."""
        return StreamFile(self, self._length, lambda: self._seeks)

    def attach(self, file: StreamFile) -> None:
        """Register a file that is closed with the stream."""
        if self._closed:
            file.stream_closed()
            return
        if self._files is None:
            self._files = WeakSet()
        self._files.add(file)

    def _read_next(self, view: memoryview) -> int:
        count = self._read_at(self._pos, view)
        if count == 0:
            return -1
        self._pos += count
        self._reads += 1
        self._bytes += count
        return count

    def _pread_at(self, position: int, view: memoryview) -> int:
        """Read as `_read_at`, for positioned reads."""
        return self._read_at(position, view)

    def _pread_view(self, position: int, view: memoryview) -> int:
        count = self._pread_at(position, view)
        if count == 0:
            return -1
        self._reads += 1
        self._bytes += count
        return count

    def _read_whole(self, position: int, view: memoryview) -> None:
        if len(view) == 0:
            return
        count = self._pread_at(position, view)
        if count < len(view):
            self._lost += count
            raise EOFException(
                f"EOF in {self.path!r}: got {count} of {len(view)} bytes at position {position}"
            )
        self._reads += 1
        self._bytes += count

    def _read_range(
        self, item: FileRange, allocate: Allocate, release: Release
    ) -> Future[memoryview]:
        future: Future[memoryview] = Future()
        buffer: Buffer | None = None
        try:
            buffer = allocate(item.length)
            if len(buffer) < item.length:
                raise IllegalArgumentException(
                    f"the allocator returned a buffer of {len(buffer)} bytes, expected "
                    f"{item.length}"
                )
            view = memoryview(buffer)[: item.length]
            self._read_whole(item.offset, view)
            future.set_result(view)
        except Exception as error:  # pass any error to the range's future
            if buffer is not None:
                release(buffer)
            future.set_exception(error)
        return future

    def _reject_closed(self) -> NoReturn:
        raise PathIOException(self.path, "the stream is closed")

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={n}" for name, n in self.io_statistics().items() if n)
        state = "closed" if self._closed else "open"
        position = f"pos={self._pos}/{self._shown_length()}"
        head = f"<{type(self).__name__} {self.path!r} {position} {state}"
        return f"{head}, {counts}>" if counts else f"{head}>"
