"""Mutants of seek, seekToNewSource and skip."""

from __future__ import annotations

from fscontract.contract.api.errors import (
    EOFException,
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.stream.variants import LaxSeek, NoSeek, Replicated
from fscontract.implementations.memory import MemoryInputStream


@mutant("seek.supported", NoSeek.seek)
def pretends_to_seek(self: NoSeek, position: int) -> None:
    """A stream without seek returns from seek() without an error."""


@mutant("seek.open", MemoryInputStream.seek)
def seeks_when_closed(self: MemoryInputStream, position: int) -> None:
    """seek() on a closed stream returns."""
    if not self._closed:
        right(self).seek(position)


@mutant("seek.zero", MemoryInputStream.seek)
def no_zero_in_empty(self: MemoryInputStream, position: int) -> None:
    """In an empty file even seek(0) is beyond the last byte."""
    right(self).seek(position)
    if not self._size:
        raise EOFException("the file is empty")


@mutant("seek.zero", MemoryInputStream.seek)
def no_way_back(self: MemoryInputStream, position: int) -> None:
    """seek(0) fails after a read."""
    if position == 0 < self._pos:
        raise PathIOException(self.path, "can't go back to the beginning")
    right(self).seek(position)


@mutant("seek.negative", MemoryInputStream.seek)
def negative_is_zero(self: MemoryInputStream, position: int) -> None:
    """A negative position is treated as 0."""
    right(self).seek(max(position, 0))


@mutant("seek.negative", MemoryInputStream.seek)
def negative_is_illegal(self: MemoryInputStream, position: int) -> None:
    """A negative position raises IllegalArgumentException."""
    if position < 0 and not self._closed:
        raise IllegalArgumentException(f"position {position}")
    right(self).seek(position)


@mutant("seek.past-eof", MemoryInputStream.seek)
def beyond_is_end(self: MemoryInputStream, position: int) -> None:
    """A position beyond the end is treated as the end."""
    right(self).seek(min(position, self._size))


@mutant("seek.at-len", MemoryInputStream.seek)
def end_is_beyond(self: MemoryInputStream, position: int) -> None:
    """A seek to the length is rejected, unless the file is empty."""
    if position == self._size > 0 and not self._closed:
        raise EOFException(f"seek to {position}")
    right(self).seek(position)


@mutant("seek.lax-eof", LaxSeek.seek)
def rejects_beyond(self: LaxSeek, position: int) -> None:
    """A seek beyond the end is rejected although it is declared as accepted."""
    if position > self._size and not self._closed:
        raise EOFException(f"seek to {position}")
    right(self).seek(position)


@mutant("seek.lax-eof")
class RaisesBeyond(LaxSeek):
    """Reads after a seek beyond the end raise EOFException."""

    def read_byte(self) -> int:
        self._check()
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._check()
        return super().read_into(buffer, offset, length)

    def _check(self) -> None:
        if self._pos > self._size:
            raise EOFException(f"a read at {self._pos}")


@mutant("seek.lax-eof", LaxSeek.seek)
def wraps_around(self: LaxSeek, position: int) -> None:
    """A seek beyond the end goes to the beginning."""
    right(self).seek(position)
    if self._pos > self._size:
        self._pos = 0


@mutant("seek.lax-eof", LaxSeek.seek)
def huge_wraps_around(self: LaxSeek, position: int) -> None:
    """A seek beyond any possible file goes to the beginning."""
    right(self).seek(position if position < 1 << 62 else 0)


@mutant("seek.fail-pos")
class KeepsNegative(MemoryInputStream):
    """A seek to a negative position fails, but get_pos() returns that position."""

    _reported = 0

    def seek(self, position: int) -> None:
        if not self._closed and position < 0:
            self._reported = position
            raise EOFException(f"seek to {position}")
        self._reported = 0
        super().seek(position)

    def get_pos(self) -> int:
        return super().get_pos() if self._reported == 0 else self._reported


@mutant("seek.fail-pos")
class TwoPositions(MemoryInputStream):
    """After a failed seek get_pos() returns the old position, but the stream is at its end."""

    _reported: int | None = None

    def seek(self, position: int) -> None:
        before = self._pos
        self._reported = None
        try:
            super().seek(position)
        except EOFException:
            self._pos, self._reported = self._size, before
            raise

    def get_pos(self) -> int:
        return super().get_pos() if self._reported is None or self._closed else self._reported


@mutant("seek.pos", MemoryInputStream.seek)
def seeks_to_block(self: MemoryInputStream, position: int) -> None:
    """A seek to an odd position inside the file stops at the even one before it."""
    here = self._pos
    right(self).seek(position)
    if position not in (here, self._size):
        self._pos -= position % 2


@mutant("seek.noop", MemoryInputStream.seek)
def noop_rewinds(self: MemoryInputStream, position: int) -> None:
    """A seek to the current position goes to the beginning of the buffer."""
    here = self._pos
    right(self).seek(position)
    if position == here:
        self._pos = 0


@mutant("seek.noop", MemoryInputStream.seek)
def noop_drops_byte(self: MemoryInputStream, position: int) -> None:
    """A seek to the current position drops a buffered byte."""
    here = self._pos
    right(self).seek(position)
    if position == here:
        self._pos = min(here + 1, self._size)


@mutant("new-source.unsupported-raise", MemoryInputStream.seek_to_new_source)
def illegal_new_source(self: MemoryInputStream, position: int) -> bool:
    """seek_to_new_source(), not supported, raises IllegalArgumentException."""
    right(self).seek_to_new_source(position)
    raise IllegalArgumentException("there is no other source")


@mutant("new-source.unsupported-false", MemoryInputStream.seek_to_new_source)
def pretends_new_source(self: MemoryInputStream, position: int) -> bool:
    """seek_to_new_source(), not supported, returns True."""
    return not right(self).seek_to_new_source(position)


@mutant("new-source.none", MemoryInputStream.seek_to_new_source)
def moves_without_source(self: MemoryInputStream, position: int) -> bool:
    """seek_to_new_source() finds no source, but moves the position."""
    is_other = right(self).seek_to_new_source(position)
    self._pos = min(position, self._size)
    return is_other


@mutant("new-source.open", Replicated.seek_to_new_source)
def new_source_when_closed(self: Replicated, position: int) -> bool:
    """seek_to_new_source() answers on a closed stream."""
    return False if self._closed else right(self).seek_to_new_source(position)


@mutant("new-source.moved", Replicated.seek_to_new_source)
def new_source_moves(self: Replicated, position: int) -> bool:
    """After a new source was found, the stream is at its position argument."""
    is_other = right(self).seek_to_new_source(position)
    if is_other:
        self._pos = min(position, self._size)
    return is_other


@mutant("new-source.same-data")
class OtherReplica(Replicated):
    """The second source holds other bytes."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._replicas = [bytes(len(data))]


@mutant("skip.count", MemoryInputStream.skip)
def skips_beyond(self: MemoryInputStream, count: int) -> int:
    """skip() skips the full count, beyond the end too."""
    right(self).skip(0)
    count = max(count, 0)
    self._pos += count
    return count


@mutant("skip.advance", MemoryInputStream.skip)
def skips_less(self: MemoryInputStream, count: int) -> int:
    """skip() moves the position by one less than it returns."""
    skipped = right(self).skip(count)
    self._pos -= skipped > 1
    return skipped


@mutant("skip.advance", MemoryInputStream.skip)
def skips_as_told(self: MemoryInputStream, count: int) -> int:
    """skip() stops at the end, and returns the full count."""
    right(self).skip(count)
    return max(count, 0)


@mutant("skip.advance", MemoryInputStream.skip)
def skips_back_unseen(self: MemoryInputStream, count: int) -> int:
    """A negative count moves the position back, and skip() returns 0."""
    skipped = right(self).skip(count)
    if count < 0:
        self._pos += max(count, -self._pos)
    return skipped


@mutant("skip.negative", MemoryInputStream.skip)
def skips_back(self: MemoryInputStream, count: int) -> int:
    """A negative count moves the position back."""
    skipped = right(self).skip(count)
    if count >= 0:
        return skipped
    back = max(count, -self._pos)
    self._pos += back
    return back


@mutant("skip.zero", MemoryInputStream.skip)
def skips_at_least_one(self: MemoryInputStream, count: int) -> int:
    """skip(0) skips a byte."""
    return right(self).skip(count or 1)


@mutant("skip.progress", MemoryInputStream.skip)
def never_skips(self: MemoryInputStream, count: int) -> int:
    """skip() does nothing and returns 0."""
    return right(self).skip(0)


@mutant("skip.closed", MemoryInputStream.skip)
def skips_when_closed(self: MemoryInputStream, count: int) -> int:
    """skip() on a closed stream returns 0."""
    return 0 if self._closed else right(self).skip(count)


@mutant("available.bounds", MemoryInputStream.available)
def available_in_all(self: MemoryInputStream) -> int:
    """Before the end available() returns the file's length, at any position."""
    return self._size if right(self).available() else 0


@mutant("available.eof", MemoryInputStream.available)
def negative_at_end(self: MemoryInputStream) -> int:
    """available() returns -1 at the end."""
    return right(self).available() or -1


@mutant("available.positive", MemoryInputStream.available)
def nothing_available(self: MemoryInputStream) -> int:
    """available() returns 0, as in the base class of Java."""
    return right(self).available() * 0


@mutant("available.closed", MemoryInputStream.available)
def available_null(self: MemoryInputStream) -> int:
    """available() on a closed stream raises NullPointerException."""
    if self._closed:
        raise NullPointerException("there is no stream to ask")
    return right(self).available()


@mutant("available.stays", MemoryInputStream.available)
def available_reads_ahead(self: MemoryInputStream) -> int:
    """available() reads a byte for its check, and drops it."""
    count = right(self).available()
    self._pos += count > 0
    return count
