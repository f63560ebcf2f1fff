"""Port to an object store: one ranged GET, what cancels it, and what is counted."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.filesystem_base import free_in_children


@dataclass(frozen=True)
class ByteRange:
    """The bytes from `start` up to before `stop`, or to the end; or the last `-start` of them."""

    start: int
    stop: int | None = None

    def __post_init__(self) -> None:
        if self.stop is not None and not 0 <= self.start < self.stop:
            raise ValueError(f"no range of at least a byte: {self.start} to {self.stop}")

    @property
    def header(self) -> str:
        """The value of the header `Range`."""
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
    """What is asked for: a range of an object, or all of it.

    Only if its etag is `if_match`, which has its quotes, and only of the given version.
    """

    key: str
    range: ByteRange | None
    if_match: str | None = None
    version: str | None = None


class Cancellation:
    """Ends what is under way, from any thread, once and for all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._calls: set[Callable[[], object]] = set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Call everything that `calling` holds, and end all waiting."""
        self._event.set()
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            call()

    def check(self) -> None:
        """InterruptedIOException if `cancel` was called."""
        if self._event.is_set():
            raise interrupted()

    def wait(self, seconds: float) -> None:
        """Wait so long; InterruptedIOException if `cancel` is called before the time is over."""
        if self._event.wait(seconds):
            raise interrupted()

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """Have `cancel` call this within the `with` block; it must not block, and may run twice."""
        with self._lock:
            self._calls.add(call)
        try:
            if self._event.is_set():
                call()
            yield
        finally:
            with self._lock:
                self._calls.discard(call)


def interrupted() -> InterruptedIOException:
    """The error of a read whose stream was closed or unbuffered meanwhile."""
    return InterruptedIOException("the stream was closed or unbuffered during a read")


class Body(ABC):
    """The answer to a GET: which bytes of the object it has, and those bytes, in order.

    `offset` is where the first one stands in the object, `length` how many were announced; both are
    what the server said, not what it was asked for. `total` is the length of the whole object,
    `etag` and `version` which one it is, None if the server does not say.
    """

    offset: int
    length: int
    total: int | None
    etag: str | None
    version: str | None
    #: How many requests it took to get it.
    requests: int = 1

    @abstractmethod
    def chunk(self) -> memoryview:
        """The next bytes, as many as it likes; none at the end of the body.

        That may come too early. S3Exception if the connection fails, InterruptedIOException if the
        request was cancelled.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the connection back, or drop it if there is more to come; may be called again."""


class RangeSource(ABC):
    """Where ranges of objects come from: the part of a store that a stream needs.

    Safe with threads. It tries each request once, and holds nothing but connections.
    """

    @abstractmethod
    def get(self, request: Request, cancel: Cancellation) -> Body:
        """Ask for an object; the error is one of `failures.py`, and says bucket, key and range."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and threads; a later request gets new ones."""


class RequestCounters:
    """Count the requests, bytes and connections of one stream, which several threads may use."""

    def __init__(self) -> None:
        self._lock = free_in_children(threading.Lock())
        self.requests = 0
        self.received = 0
        self.opened = 0
        self.closed = 0

    def request(self, count: int = 1) -> None:
        """So many requests were sent."""
        with self._lock:
            self.requests += count

    def bytes(self, count: int) -> None:
        """So many bytes of a body arrived."""
        with self._lock:
            self.received += count

    def hold(self) -> None:
        """A connection is kept from one call of the reader to the next."""
        with self._lock:
            self.opened += 1

    def drop(self) -> None:
        """One that was held is given back."""
        with self._lock:
            self.closed += 1
