"""Reader contexts for delimited records, in blocks that may cut records, and search for delimiters.

Line ends and custom delimiters are searched from left to right: the leftmost occurrence counts, and
the search continues after it. The delimiter `||` in `|||` is therefore always the first two bytes,
wherever a block or buffer starts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, TypeAlias

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.blockreader.batches import RecordBatch, RegionBatch
from fscontract.pipeline.blockreader.compression import INFER
from fscontract.pipeline.blockreader.contexts import DEFAULT_BUFFER, FileReaderContext
from fscontract.pipeline.blockreader.source import RecordTooLongException
from fscontract.pipeline.blocks import NO_BLOCK

#: Start and end of a delimiter in a buffer.
Span: TypeAlias = tuple[int, int]
#: Returns up to a number of bytes of a file from an offset on.
ReadAt: TypeAlias = Callable[[int, int], bytes]

#: First size of the windows in which a safe point is searched, backwards from a block's offset.
_FIRST_WINDOW = 256
_LAST_WINDOW = 1 << 20


class Delimiter(ABC):
    """The end of a record. Offsets are relative to the buffer, unless they are file offsets."""

    @abstractmethod
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the first delimiter from `start` on; None without one, or if it needs more data.

        `final` means that no data follows.
        """

    @abstractmethod
    def pending(self, data: bytes | bytearray) -> int:
        """Return the number of trailing bytes that may be the start of a delimiter."""

    @abstractmethod
    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        """Return the complete records, the bytes that they take, and the length of a delimiter.

        The bytes include delimiters. The length is 0 if it varies.
        """

    @abstractmethod
    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        """Return the end of the last complete record from `start` to `stop`, and its delimiter.

        The delimiter is empty if it varies, or if records must be found one by one.
        """

    @abstractmethod
    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        """Return a safe start from `floor` to `offset` for a search.

        Starting there, a search finds the same delimiters after `offset` as a search of the whole
        file.
        """


class LineEnd(Delimiter):
    r"""`\n`, `\r` or `\r\n`, which may differ between lines."""

    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the first line end; one at the end of the data counts only if `final`."""
        feed = data.find(b"\n", start)
        carriage = data.find(b"\r", start, len(data) if feed < 0 else feed)
        if carriage < 0:
            return None if feed < 0 else (feed, feed + 1)
        if feed == carriage + 1:
            return carriage, feed + 1
        if carriage + 1 == len(data) and not final:
            return None
        return carriage, carriage + 1

    def pending(self, data: bytes | bytearray) -> int:
        r"""Return 1 for a trailing `\r`, which may be half of a `\r\n`."""
        return 1 if data.endswith(b"\r") else 0

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        r"""Return the complete lines; the length of a line end is 1 without any `\r`."""
        if b"\r" not in data:
            records = data.split(b"\n")
            return records, len(data) - len(records.pop()), 1
        used, _ = self.complete(data, 0, len(data))
        return data[:used].splitlines(), used, 0

    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        r"""See the base class; a trailing `\r` may be half of a `\r\n`."""
        feed = max(start, data.rfind(b"\n", start, stop) + 1)
        if data.find(b"\r", start, stop) < 0:
            return feed, b"\n"
        end = max(feed, data.rfind(b"\r", feed, stop - 1) + 1)
        counts = {data.count(kind, start, end) for kind in (b"\r", b"\n", b"\r\n")}
        return end, b"\r\n" if len(counts) == 1 else b""

    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        r"""Return the preceding byte's offset, because it may be the `\r` of a `\r\n`."""
        return max(floor, offset - 1)


class Separator(Delimiter):
    """A byte sequence, which may overlap itself."""

    def __init__(self, value: bytes) -> None:
        if not isinstance(value, bytes) or not value:
            raise IllegalArgumentException(
                f"invalid delimiter: {value!r:.40}; must have at least one byte"
            )
        self.value = value
        self._overlaps = any(value.startswith(value[n:]) for n in range(1, len(value)))

    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the leftmost occurrence."""
        position = data.find(self.value, start)
        return None if position < 0 else (position, position + len(self.value))

    def pending(self, data: bytes | bytearray) -> int:
        """Return the length of the delimiter minus one."""
        return min(len(self.value) - 1, len(data))

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        """Return the complete records, split from left to right."""
        records = data.split(self.value)
        return records, len(data) - len(records.pop()), len(self.value)

    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        """See the base class; non-overlapping occurrences are the same from either side."""
        if self._overlaps:
            return start, b""
        position = data.rfind(self.value, start, stop)
        return (start if position < 0 else position + len(self.value)), self.value

    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        """Go back over all occurrences that overlap the next one: the first of them counts.

        A file that consists of such an overlap is read back to its start, from each block.
        """
        reach = len(self.value) - 1
        point = max(floor, offset - reach)
        size = _FIRST_WINDOW
        while self._overlaps and point > floor:
            low = max(floor, point - max(size, 2 * reach))
            window = read(low, point - low + reach)
            point = self._back(window, low, point)
            if point - reach >= low or low == floor:
                break
            size = min(2 * size, _LAST_WINDOW)
        return point

    def _back(self, window: bytes, low: int, point: int) -> int:
        """Return the earliest point that occurrences reach in the window from `low` on."""
        reach = len(self.value) - 1
        while point > low:
            start = max(0, point - reach - low)
            position = window.find(self.value, start, point - low + reach)
            if position < 0:
                return point
            point = low + position
        return point


def _delimiter_of(value: bytes | None) -> Delimiter:
    """Return line ends for None, else a separator; raise IllegalArgumentException if empty."""
    return LineEnd() if value is None else Separator(value)


#: Handling of a record that is too long.
TooLong: TypeAlias = Literal["error", "truncate", "skip"]
#: Size of the first read past a block's end; each further one is twice as long, up to the buffer.
DEFAULT_OVERFLOW = 1 << 14
BOM = b"\xef\xbb\xbf"


class LineReaderContext(FileReaderContext):
    r"""Lines that start in the block, each read to its end even past the block.

    A block that starts inside a line returns the rest of that line as its first record: the
    converter must recognize it and return None. Without these partial records, the records are
    those of the unsplit file, each exactly once. If a line ends at the block's end, nothing after
    it is read.

    `delimiter` is any byte sequence; None means `\n`, `\r` and `\r\n`, which may differ between
    lines. Blank lines are records unless `drop_blank`. The data at EOF is a record even without a
    delimiter. A UTF-8 byte order mark at the start of the file is not part of the first record,
    unless `strip_bom` is False. `data_offset` is the start of the file's first block.

    A record of more than `max_record_length` bytes raises RecordTooLongException ("error"), is cut
    to that length ("truncate"), or is dropped ("skip"); its further bytes are never held in memory.
    The result does not depend on the blocks, because the block that owns the record decides.
    """

    #: True if a record that starts exactly at the block's end belongs to the block.
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
                f"invalid overflow_buffer_size: {overflow_buffer_size}; must be at least 1 byte"
            )
        if max_record_length is not None and max_record_length < 0:
            raise IllegalArgumentException(
                f"invalid max_record_length: {max_record_length}; must not be negative"
            )
        if on_too_long not in ("error", "truncate", "skip"):
            raise IllegalArgumentException(
                f"invalid on_too_long: {on_too_long!r:.40}; must be error, truncate or skip"
            )
        self._delimiter = _delimiter_of(delimiter)
        self._max_length = max_record_length
        self._on_too_long = on_too_long
        self._drop_blank = drop_blank
        self._strip_bom = strip_bom
        self._data_offset = data_offset
        self._overflow_size = overflow_buffer_size
        #: Buffered bytes, from offset `_base` on; the next record starts at index `_at`.
        self._data = b""
        self._base = 0
        self._at = 0
        #: True if no bytes follow the buffered ones.
        self._ended = False
        #: Start of the first record if it differs from the position, which is then behind a BOM.
        self._first: int | None = None
        #: Last possible start of a record in the block.
        self._last_start = 0
        #: True if no record starts in the block, so that its end was not searched.
        self._empty = False
        #: End of the last block, if it was read completely and the position is the next start.
        self._finished: int | None = None

    @property
    def position(self) -> int:
        """Start of the next record, if there is one."""
        return self._base + self._at

    # The start of a block ------------------------------------------------------------------------

    def _begin(self, goes_on: bool) -> None:
        block, finished = self.block, self._finished
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
        """Go to the first record that starts after `offset`.

        Without reading ahead, go to `offset` itself, unless it is inside a delimiter or a byte
        order mark.
        """
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
        """Set the position to `offset`, and keep the buffered bytes from there on."""
        if not self._base <= offset <= self._base + len(self._data):
            self._data, self._base, self._ended = b"", offset, False
        self._at = offset - self._base

    def _leave_record(self, stop: int) -> int | None:
        """Skip this record; return the start of its delimiter.

        Return None if there is none, or if it is certain to end after `stop`.
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
        """Return many records if they are buffered or read at once; else one of any length."""
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
        """Return the complete buffered records of the block, or None."""
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
        batch = RecordBatch(self.block.block_id, records, start, start + used, gap, source)
        return self._admitted(batch)

    def _single(self, start: int) -> RecordBatch | None:
        """Return the record at the position, reading as needed; None at EOF."""
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
        batch = RecordBatch(self.block.block_id, [record], start, self._base, offsets=[start])
        return self._admitted(batch)

    def _cut(self, held: bytearray, search: int, start: int) -> int:
        """Drop bytes of a record beyond its limit; return their number."""
        assert self._max_length is not None
        if self._on_too_long == "error":
            raise self._too_long(start)
        del held[self._max_length + 1 : search]
        return search - self._max_length - 1

    # Filters ------------------------------------------------------------------------------------

    def _admitted(self, batch: RecordBatch) -> RecordBatch:
        """Return the batch without unwanted records; it may be empty."""
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
        block = self.block
        reason = f"record exceeds {self._max_length} bytes"
        return RecordTooLongException(block.file_path, block.block_id, start, reason)

    # Bytes ---------------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Read more bytes, and drop those before the position."""
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
        """Return the number of bytes to read: first up to the block's end, then few, then more."""
        count = min(self._buffer_size, self._end - position)
        if count <= 0:
            count = self._overflow
            self._overflow = max(count, min(2 * count, self._buffer_size))
        return count

    def _read(self, position: int, count: int, got: int) -> None:
        """Record whether the file ends after these bytes."""
        self._ended = got < count or position + got == self._source.length


class ReadAheadLineReaderContext(LineReaderContext):
    """Lines that start after the block's first byte, or exactly at its end.

    Each line of a file belongs to one block, the one with `offset < start <= end`; the first line
    belongs to the first block. The combined records do not depend on the block size. A block nearly
    always reads past its end, because it owns the line that starts there. Takes the options of
    LineReaderContext.
    """

    _reads_ahead = True


class RegionReaderContext(ReadAheadLineReaderContext):
    """ReadAheadLineReaderContext that returns RegionBatch batches if all delimiters are equal.

    Options that check each record (`drop_blank`, `max_record_length`) split the batches.
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
        batch = RegionBatch(self.block.block_id, start, self._data, first, end, delimiter)
        return self._admitted(batch)

    def _fill(self) -> None:
        rest, position = self._data[self._at :], self._base + len(self._data)
        count = self._read_size(position)
        data = self._source.read_behind(rest, position, count)
        self._read(position, count, len(data) - len(rest))
        self._base, self._data, self._at = self.position, data, 0


def _part(batch: RecordBatch, pairs: list[tuple[bytes, int]], end: int) -> RecordBatch:
    """Return a batch of some records with their offsets, whose bytes end at `end`."""
    records = [record for record, _ in pairs]
    offsets = [offset for _, offset in pairs]
    return RecordBatch(batch.block_id, records, batch.start, end, offsets=offsets)
