"""In-memory byte source: objects in a dictionary, and a record of all requests."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import lru_cache

from fscontract.implementations.s3.errors import ObjectLocation, of_status
from fscontract.implementations.s3.object_reader import (
    Body,
    ByteRange,
    Cancellation,
    RangeSource,
    Request,
)

BUCKET = "bucket"


class MemoryBody(Body):
    """Part of an object, in chunks of at most `piece` bytes."""

    def __init__(self, data: bytes, start: int, stop: int, piece: int) -> None:
        self.offset, self.length, self.total = start, stop - start, len(data)
        self.etag: str | None = etag_of(data)
        self.version = None
        self.closed = False
        self._rest = memoryview(data)[start:stop]
        self._piece = piece

    def chunk(self) -> memoryview:
        """See the base class."""
        chunk, self._rest = self._rest[: self._piece], self._rest[self._piece :]
        return chunk

    def close(self) -> None:
        """See the base class."""
        self.closed = True


class MemorySource(RangeSource):
    """Objects by key. `before` is called with the key and range of each request, and may raise."""

    def __init__(self, piece: int = 1 << 20) -> None:
        self.objects: dict[str, bytes] = {}
        self.requests: list[ByteRange | None] = []
        self.bodies: list[MemoryBody] = []
        self.before: Callable[[str, ByteRange | None], None] = lambda key, want: None
        self.spoil: Callable[[MemoryBody], Body] = lambda body: body
        self.piece = piece
        self._lock = threading.Lock()

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """See the base class."""
        cancel.check()
        key, want, if_match, _ = request
        with self._lock:
            self.requests.append(want)
        self.before(key, want)
        place = ObjectLocation(BUCKET, key, want)
        data = self.objects.get(key)
        if data is None:
            raise of_status(place, 404, "NoSuchKey")
        if if_match is not None and if_match != etag_of(data):
            raise of_status(place, 412, "PreconditionFailed")
        start, stop = _bounds(want, len(data))
        if want is not None and start >= stop:
            raise of_status(place, 416, "InvalidRange", total=len(data))
        body = MemoryBody(data, start, stop, self.piece)
        self.bodies.append(body)
        return self.spoil(body)

    def close(self) -> None:
        """See the base class."""


@lru_cache(maxsize=8)
def etag_of(data: bytes) -> str:
    """Return the etag that S3 computes for an object."""
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def _bounds(want: ByteRange | None, total: int) -> tuple[int, int]:
    if want is None:
        return 0, total
    if want.start < 0:
        return max(0, total + want.start), total
    return want.start, total if want.stop is None else min(want.stop, total)
