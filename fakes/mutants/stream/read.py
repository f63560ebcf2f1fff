"""Mutants of the stream reads: read() and read(buffer, offset, length)."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.api.errors import EOFException
from fscontract.contract.api.filesystem import Allocate, Buffer, FileRange, Release, no_release
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.stream.calls import READ_INTO, ArrayRead
from fscontract.implementations.input_stream import stream_length
from fscontract.implementations.memory import MemoryInputStream


@mutant("read-byte.closed", MemoryInputStream.read_byte)
def end_when_closed(self: MemoryInputStream) -> int:
    """read() on a closed stream returns -1, as if the data had ended."""
    return -1 if self._closed else right(self).read_byte()


@mutant("read-byte.value", MemoryInputStream.read_byte)
def signed_byte(self: MemoryInputStream) -> int:
    """read() treats bytes as signed, so that 255 becomes -1."""
    value = right(self).read_byte()
    return value - 256 if value > 127 else value


@mutant("read-byte.advance", MemoryInputStream.read_byte)
def byte_stays(self: MemoryInputStream) -> int:
    """read() returns the same byte again and again."""
    position = self._pos
    value = right(self).read_byte()
    self._pos = position
    return value


@mutant("read-byte.advance", MemoryInputStream.read_byte)
def byte_two_steps(self: MemoryInputStream) -> int:
    """read() moves the position by two, so that every other byte is lost."""
    value = right(self).read_byte()
    self._pos = min(self._pos + 1, self._size) if value >= 0 else self._pos
    return value


@mutant("read-byte.eof", MemoryInputStream.read_byte)
def zero_at_end(self: MemoryInputStream) -> int:
    """read() returns 0 at the end."""
    return max(right(self).read_byte(), 0)


@mutant("read-byte.eof", MemoryInputStream.read_byte)
def raises_at_end(self: MemoryInputStream) -> int:
    """read() raises EOFException at the end."""
    value = right(self).read_byte()
    if value < 0:
        raise EOFException("the end was reached")
    return value


@mutant("read-byte.eof-state", MemoryInputStream.read_byte)
def moves_at_end(self: MemoryInputStream) -> int:
    """read() at the end moves the position beyond it."""
    value = right(self).read_byte()
    if value < 0:
        self._pos += 1
    return value


@mutant("input-stream.same-data")
class StaleAfterByte(MemoryInputStream):
    """A multi-byte read after read() starts with the byte that read() delivered."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._single_at = -1

    def read_byte(self) -> int:
        value = super().read_byte()
        self._single_at = self._pos if value >= 0 else -1
        return value

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        stale = not self._closed and self._pos == self._single_at and length != 0
        self._pos -= stale
        self._single_at = -1
        try:
            return super().read_into(buffer, offset, length)
        finally:
            self._pos += stale


@mutant("read-into.open", READ_INTO)
def end_of_bytes_when_closed(call: ArrayRead) -> int:
    """A multi-byte read on a closed stream returns -1, as if the data had ended."""
    return -1 if call.stream._closed else call.proceed()


@mutant("read-into.offset", READ_INTO)
def offset_is_cut(call: ArrayRead) -> int:
    """An offset beyond the buffer leaves no room, so nothing is read and 0 returned."""
    if not call.stream._closed and call.buffer is not None and call.offset > len(call.buffer):
        return 0
    return call.proceed()


@mutant("read-into.reject-stays", READ_INTO)
def rejected_moves(call: ArrayRead) -> int:
    """A rejected call has moved the position to the end before the check of its arguments."""
    try:
        return call.proceed()
    except (IndexError, TypeError):
        call.stream._pos = call.stream._size
        raise


@mutant("read-into.zero", READ_INTO)
def end_for_nothing(call: ArrayRead) -> int:
    """At the end a read of length 0 returns -1."""
    count = call.proceed()
    return -1 if call.length == 0 and call.stream._pos >= call.stream._size else count


@mutant("read-into.data", READ_INTO)
def ignores_offset(call: ArrayRead) -> int:
    """A read fills the buffer from its beginning, not from the offset."""
    if call.buffer is not None and call.length is not None:
        is_valid = call.offset >= 0 and 0 <= call.length <= len(call.buffer) - call.offset
        call.offset = 0 if is_valid else call.offset
    return call.proceed()


@mutant("read-into.advance", READ_INTO)
def lags_behind(call: ArrayRead) -> int:
    """A read of several bytes moves the position by one too few."""
    count = call.proceed()
    call.stream._pos -= count > 1
    return count


@mutant("read-into.advance", READ_INTO)
def moves_by_length(call: ArrayRead) -> int:
    """A read moves the position by the requested length instead of the delivered one."""
    count = call.proceed()
    if count > 0 and call.length is not None:
        call.stream._pos += call.length - count
    return count


@mutant("read-into.at-least-one")
class NothingAtFirst(MemoryInputStream):
    """The first read only fills the stream's own buffer and returns 0."""

    _filled = False

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if not self._filled and not self._closed and self._pos < self._size:
            self._filled = stream_length(buffer, offset, length) > 0
            return 0
        return super().read_into(buffer, offset, length)


@mutant("read-byte.value")
class StaysInVectoredRead(MemoryInputStream):
    """read() after a vectored read raises IOException."""

    _vectored = False

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        self._vectored = True

    def read_byte(self) -> int:
        if self._vectored and not self._closed:
            raise OSError("a vectored read has the connection")
        return super().read_byte()


@mutant("read-into.progress", READ_INTO)
def drops_tail(call: ArrayRead) -> int:
    """A read of more than the remaining bytes returns -1 and never delivers them."""
    stream = call.stream
    if stream._closed:
        stream._reject_closed()
    rest = stream._size - stream._pos
    if stream_length(call.buffer, call.offset, call.length) > rest:
        return -1
    return call.proceed()
