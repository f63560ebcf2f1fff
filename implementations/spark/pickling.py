"""Pickling of streams and builders: a pickle describes what to open, not the open object.

The unpickled object belongs to the process that unpickled it. In a Python worker of an executor it
opens the file on first use, through a filesystem that the worker caches.
"""

from __future__ import annotations

import io
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from fscontract.contract.api.errors import NullPointerException, PathIOException
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    ByteBuffer,
    FileRange,
    FileStatus,
    FSDataInputStream,
    Release,
    no_release,
)
from fscontract.implementations.input_stream import CAPABILITIES
from fscontract.implementations.openfile_builder import Builder, OpenOptions
from fscontract.implementations.spark.executor_reads import FILESYSTEMS, Source
from fscontract.implementations.spark.locations import FileLocation


def portable(status: FileStatus | None) -> FileStatus | None:
    """Return a status of this package's own class, which other processes can unpickle."""
    if status is None or type(status).__module__.startswith("fscontract.implementations."):
        return status
    return FileStatus(**{field.name: getattr(status, field.name) for field in fields(FileStatus)})


def pickled_stream(source: Source, position: int) -> tuple[Any, tuple[Source, int]]:
    """Return the result of `__reduce__` for a stream at `position`."""
    location = source.location.for_path(source.path)
    return LazyInputStream, (replace(source, location=location), position)


def pickled_builder(
    location: FileLocation, path: str, builder: Builder[Any]
) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of `__reduce__` for a builder."""
    calls = [
        (method, (portable(*args),) if method == "with_file_status" else args)
        for method, args in builder.calls()
    ]
    return unpickled_builder, (location.for_path(path), path, calls)


def unpickled_builder(
    location: FileLocation, path: str, calls: Sequence[tuple[str, tuple[Any, ...]]]
) -> Builder[FSDataInputStream]:
    """Return a builder whose streams read in this process."""

    def opener(path: str, options: OpenOptions) -> FSDataInputStream:
        return LazyInputStream(Source(location, path, options), 0)

    builder: Builder[FSDataInputStream] = Builder(path, opener)
    for method, args in calls:
        getattr(builder, method)(*args)
    return builder


def unpickled_filesystem(location: FileLocation) -> Any:
    """Return the filesystem of a location in this process; it reopens after being closed."""
    with FILESYSTEMS.lease(location) as filesystem:
        return filesystem


class LazyInputStream(FSDataInputStream):
    """A stream that is opened in this process on first use, at `position`."""

    def __init__(self, source: Source, position: int = 0) -> None:
        self._source = source
        self._start = position
        self._stream: FSDataInputStream | None = None
        self._closed = False
        self._done: Any = None

    def __reduce__(self) -> Any:
        if self._closed:
            raise PathIOException(self.path, "a closed stream can't be pickled")
        return pickled_stream(self._source, self.get_pos())

    def __repr__(self) -> str:
        state = "closed" if self._closed else "not opened" if self._stream is None else "open"
        return f"<{type(self).__name__} {self.path!r} pos={self._start} {state}>"

    @property
    def path(self) -> str:
        """Path of the file."""
        return self._source.path

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._closed

    def _opened(self) -> FSDataInputStream:
        if self._closed:
            raise PathIOException(self.path, "the stream is closed")
        if self._stream is None:
            location = self._source.location
            filesystem = FILESYSTEMS.take(location)
            give_back = weakref.finalize(self, FILESYSTEMS.give_back, location)
            try:
                stream = self._source.open(filesystem)
                if self._start:
                    stream.seek(self._start)
            except BaseException:
                give_back()
                raise
            self._stream, self._done = stream, give_back
        return self._stream

    def close(self) -> None:
        """Close the stream if it was opened. May be called again."""
        self._closed = True
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
            self._done()

    def get_pos(self) -> int:
        """Return the offset of the next byte without opening the file."""
        if self._stream is None and not self._closed:
            return self._start
        return self._opened().get_pos()

    def seek(self, position: int) -> None:
        """See the base class."""
        self._opened().seek(position)

    def seek_to_new_source(self, position: int) -> bool:
        """See the base class."""
        return self._opened().seek_to_new_source(position)

    def read_byte(self) -> int:
        """See the base class."""
        return self._opened().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """See the base class."""
        return self._opened().read_into(buffer, offset, length)

    def skip(self, count: int) -> int:
        """See the base class."""
        return self._opened().skip(count)

    def available(self) -> int:
        """See the base class."""
        return self._opened().available()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """See the base class."""
        return self._opened().pread(position, buffer, offset, length)

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        """See the base class."""
        self._opened().read_fully(position, buffer, offset, length)

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """See the base class."""
        self._opened().read_vectored(ranges, allocate, release)

    def read_buffer(self, buffer: ByteBuffer) -> int:
        """See the base class."""
        return self._opened().read_buffer(buffer)

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        """See the base class."""
        return self._opened().pread_buffer(position, buffer)

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        """See the base class."""
        self._opened().read_fully_buffer(position, buffer)

    def unbuffer(self) -> None:
        """See the base class; does not open the file."""
        if self._stream is not None:
            self._stream.unbuffer()

    def has_capability(self, name: str) -> bool:
        """See the base class; does not open the file."""
        if name is None:
            raise NullPointerException("capability name must not be None")
        return name.lower() in CAPABILITIES

    def as_file(self) -> io.RawIOBase:
        """See the base class."""
        return self._opened().as_file()

    def io_statistics(self) -> Mapping[str, int]:
        """Return statistics of the stream; empty before it was opened."""
        return {} if self._stream is None else self._stream.io_statistics()
