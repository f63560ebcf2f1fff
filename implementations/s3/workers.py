"""Threads that fetch in the background, as long as there is an open stream."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from fscontract.implementations.forks import free_in_children

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
