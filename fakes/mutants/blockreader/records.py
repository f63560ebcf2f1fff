"""Records that are lost, come twice, or are not what they are in the file."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.contract.ports import FSDataInputStream
from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.pipeline.blockreader.batches import RecordBatch
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


@reader_mutant("rec.none-lost")
class StopsAtTheEnd(ReadAheadLineReaderContext):
    """The line that starts exactly at a block's end is left to the next block, which skips it."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)
        self._last_start -= 1


@reader_mutant("rec.none-lost")
class SkipsTwoLines(ReadAheadLineReaderContext):
    """A block behind the first leaves out the first line that it has, too."""

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset)
        if not self._empty:
            self._leave_record(self._last_start)


@reader_mutant("rec.none-twice")
class TakesTheFirst(ReadAheadLineReaderContext):
    """A line that starts exactly at a block's start is delivered by it, and by the one before."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset - 1)


@reader_mutant("rec.owner")
class OwnedByStart(TakesTheFirst):
    """A line belongs to the block with its first byte."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)
        self._last_start -= 1


@reader_mutant("rec.whole")
class CutByTheBlock(Changing):
    """A line ends where its block does."""

    def _change(self, record: bytes, offset: int) -> bytes:
        return record[: max(0, self._block.end - offset)] if offset < self._block.end else record


@reader_mutant("rec.offset")
class OffsetInTheBlock(ReadAheadLineReaderContext):
    """Offsets are counted from the start of the block."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        if batch is not None:
            batch.offsets = [offset - self._block.offset for offset in batch.offsets]
        return batch


@reader_mutant("rec.order")
class Backwards(ReadAheadLineReaderContext):
    """The lines that were read together come in reverse."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        if batch is not None:
            batch.offsets = batch.offsets[::-1]
            batch.records.reverse()
        return batch


@reader_mutant("rec.many-blocks")
class PiecesOfLongLines(ReadAheadLineReaderContext):
    """A block inside of a line delivers the rest of the line."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset)
        if self._empty:
            self._empty = False
            self._go(offset)


@reader_mutant("rec.data-offset")
class SkipsUnlessAtZero(ReadAheadLineReaderContext):
    """A block skips a line unless it starts at 0, be it the first that is read."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(goes_on)
        if self._block.previous_block_id == NO_BLOCK and self._block.offset:
            self._synchronize(self._block.offset)


@reader_mutant("rec.final")
class FinalLineLost(ReadAheadLineReaderContext):
    """What follows the last line end is left out."""

    def _single(self, start: int) -> RecordBatch | None:
        batch = super()._single(start)
        if batch is None or not batch.records or not self._ended or self._data:
            return batch
        return None if batch.used_bytes == len(batch.records[0]) else batch


@reader_mutant("rec.final")
class FinalLineFails(ReadAheadLineReaderContext):
    """The end of the file is taken for a line that is there, after many bytes."""

    def _single(self, start: int) -> RecordBatch | None:
        batch = super()._single(start)
        if self._ended and start > 8192 and batch is not None and not batch.records[0].strip():
            raise TypeError("there is no entity")
        if self._ended and start > 8192 and batch is not None:
            assert batch.used_bytes > len(batch.records[0])
        return batch


@reader_mutant("rec.no-phantom")
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


@reader_mutant("rec.bytes")
class CountsCharacters(Changing):
    """Bytes are decoded, and the low byte of each character is delivered."""

    def _change(self, record: bytes, offset: int) -> bytes:
        return bytes(ord(c) & 0xFF for c in record.decode("utf-8", "replace"))


@reader_mutant("rec.blank")
class BlankLinesVanish(ReadAheadLineReaderContext):
    """Runs of line ends are swallowed."""

    def initialize(
        self, stream: FSDataInputStream, block: FileBlockMetadata, consecutive: bool
    ) -> None:
        self._drop_blank = True
        super().initialize(stream, block, consecutive)


@reader_mutant("rec.drop-blank")
class FirstBlankLineStays(ReadAheadLineReaderContext):
    """A blank line at the start of the file is delivered though others are dropped."""

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        return batch if batch.start == 0 and not batch.records[0] else super()._admitted(batch)


@reader_mutant("rec.limit")
class LimitWithinTheBlock(ReadAheadLineReaderContext):
    """A line that goes beyond what was read at once has no limit."""

    def _single(self, start: int) -> RecordBatch | None:
        most, self._most = self._most, None
        try:
            return super()._single(start)
        finally:
            self._most = most


@reader_mutant("rec.limit-error")
class LongLinesAreSkipped(ReadAheadLineReaderContext):
    """A line above the limit is left out in silence."""

    def _begin(self, goes_on: bool) -> None:
        if self._on_too_long == "error":
            self._on_too_long = "skip"
        super()._begin(goes_on)


@reader_mutant("rec.bom")
class MarkOfEachLine(Changing):
    """A byte order mark is left out at the start of any line."""

    def _change(self, record: bytes, offset: int) -> bytes:
        return record.removeprefix(BOM)


@reader_mutant("rec.bom")
class MarkStays(ReadAheadLineReaderContext):
    """The byte order mark is part of the first line."""

    def _has_bom(self) -> bool:
        return False


# Without reading ahead ---------------------------------------------------------------------------


@reader_mutant("rec.line-rest", "line")
class RestIsSkipped(LineReaderContext):
    """A block behind the first leaves out everything up to the first line end."""

    def _synchronize(self, offset: int) -> None:
        self._go(offset)
        self._empty = self._leave_record(self._last_start) is None


@reader_mutant("rec.line-completes", "line")
class LastLineIsCut(LineReaderContext):
    """The last line ends where the block does."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        end = self._block.end
        return batch and changed(batch, lambda record, offset: record[: end - offset])


@reader_mutant("rec.line-validated", "line")
class LastLineIsLost(LineReaderContext):
    """A line that goes beyond the block is left to the next one, which has but its rest."""

    def _single(self, start: int) -> RecordBatch | None:
        batch = super()._single(start)
        return None if batch is None or batch.end > self._block.end else batch


@reader_mutant("rec.line-aligned", "line")
class ReadsOn(LineReaderContext):
    """The first bytes of the next block are read, whatever the last line is."""

    def _begin(self, goes_on: bool) -> None:
        self._end += 10
        super()._begin(goes_on)
        self._last_start -= 10
