"""Work in a thread that is abandoned when one item takes too long, so that the run goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from fscontract.contract.suite.interrupt import Abandoned, give_up

Item = TypeVar("Item")
_TICK = 0.05


class _Worker(threading.Thread, Generic[Item]):
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
        self.current: Item | None = None
        self.since = time.monotonic()
        self.abandoned = False
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for item in self.items:
                self.current, self.since = item, time.monotonic()
                self.work(item)
                if self.abandoned:
                    return
            self.current = None
            self.ended = True
        except Abandoned:
            pass
        except BaseException as error:
            self.error = error


def beat(item: object) -> None:
    """Say that the calling worker, if it is one, has begun `item`: its time starts anew."""
    worker = threading.current_thread()
    if isinstance(worker, _Worker):
        worker.current, worker.since = item, time.monotonic()
        if worker.on_begin is not None:
            worker.on_begin(item)


@contextmanager
def untimed() -> Iterator[None]:
    """What the calling worker, if it is one, does in here is not counted as its item's time."""
    worker = threading.current_thread()
    if not isinstance(worker, _Worker):
        yield
        return
    item, begun = worker.current, time.monotonic()
    worker.current = None
    try:
        yield
    finally:
        worker.since += time.monotonic() - begun
        worker.current = item


def supervise(
    items: Iterator[Item],
    work: Callable[[Item], None],
    timeout: float,
    on_hang: Callable[[Item], bool],
    on_tick: Callable[[], None] = lambda: None,
    on_begin: Callable[[object], None] | None = None,
) -> None:
    """Call `work` on every item; an item that takes over `timeout` seconds goes to `on_hang`,
    and the rest go on in a new thread if that returns True. An exception of `work` comes out.

    `on_begin` is told in the thread of everything that `beat` is."""
    while True:
        worker = _Worker(items, work, on_begin)
        worker.start()
        hung = _wait(worker, timeout, on_tick)
        if worker.error is not None:
            raise worker.error
        if hung is None and not worker.ended:
            raise RuntimeError("a thread of the suite was ended from outside")
        if hung is None or not on_hang(hung):
            return


def _wait(worker: _Worker[Item], timeout: float, on_tick: Callable[[], None]) -> Item | None:
    """Wait for the worker to end (None), or for an item that hangs."""
    try:
        while worker.is_alive():
            worker.join(_TICK)
            on_tick()
            item = worker.current
            if item is not None and time.monotonic() - worker.since > timeout:
                worker.abandoned = True
                give_up(worker)
                worker.join(_TICK)
                return item
    except BaseException:
        worker.abandoned = True
        give_up(worker)
        worker.join(_TICK)
        raise
    return None
