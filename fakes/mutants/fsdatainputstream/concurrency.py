"""Mutants that go wrong only if several threads use one stream."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from fscontract.contract.errors import PathIOException
from fscontract.contract.ports import Buffer, FileRange
from fscontract.fakes.mutants.registry import mutant
from fscontract.implementations.arguments import positioned_length
from fscontract.implementations.memory import MemoryInputStream


@mutant("model.pread-thread-safe")
class OneConnection(MemoryInputStream):
    """A positioned read raises an IOException while another one uses the connection."""

    _busy = False

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if self._busy:
            raise PathIOException(self.path, "the connection is in use")
        self._busy = True
        try:
            return super().pread(position, buffer, offset, length)
        finally:
            self._busy = False


@mutant("pread.isolation")
class SeekReadSeek(MemoryInputStream):
    """pread() moves the stream's position there and back without a lock."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        here = self._pos
        if 0 <= position <= self._size:
            self._pos = position
        try:
            return super().pread(position, buffer, offset, length)
        finally:
            self._pos = here


@mutant("pread.serializable")
class SharedCursor(MemoryInputStream):
    """The cursor below is shared: stream reads place it while a pread() is about to use it."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._cursor = 0
        self._lock = threading.Lock()

    def read_byte(self) -> int:
        self._cursor = self._pos
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._cursor = self._pos
        return super().read_into(buffer, offset, length)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        with self._lock:
            self._cursor = position
            length = positioned_length(position, buffer, offset, length)
            return super().pread(self._cursor, buffer, offset, length)


@mutant("pread.buffers")
class SharedScratch(MemoryInputStream):
    """Every pread() goes through one buffer of the stream."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._scratch = bytearray()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count > 0:
            self._scratch[:count] = buffer[offset : offset + count]
            buffer[offset : offset + count] = b"\1" * count
            buffer[offset : offset + count] = self._scratch[:count]
        return count


@mutant("pread.concurrent")
class BigLock(MemoryInputStream):
    """One lock is held during every pread()."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._lock = threading.Lock()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        with self._lock:
            return super().pread(position, buffer, offset, length)


@mutant("vread.concurrent")
class VectoredInTheWay(MemoryInputStream):
    """read_fully() and stream reads raise an IOException while a vectored read is under way."""

    _busy = False

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        self._busy = True
        try:
            super().read_vectored(ranges, *how, **named)
        finally:
            self._busy = False

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        self._check()
        super().read_fully(position, buffer, offset, length)

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._check()
        return super().read_into(buffer, offset, length)

    def _check(self) -> None:
        if self._busy:
            raise PathIOException(self.path, "a vectored read is under way")


@mutant("vread.multiple")
class ForgetsFirst(MemoryInputStream):
    """A second vectored read takes the place of the first, whose ranges are then never read."""

    _pending: Sequence[FileRange] = ()

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        self._pending = ranges
        super().read_vectored(ranges, *how, **named)
        for item in ranges:
            if item not in self._pending:
                item.data = None
