"""Read ahead: plans for read policies, windows fetched in advance, and their threads."""

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
    """How stream reads become requests. Sizes are in bytes."""

    #: What the first request of a run of reads is for, ...
    first: int
    #: ... how many times longer each further one of the run is, and its maximum.
    growth: int = 1
    maximum: int = 1 << 40
    #: How many requests are under way ahead of the reader, and how much of each is kept.
    ahead: int = 0
    hold: int = 0
    #: Whether a seek backwards or a positioned read ends this, and `random` goes on.
    adaptive: bool = False
    #: Whether the footer is kept, if the reader does not say.
    footer: bool = False


_RANDOM = Plan(first=64 * _KIB)
_SEQUENTIAL = Plan(first=64 * _MIB, growth=8, ahead=1, hold=_MIB)
_ADAPTIVE = Plan(first=128 * _KIB, growth=512, maximum=64 * _MIB, ahead=1, hold=_MIB, adaptive=True)
_COLUMNAR = replace(_RANDOM, footer=True)
#: What is not here is read like `default`.
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


def plan_of(options: OpenOptions, default: str | None = None) -> Plan:
    """The plan of an open: its policy's, with its buffer size and footer cache."""
    plan = PLANS.get(options.read_policy or default or "default", _ADAPTIVE)
    if options.footer_cache is not None:
        plan = replace(plan, footer=options.footer_cache)
    if options.buffer_size is not None:
        plan = with_buffer(plan, options.buffer_size)
    return plan


def with_buffer(plan: Plan, size: int) -> Plan:
    """The plan for a reader that asked for a buffer: a run begins with as much, or with more."""
    first = size if plan.growth == 1 and not plan.ahead else max(size, plan.first)
    return replace(plan, first=max(1, first))


def random_plan(plan: Plan) -> Plan:
    """What an adaptive plan goes on with."""
    return replace(_RANDOM, footer=plan.footer)


_inside = threading.local()
_PATIENCE = 1.0


class Workers:
    """At most `most` threads, made when there is work, and gone with the last user.

    A forked child has no threads of its parent.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # A stream may be lost, and so end here, in a thread that is just handing work over.
        self._lock = free_in_children(threading.RLock())
        self._users = 0
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def retain(self) -> None:
        """Note a user."""
        with self._mine():
            self._users += 1

    def release(self) -> None:
        """Note that a user has gone; with the last one all threads end."""
        with self._mine():
            self._users -= 1
            if self._users:
                return
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
            # A stream may be lost, and so end here, in one of the threads itself.
            if not getattr(_inside, "pool", False):
                for thread in list(pool._threads):
                    thread.join(_PATIENCE)

    def submit(self, work: Callable[[], None]) -> Future[None]:
        """Do some work in a thread; a cancelled future if there are no users any more."""
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
        """The lock, after a look at whether this is still the process of the threads."""
        if self._process != os.getpid():
            self._pool = None
            self._process = os.getpid()
        return self._lock


def _enter() -> None:
    _inside.pool = True


class Window:
    """One request's bytes, the first of them perhaps fetched ahead by a worker."""

    def __init__(self, download: Download) -> None:
        self._download = download
        self._chunks: deque[memoryview] = deque()
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self._working = False
        self._closed = False

    def begin(self, workers: Workers, hold: int) -> None:
        """Have a worker fetch up to `hold` bytes, and a chunk more."""
        self._working = True
        workers.submit(lambda: self._fetch(hold)).add_done_callback(self._done)

    def chunk(self) -> memoryview:
        """The next bytes, none at the end of the window; errors as in `Download.chunk`."""
        with self._changed:
            self._changed.wait_for(lambda: self._chunks or not self._working)
            if self._chunks:
                return self._chunks.popleft()
            error, self._error = self._error, None
        if error is not None:
            raise error
        return self._download.chunk()

    def close(self) -> None:
        """Give the connection back, as soon as no worker uses it."""
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
        except Exception as error:  # whatever it is, it belongs to the reader
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
    """A run of reads: the bytes from a position on, each once, in order.

    `position` is where the next chunk begins, `asked` up to where requests have been made. The
    windows grow as the plan says, and the first one has `first` bytes. What comes after `enough` is
    not fetched before it is asked for. One thread at a time, but `close` may come from any.
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
        self._last = first  # of the window made last
        #: From where on the next window is fetched while another one is read.
        self._steady = start + (0 if plan.growth == 1 else first // 2)
        self._windows: deque[Window] = deque()
        target.counters.hold()
        self._held = True

    def chunk(self) -> memoryview:
        """The next bytes, none at the end of the file; errors as in `Download.chunk`.

        InterruptedIOException once it is closed.
        """
        while True:
            self._cancel.check()
            if not self._windows:
                if not self._more():
                    self._drop()
                    return NOTHING
                self._windows.append(self._window())
            chunk = self._windows[0].chunk()
            if chunk:
                self.position += len(chunk)
                return chunk
            self._windows.popleft().close()
            if self.position < self.asked and not self._windows:
                return NOTHING  # the end, which nothing had told before

    def look_ahead(self, position: int) -> None:
        """Fetch what comes next in the background, if the reader, who stands there, goes on."""
        plan = self._plan
        if not plan.ahead or position < self._steady or not self._held:
            return
        if self._enough is not None and self.asked >= self._enough:
            return
        while len(self._windows) <= plan.ahead and self._more():
            if self.asked - position > plan.ahead * max(plan.hold, self._last // 4):
                return  # what is asked for will last
            window = self._window()
            window.begin(self._workers, plan.hold)
            self._windows.append(window)

    def close(self) -> None:
        """Cancel what is under way, and give connections back; may be called again."""
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

    def _window(self) -> Window:
        start, end = self.asked, self._target.pin.end(None)
        self.asked = start + self._size
        if end is not None:
            self.asked = min(self.asked, end)
        self._last = self.asked - start
        self._size = min(self._size * self._plan.growth, max(self._plan.maximum, self._size))
        return Window(Download(self._target, start, self.asked, self._cancel))
