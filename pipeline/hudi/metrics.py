"""Counters and durations of a metadata table, with Hudi's names."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_PREFIX = "HoodieMetadata."
#: Names of counters; some are also timed.
INITIALIZE, SYNC, SCAN = "initialize", "sync", "scan"
VALIDATE_PARTITIONS, VALIDATE_FILES = "validate_partitions", "validate_files"
VALIDATE_ERRORS = "validate_errors"
LOOKUP_PARTITIONS, LOOKUP_FILES = "lookup_partitions", "lookup_files"


class Metrics:
    """Sums since creation; durations in seconds."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}

    def count(self, name: str, by: int = 1) -> None:
        """Add to a count."""
        self._counts[name] += by

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Count the block of code, and add its duration."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._counts[name] += 1
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - start

    def snapshot(self) -> Mapping[str, float]:
        """Return all values, such as HoodieMetadata.sync.count and HoodieMetadata.sync.duration."""
        values: dict[str, float] = {f"{_PREFIX}{n}.count": c for n, c in self._counts.items()}
        values |= {f"{_PREFIX}{n}.duration": s for n, s in self._seconds.items()}
        return dict(sorted(values.items()))
