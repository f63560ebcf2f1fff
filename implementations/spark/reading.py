"""What a task reads for a stream of the driver, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from fscontract.contract.iostatistics import OP_OPEN, STORE_IO_REQUEST
from fscontract.contract.iostatistics import STREAM_READ_CLOSED as CLOSED
from fscontract.contract.iostatistics import STREAM_READ_OPENED as OPENED
from fscontract.contract.iostatistics import STREAM_READ_TOTAL_BYTES as TOTAL_BYTES
from fscontract.contract.ports import FileRange, FileStatus
from fscontract.implementations.filesystem import ReferenceFileSystem
from fscontract.implementations.localstream import FOOTER
from fscontract.implementations.options import OpenOptions
from fscontract.implementations.spark.failures import Failure, failure_of
from fscontract.implementations.spark.places import Place
from fscontract.implementations.spark.worker import FILESYSTEMS
from fscontract.implementations.stream import ReferenceInputStream

#: What executors count of streams; what readers do is counted where they are.
OF_STREAMS = (STORE_IO_REQUEST, OPENED, CLOSED, TOTAL_BYTES)


@dataclass(frozen=True)
class Source:
    """A file, and how to open it: all that a stream is beside its position."""

    place: Place
    path: str
    options: OpenOptions

    def pinned(self, etag: str | None) -> Source:
        """The same, of one version."""
        if etag is None or etag == self.options.etag:
            return self
        status = self.options.status or FileStatus(self.path, 0)
        return replace(self, options=replace(self.options, status=replace(status, etag=etag)))

    def open(self, filesystem: ReferenceFileSystem) -> ReferenceInputStream:
        """A stream over the file."""
        return filesystem.open_with(self.path, self.options)


class Request(NamedTuple):
    """Ranges of a file, as offset and length.

    If they are `exact`, one of them that is not wholly in the file fails for itself; else what
    there is of them is wanted. With a `footer`, a read near the end is to bring all of the end.
    """

    source: Source
    ranges: tuple[tuple[int, int], ...]
    exact: bool = False
    footer: bool = False


class Answer(NamedTuple):
    """What was read: for each range where the bytes begin, and the bytes, or how it failed.

    `length` is that of the stream, `end` whether the last range met the end of the file.
    """

    blocks: tuple[tuple[int, bytes] | Failure, ...]
    length: int
    etag: str | None
    counts: dict[str, int]


def read(request: Request) -> Answer:
    """Open the file, read the ranges, and close it. Runs in a worker."""
    source = request.source
    with FILESYSTEMS.lease(source.place) as filesystem:
        before = filesystem.io_statistics()
        with source.open(filesystem) as stream:
            blocks = _exactly(stream, request) if request.exact else _widely(stream, request)
            length, etag = stream.available() + stream.get_pos(), stream.etag
        after = filesystem.io_statistics()
    return Answer(blocks, length, etag, _difference(before, after))


def _difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What a task cost, without what its reader did: that is counted where the reader is."""
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
        except Exception as error:  # of this range
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
