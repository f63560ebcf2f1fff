"""Streams in memory with one bug each that shows when threads share them, or their file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from http.client import IncompleteRead
from itertools import count
from typing import Any, ClassVar, TypeAlias

import pytest

from fscontract.contract.api.filesystem import Allocate, Buffer, FileRange, Release, no_release
from fscontract.contract.concurrency import ConcurrencyReport, check_concurrency
from fscontract.contract.concurrency.scheduler import PATIENCE
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions

#: What the memory stream does.
FEATURES = frozenset(
    {
        "supports-seek",
        "rejects-seek-past-eof",
        "supports-positioned-readable",
        "supports-vectored-io",
    }
)

MakeBinding: TypeAlias = Callable[[str], StreamBinding]
Check: TypeAlias = Callable[..., ConcurrencyReport]


class SeekingStream(MemoryInputStream):
    """A positioned read moves the stream and moves it back, without a lock."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        back = self._pos
        self._pos = position
        count = self.read_into(buffer, offset, length)
        self._pos = back
        return count


class ScratchStream(MemoryInputStream):
    """Positioned reads go through one buffer that all threads share."""

    _scratch = b""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        self._scratch = self.data[position : position + (length or 0)]
        room = memoryview(buffer)[offset:]
        chunk = self._scratch[: len(room)]
        room[: len(chunk)] = chunk
        return len(chunk) or -1


class CountingStream(MemoryInputStream):
    """A positioned read fails if another one is running."""

    _busy = False

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if self._busy:
            raise OSError("busy")
        self._busy = True
        count = super().pread(position, buffer, offset, length)
        self._busy = False
        return count


class LockingStream(MemoryInputStream):
    """Correct, but one lock around all reads and seeks."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self.lock = threading.Lock()

    def seek(self, position: int) -> None:
        with self.lock:
            super().seek(position)

    def read_byte(self) -> int:
        with self.lock:
            return super().read_byte()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        with self.lock:
            return super().pread(position, buffer, offset, length)


class DeadlockingStream(MemoryInputStream):
    """Two locks, acquired in an order that depends on the position."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self.locks = [threading.Lock(), threading.Lock()]

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        first, second = self.locks if position > 20 else self.locks[::-1]
        with first:  # noqa: SIM117 - on lines of their own, where threads can switch
            with second:
                return super().pread(position, buffer, offset, length)


class EndlessStream(MemoryInputStream):
    """A positioned read spins until it is the latest one."""

    _tickets = 0

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        self._tickets += 1
        mine = self._tickets
        while mine != self._tickets:
            pass
        return super().pread(position, buffer, offset, length)


class OneCursorStream(MemoryInputStream):
    """All streams read at one cursor, which each moves to its position first."""

    _cursor: ClassVar[list[int]] = [0]

    def read_byte(self) -> int:
        self._cursor[0] = self._pos
        self._pos = self._cursor[0]
        return super().read_byte()


class OnePositionStream(MemoryInputStream):
    """All streams have one position, which a new one sets to 0."""

    _one: ClassVar[list[int]] = [0]

    @property
    def _pos(self) -> int:
        return self._one[0]

    @_pos.setter
    def _pos(self, value: int) -> None:
        self._one[0] = value


class CrossedStream(MemoryInputStream):
    """A read spins until it is the latest one of all streams."""

    _tickets: ClassVar[list[int]] = [0]

    def read_byte(self) -> int:
        self._tickets[0] += 1
        mine = self._tickets[0]
        while mine != self._tickets[0]:
            pass
        return super().read_byte()


class ForgetfulStream(MemoryInputStream):
    """A second vectored read replaces the first."""

    _ranges: Sequence[FileRange] = ()

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        self._ranges = ranges
        for number in range(len(ranges)):
            item = self._ranges[number % len(self._ranges)]
            item.data = self._read_range(item, allocate, release)


class SeekingVectoredStream(MemoryInputStream):
    """A vectored read moves the stream, without a lock."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        for item in ranges:
            self._pos = item.offset
            moved = FileRange(self._pos, item.length)
            item.data = self._read_range(moved, allocate, release)


class WanderingStream(MemoryInputStream):
    """A vectored read leaves the stream elsewhere, as it may."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        super().read_vectored(ranges, allocate, release)
        self._pos = ranges[0].offset


class UnreachableStream(MemoryInputStream):
    """Every positioned read raises a network error."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        raise ConnectionResetError("gone")


class InterruptedStream(MemoryInputStream):
    """The answer to one in 41 positioned reads ends too early."""

    _answers: ClassVar[Iterator[int]] = count()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if next(self._answers) % 41 == 7:
            raise IncompleteRead(b"")
        return super().pread(position, buffer, offset, length)


class EntangledStream(MemoryInputStream):
    """Positioned reads interrupt each other."""

    _is_reading = False

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if self._is_reading:
            raise IncompleteRead(b"")
        self._is_reading = True
        try:
            return super().pread(position, buffer, offset, length)
        finally:
            self._is_reading = False


class WrongAloneStream(MemoryInputStream):
    """A positioned read is wrong without other threads too."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        return super().pread(position + 1, buffer, offset, length)


class UnfilledStream(MemoryInputStream):
    """A readFully leaves the buffer unfilled."""

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        pass


class UselessStream(WrongAloneStream, UnfilledStream):
    """All positioned reads are wrong."""


class SlowStream(MemoryInputStream):
    """A positioned read waits, and counts how many others run at the same time."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self.under_way = 0
        self.most = 0

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        threading.Event().wait(5 * PATIENCE)
        self.under_way -= 1
        return super().pread(position, buffer, offset, length)


_STREAMS: dict[str, type[MemoryInputStream]] = {
    c.__name__.removesuffix("Stream").lower(): c
    for c in (
        SeekingStream,
        ScratchStream,
        CountingStream,
        LockingStream,
        DeadlockingStream,
        EndlessStream,
        OneCursorStream,
        OnePositionStream,
        CrossedStream,
        ForgetfulStream,
        SeekingVectoredStream,
        WanderingStream,
        UnreachableStream,
        InterruptedStream,
        EntangledStream,
        WrongAloneStream,
        UnfilledStream,
        UselessStream,
        SlowStream,
    )
}


class _FileSystem(MemoryFileSystem):
    """Open streams of one class."""

    def __init__(self, stream: type[MemoryInputStream]) -> None:
        super().__init__()
        self.stream = stream
        self.opened: list[MemoryInputStream] = []

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        stream = self.stream(super()._open(path, options).data, path)
        self.opened.append(stream)
        return stream


@pytest.fixture
def make_binding() -> MakeBinding:
    """Return a function that makes a prepared binding; the kind "memory" has no bug."""

    def make(kind: str) -> StreamBinding:
        binding = StreamBinding(_FileSystem(_STREAMS.get(kind, MemoryInputStream)), kind)
        binding.prepare()
        return binding

    return make


@pytest.fixture
def features() -> frozenset[str]:
    """Return the features of the memory stream."""
    return FEATURES


@pytest.fixture
def check(make_binding: MakeBinding) -> Check:
    """Return a function that checks a kind of stream with quick effort, for the named clauses
    only."""

    def run(kind: str, *clauses: str, seed: int = 1, **more: Any) -> ConcurrencyReport:
        return check_concurrency(
            make_binding(kind),
            more.pop("features", FEATURES),
            "quick",
            seed,
            more.pop("beat", lambda _: None),
            clauses=frozenset(clauses) or None,
            hang_after=0.1,
            **more,
        )

    return run
