"""The parts of a file that PyArrow needs, read at once by vectored reads of a stream."""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Iterable

from fscontract.pipeline.metadata.footers import TAIL
from fscontract.pipeline.metadata.source import Source


class SparseFile(io.RawIOBase):
    """A file for PyArrow: `load` reads parts of it; another part is read when it is asked for.

    What was loaded last is kept, and the end of the file. `bytes_read` is what the stream gave.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0
        start = max(0, source.length - TAIL)
        self.bytes_read = source.length - start
        self._tail = (start, source.read(start, source.length - start))
        self._loaded: list[tuple[int, bytes]] = [self._tail]

    def load(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Read ranges (offset, length) by one vectored read, instead of what was there before."""
        self._loaded = [self._tail]
        missing = [r for r in _joined(ranges) if self._held(*r) is None]
        self.bytes_read += sum(length for _, length in missing)
        found = self._source.read_many(missing)
        starts = (offset for offset, _ in missing)
        self._loaded = sorted([self._tail, *zip(starts, found, strict=True)])

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.length}
        self._position = base[whence] + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, fewer at the end."""
        left = max(0, self._source.length - self._position)
        count = left if size is None or size < 0 else min(size, left)
        found = self._held(self._position, count)
        if found is None:
            found = self._source.read(self._position, count)
            self.bytes_read += count
        self._position += count
        return found

    def _held(self, offset: int, length: int) -> bytes | None:
        """The bytes of a range, None if not all of them are here."""
        at = bisect_right(self._loaded, offset, key=lambda part: part[0]) - 1
        if at < 0:
            return None
        start, data = self._loaded[at]
        if offset + length > start + len(data):
            return None
        return data[offset - start : offset - start + length]


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same bytes as ranges that neither overlap nor touch, in order."""
    found: list[tuple[int, int]] = []
    for offset, length in sorted(ranges):
        if found and offset <= sum(found[-1]):
            start, before = found[-1]
            found[-1] = (start, max(before, offset + length - start))
        else:
            found.append((offset, length))
    return found
