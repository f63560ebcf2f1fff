"""Mutants of positioned reads and readFully."""

from __future__ import annotations

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import NoPositionedReads
from fscontract.implementations.memory import MemoryInputStream


@mutant("read-fully.neg-pos")
class FullyFromEnd(MemoryInputStream):
    """A negative position counts from the end of the file."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if position < 0:
            position = max(position + self._size, 0)
        super().read_fully(position, buffer, offset, length)


@mutant("read-fully.len-neg")
class FullyNegativeIsNothing(MemoryInputStream):
    """A negative length is taken as 0."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        length = length if length is None else max(length, 0)
        super().read_fully(position, buffer, offset, length)


@mutant("read-fully.off-neg")
class FullyOffsetFromEnd(MemoryInputStream):
    """A negative offset counts from the buffer's end."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if buffer is not None and offset < 0:
            offset += len(buffer)
        super().read_fully(position, buffer, offset, length)


@mutant("read-fully.space")
class FullyCut(MemoryInputStream):
    """A length that the buffer has no room for is cut to fit."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if buffer is not None and length is not None and 0 <= offset <= len(buffer):
            length = min(length, len(buffer) - offset)
        super().read_fully(position, buffer, offset, length)


@mutant("read-fully.null")
class FullyNullIsIO(MemoryInputStream):
    """A missing buffer is reported as an IOException."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if buffer is None:
            raise PathIOException(self.path, "the read failed")
        super().read_fully(position, buffer, offset, length)


@mutant("read-fully.eof")
class FullyStopsAtEnd(MemoryInputStream):
    """A range that goes beyond the end is filled as far as there are bytes, without an error."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        try:
            super().read_fully(position, buffer, offset, length)
        except EOFError:
            if position < 0:
                raise
            data = self._data[position : position + len(buffer) - offset][:length]
            buffer[offset : offset + len(data)] = data


@mutant("read-fully.eof")
class FullyOverruns(MemoryInputStream):
    """A range that goes beyond the end raises an error that is no IOException."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        try:
            super().read_fully(position, buffer, offset, length)
        except EOFError:
            if position < 0:
                raise
            raise NullPointerException("there is no block here") from None


@mutant("read-fully.exact")
class FullyOnce(MemoryInputStream):
    """A single short read below is all that is done: half of the range is filled."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length is not None and length > 1:
            buffer[offset + length // 2 : offset + length] = b"\1" * (length - length // 2)


@mutant("read-fully.data")
class FullySwaps(MemoryInputStream):
    """The two halves of a range are put into each other's places."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length is not None and length > 1:
            data = bytes(buffer[offset : offset + length])
            buffer[offset : offset + length] = data[length // 2 :] + data[: length // 2]


@mutant("read-fully.rest-untouched")
class FullyClearsRest(MemoryInputStream):
    """Bytes behind the range are zeroed."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length:
            rest = len(buffer) - offset - length
            buffer[offset + length :] = bytes(rest)


@mutant("read-fully.closed")
class FullyWhenClosed(MemoryInputStream):
    """A closed stream still delivers data."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        closed, self._closed = self._closed, False
        try:
            super().read_fully(position, buffer, offset, length)
        finally:
            self._closed = closed


@mutant("read-fully.closed")
class FullyNullWhenClosed(MemoryInputStream):
    """A closed stream raises NullPointerException."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if self._closed:
            raise NullPointerException("there is no stream to read")
        super().read_fully(position, buffer, offset, length)


@mutant("read-fully.whole")
class WholeLacksLast(MemoryInputStream):
    """The form without a length leaves the buffer's last byte as it was."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length is None and len(buffer) > 1:
            buffer[-1:] = b"\1"


@mutant("pread.needs-seek")
class ReadsFromHere(NoPositionedReads):
    """A stream without positioned reads answers them from the position it is at."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        return self.read_into(buffer, offset, length)


@mutant("pread.pos-unchanged")
class PreadMoves(MemoryInputStream):
    """pread() leaves the stream behind the bytes it delivered."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count > 0:
            self._pos = position + count
        return count


@mutant("pread.pos-unchanged")
class FailureMoves(MemoryInputStream):
    """read_fully() that meets the end leaves the stream there."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        try:
            super().read_fully(position, buffer, offset, length)
        except EOFError:
            if position >= 0:
                self._pos = self._size
            raise


@mutant("pread.neg-pos")
class PreadFromEnd(MemoryInputStream):
    """A negative position counts from the end of the file."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if position < 0:
            position = max(position + self._size, 0)
        return super().pread(position, buffer, offset, length)


@mutant("pread.space")
class PreadCut(MemoryInputStream):
    """A length that the buffer has no room for is cut to fit."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if buffer is not None and length is not None and 0 <= offset <= len(buffer):
            length = min(length, len(buffer) - offset)
        return super().pread(position, buffer, offset, length)


@mutant("pread.len-neg")
class PreadNegativeIsNothing(MemoryInputStream):
    """A negative length is taken as 0."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        length = length if length is None else max(length, 0)
        return super().pread(position, buffer, offset, length)


@mutant("pread.off-neg")
class PreadOffsetFromEnd(MemoryInputStream):
    """A negative offset counts from the buffer's end."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if buffer is not None and offset < 0:
            offset += len(buffer)
        return super().pread(position, buffer, offset, length)


@mutant("pread.null")
class PreadNull(MemoryInputStream):
    """A missing buffer raises NullPointerException, as it may in a stream read only."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if buffer is None and not self._closed:
            raise NullPointerException("no buffer to read into")
        return super().pread(position, buffer, offset, length)


@mutant("pread.count")
class PreadCountsLength(MemoryInputStream):
    """A read that met the end returns the length asked for instead of what it delivered."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        return count if count <= 0 or length is None else length


@mutant("pread.full")
class PreadHalf(MemoryInputStream):
    """A read of several bytes delivers half of them."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if buffer is not None and length is not None and 1 < length <= len(buffer) - offset:
            length //= 2
        return super().pread(position, buffer, offset, length)


@mutant("pread.data")
class PreadReverses(MemoryInputStream):
    """A read puts the bytes into the buffer in reverse order."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count > 1:
            buffer[offset : offset + count] = bytes(buffer[offset : offset + count])[::-1]
        return count


@mutant("pread.data")
class PreadFromStream(MemoryInputStream):
    """A read starts where the stream is, wherever it was told to."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        inside = 0 <= position < self._size and self._pos < self._size
        return super().pread(self._pos if inside else position, buffer, offset, length)


@mutant("pread.rest-untouched")
class PreadClearsRest(MemoryInputStream):
    """A read zeroes the part of the buffer that it did not fill."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count > 0:
            rest = len(buffer) - offset - count
            buffer[offset + count :] = bytes(rest)
        return count


@mutant("pread.eof")
class PreadNothingAtEnd(MemoryInputStream):
    """At the end and beyond a read gives 0."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        return max(super().pread(position, buffer, offset, length), 0)


@mutant("pread.zero")
class PreadNeedsLength(MemoryInputStream):
    """A read of length 0 raises IllegalArgumentException."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if length == 0:
            raise IllegalArgumentException("there is nothing to read")
        return count


@mutant("pread.zero")
class PreadEndForNothing(MemoryInputStream):
    """A read of length 0 gives -1, inside the data too."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        return super().pread(position, buffer, offset, length) or -1


@mutant("pread.closed")
class PreadWhenClosed(MemoryInputStream):
    """A closed stream still delivers data."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        closed, self._closed = self._closed, False
        try:
            return super().pread(position, buffer, offset, length)
        finally:
            self._closed = closed
