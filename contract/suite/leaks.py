"""Descriptors and threads that a stream leaves behind."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from typing import NamedTuple

_DESCRIPTORS = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
#: Runs that confirm a suspicion: a leak grows by one each time, a pool does not.
_REPEATS = 8


class Held(NamedTuple):
    """What the process holds: the lowest free descriptor, and how many threads live."""

    descriptor: int
    threads: int


def glance() -> Held:
    """A look that costs about a microsecond. A leaked descriptor takes the lowest number, so
    the lowest free one rises; it may also rise for other reasons, which `grows` sorts out."""
    free = os.dup(2)
    os.close(free)
    return Held(free, threading.active_count())


def count() -> Held:
    """The number of open descriptors, and of threads; a glance where they can't be listed."""
    try:
        return Held(len(os.listdir(_DESCRIPTORS)), threading.active_count())
    except OSError:
        return glance()


def grows(again: Callable[[], object]) -> str:
    """What `again` leaves behind each time: "" or, say, "a descriptor"."""
    gc.collect()
    before = count()
    for _ in range(_REPEATS):
        again()
    gc.collect()
    after = count()
    if after.descriptor - before.descriptor >= _REPEATS:
        return "a descriptor"
    return "a thread" if after.threads - before.threads >= _REPEATS else ""
