"""Records that are found many at once, and taken apart by whoever wants them: no call for each."""

from __future__ import annotations

from functools import cached_property

from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext


class RegionBatch(RecordBatch):
    """Records that lie one behind the other in `data` from `first` up to `stop`, at least one.

    Each has `delimiter` behind it.
    """

    def __init__(
        self, block_id: int, start: int, data: bytes, first: int, stop: int, delimiter: bytes
    ) -> None:
        super().__init__(block_id, [], start, start + stop - first, len(delimiter))
        del self.records  # they are made when they are asked for
        self.data = data
        self.first = first
        self.stop = stop
        self.delimiter = delimiter

    @property
    def _region(self) -> bytes:
        return self.data[self.first : self.stop]

    @cached_property
    def records(self) -> list[bytes]:  # type: ignore[override]
        """The records, taken apart."""
        records = self._region.split(self.delimiter)
        records.pop()
        return records

    @cached_property
    def count(self) -> int:
        """How many records there are; may be set by who knows."""
        if len(self.delimiter) > 1:
            return self.data.count(self.delimiter, self.first, self.stop)
        # Twice as fast as counting one byte, which Python does byte by byte.
        return self.used_bytes - len(self._region.replace(self.delimiter, b""))

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True


class RegionReaderContext(ReadAheadLineReaderContext):
    """As its base, with batches that are a RegionBatch wherever all delimiters are alike.

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
        count = self._wanted(position)
        data = self._source.read_behind(rest, position, count)
        self._read(position, count, len(data) - len(rest))
        self._base, self._data, self._at = self.position, data, 0


class PiecesBatch(RecordBatch):
    """Records of `length` bytes that `data` consists of; the last one may be shorter."""

    def __init__(self, block_id: int, data: bytes, start: int, length: int) -> None:
        offsets = range(start, start + len(data), length)
        super().__init__(block_id, [], start, start + len(data), offsets=offsets)
        del self.records
        self.data = data
        self.length = length

    @cached_property
    def records(self) -> list[bytes]:  # type: ignore[override]
        """The records, taken apart."""
        return [self.data[i : i + self.length] for i in range(0, len(self.data), self.length)]

    def __len__(self) -> int:
        return len(self.offsets)

    def __bool__(self) -> bool:
        return True


class PiecesReaderContext(FixedBytesReaderContext):
    """As its base, with batches that are a PiecesBatch."""

    def _batch_of(self, data: bytes, start: int) -> RecordBatch:
        return PiecesBatch(self._block.block_id, data, start, self.length)
