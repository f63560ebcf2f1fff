"""Correct Python files whose operations do not call one another, to derive mutants from."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import TypeVar

from fscontract.contract.errors import UnsupportedOperationException
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import NoSeek
from fscontract.implementations.asfile import StreamFile
from fscontract.implementations.memory import MemoryInputStream

_File = TypeVar("_File", bound=type[StreamFile])


def file_mutant(
    clause: str, stream: type[MemoryInputStream] = MemoryInputStream
) -> Callable[[_File], _File]:
    """Register a class of files, over streams of the class `stream`, as a mutant of `clause`."""

    def register(file: _File) -> _File:
        def as_file(self: MemoryInputStream) -> io.RawIOBase:
            return file(self, self._length, lambda: self._seeks)

        members = {"__doc__": file.__doc__, "as_file": as_file}
        mutant(clause)(type(file.__name__, (stream,), members))
        return file

    return register


class PlainFile(StreamFile):
    """A correct file; what one operation does wrong in a subclass, the others don't see."""

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
        left = self.left()
        data = bytearray(left if size is None or size < 0 else min(size, left))
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

    def seekable(self) -> bool:
        self._check_open()
        return False

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check_open()
        raise UnsupportedOperationException("seek is not possible")


class Unseekable(NoSeek):
    """A stream that can't seek, and whose Python file says so."""

    def as_file(self) -> io.RawIOBase:
        return UnseekableFile(self, self._length, lambda: self._seeks)
