"""Interfaces of filesystems, input streams and openFile() builders, after Hadoop's."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException, UnsupportedOperationException


class ByteBuffer:
    """A byte buffer; the next transfer uses the bytes between `position` and `limit`.

    Invariant: 0 <= position <= limit <= capacity, all in bytes.
    """

    def __init__(self, data: bytearray | memoryview) -> None:
        """Wrap writable bytes; set position to 0, limit and capacity to their length."""
        self.view = memoryview(data)
        if self.view.readonly:
            raise IllegalArgumentException("a ByteBuffer requires writable memory")
        self._position = 0
        self._limit = len(self.view)

    @classmethod
    def allocate(cls, capacity: int) -> ByteBuffer:
        """Return a new zeroed buffer of `capacity` bytes."""
        return cls(bytearray(capacity))

    @property
    def capacity(self) -> int:
        """Size of the whole block, in bytes."""
        return len(self.view)

    @property
    def position(self) -> int:
        """Offset of the next byte to transfer."""
        return self._position

    @position.setter
    def position(self, value: int) -> None:
        if not 0 <= value <= self._limit:
            raise IllegalArgumentException(f"position {value} is outside [0, {self._limit}]")
        self._position = value

    @property
    def limit(self) -> int:
        """Offset of the first byte that a transfer must leave alone."""
        return self._limit

    @limit.setter
    def limit(self, value: int) -> None:
        if not 0 <= value <= self.capacity:
            raise IllegalArgumentException(f"limit {value} is outside [0, {self.capacity}]")
        self._limit = value
        self._position = min(self._position, value)

    @property
    def remaining(self) -> int:
        """Bytes between position and limit."""
        return self._limit - self._position

    def window(self) -> memoryview:
        """Return the bytes between position and limit, without copying."""
        return self.view[self._position : self._limit]

    def flip(self) -> ByteBuffer:
        """Set the limit to the position and the position to 0; returns self."""
        self._limit, self._position = self._position, 0
        return self

    def __repr__(self) -> str:
        return f"<ByteBuffer [{self._position}, {self._limit}) of {self.capacity}>"


Buffer: TypeAlias = bytearray | memoryview
Allocate: TypeAlias = Callable[[int], Buffer]
Release: TypeAlias = Callable[[Buffer], None]
#: Path capabilities: every status of a file has an etag; a rename preserves it.
ETAGS_AVAILABLE = "fs.capability.etags.available"
ETAGS_PRESERVED_IN_RENAME = "fs.capability.etags.preserved.in.rename"
#: The type that a builder opens: a stream, or its equivalent in another API.
S = TypeVar("S")
_Closeable = TypeVar("_Closeable", bound="Closeable")


def no_release(buffer: Buffer) -> None:
    """Leave a buffer to the garbage collector: the default `release` of a vectored read."""


@dataclass
class FileRange:
    """One range of a vectored read; `data` is set by `read_vectored` and yields the bytes."""

    offset: int
    length: int
    data: Future[memoryview] | None = field(default=None, compare=False)


_BLOCK_SIZE = 128 * 1024 * 1024


@dataclass(frozen=True)
class FileStatus:
    """Status of one path, as in a listing. `length` in bytes, times in seconds since 1970."""

    path: str
    length: int
    is_directory: bool = False
    modification_time: float = 0.0
    etag: str | None = None
    block_size: int = _BLOCK_SIZE

    def __init__(
        self,
        path: str,
        length: int,
        is_directory: bool = False,
        modification_time: float = 0.0,
        etag: str | None = None,
        block_size: int = _BLOCK_SIZE,
    ) -> None:
        # Defaults are attributes of the class: half the time in listings of many files.
        fields = self.__dict__
        fields["path"] = path
        fields["length"] = length
        if is_directory:
            fields["is_directory"] = is_directory
        if modification_time:
            fields["modification_time"] = modification_time
        if etag is not None:
            fields["etag"] = etag
        if block_size != _BLOCK_SIZE:
            fields["block_size"] = block_size


@dataclass(frozen=True)
class BlockLocation:
    """The hosts that store a part of a file: `length` bytes from `offset` on `hosts`."""

    offset: int
    length: int
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class LocatedFileStatus(FileStatus):
    """A status with the locations of the file's blocks."""

    block_locations: tuple[BlockLocation, ...] = ()


class Closeable(ABC):
    """An object that is closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources; a second call does nothing."""

    def __enter__(self: _Closeable) -> _Closeable:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class FSDataInputStream(Closeable):
    """A seekable input stream with positioned reads (FSDataInputStream, PositionedReadable).

    One thread at a time may use the stream operations (`read_*`, `seek`, `get_pos`, `skip`);
    positioned reads (`pread`, `read_fully`, `read_vectored`) may run beside them and beside each
    other. Every operation on a closed stream but `close`, `unbuffer` and `has_capability`
    raises OSError.
    """

    @abstractmethod
    def close(self) -> None:
        """Release everything; closing again does nothing. (Closeable.close)"""

    @abstractmethod
    def get_pos(self) -> int:
        """Return the offset of the next byte a stream read returns. (Seekable.getPos)"""

    @abstractmethod
    def seek(self, position: int) -> None:
        """Move to `position`, 0 to the length; EOFException if outside. (Seekable.seek)"""

    @abstractmethod
    def seek_to_new_source(self, position: int) -> bool:
        """Switch to another replica for `position`; return False if there is none."""

    @abstractmethod
    def read_byte(self) -> int:
        """Return the next byte, 0 to 255, or -1 at the end. (InputStream.read())"""

    @abstractmethod
    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Read up to `length` bytes into `buffer` at `offset`; return the count, -1 at the end.

        Reads at least one byte unless `length` is 0. Raises NullPointerException, or
        IndexOutOfBoundsException for a range outside the buffer. (InputStream.read(b, o, l))
        """

    @abstractmethod
    def skip(self, count: int) -> int:
        """Skip up to `count` bytes; return the number skipped, 0 at the end. (InputStream.skip)"""

    @abstractmethod
    def available(self) -> int:
        """Estimate the bytes that can be read without blocking. (InputStream.available)"""

    @abstractmethod
    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read at `position` without moving the stream; return the count, -1 at or past the end.

        Raises EOFException for a negative position, IllegalArgumentException for a negative length
        or no buffer, IndexOutOfBoundsException for a range outside the buffer.
        (PositionedReadable.read)
        """

    @abstractmethod
    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        """Read all `length` bytes, or raise EOFException. (PositionedReadable.readFully)

        The other errors are those of `pread`.
        """

    @abstractmethod
    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Start reading every range; each range's `data` future gets its bytes. (readVectored)

        Raises EOFException for a negative offset, IllegalArgumentException for a negative length or
        overlapping ranges. `release` gets back buffers of ranges that failed.
        """

    @abstractmethod
    def read_buffer(self, buffer: ByteBuffer) -> int:
        """Fill `buffer`; return the count in bytes, -1 at the end. (ByteBufferReadable.read)"""

    @abstractmethod
    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        """Read like `pread`, into a ByteBuffer. (ByteBufferPositionedReadable.read)"""

    @abstractmethod
    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        """Read like `read_fully`, into a ByteBuffer. (ByteBufferPositionedReadable.readFully)"""

    @abstractmethod
    def unbuffer(self) -> None:
        """Release buffers and descriptors until the next read. (CanUnbuffer.unbuffer)"""

    @abstractmethod
    def has_capability(self, name: str) -> bool:
        """Return whether the stream has a capability such as "in:unbuffer". (StreamCapabilities)"""

    @abstractmethod
    def as_file(self) -> io.RawIOBase:
        """Return a Python binary file over this stream; it shares the position, and closes it."""

    def io_statistics(self) -> Mapping[str, int]:
        """Return a snapshot of this stream's counters, by Hadoop's names. (IOStatisticsSource)

        The names are those of `contract/api/iostatistics.py`; the result is empty for a stream that
        counts nothing.
        """
        return {}


class FutureDataInputStreamBuilder(ABC, Generic[S]):
    """Builder of an open with options; it does nothing before `build()`."""

    @abstractmethod
    def opt(self, key: str, value: str | int | bool) -> FutureDataInputStreamBuilder[S]:
        """Set an option that a filesystem may ignore if it does not know it."""

    @abstractmethod
    def must(self, key: str, value: str | int | bool) -> FutureDataInputStreamBuilder[S]:
        """Set an option that a filesystem must know."""

    @abstractmethod
    def opt_long(self, key: str, value: int) -> FutureDataInputStreamBuilder[S]:
        """Set an option like `opt`, to a whole number."""

    @abstractmethod
    def must_long(self, key: str, value: int) -> FutureDataInputStreamBuilder[S]:
        """Set an option like `must`, to a whole number."""

    @abstractmethod
    def opt_double(self, key: str, value: float) -> FutureDataInputStreamBuilder[S]:
        """Set an option like `opt`, to a floating-point number."""

    @abstractmethod
    def must_double(self, key: str, value: float) -> FutureDataInputStreamBuilder[S]:
        """Set an option like `must`, to a floating-point number."""

    @abstractmethod
    def buffer_size(self, size: int) -> FutureDataInputStreamBuilder[S]:
        """Set the read buffer's size in bytes."""

    @abstractmethod
    def with_file_status(self, status: FileStatus | None) -> FutureDataInputStreamBuilder[S]:
        """Pass the file's status from a listing; None is ignored."""

    @abstractmethod
    def build(self) -> Future[S]:
        """Open the file, again at each call.

        Raises IllegalArgumentException for an unknown mandatory key; the future or the first read
        raises all other failures.
        """


class FileSystem(ABC):
    """A filesystem whose streams satisfy the contract. Paths are absolute, with `/`."""

    @abstractmethod
    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; FileNotFoundException for a missing path or a directory."""

    @abstractmethod
    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """Start building an open with options; no I/O happens before `build()`."""

    @abstractmethod
    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Return a binary file to write.

        It creates missing parents, and the file appears when it is closed.
        """

    @abstractmethod
    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of a file or directory; FileNotFoundException if missing."""

    @abstractmethod
    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Return the children of a directory, sorted by path, or the file itself."""

    @abstractmethod
    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents."""

    @abstractmethod
    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; False if it is missing; PathIOException for a non-empty directory."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; FileNotFoundException, or PathIOException if target exists."""

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path, such as 0o644. (FileSystem.setPermission)"""
        raise UnsupportedOperationException(f"permissions can't be set: {path!r}")

    def access(self, path: str, mode: str) -> None:
        """Check permissions: `mode` is a combination of "r", "w", "x". (FileSystem.access)

        Raises AccessControlException if one is missing, FileNotFoundException for a missing path.
        """
        raise UnsupportedOperationException(f"permissions can't be checked: {path!r}")

    def has_path_capability(self, path: str, name: str) -> bool:
        """Return whether the filesystem has a capability at a path, which need not exist.

        `name` is one of Hadoop's, such as ETAGS_AVAILABLE, in any case.
        (PathCapabilities.hasPathCapability)
        """
        return False

    def io_statistics(self) -> Mapping[str, int]:
        """Return a snapshot of the counters of the filesystem and its streams, by Hadoop's names.

        The result is empty for a filesystem that counts nothing. (IOStatisticsSource)
        """
        return {}

    @abstractmethod
    def as_fsspec(self) -> Any:
        """Return this filesystem as an `fsspec.AbstractFileSystem`."""
