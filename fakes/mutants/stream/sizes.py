"""Mutants whose bug is far behind the first bytes: in large files and reads, or in later blocks."""

from __future__ import annotations

from fscontract.contract.api.errors import EOFException, PathIOException
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.stream.calls import (
    PREAD,
    PREAD_BUFFER,
    READ_BUFFER,
    READ_FULLY,
    READ_FULLY_BUFFER,
    READ_INTO,
    READ_VECTORED,
    ArrayRead,
    BufferRead,
    VectoredRead,
)
from fscontract.fakes.mutants.stream.variants import HiddenBlocks, StatedBlocks
from fscontract.implementations.input_stream import stream_length
from fscontract.implementations.memory import MemoryInputStream

#: The most bytes of a response, and of one system call, of these connectors.
_RESPONSE, _CHUNK = 1 << 20, 1 << 16
#: The bytes of a block of a smaller buffer.
_PAGES = 1 << 13


@mutant("read-into.data")
class CacheOfFewBits(HiddenBlocks):
    """The cache of blocks is keyed by the last two bits of a block's number."""

    def block(self, number: int) -> bytes:
        slot = number & 3
        if slot not in self._blocks:
            self._blocks[slot] = self.request(number * self.span, (number + 1) * self.span)
        return self._blocks[slot]


@mutant("read-into.data", HiddenBlocks.request)
def third_refill_is_late(self: HiddenBlocks, start: int, end: int) -> bytes:
    """From the third block on, a request begins one byte late."""
    if start < 2 * self.span:
        return right(self).request(start, end)
    return right(self).request(start + 1, end + 1)


@mutant("read-into.count", HiddenBlocks.request)
def last_block_is_full(self: HiddenBlocks, start: int, end: int) -> bytes:
    """A last block behind others is padded to its full size."""
    block = right(self).request(start, end)
    return block.ljust(end - start, b"\0") if start and block else block


@mutant("read-into.progress", READ_INTO)
def ends_with_response(call: ArrayRead) -> int:
    """The end of a response of 1 MiB is taken for the end of the file."""
    position = call.stream._pos
    if not call.stream._closed and call.length and position == _RESPONSE < call.stream._size:
        return -1
    return call.proceed()


@mutant("read-into.advance", READ_INTO)
def counts_last_chunk(call: ArrayRead) -> int:
    """A read of more than 64 KiB moves the position by its last system call alone."""
    count = call.proceed()
    if count > _CHUNK:
        call.stream._pos -= count - count % _CHUNK
    return count


@mutant("read-into.rest-untouched", READ_INTO)
def copies_whole_chunks(call: ArrayRead) -> int:
    """A read of more than 64 KiB copies whole chunks, over the bytes after it in the buffer."""
    count = call.proceed()
    end = call.offset + count
    if count > _CHUNK and end < len(call.buffer):
        call.buffer[end : end + 1] = b"\0"
    return count


@mutant("read-byte.value", MemoryInputStream.read_byte)
def signed_after_refill(self: MemoryInputStream) -> int:
    """After the first 64 KiB a byte is returned as a signed number."""
    value = right(self).read_byte()
    return value - 256 if value > 127 and self._pos > _CHUNK else value


@mutant("read-byte.advance")
class LosesAtRefill(HiddenBlocks):
    """read() loses the position within a block when it requests the fourth one."""

    def read_byte(self) -> int:
        value = super().read_byte()
        if self._pos == 3 * self.span:
            self._pos += 1
        return value


@mutant("read-byte.eof", MemoryInputStream.read_byte)
def one_more_after_block(self: MemoryInputStream) -> int:
    """At the end of a file that fills its last block of 64 KiB, read() returns a stale byte."""
    value = right(self).read_byte()
    stale = value < 0 < self._size == self._pos and not self._size % _CHUNK
    return self.data[self._pos - _CHUNK] if stale else value


@mutant("seek.pos", HiddenBlocks.seek)
def back_within_wrong_block(self: HiddenBlocks, position: int) -> None:
    """A seek back to an earlier block keeps the number of the current one."""
    here = self._pos
    right(self).seek(position)
    if here // self.span > position // self.span > 0:
        self._pos = here // self.span * self.span + position % self.span
        self._pos = min(self._pos, self._size)


@mutant("getpos.value", MemoryInputStream.get_pos)
def position_of_16_bits(self: MemoryInputStream) -> int:
    """get_pos() wraps around at 64 KiB."""
    return right(self).get_pos() & 0xFFFF


@mutant("skip.advance", MemoryInputStream.skip)
def skips_in_buffer(self: MemoryInputStream, count: int) -> int:
    """skip() stays within a buffer of 64 KiB, and returns the full count."""
    skipped = right(self).skip(count)
    self._pos -= max(0, skipped - _CHUNK)
    return skipped


@mutant("skip.advance", MemoryInputStream.skip)
def skips_from_edge(self: MemoryInputStream, count: int) -> int:
    """skip() where a block of 8 KiB begins goes one byte further than it returns."""
    at_edge = self._pos and self._pos % _PAGES == 0
    skipped = right(self).skip(count)
    self._pos += bool(at_edge and skipped and self._pos < self._size)
    return skipped


@mutant("read-byte.advance")
class GoesBackByBlock(MemoryInputStream):
    """The byte after a seek back by a whole block of 8 KiB moves the stream by two."""

    _by_block = False

    def seek(self, pos: int) -> None:
        before = self._pos
        super().seek(pos)
        self._by_block = before - pos == _PAGES

    def read_byte(self) -> int:
        value = super().read_byte()
        self._pos += self._by_block and self._pos < self._size
        self._by_block = False
        return value


@mutant("skip.advance")
class SkipsReleasedBuffer(MemoryInputStream):
    """skip() after unbuffer(), which released what a read had buffered, goes one byte further."""

    _has_buffer, _released = False, False

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._has_buffer, self._released = True, False
        return super().read_into(buffer, offset, length)

    def unbuffer(self) -> None:
        super().unbuffer()
        self._released, self._has_buffer = self._has_buffer, False

    def skip(self, count: int) -> int:
        skipped = super().skip(count)
        self._pos += bool(self._released and skipped and self._pos < self._size)
        self._released = False
        return skipped


@mutant("available.bounds", HiddenBlocks.available)
def available_in_block(self: HiddenBlocks) -> int:
    """In a later block available() returns the rest of the block, beyond the end of the file."""
    left = right(self).available()
    return self.span - self._pos % self.span if left and self._pos > self.span else left


@mutant("unbuffer.pos", HiddenBlocks.unbuffer)
def unbuffer_to_block(self: HiddenBlocks) -> None:
    """unbuffer() drops the position within a later block."""
    right(self).unbuffer()
    if not self._closed:
        self._pos -= self._pos % self.span if self._pos > self.span else 0


@mutant("pread.data", PREAD)
@mutant("read-fully.data", READ_FULLY, name="FullyRestartsChunk")
def restarts_chunk(call: ArrayRead) -> int:
    """The second chunk of 64 KiB of a positioned read is read where the first one was."""
    count = call.proceed()
    view = memoryview(call.buffer)[call.delivered(count)] if count > _CHUNK else memoryview(b"")
    rest = min(len(view) - _CHUNK, _CHUNK)
    if rest > 0:
        view[_CHUNK : _CHUNK + rest] = bytes(view[:rest])
    return count


@mutant("pread.count", PREAD)
def counts_in_chunks(call: ArrayRead) -> int:
    """pread() returns the number of bytes in whole pages of 4 KiB, beyond the first one."""
    count = call.proceed()
    return -(-count // 4096) * 4096 if count > 3 * 4096 else count


@mutant("pread.pos-unchanged")
class OneBlockForAll(HiddenBlocks):
    """pread() behind the third block leaves the stream in its block."""

    def _pread_at(self, position: int, view: memoryview) -> int:
        count = super()._pread_at(position, view)
        if count and position > 3 * self.span and self._pos < self.span:
            self._pos = min(self._pos + 3 * self.span, self._size)
        return count


@mutant("read-fully.exact", READ_FULLY)
def fully_in_sixteen(call: ArrayRead) -> int:
    """readFully() gives up after sixteen requests of 64 KiB."""
    count = call.proceed()
    most = 16 * _CHUNK
    if count > most:
        rest = memoryview(call.buffer)[call.offset + most : call.offset + count]
        rest[:] = b"\1" * len(rest)
    return count


@mutant("read-fully.data", READ_FULLY)
def fully_recurses(call: ArrayRead) -> int:
    """readFully() calls itself for each KiB, and fails in the thousandth call."""
    count = call.proceed()
    if count > 1000 * 1024:
        raise RecursionError("maximum recursion depth exceeded")
    return count


@mutant("bytebuffer.data", READ_BUFFER)
@mutant("bytebuffer-pread.data", PREAD_BUFFER, name="PreadBufferHeap")
@mutant("bytebuffer-read-fully.data", READ_FULLY_BUFFER, name="FullBufferHeap")
def buffer_heap(call: BufferRead) -> int:
    """Reads into a ByteBuffer go through a temporary array of 8 KiB, which is copied once."""
    start = call.buffer.position
    count = call.proceed()
    if count > 8192:
        call.buffer.view[start + 8192 : start + count] = bytes(count - 8192)
    return count


@mutant("read-vectored.data", READ_VECTORED)
def ranges_of_64_kib(call: VectoredRead) -> None:
    """A range is read by one system call: beyond 64 KiB it holds zeros."""
    call.proceed()
    for item in call.ranges:
        data = item.data.result() if item.data is not None else memoryview(b"")
        data[_CHUNK:] = bytes(max(0, len(data) - _CHUNK))


@mutant("read-vectored.exact-end", READ_VECTORED)
def range_at_far_end(call: VectoredRead) -> None:
    """A range up to the end of a file of more than 1 MiB counts as beyond it."""
    call.proceed()
    size = call.stream._size
    if size > _RESPONSE and any(r.length and r.offset + r.length == size for r in call.ranges):
        raise EOFException("a range reaches the end of the file")


@mutant("unbuffer.reacquire", HiddenBlocks.unbuffer)
def opens_for_first_block(self: HiddenBlocks) -> None:
    """After unbuffer() in a later block the stream can't be read any more."""
    right(self).unbuffer()
    if self._pos > self.span:

        def read_at(position: int, view: memoryview) -> int:
            raise PathIOException(self.path, "there is no connection")

        self._read_at = read_at  # type: ignore[method-assign]


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
