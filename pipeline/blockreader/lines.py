"""Reader contexts for delimited records, in blocks that cut records anywhere."""

from __future__ import annotations

from typing import Literal, TypeAlias

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.blockreader.batches import RecordBatch, RegionBatch
from fscontract.pipeline.blockreader.compression import INFER
from fscontract.pipeline.blockreader.contexts import DEFAULT_BUFFER, ReaderContext
from fscontract.pipeline.blockreader.delimiters import delimiter_of
from fscontract.pipeline.blockreader.source import RecordTooLongException
from fscontract.pipeline.blocks import NO_BLOCK

#: How a record that is too long is treated.
TooLong: TypeAlias = Literal["error", "truncate", "skip"]
#: The first read behind a block's end; each further one is twice as long, up to the buffer.
DEFAULT_OVERFLOW = 1 << 14
BOM = b"\xef\xbb\xbf"


class LineReaderContext(ReaderContext):
    r"""Lines, each completed though it extends beyond the block, that start in the block.

    A block that starts inside a line gives the rest of that line as its first record: whoever
    converts the records has to tell it from a whole one, and return None for it. Without those
    rests the records are those of the unsplit file, each exactly once. Where a line ends at the
    block's end, nothing behind it is read.

    `delimiter` is any sequence of bytes; None stands for `\n`, `\r` and `\r\n`, as each line has
    it. Blank lines are records unless `drop_blank`. What is at the file's end is a record even if
    no delimiter follows. A UTF-8 byte order mark at the start of the file is no part of the first
    record, unless `strip_bom` is False. `data_offset` is where the file's first block starts.

    A record of more than `max_record_length` bytes is an error (RecordTooLongException), is cut to
    that length ("truncate"), or is left out ("skip"); its bytes beyond that are never held. That
    is the same wherever blocks end, as it is judged by the block the record belongs to.
    """

    #: Whether a record that starts exactly at the block's end belongs to the block.
    _reads_ahead = False

    def __init__(
        self,
        delimiter: bytes | None = None,
        *,
        max_record_length: int | None = None,
        on_too_long: TooLong = "error",
        drop_blank: bool = False,
        strip_bom: bool = True,
        data_offset: int = 0,
        buffer_size: int = DEFAULT_BUFFER,
        overflow_buffer_size: int = DEFAULT_OVERFLOW,
        compression: str | None = INFER,
    ) -> None:
        super().__init__(buffer_size, compression)
        if overflow_buffer_size < 1:
            raise IllegalArgumentException(
                f"a buffer has at least 1 byte, not {overflow_buffer_size}"
            )
        if max_record_length is not None and max_record_length < 0:
            raise IllegalArgumentException(f"a negative max_record_length: {max_record_length}")
        if on_too_long not in ("error", "truncate", "skip"):
            raise IllegalArgumentException(f"error, truncate or skip, not {on_too_long!r:.40}")
        self._delimiter = delimiter_of(delimiter)
        self._max_length = max_record_length
        self._on_too_long = on_too_long
        self._drop_blank = drop_blank
        self._strip_bom = strip_bom
        self._data_offset = data_offset
        self._overflow_size = overflow_buffer_size
        #: The bytes at hand are those from `_base` on; the next record starts at index `_at`.
        self._data = b""
        self._base = 0
        self._at = 0
        #: Whether nothing follows the bytes at hand.
        self._ended = False
        #: Where the first record starts if not at the position, which is behind a BOM then.
        self._first: int | None = None
        #: Where the last record of the block may start.
        self._last_start = 0
        #: Whether there is no record that starts in the block, so that its end was not looked for.
        self._empty = False
        #: Where the last block ended, if it was read to its end and the position is the next start.
        self._finished: int | None = None

    @property
    def position(self) -> int:
        """Return where the next record starts, if there is one."""
        return self._base + self._at

    # The start of a block ------------------------------------------------------------------------

    def _begin(self, goes_on: bool) -> None:
        block, finished = self._block, self._finished
        self._last_start = self._end if self._reads_ahead else self._end - 1
        self._first, self._finished, self._empty = None, None, False
        self._overflow = self._overflow_size
        if not goes_on:
            self._data, self._base, self._at, self._ended = b"", block.offset, 0, False
        if block.previous_block_id == NO_BLOCK:
            self._go(block.offset)
            if block.offset == 0 and self._strip_bom and self._has_bom():
                self._at, self._first = self._at + len(BOM), 0
        elif not (goes_on and self._reads_ahead and finished == block.offset):
            self._synchronize(block.offset)

    def _has_bom(self) -> bool:
        while len(self._data) - self._at < len(BOM) and not self._ended:
            self._fill()
        return self._data.startswith(BOM, self._at)

    def _synchronize(self, offset: int) -> None:
        """Go to the first record that starts behind `offset`; not reading ahead, to `offset`
        itself, unless it is in the middle of a delimiter or a byte order mark."""
        point = self._delimiter.safe_point(self._source.read, offset, self._data_offset)
        first = 0
        if self._strip_bom and self._data_offset == 0 and point < len(BOM):
            first = len(BOM) if self._source.read(0, len(BOM)) == BOM else 0
        self._go(max(point, first))
        begin: int | None = None
        skips = self._reads_ahead or offset < first
        stop = self._last_start if skips else offset
        while self.position <= max(offset, first):
            begin = self._leave_record(stop)
            if begin is None:
                self._empty = True
                break
        if not skips and (begin is None or begin >= offset):
            self._empty = False
            self._go(offset)

    def _go(self, offset: int) -> None:
        """Let `offset` be the position, and keep what was read from there on."""
        if not self._base <= offset <= self._base + len(self._data):
            self._data, self._base, self._ended = b"", offset, False
        self._at = offset - self._base

    def _leave_record(self, stop: int) -> int | None:
        """Go to the next record without keeping this one; where its delimiter begins.

        None if there is none, or if it surely ends behind `stop`.
        """
        search = self._at
        while True:
            span = self._delimiter.find(self._data, search, self._ended)
            if span is not None:
                begin, self._at = span
                return self._base + begin
            search = max(search, len(self._data) - self._delimiter.pending(self._data))
            if self._ended or self._base + search >= stop:
                return None
            self._at = search
            self._fill()
            search = 0

    # Records -------------------------------------------------------------------------------------

    def _find(self) -> RecordBatch | None:
        """Return many records if they are buffered or read at once; else one, however long."""
        while not self._empty:
            start = self.position if self._first is None else self._first
            if start > self._last_start:
                self._finished = self._end
                break
            batch = self._split() if self._first is None else None
            if batch is not None:
                return batch
            read = self._base + len(self._data)
            few = len(self._data) - self._at < self._buffer_size
            if few and read < self._end and not self._ended:
                self._fill()
            else:
                return self._single(start)
        return None

    def _split(self) -> RecordBatch | None:
        """Return the complete buffered records of the block; None if there are none."""
        start, at = self.position, self._at
        limit = min(len(self._data), self._last_start + 1 - self._base)
        if limit <= at:
            return None
        uncut = at == 0 and limit == len(self._data)
        region = self._data if uncut else self._data[at:limit]
        records, used, gap = self._delimiter.split(region)
        if not records:
            return None
        self._at = at + used
        source = b"" if gap else region[:used]
        batch = RecordBatch(self._block.block_id, records, start, start + used, gap, source)
        return self._admitted(batch)

    def _single(self, start: int) -> RecordBatch | None:
        """Return the record at the position, read as far as it goes; None if the file ends here."""
        held = bytearray(memoryview(self._data)[self._at :])
        search, dropped = 0, 0
        while (span := self._delimiter.find(held, search, self._ended)) is None:
            if self._ended:
                break
            search = max(search, len(held) - self._delimiter.pending(held))
            if self._max_length is not None and search > self._max_length + 1:
                dropped += self._cut(held, search, start)
                search = self._max_length + 1
            held += self._chunk(self.position + dropped + len(held))
        begin, stop = span or (len(held), len(held))
        with memoryview(held) as view:
            record, rest = bytes(view[:begin]), bytes(view[stop:])
        self._base, self._data, self._at = self.position + dropped + stop, rest, 0
        self._first = None
        if stop == 0:
            self._finished, self._empty = self._end, True
            return None
        batch = RecordBatch(self._block.block_id, [record], start, self._base, offsets=[start])
        return self._admitted(batch)

    def _cut(self, held: bytearray, search: int, start: int) -> int:
        """Drop bytes of a record beyond its limit; return how many."""
        assert self._max_length is not None
        if self._on_too_long == "error":
            raise self._too_long(start)
        del held[self._max_length + 1 : search]
        return search - self._max_length - 1

    # What is delivered ---------------------------------------------------------------------------

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        """Return the batch without records that are not wanted, which may be all of them."""
        if self._drop_blank and b"" in batch.records:
            pairs = [(r, o) for r, o in zip(batch.records, batch.offsets, strict=True) if r]
            batch = _part(batch, pairs, batch.end)
        limit = self._max_length
        if limit is not None and max(map(len, batch.records), default=0) > limit:
            batch = self._limited(batch, limit)
        return batch

    def _limited(self, batch: RecordBatch, limit: int) -> RecordBatch:
        pairs = list(zip(batch.records, batch.offsets, strict=True))
        if self._on_too_long == "truncate":
            return _part(batch, [(r[:limit], o) for r, o in pairs], batch.end)
        if self._on_too_long == "skip":
            return _part(batch, [(r, o) for r, o in pairs if len(r) <= limit], batch.end)
        bad = next(i for i, (record, _) in enumerate(pairs) if len(record) > limit)
        offset = pairs[bad][1]
        if bad == 0:
            raise self._too_long(offset)
        self._at = offset - self._base
        return _part(batch, pairs[:bad], offset)

    def _too_long(self, start: int) -> RecordTooLongException:
        block = self._block
        reason = f"the record is longer than {self._max_length} bytes"
        return RecordTooLongException(block.file_path, block.block_id, start, reason)

    # Bytes ---------------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Read on, and forget what is before the position."""
        chunk = self._chunk(self._base + len(self._data))
        self._data = self._data[self._at :] + chunk
        self._base, self._at = self.position, 0

    def _chunk(self, position: int) -> bytes:
        """Return the next bytes."""
        count = self._read_size(position)
        data = self._source.read(position, count)
        self._read(position, count, len(data))
        return data

    def _read_size(self, position: int) -> int:
        """Return how many bytes to read: up to the block's end first, then few, then more."""
        count = min(self._buffer_size, self._end - position)
        if count <= 0:
            count = self._overflow
            self._overflow = max(count, min(2 * count, self._buffer_size))
        return count

    def _read(self, position: int, count: int, got: int) -> None:
        """Note whether the file ends with what was read."""
        self._ended = got < count or position + got == self._source.length


class ReadAheadLineReaderContext(LineReaderContext):
    """Lines that start in the block behind its first byte, or exactly at its end.

    So each line of a file belongs to one block, the one with `offset < start <= end`; the first
    line belongs to the first block. What the blocks give together is the same whatever their size.
    A block nearly always reads on behind its end, for it has the line that starts there.
    Options are those of LineReaderContext.
    """

    _reads_ahead = True


class RegionReaderContext(ReadAheadLineReaderContext):
    """The same with RegionBatch batches wherever all delimiters are alike.

    Options that look at each record (`drop_blank`, `max_record_length`) take the batches apart.
    """

    def _split(self) -> RecordBatch | None:
        start, first = self.position, self._at
        stop = min(len(self._data), self._last_start + 1 - self._base)
        if stop <= first:
            return None
        end, delimiter = self._delimiter.complete(self._data, first, stop)
        if not delimiter:
            return super()._split()
        if end == first:
            return None
        self._at = end
        batch = RegionBatch(self._block.block_id, start, self._data, first, end, delimiter)
        return self._admitted(batch)

    def _fill(self) -> None:
        rest, position = self._data[self._at :], self._base + len(self._data)
        count = self._read_size(position)
        data = self._source.read_behind(rest, position, count)
        self._read(position, count, len(data) - len(rest))
        self._base, self._data, self._at = self.position, data, 0


def _part(batch: RecordBatch, pairs: list[tuple[bytes, int]], end: int) -> RecordBatch:
    """Return a batch of some records with their offsets, which took the bytes up to `end`."""
    records = [record for record, _ in pairs]
    offsets = [offset for _, offset in pairs]
    return RecordBatch(batch.block_id, records, batch.start, end, offsets=offsets)
