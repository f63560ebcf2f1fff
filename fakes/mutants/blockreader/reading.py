"""Mutants that read wrong bytes, or handle streams, failures and counters wrongly."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, cast
from urllib.parse import unquote

from fscontract.contract.api.errors import EOFException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.compression import codec_of, decompressed
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import (
    FSBlockReader,
    FSRecordReader,
    FSSliceReader,
    ReaderRecord,
)
from fscontract.pipeline.blockreader.source import (
    BlockReadException,
    ByteSource,
    FileSource,
    RecordConversionException,
)
from fscontract.pipeline.blocks import FileBlockMetadata

_Records = Iterator[ReaderRecord[Any]]


class Reader(FSBlockReader[Any]):
    """A correct reader."""


@mutant("block.reuse", Reader._set_up)
def opens_each_time(self: Reader, block: FileBlockMetadata) -> None:
    """A separate stream is opened for each block."""
    self.close()
    right(self)._set_up(block)


@mutant("block.fresh", Reader._set_up)
def keeps_the_stream(self: Reader, block: FileBlockMetadata) -> None:
    """The open stream is used for any block."""
    if self._stream is None:
        self._stream = self.setup_stream(block)
    self.context.initialize(self._stream, block, False)


@mutant("block.fresh", Reader.process_block)
def remembers_records(self: Reader, block: FileBlockMetadata) -> _Records:
    """The records of a block are kept, and delivered again when it is read again."""
    kept = self.__dict__.setdefault("kept", {})
    if block in kept:
        yield from kept[block]
        return
    records = []
    for record in right(self).process_block(block):
        records.append(record)
        yield record
    kept[block] = records


@mutant("record.none-lost", Reader.setup_stream)
def decodes_paths(self: Reader, block: FileBlockMetadata) -> FSDataInputStream:
    """Escapes in paths are decoded, as those of URLs."""
    return right(self).setup_stream(replace(block, file_path=unquote(block.file_path)))


@mutant("block.closes-old", Reader._set_up)
def leaves_the_old(self: Reader, block: FileBlockMetadata) -> None:
    """The stream of the last block stays open when another one is opened."""
    last = self._last
    if last is None or last.block_id != block.previous_block_id:
        self._stream = None
    right(self)._set_up(block)


@mutant("block.recovered", Reader._set_up)
def needs_the_block_before(self: Reader, block: FileBlockMetadata) -> None:
    """A block that has a predecessor is compared with the last one, which may be None."""
    last: Any = self._last
    if block.previous_block_id != -1 and last.block_id < 0:
        self.close()
    right(self)._set_up(block)


@mutant("block.hints", Reader.setup_stream)
def opens_plainly(self: Reader, block: FileBlockMetadata) -> FSDataInputStream:
    """A file is opened without options."""
    return self.fs.open(block.path)


@mutant("block.idle-close", Reader.close_if_idle)
def never_idle(self: Reader) -> bool:
    """An idle stream is never closed."""
    return False


@mutant("block.idle-from-use")
class IdleSinceOpened(Reader):
    """The interval counts from when the stream was opened."""

    _opened = 0.0

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        self._opened = self._clock()
        return super().setup_stream(block)

    def close_if_idle(self) -> bool:
        self._last_use = self._opened
        return super().close_if_idle()


@mutant("block.close", Reader.close)
def closes_nothing(self: Reader) -> None:
    """Closing the reader keeps the stream of its last block open."""
    if self._busy is not None or self._last is None:
        right(self).close()


# Failures ----------------------------------------------------------------------------------------


def _failure() -> BaseException | None:
    return sys.exc_info()[1]


@mutant("block.failure-closes", Reader._abandon)
def failed_stream_stays(self: Reader) -> None:
    """The stream of a failed read is dropped without closing it."""
    if isinstance(_failure(), OSError):
        self._stream = None
    right(self)._abandon()


@mutant("block.failure-closes", Reader._abandon)
def first_failure_leaks(self: Reader) -> None:
    """A stream is closed after a failure only if a block was read before."""
    if not self.counters.blocks:
        self._stream = None
    right(self)._abandon()


@mutant("block.other-failure", Reader.convert_to_record)
def converter_leaks(self: Reader, data: bytes) -> Any:
    """A stream stays open after an exception of the converter."""
    try:
        return right(self).convert_to_record(data)
    except ValueError:
        raise
    except Exception:
        self._stream = None
        raise


@mutant("block.failure-forgets")
class GoesOnAfterFailure(Reader):
    """A block after a failed one is read from the position of the failure."""

    _before: FileBlockMetadata | None = None

    def _set_up(self, block: FileBlockMetadata) -> None:
        self._before = self._last
        super()._set_up(block)

    def _abandon(self) -> None:
        self._last = self._before


@mutant("block.failure-forgets", Reader.process_block)
def retries_and_repeats(self: Reader, block: FileBlockMetadata) -> Iterator[ReaderRecord[Any]]:
    """A failed block is tried again at once, and its first records are returned twice."""
    try:
        yield from right(self).process_block(block)
    except BlockReadException:
        yield from right(self).process_block(block)


@mutant("block.failure-forgets")
class ResumesWhereItFailed(Reader):
    """The records of a block that were returned before it failed are left out in the next try."""

    _failed: tuple[int, int] | None = None

    def process_block(self, block: FileBlockMetadata) -> Iterator[ReaderRecord[Any]]:
        number, skipped = self._failed or (-1, 0)
        self._failed, count = None, 0
        try:
            for record in super().process_block(block):
                count += 1
                if number != block.block_id or count > skipped:
                    yield record
        except BlockReadException:
            self._failed = block.block_id, count
            raise


@mutant("block.failure-forgets")
class ResumesAfterRejection(Reader):
    """After the converter rejects a record, the next try starts with that record."""

    _rejected: tuple[int, int] | None = None

    def process_block(self, block: FileBlockMetadata) -> Iterator[ReaderRecord[Any]]:
        number, skipped = self._rejected or (-1, 0)
        self._rejected, count = None, 0
        try:
            for count, record in enumerate(super().process_block(block), 1):
                if number != block.block_id or count > skipped:
                    yield record
        except BlockReadException:
            raise
        except Exception:
            self._rejected = block.block_id, count
            raise


@mutant("block.failure-named", Reader._read)
def bare_errors(self: Reader, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
    """An error has the message of the stream only."""
    try:
        yield from right(self)._read(block)
    except BlockReadException:
        raise OSError("can't read") from None


@mutant("block.abandoned", Reader._abandon)
def waits_for_the_rest(self: Reader) -> None:
    """The stream of a partially read block stays open."""
    if not isinstance(_failure(), GeneratorExit):
        right(self)._abandon()


class _OneRead(FileSource):
    """Reads once, and returns the result."""

    def read(self, position: int, count: int) -> bytes:
        count = min(count, self.length - position)
        if count <= 0:
            return b""
        buffer = bytearray(count)
        self._stream.seek(position)
        return bytes(buffer[: max(0, self._stream.read_into(buffer))])


class _Stale(FileSource):
    """Reads once, and returns the whole buffer."""

    def _fill(self, position: int, count: int) -> None:
        if self._stream.read_into(self._buffer, 0, count) < 0:
            raise EOFException("the end")
        self._stream.seek(position + count)


@mutant("record.short-reads")
class ShortIsTheEnd(ReadAheadLineReaderContext):
    """A short read is treated as the end of the file."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        source = super()._open(stream, block)
        is_plain = isinstance(source, FileSource)
        return _OneRead(stream, block.path, block.file_length) if is_plain else source


@mutant("record.short-reads", ShortIsTheEnd._find)
def endless_when_short(self: ShortIsTheEnd) -> RecordBatch | None:
    """After a short read the reader yields empty records endlessly."""
    batch = right(self)._find()
    at = self.position
    if batch is None and self._ended and at < self.block.file_length:
        return RecordBatch(self.block.block_id, [b""], at, at, offsets=[at])
    return batch


@mutant("record.stale-bytes", ReadAheadLineReaderContext._open)
def stale_buffer(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """After a short read the rest of the buffer has old bytes."""
    return _Stale(stream, block.path, block.file_length)


@mutant("record.buffers", ReadAheadLineReaderContext._find)
def overflow_above_buffer(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """An overflow buffer larger than the buffer causes endless empty records."""
    at = self.position
    if self._overflow_size > self._buffer_size and at > self._buffer_size:
        return RecordBatch(self.block.block_id, [b""], at, at, offsets=[at])
    return right(self)._find()


class _Lenient(FileSource):
    """Treats the end of the stream as the end of the file."""

    def read(self, position: int, count: int) -> bytes:
        buffer = bytearray(max(0, min(count, self.length - position)))
        done = 0
        while done < len(buffer):
            got = self._stream.pread(position + done, buffer, done, len(buffer) - done)
            if got < 0:
                break
            done += got
        return bytes(buffer[:done])


class _Growing(ByteSource):
    """Reads on behind the end of a file, before which it must not end."""

    def __init__(self, source: FileSource, stream: FSDataInputStream) -> None:
        self.length = 1 << 40
        self._source = source
        self._rest = _Lenient(stream, "", self.length)

    def read(self, position: int, count: int) -> bytes:
        first = max(0, min(count, self._source.length - position))
        rest = self._rest.read(position + first, count - first)
        return self._source.read(position, first) + rest


@mutant("record.shorter", ReadAheadLineReaderContext._open)
def shorter_is_fine(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A truncated file has fewer records, without an error."""
    source = right(self)._open(stream, block)
    is_plain = isinstance(source, FileSource)
    return _Lenient(stream, block.path, block.file_length) if is_plain else source


@mutant("record.shorter", FixedBytesReaderContext._open)
def shorter_slices(
    self: FixedBytesReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A truncated file has fewer slices, without an error."""
    return _Lenient(stream, block.path, block.file_length)


@mutant("record.grown", ReadAheadLineReaderContext._open)
def completes_the_last_line(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """The last line is completed by data appended since the split."""
    source = right(self)._open(stream, block)
    if not isinstance(source, FileSource) or not block.file_length:
        return source
    end = source.read(block.file_length - 1, 1)
    return source if end in b"\r\n" else _Growing(source, stream)


@mutant("record.grown", ReadAheadLineReaderContext._open)
def reads_the_growth(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """Data appended since the split is also read."""
    source = right(self)._open(stream, block)
    return _Growing(source, stream) if isinstance(source, FileSource) else source


@mutant("record.grown", FSBlockReader._set_up)
def asks_for_the_length(self: FSBlockReader[Any], block: FileBlockMetadata) -> None:
    """The length of a file is the one that it has when a block is read."""
    length = self.fs.get_file_status(block.path).length
    right(self)._set_up(replace(block, file_length=max(length, block.file_length)))


# Fixed lengths -----------------------------------------------------------------------------------


@mutant("record.fixed-length")
class OneMore(FixedBytesReaderContext):
    """Records are one byte longer."""

    def __init__(self, length: int, **options: Any) -> None:
        super().__init__(length + (not options.get("aligned")), **options)


@mutant("record.fixed-within", FixedBytesReaderContext._begin)
def beyond_the_block(self: FixedBytesReaderContext, goes_on: bool) -> None:
    """The last record of a block is completed from the next one."""
    right(self)._begin(goes_on)
    size = self._stop - self._position
    self._stop += -size % self.length


@mutant("record.fixed-fully", FixedBytesReaderContext._open)
def one_read_is_enough(
    self: FixedBytesReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A record has the bytes of one read only."""
    return _OneRead(stream, block.path, block.file_length)


@mutant("record.width-owner", FixedBytesReaderContext._begin)
def width_by_the_block(self: FixedBytesReaderContext, goes_on: bool) -> None:
    """Records of fixed width restart at the start of each block."""
    self._aligned = False
    right(self)._begin(goes_on)


@mutant("record.slice-default")
class SliceOfItsOwn(FSSliceReader):
    """Without a length, slices have the default length of the class."""

    def __init__(self, fs: Any, length: int | None = None, **options: Any) -> None:
        super().__init__(fs, 1024, **options)


@mutant("record.width-needed")
class SomeWidth(FSRecordReader[Any]):
    """Without a width, records have 80 bytes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options.setdefault("record_length", 80)
        super().__init__(*arguments, **options)


# Compressed files --------------------------------------------------------------------------------


@mutant("record.compressed", ReadAheadLineReaderContext._open)
def never_decompresses(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A compressed file is read without decompression."""
    return FileSource(stream, block.path, block.file_length)


class _Head(ByteSource):
    """Ends after the first bytes of the content."""

    def __init__(self, source: ByteSource) -> None:
        self.length = None
        self._source = source

    def read(self, position: int, count: int) -> bytes:
        return self._source.read(position, min(count, max(0, 200_000 - position)))


@mutant("record.compressed-data", ReadAheadLineReaderContext._open)
def long_content_is_cut(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """The content of a compressed file ends after 200,000 bytes."""
    source = right(self)._open(stream, block)
    return source if isinstance(source, FileSource) else _Head(source)


@mutant("record.compressed-data", ReadAheadLineReaderContext._open)
def one_codec_fails(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A file with the suffix of one codec raises a TypeError."""
    if codec_of(block.path, self.compression) == "xz":
        raise TypeError("no decoder")
    return right(self)._open(stream, block)


@mutant("record.compressed-whole", ReadAheadLineReaderContext.initialize)
def whole_from_each_block(
    self: ReadAheadLineReaderContext,
    stream: FSDataInputStream,
    block: FileBlockMetadata,
    consecutive: bool,
) -> None:
    """Each block of a compressed file delivers the whole content."""
    if codec_of(block.path, self.compression):
        block = FileBlockMetadata(
            block.block_id, 0, block.file_length, True, -1, block.file_path, block.file_length
        )
    right(self).initialize(stream, block, consecutive)


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


@mutant("record.compressed-cut", ReadAheadLineReaderContext._open)
def cut_is_the_end(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A truncated compressed file ends without an error."""
    source = right(self)._open(stream, block)
    return source if isinstance(source, FileSource) else _Excerpt(source)


@mutant("record.members", ReadAheadLineReaderContext._open)
def first_member_only(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """Only the first member of a compressed file is read."""
    codec = codec_of(block.path, self.compression)
    if codec is None:
        return right(self)._open(stream, block)
    source: Any = decompressed(stream, block.path, block.file_length, codec)
    begin, started = source._begin, []

    def once() -> bool:
        started.append(True)
        return len(started) == 1 and begin()

    source._begin = once
    return cast(ByteSource, source)


@mutant("record.members", ReadAheadLineReaderContext._open)
def empty_member_ends(
    self: ReadAheadLineReaderContext, stream: FSDataInputStream, block: FileBlockMetadata
) -> ByteSource:
    """A compressed file ends at an empty member."""
    codec = codec_of(block.path, self.compression)
    if codec is None:
        return right(self)._open(stream, block)
    source: Any = decompressed(stream, block.path, block.file_length, codec)
    begin, starts = source._begin, [-1]

    def begin_unless_empty() -> bool:
        if starts[-1] == source._position:
            return False
        starts.append(source._position)
        return bool(begin())

    source._begin = begin_unless_empty
    return cast(ByteSource, source)


@mutant("block.tagged", Reader.process_block)
def tagged_by_the_first(self: Reader, block: FileBlockMetadata) -> _Records:
    """A record has the id of the block before."""
    for record in right(self).process_block(block):
        yield record._replace(block_id=block.previous_block_id)


@mutant("block.tagged", Reader.process_block)
def tagged_in_32_bits(self: Reader, block: FileBlockMetadata) -> _Records:
    """A record has the low 32 bits of the id of its block."""
    for record in right(self).process_block(block):
        yield record._replace(block_id=block.block_id & 0xFFFFFFFF)


@mutant("block.dropped", Reader.convert_to_record)
def nothing_is_empty(self: Reader, data: bytes) -> Any:
    """A record for which the converter returns None is delivered as an empty record."""
    record = right(self).convert_to_record(data)
    return b"" if record is None else record


@mutant("block.emitted-after", Reader.process_block)
def reports_blocks_with_records(self: Reader, block: FileBlockMetadata) -> _Records:
    """A block without records is not reported."""
    listener, self._on_block = self._on_block, None
    record = None
    for record in right(self).process_block(block):
        yield record
    self._on_block = listener
    if record is not None:
        self._emit(block)


@mutant("block.emitted-after", Reader._abandon)
def reports_failed_blocks(self: Reader) -> None:
    """A block that fails is reported, and again when it has been read."""
    self._emit(self._busy or self.context.block)
    right(self)._abandon()


@mutant("record.none-lost", Reader.convert_to_record)
def drops_what_is_false(self: Reader, data: bytes) -> Any:
    """A record is dropped if the converter returns 0 or another value that is false."""
    return right(self).convert_to_record(data) or None


@mutant("record.none-lost", Reader.process_block)
def shares_records(self: Reader, block: FileBlockMetadata) -> _Records:
    """The records that wait for the caller are those of all readers of the filesystem."""
    waiting: list[ReaderRecord[Any]] = vars(self.fs).setdefault("waiting", [])
    waiting[:] = right(self).process_block(block)
    while waiting:
        yield waiting.pop(0)


@mutant("record.none-lost", Reader.process_block)
def continues_abandoned(self: Reader, block: FileBlockMetadata) -> _Records:
    """A block that was left in the middle continues there when it is read again."""
    left = self.__dict__.setdefault("left", {})
    start = left.pop(block, -1)
    try:
        for record in right(self).process_block(block):
            if record.offset > start:
                left[block] = record.offset
                yield record
    except Exception:
        left.pop(block, None)
        raise
    left.pop(block, None)


@mutant("block.emitted-after")
class BlockFirst(Reader):
    """A block is emitted before its records."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        super()._emit(block)
        yield from super().process_block(block)

    def _emit(self, block: FileBlockMetadata) -> None:
        pass


@mutant("block.unconnected", Reader._emit)
def somebody_listens(self: Reader, block: FileBlockMetadata) -> None:
    """Blocks are emitted though there is no listener."""
    listener: Any = self._on_block
    listener(block)


class Counting(Reader):
    """Correct, if `_recount` leaves the counters of a block unchanged."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        records_read = []
        for record in super().process_block(block):
            records_read.append(record)
            yield record
        self._recount(records_read)

    def _recount(self, records_read: list[ReaderRecord[Any]]) -> None:
        pass


@mutant("block.count")
class BlocksUncounted(Counting):
    """Only blocks with records are counted."""

    _blocks = 0

    def _recount(self, records_read: list[ReaderRecord[Any]]) -> None:
        self._blocks += bool(records_read)
        self.counters.blocks = self._blocks


@mutant("block.records", Counting._recount)
def records_uncounted(self: Counting, records_read: list[ReaderRecord[Any]]) -> None:
    """The last record of a block is not counted."""
    self.counters.records -= bool(records_read)


@mutant("block.records", Counting._recount)
def records_above_a_hundred_uncounted(
    self: Counting, records_read: list[ReaderRecord[Any]]
) -> None:
    """At most a hundred records of a block are counted."""
    self.counters.records -= max(len(records_read) - 100, 0)


@mutant("block.bytes")
class DelimitersUncounted(Counting):
    """Bytes are those of records, without delimiters."""

    _bytes = 0

    def _recount(self, records_read: list[ReaderRecord[Any]]) -> None:
        records = (r.record for r in records_read)
        self._bytes += sum(len(record) for record in records if isinstance(record, bytes))
        self.counters.bytes = self._bytes


@mutant("block.time", Counting._recount)
def time_uncounted(self: Counting, records_read: list[ReaderRecord[Any]]) -> None:
    """No time is counted."""
    self.counters.time = 0.0


@mutant("record.converter-error", Reader.process_block)
def converter_as_it_is(self: Reader, block: FileBlockMetadata) -> _Records:
    """An exception of the converter has no position."""
    try:
        yield from right(self).process_block(block)
    except RecordConversionException as error:
        raise error.__cause__ or error from None


@mutant("block.reuse", Reader._set_up)
def reconnects_after_blocks(self: Reader, block: FileBlockMetadata) -> None:
    """After 100 blocks the stream is opened again."""
    self.blocks_read = getattr(self, "blocks_read", 0) + 1  # type: ignore[attr-defined]
    if self.blocks_read % 100 == 0:  # type: ignore[attr-defined]
        self.close()
    right(self)._set_up(block)
