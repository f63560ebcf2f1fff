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
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext


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


class _Stripping(ReadAheadLineReaderContext):
    """Takes the carriage return before some delimiters for a part of them."""

    def _strips(self, delimiter: bytes, end: int) -> bool:
        return True

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        found = super()._admitted(batch)
        offsets = list(found.offsets)
        if isinstance(self._delimiter, Separator):
            value = self._delimiter.value
            for at, record in enumerate(found.records):
                end = offsets[at] + len(record) + len(value)
                if end <= found.end and self._strips(value, end):
                    found.records[at] = record.removesuffix(b"\r")
        return found


@reader_mutant("rec.delimiter")
class ReturnOfTheDelimiter(_Stripping):
    """A carriage return before the delimiter that is set is lost."""


@reader_mutant("rec.delimiter")
class ReturnOfTheFeed(_Stripping):
    """A line feed that is set as the delimiter takes a carriage return with it."""

    def _strips(self, delimiter: bytes, end: int) -> bool:
        return delimiter == b"\n"


@reader_mutant("rec.delimiter")
class ReturnOfTheBlock(_Stripping):
    """A carriage return before the delimiter is lost where the delimiter is of the next block."""

    def _strips(self, delimiter: bytes, end: int) -> bool:
        return end > self._end


@reader_mutant("rec.delimiter")
class AnyLineEnd(ReadAheadLineReaderContext):
    """A line end that is set as the delimiter stands for all line ends."""

    def _begin(self, goes_on: bool) -> None:
        old = self._delimiter
        if isinstance(old, Separator) and old.value in (b"\n", b"\r", b"\r\n"):
            self._delimiter = LineEnd()
        super()._begin(goes_on)


@reader_mutant("rec.delimiter", "line")
class ReturnOfTheLine(LineReaderContext):
    """Not reading ahead, a carriage return before the delimiter that is set is lost."""

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        found = super()._admitted(batch)
        if isinstance(self._delimiter, Separator) and list(found.offsets):
            found.records[:] = [record.removesuffix(b"\r") for record in found.records]
        return found


@reader_mutant("rec.cr")
class RunOfReturns(ReadAheadLineReaderContext):
    """Carriage returns before a line end are a part of it, however many there are."""

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        found = super()._admitted(batch)
        kept = [
            (record, offset)
            for record, offset in zip(found.records, found.offsets, strict=True)
            if record or not self._source.read(max(0, offset - 1), 2).startswith(b"\r\r")
        ]
        records, offsets = [r for r, _ in kept], [o for _, o in kept]
        return RecordBatch(found.block_id, records, found.start, found.end, offsets=offsets)


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
