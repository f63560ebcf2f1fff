"""Mutants that fail when threads share a stream or a file, or when the file changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from fscontract.contract.api.errors import (
    FileNotFoundException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer, FileRange
from fscontract.fakes.mutants.correct_parts import LiveStream, MutantFileSystem
from fscontract.fakes.mutants.registry import mutant
from fscontract.implementations.input_stream import positioned_length
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions


@mutant("model.pread-thread-safe")
class OneConnection(MemoryInputStream):
    """A positioned read raises an IOException while another one uses the connection."""

    _busy = False

    def pread(self, *arguments: Any, **named: Any) -> int:
        if self._busy:
            raise PathIOException(self.path, "the connection is in use")
        self._busy = True
        try:
            return super().pread(*arguments, **named)
        finally:
            self._busy = False


@mutant("open.independent")
class OneCursor(MemoryInputStream):
    """Streams of one file read at one cursor, which each moves before it reads, without a lock."""

    _cursors: ClassVar[dict[str, int]] = {}

    def read_byte(self) -> int:
        self._move()
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._move()
        return super().read_into(buffer, offset, length)

    def _move(self) -> None:
        self._cursors[self.path] = self._pos
        time.sleep(0)  # other threads run, as while a request is under way
        self._pos = self._cursors[self.path]


@mutant("pread.isolation")
class SeekReadSeek(MemoryInputStream):
    """pread() moves the stream's position and restores it, without a lock."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        here = self._pos
        if 0 <= position <= self._size:
            self._pos = position
        time.sleep(0)  # other threads run, as while a request is under way
        try:
            return super().pread(position, buffer, offset, length)
        finally:
            self._pos = here


@mutant("pread.serializable")
class SharedCursor(MemoryInputStream):
    """The underlying position is shared: stream reads set it while a pread() is about to use it."""

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
    """Every pread() uses one shared buffer of the stream."""

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

    def pread(self, *arguments: Any, **named: Any) -> int:
        with self._lock:
            return super().pread(*arguments, **named)


@mutant("read-vectored.concurrent")
class VectoredInTheWay(MemoryInputStream):
    """read_fully() and stream reads raise an IOException during a vectored read."""

    _busy = False

    def read_vectored(self, *arguments: Any, **named: Any) -> None:
        self._busy = True
        try:
            super().read_vectored(*arguments, **named)
        finally:
            self._busy = False

    def read_fully(self, *arguments: Any, **named: Any) -> None:
        self._check()
        super().read_fully(*arguments, **named)

    def read_into(self, *arguments: Any, **named: Any) -> int:
        self._check()
        return super().read_into(*arguments, **named)

    def _check(self) -> None:
        if self._busy:
            raise PathIOException(self.path, "a vectored read is under way")


@mutant("read-vectored.multiple")
class ForgetsFirst(MemoryInputStream):
    """A second vectored read replaces the first, whose ranges are then never read."""

    _pending: Sequence[FileRange] = ()

    def read_vectored(self, ranges: Sequence[FileRange], *how: Any, **named: Any) -> None:
        self._pending = ranges
        super().read_vectored(ranges, *how, **named)
        for item in ranges:
            if item not in self._pending:
                item.data = None


@mutant("read-byte.value")
class CachesByLength(MemoryInputStream):
    """All files of one length share the bytes of the first one that was opened."""

    _kept: ClassVar[dict[int, bytes]] = {}

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(self._kept.setdefault(len(data), data), path)


@mutant("read-into.data")
class CachesByOffset(MemoryInputStream):
    """All files share the blocks that reads into a buffer have fetched."""

    _blocks: ClassVar[dict[int, bytes]] = {}

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        at, inside = divmod(self._pos, 16)
        count = super().read_into(buffer, offset, length)
        block = self._blocks.setdefault(at, bytes(self._view[16 * at : 16 * at + 16]))
        if count > 0:
            part = block[inside:][:count]
            memoryview(buffer)[offset : offset + len(part)] = part
        return count


@mutant("pread.data")
class FootersByLength(MemoryInputStream):
    """The last bytes of a file are kept for all files of the same length."""

    _footers: ClassVar[dict[int, bytes]] = {}

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        footer = self._footers.setdefault(self._size, self.data[-4:])
        at = position - (self._size - len(footer))
        if count > 0 and at >= 0:
            memoryview(buffer)[offset : offset + count] = footer[at : at + count]
        return count


@mutant("consistency.opened")
class CachesByPath(MemoryInputStream):
    """All streams of a path share the bytes of its first version."""

    _kept: ClassVar[dict[str, bytes]] = {}

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(self._kept.setdefault(path, data), path)


@mutant("consistency.opened")
class LengthsByPath(MemoryInputStream):
    """The length of a path is that of its first version."""

    _kept: ClassVar[dict[str, int]] = {}

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data[: self._kept.setdefault(path, len(data))], path)


@mutant("consistency.opened")
class FootersByPath(MemoryInputStream):
    """The last bytes of a path are kept while its length stays the same."""

    _kept: ClassVar[dict[tuple[str, int], bytes]] = {}

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        start = self._pos
        count = super().read_into(buffer, offset, length)
        at = start - max(self._size - 4, 0)
        if count > 0 and at >= 0:
            footer = self._kept.setdefault((self.path, self._size), self.data[-4:])
            memoryview(buffer)[offset : offset + count] = footer[at : at + count]
        return count


@mutant("consistency.opened")
class BlocksByPath(MemoryInputStream):
    """The bytes of a path behind the first 64 KiB are those of its first version."""

    _kept: ClassVar[dict[str, bytes]] = {}

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        kept = self._kept.setdefault(path, data)[65536 : len(data)]
        super().__init__(data[:65536] + kept + data[65536 + len(kept) :], path)


@mutant("consistency.opened")
class OpensDeleted(MutantFileSystem):
    """A path that was opened once can be opened after its file was deleted."""

    _seen: ClassVar[dict[str, MemoryInputStream]] = {}

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        try:
            stream = self._seen[path] = super()._open(path, options)
        except FileNotFoundError:
            if path not in self._seen:
                raise
            stream = MemoryInputStream(self._seen[path].data, path)
        return stream


@mutant("consistency.opened")
class ReplacedIsGone(MutantFileSystem):
    """A path whose file was deleted cannot be opened, even if there is a new file."""

    _gone: ClassVar[set[str]] = set()

    def delete(self, path: str, recursive: bool = False) -> bool:
        self._gone.add(path)
        return super().delete(path, recursive)

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        if path in self._gone:
            raise FileNotFoundException(path, "it was deleted")
        return super()._open(path, options)


@mutant("consistency.either")
class ThirdVersion(LiveStream):
    """After the file was overwritten, reads mix old and new bytes."""

    def _read_at(self, position: int, view: memoryview) -> int:
        return self._mixed(super()._read_at(position, view), view)

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        return self._mixed(count, memoryview(buffer)[offset:]) if count > 0 else count

    def _mixed(self, count: int, view: memoryview) -> int:
        now = self.look()
        if now is not None and len(now) == self._size and now != self.data:
            view[:count] = bytes(2 for _ in range(count))
        return count


@mutant("consistency.either")
class ZeroesAfterTruncation(LiveStream):
    """After the file was truncated, reads after its new end return zeros, as a mapped file may."""

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


@mutant("consistency.errors")
class StumblesAfterDelete(LiveStream):
    """After the file was deleted, stream reads raise NullPointerException."""

    def read_byte(self) -> int:
        self._stat()
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._stat()
        return super().read_into(buffer, offset, length)

    def _stat(self) -> None:
        if not self._closed and self.look() is None:
            raise NullPointerException("there is no status of the file")


@mutant("consistency.length")
class EndsWhenChanged(LiveStream):
    """After the file was changed, stream reads return -1 as if the data had ended."""

    def read_byte(self) -> int:
        return -1 if self.is_changed and not self._closed else super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if self.is_changed and not self._closed and length:
            return -1
        return super().read_into(buffer, offset, length)
