"""Mutants of reads into a ByteBuffer, at the stream's position and at a given one."""

from __future__ import annotations

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import ByteBuffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import NoByteBuffers
from fscontract.implementations.memory import MemoryInputStream


def _reverse(buffer: ByteBuffer, start: int, count: int) -> None:
    if count > 1:
        buffer.view[start : start + count] = bytes(buffer.view[start : start + count])[::-1]


def _clear_before(buffer: ByteBuffer, start: int) -> None:
    buffer.view[:start] = bytes(start)


@mutant("bytebuffer.count")
class BufferCountsRemaining(MemoryInputStream):
    """A read that met the end returns what remained in the buffer, not what it delivered."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        remaining = buffer.remaining
        count = super().read_buffer(buffer)
        return remaining if count > 0 else count


@mutant("bytebuffer.data")
class BufferReverses(MemoryInputStream):
    """The bytes are put into the buffer in reverse order."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().read_buffer(buffer)
        _reverse(buffer, start, count)
        return count


@mutant("bytebuffer.rest-untouched")
class BufferClearsFront(MemoryInputStream):
    """Bytes before the buffer's position are zeroed."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().read_buffer(buffer)
        if count > 0:
            _clear_before(buffer, start)
        return count


@mutant("bytebuffer.position")
class BufferKeepsPosition(MemoryInputStream):
    """The buffer's position stays where it was."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().read_buffer(buffer)
        buffer.position = start
        return count


@mutant("bytebuffer.limit")
class BufferMovesLimit(MemoryInputStream):
    """The buffer's limit is set to the end of what was read."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        count = super().read_buffer(buffer)
        if count > 0:
            buffer.limit = buffer.position
        return count


@mutant("bytebuffer.zero")
class BufferNeedsRoom(MemoryInputStream):
    """A buffer with nothing remaining raises IllegalArgumentException."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        room = buffer is None or buffer.remaining
        count = super().read_buffer(buffer)
        if not room:
            raise IllegalArgumentException("there is no room in the buffer")
        return count


@mutant("bytebuffer.eof")
class BufferNothingAtEnd(MemoryInputStream):
    """At the end a read gives 0."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        return max(super().read_buffer(buffer), 0)


@mutant("bytebuffer.advance")
class BufferStays(MemoryInputStream):
    """The stream's position does not move."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        here = self._pos
        count = super().read_buffer(buffer)
        self._pos = here
        return count


@mutant("bytebuffer.closed")
class BufferEndWhenClosed(MemoryInputStream):
    """A closed stream gives -1, as if the data had ended."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        return -1 if self._closed else super().read_buffer(buffer)


@mutant("bytebuffer.unsupported")
class BufferRefusedAsIO(NoByteBuffers):
    """Reads into a ByteBuffer, not supported, raise an IOException of no particular kind."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        raise PathIOException(self.path, "not possible")


@mutant("bytebuffer-pread.count")
class PreadBufferCountsRemaining(MemoryInputStream):
    """A read that met the end returns what remained in the buffer, not what it delivered."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        remaining = buffer.remaining
        count = super().pread_buffer(position, buffer)
        return remaining if count > 0 else count


@mutant("bytebuffer-pread.data")
class PreadBufferReverses(MemoryInputStream):
    """The bytes are put into the buffer in reverse order."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().pread_buffer(position, buffer)
        _reverse(buffer, start, count)
        return count


@mutant("bytebuffer-pread.rest-untouched")
class PreadBufferClearsFront(MemoryInputStream):
    """Bytes before the buffer's position are zeroed."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().pread_buffer(position, buffer)
        if count > 0:
            _clear_before(buffer, start)
        return count


@mutant("bytebuffer-pread.position")
class PreadBufferKeepsPosition(MemoryInputStream):
    """The buffer's position stays where it was."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().pread_buffer(position, buffer)
        buffer.position = start
        return count


@mutant("bytebuffer-pread.limit")
class PreadBufferMovesLimit(MemoryInputStream):
    """The buffer's limit is set to the end of what was read."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        count = super().pread_buffer(position, buffer)
        if count > 0:
            buffer.limit = buffer.position
        return count


@mutant("bytebuffer-pread.zero")
class PreadBufferNeedsRoom(MemoryInputStream):
    """A buffer with nothing remaining raises IllegalArgumentException."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        room = buffer is None or buffer.remaining
        count = super().pread_buffer(position, buffer)
        if not room:
            raise IllegalArgumentException("there is no room in the buffer")
        return count


@mutant("bytebuffer-pread.eof")
class PreadBufferNothingAtEnd(MemoryInputStream):
    """At the end a read gives 0."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        return max(super().pread_buffer(position, buffer), 0)


@mutant("bytebuffer-pread.neg-pos")
class PreadBufferFromStart(MemoryInputStream):
    """A negative position is taken as 0."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        return super().pread_buffer(max(position, 0), buffer)


@mutant("bytebuffer-pread.pos-unchanged")
class PreadBufferMoves(MemoryInputStream):
    """The stream is left behind the bytes it delivered."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        count = super().pread_buffer(position, buffer)
        if count > 0:
            self._pos = position + count
        return count


@mutant("bytebuffer-pread.unsupported")
class PreadBufferAnswersEnd(NoByteBuffers):
    """Positioned reads into a ByteBuffer, not supported, give -1."""

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        return -1


@mutant("bytebuffer-read-fully.data")
class FullBufferReverses(MemoryInputStream):
    """The bytes are put into the buffer in reverse order."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        start = buffer.position
        super().read_fully_buffer(position, buffer)
        _reverse(buffer, start, buffer.position - start)


@mutant("bytebuffer-read-fully.data")
class FullBufferHalf(MemoryInputStream):
    """A single short read below is all that is done: half of the buffer is filled."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        start = buffer.position
        super().read_fully_buffer(position, buffer)
        rest = (buffer.position - start) // 2
        buffer.view[buffer.position - rest : buffer.position] = b"\1" * rest


@mutant("bytebuffer-read-fully.rest-untouched")
class FullBufferClearsFront(MemoryInputStream):
    """Bytes before the buffer's position are zeroed."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        start = buffer.position
        super().read_fully_buffer(position, buffer)
        if buffer.position > start:
            _clear_before(buffer, start)


@mutant("bytebuffer-read-fully.position")
class FullBufferKeepsPosition(MemoryInputStream):
    """The buffer's position stays where it was."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        start = buffer.position
        super().read_fully_buffer(position, buffer)
        buffer.position = start


@mutant("bytebuffer-read-fully.limit")
class FullBufferMovesLimit(MemoryInputStream):
    """The buffer's limit is set to its capacity."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        room = buffer.remaining
        super().read_fully_buffer(position, buffer)
        if room:
            buffer.limit = buffer.capacity


@mutant("bytebuffer-read-fully.zero")
class FullBufferNeedsRoom(MemoryInputStream):
    """A buffer with nothing remaining raises IllegalArgumentException."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        room = buffer.remaining
        super().read_fully_buffer(position, buffer)
        if not room:
            raise IllegalArgumentException("there is no room in the buffer")


@mutant("bytebuffer-read-fully.eof")
class FullBufferOverruns(MemoryInputStream):
    """Too few bytes raise an error that is no IOException."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        try:
            super().read_fully_buffer(position, buffer)
        except EOFError:
            if position < 0:
                raise
            raise NullPointerException("there is no block here") from None


@mutant("bytebuffer-read-fully.neg-pos")
class FullBufferFromStart(MemoryInputStream):
    """A negative position is taken as 0."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        super().read_fully_buffer(max(position, 0), buffer)


@mutant("bytebuffer-read-fully.pos-unchanged")
class FullBufferMoves(MemoryInputStream):
    """The stream is left behind the bytes it delivered."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        room = buffer.remaining
        super().read_fully_buffer(position, buffer)
        if room:
            self._pos = position + room


@mutant("bytebuffer-read-fully.unsupported")
class FullBufferPretends(NoByteBuffers):
    """readFully() into a ByteBuffer, not supported, returns without having read."""

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        pass
