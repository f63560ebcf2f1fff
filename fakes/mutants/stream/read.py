"""Mutants of the stream reads: read() and read(buffer, offset, length)."""

from __future__ import annotations

from fscontract.contract.api.errors import EOFException, PathIOException
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.implementations.input_stream import stream_length
from fscontract.implementations.memory import MemoryInputStream


@mutant("read-byte.closed")
class EndWhenClosed(MemoryInputStream):
    """read() on a closed stream gives -1, as if the data had ended."""

    def read_byte(self) -> int:
        return -1 if self._closed else super().read_byte()


@mutant("read-byte.value")
class SignedByte(MemoryInputStream):
    """read() takes bytes as signed, so that 255 becomes -1."""

    def read_byte(self) -> int:
        value = super().read_byte()
        return value - 256 if value > 127 else value


@mutant("read-byte.advance")
class ByteStays(MemoryInputStream):
    """read() gives the same byte for ever."""

    def read_byte(self) -> int:
        position = self._pos
        value = super().read_byte()
        self._pos = position
        return value


@mutant("read-byte.advance")
class ByteTwoSteps(MemoryInputStream):
    """read() moves the position by two, so that every other byte is lost."""

    def read_byte(self) -> int:
        value = super().read_byte()
        self._pos = min(self._pos + 1, self._size) if value >= 0 else self._pos
        return value


@mutant("read-byte.eof")
class ZeroAtEnd(MemoryInputStream):
    """read() gives 0 at the end."""

    def read_byte(self) -> int:
        return max(super().read_byte(), 0)


@mutant("read-byte.eof")
class RaisesAtEnd(MemoryInputStream):
    """read() raises EOFException at the end."""

    def read_byte(self) -> int:
        value = super().read_byte()
        if value < 0:
            raise EOFException("the end was reached")
        return value


@mutant("read-byte.eof-state")
class MovesAtEnd(MemoryInputStream):
    """read() at the end moves the position beyond it."""

    def read_byte(self) -> int:
        value = super().read_byte()
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


@mutant("read-into.open")
class EndOfBytesWhenClosed(MemoryInputStream):
    """A multi-byte read on a closed stream gives -1, as if the data had ended."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        return -1 if self._closed else super().read_into(buffer, offset, length)


@mutant("read-into.null")
class NullIsIO(MemoryInputStream):
    """A missing buffer is reported as an IOException."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if buffer is None:
            raise PathIOException(self.path, "the read failed")
        return super().read_into(buffer, offset, length)


@mutant("read-into.len-neg")
class NegativeIsNothing(MemoryInputStream):
    """A negative length is taken as 0."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        return super().read_into(buffer, offset, length if length is None else max(length, 0))


@mutant("read-into.offset")
class OffsetIsCut(MemoryInputStream):
    """An offset beyond the buffer leaves no room, so nothing is read and 0 returned."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if not self._closed and buffer is not None and offset > len(buffer):
            return 0
        return super().read_into(buffer, offset, length)


@mutant("read-into.offset-neg")
class OffsetFromEnd(MemoryInputStream):
    """A negative offset counts from the buffer's end."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if buffer is not None and offset < 0:
            offset += len(buffer)
        return super().read_into(buffer, offset, length)


@mutant("read-into.space")
class LengthIsCut(MemoryInputStream):
    """A length that the buffer has no room for is cut to fit."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if buffer is not None and length is not None and 0 <= offset <= len(buffer):
            length = min(length, len(buffer) - offset)
        return super().read_into(buffer, offset, length)


@mutant("read-into.reject-stays")
class RejectedMoves(MemoryInputStream):
    """A rejected call has moved the position to the end before its arguments are looked at."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        try:
            return super().read_into(buffer, offset, length)
        except (IndexError, TypeError):
            self._pos = self._size
            raise


@mutant("read-into.zero")
class EndForNothing(MemoryInputStream):
    """At the end a read of length 0 gives -1."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        return -1 if length == 0 and self._pos >= self._size else count


@mutant("read-into.eof")
class NothingAtEnd(MemoryInputStream):
    """At the end a read gives 0."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        return max(super().read_into(buffer, offset, length), 0)


@mutant("read-into.count")
class CountsOneMore(MemoryInputStream):
    """A read that met the end returns the length asked for instead of what it delivered."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        return count if count <= 0 or length is None else length


@mutant("read-into.data")
class Reverses(MemoryInputStream):
    """A read puts the bytes into the buffer in reverse order."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        if count > 1:
            buffer[offset : offset + count] = bytes(buffer[offset : offset + count])[::-1]
        return count


@mutant("read-into.data")
class IgnoresOffset(MemoryInputStream):
    """A read fills the buffer from its beginning, not from the offset."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        room = buffer is not None and length is not None
        valid = room and offset >= 0 and 0 <= (length or 0) <= len(buffer) - offset
        return super().read_into(buffer, 0 if valid else offset, length)


@mutant("read-into.rest-untouched")
class ClearsRest(MemoryInputStream):
    """A read zeroes the part of the buffer that it did not fill."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        if count > 0:
            rest = len(buffer) - offset - count
            buffer[offset + count :] = bytes(rest)
        return count


@mutant("read-into.advance")
class LagsBehind(MemoryInputStream):
    """A read of several bytes moves the position by one less."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        self._pos -= count > 1
        return count


@mutant("read-into.advance")
class MovesByLength(MemoryInputStream):
    """A read moves the position by what was asked for, not by what was delivered."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        if count > 0 and length is not None:
            self._pos += length - count
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


@mutant("read-into.progress")
class DropsTail(MemoryInputStream):
    """A read of more than what is left gives -1 and never delivers the tail."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if self._closed:
            self._reject_closed()
        if stream_length(buffer, offset, length) > self._size - self._pos:
            return -1
        return super().read_into(buffer, offset, length)
