"""Threads that are kept from one schedule to the next, because starting them costs more than
most schedules do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from fscontract.contract.suite.interrupt import Abandoned, give_up


class Worker(threading.Thread):
    """A thread that does the jobs it is given, one by one."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="fscontract-schedule")
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.start()

    def submit(self, job: Callable[[], None] | None) -> None:
        """Do this job next, or end if it is None."""
        self._jobs.put(job)

    def run(self) -> None:
        """Do jobs until there is none, or until the thread is given up."""
        try:
            while True:
                job = self._jobs.get()
                if job is None:
                    return
                job()
        except Abandoned:
            pass


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
            give_up(worker)
            self._workers.remove(worker)

    def close(self) -> None:
        """End every worker, and wait until they have ended."""
        for worker in self._workers:
            worker.submit(None)
        for worker in self._workers:
            worker.join()
        self._workers.clear()
