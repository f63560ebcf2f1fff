"""Threads that are kept from one schedule to the next, because starting them costs more than
most schedules do."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable

from fscontract.contract.suite.watchdog import Abandoned

#: How long a thread is watched to see whether it is busy, in seconds.
_GLANCE = 0.02


class Worker(threading.Thread):
    """A thread that does the jobs it is given, one by one."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="fscontract-schedule")
        self._gate = threading.Lock()
        self._gate.acquire()
        self._job: Callable[[], None] | None = None
        self.start()

    def submit(self, job: Callable[[], None] | None) -> None:
        """Do this job next, or end if it is None; the last one must be done."""
        self._job = job
        self._gate.release()

    def run(self) -> None:
        """Do jobs until there is none, or until the thread is given up."""
        try:
            while True:
                self._gate.acquire()
                job, self._job = self._job, None
                if job is None:
                    return
                job()
        except Abandoned:
            pass

    def abandon(self) -> None:
        """Give the thread up: stop it if it runs Python code, leave it if it blocks."""
        if self.ident is not None and _is_busy(self.ident):
            _interrupt(self.ident)


class Pool:
    """As many workers as a schedule has threads."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []

    def take(self, count: int) -> list[Worker]:
        """The first `count` workers, started if need be."""
        while len(self._workers) < count:
            self._workers.append(Worker())
        return self._workers[:count]

    def abandon(self, workers: list[Worker]) -> None:
        """Give up workers that hang; others take their places."""
        for worker in workers:
            worker.abandon()
            self._workers.remove(worker)

    def close(self) -> None:
        """End every worker, and wait until they have ended."""
        for worker in self._workers:
            worker.submit(None)
        for worker in self._workers:
            worker.join()
        self._workers.clear()


def clear_interrupts() -> None:
    """Take back what an exception sent to a blocked thread leaves behind.

    Python 3.11 raises a flag for all threads until the exception is delivered, and as long as it
    is up a traced thread never gets past the first instruction of a function. Delivering one to
    this thread lowers it.
    """
    if sys.version_info[:2] != (3, 11):
        return
    try:
        _interrupt(threading.get_ident())
        for _ in range(1000):
            pass
    except Abandoned:
        pass


def _interrupt(ident: int) -> None:
    error = ctypes.py_object(Abandoned)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), error)


def _is_busy(ident: int) -> bool:
    """Whether the thread uses the processor. False where the system can't tell."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return False
    clock = time.pthread_getcpuclockid(ident)
    before = time.clock_gettime(clock)
    time.sleep(_GLANCE)
    return time.clock_gettime(clock) - before > _GLANCE / 10
