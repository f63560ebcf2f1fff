"""Mutants of the reads of Python files: read, readinto, lines and iteration."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.mutants.python_file.file import PlainFile, file_mutant


@file_mutant("python.readline.line")
class LineCut(PlainFile):
    """readline returns the line without its newline, which it has passed."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        return line[:-1] if line.endswith(b"\n") and len(line) > 1 else line


@file_mutant("python.readline.limit")
class LineWithoutLimit(PlainFile):
    """readline(n) returns the whole line, unless n is 0."""

    def readline(self, size: int | None = -1, /) -> bytes:
        return super().readline(size and -1)


@file_mutant("python.readline.last")
class LastLineLost(PlainFile):
    """The last line, without a newline, is passed over."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        last = (line and size is None) or size == -1
        return b"" if last and not line.endswith(b"\n") else line


@file_mutant("python.readline.eof")
class LineRaisesAtEnd(PlainFile):
    """readline at the end raises EOFError."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line and size != 0:
            raise EOFError("the end was reached")
        return line


@file_mutant("python.readline.advance")
class LineLags(PlainFile):
    """readline moves the position by one less than it returned."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if len(line) > 1:
            self.move(-1)
        return line


@file_mutant("python.readline.closed")
class LineWhenClosed(PlainFile):
    """readline on a closed file returns nothing."""

    def readline(self, size: int | None = -1, /) -> bytes:
        return b"" if self.is_closed else super().readline(size)


@file_mutant("python.readlines.all")
class LinesLackLast(PlainFile):
    """readlines leaves out the last line."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        lines = super().readlines(hint)
        if lines and (hint is None or hint <= 0):
            self.move(-len(lines.pop()))
        return lines


@file_mutant("python.readlines.hint")
class LinesWithoutHint(PlainFile):
    """readlines returns all lines whatever the hint."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        return super().readlines(hint and -1)


@file_mutant("python.readlines.advance")
class LinesStay(PlainFile):
    """readlines leaves the position where it was."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        lines = super().readlines(hint)
        if lines:
            self.move(-sum(map(len, lines)))
        return lines


@file_mutant("python.readlines.closed")
class LinesWhenClosed(PlainFile):
    """readlines on a closed file returns an empty list."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        return [] if self.is_closed else super().readlines(hint)


@file_mutant("python.iter.lines")
class IterationCuts(PlainFile):
    """Iteration yields lines without their newlines."""

    def __next__(self) -> bytes:
        line = super().__next__()
        return line[:-1] if line.endswith(b"\n") else line


@file_mutant("python.iter.end")
class IterationGoesOn(PlainFile):
    """Iteration yields empty lines at the end."""

    def __next__(self) -> bytes:
        try:
            return super().__next__()
        except StopIteration:
            return b""


@file_mutant("python.iter.closed")
class IterationWhenClosed(PlainFile):
    """Iterating over a closed file ends at once."""

    def __next__(self) -> bytes:
        if self.is_closed:
            raise StopIteration
        return super().__next__()


@file_mutant("python.read.count")
class FileReadsMore(PlainFile):
    """read(n) returns a byte more, where there is one."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size + 1 if size is not None and size > 0 else size)


@file_mutant("python.read.full")
class FileReadsHalf(PlainFile):
    """read(n) returns half of what was asked for."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size // 2 if size is not None and size > 1 else size)


@file_mutant("python.read.data")
class FileReadsReversed(PlainFile):
    """read(n) returns the bytes in reverse order."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        return data[::-1] if size is not None and size > 0 else data


@file_mutant("python.read.bytes")
class FileReadsBytearray(PlainFile):
    """read(n) returns a bytearray."""

    def read(self, size: int | None = -1) -> Any:
        data = super().read(size)
        return bytearray(data) if data and size is not None else data


@file_mutant("python.read.all")
class FileReadsHalfOfAll(PlainFile):
    """read(-1) returns half of what is left."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size < 0:
            return super().read((self.left() + 1) // 2)
        return super().read(size)


@file_mutant("python.read.none")
class FileRefusesNone(PlainFile):
    """read(None) raises TypeError."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None:
            raise TypeError("size must be a number")
        return super().read(size)


@file_mutant("python.read.eof")
class FileRaisesAtEnd(PlainFile):
    """read at the end raises EOFError."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data and size:
            raise EOFError("the end was reached")
        return data


@file_mutant("python.read.progress")
class FileDropsTail(PlainFile):
    """read(n) returns nothing if fewer bytes are left."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self.left():
            return b""
        return super().read(size)


@file_mutant("python.read.zero")
class FileTakesZeroForAll(PlainFile):
    """read(0) returns everything."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size or -1)


@file_mutant("python.read.advance")
class FileReadLags(PlainFile):
    """read(n) of several bytes moves the position by one less."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if size is not None and size > 0 and len(data) > 1:
            self.move(-1)
        return data


@file_mutant("python.read.closed")
class FileReadsWhenClosed(PlainFile):
    """read on a closed file returns nothing."""

    def read(self, size: int | None = -1) -> bytes:
        return b"" if self.is_closed else super().read(size)


@file_mutant("python.readall.data")
class AllButLast(PlainFile):
    """readall returns all but the last byte."""

    def readall(self) -> bytes:
        return self.take(max(self.left() - 1, 0)) or self.take(1)


@file_mutant("python.readall.eof")
class AllRaisesAtEnd(PlainFile):
    """readall at the end raises EOFError."""

    def readall(self) -> bytes:
        data = super().readall()
        if not data:
            raise EOFError("the end was reached")
        return data


@file_mutant("python.readall.advance")
class AllStays(PlainFile):
    """readall leaves the position where it was."""

    def readall(self) -> bytes:
        data = super().readall()
        if data:
            self.move(-len(data))
        return data


@file_mutant("python.readall.closed")
class AllWhenClosed(PlainFile):
    """readall on a closed file returns nothing."""

    def readall(self) -> bytes:
        return b"" if self.is_closed else super().readall()


@file_mutant("python.readinto.count")
class IntoCountsBuffer(PlainFile):
    """readinto that met the end returns the buffer's size."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        whole = memoryview(buffer)
        return whole.nbytes if count and whole.format == "B" and whole.ndim == 1 else count


@file_mutant("python.readinto.full")
class IntoHalf(PlainFile):
    """readinto fills half of the buffer."""

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if view.ndim > 1 or view.nbytes < 2:
            return super().readinto(buffer)
        return super().readinto(view.cast("B")[: view.nbytes // 2])


@file_mutant("python.readinto.data")
class IntoReversed(PlainFile):
    """readinto puts the bytes into the buffer in reverse order."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        view = memoryview(buffer)
        if count > 1 and view.format == "B" and view.ndim == 1:
            view[:count] = bytes(view[:count])[::-1]
        return count


@file_mutant("python.readinto.formats")
class IntoBytesOnly(PlainFile):
    """readinto refuses buffers of larger items."""

    def readinto(self, buffer: Any) -> int:
        if not self.is_closed and memoryview(buffer).itemsize > 1:
            raise TypeError("a buffer of bytes is wanted")
        return super().readinto(buffer)


@file_mutant("python.readinto.zero")
class IntoNeedsRoom(PlainFile):
    """readinto an empty buffer raises ValueError."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        if memoryview(buffer).nbytes == 0:
            raise ValueError("the buffer is empty")
        return count


@file_mutant("python.readinto.eof")
class IntoMinusOne(PlainFile):
    """readinto at the end returns -1."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        return count if count or memoryview(buffer).nbytes == 0 else -1


@file_mutant("python.readinto.progress")
class IntoDropsTail(PlainFile):
    """readinto a buffer for more than is left returns 0."""

    def readinto(self, buffer: Any) -> int:
        if not self.is_closed and memoryview(buffer).nbytes > self.left():
            return 0
        return super().readinto(buffer)


@file_mutant("python.readinto.rest-untouched")
class IntoClearsRest(PlainFile):
    """readinto zeroes the part of the buffer that it did not fill."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        view = memoryview(buffer)
        if count and view.ndim == 1:
            view.cast("B")[count:] = bytes(view.nbytes - count)
        return count


@file_mutant("python.readinto.advance")
class IntoLags(PlainFile):
    """readinto moves the position by one less than it returns."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        if count > 1:
            self.move(-1)
        return count


@file_mutant("python.readinto.closed")
class IntoWhenClosed(PlainFile):
    """readinto on a closed file returns 0."""

    def readinto(self, buffer: Any) -> int:
        return 0 if self.is_closed else super().readinto(buffer)
