"""Mutants of Python files: seek, tell, closed, readable, and the correct file they derive from."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any, TypeVar

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import NoSeek
from fscontract.implementations.file_adapter import StreamFile
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


@file_mutant("python.closed.before")
class ClosedAtOnce(PlainFile):
    """closed is True as soon as something was read."""

    @property
    def closed(self) -> bool:
        return self.is_closed or self._stream.get_pos() > 0


@file_mutant("python.closed.after")
class NeverClosed(PlainFile):
    """closed is False for ever."""

    @property
    def closed(self) -> bool:
        return False


@file_mutant("python.readable")
class NotReadable(PlainFile):
    """readable() is False."""

    def readable(self) -> bool:
        return not super().readable()


@file_mutant("python.seekable.true")
class NotSeekable(PlainFile):
    """seekable() is False although seek works."""

    def seekable(self) -> bool:
        return not super().seekable()


@file_mutant("python.seekable.false", NoSeek)
class SaysSeekable(UnseekableFile):
    """seekable() is True although seek does not work."""

    def seekable(self) -> bool:
        return not super().seekable()


@file_mutant("python.writable.false")
class SaysWritable(PlainFile):
    """writable() is True."""

    def writable(self) -> bool:
        return True


@file_mutant("python.write.refused")
class WritesNothing(PlainFile):
    """write returns 0."""

    def write(self, data: Any) -> Any:
        self._check_open()
        return 0


@file_mutant("python.write.closed")
class WritesWhenClosed(PlainFile):
    """write on a closed file returns 0."""

    def write(self, data: Any) -> Any:
        return 0 if self.is_closed else super().write(data)


@file_mutant("python.with.closes")
class WithLeavesOpen(PlainFile):
    """The end of a with block leaves the file open."""

    def __exit__(self, *exception: object) -> None:
        self._check_open()


@file_mutant("python.with.closed")
class WithOnClosed(PlainFile):
    """A closed file can be used in a with block."""

    def __enter__(self) -> Any:
        return self


@file_mutant("python.seek.set")
class FileSeeksToBlock(PlainFile):
    """seek(n, 0) to an odd position stops one before it, but returns n."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        target = super().seek(offset, whence)
        if whence == os.SEEK_SET and target % 2 and self.left():
            self.move(-1)
        return target


@file_mutant("python.seek.current")
class FileSeeksCurrentTwice(PlainFile):
    """seek(n, 1) moves the position by twice n, and returns where it is then."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(offset * 2 if whence == os.SEEK_CUR else offset, whence)


@file_mutant("python.seek.end")
class FileSeeksBeforeEnd(PlainFile):
    """seek(n, 2) counts back from the end."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(-abs(offset) if whence == os.SEEK_END else offset, whence)


@file_mutant("python.seek.returns")
class FileSeekReturnsOffset(PlainFile):
    """seek returns the offset that it was given."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        super().seek(offset, whence)
        return offset


@file_mutant("python.seek.past-end")
class FileRefusesBeyond(PlainFile):
    """A seek beyond the end raises OSError."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        here = StreamFile.tell(self)
        target = super().seek(offset, whence)
        if target > self._length():
            super().seek(here)
            raise OSError("beyond the end")
        return target


@file_mutant("python.seek.negative")
class FileNegativeIsZero(PlainFile):
    """A seek to before the start goes to the start."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return super().seek(offset, whence)
        except OSError:
            return super().seek(0)


@file_mutant("python.seek.failed-stays")
class FileFailedSeekRewinds(PlainFile):
    """A seek that raises leaves the file at its start."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return super().seek(offset, whence)
        except OSError:
            super().seek(0)
            raise


@file_mutant("python.seek.bad-whence")
class FileTakesAnyWhence(PlainFile):
    """A whence that is not known is taken as 0."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(offset, whence if whence in (0, 1, 2) else os.SEEK_SET)


@file_mutant("python.seek.closed")
class FileSeeksWhenClosed(PlainFile):
    """seek on a closed file returns 0."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return 0 if self.is_closed else super().seek(offset, whence)


@file_mutant("python.seek.unsupported", NoSeek)
class FilePretendsToSeek(UnseekableFile):
    """seek of a file that is not seekable returns 0."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check_open()
        return 0


@file_mutant("python.tell.value")
class TellOfBuffer(PlainFile):
    """Once something was read, tell gives the end of the buffer."""

    def tell(self) -> int:
        here = super().tell()
        return max(here, self._length()) if here else 0


@file_mutant("python.tell.stays")
class TellMoves(PlainFile):
    """tell moves the position by one."""

    def tell(self) -> int:
        here = super().tell()
        self.move(1)
        return here


@file_mutant("python.tell.closed")
class TellsWhenClosed(PlainFile):
    """tell on a closed file returns 0."""

    def tell(self) -> int:
        return 0 if self.is_closed else super().tell()
