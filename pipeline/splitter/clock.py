"""Clocks of the splitter: the machine's clock, and one that tests advance."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from weakref import WeakSet


class Clock(ABC):
    """The time, and how a thread waits for a moment or a change."""

    @abstractmethod
    def now(self) -> float:
        """Return seconds since some moment; never goes back."""

    @abstractmethod
    def time(self) -> float:
        """Return seconds since 1970."""

    @abstractmethod
    def watch(self, condition: threading.Condition) -> None:
        """Be told of a condition that threads are going to wait on."""

    @abstractmethod
    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait until the held condition is notified, or `seconds` have passed."""


class SystemClock(Clock):
    """The clock of this machine."""

    def now(self) -> float:
        """Return seconds since some moment; never goes back."""
        return time.monotonic()

    def time(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def watch(self, condition: threading.Condition) -> None:
        """Do nothing: the machine's time wakes up who waits."""

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait until the condition is notified, or `seconds` have passed."""
        condition.wait(seconds)


class ManualClock(Clock):
    """A clock that only `advance` moves; who waits for a moment wakes up when it has come."""

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
        """Let `advance` notify the condition."""
        with self._lock:
            self._watched.add(condition)

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait until the condition is notified; `advance` does so, too."""
        condition.wait()

    def advance(self, seconds: float) -> None:
        """Advance the time, and wake up waiting threads."""
        with self._lock:
            self._now += seconds
            watched = list(self._watched)
        for condition in watched:
            with condition:  # not before who holds it waits, and so can be woken up
                condition.notify_all()
