"""An event loop in a thread of its own, for calls that another thread may cancel."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeAlias, TypeVar

from fscontract.implementations.s3.source import Cancellation, interrupted

T = TypeVar("T")
_Running: TypeAlias = tuple[asyncio.AbstractEventLoop, threading.Thread]
_PATIENCE = 5.0


class Forked(Exception):
    """The thread stayed behind in the process that this one was forked from."""


class LoopThread:
    """Runs coroutines for threads that wait; its own thread lives from a first call to `stop`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._calls = 0  # under way
        self._resting = False

    def run(self, work: Coroutine[Any, Any, T], cancel: Cancellation, seconds: float) -> T:
        """What `work` gives; TimeoutError after so long, InterruptedIOException if cancelled.

        Forked in a child of the process that made this.
        """
        if os.getpid() != self._process:
            work.close()
            raise Forked
        future = self._submit(work)
        with cancel.calling(future.cancel):
            try:
                return future.result(seconds)
            except CancelledError:
                raise interrupted() from None
            except FutureTimeoutError:  # another TimeoutError before Python 3.11
                future.cancel()
                raise TimeoutError from None
            except BaseException:
                future.cancel()
                raise
            finally:
                del future  # which holds the error, whose traceback would hold it
                self._returned()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            self._calls += 1
            self._resting = False
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), daemon=True, name=self._name
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _returned(self) -> None:
        with self._lock:
            self._calls -= 1
            ended = self._take() if self._resting and not self._calls else None
        _end(ended)

    def rest(self) -> None:
        """End the thread as soon as no call is under way; a later call starts another one."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._resting = self._calls > 0
            ended = None if self._resting else self._take()
        _end(ended)

    def stop(self) -> None:
        """Cancel what is under way, and end the thread; a later call starts another one."""
        if os.getpid() != self._process:
            return
        with self._lock:
            ended = self._take()
        _end(ended)

    def _take(self) -> _Running | None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        return None if loop is None or thread is None else (loop, thread)


def _end(running: _Running | None) -> None:
    if running is not None:
        loop, thread = running
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(_PATIENCE)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(asyncio.sleep(0))  # calls that came in just before the end
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()
