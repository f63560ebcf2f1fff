"""Streams that are opened too often, are another block's, or stay open."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.readers import FSBlockReader
from fscontract.pipeline.blockreader.source import BlockReadException
from fscontract.pipeline.blocks import FileBlockMetadata


class Reader(FSBlockReader[Any]):
    """Right."""


@reader_mutant("block.reuse", "block_reader")
class OpensEachTime(Reader):
    """Each block has a stream of its own."""

    def _set_up(self, block: FileBlockMetadata) -> None:
        self.close()
        super()._set_up(block)


@reader_mutant("block.fresh", "block_reader")
class KeepsTheStream(Reader):
    """The stream that is open is used, whatever block comes."""

    def _set_up(self, block: FileBlockMetadata) -> None:
        if self._stream is None:
            self._stream = self.setup_stream(block)
        self.context.initialize(self._stream, block, False)


@reader_mutant("block.closes-old", "block_reader")
class LeavesTheOld(Reader):
    """The stream of the last block stays open when another one is opened."""

    def _set_up(self, block: FileBlockMetadata) -> None:
        last = self._last
        if last is None or last.block_id != block.previous_block_id:
            self._stream = None
        super()._set_up(block)


@reader_mutant("block.recovered", "block_reader")
class NeedsTheBlockBefore(Reader):
    """A block that has one before it is compared with the last one, which may be none."""

    def _set_up(self, block: FileBlockMetadata) -> None:
        last: Any = self._last
        if block.previous_block_id != -1 and last.block_id < 0:
            self.close()
        super()._set_up(block)


@reader_mutant("block.hints", "block_reader")
class OpensPlainly(Reader):
    """A file is opened without a word on what will be read."""

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        return self.fs.open(block.path)


@reader_mutant("block.idle-close", "block_reader")
class NeverIdle(Reader):
    """A stream stays open however long it is not used."""

    def close_if_idle(self) -> bool:
        return False


@reader_mutant("block.idle-from-use", "block_reader")
class IdleSinceOpened(Reader):
    """The interval counts from when the stream was opened."""

    _opened = 0.0

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        self._opened = self._clock()
        return super().setup_stream(block)

    def close_if_idle(self) -> bool:
        self._last_use = self._opened
        return super().close_if_idle()


@reader_mutant("block.close", "block_reader")
class ClosesNothing(Reader):
    """A reader that is closed keeps the stream of its last block."""

    def close(self) -> None:
        if self._busy is not None or self._last is None:
            super().close()


# Failures ----------------------------------------------------------------------------------------


def _failure() -> BaseException | None:
    return sys.exc_info()[1]


@reader_mutant("block.failure-closes", "block_reader")
class FailedStreamStays(Reader):
    """The stream of a failed read is forgotten, and stays open."""

    def _abandon(self) -> None:
        if isinstance(_failure(), OSError):
            self._stream = None
        super()._abandon()


@reader_mutant("block.failure-closes", "block_reader")
class FirstFailureLeaks(Reader):
    """A stream is closed after a failure only if a block was read before."""

    def _abandon(self) -> None:
        if not self.counters.blocks:
            self._stream = None
        super()._abandon()


@reader_mutant("block.other-failure", "block_reader")
class ConverterLeaks(Reader):
    """What a converter raises leaves the stream open."""

    def convert_to_record(self, data: bytes) -> Any:
        try:
            return super().convert_to_record(data)
        except ValueError:
            raise
        except Exception:
            self._stream = None
            raise


@reader_mutant("block.failure-forgets", "block_reader")
class GoesOnAfterFailure(Reader):
    """A block after a failed one is read from where that stood."""

    _before: FileBlockMetadata | None = None

    def _set_up(self, block: FileBlockMetadata) -> None:
        self._before = self._last
        super()._set_up(block)

    def _abandon(self) -> None:
        self._last = self._before


@reader_mutant("block.failure-named", "block_reader")
class BareErrors(Reader):
    """An error says what the stream says."""

    def _read(self, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
        try:
            yield from super()._read(block)
        except BlockReadException:
            raise OSError("can't read") from None


@reader_mutant("block.abandoned", "block_reader")
class WaitsForTheRest(Reader):
    """A block that is left in the middle keeps its stream."""

    def _abandon(self) -> None:
        if not isinstance(_failure(), GeneratorExit):
            super()._abandon()
