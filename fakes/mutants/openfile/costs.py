"""Mutants of costs: requests and bytes, and the statistics that count them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fscontract.contract.api.filesystem import Buffer, FileRange
from fscontract.contract.api.iostatistics import STREAM_READ_BYTES, STREAM_READ_UNBUFFERED
from fscontract.fakes.mutants.correct_parts import (
    OpeningFileSystem,
    OptionStream,
    StoredFiles,
    StoredStream,
)
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.local_stream import FOOTER
from fscontract.implementations.openfile_builder import OpenOptions


@mutant("open.cost-status", OpeningFileSystem._open)
def looks_in_spite_of_status(self: OpeningFileSystem, path: str, options: OpenOptions) -> Any:
    """The file is looked up although its status was given."""
    if options.status is not None:
        self.get_file_status(path)
    return right(self)._open(path, options)


@mutant("open.cost-length", OpeningFileSystem._open)
def looks_in_spite_of_length(self: OpeningFileSystem, path: str, options: OpenOptions) -> Any:
    """The file is looked up although its length was given."""
    if options.status is None:
        self.get_file_status(path)
    return right(self)._open(path, options)


@mutant("open.cost-unread")
class ReadsAtOnce(StoredStream):
    """The first block is read when the stream is opened."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self._fill()


@mutant("open.cost-seek", StoredStream.seek)
def seek_fetches(self: StoredStream, position: int) -> None:
    """A seek reads the block at the new position."""
    right(self).seek(position)
    if not self._start <= position < self._end:
        self._fill()


@mutant("open.cost-pread")
class PreadDropsBuffer(StoredStream):
    """A positioned read drops the buffer."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        self._start = self._end = 0
        return count


@mutant("open.cost-buffered")
class ByteByByte(StoredStream):
    """read() of a single byte bypasses the buffer."""

    read_byte = ReferenceInputStream.read_byte


@mutant("open.cost-vectored-reuse")
class ConnectsAgain(StoredStream):
    """Each vectored read opens a new connection."""

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        if ranges and not self._closed:
            self._release()
        super().read_vectored(ranges, *how, **named)


@mutant("open.cost-unbuffer", StoredStream.unbuffer)
def keeps_descriptor(self: StoredStream) -> None:
    """unbuffer() drops the buffer and keeps the descriptor."""
    if not self._closed:
        self._counts[STREAM_READ_UNBUFFERED] += 1
    self._start = self._end = 0


@mutant("open.cost-whole-file", StoredFiles._size_for)
def small_blocks(self: StoredFiles, policy: str | None) -> int:
    """The policy whole-file does not increase the read-ahead."""
    return right(self)._size_for(None)


@mutant("open.buffer-size-used", StoredFiles._buffer_size)
def fixed_buffer(self: StoredFiles, options: OpenOptions) -> int:
    """The buffer size is ignored."""
    return self._size_for(options.read_policy)


@mutant("open.footer-default", StoredFiles._footer)
def no_footer_of_orc(self: StoredFiles, options: OpenOptions) -> int:
    """Footers are kept of Parquet files only."""
    return 0 if options.read_policy == "orc" else right(self)._footer(options)


@mutant("open.footer-override", StoredFiles._footer)
def format_decides(self: StoredFiles, options: OpenOptions) -> int:
    """Footers are kept under the policies of file formats only, regardless of the option."""
    return FOOTER if options.read_policy in ("parquet", "orc") else 0


@mutant("open.statistics")
class PositionedUncounted(OptionStream):
    """Bytes of positioned reads are not counted."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        self._bytes -= max(0, count)
        return count


@mutant("open.statistics")
class CountsAskedFor(OptionStream):
    """A stream read counts the requested bytes instead of the delivered ones."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        self._bytes += (length or count) - max(0, count)
        return count


@mutant("open.statistics", OptionStream.io_statistics)
def counts_no_bytes(self: OptionStream) -> dict[str, int]:
    """Bytes delivered to the reader are not counted."""
    counts = right(self).io_statistics()
    return {name: n for name, n in counts.items() if name != STREAM_READ_BYTES}


@mutant("open.statistics-seek", StoredStream.unbuffer)
def dropped_counts(self: StoredStream) -> None:
    """Bytes that unbuffer() drops are counted as delivered to the reader."""
    self._bytes += self._end - self._start
    right(self).unbuffer()


@mutant("open.statistics-seek", OptionStream.seek)
def way_back_counts(self: OptionStream, position: int) -> None:
    """A backward seek counts the skipped bytes."""
    before = self._pos
    right(self).seek(position)
    self._bytes += max(0, before - position)
