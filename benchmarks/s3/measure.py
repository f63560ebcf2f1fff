"""Counting what runs ask of a server, and timing them in turns."""

from __future__ import annotations

import gc
import random
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from benchmarks.s3.cases import Digest, Run, Work
from benchmarks.s3.relay import Relay

#: Seconds without traffic after which a run is over; what it dropped may still be on its way.
_QUIET = 0.03


@dataclass
class Row:
    """What one way of doing a case costs."""

    name: str
    requests: dict[str, int] = field(default_factory=dict)
    received: int = 0
    #: Seconds of each round, by where the server was.
    times: dict[str, list[float]] = field(default_factory=dict)
    #: Seconds of the processor that this process took, which a busy machine changes little.
    processor: dict[str, list[float]] = field(default_factory=dict)
    failed: str = ""

    def median(self, place: str) -> float | None:
        """Seconds, None if it was not timed there."""
        return _median(self.times, place)

    def median_processor(self, place: str) -> float | None:
        """Seconds of the processor, None if it was not timed there."""
        return _median(self.processor, place)


def count(row: Row, run: Run, case: str, work: Work, relay: Relay) -> None:
    """Count the requests and bytes of a run, and look at what it read; a failure is noted."""
    try:
        before = _settled(relay)
        found = Digest()
        run(found.take)
    except Exception as error:  # whatever a library raises, it can't do this
        row.failed = f"{type(error).__name__}: {error}"[:200]
        return
    passed = _settled(relay) - before
    row.requests, row.received = passed.requests, passed.received
    if found != work.expected(case):
        row.failed = f"read {found.count} bytes, and not those expected"


def time_all(
    runs: dict[str, Run], rows: dict[str, Row], place: str, rounds: int, slow: float
) -> None:
    """Time all runs in turns, so that what disturbs one disturbs them all.

    In each round they come in another order. One that takes longer than `slow` seconds is run in
    every third round only.
    """
    order = list(runs)
    gc.collect()
    gc.freeze()  # so that collecting before each run takes no time
    for number in range(rounds):
        random.Random(number).shuffle(order)
        for name in order:
            taken = rows[name].times.setdefault(place, [])
            if number % 3 and taken and taken[0] > slow:
                continue
            gc.collect()
            processor, start = time.process_time(), time.perf_counter()
            runs[name](_ignore)
            taken.append(time.perf_counter() - start)
            used = rows[name].processor.setdefault(place, [])
            used.append(time.process_time() - processor)


def _settled(relay: Relay) -> Any:
    """What has passed, once nothing passes any more."""
    counts = relay.counts()
    while True:
        time.sleep(_QUIET)
        later = relay.counts()
        if later == counts:
            return counts
        counts = later


def _median(seconds: dict[str, list[float]], place: str) -> float | None:
    found = seconds.get(place)
    return statistics.median(found) if found else None


def _ignore(_: Any) -> None:
    pass
