"""Mutants that lose, repeat or change records, cut them at the wrong place, or cut long ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar
from unicodedata import normalize

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.lines import (
    BOM,
    Delimiter,
    LineEnd,
    LineReaderContext,
    ReadAheadLineReaderContext,
    ReadAt,
    Separator,
    Span,
)
from fscontract.pipeline.blocks import NO_BLOCK, FileBlockMetadata


def changed(batch: RecordBatch, change: Callable[[bytes, int], bytes]) -> RecordBatch:
    """Return the batch with other bytes in its records."""
    pairs = zip(batch.records, batch.offsets, strict=True)
    records = [change(record, offset) for record, offset in pairs]
    return RecordBatch(batch.block_id, records, batch.start, batch.end, offsets=batch.offsets)


class Changing(ReadAheadLineReaderContext):
    """Correct, if `_change` leaves the records unchanged."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        return None if batch is None else changed(batch, self._change)

    def _change(self, record: bytes, offset: int) -> bytes:
        return record


@mutant("record.none-lost", ReadAheadLineReaderContext._begin)
def stops_at_the_end(self: ReadAheadLineReaderContext, goes_on: bool) -> None:
    """The line that starts exactly at a block's end is left to the next block, which skips it."""
    right(self)._begin(False)
    self._last_start -= 1


@mutant("record.none-lost", ReadAheadLineReaderContext._synchronize)
def skips_two_lines(self: ReadAheadLineReaderContext, offset: int) -> None:
    """A block after the first also skips the first line that belongs to it."""
    right(self)._synchronize(offset)
    if not self._empty:
        self._leave_record(self._last_start)


@mutant("record.none-twice")
class TakesTheFirst(ReadAheadLineReaderContext):
    """A line that starts exactly at a block's start is delivered by both adjacent blocks."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset - 1)


@mutant("record.owner", TakesTheFirst._begin)
def owned_by_start(self: TakesTheFirst, goes_on: bool) -> None:
    """A line belongs to the block with its first byte."""
    right(self)._begin(False)
    self._last_start -= 1


@mutant("record.whole", Changing._change)
def cut_by_the_block(self: Changing, record: bytes, offset: int) -> bytes:
    """A line ends where its block does."""
    return record[: max(0, self.block.end - offset)] if offset < self.block.end else record


@mutant("record.whole", Changing._change)
def end_of_text(self: Changing, record: bytes, offset: int) -> bytes:
    """A record ends at a control-Z."""
    return record.partition(b"\x1a")[0]


@mutant("record.whole", Changing._change)
def unescapes(self: Changing, record: bytes, offset: int) -> bytes:
    """A backslash is removed where it escapes another character."""
    return re.sub(rb"\\(.?)", rb"\1", record)


@mutant("record.none-lost", ReadAheadLineReaderContext._admitted)
def comments(self: ReadAheadLineReaderContext, batch: RecordBatch) -> RecordBatch:
    """Lines that begin with a number sign are dropped."""
    pairs = zip(batch.records, batch.offsets, strict=True)
    kept = [(record, offset) for record, offset in pairs if not record.startswith(b"#")]
    records, offsets = [record for record, _ in kept], [offset for _, offset in kept]
    batch = RecordBatch(batch.block_id, records, batch.start, batch.end, offsets=offsets)
    return right(self)._admitted(batch)


@mutant("record.whole", Changing._change)
def strips_blanks(self: Changing, record: bytes, offset: int) -> bytes:
    """Spaces and tabs at the ends of a record are removed."""
    return record.strip(b" \t")


def _with_offsets_of(batch: RecordBatch | None, bits: int) -> RecordBatch | None:
    """Return a batch whose offsets are cut to their last bits."""
    if batch is not None:
        batch.offsets = [offset % (1 << bits) for offset in batch.offsets]
    return batch


@mutant("record.offset", ReadAheadLineReaderContext._find)
def offset_in_32_bits(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """Offsets are held in 32 bits."""
    return _with_offsets_of(right(self)._find(), bits=32)


@mutant("record.offset", ReadAheadLineReaderContext._find)
def offset_in_the_block(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """Offsets are counted from the start of the block."""
    batch = right(self)._find()
    if batch is not None:
        batch.offsets = [offset - self.block.offset for offset in batch.offsets]
    return batch


@mutant("record.order", ReadAheadLineReaderContext._find)
def backwards(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """Lines of one read are delivered in reverse order."""
    batch = right(self)._find()
    if batch is not None:
        batch.offsets = batch.offsets[::-1]
        batch.records.reverse()
    return batch


@mutant("record.many-blocks")
class PiecesOfLongLines(ReadAheadLineReaderContext):
    """A block inside a line delivers the rest of the line."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)

    def _synchronize(self, offset: int) -> None:
        super()._synchronize(offset)
        if self._empty:
            self._empty = False
            self._go(offset)


@mutant("record.data-offset", ReadAheadLineReaderContext._begin)
def skips_unless_at_zero(self: ReadAheadLineReaderContext, goes_on: bool) -> None:
    """A block skips a line unless it starts at 0, even if it is the first block of the reader."""
    right(self)._begin(goes_on)
    if self.block.previous_block_id == NO_BLOCK and self.block.offset:
        self._synchronize(self.block.offset)


@mutant("record.final", ReadAheadLineReaderContext._single)
def final_line_lost(self: ReadAheadLineReaderContext, start: int) -> RecordBatch | None:
    """A last line without a line end is dropped."""
    batch = right(self)._single(start)
    if batch is None or not batch.records or not self._ended or self._data:
        return batch
    return None if batch.used_bytes == len(batch.records[0]) else batch


@mutant("record.final", ReadAheadLineReaderContext._single)
def final_line_fails(self: ReadAheadLineReaderContext, start: int) -> RecordBatch | None:
    """The end of the file is treated as a line end after many bytes."""
    batch = right(self)._single(start)
    if self._ended and start > 8192 and batch is not None and not batch.records[0].strip():
        raise TypeError("there is no entity")
    if self._ended and start > 8192 and batch is not None:
        assert batch.used_bytes > len(batch.records[0])
    return batch


@mutant("record.no-phantom")
class PhantomLine(ReadAheadLineReaderContext):
    """A line end at the end of the file starts another line."""

    _told = False

    def _begin(self, goes_on: bool) -> None:
        super()._begin(goes_on)
        self._told = not self.block.is_last_block

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        at = self.block.file_length
        if batch is None and not self._told and self.position == at:
            self._told = True
            return RecordBatch(self.block.block_id, [b""], at, at, offsets=[at])
        return batch


@mutant("record.bytes", Changing._change)
def counts_characters(self: Changing, record: bytes, offset: int) -> bytes:
    """Bytes are decoded, and the low byte of each character is delivered."""
    return bytes(ord(c) & 0xFF for c in record.decode("utf-8", "replace"))


@mutant("record.bytes", Changing._change)
def composes_accents(self: Changing, record: bytes, offset: int) -> bytes:
    """A letter and its accent become one character."""
    with suppress(UnicodeDecodeError):
        return normalize("NFC", record.decode()).encode()
    return record


@mutant("record.bytes", Changing._change)
def ends_where_text_does(self: Changing, record: bytes, offset: int) -> bytes:
    """A record ends at characters that end a line of text, such as form feeds."""
    return record.decode("latin-1").splitlines()[0].encode("latin-1") if record else record


@mutant("record.blank", ReadAheadLineReaderContext.initialize)
def blank_lines_vanish(
    self: ReadAheadLineReaderContext,
    stream: FSDataInputStream,
    block: FileBlockMetadata,
    consecutive: bool,
) -> None:
    """Runs of line ends are swallowed."""
    self._drop_blank = True
    right(self).initialize(stream, block, consecutive)


@mutant("record.drop-blank", ReadAheadLineReaderContext._admitted)
def first_blank_line_stays(self: ReadAheadLineReaderContext, batch: RecordBatch) -> RecordBatch:
    """A blank line at the start of the file is delivered although others are dropped."""
    return batch if batch.start == 0 and not batch.records[0] else right(self)._admitted(batch)


@mutant("record.drop-blank", ReadAheadLineReaderContext._admitted)
def white_is_blank(self: ReadAheadLineReaderContext, batch: RecordBatch) -> RecordBatch:
    """A line of white space is dropped with the blank ones."""
    if self._drop_blank:
        batch = changed(batch, lambda record, offset: record if record.strip() else b"")
    return right(self)._admitted(batch)


class _OtherLimit(ReadAheadLineReaderContext):
    """Applies another limit than the configured one."""

    def _begin(self, goes_on: bool) -> None:
        if self._max_length == 10:
            self._max_length = 9
        super()._begin(goes_on)


@mutant("record.limit")
class LimitWithLineEnd(_OtherLimit):
    """The limit is that of a record and its line end."""


@mutant("record.limit-error")
class FailsAtLimit(_OtherLimit):
    """A record whose length is the limit is an error."""


@mutant("record.limit", ReadAheadLineReaderContext._single)
def limit_within_the_block(self: ReadAheadLineReaderContext, start: int) -> RecordBatch | None:
    """A line that continues beyond the first read has no limit."""
    limit, self._max_length = self._max_length, None
    try:
        return right(self)._single(start)
    finally:
        self._max_length = limit


@mutant("record.limit-error", ReadAheadLineReaderContext._limited)
def long_line_moves_the_position(
    self: ReadAheadLineReaderContext, batch: RecordBatch, limit: int
) -> RecordBatch:
    """Behind the first buffer, the records before a long line end elsewhere."""
    before = right(self)._limited(batch, limit)
    if before.end < batch.end:
        self._at += 2 * self._base
    return before


@mutant("record.limit-error", ReadAheadLineReaderContext._begin)
def long_lines_are_skipped(self: ReadAheadLineReaderContext, goes_on: bool) -> None:
    """Lines above the limit are dropped without an error."""
    if self._on_too_long == "error":
        self._on_too_long = "skip"
    right(self)._begin(goes_on)


@mutant("record.bom", Changing._change)
def mark_of_each_line(self: Changing, record: bytes, offset: int) -> bytes:
    """A byte order mark is removed at the start of any line."""
    return record.removeprefix(BOM)


@mutant("record.bytes", Changing._change)
def strips_bytes_of_marks(self: Changing, record: bytes, offset: int) -> bytes:
    """All bytes of a byte order mark are removed at the start of the file."""
    return record if offset else record.lstrip(BOM)


@mutant("record.bytes", Changing._change)
def strips_mark_behind_header(self: Changing, record: bytes, offset: int) -> bytes:
    """A byte order mark at the data offset is removed."""
    is_first = self._data_offset > 0 and offset == self._data_offset
    return record.removeprefix(BOM) if is_first else record


@mutant("record.bom", ReadAheadLineReaderContext._has_bom)
def mark_stays(self: ReadAheadLineReaderContext) -> bool:
    """The byte order mark is part of the first line."""
    return False


# Without reading ahead ---------------------------------------------------------------------------


@mutant("record.line-rest", LineReaderContext._synchronize)
def rest_is_skipped(self: LineReaderContext, offset: int) -> None:
    """A block after the first skips everything up to the first line end."""
    self._go(offset)
    self._empty = self._leave_record(self._last_start) is None


@mutant("record.line-rest", LineReaderContext._synchronize)
def rest_of_a_delimiter(self: LineReaderContext, offset: int) -> None:
    """A block that starts inside a delimiter returns an empty line, or that rest."""
    if self._reads_ahead:
        right(self)._synchronize(offset)
    else:
        self._go(offset)


@mutant("record.line-completes", LineReaderContext._find)
def last_line_is_cut(self: LineReaderContext) -> RecordBatch | None:
    """The last line ends where the block does."""
    batch = right(self)._find()
    end = self.block.end
    return batch and changed(batch, lambda record, offset: record[: end - offset])


@mutant("record.line-validated", LineReaderContext._single)
def last_line_is_lost(self: LineReaderContext, start: int) -> RecordBatch | None:
    """A line that continues beyond the block is left to the next one, which has only its rest."""
    batch = right(self)._single(start)
    return None if batch is None or batch.end > self.block.end else batch


@mutant("record.line-aligned", LineReaderContext._begin)
def reads_on(self: LineReaderContext, goes_on: bool) -> None:
    """The first bytes of the next block are read, whatever the last line is."""
    self._end += 10
    right(self)._begin(goes_on)
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
        span = super().find(data, start, True)
        return span and (span[0], span[0] + 1)

    def pending(self, data: bytes | bytearray) -> int:
        return 0

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        records = data.replace(b"\r", b"\n").split(b"\n")
        return records, len(data) - len(records.pop()), 1


@mutant("record.crlf")
class EachEndsALine(Delimited):
    """A carriage return ends a line, and the line feed after it another."""

    lines = _Apart


class _Hasty(LineEnd):
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        return super().find(data, start, True)


@mutant("record.crlf-buffer")
class BufferEndsTheLine(Delimited):
    """A carriage return at the end of a buffer is a line end, whatever follows."""

    lines = _Hasty


@mutant("record.crlf-blocks", ReadAheadLineReaderContext._find)
def block_ends_the_line(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """A carriage return at the end of a block is a line end, whatever follows."""
    at_end = self._base + len(self._data) == self._end
    if not at_end or not self._data.endswith(b"\r"):
        return right(self)._find()
    ended, self._ended = self._ended, True
    try:
        return right(self)._find()
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


@mutant("record.cr")
class ReturnIsNoEnd(Delimited):
    """A single carriage return ends no line."""

    lines = _OnlyFeeds


class _OtherDelimiter(ReadAheadLineReaderContext):
    """Uses another delimiter than the configured one."""

    def _other(self, delimiter: bytes) -> bytes:
        return delimiter

    def _begin(self, goes_on: bool) -> None:
        if isinstance(self._delimiter, Separator):
            self._delimiter = Separator(self._other(self._delimiter.value) or b"\n")
        super()._begin(goes_on)


@mutant("record.delimiter", _OtherDelimiter._other)
def delimiter_to_nul(self: _OtherDelimiter, delimiter: bytes) -> bytes:
    """A delimiter ends at its first zero byte."""
    return delimiter.partition(b"\0")[0]


@mutant("record.delimiter", _OtherDelimiter._other)
def delimiter_in_7_bits(self: _OtherDelimiter, delimiter: bytes) -> bytes:
    """The bytes of a delimiter have seven bits."""
    return bytes(byte & 0x7F for byte in delimiter)


@mutant("record.delimiter", _OtherDelimiter._other)
def delimiter_of_16_bytes(self: _OtherDelimiter, delimiter: bytes) -> bytes:
    """The first 16 bytes of a delimiter count."""
    return delimiter[:16]


@mutant("record.delimiter", ReadAheadLineReaderContext._begin)
def lines_anyway(self: ReadAheadLineReaderContext, goes_on: bool) -> None:
    """The configured delimiter is ignored."""
    self._delimiter = LineEnd()
    right(self)._begin(goes_on)


class _Stripping(ReadAheadLineReaderContext):
    """Removes the carriage return before some delimiters."""

    def _strips(self, delimiter: bytes, end: int) -> bool:
        return True

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        admitted = super()._admitted(batch)
        offsets = list(admitted.offsets)
        if isinstance(self._delimiter, Separator):
            value = self._delimiter.value
            for at, record in enumerate(admitted.records):
                end = offsets[at] + len(record) + len(value)
                if end <= admitted.end and self._strips(value, end):
                    admitted.records[at] = record.removesuffix(b"\r")
        return admitted


@mutant("record.delimiter")
class ReturnOfTheDelimiter(_Stripping):
    """A carriage return before the configured delimiter is lost."""


@mutant("record.delimiter", Changing._change)
def delimiter_in_any_case(self: Changing, record: bytes, offset: int) -> bytes:
    """A record ends at the delimiter in upper or lower case."""
    if not isinstance(self._delimiter, Separator):
        return record
    return record[: (record.lower() + self._delimiter.value).index(self._delimiter.value.lower())]


@mutant("record.delimiter", Changing._change)
def delimiter_is_a_pattern(self: Changing, record: bytes, offset: int) -> bytes:
    """A record ends where the delimiter matches as a regular expression."""
    if not isinstance(self._delimiter, Separator) or self._delimiter.value != b".":
        return record
    return re.split(self._delimiter.value, record)[0]


@mutant("record.delimiter", _Stripping._strips)
def return_of_the_feed(self: _Stripping, delimiter: bytes, end: int) -> bool:
    """With a line feed as configured delimiter, the carriage return before it is lost."""
    return delimiter == b"\n"


@mutant("record.delimiter", _Stripping._strips)
def return_of_the_block(self: _Stripping, delimiter: bytes, end: int) -> bool:
    """A carriage return before the delimiter is lost where the delimiter is in the next block."""
    return end > self._end


@mutant("record.delimiter", ReadAheadLineReaderContext._begin)
def any_line_end(self: ReadAheadLineReaderContext, goes_on: bool) -> None:
    """A line end as configured delimiter matches all line ends."""
    old = self._delimiter
    if isinstance(old, Separator) and old.value in (b"\n", b"\r", b"\r\n"):
        self._delimiter = LineEnd()
    right(self)._begin(goes_on)


@mutant("record.delimiter", LineReaderContext._admitted)
def return_of_the_line(self: LineReaderContext, batch: RecordBatch) -> RecordBatch:
    """Without reading ahead, a carriage return before the configured delimiter is lost."""
    admitted = right(self)._admitted(batch)
    if isinstance(self._delimiter, Separator) and list(admitted.offsets):
        admitted.records[:] = [record.removesuffix(b"\r") for record in admitted.records]
    return admitted


@mutant("record.cr", ReadAheadLineReaderContext._admitted)
def run_of_returns(self: ReadAheadLineReaderContext, batch: RecordBatch) -> RecordBatch:
    """All carriage returns before a line end are removed."""
    admitted = right(self)._admitted(batch)
    pairs = [
        (record, offset)
        for record, offset in zip(admitted.records, admitted.offsets, strict=True)
        if record or not self._source.read(max(0, offset - 1), 2).startswith(b"\r\r")
    ]
    records, offsets = [r for r, _ in pairs], [o for _, o in pairs]
    return RecordBatch(admitted.block_id, records, admitted.start, admitted.end, offsets=offsets)


class _Forgetful(Separator):
    def pending(self, data: bytes | bytearray) -> int:
        return 0


@mutant("record.delimiter-cut")
class CutByTheBuffer(Delimited):
    """A delimiter across the end of a buffer is not found."""

    separator = _Forgetful


class _Shortsighted(Separator):
    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        return offset


@mutant("record.delimiter-cut")
class CutByTheStart(Delimited):
    """A delimiter that begins before the block is not found."""

    separator = _Shortsighted

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)


class _Local(Separator):
    def __init__(self, value: bytes) -> None:
        super().__init__(value)
        self._overlaps = False


@mutant("record.delimiter-overlap")
class SearchesFromTheStart(Delimited):
    """The first occurrence in a block counts, although the one before overlaps it."""

    separator = _Local

    def _begin(self, goes_on: bool) -> None:
        super()._begin(False)


@mutant("record.offset", ReadAheadLineReaderContext._find)
def offset_in_16_bits(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """Offsets are held in 16 bits."""
    return _with_offsets_of(right(self)._find(), bits=16)


@mutant("record.whole", Changing._change)
def longest_is_64k(self: Changing, record: bytes, offset: int) -> bytes:
    """Lines end after 65,535 bytes."""
    return record[:65_535]


@mutant("record.whole", Changing._change)
def overflow_grows_once(self: Changing, record: bytes, offset: int) -> bytes:
    """The buffer of a line grows to 16 KiB; what is longer keeps only the beginning and the end."""
    return record if len(record) <= 16_384 else record[:16_384] + record[-1:]


@mutant("record.many-blocks", ReadAheadLineReaderContext.initialize)
def gives_up_after_blocks(
    self: ReadAheadLineReaderContext,
    stream: FSDataInputStream,
    block: FileBlockMetadata,
    consecutive: bool,
) -> None:
    """After 128 blocks in a row, a line that began before them is forgotten."""
    self.in_a_row = getattr(self, "in_a_row", 0) + 1 if consecutive else 0  # type: ignore[attr-defined]
    row: int = self.in_a_row  # type: ignore[attr-defined]
    right(self).initialize(stream, block, consecutive and row <= 128)
    if row > 128:
        self._empty = True
