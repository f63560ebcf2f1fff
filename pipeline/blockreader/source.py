"""Exact reads of a block's bytes, or an error with path, block and offset."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fscontract.contract.api.errors import EOFException, PathIOException
from fscontract.contract.api.filesystem import FSDataInputStream


class ByteSource(ABC):
    """Bytes with offsets."""

    #: Number of bytes; None if it is known only at the end.
    length: int | None

    @abstractmethod
    def read(self, position: int, count: int) -> bytes:
        """Return `count` bytes from `position` on; fewer only at the end of the source."""

    def read_behind(self, before: bytes, position: int, count: int) -> bytes:
        """Return `before` followed by the result of `read`."""
        return before + self.read(position, count)


class FileSource(ByteSource):
    """A stream over a file that ends at `length` bytes, whatever the stream reports.

    Short reads of the stream are repeated. A read that returns no bytes, or an early EOF, raises.
    """

    def __init__(self, stream: FSDataInputStream, path: str, length: int) -> None:
        self.length: int = length
        self._stream = stream
        self._path = path
        self._buffer = bytearray()
        #: Index in the buffer for the next bytes.
        self._front = 0
        #: Position of the stream; None if unknown, for example after a failure.
        self._position: int | None = None

    def read(self, position: int, count: int) -> bytes:
        """Return `count` bytes from `position` on; raise EOFException if the file was truncated."""
        return self.read_behind(b"", position, count)

    def read_behind(self, before: bytes, position: int, count: int) -> bytes:
        """Return `before` and the bytes that follow it, with a single copy."""
        count = min(count, self.length - position)
        if count <= 0:
            return before
        front = len(before)
        if len(self._buffer) < front + count:
            self._buffer = bytearray(front + count)
        self._buffer[:front] = before
        known, self._position = self._position, None
        if known != position:
            self._stream.seek(position)
        self._front = front
        self._fill(position, count)
        self._position = position + count
        with memoryview(self._buffer) as view:
            return bytes(view[: front + count])

    def _fill(self, position: int, count: int) -> None:
        at, done = self._front, 0
        while done < count:
            got = self._stream.read_into(self._buffer, at + done, count - done)
            if got < 0:
                raise EOFException(
                    f"{self._path!r} was truncated: EOF at {position + done}, expected "
                    f"{self.length}"
                )
            if not 0 < got <= count - done:
                raise PathIOException(
                    self._path, f"invalid result of a read of {count - done} bytes: {got}"
                )
            done += got


class BlockReadException(PathIOException):
    """A block can't be read; has the attributes `block_id`, `path` and `offset` in the file."""

    def __init__(self, path: str, block_id: int, offset: int, reason: str) -> None:
        super().__init__(path, f"block {block_id} at offset {offset}: {reason}")
        self.block_id = block_id
        self.offset = offset


class RecordTooLongException(BlockReadException):
    """A record exceeds the maximum length."""


class RecordConversionException(BlockReadException, ValueError):
    """The converter rejected the bytes of a record."""
