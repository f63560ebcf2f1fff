"""Mutants of what streams count as given to their reader."""

from __future__ import annotations

from fscontract.contract.iostatistics import STREAM_READ_BYTES
from fscontract.contract.ports import Buffer
from fscontract.fakes.mutants.openfile.filesystems import (
    OptionStream,
    StoredStream,
    opening_mutant,
)


@opening_mutant("open.statistics")
class PositionedUncounted(OptionStream):
    """Bytes of positioned reads are not counted."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        self._bytes -= max(0, count)
        return count


@opening_mutant("open.statistics")
class CountsAskedFor(OptionStream):
    """A stream read counts what it was asked for, not what there was."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        self._bytes += (length or count) - max(0, count)
        return count


@opening_mutant("open.statistics")
class CountsNoBytes(OptionStream):
    """The bytes given to the reader are not among the counters."""

    def io_statistics(self) -> dict[str, int]:
        counts = super().io_statistics()
        return {name: n for name, n in counts.items() if name != STREAM_READ_BYTES}


@opening_mutant("open.statistics-seek")
class DroppedCounts(StoredStream):
    """What unbuffer() drops of the buffer is counted as given to the reader."""

    def unbuffer(self) -> None:
        self._bytes += self._end - self._start
        super().unbuffer()


@opening_mutant("open.statistics-seek")
class WayBackCounts(OptionStream):
    """A seek backwards counts the bytes on its way."""

    def seek(self, position: int) -> None:
        before = self._pos
        super().seek(position)
        self._bytes += max(0, before - position)
