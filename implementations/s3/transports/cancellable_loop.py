"""Awaits obstore's futures without an event loop: the producing thread hands over the result.

obstore asks the running event loop for a future, and completes it from its own thread. An event
loop would cost two more thread switches for each request. It would also release the GIL in
obstore's thread: if the interpreter exits at that moment, CPython before 3.14 ends that thread,
which aborts the process. Here one object implements both loop and future.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from fscontract.implementations.s3.object_reader import Cancellation, interrupted

#: Seconds after which an idle thread ends.
_IDLE = 1.0
#: Maximum seconds that `stop` waits for an idle thread to end.
_STOP_PATIENCE = 1.0


class _Job(NamedTuple):
    work: Callable[[], Any]
    done: Callable[[Any], None]


class HelperThreads:
    """As many daemon threads as there are concurrent calls. Thread-safe."""

    def __init__(self) -> None:
        self._idle: list[_Helper] = []

    def start(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Call `work` in a thread, and `done` with its result; neither may raise.

        The thread is idle before it calls `done`. Raise RuntimeError if the process can't start
        another thread.
        """
        job = _Job(work, done)
        try:
            helper = self._idle.pop()
        except IndexError:
            _Helper(self._idle, job).start()
        else:
            helper.give(job)

    def stop(self) -> None:
        """End all idle threads. A later call starts new ones."""
        while self._idle:
            try:
                helper = self._idle.pop()
            except IndexError:  # another thread took the last one
                return
            helper.give(None)
            if helper is not threading.current_thread():  # a finalizer may run in any thread
                helper.join(_STOP_PATIENCE)


class _Helper(threading.Thread):
    """A thread that is in `idle` while it waits."""

    def __init__(self, idle: list[_Helper], job: _Job) -> None:
        super().__init__(name="fscontract-s3-helper", daemon=True)
        self._idle = idle
        self._job: _Job | None = job
        self._given = threading.Lock()
        self._given.acquire()

    def give(self, job: _Job | None) -> None:
        """Run `job` next, or end. Only for the caller that removed this thread from `idle`."""
        self._job = job
        self._given.release()

    def run(self) -> None:
        """Run one job after the other."""
        while (job := self._job) is not None:
            self._job = None
            outcome = job.work()
            self._idle.append(self)
            job.done(outcome)
            del job, outcome  # they may hold a response
            if not self._given.acquire(timeout=_IDLE):
                self._retire()

    def _retire(self) -> None:
        """Leave the idle threads, or accept the job that was given meanwhile."""
        try:
            self._idle.remove(self)
        except ValueError:
            self._given.acquire()


#: Seconds that interpreter exit waits for obstore's threads.
_PATIENCE = 5.0
_LOOK = 0.001


class Forked(Exception):
    """The call belongs to the parent process of a fork, and can't complete here."""


class Failed:
    """An error as a value, because the original may contain secrets."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Call:
    """One awaitable: the running event loop while it is created, then its future.

    `left` is set once no thread except the reader's will enter the interpreter for it.
    """

    def __init__(self, owner: Calls) -> None:
        self.owner = owner
        self.cancelling = False
        self.left = False
        self.outcome: Any = None
        self._decided = threading.Lock()  # held while the outcome is decided
        self._ready = threading.Lock()
        self._ready.acquire()
        self._callbacks: list[Callable[[Any], object]] = []
        self._canceller = 0
        self._completing = False

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds`; return True if the call ended."""
        return self._ready.acquire(timeout=seconds)

    def cancel(self) -> None:
        """Cancel the request; do nothing if it has ended."""
        if self._decided.acquire(blocking=False):
            self._canceller = threading.get_ident()
            self.cancelling = True
            for call in self._callbacks:
                call(self)
            self._ready.release()

    def _decide(self, outcome: Any) -> None:
        if self._decided.acquire(blocking=False):
            self.outcome = outcome
            self._callbacks.clear()
            self._ready.release()

    # Interface of an event loop.

    def create_future(self) -> Call:
        """Return the future of the one awaitable."""
        return self

    def call_soon_threadsafe(
        self, call: Callable[..., object], *arguments: Any, context: Any = None
    ) -> None:
        """Call `call` in this thread, which belongs to obstore and then leaves the interpreter."""
        self._completing = True
        try:
            call(*arguments)
        finally:
            # Set this last, without a call: during a call, another thread could run before this one
            # has left the interpreter.
            self.left = True

    # Interface of a future.

    def add_done_callback(self, call: Callable[[Any], object], *, context: Any = None) -> None:
        """Register a callback for cancellation; obstore uses no other."""
        self._callbacks.append(call)

    def cancelled(self) -> bool:
        """Return True if cancelled; obstore's thread then leaves."""
        if self.cancelling and not self._completing and threading.get_ident() != self._canceller:
            self.left = True
        return self.cancelling

    def done(self) -> bool:
        """Return True if cancelled or complete."""
        return self._decided.locked()

    def set_result(self, result: Any) -> None:
        """Complete with a result."""
        self._decide(result)

    def set_exception(self, error: BaseException) -> None:
        """Complete with an error."""
        self._decide(Failed(error))


class _UnderWay:
    """Calls of this process for which an obstore thread may still enter the interpreter."""

    def __init__(self) -> None:
        self._calls: set[Call] = set()
        self._ending = False

    def add(self, call: Call) -> None:
        """Add a call; raise InterruptedIOException if the interpreter is exiting."""
        if self._ending and threading.current_thread() is not threading.main_thread():
            raise interrupted()
        self._calls.add(call)

    def returned(self, call: Call) -> None:
        """Mark a call whose result was returned; its thread has usually left."""
        if self._ending:
            self._wait()
        if call.left:
            self._calls.discard(call)
        else:
            self._calls.difference_update([one for one in list(self._calls) if one.left])

    def cancel(self, owner: Calls | None = None) -> None:
        """Cancel all calls, or those of `owner`."""
        for call in list(self._calls):
            if owner in (None, call.owner):
                call.cancel()

    def end(self) -> None:
        """Cancel all calls and wait for their threads; later calls are waited for immediately."""
        self._ending = True
        self.cancel()
        self._wait()

    def _wait(self) -> None:
        latest = time.monotonic() + _PATIENCE
        while not all(call.left for call in list(self._calls)) and time.monotonic() < latest:
            time.sleep(_LOOK)

    def forked(self) -> None:
        """Forget calls after a fork, because their threads exist only in the parent."""
        self._calls = set()


_UNDER_WAY = _UnderWay()
atexit.register(_UNDER_WAY.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_UNDER_WAY.forked)


class Calls:
    """Waits for obstore's awaitables, in any number of threads, until they are cancelled."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._helpers = HelperThreads()

    def begin(self, begin: Callable[[], object]) -> Call:
        """Start the awaitable that `begin` creates. The caller must `wait` for it or `drop` it.

        Raise Forked in a child of the process that created this object.
        """
        call = self._call()
        _begin(begin, call)
        return call

    def send(self, work: Callable[[], object]) -> Call:
        """Start `work`, which blocks, in another thread. The caller must `wait` for the call.

        Cancelling the call ends the wait, not `work`. Raise Forked as `begin` does, and
        RuntimeError if the process can't start another thread.
        """
        call = self._call()
        try:
            self._helpers.start(partial(_outcome, work, call), call.set_result)
        except BaseException:
            call.left = True  # there is no thread
            raise
        return call

    def _call(self) -> Call:
        if os.getpid() != self._process:
            raise Forked
        call = Call(self)
        _UNDER_WAY.add(call)
        return call

    def wait(self, call: Call, cancel: Cancellation, seconds: float) -> Any:
        """Return the result of the awaitable, or Failed with its error.

        Raise TimeoutError after `seconds`, InterruptedIOException if cancelled, and Forked in a
        child of the process that created this object.
        """
        if os.getpid() != self._process:
            raise Forked
        try:
            with cancel.calling(call.cancel):
                if not call.wait(seconds):
                    raise TimeoutError
        finally:
            self.drop(call)
        if call.cancelling:
            raise interrupted()
        outcome, call.outcome = call.outcome, None  # obstore keeps the call for much longer
        return outcome

    def drop(self, call: Call) -> None:
        """Cancel a call unless it has ended. Do nothing in a forked child."""
        if os.getpid() == self._process:
            call.cancel()
            _UNDER_WAY.returned(call)

    def run(self, begin: Callable[[], object], cancel: Cancellation, seconds: float) -> Any:
        """Start an awaitable and wait for it."""
        return self.wait(self.begin(begin), cancel, seconds)

    def stop(self) -> None:
        """Cancel the calls in progress; later calls still work."""
        if os.getpid() == self._process:
            _UNDER_WAY.cancel(self)
            self._helpers.stop()


def _outcome(work: Callable[[], object], call: Call) -> object:
    """Return the result of `work`, or Failed."""
    try:
        return work()
    except BaseException as error:
        return Failed(error)
    finally:
        call.left = True  # the thread runs no more code of obstore, and may end at any time


def _begin(begin: Callable[[], object], call: Call) -> None:
    """Create the awaitable, with the call as the running event loop of this thread."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(call)  # type: ignore[arg-type]
    try:
        begin()
    except BaseException as error:
        call.left = True  # no awaitable was created
        if not isinstance(error, Exception):
            raise
        call.set_exception(error)
    finally:
        asyncio._set_running_loop(outer)
