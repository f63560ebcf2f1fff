"""Client of the fake store: retries, choice of replicas, and the stream that reads through it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import ClassVar, TypeVar
from zlib import crc32

from fscontract.contract.api.iostatistics import STORE_IO_REQUEST, STREAM_READ_TOTAL_BYTES
from fscontract.fakes.filesystem.requests import (
    Answer,
    BodyCut,
    ChecksumMismatch,
    RangeNotSatisfiable,
    ReplicaFailed,
    RequestFailed,
)
from fscontract.fakes.filesystem.store import Store
from fscontract.fakes.filesystem.tree import Version
from fscontract.implementations.local_stream import DEFAULT_BUFFER, Identity, LocalInputStream

T = TypeVar("T")
#: Seconds before the first retry; the delay doubles each time.
BACKOFF = 0.1


class Client:
    """Sends requests to a store, and retries transient errors up to `retries` times.

    It waits, on the store's clock, for the time that the store requests, up to the deadline of a
    request. Without `checksums` it accepts wrong bytes.
    """

    def __init__(self, store: Store, retries: int, checksums: bool = True) -> None:
        self.store = store
        self.retries = retries
        self.checksums = checksums

    def send(self, request: Callable[[], T]) -> T:
        """Return the result of the request, or raise its last failure."""
        for retry in itertools.count():
            try:
                return request()
            except RequestFailed as error:
                if not error.transient or retry >= self.retries:
                    raise
                if error.wait > self.store.deadline:
                    raise
                self.store.clock.advance(error.wait or BACKOFF * 2**retry)
        raise AssertionError


class Sources:
    """The replica that a stream reads each block from, and those that it has left permanently.

    It also counts the stream's requests, including retries, and received bytes.
    """

    #: The version that is read, set by the open.
    version: Version | None = None

    def __init__(self) -> None:
        self.requests = 0
        self.received = 0
        self._current: dict[int, int] = {}
        self._tried: dict[int, set[int]] = {}

    def of(self, block: int) -> int:
        """Return the replica for a block."""
        return self._current.get(block, 0)

    def turn(self, block: int, replicas: int) -> None:
        """Use the next replica for a block from now on."""
        self._current[block] = (self.of(block) + 1) % replicas

    def leave(self, position: int) -> bool:
        """Switch the block at a position to an unused replica; return False if there is none."""
        version = self.version
        if version is None or not 0 <= position < version.length:
            return False
        block = position // version.block_size
        tried = self._tried.get(block, set()) | {self.of(block)}
        other = next((r for r in version.holders(block) if r not in tried), None)
        if other is None:
            return False
        self._tried[block] = tried
        self._current[block] = other
        return True

    def run(self, position: int, length: int, block_size: int) -> int:
        """Return how many of the bytes are read from the same replica as the first."""
        if not self._current:
            return length
        end, stop = position, position + length
        source = self.of(position // block_size)
        while end < stop and self.of(end // block_size) == source:
            end = (end // block_size + 1) * block_size
        return min(end, stop) - position


class Connection:
    """One version of a file, open for reading: a `Descriptor` of the fake store.

    Reads run in parallel. A failed read is retried: on another replica if the replica was the
    cause. It returns the bytes that were written. RangeNotSatisfiable is the end only if it is the
    end of the version.
    """

    def __init__(self, client: Client, path: str, sources: Sources, _look: bool = True) -> None:
        self.version = sources.version = client.send(partial(client.store.open, path))
        self._client = client
        self._path = path
        self._sources = sources

    def identity(self) -> Identity:
        """The identity of the opened version."""
        return self.version.identity

    def read(self, position: int, view: memoryview) -> int:
        """Read bytes from `position`, possibly fewer; return their number, 0 at the end."""
        try:
            return self._client.send(partial(self._attempt, position, view))
        except RangeNotSatisfiable as error:
            if position < error.length:
                raise
            return 0

    def _attempt(self, position: int, view: memoryview) -> int:
        version, sources = self.version, self._sources
        block = position // version.block_size
        length = sources.run(position, len(view), version.block_size)
        sources.requests += 1
        try:
            answer = self._client.store.read(
                self._path, version, position, length, sources.of(block)
            )
            sources.received += len(answer.body)
            count = self._verified(answer, position)
        except ReplicaFailed:
            sources.turn(block, version.replicas)
            raise
        view[:count] = answer.body[:count]
        return count

    def _verified(self, answer: Answer, position: int) -> int:
        """Return the length of the correct prefix; raise an error if it is empty."""
        good = 0
        if not self._client.checksums:
            announced = sum(check.length for check in answer.checks)
            if announced and not answer.body:
                raise BodyCut(self._path, "the answer ended after 0 bytes")
            return min(len(answer.body), announced)
        for length, crc in answer.checks:
            piece = answer.body[good : good + length]
            if len(piece) == length and crc32(piece) == crc:
                good += length
            elif good:
                break
            elif len(piece) < length:
                raise BodyCut(self._path, f"the answer ended after {len(piece)} bytes")
            else:
                raise ChecksumMismatch(self._path, f"wrong checksum of the bytes at {position}")
        return good


class FakeInputStream(LocalInputStream):
    """Reads one version of a file, through the buffers of `LocalInputStream`.

    It recovers from what a client can recover from: short and truncated bodies, transient failures,
    and replicas that are corrupt or lost while a good one exists. Any other failure is an OSError
    and leaves the position unchanged: RemoteFileChangedException if the file has changed.
    """

    #: The connection that it reads from.
    connection: ClassVar[type[Connection]] = Connection
    #: Its number among the handles of the store; 0 until it is open.
    _handle = 0

    def __init__(
        self,
        path: str,
        client: Client,
        buffer_size: int = DEFAULT_BUFFER,
        declared: int | None = None,
        etag: str | None = None,
        footer: int = 0,
    ) -> None:
        self._sources = Sources()
        connect = partial(self.connection, client, path, self._sources)
        self._handles = client.store.handles
        super().__init__(path, connect, buffer_size, declared, etag, footer)
        self._handle = self._handles.opened(path, "rb")

    def close(self) -> None:
        """Release everything. May be called again. (Closeable.close)"""
        self._handles.closed(self._handle)
        super().close()

    def lost(self) -> None:
        """Note that the stream, or a file over it, was garbage-collected without a close."""
        if not self._closed:
            self._handles.lost(self._handle)

    def __del__(self) -> None:
        self.lost()
        super().__del__()

    def io_statistics(self) -> dict[str, int]:
        """The statistics of the stream; requests are those to the store, including retries."""
        counts = super().io_statistics()
        counts[STORE_IO_REQUEST] = self._sources.requests
        counts[STREAM_READ_TOTAL_BYTES] = self._sources.received
        return counts

    def seek_to_new_source(self, position: int) -> bool:
        """Read the block at `position` from another replica. (Seekable.seekToNewSource)

        Return False if this stream has used all replicas. The buffer is dropped.
        """
        if self._closed:
            self._reject_closed()
        if not self._sources.leave(position):
            return False
        self._release()
        return True


class ShortInputStream(FakeInputStream):
    """Returns from a read of the stream what one answer has, as an unbuffered file does.

    Positioned reads and `read_fully` read on.
    """

    def _read_at(self, position: int, view: memoryview) -> int:
        rest = self._size - position
        if rest <= 0:
            return 0
        count = (self._descriptor or self._reopen()).read(position, view[:rest])
        self._count(count)
        return count

    def _pread_at(self, position: int, view: memoryview) -> int:
        return super()._read_at(position, view)
