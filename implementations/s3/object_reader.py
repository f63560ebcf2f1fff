"""Abstract source of ranged GETs, cancellation, and request counters."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.filesystem_base import free_in_children


@dataclass(frozen=True)
class ByteRange:
    """Byte range from `start` to `stop` (exclusive) or EOF; a negative `start` is a suffix."""

    start: int
    stop: int | None = None

    def __post_init__(self) -> None:
        if self.stop is not None and not 0 <= self.start < self.stop:
            raise ValueError(
                f"invalid byte range: {self.start} to {self.stop}; it must hold at least one byte"
            )

    @property
    def header(self) -> str:
        """Value of the `Range` header."""
        if self.start < 0:
            return f"bytes={self.start}"
        return (
            f"bytes={self.start}-" if self.stop is None else f"bytes={self.start}-{self.stop - 1}"
        )

    def __str__(self) -> str:
        if self.start < 0:
            return f"the last {-self.start} bytes"
        return f"bytes {self.start} to {'the end' if self.stop is None else self.stop - 1}"


class Request(NamedTuple):
    """Request for a range of an object, or for all of it.

    The store must check that the etag is `if_match`, which has quotes, and send `version`, if set.
    """

    key: str
    range: ByteRange | None
    if_match: str | None = None
    version: str | None = None


class Cancellation:
    """Cancels requests in progress, from any thread, permanently."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._calls: set[Callable[[], object]] = set()

    @property
    def cancelled(self) -> bool:
        """True if `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Call all functions registered with `calling`, and end all waits."""
        self._event.set()
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            call()

    def check(self) -> None:
        """Raise InterruptedIOException if `cancel` was called."""
        if self._event.is_set():
            raise interrupted()

    def wait(self, seconds: float) -> None:
        """Wait for some seconds; raise InterruptedIOException if `cancel` is called meanwhile."""
        if self._event.wait(seconds):
            raise interrupted()

    def calling(self, call: Callable[[], object]) -> _Calling:
        """Have `cancel` call `call` within the `with` block. It must not block, may run twice."""
        return _Calling(self, call)

    def _add(self, call: Callable[[], object]) -> None:
        with self._lock:
            self._calls.add(call)
        if self._event.is_set():
            call()

    def _discard(self, call: Callable[[], object]) -> None:
        with self._lock:
            self._calls.discard(call)


class _Calling:
    """Context manager of `Cancellation.calling`, faster than one made of a generator."""

    def __init__(self, cancel: Cancellation, call: Callable[[], object]) -> None:
        self._cancel = cancel
        self._call = call

    def __enter__(self) -> None:
        self._cancel._add(self._call)

    def __exit__(self, *_: object) -> None:
        self._cancel._discard(self._call)


def interrupted() -> InterruptedIOException:
    """Return the error of a read whose stream was closed or unbuffered meanwhile."""
    return InterruptedIOException("the stream was closed or unbuffered during a read")


class Body(ABC):
    """Response to a GET: the byte range that it holds, and its bytes in order.

    `offset` is the position of the first byte in the object and `length` the announced number of
    bytes; both come from the response, not the request. `total` is the length of the object, `etag`
    and `version` identify it; they are None if the server does not send them.
    """

    offset: int
    length: int
    total: int | None
    etag: str | None
    version: str | None
    #: Number of requests that were sent for it.
    requests: int = 1

    @abstractmethod
    def chunk(self) -> memoryview:
        """Return the next bytes, in chunks of any size; an empty view at the end of the body.

        The body may end early. Raise S3Exception if the connection fails, InterruptedIOException if
        the request was cancelled.
        """

    @abstractmethod
    def close(self) -> None:
        """Return the connection, or drop it if the body has more bytes. May be called again."""


class RangeSource(ABC):
    """Source of object ranges: the part of a store that a stream needs.

    Thread-safe. It sends each request once, without retries, and holds no state but connections.
    """

    @abstractmethod
    def get(self, request: Request, cancel: Cancellation) -> Body:
        """Send a GET. Raise an exception of `errors.py` that names bucket, key and range."""

    @abstractmethod
    def close(self) -> None:
        """Close connections and threads. A later request makes new ones."""


class RequestCounters:
    """Thread-safe counters of one stream's requests, bytes and connections."""

    def __init__(self) -> None:
        self._lock = free_in_children(threading.Lock())
        self.requests = 0
        self.received = 0
        self.opened = 0
        self.closed = 0

    def request(self, count: int = 1) -> None:
        """Count requests that were sent."""
        with self._lock:
            self.requests += count

    def bytes(self, count: int) -> None:
        """Count bytes of a body that arrived."""
        with self._lock:
            self.received += count

    def hold(self) -> None:
        """Count a connection that is kept between calls."""
        with self._lock:
            self.opened += 1

    def drop(self) -> None:
        """Count a kept connection that was returned."""
        with self._lock:
            self.closed += 1
