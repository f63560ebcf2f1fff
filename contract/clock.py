"""Clock and sleep functions of the suite, unaffected by a target that patches `time`.

The functions hold the originals as default arguments, because tools that freeze time also replace
the attributes of all modules. It is imported before any target.
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
