"""The scheduler decides when a thread counts as blocked."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from fscontract.contract.concurrency import scheduler as module
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.concurrency.scheduler import PATIENCE, Scheduler
from fscontract.contract.program.program import Step

TICK = 0.002
TICKS_TO_BLOCK = round(PATIENCE / TICK)
READ = Step("pread", (0, 1, 0, 1))


class Ticks:
    """A clock and lock of the scheduler: `count` ticks of `length` seconds."""

    def __init__(self, count: int, length: float) -> None:
        self._left, self._length = count, length
        self._now = 0.0

    def monotonic(self) -> float:
        """Return the time."""
        return self._now

    def acquire(self, timeout: float) -> bool:
        """Let a tick pass; return whether it was the last."""
        self._left -= 1
        self._now += self._length
        return self._left < 0


def blocked_after(
    ticks: int, length: float, monkeypatch: pytest.MonkeyPatch, runnable: bool = False
) -> bool:
    """Return whether a thread without events counts as blocked after these ticks."""
    scheduler: Any = Scheduler(Schedule(0, ((READ,),)), 100, set())
    fake = Ticks(ticks, length)
    scheduler._finished = fake
    scheduler.counts[0].append(0)
    monkeypatch.setattr(module, "clock", fake)
    monkeypatch.setattr(module, "is_runnable", lambda thread: runnable)
    assert scheduler.supervise([threading.Thread()], hang_after=1e9)
    return any(entry.event == "blocked" for entry in scheduler.log)


def test_thread_without_events_for_the_patience_is_blocked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not blocked_after(TICKS_TO_BLOCK - 1, TICK, monkeypatch)
    assert blocked_after(TICKS_TO_BLOCK + 1, TICK, monkeypatch)


def test_late_ticks_count_as_ticks_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the thread did not run either."""
    assert not blocked_after(TICKS_TO_BLOCK - 1, 60.0, monkeypatch)
    assert blocked_after(TICKS_TO_BLOCK + 1, 60.0, monkeypatch)


def test_runnable_thread_is_blocked_only_after_a_longer_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not blocked_after(10 * TICKS_TO_BLOCK, TICK, monkeypatch, runnable=True)
    assert blocked_after(110 * TICKS_TO_BLOCK, TICK, monkeypatch, runnable=True)


def test_a_scheduler_is_freed_without_a_collection_of_garbage() -> None:
    scheduler = Scheduler(Schedule(0, ((READ,),)), 100, set())
    tracer: Any = scheduler._tracer(0)
    freed = weakref.ref(scheduler)
    gc.disable()
    try:
        del scheduler, tracer
        assert freed() is None
    finally:
        gc.enable()
