"""A reader of blocks: streams, counters and conversion around a reader context."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from fscontract.contract.ports import Closeable, FSDataInputStream
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.contexts import ReaderContext
from fscontract.pipeline.blockreader.errors import BlockReadException, RecordConversionException
from fscontract.pipeline.blocks import NO_BLOCK, FileBlockMetadata

R = TypeVar("R")
#: How long a stream may lie idle before `close_if_idle` closes it, in seconds.
DEFAULT_IDLE = 120.0


class ReaderRecord(NamedTuple, Generic[R]):
    """A record, the block it was read from, and its offset in the file."""

    block_id: int
    record: R
    offset: int


@dataclass
class Counters:
    """What a reader has done: blocks read to the end, records delivered, bytes of the file that
    records took, delimiters and dropped records among them, and seconds spent on blocks."""

    blocks: int = 0
    records: int = 0
    bytes: int = 0
    time: float = 0.0

    def add(self, other: Counters) -> None:
        """Count what another reader has done, too."""
        self.blocks += other.blocks
        self.records += other.records
        self.bytes += other.bytes
        self.time += other.time


class AbstractBlockReader(Closeable, Generic[R]):
    """Reads one block after the other, in one thread.

    The stream of a block is used for the next one if that follows it. It is closed for any other
    block, after any failure, when the records of a block are not taken to the end, by
    `close_if_idle`, and by `close`. `on_block` is called with each block after its records.
    """

    def __init__(
        self,
        context: ReaderContext,
        *,
        on_block: Callable[[FileBlockMetadata], None] | None = None,
        idle_seconds: float = DEFAULT_IDLE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.context = context
        self.counters = Counters()
        self._on_block = on_block
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._stream: FSDataInputStream | None = None
        self._last: FileBlockMetadata | None = None
        self._last_use = clock()
        self._busy: FileBlockMetadata | None = None
        #: Whether the context has found the start of the present block.
        self._initialized = False

    @abstractmethod
    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        """Open a stream that the block can be read from."""

    @abstractmethod
    def convert_to_record(self, data: bytes) -> R | None:
        """The record that these bytes are; None drops them. A ValueError says that they are bad."""

    def process_block(self, block: FileBlockMetadata) -> Iterator[ReaderRecord[R]]:
        """The records of a block, in order of their offsets.

        BlockReadException for whatever goes wrong while reading, RecordConversionException for a
        ValueError of the conversion; both name block and offset.
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

    def process_batches(self, block: FileBlockMetadata) -> Iterator[RecordBatch]:
        """The records of a block as bytes, many at once and not converted. Errors as above."""
        with closing(self._read(block)) as batches:
            for batch in batches:
                try:
                    yield batch
                finally:  # whoever has it may know by now how many these are
                    self.counters.records += len(batch)
        self._emit(block)

    def close_if_idle(self) -> bool:
        """Close the stream if no block was read for `idle_seconds`; whether it was closed."""
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

    def _read(self, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
        if self._busy is not None:
            raise RuntimeError(f"block {self._busy.block_id} has records that are not taken yet")
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
            reason = str(error).removesuffix(f": {block.path!r}")  # which is said in any case
            raise BlockReadException(block.file_path, block.block_id, offset, reason) from error
        finally:
            self._busy = None
            self._last_use = self._clock()
            self.counters.time += self._last_use - began
            if finished:
                self._last = block
                self.counters.blocks += 1
            else:
                self._abandon()

    def _set_up(self, block: FileBlockMetadata) -> None:
        """Have the context take up the block, on the stream at hand if the block goes on in it."""
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

    def _emit(self, block: FileBlockMetadata) -> None:
        if self._on_block is not None:
            self._on_block(block)

    def _abandon(self) -> None:
        """Close the stream after a failure, which is what the caller has to hear of."""
        with suppress(OSError):
            self.close()


def _unconverted(
    block: FileBlockMetadata, offset: int, error: ValueError
) -> RecordConversionException:
    reason = f"the record can't be converted: {error}"
    return RecordConversionException(block.file_path, block.block_id, offset, reason)
