"""Mutants of streams that read in blocks of a size that they state."""

from __future__ import annotations

from fscontract.contract.api.errors import EOFException
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.stream.variants import StatedBlocks
from fscontract.implementations.input_stream import stream_length


@mutant("read-into.data", StatedBlocks.block, name="StaleSecondBlock")
def stale_second_block(self: StatedBlocks, number: int) -> bytes:
    """Once the third block was read, the second one is taken for it."""
    if number == 1 and 2 in self._blocks:
        return self._blocks[2]
    return right(self).block(number)


@mutant("read-into.progress")
class EndsAtThirdBlock(StatedBlocks):
    """A read that begins exactly at the third block finds the end of the file."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if not self._closed and self._pos == 2 * self.span and self._pos < self._size:
            return -1 if stream_length(buffer, offset, length) else 0
        return super().read_into(buffer, offset, length)


@mutant("read-into.count", StatedBlocks.request)
def block_behind_end(self: StatedBlocks, start: int, end: int) -> bytes:
    """Behind a file of whole blocks, the last block is delivered once more."""
    block = right(self).request(start, end)
    return block or (self.data[-self.span :] if start == self._size else b"")


@mutant("seek.at-len", StatedBlocks.seek)
def end_of_blocks_is_beyond(self: StatedBlocks, position: int) -> None:
    """A seek to the end of a file of several whole blocks is rejected."""
    if position == self._size > self.span and not self._closed and not position % self.span:
        raise EOFException(f"seek to {position}: there is no such block")
    right(self).seek(position)


@mutant("seek.noop", StatedBlocks.seek)
def noop_starts_block(self: StatedBlocks, position: int) -> None:
    """A seek to the current position, at the start of a later block, goes back to the block."""
    here = self._pos
    right(self).seek(position)
    if position == here and position and not position % self.span:
        self._pos -= self.span


@mutant("seek.pos", StatedBlocks.seek)
def rewinds_to_block(self: StatedBlocks, position: int) -> None:
    """seek(0) from the fourth block goes to the start of that block."""
    here = self._pos
    right(self).seek(position)
    if position == 0 and here // self.span == 3:
        self._pos = 3 * self.span


@mutant("skip.count", StatedBlocks.skip)
def skips_to_block(self: StatedBlocks, count: int) -> int:
    """skip() over the end from the last block counts to the end of the block."""
    here = self._pos
    skipped = right(self).skip(count)
    if here > self.span and 0 < skipped < count:
        return min(count, self.span - here % self.span)
    return skipped


@mutant("pread.eof")
class PreadInWholeBlocks(StatedBlocks):
    """pread() at the end of a file of several whole blocks delivers the last one again."""

    def _pread_at(self, position: int, view: memoryview) -> int:
        if position == self._size > self.span and not self._size % self.span:
            position -= self.span
        return super()._pread_at(position, view)


@mutant("pread.full", StatedBlocks._pread_at)
def pread_to_block(self: StatedBlocks, position: int, view: memoryview) -> int:
    """pread() ends with its block, even before the end of the file."""
    return right(self)._pread_at(position, view[: self.span - position % self.span])


@mutant("input-stream.same-data")
class TwoBuffers(StatedBlocks):
    """read() has a buffer that other reads do not see: it is stale after they crossed a block."""

    _ahead: int | None = None

    def read_byte(self) -> int:
        value = super().read_byte()
        self._ahead = self._pos if value >= 0 else None
        return value

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        ahead, self._ahead = self._ahead, None
        stale = ahead == self._pos > 2 * self.span and bool(length) and not self._closed
        self._pos -= stale
        try:
            return super().read_into(buffer, offset, length)
        finally:
            self._pos += stale
