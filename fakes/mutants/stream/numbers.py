"""Mutants that hold positions and lengths in numbers of too few bits."""

from __future__ import annotations

from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.stream.calls import (
    PREAD,
    PREAD_BUFFER,
    READ_FULLY,
    READ_FULLY_BUFFER,
    READ_INTO,
    READ_VECTORED,
    ArrayRead,
    BufferRead,
    VectoredRead,
)
from fscontract.fakes.mutants.stream.variants import LaxSeek
from fscontract.implementations.memory import MemoryInputStream

_INT = 1 << 32


def _signed(value: int, bits: int = 32) -> int:
    """Return a number as an integer of that many bits holds it."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


@mutant("seek.past-eof", MemoryInputStream.seek)
def seeks_with_int(self: MemoryInputStream, position: int) -> None:
    """The position is cast to 32 bits: one of 4 GiB is the beginning."""
    right(self).seek(position if position < 0 else _signed(position))


@mutant("seek.negative", MemoryInputStream.seek)
def seeks_unsigned(self: MemoryInputStream, position: int) -> None:
    """The position is cast to an unsigned number of 32 bits."""
    right(self).seek(position if position > 0 else position % _INT)


@mutant("seek.lax-eof", LaxSeek.seek)
def lax_seek_with_int(self: LaxSeek, position: int) -> None:
    """A position beyond the end is cast to 32 bits: one of 4 GiB is the beginning."""
    right(self).seek(position if position < 0 else position % _INT)


@mutant("skip.advance", MemoryInputStream.skip)
def skips_with_int(self: MemoryInputStream, count: int) -> int:
    """The count is cast to 32 bits: one of 2 GiB is negative, and goes back."""
    count = _signed(count) if count > 0 else count
    if count >= 0:
        return right(self).skip(count)
    right(self).skip(0)
    self._pos = max(0, self._pos + count)
    return count


@mutant("skip.negative", MemoryInputStream.skip)
def skips_unsigned(self: MemoryInputStream, count: int) -> int:
    """A negative count beyond 31 bits becomes a positive one."""
    return right(self).skip(count if count >= 0 else _signed(count))


@mutant("pread.eof", PREAD)
@mutant("read-fully.eof", READ_FULLY, name="FullyWithInt")
def preads_with_int(call: ArrayRead) -> int:
    """The position is cast to 32 bits: one of 4 GiB is the beginning."""
    call.position = call.position if call.position < 0 else _signed(call.position)
    return call.proceed()


@mutant("pread.neg-pos", PREAD)
@mutant("read-fully.neg-pos", READ_FULLY, name="FullyWithoutSign")
def preads_without_sign(call: ArrayRead) -> int:
    """The sign of the position is masked off: the least number of 32 bits is the beginning."""
    if call.position <= -(_INT // 2):
        call.position &= 0x7FFFFFFF
    return call.proceed()


@mutant("read-fully.eof", READ_FULLY)
def fully_overflows(call: ArrayRead) -> int:
    """The end of the range overflows 64 bits, and passes for one before the end of the file."""
    length = len(call.buffer) - call.offset if call.length is None else call.length
    if not call.stream._closed and call.position >= 0 > _signed(call.position + length, 64):
        return 0
    return call.proceed()


@mutant("read-into.space", READ_INTO)
@mutant("pread.space", PREAD, name="PreadSpaceOverflows")
@mutant("read-fully.space", READ_FULLY, name="FullySpaceOverflows")
def space_overflows(call: ArrayRead) -> int:
    """offset + length overflows 32 bits, and passes for a range inside the buffer."""
    if call.buffer is not None and call.length is not None and call.offset >= 0:
        end = call.offset + call.length
        if call.length > 0 > _signed(end):
            call.length = max(0, min(call.length, len(call.buffer) - call.offset))
    return call.proceed()


@mutant("read-into.len-neg", READ_INTO)
@mutant("pread.len-neg", PREAD, name="PreadLeastLength")
def least_length(call: ArrayRead) -> int:
    """The length is made positive by its absolute value, which 32 bits can't hold of the least."""
    if call.length == -(1 << 31):
        call.length = 0
    return call.proceed()


@mutant("bytebuffer-pread.eof", PREAD_BUFFER)
@mutant("bytebuffer-read-fully.eof", READ_FULLY_BUFFER, name="FullBufferWithInt")
def pread_buffer_with_int(call: BufferRead) -> int:
    """The position is cast to 32 bits: one of 4 GiB is the beginning."""
    call.position = call.position if call.position < 0 else _signed(call.position)
    return call.proceed()


@mutant("read-vectored.eof-early", READ_VECTORED)
def range_overflows(call: VectoredRead) -> None:
    """The end of a range overflows 64 bits, and passes for one before the end of the file."""
    for item in call.ranges or ():
        if item is not None and item.offset >= 0 > _signed(item.offset + item.length, 64):
            item.offset = 0
    call.proceed()


@mutant("read-vectored.negative-offset", READ_VECTORED)
def range_with_int(call: VectoredRead) -> None:
    """The offset of a range is cast to 32 bits: -4 GiB is the beginning."""
    for item in call.ranges or ():
        if item is not None:
            item.offset = _signed(item.offset)
    call.proceed()


@mutant("read-into.data", READ_INTO, name="ShortIndex")
def short_index(call: ArrayRead) -> int:
    """A read at a position over 32 KiB uses a signed number of 16 bits, from the end back."""
    position = call.stream._pos
    count = call.proceed()
    if count > 0 and position > 1 << 15:
        start = _signed(position, 16) % call.stream._size
        data = call.stream.data[start : start + count]
        call.buffer[call.offset : call.offset + len(data)] = data
    return count
