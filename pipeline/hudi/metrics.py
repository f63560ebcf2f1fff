"""Counters and durations of a metadata table, with Hudi's names."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

_PREFIX = "HoodieMetadata."
#: Names of counters; some are also timed.
INITIALIZE, SYNC, SCAN = "initialize", "sync", "scan"
VALIDATE_PARTITIONS, VALIDATE_FILES = "validate_partitions", "validate_files"
VALIDATE_ERRORS = "validate_errors"
LOOKUP_PARTITIONS, LOOKUP_FILES = "lookup_partitions", "lookup_files"


class Metrics:
    """Sums since creation; durations in seconds.

    `callback` is called with name and amount of each addition, such as
    `("HoodieMetadata.scan.count", 1)`, in the thread that uses the table. `filters` has for each
    column the number of queries that filtered by it, whether the table has its statistics or not.
    """

    def __init__(self, callback: Callable[[str, float], None] | None = None) -> None:
        self._sums: dict[str, float] = {}
        self._callback = callback
        self.filters: Counter[str] = Counter()

    def count(self, name: str, by: int = 1) -> None:
        """Add to a count."""
        self._add(f"{_PREFIX}{name}.count", by)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Count the block of code, and add its duration."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.count(name)
            self._add(f"{_PREFIX}{name}.duration", time.perf_counter() - start)

    def filtered(self, columns: Iterable[str]) -> None:
        """Count a query that filters by these columns."""
        self.filters.update(set(columns))

    def add(self, other: Metrics) -> None:
        """Add the sums of another object; does not call back."""
        for name, amount in other._sums.items():
            self._sums[name] = self._sums.get(name, 0) + amount
        self.filters.update(other.filters)

    def snapshot(self) -> Mapping[str, float]:
        """Return all values, such as HoodieMetadata.sync.count and HoodieMetadata.sync.duration."""
        return dict(sorted(self._sums.items()))

    def _add(self, name: str, by: float) -> None:
        self._sums[name] = self._sums.get(name, 0) + by
        if self._callback is not None:
            self._callback(name, by)
