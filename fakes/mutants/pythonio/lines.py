"""Mutants of readline, readlines and iteration."""

from __future__ import annotations

from fscontract.fakes.mutants.pythonio.files import PlainFile, file_mutant


@file_mutant("pyio.readline.line")
class LineCut(PlainFile):
    """readline returns the line without its newline, which it has passed."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        return line[:-1] if line.endswith(b"\n") and len(line) > 1 else line


@file_mutant("pyio.readline.limit")
class LineWithoutLimit(PlainFile):
    """readline(n) returns the whole line, unless n is 0."""

    def readline(self, size: int | None = -1, /) -> bytes:
        return super().readline(size and -1)


@file_mutant("pyio.readline.last")
class LastLineLost(PlainFile):
    """The last line, without a newline, is passed over."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        last = (line and size is None) or size == -1
        return b"" if last and not line.endswith(b"\n") else line


@file_mutant("pyio.readline.eof")
class LineRaisesAtEnd(PlainFile):
    """readline at the end raises EOFError."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line and size != 0:
            raise EOFError("the end was reached")
        return line


@file_mutant("pyio.readline.advance")
class LineLags(PlainFile):
    """readline moves the position by one less than it returned."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if len(line) > 1:
            self.move(-1)
        return line


@file_mutant("pyio.readline.closed")
class LineWhenClosed(PlainFile):
    """readline on a closed file returns nothing."""

    def readline(self, size: int | None = -1, /) -> bytes:
        return b"" if self.is_closed else super().readline(size)


@file_mutant("pyio.readlines.all")
class LinesLackLast(PlainFile):
    """readlines leaves out the last line."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        lines = super().readlines(hint)
        if lines and (hint is None or hint <= 0):
            self.move(-len(lines.pop()))
        return lines


@file_mutant("pyio.readlines.hint")
class LinesWithoutHint(PlainFile):
    """readlines returns all lines whatever the hint."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        return super().readlines(hint and -1)


@file_mutant("pyio.readlines.advance")
class LinesStay(PlainFile):
    """readlines leaves the position where it was."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        lines = super().readlines(hint)
        if lines:
            self.move(-sum(map(len, lines)))
        return lines


@file_mutant("pyio.readlines.closed")
class LinesWhenClosed(PlainFile):
    """readlines on a closed file returns an empty list."""

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        return [] if self.is_closed else super().readlines(hint)


@file_mutant("pyio.iter.lines")
class IterationCuts(PlainFile):
    """Iteration yields lines without their newlines."""

    def __next__(self) -> bytes:
        line = super().__next__()
        return line[:-1] if line.endswith(b"\n") else line


@file_mutant("pyio.iter.end")
class IterationGoesOn(PlainFile):
    """Iteration yields empty lines at the end."""

    def __next__(self) -> bytes:
        try:
            return super().__next__()
        except StopIteration:
            return b""


@file_mutant("pyio.iter.closed")
class IterationWhenClosed(PlainFile):
    """Iterating over a closed file ends at once."""

    def __next__(self) -> bytes:
        if self.is_closed:
            raise StopIteration
        return super().__next__()
