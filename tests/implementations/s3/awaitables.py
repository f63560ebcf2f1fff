"""A replacement for obstore in which tests decide when an awaitable completes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from tests.limits import DEADLOCK


class Library:
    """Replaces obstore: a thread completes each awaitable as soon as the test allows it."""

    def __init__(self) -> None:
        self.may_complete = threading.Event()
        self.told = threading.Event()
        self.threads: list[threading.Thread] = []

    def awaitable(self, outcome: Any) -> Callable[[], Any]:
        """Return a function that starts a call with this outcome."""

        def begin() -> Any:
            running: Any = asyncio.get_running_loop()
            future = running.create_future()
            future.add_done_callback(self._tell)
            thread = threading.Thread(target=self._complete, args=(running, future, outcome))
            self.threads.append(thread)
            thread.start()
            return future

        return begin

    def _tell(self, future: Any) -> None:
        if future.cancelled():
            self.told.set()

    def _complete(self, running: Any, future: Any, outcome: Any) -> None:
        self.may_complete.wait(DEADLOCK)
        if future.cancelled():
            return
        failed = isinstance(outcome, Exception)
        running.call_soon_threadsafe(
            future.set_exception if failed else future.set_result, outcome, context=None
        )
