"""Read exactly the requested bytes of a block, or raise an error with path, block and offset."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fscontract.contract.api.errors import EOFException, PathIOException
from fscontract.contract.api.filesystem import FSDataInputStream


class ByteSource(ABC):
    """Bytes by their offset."""

    #: How many bytes there are; None if nobody knows before the end.
    length: int | None

    @abstractmethod
    def read(self, position: int, count: int) -> bytes:
        """Return `count` bytes from `position` on; fewer, or none, only where the source ends."""

    def read_behind(self, before: bytes, position: int, count: int) -> bytes:
        """Return `before` followed by the bytes of `read`."""
        return before + self.read(position, count)


class FileSource(ByteSource):
    """A stream over a file of `length` bytes, which is where it ends, whatever the stream says.

    A read of the stream may give fewer bytes than it was asked for; it is asked again then. A
    stream that gives none has failed, and so has one that ends too early.
    """

    def __init__(self, stream: FSDataInputStream, path: str, length: int) -> None:
        self.length: int = length
        self._stream = stream
        self._path = path
        self._buffer = bytearray()
        #: Where in the buffer the bytes go that are read next.
        self._front = 0
        #: Where the stream stands; None if that is not known, as after a failure.
        self._position: int | None = None

    def read(self, position: int, count: int) -> bytes:
        """Return `count` bytes from `position` on; EOFException if the file was truncated."""
        return self.read_behind(b"", position, count)

    def read_behind(self, before: bytes, position: int, count: int) -> bytes:
        """Return `before` and the bytes read behind it, with a single copy."""
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
                    f"{self._path!r} ends at {position + done}, not at {self.length}"
                    " as when it was split"
                )
            if not 0 < got <= count - done:
                raise PathIOException(
                    self._path, f"a read of {count - done} bytes returned {got} of them"
                )
            done += got


class BlockReadException(PathIOException):
    """A block can't be read; `block_id`, `path` and `offset` say which, and where in the file."""

    def __init__(self, path: str, block_id: int, offset: int, reason: str) -> None:
        super().__init__(path, f"block {block_id} at offset {offset}: {reason}")
        self.block_id = block_id
        self.offset = offset


class RecordTooLongException(BlockReadException):
    """A record is longer than the reader allows."""


class RecordConversionException(BlockReadException, ValueError):
    """The bytes of a record are not what the converter takes."""
