"""Batches of records, as reader contexts return them.

RegionBatch and PiecesBatch store the bytes of their records contiguously, and split them only on
demand; readers of Arrow columns never need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple


class Entity(NamedTuple):
    """One record, its bytes in the file including the delimiter, and its offset."""

    record: bytes
    used_bytes: int
    offset: int


class RecordBatch:
    """Consecutive records of a block, which take the file's bytes from `start` to `end`.

    `offsets` is computed on demand from the lengths of the records and the `gap` after each; if
    gaps vary, from the `source`: the bytes from `start` on.
    """

    def __init__(
        self,
        block_id: int,
        records: list[bytes],
        start: int,
        end: int,
        gap: int = 0,
        source: bytes = b"",
        offsets: Sequence[int] | None = None,
    ) -> None:
        self.block_id = block_id
        self.records = records
        self.start = start
        self.end = end
        self._gap = gap
        self._source = source
        if offsets is not None:
            self.offsets = offsets

    def __len__(self) -> int:
        return len(self.records)

    def __bool__(self) -> bool:
        return bool(self.records)

    @property
    def used_bytes(self) -> int:
        """Number of file bytes that the records take, including dropped bytes between them."""
        return self.end - self.start

    @cached_property
    def offsets(self) -> Sequence[int]:
        """Start of each record in the file."""
        if self._source:
            sizes = map(len, self._source.splitlines(keepends=True))
        else:
            sizes = map(self._gap.__add__, map(len, self.records))
        return list(accumulate(sizes, initial=self.start))[: len(self.records)]

    def used_by(self, index: int) -> int:
        """Return the file bytes of one record, including dropped bytes before the next one."""
        before = self.offsets[index] if index else self.start
        after = self.offsets[index + 1] if index + 1 < len(self.records) else self.end
        return after - before

    def entity(self, index: int) -> Entity:
        """Return one of the records."""
        return Entity(self.records[index], self.used_by(index), self.offsets[index])


class RegionBatch(RecordBatch):
    """At least one record, contiguous in `data` from `first` to `stop`.

    Each is followed by `delimiter`.
    """

    def __init__(
        self, block_id: int, start: int, data: bytes, first: int, stop: int, delimiter: bytes
    ) -> None:
        super().__init__(block_id, [], start, start + stop - first, len(delimiter))
        del self.records  # computed on demand
        self.data = data
        self.first = first
        self.stop = stop
        self.delimiter = delimiter

    @property
    def _region(self) -> bytes:
        return self.data[self.first : self.stop]

    @cached_property
    def records(self) -> list[bytes]:  # type: ignore[override]
        """Records as a list."""
        records = self._region.split(self.delimiter)
        records.pop()
        return records

    @cached_property
    def count(self) -> int:
        """Number of records; callers that know it may set it."""
        if len(self.delimiter) > 1:
            return self.data.count(self.delimiter, self.first, self.stop)
        # Twice as fast as counting a single byte in Python.
        return self.used_bytes - len(self._region.replace(self.delimiter, b""))

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True


class PiecesBatch(RecordBatch):
    """Records of `length` bytes that make up `data`; the last one may be shorter."""

    def __init__(self, block_id: int, data: bytes, start: int, length: int) -> None:
        offsets = range(start, start + len(data), length)
        super().__init__(block_id, [], start, start + len(data), offsets=offsets)
        del self.records
        self.data = data
        self.length = length

    @cached_property
    def records(self) -> list[bytes]:  # type: ignore[override]
        """Records as a list."""
        return [self.data[i : i + self.length] for i in range(0, len(self.data), self.length)]

    def __len__(self) -> int:
        return len(self.offsets)

    def __bool__(self) -> bool:
        return True
