"""Request counts and alternating timing of runs."""

from __future__ import annotations

import gc
import random
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from benchmarks.s3.cases import Digest, Run, Work
from benchmarks.s3.relay import Relay

#: Seconds without traffic after which a run is complete; dropped data may still arrive.
_QUIET = 0.03


@dataclass
class Row:
    """Cost of one way of running a case."""

    name: str
    requests: dict[str, int] = field(default_factory=dict)
    received: int = 0
    #: Seconds of each round, by server.
    times: dict[str, list[float]] = field(default_factory=dict)
    #: CPU seconds of this process, which depend little on other load.
    processor: dict[str, list[float]] = field(default_factory=dict)
    failed: str = ""

    def median(self, place: str) -> float | None:
        """Return the median in seconds, None if it was not timed there."""
        return _median(self.times, place)

    def median_processor(self, place: str) -> float | None:
        """Return the median of CPU seconds, None if it was not timed there."""
        return _median(self.processor, place)


def count(row: Row, run: Run, case: str, work: Work, relay: Relay) -> None:
    """Count the requests and bytes of a run, and check the bytes read; record a failure."""
    try:
        before = _settled(relay)
        found = Digest()
        run(found.take)
    except Exception as error:  # any error shows that the library can't do this
        row.failed = f"{type(error).__name__}: {error}"[:200]
        return
    passed = _settled(relay) - before
    row.requests, row.received = passed.requests, passed.received
    if found != work.expected(case):
        row.failed = f"read {found.count} bytes, and not those expected"


def time_all(
    runs: dict[str, Run], rows: dict[str, Row], place: str, rounds: int, slow: float
) -> None:
    """Time all runs alternately, so that disturbances affect all of them.

    The order changes each round. A run that takes longer than `slow` seconds is timed only in every
    third round.
    """
    order = list(runs)
    gc.collect()
    gc.freeze()  # so that the collection before each run takes no time
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
    """Return the relay's counts, once traffic has stopped."""
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
