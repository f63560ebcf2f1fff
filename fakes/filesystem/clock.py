"""Time as the fake filesystem has it: it passes when somebody says so, and no real time does."""

from __future__ import annotations

import threading

from fscontract.contract.errors import IllegalArgumentException

#: The moment at which every clock starts, in seconds since 1970.
EPOCH = 1_600_000_000.0


class Clock:
    """A clock that only `advance` moves; safe to use from several threads."""

    def __init__(self) -> None:
        self._now = 0.0
        self._lock = threading.Lock()

    @property
    def now(self) -> float:
        """Seconds since the clock was made."""
        return self._now

    @property
    def time(self) -> float:
        """The same moment in seconds since 1970, as it stands in a file's status."""
        return EPOCH + self._now

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass; IllegalArgumentException if they are negative."""
        if not seconds >= 0:
            raise IllegalArgumentException(f"time goes forward, not by {seconds} seconds")
        with self._lock:
            self._now += seconds

    def __repr__(self) -> str:
        return f"{type(self).__name__}(now={self._now})"
