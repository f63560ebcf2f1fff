"""Mutants of skip and available."""

from __future__ import annotations

from fscontract.contract.errors import NullPointerException
from fscontract.fakes.mutants.registry import mutant
from fscontract.implementations.memory import MemoryInputStream


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
