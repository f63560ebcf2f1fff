"""Mutants of reads into a ByteBuffer at the stream's position."""

from __future__ import annotations

from fscontract.contract.bytebuffer import ByteBuffer
from fscontract.contract.errors import (
    IllegalArgumentException,
    PathIOException,
)
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import NoByteBuffers
from fscontract.implementations.memory import MemoryInputStream


def _reverse(buffer: ByteBuffer, start: int, count: int) -> None:
    if count > 1:
        buffer.view[start : start + count] = bytes(buffer.view[start : start + count])[::-1]


def _clear_before(buffer: ByteBuffer, start: int) -> None:
    buffer.view[:start] = bytes(start)


@mutant("bb.count")
class BufferCountsRemaining(MemoryInputStream):
    """A read that met the end returns what remained in the buffer, not what it delivered."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        remaining = buffer.remaining
        count = super().read_buffer(buffer)
        return remaining if count > 0 else count


@mutant("bb.data")
class BufferReverses(MemoryInputStream):
    """The bytes are put into the buffer in reverse order."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().read_buffer(buffer)
        _reverse(buffer, start, count)
        return count


@mutant("bb.rest-untouched")
class BufferClearsFront(MemoryInputStream):
    """Bytes before the buffer's position are zeroed."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().read_buffer(buffer)
        if count > 0:
            _clear_before(buffer, start)
        return count


@mutant("bb.position")
class BufferKeepsPosition(MemoryInputStream):
    """The buffer's position stays where it was."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        start = buffer.position
        count = super().read_buffer(buffer)
        buffer.position = start
        return count


@mutant("bb.limit")
class BufferMovesLimit(MemoryInputStream):
    """The buffer's limit is set to the end of what was read."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        count = super().read_buffer(buffer)
        if count > 0:
            buffer.limit = buffer.position
        return count


@mutant("bb.zero")
class BufferNeedsRoom(MemoryInputStream):
    """A buffer with nothing remaining raises IllegalArgumentException."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        room = buffer is None or buffer.remaining
        count = super().read_buffer(buffer)
        if not room:
            raise IllegalArgumentException("there is no room in the buffer")
        return count


@mutant("bb.eof")
class BufferNothingAtEnd(MemoryInputStream):
    """At the end a read gives 0."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        return max(super().read_buffer(buffer), 0)


@mutant("bb.advance")
class BufferStays(MemoryInputStream):
    """The stream's position does not move."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        here = self._pos
        count = super().read_buffer(buffer)
        self._pos = here
        return count


@mutant("bb.closed")
class BufferEndWhenClosed(MemoryInputStream):
    """A closed stream gives -1, as if the data had ended."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        return -1 if self._closed else super().read_buffer(buffer)


@mutant("bb.unsupported")
class BufferRefusedAsIO(NoByteBuffers):
    """Reads into a ByteBuffer, not supported, raise an IOException of no particular kind."""

    def read_buffer(self, buffer: ByteBuffer) -> int:
        raise PathIOException(self.path, "not possible")
