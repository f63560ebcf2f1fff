"""Mutants that lose, repeat or change records, or cut them at the wrong place."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.delimiters import (
    Delimiter,
    LineEnd,
    ReadAt,
    Separator,
    Span,
)
from fscontract.pipeline.blockreader.lines import (
    BOM,
    LineReaderContext,
    ReadAheadLineReaderContext,
)
from fscontract.pipeline.blocks import NO_BLOCK, FileBlockMetadata


def changed(batch: RecordBatch, change: Callable[[bytes, int], bytes]) -> RecordBatch:
    """The batch with other bytes in its records."""
    pairs = zip(batch.records, batch.offsets, strict=True)
    records = [change(record, offset) for record, offset in pairs]
    return RecordBatch(batch.block_id, records, batch.start, batch.end, offsets=batch.offsets)


class Changing(ReadAheadLineReaderContext):
    """Right, if `_change` leaves the records as they are."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        return None if batch is None else changed(batch, self._change)

    def _change(self, record: bytes, offset: int) -> bytes:
        return record


@reader_mutant("record.none-lost")
class StopsAtTheEnd(ReadAheadLineReaderContext):
    """The line that starts exactly at a block's end is left to the next block, which skips it."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)
        self._last_start -= 1


@reader_mutant("record.none-lost")
class SkipsTwoLines(ReadAheadLineReaderContext):
    """A block behind the first leaves out the first line that it has, too."""

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset)
        if not self._empty:
            self._leave_record(self._last_start)


@reader_mutant("record.none-twice")
class TakesTheFirst(ReadAheadLineReaderContext):
    """A line that starts exactly at a block's start is delivered by it, and by the one before."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset - 1)


@reader_mutant("record.owner")
class OwnedByStart(TakesTheFirst):
    """A line belongs to the block with its first byte."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)
        self._last_start -= 1


@reader_mutant("record.whole")
class CutByTheBlock(Changing):
    """A line ends where its block does."""

    def _change(self, record: bytes, offset: int) -> bytes:
        return record[: max(0, self._block.end - offset)] if offset < self._block.end else record


@reader_mutant("record.offset")
class OffsetInTheBlock(ReadAheadLineReaderContext):
    """Offsets are counted from the start of the block."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        if batch is not None:
            batch.offsets = [offset - self._block.offset for offset in batch.offsets]
        return batch


@reader_mutant("record.order")
class Backwards(ReadAheadLineReaderContext):
    """The lines that were read together come in reverse."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        if batch is not None:
            batch.offsets = batch.offsets[::-1]
            batch.records.reverse()
        return batch


@reader_mutant("record.many-blocks")
class PiecesOfLongLines(ReadAheadLineReaderContext):
    """A block inside of a line delivers the rest of the line."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset)
        if self._empty:
            self._empty = False
            self._go(offset)


@reader_mutant("record.data-offset")
class SkipsUnlessAtZero(ReadAheadLineReaderContext):
    """A block skips a line unless it starts at 0, be it the first that is read."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(goes_on)
        if self._block.previous_block_id == NO_BLOCK and self._block.offset:
            self._synchronize(self._block.offset)


@reader_mutant("record.final")
class FinalLineLost(ReadAheadLineReaderContext):
    """What follows the last line end is left out."""

    def _single(self, start: int) -> RecordBatch | None:
        batch = super()._single(start)
        if batch is None or not batch.records or not self._ended or self._data:
            return batch
        return None if batch.used_bytes == len(batch.records[0]) else batch


@reader_mutant("record.final")
class FinalLineFails(ReadAheadLineReaderContext):
    """The end of the file is taken for a line that is there, after many bytes."""

    def _single(self, start: int) -> RecordBatch | None:
        batch = super()._single(start)
        if self._ended and start > 8192 and batch is not None and not batch.records[0].strip():
            raise TypeError("there is no entity")
        if self._ended and start > 8192 and batch is not None:
            assert batch.used_bytes > len(batch.records[0])
        return batch


@reader_mutant("record.no-phantom")
class PhantomLine(ReadAheadLineReaderContext):
    """A line end at the end of the file begins one more line."""

    _told = False

    def _begin(self, goes_on: bool) -> None:
        super()._begin(goes_on)
        self._told = not self._block.is_last_block

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        at = self._block.file_length
        if batch is None and not self._told and self.position == at:
            self._told = True
            return RecordBatch(self._block.block_id, [b""], at, at, offsets=[at])
        return batch


@reader_mutant("record.bytes")
class CountsCharacters(Changing):
    """Bytes are decoded, and the low byte of each character is delivered."""

    def _change(self, record: bytes, offset: int) -> bytes:
        return bytes(ord(c) & 0xFF for c in record.decode("utf-8", "replace"))


@reader_mutant("record.blank")
class BlankLinesVanish(ReadAheadLineReaderContext):
    """Runs of line ends are swallowed."""

    def initialize(
        self, stream: FSDataInputStream, block: FileBlockMetadata, consecutive: bool
    ) -> None:
        self._drop_blank = True
        super().initialize(stream, block, consecutive)


@reader_mutant("record.drop-blank")
class FirstBlankLineStays(ReadAheadLineReaderContext):
    """A blank line at the start of the file is delivered though others are dropped."""

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        return batch if batch.start == 0 and not batch.records[0] else super()._admitted(batch)


@reader_mutant("record.limit")
class LimitWithinTheBlock(ReadAheadLineReaderContext):
    """A line that goes beyond what was read at once has no limit."""

    def _single(self, start: int) -> RecordBatch | None:
        limit, self._max_length = self._max_length, None
        try:
            return super()._single(start)
        finally:
            self._max_length = limit


@reader_mutant("record.limit-error")
class LongLinesAreSkipped(ReadAheadLineReaderContext):
    """A line above the limit is left out in silence."""

    def _begin(self, goes_on: bool) -> None:
        if self._on_too_long == "error":
            self._on_too_long = "skip"
        super()._begin(goes_on)


@reader_mutant("record.bom")
class MarkOfEachLine(Changing):
    """A byte order mark is left out at the start of any line."""

    def _change(self, record: bytes, offset: int) -> bytes:
        return record.removeprefix(BOM)


@reader_mutant("record.bom")
class MarkStays(ReadAheadLineReaderContext):
    """The byte order mark is part of the first line."""

    def _has_bom(self) -> bool:
        return False


# Without reading ahead ---------------------------------------------------------------------------


@reader_mutant("record.line-rest", "line")
class RestIsSkipped(LineReaderContext):
    """A block behind the first leaves out everything up to the first line end."""

    def _synchronize(self, offset: int) -> None:
        self._go(offset)
        self._empty = self._leave_record(self._last_start) is None


@reader_mutant("record.line-completes", "line")
class LastLineIsCut(LineReaderContext):
    """The last line ends where the block does."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        end = self._block.end
        return batch and changed(batch, lambda record, offset: record[: end - offset])


@reader_mutant("record.line-validated", "line")
class LastLineIsLost(LineReaderContext):
    """A line that goes beyond the block is left to the next one, which has but its rest."""

    def _single(self, start: int) -> RecordBatch | None:
        batch = super()._single(start)
        return None if batch is None or batch.end > self._block.end else batch


@reader_mutant("record.line-aligned", "line")
class ReadsOn(LineReaderContext):
    """The first bytes of the next block are read, whatever the last line is."""

    def _begin(self, goes_on: bool) -> None:
        self._end += 10
        super()._begin(goes_on)
        self._last_start -= 10


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


@reader_mutant("record.crlf")
class EachEndsALine(Delimited):
    """A carriage return ends a line, and the line feed behind it another."""

    lines = _Apart


class _Hasty(LineEnd):
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        return super().find(data, start, True)


@reader_mutant("record.crlf-buffer")
class BufferEndsTheLine(Delimited):
    """A carriage return at the end of a buffer is a line end, whatever follows."""

    lines = _Hasty


@reader_mutant("record.crlf-blocks")
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


@reader_mutant("record.cr")
class ReturnIsNoEnd(Delimited):
    """A carriage return alone ends no line."""

    lines = _OnlyFeeds


@reader_mutant("record.delimiter")
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


@reader_mutant("record.delimiter")
class ReturnOfTheDelimiter(_Stripping):
    """A carriage return before the delimiter that is set is lost."""


@reader_mutant("record.delimiter")
class ReturnOfTheFeed(_Stripping):
    """A line feed that is set as the delimiter takes a carriage return with it."""

    def _strips(self, delimiter: bytes, end: int) -> bool:
        return delimiter == b"\n"


@reader_mutant("record.delimiter")
class ReturnOfTheBlock(_Stripping):
    """A carriage return before the delimiter is lost where the delimiter is of the next block."""

    def _strips(self, delimiter: bytes, end: int) -> bool:
        return end > self._end


@reader_mutant("record.delimiter")
class AnyLineEnd(ReadAheadLineReaderContext):
    """A line end that is set as the delimiter stands for all line ends."""

    def _begin(self, goes_on: bool) -> None:
        old = self._delimiter
        if isinstance(old, Separator) and old.value in (b"\n", b"\r", b"\r\n"):
            self._delimiter = LineEnd()
        super()._begin(goes_on)


@reader_mutant("record.delimiter", "line")
class ReturnOfTheLine(LineReaderContext):
    """Not reading ahead, a carriage return before the delimiter that is set is lost."""

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        found = super()._admitted(batch)
        if isinstance(self._delimiter, Separator) and list(found.offsets):
            found.records[:] = [record.removesuffix(b"\r") for record in found.records]
        return found


@reader_mutant("record.cr")
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


@reader_mutant("record.delimiter-cut")
class CutByTheBuffer(Delimited):
    """A delimiter that a buffer cuts is not found."""

    separator = _Forgetful


class _Shortsighted(Separator):
    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        return offset


@reader_mutant("record.delimiter-cut")
class CutByTheStart(Delimited):
    """A delimiter that begins before the block is not found."""

    separator = _Shortsighted

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)


class _Local(Separator):
    def __init__(self, value: bytes) -> None:
        super().__init__(value)
        self._overlaps = False


@reader_mutant("record.delimiter-overlap")
class SearchesFromTheStart(Delimited):
    """The first occurrence behind a block's start counts, though the one before overlaps it."""

    separator = _Local

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)
