"""The watchdog: run items in a thread, interrupt those that take too long, delay signals."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
import time
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from itertools import chain
from types import FrameType
from typing import Any, Generic, TypeVar

from fscontract.contract.clock import monotonic, sleep

#: The functions of `time` before a target is imported.
_clock_of = getattr(time, "pthread_getcpuclockid", None)
_read = getattr(time, "clock_gettime", None)
#: Seconds for which a thread is observed to see whether it is busy, and how often at most: on a
#: machine under load it may not get a processor the first time.
_GLANCE, _GLANCES = 0.02, 4
#: Number of times that a busy thread is interrupted.
_TRIES = 5


class Abandoned(BaseException):
    """Raised inside an abandoned thread, to end a loop in Python code."""


def give_up(thread: threading.Thread) -> None:
    """Stop the thread if it runs Python code, leave it if it blocks.

    An exception that is delivered in a finaliser, or in one of `gc.callbacks`, is lost, so there is
    no collection meanwhile, and what was lost is sent again.
    """
    for _ in range(_TRIES):
        if thread.ident is None or not thread.is_alive() or not _is_busy(thread):
            return
        with without_collection():
            interrupt(thread.ident)
            thread.join(_GLANCE)


def clear_interrupts() -> None:
    """Remove the traces of an exception sent to a blocked thread.

    Python 3.11 raises a flag for all threads until the exception is delivered, and until then a
    traced thread never gets past the first instruction of a function. Delivering one to this thread
    clears the flag.
    """
    if sys.version_info[:2] != (3, 11):
        return
    with suppress(Abandoned), without_collection():
        interrupt(threading.get_ident())
        for _ in range(1000):
            pass


def interrupt(ident: int) -> None:
    """Raise `Abandoned` in a thread as soon as it runs Python code."""
    error = ctypes.py_object(Abandoned)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), error)


def never_finalize(value: object) -> None:
    """Keep an object until the process ends: its finalizer may hang as its close() does.

    No reference is stored, so that not even the end of the interpreter releases it.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


#: Whether `stop_collecting` has ended the collection of garbage, and not the caller of the run.
_stopped = threading.Event()


def stop_collecting() -> None:
    """Collect no garbage from now on: finalizers would hang as close() does, in any thread."""
    if gc.isenabled():
        gc.disable()
        _stopped.set()


def collect_again() -> None:
    """Collect the garbage that is made from now on, if `stop_collecting` has ended that."""
    if _stopped.is_set():
        _stopped.clear()
        gc.freeze()
        gc.enable()


@contextmanager
def without_collection() -> Iterator[None]:
    """Suspend garbage collection, whose finalizers and callbacks would run at any time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def suppress_lost_messages() -> Iterator[None]:
    """Suppress messages about a lost `Abandoned`.

    Python would print it, and pytest make it an error of the running test.
    """
    heard = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not Abandoned:
            heard(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = heard


@contextmanager
def held_back() -> Iterator[None]:
    """Delay Ctrl-C, and the other signals that Python handles, until the removal of files is done.

    A second one is delivered immediately.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def note(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))
        if len(came) > 1:
            before[number](number, frame)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        handler = None if number is None else signal.getsignal(number)
        if number is not None and callable(handler):
            before[number] = handler
            signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is note:
                signal.signal(number, handler)
    for number, frame in came[:1]:
        before[number](number, frame)


def _is_busy(thread: threading.Thread) -> bool:
    """Return whether the thread uses the processor, or waits for one.

    False where the system does not show it.
    """
    if _clock_of is None or _read is None:
        return False
    try:
        clock = _clock_of(thread.ident)
        before = _read(clock)
        for _ in range(_GLANCES):
            sleep(_GLANCE)
            if _read(clock) - before > _GLANCE / 10 or is_runnable(thread):
                return True
    except OSError:  # it has ended already
        pass
    return False


def keeps_running(thread: threading.Thread | None) -> bool:
    """Return whether a thread that was interrupted runs on, and so slows all others."""
    return thread is not None and thread.is_alive() and _is_busy(thread)


def is_runnable(thread: threading.Thread, read: Callable[..., Any] = open) -> bool:
    """Return whether the thread is runnable; False on systems without that information."""
    try:
        with read(f"/proc/self/task/{thread.native_id}/stat", "rb") as file:
            return bool(file.read().rpartition(b")")[2].split()[0] == b"R")
    except (OSError, IndexError):
        return False


Item = TypeVar("Item")
_TICK = 0.05
#: The value before a target is imported.
_is_alive = threading.Thread.is_alive
_current_thread = threading.current_thread
#: The maximum of seconds that a tick counts for: a later tick was delayed by garbage collection or
#: a suspended machine, which also delayed the work.
_LONGEST_TICK = 1.0
#: Two weeks of ticks, or a second of those that the recursion limit rejects.
_MAX_TICKS = 24_000_000


class Next(Enum):
    """The reaction to an item that took too long."""

    GO_ON = "the next item"
    AGAIN = "the same item"
    END = "none"


class _Worker(threading.Thread, Generic[Item]):
    #: Whether any worker of the process was ever abandoned.
    one_is_abandoned = False

    def __init__(
        self,
        items: Iterator[Item],
        work: Callable[[Item], None],
        on_begin: Callable[[object], None] | None = None,
    ) -> None:
        super().__init__(daemon=True, name="fscontract-worker")
        self.items = items
        self.work = work
        self.on_begin = on_begin
        self.ended = False
        #: The item that the worker was given last, and the current one: that, or the argument of
        #: `beat`.
        self.given: Item | None = None
        self.current: Item | None = None
        self.since = monotonic()
        self.abandoned = False
        self.error: BaseException | None = None
        #: Held until the work has ended; waiting for it works even if a call has patched threads.
        self.working = allocate_lock()
        self.working.acquire()
        #: Held until the waiting thread is ready for any effect of the work.
        self.unwatched = allocate_lock()
        self.unwatched.acquire()

    def run(self) -> None:
        try:
            self.unwatched.acquire()
            self._run()
        finally:
            self.working.release()

    def _run(self) -> None:
        try:
            for item in self.items:
                self.given = self.current = item
                self.since = monotonic()
                self.work(item)
                if self.abandoned:
                    return
            self.current = None
            self.ended = True
        except Abandoned:
            pass
        except BaseException as error:
            self.error = error


class _Here:
    """The calling thread while it works on items itself, as a `_Worker` does."""

    def __init__(self, on_begin: Callable[[object], None] | None) -> None:
        self.on_begin = on_begin
        self.ident = threading.get_ident()
        self.current: object = None
        self.since = monotonic()


#: The innermost thread that works itself; none in a run with workers.
_here: list[_Here] = []


def _timed() -> _Worker[Any] | _Here | None:
    """Return the worker of the calling thread, None if its work is not timed."""
    worker = threading.current_thread()
    if isinstance(worker, _Worker):
        return worker
    return next((h for h in reversed(_here) if h.ident == threading.get_ident()), None)


def is_abandoned() -> bool:
    """Return whether the calling thread is a worker that was abandoned in a call."""
    if not _Worker.one_is_abandoned:
        return False
    worker: Any = _current_thread()
    return worker.__class__ is _Worker and worker.abandoned is True


def beat(item: object) -> None:
    """Record that the calling worker, if it is one, has begun `item`: its time restarts."""
    worker = _timed()
    if worker is not None:
        worker.current, worker.since = item, monotonic()
        if worker.on_begin is not None:
            worker.on_begin(item)


@contextmanager
def untimed() -> Iterator[None]:
    """Exclude this context from the time of the calling worker's item, if it is a worker."""
    worker = _timed()
    if worker is None:
        yield
        return
    item, begun = worker.current, monotonic()
    worker.current = None
    try:
        yield
    finally:
        worker.since += monotonic() - begun
        worker.current = item


def supervise(
    items: Iterator[Item],
    work: Callable[[Item], None],
    timeout: float | Callable[[threading.Thread], float],
    on_hang: Callable[[Item, int], Next],
    on_tick: Callable[[], None] = lambda: None,
    on_begin: Callable[[object], None] | None = None,
    on_late: Callable[[threading.Thread], None] = lambda thread: None,
    mark: Callable[[], object] = lambda: None,
) -> None:
    """Call `work` on every item. An exception of `work` passes.

    An item that takes over `timeout` seconds is abandoned, and `on_hang` decides how to continue.
    Its arguments are the item, or the last argument of `beat`, and the number of consecutive
    timeouts of this item. Time in which the whole process was suspended does not count, and the
    time of an item restarts when `mark` returns another value. `on_begin` is called in the worker
    thread with each item and argument of `beat`; `on_late` is called with that thread at the
    timeout, before the work is interrupted, which then continues in another thread.
    """
    limit = timeout if callable(timeout) else lambda thread: timeout
    again: Item | None = None
    times = 0
    while True:
        worker = _Worker(items, work, on_begin)
        with suppress_lost_messages():
            hung = _wait(worker, limit, on_tick, on_late, mark)
        if worker.error is not None:
            raise worker.error
        if hung is None and not worker.ended:
            raise RuntimeError("a thread of the suite was ended from outside")
        if hung is None:
            return
        given = worker.given
        times = times + 1 if given is again else 1
        then = on_hang(hung, times)
        if then is Next.END:
            return
        again = given if then is Next.AGAIN else None
        if again is not None:
            items = chain((again,), items)


def work_here(
    items: Iterator[Item],
    work: Callable[[Item], None],
    limit: Callable[[threading.Thread], float],
    on_tick: Callable[[], None] = lambda: None,
    on_begin: Callable[[object], None] | None = None,
    mark: Callable[[], object] = lambda: None,
) -> None:
    """Call `work` on every item in the calling thread, for targets that allow no other one.

    Another thread calls `on_tick`, as in `supervise`, until an item takes longer than the limit.
    Nothing interrupts that item here: the parent process notices that the ticks have ended.
    """
    here, ended, calling = _Here(on_begin), allocate_lock(), threading.current_thread()
    ended.acquire()

    def watch() -> None:
        marked: object = None
        while not ended.acquire(timeout=_TICK):
            if mark() != marked:
                marked, here.since = mark(), max(here.since, monotonic())
            if here.current is None or monotonic() - here.since <= limit(calling):
                on_tick()

    thread = threading.Thread(target=watch, daemon=True, name="fscontract-watch")
    thread.start()
    _here.append(here)
    try:
        for item in items:
            here.current, here.since = item, monotonic()
            work(item)
    finally:
        _here.remove(here)
        ended.release()
        thread.join()


class _Watch(Generic[Item]):
    """The waiting thread's view of a worker."""

    def __init__(
        self,
        worker: _Worker[Item],
        limit: Callable[[threading.Thread], float],
        on_tick: Callable[[], None],
        on_late: Callable[[threading.Thread], None],
        mark: Callable[[], object],
    ) -> None:
        self.worker = worker
        self.limit = limit
        self.on_tick = on_tick
        self.on_late = on_late
        self.mark = mark
        self.marked: object = None
        self.last = monotonic()
        self.hung: Item | None = None

    def has_ended(self) -> bool:
        """Wait for one tick. Return whether the worker has ended, or was abandoned for `hung`."""
        worker = self.worker
        if worker.working.acquire(timeout=_TICK) or not _is_alive(worker):
            return True
        self.on_tick()
        now = monotonic()
        if now - self.last > _LONGEST_TICK and worker.since <= self.last:
            worker.since += now - self.last - _LONGEST_TICK
        self.last = now
        marked = self.mark()
        if marked != self.marked:
            self.marked, worker.since = marked, max(worker.since, now)
        item = worker.current
        if item is None or now - worker.since <= self.limit(worker):
            return False
        self.on_late(worker)
        _abandon(worker)
        self.hung = item
        return True


def _wait(
    worker: _Worker[Item],
    limit: Callable[[threading.Thread], float],
    on_tick: Callable[[], None],
    on_late: Callable[[threading.Thread], None],
    mark: Callable[[], object],
) -> Item | None:
    """Start the worker and wait for it to end (None), or for an item that hangs."""
    watch = _Watch(worker, limit, on_tick, on_late, mark)
    worker.start()
    try:
        worker.unwatched.release()
        for _ in range(_MAX_TICKS):
            try:
                if watch.has_ended():
                    break
            except RecursionError:
                # A call has lowered the limit of all threads below the depth of this one, which
                # can neither call nor compare until the limit is put back.
                pass
        else:
            raise RecursionError("the recursion limit leaves the suite no calls")
    except BaseException:
        _abandon(worker)
        raise
    worker.join(_TICK)
    return watch.hung


def _abandon(worker: _Worker[Item]) -> None:
    worker.abandoned = True
    _Worker.one_is_abandoned = True
    give_up(worker)
    worker.join(_TICK)
