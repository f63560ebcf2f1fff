"""Mutants of reads into a ByteBuffer, at the stream's position and at a given one."""

from __future__ import annotations

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import ByteBuffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.stream.calls import (
    PREAD_BUFFER,
    READ_BUFFER,
    READ_FULLY_BUFFER,
    BufferRead,
)
from fscontract.fakes.mutants.stream.variants import NoByteBuffers


@mutant("bytebuffer.count", READ_BUFFER)
@mutant("bytebuffer-pread.count", PREAD_BUFFER, name="PreadBufferCountsRemaining")
def buffer_counts_remaining(call: BufferRead) -> int:
    """A read at the end returns the remaining space of the buffer, not the delivered bytes."""
    remaining = call.buffer.remaining
    count = call.proceed()
    return remaining if count > 0 else count


@mutant("bytebuffer.data", READ_BUFFER)
@mutant("bytebuffer-pread.data", PREAD_BUFFER, name="PreadBufferReverses")
@mutant("bytebuffer-read-fully.data", READ_FULLY_BUFFER, name="FullBufferReverses")
def buffer_reverses(call: BufferRead) -> int:
    """The bytes are put into the buffer in reverse order."""
    start = call.buffer.position
    count = call.proceed()
    if count > 1:
        view = call.buffer.view
        view[start : start + count] = bytes(view[start : start + count])[::-1]
    return count


@mutant("bytebuffer.rest-untouched", READ_BUFFER)
@mutant("bytebuffer-pread.rest-untouched", PREAD_BUFFER, name="PreadBufferClearsFront")
@mutant("bytebuffer-read-fully.rest-untouched", READ_FULLY_BUFFER, name="FullBufferClearsFront")
def buffer_clears_front(call: BufferRead) -> int:
    """Bytes before the buffer's position are zeroed."""
    start = call.buffer.position
    count = call.proceed()
    if count > 0:
        call.buffer.view[:start] = bytes(start)
    return count


@mutant("bytebuffer.rest-untouched", READ_BUFFER)
@mutant("bytebuffer-pread.rest-untouched", PREAD_BUFFER, name="PreadBufferClearsAtEnd")
def buffer_clears_at_end(call: BufferRead) -> int:
    """A read at the end zeroes the buffer."""
    count = call.proceed()
    if count < 0:
        call.buffer.view[:] = bytes(len(call.buffer.view))
    return count


@mutant("bytebuffer.position", READ_BUFFER)
@mutant("bytebuffer-pread.position", PREAD_BUFFER, name="PreadBufferKeepsPosition")
@mutant("bytebuffer-read-fully.position", READ_FULLY_BUFFER, name="FullBufferKeepsPosition")
def buffer_keeps_position(call: BufferRead) -> int:
    """The buffer's position stays where it was."""
    start = call.buffer.position
    count = call.proceed()
    call.buffer.position = start
    return count


@mutant("bytebuffer.limit", READ_BUFFER)
@mutant("bytebuffer-pread.limit", PREAD_BUFFER, name="PreadBufferMovesLimit")
def buffer_moves_limit(call: BufferRead) -> int:
    """The buffer's limit is set to the end of what was read."""
    count = call.proceed()
    if count > 0:
        call.buffer.limit = call.buffer.position
    return count


@mutant("bytebuffer-read-fully.limit", READ_FULLY_BUFFER)
def full_buffer_moves_limit(call: BufferRead) -> int:
    """The buffer's limit is set to its capacity."""
    count = call.proceed()
    if count:
        call.buffer.limit = call.buffer.capacity
    return count


@mutant("bytebuffer.zero", READ_BUFFER)
@mutant("bytebuffer-pread.zero", PREAD_BUFFER, name="PreadBufferNeedsRoom")
@mutant("bytebuffer-read-fully.zero", READ_FULLY_BUFFER, name="FullBufferNeedsRoom")
def buffer_needs_room(call: BufferRead) -> int:
    """A buffer with nothing remaining raises IllegalArgumentException."""
    room = call.buffer is None or call.buffer.remaining
    count = call.proceed()
    if not room:
        raise IllegalArgumentException("there is no room in the buffer")
    return count


@mutant("bytebuffer.eof", READ_BUFFER)
@mutant("bytebuffer-pread.eof", PREAD_BUFFER, name="PreadBufferNothingAtEnd")
def buffer_nothing_at_end(call: BufferRead) -> int:
    """At the end a read returns 0."""
    return max(call.proceed(), 0)


@mutant("bytebuffer.advance", READ_BUFFER)
def buffer_stays(call: BufferRead) -> int:
    """The stream's position does not move."""
    start = call.stream._pos
    count = call.proceed()
    call.stream._pos = start
    return count


@mutant("bytebuffer.closed", READ_BUFFER)
def buffer_end_when_closed(call: BufferRead) -> int:
    """A closed stream returns -1, as if the data had ended."""
    return -1 if call.stream._closed else call.proceed()


@mutant("bytebuffer.unsupported", NoByteBuffers.read_buffer, name="BufferRefusedAsIO")
def buffer_refused_as_io(self: NoByteBuffers, buffer: ByteBuffer) -> int:
    """Reads into a ByteBuffer, not supported, raise a plain IOException."""
    raise PathIOException(self.path, "not possible")


@mutant("bytebuffer-pread.neg-pos", PREAD_BUFFER)
@mutant("bytebuffer-read-fully.neg-pos", READ_FULLY_BUFFER, name="FullBufferFromStart")
def pread_buffer_from_start(call: BufferRead) -> int:
    """A negative position is treated as 0."""
    call.position = max(call.position, 0)
    return call.proceed()


@mutant("bytebuffer-pread.pos-unchanged", PREAD_BUFFER)
@mutant("bytebuffer-read-fully.pos-unchanged", READ_FULLY_BUFFER, name="FullBufferMoves")
def pread_buffer_moves(call: BufferRead) -> int:
    """The stream moves to the end of the delivered bytes."""
    count = call.proceed()
    if count > 0:
        call.stream._pos = call.position + count
    return count


@mutant("bytebuffer-pread.unsupported", NoByteBuffers.pread_buffer)
def pread_buffer_answers_end(self: NoByteBuffers, position: int, buffer: ByteBuffer) -> int:
    """Positioned reads into a ByteBuffer, not supported, return -1."""
    return -1


@mutant("bytebuffer-read-fully.data", READ_FULLY_BUFFER)
def full_buffer_half(call: BufferRead) -> int:
    """Only one short read of the underlying stream is made: half of the buffer is filled."""
    count = call.proceed()
    end, rest = call.buffer.position, count // 2
    call.buffer.view[end - rest : end] = b"\1" * rest
    return count


@mutant("bytebuffer-read-fully.eof", READ_FULLY_BUFFER)
def full_buffer_overruns(call: BufferRead) -> int:
    """Too few bytes raise an error that is not an IOException."""
    try:
        return call.proceed()
    except EOFError:
        if call.position < 0:
            raise
        raise NullPointerException("there is no block here") from None


@mutant("bytebuffer-read-fully.unsupported", NoByteBuffers.read_fully_buffer)
def full_buffer_pretends(self: NoByteBuffers, position: int, buffer: ByteBuffer) -> None:
    """readFully() into a ByteBuffer, not supported, returns without reading."""
