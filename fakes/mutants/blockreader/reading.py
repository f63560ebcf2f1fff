"""Bytes that are taken for others: short reads, ends, slices, compressed files."""

from __future__ import annotations

from typing import Any

from fscontract.contract.errors import EOFException
from fscontract.contract.ports import FSDataInputStream
from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.compressed import codec_of, decompressed
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import FSRecordReader, FSSliceReader
from fscontract.pipeline.blockreader.source import ByteSource, FileSource
from fscontract.pipeline.blocks import FileBlockMetadata


class _OneRead(FileSource):
    """Reads once, and gives what it got."""

    def read(self, position: int, count: int) -> bytes:
        count = min(count, self.length - position)
        if count <= 0:
            return b""
        buffer = bytearray(count)
        self._stream.seek(position)
        return bytes(buffer[: max(0, self._stream.read_into(buffer))])


class _Stale(FileSource):
    """Reads once, and gives all of the buffer."""

    def _fill(self, position: int, count: int) -> None:
        if self._stream.read_into(self._buffer, 0, count) < 0:
            raise EOFException("the end")
        self._stream.seek(position + count)


@reader_mutant("rec.short-reads")
class ShortIsTheEnd(ReadAheadLineReaderContext):
    """A read that gives fewer bytes than it was asked for is taken for the end of the file."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _OneRead(stream, block.path, block.file_length)


@reader_mutant("rec.short-reads")
class EndlessWhenShort(ShortIsTheEnd):
    """After a short read there are empty records, and they never end."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        at = self.position
        if batch is None and self._ended and at < self._block.file_length:
            return RecordBatch(self._block.block_id, [b""], at, at, offsets=[at])
        return batch


@reader_mutant("rec.stale-bytes")
class StaleBuffer(ReadAheadLineReaderContext):
    """Where a read gives less than the buffer holds, the rest is what was there before."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _Stale(stream, block.path, block.file_length)


@reader_mutant("rec.buffers")
class OverflowAboveBuffer(ReadAheadLineReaderContext):
    """An overflow buffer larger than the buffer makes empty records without end."""

    def _find(self) -> RecordBatch | None:
        at = self.position
        if self._overflow_size > self._buffer_size and at > self._buffer_size:
            return RecordBatch(self._block.block_id, [b""], at, at, offsets=[at])
        return super()._find()


class _Lenient(FileSource):
    """Takes the end of the stream for that of the file."""

    def read(self, position: int, count: int) -> bytes:
        buffer = bytearray(max(0, min(count, self.length - position)))
        done = 0
        while done < len(buffer):
            got = self._stream.pread(position + done, buffer, done, len(buffer) - done)
            if got < 0:
                break
            done += got
        return bytes(buffer[:done])


@reader_mutant("rec.shorter")
class ShorterIsFine(ReadAheadLineReaderContext):
    """A file that has lost its end has fewer records."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _Lenient(stream, block.path, block.file_length)


@reader_mutant("rec.grown")
class ReadsTheGrowth(ReadAheadLineReaderContext):
    """What was added to the file since it was split is read, too."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _Lenient(stream, block.path, 1 << 40)


# Fixed lengths -----------------------------------------------------------------------------------


@reader_mutant("rec.fixed-length", "fixed")
class OneMore(FixedBytesReaderContext):
    """Records are one byte longer."""

    def __init__(self, length: int, **options: Any) -> None:
        super().__init__(length + (not options.get("aligned")), **options)


@reader_mutant("rec.fixed-within", "fixed")
class BeyondTheBlock(FixedBytesReaderContext):
    """The last record of a block is completed from the next one."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(goes_on)
        size = self._stop - self._position
        self._stop += -size % self.length


@reader_mutant("rec.fixed-fully", "fixed")
class OneReadIsEnough(FixedBytesReaderContext):
    """A record has the bytes that one read gives."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _OneRead(stream, block.path, block.file_length)


@reader_mutant("rec.width-owner", "fixed")
class WidthByTheBlock(FixedBytesReaderContext):
    """Records of fixed width begin anew in each block."""

    def _begin(self, goes_on: bool) -> None:
        self._aligned = False
        super()._begin(goes_on)


@reader_mutant("rec.slice-default", "slice_reader")
class SliceOfItsOwn(FSSliceReader):
    """Without a length, slices are as long as the class says."""

    def __init__(self, fs: Any, length: int | None = None, **options: Any) -> None:
        super().__init__(fs, 1024, **options)


@reader_mutant("rec.width-needed", "record_reader")
class SomeWidth(FSRecordReader[Any]):
    """Without a width, records have 80 bytes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options.setdefault("record_length", 80)
        super().__init__(*arguments, **options)


# Compressed files --------------------------------------------------------------------------------


@reader_mutant("rec.compressed")
class NeverDecompresses(ReadAheadLineReaderContext):
    """A compressed file is read as it is."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return FileSource(stream, block.path, block.file_length)


@reader_mutant("rec.compressed-whole")
class WholeFromEachBlock(ReadAheadLineReaderContext):
    """Each block of a compressed file delivers the whole of it."""

    def initialize(
        self, stream: FSDataInputStream, block: FileBlockMetadata, consecutive: bool
    ) -> None:
        if codec_of(block.path, self.compression):
            block = FileBlockMetadata(
                block.block_id, 0, block.file_length, True, -1, block.file_path, block.file_length
            )
        super().initialize(stream, block, consecutive)


class _Excerpt(ByteSource):
    """Ends where a compressed file fails."""

    def __init__(self, source: ByteSource) -> None:
        self.length = None
        self._source = source

    def read(self, position: int, count: int) -> bytes:
        try:
            return self._source.read(position, count)
        except OSError:
            return b""


@reader_mutant("rec.compressed-cut")
class CutIsTheEnd(ReadAheadLineReaderContext):
    """A compressed file that is cut ends where it is cut."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        source = super()._open(stream, block)
        return source if isinstance(source, FileSource) else _Excerpt(source)


@reader_mutant("rec.members")
class FirstMemberOnly(ReadAheadLineReaderContext):
    """What follows the first member of a compressed file is not read."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        codec = codec_of(block.path, self.compression)
        if codec is None:
            return super()._open(stream, block)
        source: Any = decompressed(stream, block.path, block.file_length, codec)
        begin, started = source._begin, []

        def once() -> bool:
            started.append(True)
            return len(started) == 1 and begin()

        source._begin = once
        return _Excerpt(source)
