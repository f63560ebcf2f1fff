"""Clocks of the splitter: the system clock, and a manual one for tests."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from weakref import WeakSet


class Clock(ABC):
    """A clock, and waits for a time or a condition."""

    @abstractmethod
    def now(self) -> float:
        """Return seconds since an arbitrary start; never decreases."""

    @abstractmethod
    def time(self) -> float:
        """Return seconds since 1970."""

    @abstractmethod
    def watch(self, condition: threading.Condition) -> None:
        """Register a condition that threads will wait on."""

    @abstractmethod
    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait until the held condition is notified, or for `seconds`."""


class SystemClock(Clock):
    """The system clock."""

    def now(self) -> float:
        """Return seconds since an arbitrary start; never decreases."""
        return time.monotonic()

    def time(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def watch(self, condition: threading.Condition) -> None:
        """Do nothing, because waits end by the system's time."""

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait until the condition is notified, or for `seconds`."""
        condition.wait(seconds)


class ManualClock(Clock):
    """A clock that moves only by `advance`, which wakes up waiting threads."""

    def __init__(self, start: float = 1_600_000_000.0) -> None:
        self._start = start
        self._now = 0.0
        self._lock = threading.Lock()
        self._watched: WeakSet[threading.Condition] = WeakSet()

    def now(self) -> float:
        """Return seconds since the clock was created."""
        return self._now

    def time(self) -> float:
        """Return seconds since 1970."""
        return self._start + self._now

    def watch(self, condition: threading.Condition) -> None:
        """Make `advance` notify the condition."""
        with self._lock:
            self._watched.add(condition)

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait until the condition is notified, also by `advance`."""
        condition.wait()

    def advance(self, seconds: float) -> None:
        """Advance the time, and wake up waiting threads."""
        with self._lock:
            self._now += seconds
            watched = list(self._watched)
        for condition in watched:
            with condition:  # wait until the thread that holds it waits, and can be woken up
                condition.notify_all()
