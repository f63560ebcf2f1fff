"""Threads that run blocking calls, and wait a moment for the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

#: Seconds after which an idle thread ends.
_IDLE = 1.0
#: Maximum seconds that `stop` waits for an idle thread to end.
_PATIENCE = 1.0


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
                helper.join(_PATIENCE)


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
