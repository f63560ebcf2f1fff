"""Scenarios of column statistics: no file is left out that may have a row."""

from __future__ import annotations

import math
from contextlib import closing
from typing import Any

from fscontract.contract.pipeline_bindings import CheckedWriter, Statistics, TableChange
from fscontract.contract.scenarios.metadata_table.harness import A, B, TableHarness
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[TableHarness]()
X = "x"


def _table(harness: TableHarness, **files: Statistics | None) -> CheckedWriter:
    """A table of files in one partition, with what is known of a column."""
    harness.dataset({A: dict.fromkeys(files, 1)})
    writer = harness.writer()
    known = {
        (A, name): [statistics] for name, statistics in files.items() if statistics is not None
    }
    writer.bootstrap(TableChange({A: dict.fromkeys(files, 1)}, {}, known))
    return writer


def _range(low: Any, high: Any, nulls: int = 0) -> Statistics:
    return Statistics(X, low, high, 10, nulls)


def _pruned(
    harness: TableHarness, operator: str, value: Any = None, as_of: str | None = None
) -> set[str]:
    with closing(harness.reader(as_of)) as reader:
        return reader.prune(X, operator, value)


@scenario("metadata.prune-range")
def prune_range(harness: TableHarness) -> None:
    """Files of three ranges, asked for by every comparison."""
    _table(harness, low=_range(0, 9), mid=_range(10, 19), high=_range(20, 29))
    expected = {
        ("=", 15): {"mid"},
        ("<", 10): {"low"},
        ("<=", 10): {"low", "mid"},
        (">", 19): {"high"},
        (">=", 19): {"mid", "high"},
        ("in", (5, 25)): {"low", "high"},
        ("=", 99): set(),
    }
    for (operator, value), names in expected.items():
        harness.expect(_pruned(harness, operator, value), names, f"{X} {operator} {value}")


@scenario("metadata.prune-unknown")
def prune_unknown(harness: TableHarness) -> None:
    """One file has no statistics, one no bounds; and one comes later, without any."""
    writer = _table(harness, known=_range(0, 9), none=None, boundless=Statistics(X))
    harness.commit(writer, {A: {"later": 1}})
    harness.expect(_pruned(harness, "=", 50), {"none", "boundless", "later"}, f"{X} = 50")


@scenario("metadata.prune-nulls")
def prune_nulls(harness: TableHarness) -> None:
    """Files without nulls, with some, and with nothing else."""
    _table(harness, none=_range(0, 9), some=_range(0, 9, 3), all=_range(None, None, 10))
    harness.expect(_pruned(harness, "is null"), {"some", "all"}, f"{X} is null")
    harness.expect(_pruned(harness, "is not null"), {"none", "some"}, f"{X} is not null")
    harness.expect(_pruned(harness, "=", 5), {"none", "some"}, f"{X} = 5")


@scenario("metadata.prune-nan")
def prune_nan(harness: TableHarness) -> None:
    """Bounds that are no numbers, and a value that is none; NaN may be beyond any bound."""
    _table(harness, nan=_range(math.nan, math.nan), number=_range(0.0, 9.0))
    harness.expect(_pruned(harness, "=", 50.0), {"nan"}, f"{X} = 50.0")
    harness.expect(_pruned(harness, ">", 50.0), {"nan", "number"}, f"{X} > 50.0")
    harness.expect(_pruned(harness, "=", math.nan), {"nan", "number"}, f"{X} = NaN")


@scenario("metadata.prune-text")
def prune_text(harness: TableHarness) -> None:
    """The bounds of long texts may be their beginnings."""
    _table(harness, cut=_range("aaaa", "mmmm"), other=_range("p", "q"))
    harness.expect(_pruned(harness, "=", "mmmmz"), {"cut"}, f"{X} = 'mmmmz'")
    harness.expect(_pruned(harness, ">", "mmmm"), {"cut", "other"}, f"{X} > 'mmmm'")
    harness.expect(_pruned(harness, "=", "n"), set(), f"{X} = 'n'")


@scenario("metadata.prune-types")
def prune_types(harness: TableHarness) -> None:
    """The value is of another type than the column."""
    _table(harness, number=_range(0, 9), text=_range("a", "b"))
    harness.expect(_pruned(harness, "=", "50"), {"number"}, f"{X} = '50'")
    harness.expect(_pruned(harness, "=", 50), {"text"}, f"{X} = 50")


@scenario("metadata.prune-replaced")
def prune_replaced(harness: TableHarness) -> None:
    """A file is deleted, and comes again with rows of which something or nothing is known."""
    for known in (_range(50, 59), None):
        harness.reset()
        writer = _table(harness, f=_range(0, 9))
        harness.clean(writer, {A: ["f"]})
        time = harness.begin(writer)
        statistics = {} if known is None else {(A, "f"): [known]}
        writer.finish(time, TableChange({A: {"f": 1}}, {}, statistics))
        harness.expect(_pruned(harness, "=", 55), {"f"}, f"{X} = 55")
        writer.compact()
        harness.expect(_pruned(harness, "=", 55), {"f"}, f"{X} = 55, compacted")


@scenario("metadata.prune-partitions")
def prune_partitions(harness: TableHarness) -> None:
    """Files of one name in two partitions have their own statistics."""
    harness.dataset({A: {"f": 1}, B: {"f": 2}})
    writer = harness.writer()
    known = {(A, "f"): [_range(0, 9)], (B, "f"): [_range(50, 59)]}
    writer.bootstrap(TableChange({A: {"f": 1}, B: {"f": 2}}, {}, known))
    harness.expect(_pruned(harness, "=", 99), set(), f"{X} = 99")
    for value in (5, 55):
        harness.expect(_pruned(harness, "=", value), {"f"}, f"{X} = {value}")


@scenario("metadata.prune-time-travel")
def prune_time_travel(harness: TableHarness) -> None:
    """A file came again with other rows; readers ask for what was there before."""
    writer = _table(harness, f=_range(0, 9))
    moment = _completed(harness, writer, {})
    _completed(harness, writer, {(A, "f"): [_range(50, 59)]})
    harness.expect(_pruned(harness, "=", 5, moment), {"f"}, f"{X} = 5 before")
    harness.expect(_pruned(harness, "=", 55, moment), set(), f"{X} = 55 before")
    harness.expect(_pruned(harness, "=", 55), {"f"}, f"{X} = 55 now")


def _completed(harness: TableHarness, writer: CheckedWriter, statistics: Any) -> str:
    time = harness.begin(writer)
    added = {A: {"f": 1}} if statistics else {}
    writer.finish(time, TableChange(added, {}, statistics))
    return harness.last()
