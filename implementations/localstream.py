"""A stream over a local file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from fscontract.contract.errors import RemoteFileChangedException
from fscontract.contract.ports import Buffer
from fscontract.implementations.arguments import stream_length
from fscontract.implementations.descriptors import Descriptor, PositionedDescriptor
from fscontract.implementations.stream import ReferenceInputStream

#: Size in bytes of the read-ahead buffer of single-byte and small reads.
DEFAULT_BUFFER = 4096


class LocalInputStream(ReferenceInputStream):
    """Reads the file that `opener` opens, up to the length it had then.

    Small stream reads go through a buffer of `buffer_size` bytes (0: none; never more than the file
    has), all others straight to the file. A file changed in place shows its new bytes, and ends
    early when it was cut. One that is no longer the same when the stream reopens it after
    `unbuffer` raises RemoteFileChangedException: the stream can't know which of its bytes the
    reader has seen.
    """

    def __init__(
        self, path: str, opener: Callable[[], Descriptor], buffer_size: int = DEFAULT_BUFFER
    ) -> None:
        super().__init__(path)
        self._opener = opener
        self._lock = threading.Lock()
        self._descriptor: Descriptor | None = None
        self._positioned: PositionedDescriptor | None = None
        self._identity = self._hold(opener()).identity
        self._size = self._identity[2]
        self._bypass = max(1, buffer_size)  # reads of so many bytes leave the buffer alone
        self._buffer = bytearray()
        self._start = self._end = 0  # the part of the file that the buffer holds

    def read_byte(self) -> int:
        """The next byte, 0 to 255, or -1 at the end. (InputStream.read())"""
        position = self._pos
        if not self._start <= position < self._end:
            if self._closed:
                self._reject_closed()
            if not self._fill():
                return -1
        self._pos = position + 1
        self._single_reads += 1
        return self._buffer[position - self._start]

    # The first lines of the next two are for a whole buffer inside the file, as nearly all calls
    # are. Python's own time counts there: a call of Descriptor.read would take a tenth more.

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Fill as much of `buffer` as the file allows, as the port has it."""
        descriptor = self._positioned
        if descriptor is not None and buffer is not None and offset == 0:
            size, position = len(buffer), self._pos
            if (
                (length is None or length == size)
                and self._bypass <= size
                and (end := position + size) <= self._size
                and os.preadv(descriptor.number, (buffer,), position) == size
            ):
                self._pos = end
                self._reads += 1
                self._bytes += size
                return size
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
        """Read at `position` without a lock, as the port has it."""
        descriptor = self._positioned
        if descriptor is not None and buffer is not None and offset == 0 <= position:
            size = len(buffer)
            if (
                (length is None or length == size)
                and 0 < size <= self._size - position
                and os.preadv(descriptor.number, (buffer,), position) == size
            ):
                self._preads += 1
                self._bytes += size
                return size
        return super().pread(position, buffer, offset, length)

    def _length(self) -> int:
        return self._size

    def _read_at(self, position: int, view: memoryview) -> int:
        rest = self._size - position
        if rest < len(view):
            if rest <= 0:
                return 0
            view = view[:rest]
        descriptor = self._descriptor
        return (self._reopen() if descriptor is None else descriptor).read(position, view)

    def _read_small(self, view: memoryview) -> int:
        end = self._pos + len(view)
        if not self._start <= self._pos <= end <= self._end and not self._fill():
            return -1
        begin = self._pos - self._start
        chunk = memoryview(self._buffer)[begin : min(end, self._end) - self._start]
        view[: len(chunk)] = chunk
        self._pos += len(chunk)
        self._reads += 1
        self._bytes += len(chunk)
        return len(chunk)

    def _fill(self) -> int:
        """Read ahead from the position; how many bytes there are."""
        if not self._buffer:
            self._buffer = bytearray(min(self._bypass, self._size))
        self._start = self._end = 0  # nothing is valid if reading fails
        count = self._read_at(self._pos, memoryview(self._buffer))
        self._start, self._end = self._pos, self._pos + count
        return count

    def _hold(self, descriptor: Descriptor) -> Descriptor:
        self._descriptor = descriptor
        self._positioned = descriptor if isinstance(descriptor, PositionedDescriptor) else None
        return descriptor

    def _reopen(self) -> Descriptor:
        with self._lock:
            if self._closed:
                self._reject_closed()
            if self._descriptor is not None:
                return self._descriptor
            descriptor = self._opener()
            if descriptor.identity != self._identity:
                raise RemoteFileChangedException(self.path, "the file was changed or replaced")
            return self._hold(descriptor)

    def _release(self) -> None:
        with self._lock:
            self._descriptor = self._positioned = None
            self._buffer = bytearray()
            self._start = self._end = 0
