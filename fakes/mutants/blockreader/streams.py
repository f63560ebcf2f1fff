"""Streams that are opened too often, are another block's, or stay open."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.readers import FSBlockReader
from fscontract.pipeline.blockreader.source import BlockReadException
from fscontract.pipeline.blocks import FileBlockMetadata


class Reader(FSBlockReader[Any]):
    """Right."""


@mutant("block.reuse", Reader._set_up)
def opens_each_time(self: Reader, block: FileBlockMetadata) -> None:
    """A separate stream is opened for each block."""
    self.close()
    right(self)._set_up(block)


@mutant("block.fresh", Reader._set_up)
def keeps_the_stream(self: Reader, block: FileBlockMetadata) -> None:
    """The stream that is open is used, whatever block comes."""
    if self._stream is None:
        self._stream = self.setup_stream(block)
    self.context.initialize(self._stream, block, False)


@mutant("block.closes-old", Reader._set_up)
def leaves_the_old(self: Reader, block: FileBlockMetadata) -> None:
    """The stream of the last block stays open when another one is opened."""
    last = self._last
    if last is None or last.block_id != block.previous_block_id:
        self._stream = None
    right(self)._set_up(block)


@mutant("block.recovered", Reader._set_up)
def needs_the_block_before(self: Reader, block: FileBlockMetadata) -> None:
    """A block that has one before it is compared with the last one, which may be none."""
    last: Any = self._last
    if block.previous_block_id != -1 and last.block_id < 0:
        self.close()
    right(self)._set_up(block)


@mutant("block.hints", Reader.setup_stream)
def opens_plainly(self: Reader, block: FileBlockMetadata) -> FSDataInputStream:
    """A file is opened without a word on what will be read."""
    return self.fs.open(block.path)


@mutant("block.idle-close", Reader.close_if_idle)
def never_idle(self: Reader) -> bool:
    """A stream stays open however long it is not used."""
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
    """A reader that is closed keeps the stream of its last block."""
    if self._busy is not None or self._last is None:
        right(self).close()


# Failures ----------------------------------------------------------------------------------------


def _failure() -> BaseException | None:
    return sys.exc_info()[1]


@mutant("block.failure-closes", Reader._abandon)
def failed_stream_stays(self: Reader) -> None:
    """The stream of a failed read is forgotten, and stays open."""
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
    """What a converter raises leaves the stream open."""
    try:
        return right(self).convert_to_record(data)
    except ValueError:
        raise
    except Exception:
        self._stream = None
        raise


@mutant("block.failure-forgets")
class GoesOnAfterFailure(Reader):
    """A block after a failed one is read from where that stood."""

    _before: FileBlockMetadata | None = None

    def _set_up(self, block: FileBlockMetadata) -> None:
        self._before = self._last
        super()._set_up(block)

    def _abandon(self) -> None:
        self._last = self._before


@mutant("block.failure-named", Reader._read)
def bare_errors(self: Reader, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
    """An error says what the stream says."""
    try:
        yield from right(self)._read(block)
    except BlockReadException:
        raise OSError("can't read") from None


@mutant("block.abandoned", Reader._abandon)
def waits_for_the_rest(self: Reader) -> None:
    """A block that is left in the middle keeps its stream."""
    if not isinstance(_failure(), GeneratorExit):
        right(self)._abandon()
