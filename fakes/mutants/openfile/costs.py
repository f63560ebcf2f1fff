"""Mutants of costs: requests and bytes, and the statistics that count them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fscontract.contract.api.filesystem import Buffer, FileRange
from fscontract.contract.api.iostatistics import STREAM_READ_BYTES, STREAM_READ_UNBUFFERED
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningFileSystem,
    OptionStream,
    StoredFiles,
    StoredStream,
    opening_mutant,
)
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.local_stream import FOOTER
from fscontract.implementations.openfile_builder import OpenOptions


@opening_mutant("open.cost-status")
class LooksInSpiteOfStatus(OpeningFileSystem):
    """The file is looked up although its status was given."""

    def _open(self, path: str, options: OpenOptions) -> Any:
        if options.status is not None:
            self.get_file_status(path)
        return super()._open(path, options)


@opening_mutant("open.cost-length")
class LooksInSpiteOfLength(OpeningFileSystem):
    """The file is looked up although its length was given."""

    def _open(self, path: str, options: OpenOptions) -> Any:
        if options.status is None:
            self.get_file_status(path)
        return super()._open(path, options)


@opening_mutant("open.cost-unread")
class ReadsAtOnce(StoredStream):
    """The first block is read when the stream is opened."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self._fill()


@opening_mutant("open.cost-seek")
class SeekFetches(StoredStream):
    """A seek reads the block that it goes to."""

    def seek(self, position: int) -> None:
        super().seek(position)
        if not self._start <= position < self._end:
            self._fill()


@opening_mutant("open.cost-pread")
class PreadDropsBuffer(StoredStream):
    """A positioned read gives up what was read ahead."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        self._start = self._end = 0
        return count


@opening_mutant("open.cost-buffered")
class ByteByByte(StoredStream):
    """A single byte is read from the store, whatever was read ahead."""

    read_byte = ReferenceInputStream.read_byte


@opening_mutant("open.cost-vectored-reuse")
class ConnectsAgain(StoredStream):
    """Each vectored read opens a connection of its own."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        if ranges and not self._closed:
            self._release()
        super().read_vectored(ranges, *how, **named)


@opening_mutant("open.cost-unbuffer")
class KeepsDescriptor(StoredStream):
    """unbuffer() gives up the buffer and keeps the descriptor."""

    def unbuffer(self) -> None:
        if not self._closed:
            self._counts[STREAM_READ_UNBUFFERED] += 1
        self._start = self._end = 0


@opening_mutant("open.cost-whole-file")
class SmallBlocks(StoredFiles):
    """Under whole-file as much is read ahead as under any other policy."""

    def _size_for(self, policy: str | None) -> int:
        return super()._size_for(None)


@opening_mutant("open.buffer-size-used")
class FixedBuffer(StoredFiles):
    """The buffer size is left out of account."""

    def _buffer_size(self, options: OpenOptions) -> int:
        return self._size_for(options.read_policy)


@opening_mutant("open.footer-default")
class NoFooterOfOrc(StoredFiles):
    """Footers are kept of Parquet files only."""

    def _footer(self, options: OpenOptions) -> int:
        return 0 if options.read_policy == "orc" else super()._footer(options)


@opening_mutant("open.footer-override")
class FormatDecides(StoredFiles):
    """Footers are kept under the policies of file formats only, whatever the option says."""

    def _footer(self, options: OpenOptions) -> int:
        return FOOTER if options.read_policy in ("parquet", "orc") else 0


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
