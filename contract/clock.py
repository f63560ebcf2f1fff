"""The suite's own clock. A target that patches `time` in this process does not change it.

The functions hold what they call as defaults: tools that freeze time replace the attributes of all
modules, too. It is imported before any target is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone


def monotonic(read: Callable[[], float] = time.monotonic) -> float:
    """Return seconds on a clock that only goes forward."""
    return read()


def sleep(seconds: float, wait: Callable[[float], None] = time.sleep) -> None:
    """Let this thread wait."""
    wait(seconds)


def now(read: Callable[[], float] = time.time, clock: type[datetime] = datetime) -> datetime:
    """Return the time of day, in UTC."""
    return clock.fromtimestamp(read(), timezone.utc)
