"""Correct Python files over streams in memory, which mutants of Python files derive from."""

from __future__ import annotations

import io
import os
from typing import ClassVar

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.fakes.mutants.stream.variants import NoSeek
from fscontract.implementations.file_adapter import StreamFile
from fscontract.implementations.memory import MemoryInputStream


class PlainFile(StreamFile):
    """A correct file; what one operation does wrong in a subclass, the others don't see."""

    #: The class of the streams beneath.
    stream_class: ClassVar[type[MemoryInputStream]] = MemoryInputStream

    def read(self, size: int | None = -1) -> bytes:
        return self.take(size)

    def readall(self) -> bytes:
        return self.take(None)

    def readline(self, size: int | None = -1, /) -> bytes:
        return self.take_line(size)

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        return self.take_lines(hint)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_CUR:
            return super().seek(offset, whence)
        self._check_open()
        return super().seek(StreamFile.tell(self) + offset)

    def __next__(self) -> bytes:
        line = self.take_line(None)
        if not line:
            raise StopIteration
        return line

    def take(self, size: int | None) -> bytes:
        """Read `size` bytes, or all if it is None or negative."""
        self._check_open()
        rest = self.left()
        data = bytearray(rest if size is None or size < 0 else min(size, rest))
        if data:
            self._stream.read_into(data)
        return bytes(data)

    def take_line(self, size: int | None) -> bytes:
        """Read a line, of at most `size` bytes if that is 0 or more."""
        self._check_open()
        rest = bytearray(self.left())
        self._stream.pread(StreamFile.tell(self), rest)
        end = rest.find(b"\n") + 1 or len(rest)
        return self.take(end if size is None or size < 0 else min(size, end))

    def take_lines(self, hint: int | None) -> list[bytes]:
        """Read lines until they have `hint` bytes together, or all."""
        self._check_open()
        lines: list[bytes] = []
        while self.left() and not (hint and 0 < hint <= sum(map(len, lines))):
            lines.append(self.take_line(None))
        return lines

    def left(self) -> int:
        """How many bytes there are between the position and the end."""
        return max(0, self._length() - StreamFile.tell(self))

    def move(self, count: int) -> None:
        """Move the position by `count` bytes."""
        StreamFile.seek(self, StreamFile.tell(self) + count)

    @property
    def is_closed(self) -> bool:
        """Whether the file is closed, whatever `closed` says."""
        return bool(StreamFile.closed.__get__(self))

    def _check_open(self) -> None:
        if self.is_closed:
            raise ValueError("I/O operation on closed file")


class UnseekableFile(PlainFile):
    """A correct file over a stream that can't seek."""

    stream_class = NoSeek

    def seekable(self) -> bool:
        self._check_open()
        return False

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check_open()
        raise UnsupportedOperationException("seek is not possible")


def stream_of(file: type[PlainFile]) -> type[MemoryInputStream]:
    """Return a class of streams whose Python files are of the class `file`."""

    def as_file(self: MemoryInputStream) -> io.RawIOBase:
        return file(self, self._length, lambda: self._seeks)

    return type(file.__name__, (file.stream_class,), {"as_file": as_file})
