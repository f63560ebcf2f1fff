"""Filesystems for scripts: mutants by their names, and unusual ones that are right."""

from __future__ import annotations

import os
import threading
from typing import Any, BinaryIO, ClassVar

from fsspec.implementations.memory import MemoryFileSystem as FsspecMemory

from fscontract.contract.api.filesystem import Buffer
from fscontract.contract.binding import Binding
from fscontract.fakes.mutants.correct_parts import FaultyStore, StoredStream, filesystem_of
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.fakes.servers.http_client import HttpFile, opened
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream


def make(name: str) -> Any:
    """Return the filesystem of the mutant, or a right one if the name is empty."""
    if not name:
        return MemoryFileSystem()

    return mutant_named(name).binding().filesystem


def faulty(name: str) -> Any:
    """Return the filesystem of a mutant of faults, or a right one if the name is empty."""
    return mutant_named(name).binding().filesystem if name else FaultyStore()


def stored(name: str) -> Any:
    """Return the filesystem of a mutant of costs, or a right one if the name is empty."""
    return mutant_named(name).binding().filesystem if name else filesystem_of(StoredStream)()


class Awaited(FsspecMemory):  # type: ignore[misc]
    """A filesystem that says it is asynchronous, as those do whose files wait when they close."""

    async_impl = True


def awaited() -> Awaited:
    """Return the filesystem that says it is asynchronous."""
    return Awaited(skip_instance_cache=True)


class _Litter:
    """A descriptor that the garbage collector closes."""

    def __init__(self) -> None:
        self._descriptor = os.open(os.devnull, os.O_RDONLY)
        self._self = self

    def __del__(self) -> None:
        os.close(self._descriptor)


class _LitteringStream(MemoryInputStream):
    """A stream that leaves garbage with a descriptor, and does not refer to it."""

    def close(self) -> None:
        _Litter()
        super().close()


def littering() -> MemoryFileSystem:
    """Return a right filesystem whose streams leave descriptors to the garbage collector."""
    return MemoryFileSystem(stream_class=_LitteringStream)


class _LockedStream(MemoryInputStream):
    """A stream whose positioned reads move it and put it back, under a lock of all calls."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = threading.RLock()

    def seek(self, position: int) -> None:
        with self._lock:
            super().seek(position)

    def read_byte(self) -> int:
        with self._lock:
            return super().read_byte()

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        with self._lock:
            before = self.get_pos()
            super().seek(position)
            try:
                return super().read_into(buffer, offset, length)
            finally:
                super().seek(before)


def locked() -> MemoryFileSystem:
    """Return a right filesystem whose streams are used by one thread at a time."""
    return MemoryFileSystem(stream_class=_LockedStream)


class _Pooling(MemoryInputStream):
    """A stream that takes a descriptor from a pool, which grows up to four."""

    _pool: ClassVar[list[int]] = []

    def read_byte(self) -> int:
        if len(self._pool) < 4:
            self._pool.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        return super().read_byte()


def pooling() -> MemoryFileSystem:
    """Return a right filesystem whose streams share some descriptors."""
    return MemoryFileSystem(stream_class=_Pooling)


class SlowlyFound(FsspecMemory):  # type: ignore[misc] # fsspec has no types
    """Opens anything, and raises when it is read; the size in its status is one too large."""

    cachable = False
    protocol = "slowlyfound"

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "rb" and not self.isfile(path):
            return open(os.devnull, "rb")
        return super()._open(path, mode, **options)

    def info(self, path: str, **options: Any) -> Any:
        found = super().info(path, **options)
        return {**found, "size": found["size"] + 1} if found["type"] == "file" else found


def slowly_found() -> SlowlyFound:
    """Return a wrong fsspec filesystem."""
    return SlowlyFound()


class RefusingOpenly(FsspecMemory):  # type: ignore[misc] # fsspec has no types
    """Keeps a descriptor for each open, also for those that raise."""

    cachable = False
    protocol = "refusingopenly"

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        os.open(os.devnull, os.O_RDONLY)
        return super()._open(path, mode, **options)


def refusing_openly() -> RefusingOpenly:
    """Return a wrong fsspec filesystem."""
    return RefusingOpenly()


def rightly_found() -> FsspecMemory:
    """Return the right filesystem from which the wrong one derives."""
    return FsspecMemory()


def open_url(url: str) -> BinaryIO:
    """Return the file at a URL, whose reads are right or raise whatever the server does."""
    return opened(HttpFile, url)


def client(url: str) -> Binding:
    """Return the binding to a right client of an HTTP server, of which `url` is that."""
    return PythonFileBinding(open_url, name=url)
