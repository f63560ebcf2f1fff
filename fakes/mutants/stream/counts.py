"""Mutants that a stream shows only after many calls, or beside many other streams."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    FileRange,
    Release,
    no_release,
)
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.memory import MemoryInputStream


class Counting(MemoryInputStream):
    """A correct stream that counts its calls of one kind."""

    calls = 0


@mutant("close.release", Counting.seek)
def leaks_at_reconnect(self: Counting, position: int) -> None:
    """Each hundredth seek opens a new connection, and leaves the old one open."""
    right(self).seek(position)
    self.calls += 1
    if self.calls % 100 == 0:
        os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


@mutant("close.release", Counting.pread)
def leaks_thread(
    self: Counting, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
) -> int:
    """Each hundredth pread() starts a thread, which stays."""
    count = right(self).pread(position, buffer, offset, length)
    self.calls += 1
    if self.calls % 100 == 0:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    return count


@mutant("seek.pos", Counting.seek)
def pool_runs_dry(self: Counting, position: int) -> None:
    """Every seek takes a connection from a pool of 200, and none comes back before close()."""
    right(self).seek(position)
    self.calls += 1
    if self.calls > 200:
        raise PathIOException(self.path, "timeout waiting for connection from pool")


@mutant("read-byte.value", Counting.read_byte)
def retries_run_out(self: Counting) -> int:
    """A budget of 500 retries is spent by successful calls, too."""
    value = right(self).read_byte()
    self.calls += 1
    if self.calls > 500:
        raise PathIOException(self.path, "out of retries")
    return value


@mutant("read-byte.advance", Counting.read_byte)
def drops_after_a_thousand(self: Counting) -> int:
    """A queue of a thousand bytes is full: the next byte is lost."""
    value = right(self).read_byte()
    self.calls += 1
    if self.calls > 999 and value >= 0:
        self._pos = min(self._pos + 1, self._size)
    return value


@mutant("pread.data")
class RingOfBuffers(Counting):
    """pread() uses 300 buffers in turn, and takes the second turn's for filled."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._ring: deque[tuple[int, bytes]] = deque(maxlen=300)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count <= 0:
            return count
        place = slice(offset, offset + count)
        if len(self._ring) == 300:
            buffer[place] = self._ring[0][1][:count].ljust(count, self._ring[0][1][-1:])
        self._ring.append((position, bytes(buffer[place])))
        return count


@mutant("read-into.progress", Counting.read_into)
def ends_after_many(
    self: Counting, buffer: Buffer, offset: int = 0, length: int | None = None
) -> int:
    """A counter of 8 bits for the reads wraps twice, which is taken for the end of the file."""
    count = right(self).read_into(buffer, offset, length)
    self.calls += count > 0
    if count > 0 and self.calls == 513:
        self._pos -= count
        buffer[offset : offset + count] = b"\1" * count
        return -1
    return count


@mutant("unbuffer.reacquire", Counting.unbuffer)
def unbuffers_a_few_times(self: Counting) -> None:
    """After 64 calls of unbuffer() the file is not opened again."""
    right(self).unbuffer()
    self.calls += 1
    if self.calls > 64 and not self._closed:

        def read_byte() -> int:
            raise PathIOException(self.path, "there is no connection")

        self.read_byte = read_byte  # type: ignore[method-assign]


@mutant("getpos.value", Counting.seek)
def position_drifts(self: Counting, position: int) -> None:
    """get_pos() is counted by the calls, and is one off after 700 seeks."""
    right(self).seek(position)
    self.calls += 1
    if self.calls > 700:
        here = self._pos
        self.get_pos = lambda: here + 1  # type: ignore[method-assign]


@mutant("open.independent")
class PoolOfBuffers(MemoryInputStream):
    """Nine streams share eight buffers: the ninth one has the position of the first."""

    _open: ClassVar[dict[str, list[PoolOfBuffers]]] = {}

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._open.setdefault(path, []).append(self)

    def close(self) -> None:
        super().close()
        streams = self._open.get(self.path, [])
        if self in streams:
            streams.remove(self)

    def read_byte(self) -> int:
        streams = self._open.get(self.path, [])
        if self in streams and streams.index(self) >= 8 and not self._closed:
            self._pos = streams[streams.index(self) - 8]._pos
        return super().read_byte()


@mutant("getpos.value")
class FewPositions(MemoryInputStream):
    """While more than 40 streams are open, get_pos() is 0."""

    _open: ClassVar[set[int]] = set()

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._open.add(id(self))

    def close(self) -> None:
        super().close()
        self._open.discard(id(self))

    def get_pos(self) -> int:
        return super().get_pos() if len(self._open) <= 40 else 0


@mutant("read-vectored.data")
class RangeOfFirstCall(Counting):
    """The hundredth read_vectored() and later ones deliver the first range of the first call."""

    _first: bytes | None = None

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        self.calls += 1
        data = ranges[0].data.result() if ranges and ranges[0].data else memoryview(b"")
        if self._first is None:
            self._first = bytes(data)
        elif self.calls >= 100:
            count = min(len(data), len(self._first))
            data[:count] = self._first[:count]
