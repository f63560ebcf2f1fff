"""Reads of local files by descriptor, with the calls that the platform supports.

A descriptor is closed with the last reference to it. If a stream is closed while another thread
reads, that read never uses a descriptor number that was reassigned to another file, and positioned
reads need no lock to ensure this.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    InterruptedIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import Buffer
from fscontract.contract.api.iostatistics import (
    STORE_IO_REQUEST,
    STREAM_READ_BYTES,
    STREAM_READ_CLOSED,
    STREAM_READ_OPENED,
    STREAM_READ_OPERATIONS,
    STREAM_READ_TOTAL_BYTES,
)
from fscontract.implementations.input_stream import ReferenceInputStream, stream_length

#: Identifies an open file: device, inode, size, modification time.
Identity = tuple[int, int, int, int]


class Descriptor(Protocol):
    """An open file.

    `advice` on later reads is "normal", "sequential" or "random". With `look`, the status of the
    opened file is read, and OSError is raised if it is not a regular file. Without, the only check
    is whether positioned reads are possible.
    """

    def __init__(self, path: str, advice: str, look: bool) -> None: ...

    def identity(self) -> Identity:
        """Return the identity of the opened file as of the first call; does not check the path."""

    def read(self, position: int, view: memoryview) -> int:
        """Read once into `view` from `position` on; return the number of bytes, 0 at EOF."""


class PositionedDescriptor:
    """Reads with `os.preadv`, concurrently: no shared offset and no lock.

    `number` may be read from while a reference to this object is held.
    """

    _identity: Identity | None = None

    def __init__(self, path: str, advice: str, look: bool) -> None:
        number = self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_WAITING)
        try:
            if look:
                self.identity()
            else:
                os.pread(number, 0, 0)  # no bytes; raises for directories and pipes
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(number, 0, 0, getattr(os, f"POSIX_FADV_{advice.upper()}"))
        except OSError:
            del self.number  # the error's traceback keeps this object
            os.close(number)
            raise

    def identity(self) -> Identity:
        """Return the identity of the opened file as of the first call; does not check the path."""
        if self._identity is None:
            self._identity = _identity(os.fstat(self.number))
        return self._identity

    def read(self, position: int, view: memoryview) -> int:
        """Read once into `view` from `position` on; return the number of bytes, 0 at EOF."""
        return os.preadv(self.number, (view,), position)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class PortableDescriptor:
    """Reads through a Python file, one at a time: for Windows, and for fake filesystems."""

    _identity: Identity | None = None

    def __init__(self, path: str, advice: str, look: bool) -> None:
        self._lock = threading.Lock()
        # Closed by __del__. It checks the status of the opened file, and rejects directories.
        self._file = open(path, "rb", buffering=0, opener=_opener)  # noqa: SIM115
        try:
            if look:
                self.identity()
            else:
                self._file.seek(0)  # raises for pipes
        except OSError:
            self._file.close()  # the error's traceback keeps this object
            raise

    def identity(self) -> Identity:
        """Return the identity of the opened file as of the first call; does not check the path."""
        if self._identity is None:
            self._identity = _identity(os.fstat(self._file.fileno()))
        return self._identity

    def read(self, position: int, view: memoryview) -> int:
        """Read once into `view` from `position` on; return the number of bytes, 0 at EOF."""
        with self._lock:
            self._file.seek(position)
            return self._file.readinto(view)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


_STRATEGIES: dict[str, type[Descriptor]] = {
    "positioned": PositionedDescriptor,
    "portable": PortableDescriptor,
}
#: Relevant only for pipes: opening one would wait for a writer.
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)


def choose(strategy: str | None) -> type[Descriptor]:
    """Return the strategy with this name; by default "positioned" if `os.preadv` exists.

    This makes no test read: on a fake filesystem `os.preadv` reads another, real file.
    """
    name = strategy or ("positioned" if hasattr(os, "preadv") else "portable")
    if name not in _STRATEGIES:
        raise IllegalArgumentException(
            f"invalid strategy: {name!r}; must be {' or '.join(_STRATEGIES)}"
        )
    return _STRATEGIES[name]


def version(identity: Identity) -> str:
    """Return the etag of a file, which changes with each change that the clock can resolve."""
    _, inode, size, time = identity
    return f"{inode:x}-{time:x}-{size:x}"


def identity_of(stat_result: os.stat_result) -> Identity:
    """Return the identity of the file from its status."""
    return stat_result.st_dev, stat_result.st_ino, stat_result.st_size, stat_result.st_mtime_ns


def _identity(stat_result: os.stat_result) -> Identity:
    if not stat.S_ISREG(stat_result.st_mode):
        raise IsADirectoryError(errno.EISDIR, "not a regular file")
    return identity_of(stat_result)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAITING)


#: Size in bytes of the read-ahead buffer for single-byte and small reads.
DEFAULT_BUFFER = 4096
#: Number of bytes at the end of a file that are its footer.
FOOTER = 1 << 16
#: Buffers from this size on are allocated only for files known to be as long.
_LARGE = 1 << 20


class LocalInputStream(ReferenceInputStream):
    """Reads the file that `opener` opens, up to its length at that time, or the `declared` one.

    Small stream reads use a buffer of `buffer_size` bytes (0: none; at most the file's length);
    others read the file directly. With a `footer`, the first positioned read within this many bytes
    of EOF caches them all. A file changed in place shows its new bytes, and ends early if it was
    truncated; the footer and the buffer show their cached bytes.

    Raise RemoteFileChangedException if the file is not the version with the given `etag`, and if it
    changed before the stream reopens it after `unbuffer`, because the reader may have seen old
    bytes. `opener` gets a flag to read the status of the opened file; a declared length makes
    this unnecessary unless there is an etag to compare.
    """

    def __init__(
        self,
        path: str,
        opener: Callable[[bool], Descriptor],
        buffer_size: int = DEFAULT_BUFFER,
        declared: int | None = None,
        etag: str | None = None,
        footer: int = 0,
    ) -> None:
        super().__init__(path)
        self._opener = opener
        self._lock = threading.Lock()
        self._descriptor: Descriptor | None = None
        self._positioned: PositionedDescriptor | None = None  # for stream reads
        self._direct: PositionedDescriptor | None = None  # for positioned reads
        self._bypass = max(1, buffer_size)  # reads of this size bypass the buffer
        self._buffer = bytearray()
        self._start = self._end = 0  # range of the file in the buffer
        self._keep = footer
        self._footer: tuple[int, memoryview] | None = None  # start offset and bytes
        self._fast_reads = self._fast_bytes = 0  # not counted by _count
        self._identity: Identity | None = None
        self._open(declared, etag)

    def _open(self, declared: int | None, etag: str | None) -> None:
        self._counts[STREAM_READ_OPENED] += 1
        if declared is not None and etag is None:
            self._hold(self._opener(False))
            self._size = declared
            return
        self._identity = self._hold(self._opener(True)).identity()
        self._size = self._identity[2] if declared is None else declared
        if etag is not None and etag != version(self._identity):
            self.close()
            raise RemoteFileChangedException(
                self.path, "the status belongs to another version of the file"
            )

    @property
    def etag(self) -> str | None:
        """ETag of the opened version; None when closed."""
        return None if self._closed else version((self._descriptor or self._reopen()).identity())

    def io_statistics(self) -> dict[str, int]:
        """Return statistics; requests are reads of the descriptor. (IOStatisticsSource)"""
        counts = super().io_statistics()
        counts[STREAM_READ_OPERATIONS] += self._fast_reads
        counts[STREAM_READ_BYTES] += self._fast_bytes
        counts[STREAM_READ_TOTAL_BYTES] = self._counts[STREAM_READ_TOTAL_BYTES] + self._fast_bytes
        counts[STORE_IO_REQUEST] += self._fast_reads
        return counts

    def read_byte(self) -> int:
        """Return the next byte, 0 to 255, or -1 at EOF. (InputStream.read())"""
        position = self._pos
        if not self._start <= position < self._end:
            if self._closed:
                self._reject_closed()
            if not self._fill():
                return -1
        try:
            byte = self._buffer[position - self._start]
        except IndexError:
            raise self._abandoned() from None
        self._pos = position + 1
        self._single_reads += 1
        return byte

    # The first lines of the next two methods handle a whole buffer inside the file, the usual case.
    # Python's overhead matters there: calling Descriptor.read would take a tenth longer.

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Fill as much of `buffer` as the file allows; see the base class."""
        descriptor = self._positioned
        if descriptor is not None and buffer is not None and offset == 0:
            size, position = len(buffer), self._pos
            if (
                (length is None or length == size)
                and self._bypass <= size
                and (end := position + size) <= self._size
            ):
                count = os.preadv(descriptor.number, (buffer,), position)
                if count == size:
                    self._pos = end
                    self._fast_reads += 1
                    self._fast_bytes += size
                    return size
                self._count(count)
        if self._closed:
            self._reject_closed()
        length = stream_length(buffer, offset, length)
        if length == 0:
            return 0
        view = memoryview(buffer)[offset : offset + length]
        return self._read_next(view) if length >= self._bypass else self._read_small(view)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read at `position` without a lock; see the base class."""
        descriptor = self._direct
        if descriptor is not None and buffer is not None and offset == 0 <= position:
            size = len(buffer)
            if (length is None or length == size) and 0 < size <= self._size - position:
                count = os.preadv(descriptor.number, (buffer,), position)
                if count == size:
                    self._fast_reads += 1
                    self._fast_bytes += size
                    return size
                self._count(count)
        return super().pread(position, buffer, offset, length)

    def _length(self) -> int:
        return self._size

    def _read_at(self, position: int, view: memoryview) -> int:
        rest = self._size - position
        if rest < len(view):
            if rest <= 0:
                return 0
            view = view[:rest]
        descriptor = self._descriptor or self._reopen()
        count = 0
        while count < len(view):
            more = descriptor.read(position + count, view[count:] if count else view)
            self._count(more)
            if more == 0:
                break
            count += more
        return count

    def _count(self, fetched: int) -> None:
        self._counts[STORE_IO_REQUEST] += 1
        self._counts[STREAM_READ_TOTAL_BYTES] += fetched

    def _pread_at(self, position: int, view: memoryview) -> int:
        if position < self._size - self._keep or position >= self._size:
            return self._read_at(position, view)
        start, footer = self._footer or self._read_footer()
        chunk = footer[position - start :][: len(view)]
        view[: len(chunk)] = chunk
        return len(chunk)

    def _read_footer(self) -> tuple[int, memoryview]:
        """Read and cache the footer. Concurrent threads may each read it."""
        start = max(0, self._size - self._keep)
        view = memoryview(bytearray(self._size - start))
        footer = start, view[: self._read_at(start, view)]
        with self._lock:
            self._footer = None if self._closed else footer
        return footer

    def _read_small(self, view: memoryview) -> int:
        end = self._pos + len(view)
        if not self._start <= self._pos <= end <= self._end and not self._fill():
            return -1
        begin = self._pos - self._start
        chunk = memoryview(self._buffer)[begin : min(end, self._end) - self._start]
        if not chunk:
            raise self._abandoned()
        view[: len(chunk)] = chunk
        self._pos += len(chunk)
        self._reads += 1
        self._bytes += len(chunk)
        return len(chunk)

    def _abandoned(self) -> InterruptedIOException:
        """Return the error for a buffer that another thread took away during a read."""
        return InterruptedIOException(f"{self.path!r} was closed or unbuffered during a read")

    def _fill(self) -> int:
        """Read ahead from the position; return the number of bytes."""
        if not self._buffer:
            self._buffer = bytearray(self._room())
        self._start = self._end = 0  # the buffer is invalid if reading fails
        count = self._read_at(self._pos, memoryview(self._buffer))
        self._start, self._end = self._pos, self._pos + count
        return count

    def _room(self) -> int:
        """Return the useful buffer size; a declared length allocates no memory."""
        size = min(self._bypass, self._size)
        if size <= _LARGE:
            return size
        return min(size, (self._descriptor or self._reopen()).identity()[2])

    def _hold(self, descriptor: Descriptor) -> Descriptor:
        self._descriptor = descriptor
        if isinstance(descriptor, PositionedDescriptor):
            self._positioned = descriptor
            self._direct = None if self._keep else descriptor
        return descriptor

    def _reopen(self) -> Descriptor:
        if self._closed:
            self._reject_closed()
        descriptor = self._opener(True)  # may take long, and close() does not wait
        same = descriptor.identity() == self._identity
        with self._lock:
            self._counts[STREAM_READ_OPENED] += 1
            if same and not self._closed and self._descriptor is None:
                return self._hold(descriptor)
            self._counts[STREAM_READ_CLOSED] += 1
            del descriptor  # otherwise the traceback would keep it open
            if self._closed:
                self._reject_closed()
            if self._descriptor is not None:
                return self._descriptor
        raise RemoteFileChangedException(self.path, "the file was changed or replaced")

    def _release(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                if self._identity is None and not self._closed:  # to recognize the file later
                    with suppress(OSError):
                        self._identity = self._descriptor.identity()
                self._counts[STREAM_READ_CLOSED] += 1
            self._descriptor = self._positioned = self._direct = None
            self._buffer = bytearray()
            self._start = self._end = 0
            self._footer = None
