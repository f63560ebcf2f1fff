"""Mutants that go wrong once their file was changed under them."""

from __future__ import annotations

from fscontract.contract.errors import NullPointerException
from fscontract.contract.ports import Buffer
from fscontract.fakes.mutants.registry import LiveStream, mutant


@mutant("cons.either")
class ThirdVersion(LiveStream):
    """Once the file was overwritten, reads mix old and new bytes into others."""

    def _read_at(self, position: int, view: memoryview) -> int:
        return self._mixed(super()._read_at(position, view), view)

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        return self._mixed(count, memoryview(buffer)[offset:]) if count > 0 else count

    def _mixed(self, count: int, view: memoryview) -> int:
        now = self.look()
        if now is not None and len(now) == self._size and now != self._data:
            view[:count] = bytes(2 for _ in range(count))
        return count


@mutant("cons.either")
class ZeroesAfterTruncation(LiveStream):
    """Once the file was truncated, reads behind its new end give zeros, as a mapped file may."""

    def read_byte(self) -> int:
        position = self._pos
        value = super().read_byte()
        return 0 if value >= 0 and self._is_cut(position) else value

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        position = self._pos
        count = super().read_into(buffer, offset, length)
        if count > 0 and self._is_cut(position):
            buffer[offset : offset + count] = bytes(count)
        return count

    def _is_cut(self, position: int) -> bool:
        now = self.look()
        return now is not None and position >= len(now)


@mutant("cons.errors")
class StumblesAfterDelete(LiveStream):
    """Once the file was deleted, stream reads raise NullPointerException."""

    def read_byte(self) -> int:
        self._stat()
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._stat()
        return super().read_into(buffer, offset, length)

    def _stat(self) -> None:
        if not self._closed and self.look() is None:
            raise NullPointerException("there is no status of the file")


@mutant("cons.length")
class EndsWhenChanged(LiveStream):
    """Once the file was changed, stream reads give -1 as if the data had ended."""

    def read_byte(self) -> int:
        return -1 if self.is_changed and not self._closed else super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if self.is_changed and not self._closed and length:
            return -1
        return super().read_into(buffer, offset, length)
