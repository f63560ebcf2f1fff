"""Read-ahead: plans for read policies, windows fetched in advance, and worker threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from fscontract.implementations.filesystem_base import free_in_children
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.s3.object_reader import Cancellation
from fscontract.implementations.s3.range_download import NOTHING, Download, Target

_KIB = 1 << 10
_MIB = 1 << 20


@dataclass(frozen=True)
class Plan:
    """Rules that map stream reads to requests. Sizes are in bytes."""

    #: Size of the first request in a run of reads, ...
    first: int
    #: ... growth factor of each further request, and maximum size.
    growth: int = 1
    maximum: int = 1 << 40
    #: Number of requests in progress ahead of the reader, and bytes kept of each.
    ahead: int = 0
    hold: int = 0
    #: Switch to `random` after a backward seek or a positioned read.
    adaptive: bool = False
    #: Keep the footer, unless the reader overrides it.
    footer: bool = False
    #: Number of requests ahead, of PART bytes each, once a response was slow; 0 to change nothing.
    parallel: int = 0


#: Size of parallel requests.
PART = 8 * _MIB
#: Seconds from which a response is slow: parallel requests cost more than they save below.
SLOW = 0.01

_RANDOM = Plan(first=64 * _KIB)
_SEQUENTIAL = Plan(first=64 * _MIB, growth=8, ahead=1, hold=_MIB)
_ADAPTIVE = Plan(first=128 * _KIB, growth=512, maximum=64 * _MIB, ahead=1, hold=_MIB, adaptive=True)
_COLUMNAR = replace(_RANDOM, footer=True)
#: Other policies are read like `default`.
PLANS: dict[str, Plan] = {
    "default": _ADAPTIVE,
    "adaptive": _ADAPTIVE,
    "sequential": _SEQUENTIAL,
    "avro": _SEQUENTIAL,
    "csv": _SEQUENTIAL,
    "json": _SEQUENTIAL,
    "whole-file": Plan(first=8 * _MIB, ahead=3, hold=8 * _MIB),
    "random": _RANDOM,
    "vector": _RANDOM,
    "columnar": _RANDOM,
    "hbase": _RANDOM,
    "parquet": _COLUMNAR,
    "orc": _COLUMNAR,
}


def plan_of(options: OpenOptions, default: str | None = None, prefetch: int = 0) -> Plan:
    """Return the plan of an open: that of its policy, with its buffer size and footer cache.

    A plan that reads ahead may keep `prefetch` bytes if the store is slow.
    """
    plan = PLANS.get(options.read_policy or default or "default", _ADAPTIVE)
    if options.footer_cache is not None:
        plan = replace(plan, footer=options.footer_cache)
    if plan.ahead and prefetch >= PART:
        plan = replace(plan, first=min(plan.first, PART), parallel=prefetch // PART)
    if options.buffer_size is not None:
        plan = with_buffer(plan, options.buffer_size)
    return plan


def with_buffer(plan: Plan, size: int) -> Plan:
    """Return the plan for a buffer size: the first request has at least this size."""
    first = size if plan.growth == 1 and not plan.ahead else max(size, plan.first)
    return replace(plan, first=max(1, first))


def parallel_plan(plan: Plan) -> Plan:
    """Return the plan that replaces one whose store is slow."""
    return replace(plan, growth=1, maximum=PART, ahead=plan.parallel, hold=PART, parallel=0)


def random_plan(plan: Plan) -> Plan:
    """Return the random-access plan that replaces an adaptive plan."""
    return replace(_RANDOM, footer=plan.footer)


_inside = threading.local()
_PATIENCE = 1.0


class Workers:
    """Pool of up to `most` threads, started on demand and stopped with the last user.

    A forked child does not inherit threads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # A lost stream may be finalized, and call this, in a thread that is submitting work.
        self._lock = free_in_children(threading.RLock())
        self._users = 0
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def retain(self) -> None:
        """Add a user."""
        with self._mine():
            self._users += 1

    def release(self) -> None:
        """Remove a user; the last one stops all threads."""
        with self._mine():
            self._users -= 1
            if self._users:
                return
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
            # A lost stream may be finalized, and call this, in one of the pool's threads.
            if not getattr(_inside, "pool", False):
                for thread in list(pool._threads):
                    thread.join(_PATIENCE)

    def submit(self, work: Callable[[], None]) -> Future[None]:
        """Run `work` in a thread; return a cancelled future if the pool has no users."""
        with self._mine():
            if not self._users:
                future: Future[None] = Future()
                future.cancel()
                return future
            if self._pool is None:
                self._pool = ThreadPoolExecutor(
                    self._most, thread_name_prefix="fscontract-s3", initializer=_enter
                )
            return self._pool.submit(work)

    def _mine(self) -> AbstractContextManager[Any]:
        """Return the lock, after resetting the pool if this process is a fork."""
        if self._process != os.getpid():
            self._pool = None
            self._process = os.getpid()
        return self._lock


def _enter() -> None:
    _inside.pool = True


class Window:
    """Bytes of one request; a worker may fetch the first ones ahead."""

    def __init__(self, download: Download) -> None:
        self._download = download
        self._chunks: deque[memoryview] = deque()
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self._working = False
        self._closed = False

    @property
    def delay(self) -> float:
        """Seconds that the latest response took."""
        return self._download.delay

    def begin(self, workers: Workers, hold: int) -> None:
        """Start a worker that fetches up to `hold` bytes and one more chunk."""
        self._working = True
        workers.submit(lambda: self._fetch(hold)).add_done_callback(self._done)

    def chunk(self) -> memoryview:
        """Return the next bytes, empty at the window's end. Raises as `Download.chunk` does."""
        with self._changed:
            self._changed.wait_for(lambda: self._chunks or not self._working)
            if self._chunks:
                return self._chunks.popleft()
            error, self._error = self._error, None
        if error is not None:
            raise error
        return self._download.chunk()

    def close(self) -> None:
        """Return the connection once no worker uses it."""
        with self._changed:
            self._closed = True
            self._chunks.clear()
            working = self._working
        if not working:
            self._download.close()

    def _fetch(self, hold: int) -> None:
        try:
            while hold > 0 and (chunk := self._download.chunk()):
                hold -= len(chunk)
                with self._changed:
                    self._chunks.append(chunk)
                    self._changed.notify_all()
        except Exception as error:  # pass any error to the reader
            self._error = error
            self._download.close()

    def _done(self, _: Future[None]) -> None:
        with self._changed:
            self._working = False
            self._changed.notify_all()
            closed = self._closed
        if closed:
            self._download.close()


class ReadAhead:
    """A run of sequential reads: the bytes from a position on, each once, in order.

    `position` is the start of the next chunk; requests have been sent up to `asked`. The first
    window has `first` bytes, further ones grow as the plan says, and cover what a read wants.
    Bytes past `enough` are fetched only on demand. Not thread-safe, except that any thread may
    call `close`.
    """

    def __init__(
        self,
        target: Target,
        plan: Plan,
        start: int,
        first: int,
        workers: Workers,
        enough: int | None = None,
    ) -> None:
        self.position = self.asked = start
        self._target = target
        self._plan = plan
        self._workers = workers
        self._enough = enough
        self._cancel = Cancellation()
        self._size = first
        self._last = first  # size of the latest window
        #: Offset from which the next window is fetched while the current one is read.
        self._steady = start + (0 if plan.growth == 1 else first // 2)
        self._windows: deque[Window] = deque()
        target.counters.hold()
        self._held = True

    def chunk(self, wanted: int) -> memoryview:
        """Return the next bytes, empty at EOF. Raises as `Download.chunk` does.

        A new request covers all `wanted` bytes. Raise InterruptedIOException after `close`.
        """
        while True:
            self._cancel.check()
            if not self._windows:
                if not self._more():
                    self._drop()
                    return NOTHING
                self._windows.append(self._window(wanted))
            chunk = self._windows[0].chunk()
            if chunk:
                self.position += len(chunk)
                return chunk
            self._windows.popleft().close()
            if self.position < self.asked and not self._windows:
                return NOTHING  # EOF, at a length that was unknown before

    def look_ahead(self, position: int) -> None:
        """Fetch the next bytes in the background if a reader at `position` reads sequentially."""
        if self._plan.parallel and self._windows and self._windows[0].delay >= SLOW:
            self._plan, self._size, self._steady = parallel_plan(self._plan), PART, position
        plan = self._plan
        if not plan.ahead or position < self._steady or not self._held:
            return
        if self._enough is not None and self.asked >= self._enough:
            return
        while len(self._windows) <= plan.ahead and self._more():
            if self.asked - position > plan.ahead * max(plan.hold, self._last // 4):
                return  # enough has been requested
            window = self._window()
            window.begin(self._workers, plan.hold)
            self._windows.append(window)

    def close(self) -> None:
        """Cancel all requests and return connections. May be called again."""
        self._cancel.cancel()
        for window in list(self._windows):
            window.close()
        self._drop()

    def _drop(self) -> None:
        if self._held:
            self._held = False
            self._target.counters.drop()

    def _more(self) -> bool:
        end = self._target.pin.end(None)
        return end is None or self.asked < end

    def _window(self, least: int = 0) -> Window:
        start, end = self.asked, self._target.pin.end(None)
        self.asked = start + max(self._size, least)
        if end is not None:
            self.asked = min(self.asked, end)
        self._last = self.asked - start
        self._size = min(self._size * self._plan.growth, max(self._plan.maximum, self._size))
        return Window(Download(self._target, start, self.asked, self._cancel))
