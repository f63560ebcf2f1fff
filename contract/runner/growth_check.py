"""Watch the time and the memory of one stream's calls, over thousands of cheap ones.

No clause limits them, so growth is a warning: a list that every seek searches, a buffer that every
read keeps.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from fscontract.contract import clock
from fscontract.contract.program.program import Step
from fscontract.contract.runner.executor import Executor

#: Rounds of a stream's calls, batches of a round, and how often a batch repeats its calls.
_ROUNDS, _BATCHES, _REPEATS = 8, 4, 25
#: How much longer a call has to take in the last round than in the first: times, and seconds.
_TIMES, _SECONDS = 4.0, 2e-5
#: The fewest objects, and bytes of memory, that a call keeps.
_OBJECTS, _BYTES = 1.0, 4096
#: Calls of a batch; operations that the API lacks are left out.
_CALLS = (
    Step("seek", (0,)),
    Step("read_byte"),
    Step("seek", (3,)),
    Step("pread", (1, 2, 0, 2)),
    Step("py_seek", (1, 0)),
    Step("py_read", (2,)),
)
_LENGTH = 5
#: The most calls of the check.
MAX_CALLS = len(_CALLS) * _REPEATS * _BATCHES * _ROUNDS


class Round(NamedTuple):
    """What one round of calls took: seconds for the fastest call, and what is held after it."""

    seconds: float
    objects: int
    memory: int


def check_growth(executor: Executor) -> str:
    """Return how the calls of a stream become slower, or keep memory; "" if they do not.

    Exceptions of the calls are ignored: programs report them.
    """
    path, data, _ = executor.file(_LENGTH)
    steps = [step for step in _CALLS if step.op in executor.binding.operations]
    actions = [executor.compile(len(data), step).action for step in steps]
    close = executor.compile(len(data), Step("close")).action
    try:
        stream = executor.binding.open(path)
    except Exception:  # programs report a file that can't be opened
        return ""
    try:
        rounds = list(_rounds(lambda: [action(stream) for action in actions], len(actions)))
    finally:
        close(stream)
    return describe(rounds, len(actions) * _BATCHES * _REPEATS)


def _rounds(batch: Callable[[], object], calls: int) -> Iterator[Round]:
    for _ in range(_ROUNDS):
        fastest = min(_timed(batch) for _ in range(_BATCHES))
        gc.collect(0)
        yield Round(fastest / (calls * _REPEATS), _objects(), _memory())


def _timed(batch: Callable[[], object]) -> float:
    start = clock.monotonic()
    for _ in range(_REPEATS):
        batch()
    return clock.monotonic() - start


def describe(rounds: list[Round], calls: int) -> str:
    """Return the growth over these rounds of `calls` each as text, "" if there is none.

    Caches may fill in the first half, so memory has to grow in the second one. A collection of
    garbage may free what others have left, so one of its rounds may show no growth.
    """
    first, last, half = rounds[0], rounds[-1], rounds[len(rounds) // 2 :]
    slower = all(b.seconds >= a.seconds for a, b in pairwise(rounds))
    if slower and last.seconds > first.seconds * _TIMES + _SECONDS:
        return (
            f"a call takes {last.seconds * 1e6:.0f} us after {calls * len(rounds):,} calls on one "
            f"stream, {first.seconds * 1e6:.0f} us at first"
        )
    kept = median(b.objects - a.objects for a, b in pairwise(half)) / calls
    if kept >= _OBJECTS:
        return f"each call on a stream keeps about {max(round(kept), 1)} objects"
    grown = median(b.memory - a.memory for a, b in pairwise(half)) / calls
    return f"each call on a stream keeps about {grown:,.0f} bytes" if grown >= _BYTES else ""


def _objects() -> int:
    """Return the blocks of memory that Python's objects take; 0 if that is not known."""
    count = getattr(sys, "getallocatedblocks", None)
    return count() if count is not None else 0


def _memory() -> int:
    """Return the resident memory of the process in bytes; 0 if that is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
