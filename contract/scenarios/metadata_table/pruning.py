"""Scenarios of column statistics: no file is left out that may have a row."""

from __future__ import annotations

import math
from contextlib import closing
from typing import Any

from fscontract.contract.pipeline_bindings import CheckedWriter, Statistics, TableChange
from fscontract.contract.scenarios.metadata_table.harness import A, B, Bench
from fscontract.contract.scenarios.metadata_table.scenario import Scenarios

scenario = Scenarios()
X = "x"


def _table(bench: Bench, **files: Statistics | None) -> CheckedWriter:
    """A table of files in one partition, with what is known of a column."""
    bench.dataset({A: dict.fromkeys(files, 1)})
    writer = bench.writer()
    known = {(A, name): [each] for name, each in files.items() if each is not None}
    writer.bootstrap(TableChange({A: dict.fromkeys(files, 1)}, {}, known))
    return writer


def _range(low: Any, high: Any, nulls: int = 0) -> Statistics:
    return Statistics(X, low, high, 10, nulls)


def _kept(bench: Bench, operator: str, value: Any = None, as_of: str | None = None) -> set[str]:
    with closing(bench.reader(as_of)) as reader:
        return reader.prune(X, operator, value)


@scenario("metadata.prune-range")
def prune_range(bench: Bench) -> None:
    """Files of three ranges, asked for by every comparison."""
    _table(bench, low=_range(0, 9), mid=_range(10, 19), high=_range(20, 29))
    wanted = {
        ("=", 15): {"mid"},
        ("<", 10): {"low"},
        ("<=", 10): {"low", "mid"},
        (">", 19): {"high"},
        (">=", 19): {"mid", "high"},
        ("in", (5, 25)): {"low", "high"},
        ("=", 99): set(),
    }
    for (operator, value), names in wanted.items():
        bench.want(_kept(bench, operator, value), names, f"{X} {operator} {value}")


@scenario("metadata.prune-unknown")
def prune_unknown(bench: Bench) -> None:
    """One file has no statistics, one no bounds; and one comes later, without any."""
    writer = _table(bench, known=_range(0, 9), none=None, boundless=Statistics(X))
    bench.commit(writer, {A: {"later": 1}})
    bench.want(_kept(bench, "=", 50), {"none", "boundless", "later"}, f"{X} = 50")


@scenario("metadata.prune-nulls")
def prune_nulls(bench: Bench) -> None:
    """Files without nulls, with some, and with nothing else."""
    _table(bench, none=_range(0, 9), some=_range(0, 9, 3), all=_range(None, None, 10))
    bench.want(_kept(bench, "is null"), {"some", "all"}, f"{X} is null")
    bench.want(_kept(bench, "is not null"), {"none", "some"}, f"{X} is not null")
    bench.want(_kept(bench, "=", 5), {"none", "some"}, f"{X} = 5")


@scenario("metadata.prune-nan")
def prune_nan(bench: Bench) -> None:
    """Bounds that are no numbers, and a value that is none; NaN may be beyond any bound."""
    _table(bench, nan=_range(math.nan, math.nan), number=_range(0.0, 9.0))
    bench.want(_kept(bench, "=", 50.0), {"nan"}, f"{X} = 50.0")
    bench.want(_kept(bench, ">", 50.0), {"nan", "number"}, f"{X} > 50.0")
    bench.want(_kept(bench, "=", math.nan), {"nan", "number"}, f"{X} = NaN")


@scenario("metadata.prune-text")
def prune_text(bench: Bench) -> None:
    """The bounds of long texts may be their beginnings."""
    _table(bench, cut=_range("aaaa", "mmmm"), other=_range("p", "q"))
    bench.want(_kept(bench, "=", "mmmmz"), {"cut"}, f"{X} = 'mmmmz'")
    bench.want(_kept(bench, ">", "mmmm"), {"cut", "other"}, f"{X} > 'mmmm'")
    bench.want(_kept(bench, "=", "n"), set(), f"{X} = 'n'")


@scenario("metadata.prune-types")
def prune_types(bench: Bench) -> None:
    """The value is of another type than the column."""
    _table(bench, number=_range(0, 9), text=_range("a", "b"))
    bench.want(_kept(bench, "=", "50"), {"number"}, f"{X} = '50'")
    bench.want(_kept(bench, "=", 50), {"text"}, f"{X} = 50")


@scenario("metadata.prune-replaced")
def prune_replaced(bench: Bench) -> None:
    """A file is deleted, and comes again with rows of which something or nothing is known."""
    for known in (_range(50, 59), None):
        bench.reset()
        writer = _table(bench, f=_range(0, 9))
        bench.clean(writer, {A: ["f"]})
        time = bench.begin(writer)
        statistics = {} if known is None else {(A, "f"): [known]}
        writer.finish(time, TableChange({A: {"f": 1}}, {}, statistics))
        bench.want(_kept(bench, "=", 55), {"f"}, f"{X} = 55")
        writer.compact()
        bench.want(_kept(bench, "=", 55), {"f"}, f"{X} = 55, compacted")


@scenario("metadata.prune-partitions")
def prune_partitions(bench: Bench) -> None:
    """Files of one name in two partitions have their own statistics."""
    bench.dataset({A: {"f": 1}, B: {"f": 2}})
    writer = bench.writer()
    known = {(A, "f"): [_range(0, 9)], (B, "f"): [_range(50, 59)]}
    writer.bootstrap(TableChange({A: {"f": 1}, B: {"f": 2}}, {}, known))
    bench.want(_kept(bench, "=", 99), set(), f"{X} = 99")
    for value in (5, 55):
        bench.want(_kept(bench, "=", value), {"f"}, f"{X} = {value}")


@scenario("metadata.prune-time-travel")
def prune_time_travel(bench: Bench) -> None:
    """A file came again with other rows; readers ask for what was there before."""
    writer = _table(bench, f=_range(0, 9))
    moment = _completed(bench, writer, {})
    _completed(bench, writer, {(A, "f"): [_range(50, 59)]})
    bench.want(_kept(bench, "=", 5, moment), {"f"}, f"{X} = 5 before")
    bench.want(_kept(bench, "=", 55, moment), set(), f"{X} = 55 before")
    bench.want(_kept(bench, "=", 55), {"f"}, f"{X} = 55 now")


def _completed(bench: Bench, writer: CheckedWriter, statistics: Any) -> str:
    time = bench.begin(writer)
    added = {A: {"f": 1}} if statistics else {}
    writer.finish(time, TableChange(added, {}, statistics))
    return bench.last()
