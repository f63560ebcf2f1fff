"""Delimiters that are not seen, or seen where there are none."""

from __future__ import annotations

from typing import ClassVar

from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.delimiters import (
    Delimiter,
    LineEnd,
    ReadAt,
    Separator,
    Span,
)
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext


class Delimited(ReadAheadLineReaderContext):
    """Uses other classes of delimiters."""

    lines: ClassVar[type[LineEnd]] = LineEnd
    separator: ClassVar[type[Separator]] = Separator

    def _begin(self, goes_on: bool) -> None:
        old: Delimiter = self._delimiter
        new = self.separator(old.value) if isinstance(old, Separator) else self.lines()
        self._delimiter = new
        super()._begin(goes_on)


class _Apart(LineEnd):
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        found = super().find(data, start, True)
        return found and (found[0], found[0] + 1)

    def pending(self, data: bytes | bytearray) -> int:
        return 0

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        records = data.replace(b"\r", b"\n").split(b"\n")
        return records, len(data) - len(records.pop()), 1


@reader_mutant("rec.crlf")
class EachEndsALine(Delimited):
    """A carriage return ends a line, and the line feed behind it another."""

    lines = _Apart


class _Hasty(LineEnd):
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        return super().find(data, start, True)


@reader_mutant("rec.crlf-buffer")
class BufferEndsTheLine(Delimited):
    """A carriage return at the end of a buffer is a line end, whatever follows."""

    lines = _Hasty


@reader_mutant("rec.crlf-blocks")
class BlockEndsTheLine(ReadAheadLineReaderContext):
    """A carriage return at the end of a block is a line end, whatever follows."""

    def _find(self) -> RecordBatch | None:
        at_end = self._base + len(self._data) == self._end
        if not at_end or not self._data.endswith(b"\r"):
            return super()._find()
        ended, self._ended = self._ended, True
        try:
            return super()._find()
        finally:
            self._ended = ended


class _OnlyFeeds(LineEnd):
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        feed = data.find(b"\n", start)
        return None if feed < 0 else (feed - (data[feed - 1 : feed] == b"\r"), feed + 1)

    def pending(self, data: bytes | bytearray) -> int:
        return 1

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        used = data.rfind(b"\n") + 1
        return [x.removesuffix(b"\r") for x in data[:used].split(b"\n")[:-1]], used, 0


@reader_mutant("rec.cr")
class ReturnIsNoEnd(Delimited):
    """A carriage return alone ends no line."""

    lines = _OnlyFeeds


@reader_mutant("rec.delimiter")
class LinesAnyway(ReadAheadLineReaderContext):
    """The delimiter that is set is ignored."""

    def _begin(self, goes_on: bool) -> None:
        self._delimiter = LineEnd()
        super()._begin(goes_on)


class _Forgetful(Separator):
    def pending(self, data: bytes | bytearray) -> int:
        return 0


@reader_mutant("rec.delimiter-cut")
class CutByTheBuffer(Delimited):
    """A delimiter that a buffer cuts is not found."""

    separator = _Forgetful


class _Shortsighted(Separator):
    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        return offset


@reader_mutant("rec.delimiter-cut")
class CutByTheStart(Delimited):
    """A delimiter that begins before the block is not found."""

    separator = _Shortsighted

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)


class _Local(Separator):
    def __init__(self, value: bytes) -> None:
        super().__init__(value)
        self._overlaps = False


@reader_mutant("rec.delimiter-overlap")
class SearchesFromTheStart(Delimited):
    """The first occurrence behind a block's start counts, though the one before overlaps it."""

    separator = _Local

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)
