"""Mutants that deliver wrong bytes: short reads, ends, slices, compressed files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fscontract.contract.api.errors import EOFException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.fakes.mutants.blockreader.streams import Reader
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.compression import codec_of, decompressed
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import FSRecordReader, FSSliceReader, ReaderRecord
from fscontract.pipeline.blockreader.source import ByteSource, FileSource, RecordConversionException
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


@reader_mutant("record.short-reads")
class ShortIsTheEnd(ReadAheadLineReaderContext):
    """A read that gives fewer bytes than it was asked for is taken for the end of the file."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _OneRead(stream, block.path, block.file_length)


@reader_mutant("record.short-reads")
class EndlessWhenShort(ShortIsTheEnd):
    """After a short read there are empty records, and they never end."""

    def _find(self) -> RecordBatch | None:
        batch = super()._find()
        at = self.position
        if batch is None and self._ended and at < self._block.file_length:
            return RecordBatch(self._block.block_id, [b""], at, at, offsets=[at])
        return batch


@reader_mutant("record.stale-bytes")
class StaleBuffer(ReadAheadLineReaderContext):
    """Where a read gives less than the buffer holds, the rest is what was there before."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _Stale(stream, block.path, block.file_length)


@reader_mutant("record.buffers")
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


@reader_mutant("record.shorter")
class ShorterIsFine(ReadAheadLineReaderContext):
    """A file that has lost its end has fewer records."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _Lenient(stream, block.path, block.file_length)


@reader_mutant("record.grown")
class ReadsTheGrowth(ReadAheadLineReaderContext):
    """What was added to the file since it was split is read, too."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _Lenient(stream, block.path, 1 << 40)


# Fixed lengths -----------------------------------------------------------------------------------


@reader_mutant("record.fixed-length", "fixed")
class OneMore(FixedBytesReaderContext):
    """Records are one byte longer."""

    def __init__(self, length: int, **options: Any) -> None:
        super().__init__(length + (not options.get("aligned")), **options)


@reader_mutant("record.fixed-within", "fixed")
class BeyondTheBlock(FixedBytesReaderContext):
    """The last record of a block is completed from the next one."""

    def _begin(self, goes_on: bool) -> None:
        super()._begin(goes_on)
        size = self._stop - self._position
        self._stop += -size % self.length


@reader_mutant("record.fixed-fully", "fixed")
class OneReadIsEnough(FixedBytesReaderContext):
    """A record has the bytes that one read gives."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return _OneRead(stream, block.path, block.file_length)


@reader_mutant("record.width-owner", "fixed")
class WidthByTheBlock(FixedBytesReaderContext):
    """Records of fixed width begin anew in each block."""

    def _begin(self, goes_on: bool) -> None:
        self._aligned = False
        super()._begin(goes_on)


@reader_mutant("record.slice-default", "slice_reader")
class SliceOfItsOwn(FSSliceReader):
    """Without a length, slices are as long as the class says."""

    def __init__(self, fs: Any, length: int | None = None, **options: Any) -> None:
        super().__init__(fs, 1024, **options)


@reader_mutant("record.width-needed", "record_reader")
class SomeWidth(FSRecordReader[Any]):
    """Without a width, records have 80 bytes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options.setdefault("record_length", 80)
        super().__init__(*arguments, **options)


# Compressed files --------------------------------------------------------------------------------


@reader_mutant("record.compressed")
class NeverDecompresses(ReadAheadLineReaderContext):
    """A compressed file is read as it is."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        return FileSource(stream, block.path, block.file_length)


@reader_mutant("record.compressed-whole")
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


@reader_mutant("record.compressed-cut")
class CutIsTheEnd(ReadAheadLineReaderContext):
    """A compressed file that is cut ends where it is cut."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        source = super()._open(stream, block)
        return source if isinstance(source, FileSource) else _Excerpt(source)


@reader_mutant("record.members")
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


_Records = Iterator[ReaderRecord[Any]]


@reader_mutant("block.tagged", "block_reader")
class TaggedByTheFirst(Reader):
    """A record has the id of the block before."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        for record in super().process_block(block):
            yield record._replace(block_id=block.previous_block_id)


@reader_mutant("block.dropped", "block_reader")
class NothingIsEmpty(Reader):
    """What the converter makes nothing of is delivered as an empty record."""

    def convert_to_record(self, data: bytes) -> Any:
        record = super().convert_to_record(data)
        return b"" if record is None else record


@reader_mutant("block.emitted-after", "block_reader")
class BlockFirst(Reader):
    """A block is emitted before its records."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        super()._emit(block)
        yield from super().process_block(block)

    def _emit(self, block: FileBlockMetadata) -> None:
        pass


@reader_mutant("block.unconnected", "block_reader")
class SomebodyListens(Reader):
    """Blocks are emitted though nobody listens."""

    def _emit(self, block: FileBlockMetadata) -> None:
        listener: Any = self._on_block
        listener(block)


class Counting(Reader):
    """Right, if `_recount` leaves the counters as they are after a block."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        taken = []
        for record in super().process_block(block):
            taken.append(record)
            yield record
        self._recount(taken)

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        pass


@reader_mutant("block.count", "block_reader")
class BlocksUncounted(Counting):
    """Only blocks with records are counted."""

    _blocks = 0

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self._blocks += bool(taken)
        self.counters.blocks = self._blocks


@reader_mutant("block.records", "block_reader")
class RecordsUncounted(Counting):
    """The last record of a block is not counted."""

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self.counters.records -= bool(taken)


@reader_mutant("block.bytes", "block_reader")
class DelimitersUncounted(Counting):
    """Bytes are those of records, without delimiters."""

    _bytes = 0

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self._bytes += sum(len(record.record) for record in taken)
        self.counters.bytes = self._bytes


@reader_mutant("block.time", "block_reader")
class TimeUncounted(Counting):
    """No time is counted."""

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self.counters.time = 0.0


@reader_mutant("record.converter-error", "block_reader")
class ConverterAsItIs(Reader):
    """What a converter raises does not say where."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        try:
            yield from super().process_block(block)
        except RecordConversionException as error:
            raise error.__cause__ or error from None
