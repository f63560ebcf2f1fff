"""Mutants whose closed streams hold something until they are collected, or from a call on."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from fscontract.contract.api.errors import EOFException
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    FileRange,
    Release,
    no_release,
)
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.memory import MemoryInputStream


class Holding(MemoryInputStream):
    """A stream that can hold a descriptor, which its collection releases."""

    descriptor: int | None = None

    def hold(self) -> None:
        """Open a descriptor, unless there is one."""
        if self.descriptor is None:
            self.descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def drop(self) -> None:
        """Close the descriptor."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        self.drop()
        super().__del__()


@mutant("close.release", Holding.read_byte)
def closed_by_collector(self: Holding) -> int:
    """The file that a read opens is closed when the stream is collected, not by close()."""
    if not self._closed:
        self.hold()
    return right(self).read_byte()


@mutant("close.release", Holding.pread)
def pread_opens_its_own(
    self: Holding, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
) -> int:
    """pread() uses a second descriptor, which close() forgets."""
    if not self._closed:
        self.hold()
    return right(self).pread(position, buffer, offset, length)


@mutant("close.release", Holding.unbuffer)
def keeps_what_it_unbuffered(self: Holding) -> None:
    """unbuffer() returns the connection to a list that close() ignores."""
    right(self).unbuffer()
    if not self._closed:
        self.hold()


@mutant("close.release", Holding.seek)
def failed_seek_reconnects(self: Holding, position: int) -> None:
    """A refused seek opens a connection, which close() does not know."""
    try:
        right(self).seek(position)
    except EOFException:
        self.hold()
        raise


@mutant("close.release", Holding.read_byte)
def closed_read_connects(self: Holding) -> int:
    """A read of a closed stream connects before it sees that the stream is closed."""
    if self._closed:
        self.hold()
    return right(self).read_byte()


@mutant("close.release", Holding.close)
def second_close_connects(self: Holding) -> None:
    """A second close() opens the file to have something to close."""
    if self._closed:
        self.hold()
    right(self).close()


@mutant("close.release")
class PoolStays(MemoryInputStream):
    """The threads of vectored reads end when the stream is collected."""

    _pool: ThreadPoolExecutor | None = None

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1)
            self._pool.submit(int).result()

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        super().__del__()


@mutant("close.release")
class LoopStays(MemoryInputStream):
    """Each stream has an event loop, which close() does not close."""

    _loop: asyncio.AbstractEventLoop | None = None

    def read_byte(self) -> int:
        value = super().read_byte()
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return value

    def __del__(self) -> None:
        if self._loop is not None:
            self._loop.close()
        super().__del__()


@mutant("close.release")
class InACycle(Holding):
    """The descriptor is in a reference cycle, which only the garbage collector ends."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._itself = self
        self.hold()


@mutant("close.release")
class ReaderWaits(MemoryInputStream):
    """The thread that reads ahead ends with the stream's collection."""

    _ended: threading.Event | None = None

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        if self._ended is None:
            self._ended = threading.Event()
            threading.Thread(target=self._ended.wait, daemon=True).start()
        return count

    def __del__(self) -> None:
        if self._ended is not None:
            self._ended.set()
        super().__del__()
