"""Tests of the metrics of metadata tables."""

from __future__ import annotations

import pytest

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.metrics import SCAN, Metrics
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.table import MetadataTable
from tests.pipeline.hudi.support import PATH, dataset


def test_callback_gets_each_count_and_duration() -> None:
    amounts: list[tuple[str, float]] = []
    metrics = Metrics(lambda name, amount: amounts.append((name, amount)))
    with metrics.timed(SCAN):
        pass
    metrics.count("lookup_files", 2)
    seconds = metrics.snapshot()["HoodieMetadata.scan.duration"]
    assert amounts == [
        ("HoodieMetadata.scan.count", 1),
        ("HoodieMetadata.scan.duration", seconds),
        ("HoodieMetadata.lookup_files.count", 2),
    ]


def test_block_that_raises_is_counted() -> None:
    metrics = Metrics()
    with pytest.raises(ValueError, match="broken"), metrics.timed(SCAN):
        raise ValueError("broken")
    assert metrics.snapshot()["HoodieMetadata.scan.count"] == 1


def test_filters_are_counted_by_column() -> None:
    """Once for each query, also for columns without statistics."""
    fs, metrics = MemoryFileSystem(), Metrics()
    dataset(fs)
    with MetadataTable(fs, PATH, metrics=metrics) as table:
        table.prune([Filter("id", ">", 1), Filter("id", "<", 9)])
        table.prune([Filter("id", ">", 1), Filter("city", "=", "a")])
        table.prune([])
    assert metrics.filters == {"id": 2, "city": 1}


def test_sum_has_the_amounts_of_both() -> None:
    one, other = Metrics(), Metrics()
    one.count("sync", 2)
    other.count("sync", 3)
    other.filtered(["id"])
    one.add(other)
    assert one.snapshot() == {"HoodieMetadata.sync.count": 5}
    assert one.filters == {"id": 1}
