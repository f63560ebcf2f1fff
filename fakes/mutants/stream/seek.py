"""Mutants of seek, seekToNewSource and skip."""

from __future__ import annotations

from fscontract.contract.api.errors import (
    EOFException,
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import LaxSeek, NoSeek, Replicated
from fscontract.implementations.memory import MemoryInputStream


@mutant("seek.supported")
class PretendsToSeek(NoSeek):
    """A stream that can't seek returns from seek() as if it had."""

    def seek(self, position: int) -> None:
        pass


@mutant("seek.open")
class SeeksWhenClosed(MemoryInputStream):
    """seek() on a closed stream returns."""

    def seek(self, position: int) -> None:
        if not self._closed:
            super().seek(position)


@mutant("seek.zero")
class NoZeroInEmpty(MemoryInputStream):
    """In an empty file even seek(0) is beyond the last byte."""

    def seek(self, position: int) -> None:
        super().seek(position)
        if not self._size:
            raise EOFException("the file is empty")


@mutant("seek.zero")
class NoWayBack(MemoryInputStream):
    """seek(0) fails once something was read."""

    def seek(self, position: int) -> None:
        if position == 0 < self._pos:
            raise PathIOException(self.path, "can't go back to the beginning")
        super().seek(position)


@mutant("seek.negative")
class NegativeIsZero(MemoryInputStream):
    """A negative position is taken as 0."""

    def seek(self, position: int) -> None:
        super().seek(max(position, 0))


@mutant("seek.negative")
class NegativeIsIllegal(MemoryInputStream):
    """A negative position raises IllegalArgumentException."""

    def seek(self, position: int) -> None:
        if position < 0 and not self._closed:
            raise IllegalArgumentException(f"position {position}")
        super().seek(position)


@mutant("seek.past-eof")
class BeyondIsEnd(MemoryInputStream):
    """A position beyond the end is taken as the end."""

    def seek(self, position: int) -> None:
        super().seek(min(position, self._size))


@mutant("seek.at-len")
class EndIsBeyond(MemoryInputStream):
    """A seek to the length is refused, unless the file is empty."""

    def seek(self, position: int) -> None:
        if position == self._size > 0 and not self._closed:
            raise EOFException(f"seek to {position}")
        super().seek(position)


@mutant("seek.lax-eof")
class RejectsBeyond(LaxSeek):
    """A seek beyond the end is rejected although it is said to be accepted."""

    def seek(self, position: int) -> None:
        if position > self._size and not self._closed:
            raise EOFException(f"seek to {position}")
        super().seek(position)


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


@mutant("seek.lax-eof")
class WrapsAround(LaxSeek):
    """A seek beyond the end leads back to the beginning."""

    def seek(self, position: int) -> None:
        super().seek(position)
        if self._pos > self._size:
            self._pos = 0


@mutant("seek.fail-pos")
class KeepsNegative(MemoryInputStream):
    """A seek to a negative position fails, but get_pos() gives that position."""

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
    """After a failed seek get_pos() gives the old position, but the stream is at its end."""

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


@mutant("seek.pos")
class SeeksToBlock(MemoryInputStream):
    """A seek to an odd position inside the file stops at the even one before it."""

    def seek(self, position: int) -> None:
        here = self._pos
        super().seek(position)
        if position not in (here, self._size):
            self._pos -= position % 2


@mutant("seek.noop")
class NoopRewinds(MemoryInputStream):
    """A seek to the current position goes to the beginning of the buffer."""

    def seek(self, position: int) -> None:
        here = self._pos
        super().seek(position)
        if position == here:
            self._pos = 0


@mutant("seek.noop")
class NoopDropsByte(MemoryInputStream):
    """A seek to the current position drops the byte that was read ahead."""

    def seek(self, position: int) -> None:
        here = self._pos
        super().seek(position)
        if position == here:
            self._pos = min(here + 1, self._size)


@mutant("new-source.unsupported-raise")
class IllegalNewSource(MemoryInputStream):
    """seek_to_new_source(), not supported, raises IllegalArgumentException."""

    def seek_to_new_source(self, position: int) -> bool:
        super().seek_to_new_source(position)
        raise IllegalArgumentException("there is no other source")


@mutant("new-source.unsupported-false")
class PretendsNewSource(MemoryInputStream):
    """seek_to_new_source(), not supported, returns True."""

    def seek_to_new_source(self, position: int) -> bool:
        return not super().seek_to_new_source(position)


@mutant("new-source.none")
class MovesWithoutSource(MemoryInputStream):
    """seek_to_new_source() finds no source and moves the position all the same."""

    def seek_to_new_source(self, position: int) -> bool:
        found = super().seek_to_new_source(position)
        self._pos = min(position, self._size)
        return found


@mutant("new-source.open")
class NewSourceWhenClosed(Replicated):
    """seek_to_new_source() answers on a closed stream."""

    def seek_to_new_source(self, position: int) -> bool:
        return False if self._closed else super().seek_to_new_source(position)


@mutant("new-source.moved")
class NewSourceMoves(Replicated):
    """Once a new source was found, the stream stands at the position asked about."""

    def seek_to_new_source(self, position: int) -> bool:
        found = super().seek_to_new_source(position)
        if found:
            self._pos = min(position, self._size)
        return found


@mutant("new-source.same-data")
class OtherReplica(Replicated):
    """The second source holds other bytes."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._replicas = [bytes(len(data))]


@mutant("skip.count")
class SkipsBeyond(MemoryInputStream):
    """skip() skips as far as it is told, beyond the end too."""

    def skip(self, count: int) -> int:
        super().skip(0)
        count = max(count, 0)
        self._pos += count
        return count


@mutant("skip.advance")
class SkipsLess(MemoryInputStream):
    """skip() moves the position by one less than it returns."""

    def skip(self, count: int) -> int:
        skipped = super().skip(count)
        self._pos -= skipped > 1
        return skipped


@mutant("skip.advance")
class SkipsAsTold(MemoryInputStream):
    """skip() stops at the end, and returns what it was told to skip."""

    def skip(self, count: int) -> int:
        super().skip(count)
        return max(count, 0)


@mutant("skip.negative")
class SkipsBack(MemoryInputStream):
    """A negative count moves the position back."""

    def skip(self, count: int) -> int:
        skipped = super().skip(count)
        if count >= 0:
            return skipped
        back = max(count, -self._pos)
        self._pos += back
        return back


@mutant("skip.zero")
class SkipsAtLeastOne(MemoryInputStream):
    """skip(0) skips a byte."""

    def skip(self, count: int) -> int:
        return super().skip(count or 1)


@mutant("skip.progress")
class NeverSkips(MemoryInputStream):
    """skip() leaves it to the caller to read instead, and returns 0."""

    def skip(self, count: int) -> int:
        return super().skip(0)


@mutant("skip.closed")
class SkipsWhenClosed(MemoryInputStream):
    """skip() on a closed stream returns 0."""

    def skip(self, count: int) -> int:
        return 0 if self._closed else super().skip(count)


@mutant("available.bounds")
class AvailableInAll(MemoryInputStream):
    """Before the end available() gives the file's length, however much was read."""

    def available(self) -> int:
        return self._size if super().available() else 0


@mutant("available.eof")
class NegativeAtEnd(MemoryInputStream):
    """available() gives -1 at the end."""

    def available(self) -> int:
        return super().available() or -1


@mutant("available.positive")
class NothingAvailable(MemoryInputStream):
    """available() gives 0, as the base class of Java has it."""

    def available(self) -> int:
        return super().available() * 0


@mutant("available.closed")
class AvailableNull(MemoryInputStream):
    """available() on a closed stream raises NullPointerException."""

    def available(self) -> int:
        if self._closed:
            raise NullPointerException("there is no stream to ask")
        return super().available()


@mutant("available.stays")
class AvailableReadsAhead(MemoryInputStream):
    """available() reads a byte to find out, and does not put it back."""

    def available(self) -> int:
        left = super().available()
        self._pos += left > 0
        return left
