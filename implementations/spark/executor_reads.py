"""Reads in an executor on behalf of a stream in the driver."""

from __future__ import annotations

import gc
import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fscontract.contract.api.filesystem import FileRange, FileStatus
from fscontract.contract.api.iostatistics import OP_OPEN, STORE_IO_REQUEST
from fscontract.contract.api.iostatistics import STREAM_READ_CLOSED as CLOSED
from fscontract.contract.api.iostatistics import STREAM_READ_OPENED as OPENED
from fscontract.contract.api.iostatistics import STREAM_READ_TOTAL_BYTES as TOTAL_BYTES
from fscontract.implementations.filesystem_base import ReferenceFileSystem
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.local_stream import FOOTER
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.spark.failures import Failure, failure_of
from fscontract.implementations.spark.locations import FileLocation

#: Maximum number of filesystems that a worker keeps.
MAX_FILESYSTEMS = 8
_warm = False


class FileSystems:
    """Cache of this process's filesystems, by location: those in use and the last used ones."""

    def __init__(self, maximum: int = MAX_FILESYSTEMS) -> None:
        self._maximum = maximum
        self._lock = threading.Lock()
        self._cached: OrderedDict[FileLocation, list[Any]] = (
            OrderedDict()
        )  # filesystem and number of users

    def __len__(self) -> int:
        return len(self._cached)

    @contextmanager
    def lease(self, location: FileLocation) -> Iterator[ReferenceFileSystem]:
        """Return a context with the filesystem of a location, which stays open in the context."""
        filesystem = self.take(location)
        try:
            yield filesystem
        finally:
            self.give_back(location)

    def take(self, location: FileLocation) -> ReferenceFileSystem:
        """Return the filesystem of a location; it stays open until `give_back`."""
        if not location.cached:
            return location.make()
        with self._lock:
            entry = self._cached.setdefault(location, [None, 0])
            entry[1] += 1
            self._cached.move_to_end(location)
            try:
                if entry[0] is None:
                    entry[0] = location.make()
            except BaseException:
                self._cached.pop(location)
                raise
            filesystem: ReferenceFileSystem = entry[0]
        return filesystem

    def give_back(self, location: FileLocation) -> None:
        """Remove a user; close the oldest unused filesystems if there are too many."""
        with self._lock:
            entry = self._cached.get(location)
            if entry is None:
                return
            entry[1] -= 1
            idle = [p for p, (_, users) in self._cached.items() if users <= 0]
            surplus = idle[: max(0, len(self._cached) - self._maximum)]
            evicted = [self._cached.pop(p)[0] for p in surplus]
        for filesystem in evicted:
            close = getattr(filesystem, "close", None)
            if close is not None:
                close()


#: The filesystems of this process.
FILESYSTEMS = FileSystems()


def run(data: bytes) -> bytes:
    """Call a pickled function with each of its pickled items; return results or failures."""
    function, items = pickle.loads(data)  # noqa: S301 - from the driver, through Spark
    results: list[tuple[bool, Any]] = []
    for item in items:
        try:
            results.append((True, function(item)))
        # return errors as data, because Spark would convert them to text
        except Exception as error:
            results.append((False, failure_of(error)))
    settle_down()
    return pickle.dumps(results, protocol=5)


def settle_down() -> None:
    """Exclude everything loaded so far from garbage collection.

    A worker collects garbage after each task. Scanning all modules would take longer than the rest
    of a small task.
    """
    global _warm  # noqa: PLW0603 - per process
    if not _warm:
        _warm = True
        gc.collect()
        gc.freeze()


#: Stream counters of executors; the driver counts calls of the reader.
OF_STREAMS = (STORE_IO_REQUEST, OPENED, CLOSED, TOTAL_BYTES)


@dataclass(frozen=True)
class Source:
    """A file and how to open it: a stream without its position."""

    location: FileLocation
    path: str
    options: OpenOptions

    def pinned(self, etag: str | None) -> Source:
        """Return this source, pinned to one version."""
        if etag is None or etag == self.options.etag:
            return self
        status = self.options.status or FileStatus(self.path, 0)
        return replace(self, options=replace(self.options, status=replace(status, etag=etag)))

    def open(self, filesystem: ReferenceFileSystem) -> ReferenceInputStream:
        """Return a stream over the file."""
        return filesystem.open_with(self.path, self.options)


class Request(NamedTuple):
    """Byte ranges of a file, as offset and length.

    If `exact`, a range that exceeds the file fails individually; otherwise the available bytes are
    returned. With `footer`, a read near EOF returns the whole footer.
    """

    source: Source
    ranges: tuple[tuple[int, int], ...]
    exact: bool = False
    footer: bool = False


class Answer(NamedTuple):
    """Result of a read: for each range the start offset and bytes, or the failure.

    `length` is the stream's length; `end` is True if the last range reached EOF.
    """

    blocks: tuple[tuple[int, bytes] | Failure, ...]
    length: int
    etag: str | None
    counts: dict[str, int]


def read(request: Request) -> Answer:
    """Open the file, read the ranges, and close it. Runs in a worker."""
    source = request.source
    with FILESYSTEMS.lease(source.location) as filesystem:
        before = filesystem.io_statistics()
        with source.open(filesystem) as stream:
            blocks = _exactly(stream, request) if request.exact else _widely(stream, request)
            length, etag = stream.available() + stream.get_pos(), stream.etag
        after = filesystem.io_statistics()
    return Answer(blocks, length, etag, _difference(before, after))


def _difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the costs of a task without the reader's calls, which the driver counts."""
    counts = {}
    for name, count in after.items():
        costs = name in OF_STREAMS or not name.startswith(("stream_", OP_OPEN))
        if costs and count != before.get(name, 0):
            counts[name] = count - before.get(name, 0)
    return counts


def _exactly(
    stream: ReferenceInputStream, request: Request
) -> tuple[tuple[int, bytes] | Failure, ...]:
    ranges = [FileRange(*pair) for pair in request.ranges]
    stream.read_vectored(ranges)
    blocks: list[tuple[int, bytes] | Failure] = []
    for item in ranges:
        assert item.data is not None
        try:
            blocks.append((item.offset, bytes(item.data.result())))
        except Exception as error:  # fails only this range
            blocks.append(failure_of(error))
    return tuple(blocks)


def _widely(stream: ReferenceInputStream, request: Request) -> tuple[tuple[int, bytes], ...]:
    blocks = []
    for start, count in request.ranges:
        first, size = start, count
        if request.footer:
            length = stream.available() + stream.get_pos()
            footer = max(0, length - FOOTER)
            if footer <= start < length:
                first, size = footer, length - footer
        blocks.append((first, _fill(stream, first, size)))
    return tuple(blocks)


def _fill(stream: ReferenceInputStream, start: int, count: int) -> bytes:
    buffer = bytearray(count)
    filled = 0
    while filled < count:
        more = stream.pread(start + filled, buffer, filled, count - filled)
        if more <= 0:
            break
        filled += more
    return bytes(buffer[:filled])
