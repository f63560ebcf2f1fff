"""Mutants that methods of Hadoop's own contract tests reject, one for each such method.

`docs/reference/coverage.md` lists the methods and the clauses.
"""

from __future__ import annotations

from fscontract.contract.api.errors import (
    EOFException,
    IndexOutOfBoundsException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.memory import MemoryInputStream

# Seek ----------------------------------------------------------------------------------------


@mutant("read-byte.eof", MemoryInputStream.read_byte)
def empty_needs_no_seek(self: MemoryInputStream) -> int:
    """In an empty file read() raises EOFException."""
    if not self.data and not self._closed:
        raise EOFException("empty")
    return right(self).read_byte()


@mutant("read-into.eof", MemoryInputStream.read_into)
def empty_block_is_zero(
    self: MemoryInputStream, buffer: Buffer, offset: int = 0, length: int | None = None
) -> int:
    """A multi-byte read of an empty file returns 0 instead of -1."""
    count = right(self).read_into(buffer, offset, length)
    return 0 if not self.data else count


@mutant("seek.negative")
class NegativeSeekFailsLater(MemoryInputStream):
    """A negative seek is accepted; the next read fails."""

    _negative = False

    def seek(self, position: int) -> None:
        self._negative = not self._closed and position < 0
        if not self._negative:
            super().seek(position)

    def read_byte(self) -> int:
        if self._negative and not self._closed:
            raise EOFException("negative position")
        return super().read_byte()


@mutant("seek.past-eof", MemoryInputStream.seek)
def past_end_is_illegal(self: MemoryInputStream, position: int) -> None:
    """A seek past the end raises IndexOutOfBoundsException."""
    if not self._closed and position > self._size:
        raise IndexOutOfBoundsException(str(position))
    right(self).seek(position)


@mutant("seek.pos")
class FailedSeekSticks(MemoryInputStream):
    """After a refused seek past the end the next seek goes nowhere."""

    _stuck = False

    def seek(self, position: int) -> None:
        if self._stuck and not self._closed and 0 <= position <= self._size:
            self._stuck = False
            return
        try:
            super().seek(position)
        except EOFException:
            self._stuck = position > 0
            raise


@mutant("read-fully.data", MemoryInputStream.read_fully)
def no_empty_range_of_empty_file(
    self: MemoryInputStream,
    position: int,
    buffer: Buffer,
    offset: int = 0,
    length: int | None = None,
) -> None:
    """read_fully() of no bytes fails in an empty file."""
    if not self.data and length == 0 and position == 0 and not self._closed:
        raise EOFException("empty")
    right(self).read_fully(position, buffer, offset, length)


@mutant("read-fully.space", MemoryInputStream.read_fully)
def short_buffer_is_filled(
    self: MemoryInputStream,
    position: int,
    buffer: Buffer,
    offset: int = 0,
    length: int | None = None,
) -> None:
    """read_fully() at the end of the file does not look whether the buffer has room."""
    full = buffer is not None and length is not None and length > len(buffer) - offset
    if full and offset >= 0 and position >= self._size and not self._closed:
        return
    right(self).read_fully(position, buffer, offset, length)


@mutant("pread.pos-unchanged", MemoryInputStream.read_fully)
def fully_moves(
    self: MemoryInputStream,
    position: int,
    buffer: Buffer,
    offset: int = 0,
    length: int | None = None,
) -> None:
    """read_fully() of a whole file moves the stream to the end."""
    right(self).read_fully(position, buffer, offset, length)
    if position == 0 and length == self._size:
        self._pos = self._size


@mutant("pread.eof", MemoryInputStream.pread)
def far_past_end_is_zero(
    self: MemoryInputStream,
    position: int,
    buffer: Buffer,
    offset: int = 0,
    length: int | None = None,
) -> int:
    """pread() more than ten bytes past the end returns 0 instead of -1."""
    count = right(self).pread(position, buffer, offset, length)
    return 0 if count == -1 and position > self._size + 10 else count


@mutant("available.closed", MemoryInputStream.available)
def available_fails_an_assertion(self: MemoryInputStream) -> int:
    """available() on a closed stream fails an assertion."""
    assert not self._closed
    return right(self).available()


# Open ----------------------------------------------------------------------------------------


@mutant("open.independent")
class SecondCloseClosesAll(MemoryInputStream):
    """The second close() of one stream gives back the buffer that another stream uses by then."""

    _users: dict[str, list[MemoryInputStream]] = {}  # noqa: RUF012

    def __init__(self, data: bytes, path: str = "/memory", declared: int | None = None) -> None:
        super().__init__(data, path, declared)
        self._users.setdefault(path, []).append(self)

    def close(self) -> None:
        again = self._closed
        super().close()
        users = self._users.get(self.path, [])
        if again and users:
            for other in users:
                other._closed = True
            users.clear()
        elif self in users:
            users.remove(self)


@mutant("read-byte.eof")
class SecondEndRaises(MemoryInputStream):
    """The second read() at the end raises an IOException."""

    _ended = False

    def read_byte(self) -> int:
        if self._ended and not self._closed and self._pos >= self._stop:
            raise PathIOException(self.path, "the response was read already")
        value = super().read_byte()
        self._ended = value == -1
        return value


@mutant("input-stream.same-data")
class BlocksAfterBytes(MemoryInputStream):
    """After read() has returned -1, a multi-byte read returns 0."""

    _ended = False

    def read_byte(self) -> int:
        value = super().read_byte()
        self._ended = value == -1
        return value

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        return 0 if self._ended and count == -1 else count


@mutant("read-into.null", MemoryInputStream.read_into)
def null_is_skipped(
    self: MemoryInputStream, buffer: Buffer | None, offset: int = 0, length: int | None = None
) -> int:
    """A multi-byte read without a buffer skips the bytes, and returns their number."""
    if buffer is None and length is not None and not self._closed:
        self._pos = min(self._stop, self._pos + max(0, length))
        return length
    return right(self).read_into(buffer, offset, length)  # type: ignore[arg-type]


@mutant("input-stream.same-data")
class LosesByteBeforeBlock(MemoryInputStream):
    """read() after a multi-byte read returns the byte before."""

    _blocks = False

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        self._blocks = count > 0
        return count

    def seek(self, position: int) -> None:
        self._blocks = False
        super().seek(position)

    def read_byte(self) -> int:
        value = super().read_byte()
        if self._blocks and value >= 0:
            value = self.data[self._pos - 2]
        self._blocks = False
        return value


# Unbuffer ------------------------------------------------------------------------------------


@mutant("unbuffer.pos", MemoryInputStream.unbuffer)
def unbuffer_goes_home(self: MemoryInputStream) -> None:
    """unbuffer() moves the stream to the start."""
    right(self).unbuffer()
    self._pos = 0


@mutant("unbuffer.reacquire")
class NothingToUnbuffer(MemoryInputStream):
    """After an unbuffer() before the first read, reads raise NullPointerException."""

    _unread, _broken = True, False

    def unbuffer(self) -> None:
        super().unbuffer()
        self._broken = self._unread

    def read_byte(self) -> int:
        self._unread = False
        if self._broken and not self._closed:
            raise NullPointerException("no connection")
        return super().read_byte()


@mutant("unbuffer.reacquire")
class UnbuffersOnce(MemoryInputStream):
    """A second unbuffer() in sequence closes the connection for good."""

    _released = 0

    def unbuffer(self) -> None:
        super().unbuffer()
        self._released += 1

    def read_byte(self) -> int:
        if self._released > 1 and not self._closed:
            raise PathIOException(self.path, "no connection")
        self._released = 0
        return super().read_byte()


@mutant("unbuffer.closed", MemoryInputStream.unbuffer)
def unbuffer_reopens(self: MemoryInputStream) -> None:
    """unbuffer() on a closed stream raises NullPointerException, as there is no connection."""
    if self._closed:
        raise NullPointerException("no connection")
    right(self).unbuffer()


@mutant("unbuffer.pos", MemoryInputStream.unbuffer)
def unbuffer_at_end_fails(self: MemoryInputStream) -> None:
    """unbuffer() at the end of the file moves back to the last byte."""
    right(self).unbuffer()
    if not self._closed and self._pos and self._pos >= self._stop:
        self._pos = self._stop - 1
