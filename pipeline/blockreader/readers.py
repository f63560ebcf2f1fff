"""Readers of blocks: lines, slices, and records with a converter."""

from __future__ import annotations

import codecs
import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import Closeable, FileStatus, FileSystem, FSDataInputStream
from fscontract.contract.api.openfile_options import READ_POLICY, SPLIT_END, SPLIT_START
from fscontract.implementations.openfile_builder import await_future
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.compression import codec_of
from fscontract.pipeline.blockreader.contexts import (
    B,
    FileReaderContext,
    FixedBytesReaderContext,
    ReaderContext,
    S,
)
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.source import BlockReadException, RecordConversionException
from fscontract.pipeline.blocks import (
    NO_BLOCK,
    BlockMetadata,
    FileBlockMetadata,
    FileMetadata,
    bare_path,
    last_element,
    milliseconds,
)
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator, count_blocks

R = TypeVar("R")
#: Seconds that a stream may be idle before `close_if_idle` closes it.
DEFAULT_IDLE = 120.0


class ReaderRecord(NamedTuple, Generic[R]):
    """A record, its block, and its offset in the source, in bytes of a file."""

    block_id: int
    record: R
    offset: int


@dataclass
class Counters:
    """Counters of a reader.

    Blocks read completely, records delivered, file bytes of records including delimiters and
    dropped records (in another source: what its context counts), and seconds spent on blocks.
    """

    blocks: int = 0
    records: int = 0
    bytes: int = 0
    time: float = 0.0

    def add(self, other: Counters) -> None:
        """Add the counters of another reader."""
        self.blocks += other.blocks
        self.records += other.records
        self.bytes += other.bytes
        self.time += other.time


class AbstractBlockReader(Closeable, Generic[R, B, S]):
    """Reads one block after the other, in one thread, as records R.

    The source can be of any kind: B is the kind of its blocks, and S that of the streams that
    `setup_stream` opens and the context reads.

    The stream of a block is reused for the next one if that follows it. It is closed for any other
    block, after any failure, if the records of a block are not taken to the end, by
    `close_if_idle`, and by `close`. `on_block` is called with each block after its records.
    """

    def __init__(
        self,
        context: ReaderContext[B, S],
        *,
        on_block: Callable[[B], None] | None = None,
        idle_seconds: float = DEFAULT_IDLE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.context = context
        self.counters = Counters()
        self._on_block = on_block
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._stream: S | None = None
        self._last: B | None = None
        self._last_use = clock()
        self._busy: B | None = None
        #: True if the context has found the start of the current block.
        self._initialized = False

    @abstractmethod
    def setup_stream(self, block: B) -> S:
        """Open a stream for the block."""

    @abstractmethod
    def convert_to_record(self, data: bytes) -> R | None:
        """Return the record of these bytes, or None to drop them; raise ValueError if invalid."""

    def process_block(self, block: B) -> Iterator[ReaderRecord[R]]:
        """Yield the records of a block, in order of their offsets.

        Raise BlockReadException for any read error, RecordConversionException for a ValueError of
        the conversion; both name block and offset.
        """
        convert, counters, block_id = self.convert_to_record, self.counters, block.block_id
        with closing(self._read(block)) as batches:
            for batch in batches:
                for data, offset in zip(batch.records, batch.offsets, strict=True):
                    try:
                        record = convert(data)
                    except ValueError as error:
                        raise _unconverted(block, offset, error) from error
                    if record is not None:
                        counters.records += 1
                        yield ReaderRecord(block_id, record, offset)
        self._emit(block)

    def process_batches(self, block: B) -> Iterator[RecordBatch]:
        """Yield the records of a block as batches of bytes. Raises as `process_block` does."""
        with closing(self._read(block)) as batches:
            for batch in batches:
                try:
                    yield batch
                finally:  # the caller may have determined the number by now
                    self.counters.records += len(batch)
        self._emit(block)

    def close_if_idle(self) -> bool:
        """Close the stream if no block was read for `idle_seconds`; return True if it did."""
        idle = self._clock() - self._last_use >= self._idle_seconds
        if self._stream is None or self._busy is not None or not idle:
            return False
        self.close()
        return True

    def close(self) -> None:
        """Close the stream; the next block opens another."""
        stream, self._stream, self._last = self._stream, None, None
        if stream is not None:
            stream.close()

    def _read(self, block: B) -> Generator[RecordBatch, None, None]:
        if self._busy is not None:
            raise RuntimeError(f"block {self._busy.block_id} has records that were not taken")
        began, finished = self._clock(), False
        self._busy, self._initialized = block, False
        try:
            self._set_up(block)
            while (batch := self.context.next_batch()) is not None:
                self.counters.bytes += batch.used_bytes
                if batch:
                    yield batch
            finished = True
        except BlockReadException:
            raise
        except OSError as error:
            offset = self.context.position if self._initialized else block.offset
            # the exception adds the path
            reason = str(error).removesuffix(f": {bare_path(block.source)!r}")
            raise BlockReadException(block.source, block.block_id, offset, reason) from error
        finally:
            self._busy = None
            self._last_use = self._clock()
            self.counters.time += self._last_use - began
            if finished:
                self._last = block
                self.counters.blocks += 1
            else:
                self._abandon()

    def _set_up(self, block: B) -> None:
        """Initialize the context for the block, on the open stream if the block continues it."""
        last = self._last
        follows = block.previous_block_id not in (NO_BLOCK, block.block_id)
        consecutive = follows and last is not None and last.block_id == block.previous_block_id
        if not consecutive or self._stream is None:
            consecutive = False
            self.close()
            self._stream = self.setup_stream(block)
        self._last = None
        self.context.initialize(self._stream, block, consecutive)
        self._initialized = True

    def _emit(self, block: B) -> None:
        if self._on_block is not None:
            self._on_block(block)

    def _abandon(self) -> None:
        """Close the stream after a failure, and ignore errors of `close`."""
        with suppress(OSError):
            self.close()


def _unconverted(block: BlockMetadata, offset: int, error: ValueError) -> RecordConversionException:
    reason = f"can't convert the record: {error}"
    return RecordConversionException(block.source, block.block_id, offset, reason)


class FSBlockReader(AbstractBlockReader[R, FileBlockMetadata, FSDataInputStream]):
    """Reads blocks of files of `fs`; `converter` returns a record for bytes, or None to drop them.

    Further options are those of AbstractBlockReader.
    """

    def __init__(
        self,
        fs: FileSystem,
        context: ReaderContext[FileBlockMetadata, FSDataInputStream],
        converter: Callable[[bytes], R | None],
        **options: Any,
    ) -> None:
        super().__init__(context, **options)
        self.fs = fs
        self._converter = converter

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        """Open the file with its status at the time of the split."""
        builder = self.fs.open_file(block.path).with_file_status(block.status())
        builder.opt(READ_POLICY, "sequential")
        builder.opt_long(SPLIT_START, block.offset).opt_long(SPLIT_END, block.end)
        return await_future(builder.build())

    def convert_to_record(self, data: bytes) -> R | None:
        """Return the result of the converter."""
        return self._converter(data)


def text(encoding: str = "utf-8", errors: str = "strict") -> Callable[[bytes], str]:
    """Return a converter to `str`; invalid bytes raise unless `errors` allows them.

    With "surrogateescape", `encode` returns the original bytes. Raise LookupError for an unknown
    encoding or error handler.
    """
    b"\xff".decode(encoding, "replace")
    codecs.lookup_error(errors)
    return lambda data: data.decode(encoding, errors)


def as_bytes(data: bytes) -> bytes:
    """Return the bytes unchanged."""
    return data


class FSLineReader(FSBlockReader[R]):
    """Reads lines with a LineReaderContext: the converter must return None for partial lines."""

    context_class: ClassVar[type[LineReaderContext]] = LineReaderContext

    def __init__(
        self,
        fs: FileSystem,
        converter: Callable[[bytes], R | None],
        context: LineReaderContext | None = None,
        **options: Any,
    ) -> None:
        super().__init__(fs, context or self.context_class(), converter, **options)


class FSReadAheadLineReader(FSLineReader[R]):
    """Reads lines with a ReadAheadLineReaderContext, each from exactly one block."""

    context_class: ClassVar[type[LineReaderContext]] = ReadAheadLineReaderContext


class FSSliceReader(FSBlockReader[bytes]):
    """Reads pieces of `length` bytes, by default the filesystem's block size.

    The default is the block size of the first file that is read.
    """

    def __init__(self, fs: FileSystem, length: int | None = None, **options: Any) -> None:
        context = FixedBytesReaderContext() if length is None else FixedBytesReaderContext(length)
        super().__init__(fs, context, as_bytes, **options)
        self._slices = context
        self._unknown = length is None

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        """Open the file, after setting the slice length to its block size."""
        if self._unknown:
            self._slices.length = max(1, self.fs.get_file_status(block.path).block_size)
            self._unknown = False
        return super().setup_stream(block)


class FSRecordReader(FSBlockReader[R]):
    """Reads custom records: "delimited" or, of `record_length` bytes each, "fixed-width".

    Records are whole, each from one block, wherever blocks end. Raise IllegalArgumentException for
    another mode, or for a fixed width without a length. `context_options` are those of
    ReadAheadLineReaderContext or FixedBytesReaderContext.
    """

    def __init__(
        self,
        fs: FileSystem,
        converter: Callable[[bytes], R | None],
        mode: Literal["delimited", "fixed-width"] = "delimited",
        *,
        record_length: int | None = None,
        context_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        context = _record_context(mode, record_length, context_options or {})
        super().__init__(fs, context, converter, **options)


def _record_context(
    mode: str, record_length: int | None, options: Mapping[str, Any]
) -> FileReaderContext:
    if mode == "delimited":
        if record_length is not None:
            raise IllegalArgumentException("record_length requires mode 'fixed-width'")
        return ReadAheadLineReaderContext(**options)
    if mode != "fixed-width":
        raise IllegalArgumentException(
            f"invalid mode: {mode!r:.40}; must be delimited or fixed-width"
        )
    if record_length is None:
        raise IllegalArgumentException("mode 'fixed-width' requires record_length")
    return FixedBytesReaderContext(record_length, aligned=True, **options)


def records_of(
    fs: FileSystem,
    path: str,
    block_size: int,
    context: FileReaderContext | None = None,
    **options: Any,
) -> Iterator[ReaderRecord[bytes]]:
    """Yield the records of a file, read in blocks of `block_size` bytes, in order.

    `context` is a ReadAheadLineReaderContext with these options, unless one is given.
    """
    context = context or ReadAheadLineReaderContext(**options)
    status = fs.get_file_status(path)
    compressed = codec_of(path, context.compression) is not None
    size = max(1, status.length) if compressed else block_size
    with FSBlockReader(fs, context, as_bytes) as reader:
        for block in blocks_of(status, size, options.get("data_offset", 0)):
            yield from reader.process_block(block)


def blocks_of(
    status: FileStatus, block_size: int, data_offset: int = 0
) -> Iterator[FileBlockMetadata]:
    """Return the blocks of one file, with ids from 1 on, as a splitter creates them."""
    if block_size < 1:
        raise IllegalArgumentException(f"invalid block_size: {block_size}; must be at least 1 byte")
    count = count_blocks(status.length, block_size, data_offset)
    name = last_element(status.path)
    file = FileMetadata(
        file_path=status.path,
        file_name=name,
        file_length=status.length,
        is_directory=False,
        number_of_blocks=count,
        block_size=block_size,
        data_offset=data_offset,
        discover_time=0,
        relative_path=name,
        first_block_id=1,
        etag=status.etag,
        modification_time=milliseconds(status.modification_time),
    )
    return BlockMetadataIterator(file)
