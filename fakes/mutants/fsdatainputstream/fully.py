"""Mutants of read_fully, in both its forms."""

from __future__ import annotations

from fscontract.contract.errors import NullPointerException, PathIOException
from fscontract.contract.ports import Buffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.implementations.memory import MemoryInputStream


@mutant("full.neg-pos")
class FullyFromEnd(MemoryInputStream):
    """A negative position counts from the end of the file."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if position < 0:
            position = max(position + self._size, 0)
        super().read_fully(position, buffer, offset, length)


@mutant("full.len-neg")
class FullyNegativeIsNothing(MemoryInputStream):
    """A negative length is taken as 0."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        length = length if length is None else max(length, 0)
        super().read_fully(position, buffer, offset, length)


@mutant("full.off-neg")
class FullyOffsetFromEnd(MemoryInputStream):
    """A negative offset counts from the buffer's end."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if buffer is not None and offset < 0:
            offset += len(buffer)
        super().read_fully(position, buffer, offset, length)


@mutant("full.space")
class FullyCut(MemoryInputStream):
    """A length that the buffer has no room for is cut to fit."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if buffer is not None and length is not None and 0 <= offset <= len(buffer):
            length = min(length, len(buffer) - offset)
        super().read_fully(position, buffer, offset, length)


@mutant("full.null")
class FullyNullIsIO(MemoryInputStream):
    """A missing buffer is reported as an IOException."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if buffer is None:
            raise PathIOException(self.path, "the read failed")
        super().read_fully(position, buffer, offset, length)


@mutant("full.eof")
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


@mutant("full.eof")
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


@mutant("full.exact")
class FullyOnce(MemoryInputStream):
    """A single short read below is all that is done: half of the range is filled."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length is not None and length > 1:
            buffer[offset + length // 2 : offset + length] = b"\1" * (length - length // 2)


@mutant("full.data")
class FullySwaps(MemoryInputStream):
    """The two halves of a range are put into each other's places."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length is not None and length > 1:
            data = bytes(buffer[offset : offset + length])
            buffer[offset : offset + length] = data[length // 2 :] + data[: length // 2]


@mutant("full.rest-untouched")
class FullyClearsRest(MemoryInputStream):
    """Bytes behind the range are zeroed."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length:
            rest = len(buffer) - offset - length
            buffer[offset + length :] = bytes(rest)


@mutant("full.closed")
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


@mutant("full.closed")
class FullyNullWhenClosed(MemoryInputStream):
    """A closed stream raises NullPointerException."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        if self._closed:
            raise NullPointerException("there is no stream to read")
        super().read_fully(position, buffer, offset, length)


@mutant("full.whole")
class WholeLacksLast(MemoryInputStream):
    """The form without a length leaves the buffer's last byte as it was."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        super().read_fully(position, buffer, offset, length)
        if length is None and len(buffer) > 1:
            buffer[-1:] = b"\1"
