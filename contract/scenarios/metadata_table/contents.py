"""Scenarios of the content of the table: partitions, files, merging, reads, column statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any

from fscontract.contract.pipeline_bindings import DATASET, CheckedWriter, Statistics, TableChange
from fscontract.contract.scenarios.instrumented_filesystem import DEATHS, Killed
from fscontract.contract.scenarios.metadata_table.harness import (
    FILES,
    START,
    TIMELINE,
    A,
    B,
    C,
    TableHarness,
)
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[TableHarness]()
#: Names that mean something else as a URL, to a shell, or to a filesystem that folds them.
ODD_NAMES = (" a b ", "a%20b", "a+b", "A B", "\xe9", "e\u0301", "a'b", "a:b", "~")


@scenario("metadata.place")
def place(harness: TableHarness) -> None:
    """The table is made in Hudi's place, with one partition for listings."""
    harness.table()
    harness.expect(harness.has(FILES), True, f"{FILES} exists")
    harness.expect(len(harness.own_files(".hfile")), 1, f"base files in {FILES}")
    inside = [s.path for s in harness.fs.inner.list_status(DATASET) if "/." in s.path]
    harness.expect(inside, [f"{DATASET}/.hoodie"], "what is the table's in the dataset")


@scenario("metadata.partitions")
def partitions(harness: TableHarness) -> None:
    """A commit adds a partition, at several depths."""
    writer = harness.table({A: {"a": 1}, "x/y=2": {"b": 2}})
    harness.commit(writer, {"x/y=3": {"c": 3}})
    with closing(harness.reader()) as reader:
        harness.expect([*reader.partitions()], [A, "x/y=2", "x/y=3"], "partitions")


@scenario("metadata.files")
def files(harness: TableHarness) -> None:
    """Files are added to existing partitions and to a new one."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}, C: {"c1": 5}})
    harness.commit(writer, {A: {"a4": 2}})
    harness.expect_dataset()


@scenario("metadata.files")
def many_commits(harness: TableHarness) -> None:
    """More than thirty commits follow each other, and the table is not compacted."""
    writer = harness.table()
    for number in range(35):
        harness.commit(writer, {(A, C)[number % 2]: {f"n{number}": number}})
    harness.expect_dataset()


@scenario("metadata.partitions")
def many_partitions(harness: TableHarness) -> None:
    """A table has 150 partitions, some of which a commit adds."""
    names = [f"p={number}" for number in range(150)]
    writer = harness.table({name: {"f": 1} for name in names[:120]})
    harness.commit(writer, {name: {"g": 2} for name in names[110:]})
    with closing(harness.reader()) as reader:
        harness.expect(sorted(reader.partitions()), sorted(names), "partitions")


@scenario("metadata.files")
def many_files(harness: TableHarness) -> None:
    """A partition has 1,200 files; 150 are asked for, in any order, and some of them twice."""
    content = {f"p={number}": {f"f{number}": number} for number in range(150)}
    content[A] = {f"f{number}": number for number in range(1200)}
    harness.table(content)
    order = [*reversed(content), A, "p=7"]
    with closing(harness.reader()) as reader:
        harness.expect_listing(content, reader.files(order), "partitions in reverse order")


@scenario("metadata.files", "metadata.partitions")
def odd_names(harness: TableHarness) -> None:
    """Names have spaces, escapes, upper case, accents in two forms, or begin with a dot."""
    writer = harness.table({f"p={name}": {name: 1} for name in ODD_NAMES})
    harness.commit(writer, {f"q={name}": {name: 1, ".a": 2, "_a": 3} for name in ODD_NAMES})
    harness.commit(writer, {"__HIVE_DEFAULT_PARTITION__": dict.fromkeys(ODD_NAMES, 1)})
    expected = harness.model.listing()
    with closing(harness.reader()) as reader:
        found, listing = sorted(reader.partitions()), reader.files(expected)
    harness.expect(found, sorted(expected), "partitions", clause="metadata.partitions")
    harness.expect_listing(expected, listing, "files")


@scenario("metadata.sizes")
def sizes(harness: TableHarness) -> None:
    """Files with sizes of 0 and 1, and two with the same name."""
    harness.table({A: {"none": 0, "one": 1, "same": 2}, B: {"same": 3}})
    harness.expect_dataset()


@scenario("metadata.sizes")
def large_sizes(harness: TableHarness) -> None:
    """Files with sizes that fit neither into 32 bits nor into a floating-point number."""
    writer = harness.table({A: {"one": 1}})
    time = harness.begin(writer)
    change = harness.change()
    big = {A: {"big": 1 << 40, "odd": (1 << 53) + 1}}
    writer.finish(time, type(change)(big))
    harness.model.complete(time, big)
    harness.expect_dataset()


@scenario("metadata.root")
def root(harness: TableHarness) -> None:
    """The files are in the root directory of the dataset."""
    writer = harness.table({"": {"f1": 1}})
    harness.commit(writer, {"": {"f2": 2}})
    with closing(harness.reader()) as reader:
        harness.expect([*reader.partitions()], [""], "partitions")
        harness.expect(dict(reader.files([""])[""]), {"f1": 1, "f2": 2}, "files")


@scenario("metadata.absent-partition")
def absent_partition(harness: TableHarness) -> None:
    """A partition that does not exist is looked up, alone and with one that exists."""
    harness.table()
    with closing(harness.reader()) as reader:
        found = {partition: dict(files) for partition, files in reader.files(["day=9"]).items()}
        harness.expect(found.pop("day=9", {}), {}, "files of a partition that does not exist")
        harness.expect(found, {}, "other partitions")
        harness.expect(dict(reader.files(["day=9", A])[A]), START[A], "files beside it")


@scenario("metadata.empty-partition")
def empty_partition(harness: TableHarness) -> None:
    """The last file of a partition is deleted, by one action and by two; then a file is added
    again.
    """
    writer = harness.table()
    harness.clean(writer, {B: ["b1"], A: ["a1"]})
    harness.clean(writer, {A: ["a2"]})
    with closing(harness.reader()) as reader:
        harness.expect([*reader.partitions()], [], "partitions")
    harness.commit(writer, {B: {"b2": 1}})
    with closing(harness.reader()) as reader:
        harness.expect([*reader.partitions()], [B], "partitions after a commit")


@scenario("metadata.deleted")
def deleted(harness: TableHarness) -> None:
    """A file of the base file is deleted, one of a log, and one after a compaction; names of
    others begin like theirs.
    """
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1, "a11": 2, "a33": 3}})
    harness.clean(writer, {A: ["a1", "a3"]})
    harness.expect_dataset()
    harness.perhaps(writer.compact)
    harness.clean(writer, {A: ["a2"]})
    harness.expect_dataset("after a compaction")


@scenario("metadata.deleted")
def deleted_in_one_partition(harness: TableHarness) -> None:
    """Two partitions have a file of the same name, which is deleted in one of them."""
    writer = harness.table({A: {"f": 1, "g": 1}, B: {"f": 2, "g": 2}})
    harness.clean(writer, {A: ["f"], B: ["g"]})
    harness.expect_dataset()


@scenario("metadata.deleted")
def deleted_by_a_commit(harness: TableHarness) -> None:
    """A commit deletes a file whose name another partition has, too; a later one adds it again."""
    writer = harness.table({A: {"f": 10, "g": 20}, B: {"f": 30, "h": 40}})
    harness.commit(writer, {C: {"new": 1}}, {A: ["f"], B: ["h"]})
    harness.expect_dataset("after files were deleted")
    harness.commit(writer, {A: {"f": 5}}, {C: ["new"]})
    harness.expect_dataset("after one was added again")


@scenario("metadata.deleted")
def odd_names_deleted(harness: TableHarness) -> None:
    """Deleted files have such names; each is in its own partition, beside another file."""
    content = {f"p={name}": {name: 1, "kept": 2} for name in ODD_NAMES}
    harness.clean(harness.table(content), {f"p={name}": [name] for name in ODD_NAMES})
    listing = harness.listing()
    for name in ODD_NAMES:
        left = sorted(listing.get(f"p={name}", ()))
        harness.expect(left, ["kept"], f"files after {name!a} was deleted")


@scenario("metadata.size-larger")
def size_larger(harness: TableHarness) -> None:
    """A file is reported again: longer, like a log that grew, and shorter, as by a late writer."""
    writer = harness.table({A: {"log": 10}})
    for size in (30, 20):
        harness.commit(writer, {A: {"log": size}})
    harness.expect(dict(harness.listing().get(A, {})), {"log": 30}, "sizes")
    harness.compact(writer)
    harness.expect(dict(harness.listing().get(A, {})), {"log": 30}, "sizes after a compaction")


@scenario("metadata.size-new")
def size_new(harness: TableHarness) -> None:
    """A file is deleted, and added again with fewer bytes."""
    writer = harness.table()
    harness.clean(writer, {A: ["a2"]})
    harness.commit(writer, {A: {"a2": 3}})
    harness.expect_dataset()


@scenario("metadata.deleted-twice")
def deleted_twice(harness: TableHarness) -> None:
    """A file is deleted twice."""
    writer = harness.table()
    for _ in range(2):
        harness.clean(writer, {A: ["a1"]})
    harness.expect_dataset()
    harness.perhaps(writer.compact)
    harness.expect_dataset("after a compaction")


@scenario("metadata.associative")
def associative(harness: TableHarness) -> None:
    """A file of the base is reported again in one log, and deleted in the next."""
    writer = harness.table()
    harness.commit(writer, {A: {"a1": 11}})
    harness.clean(writer, {A: ["a1"]})
    harness.expect_dataset()


@scenario("metadata.live-only")
def live_only(harness: TableHarness) -> None:
    """Many files are added and deleted; then the table is compacted and cleaned."""
    names = {f"{number:04}-{number * 7919 % 10007:05}": 1 for number in range(1500)}
    writer = harness.table({A: {"only": 1}})
    before = harness.own_size()
    harness.commit(writer, {A: names})
    harness.clean(writer, {A: list(names)})
    writer.compact()
    writer.clean_table()
    harness.expect_dataset()
    size = harness.own_size()
    few = size < before + 2 * len(names)
    harness.expect(few, True, f"{size} bytes of the table are about as few as the first {before}")


@scenario("metadata.either-absent")
def either_absent(harness: TableHarness) -> None:
    """A base file alone, an empty base file, and logs with records."""
    writer = harness.table({})
    harness.expect_listing({}, harness.listing(), "an empty dataset")
    harness.commit(writer, {A: {"a": 1}})
    harness.expect_dataset("logs alone")
    harness.perhaps(writer.compact)
    harness.expect_dataset("a base file alone")


@scenario("metadata.logs-once")
def logs_once(harness: TableHarness) -> None:
    """One reader looks up several partitions in turn."""
    writer = harness.table()
    harness.require(FILES)
    for number in range(3):
        harness.commit(writer, {A: {f"new{number}": 1}})
    harness.fs.clear_log()
    with closing(harness.reader()) as reader:
        for partition in (A, B, A, C):
            reader.files([partition])
    logs = {path: n for path, n in harness.fs.opened.items() if ".log." in path}
    harness.expect(max(logs.values(), default=0) <= 1, True, "each log is opened at most once")


@scenario("metadata.one-reader")
def one_reader(harness: TableHarness) -> None:
    """One reader looks up a hundred partitions."""
    content = {f"p={number:03}": {"f": number} for number in range(100)}
    harness.table(content)
    harness.fs.clear_log()
    with closing(harness.reader()) as reader:
        harness.expect_listing(content, reader.files(reader.partitions()))
    opens = sum(n for path, n in harness.fs.opened.items() if path.startswith(FILES))
    harness.expect(opens <= 2, True, f"{opens} opens of the table's files, instead of one or two")


@scenario("metadata.no-listing")
def no_listing(harness: TableHarness) -> None:
    """Lookups and writes do not list the dataset's directories."""
    writer = harness.table()
    harness.fs.clear_log()
    harness.commit(writer, {A: {"a3": 1}})
    harness.clean(writer, {A: ["a1"]})
    harness.expect_dataset()
    harness.expect_no_listing()


@scenario("metadata.slices-cached")
def slices_cached(harness: TableHarness) -> None:
    """One reader looks up ten times."""
    harness.table()
    harness.require(FILES)
    harness.fs.clear_log()
    with closing(harness.reader()) as reader:
        for _ in range(10):
            reader.files([A])
    harness.expect(harness.fs.listed[FILES] <= 1, True, "the table's files are listed once")


@scenario("metadata.opening-cheap")
def opening_cheap(harness: TableHarness) -> None:
    """A reader opens a table after many rollbacks."""
    writer = harness.table()
    for _ in range(6):
        time = harness.begin(writer)
        writer.roll_back(time, {})
        harness.model.take_back(time)
    harness.require(TIMELINE)
    harness.fs.clear_log()
    harness.expect_dataset()
    opened = [path for path in harness.fs.opened if "/timeline/" in path]
    harness.expect(opened, [], "instants that were opened")


@scenario("metadata.time-travel")
def time_travel(harness: TableHarness) -> None:
    """Readers look up earlier states of the dataset, before and after a compaction."""
    writer = harness.table()
    moments = []
    for number in range(3):
        harness.commit(writer, {A: {f"new{number}": number}}, {A: [f"new{number - 1}"]})
        moments.append((harness.last(), harness.model.order))
    writer.compact()
    harness.commit(writer, {C: {"late": 1}})
    for time, order in moments:
        harness.expect_listing(
            harness.model.listing(order), harness.listing(as_of=time), f"as of {time}"
        )


@scenario("metadata.time-travel-bounds")
def time_travel_bounds(harness: TableHarness) -> None:
    """Times before the table was made, and times that have been cleaned, can't be read."""
    harness.dataset()
    writer = harness.writer()
    early = harness.commit(writer, {A: {"first": 1}})
    writer.initialize()
    harness.expect_refusal(
        lambda: harness.listing(as_of=early), "an error for a time before the table"
    )
    moment = harness.last()
    for _ in range(2):
        harness.commit(writer, {A: {"more": 1}})
        writer.compact()
    writer.clean_table()
    harness.expect_refusal(
        lambda: harness.listing(as_of=moment), "an error for a time that was cleaned"
    )
    harness.expect_dataset("now")


#: A column with statistics, and a whole number after which floating-point numbers are even.
X, HUGE = "x", 1 << 53


def _table(harness: TableHarness, **files: Statistics | None) -> CheckedWriter:
    """Return a table of files in one partition, with column statistics."""
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
    """Files of four ranges, with every comparison."""
    ranges = {"zero": (-9, 0), "low": (1, 9), "mid": (10, 19), "high": (20, 29)}
    expected = {
        ("=", 15): {"mid"},
        ("<", 10): {"zero", "low"},
        ("<=", 10): {"zero", "low", "mid"},
        (">", 19): {"high"},
        (">=", 19): {"mid", "high"},
        ("in", (5, 25)): {"low", "high"},
        ("=", 99): set(),
        ("=", -5): {"zero"},
        (">", 5): {"low", "mid", "high"},
    }
    _expect_pruned(harness, ranges, expected)


@scenario("metadata.prune-range")
def prune_large(harness: TableHarness) -> None:
    """A file of numbers that no floating-point number is equal to, and one of small numbers."""
    ranges = {"low": (1, 9), "large": (HUGE + 1, HUGE + 3)}
    expected = {
        ("=", HUGE): set[str](),
        ("=", HUGE + 2): {"large"},
        ("<=", HUGE): {"low"},
        (">", 5): {"low", "large"},
    }
    _expect_pruned(harness, ranges, expected)


def _expect_pruned(
    harness: TableHarness,
    ranges: Mapping[str, tuple[int, int]],
    expected: Mapping[tuple[str, Any], set[str]],
) -> None:
    """Judge the names of the files of these ranges that each condition leaves."""
    _table(harness, **{name: _range(*bounds) for name, bounds in ranges.items()})
    for (operator, value), names in expected.items():
        harness.expect(_pruned(harness, operator, value), names, f"{X} {operator} {value}")


@scenario("metadata.prune-unknown")
def prune_unknown(harness: TableHarness) -> None:
    """One file has no statistics, one no bounds, and a later one has none either."""
    writer = _table(harness, known=_range(0, 9), none=None, boundless=Statistics(X))
    harness.commit(writer, {A: {"later": 1}})
    harness.expect(_pruned(harness, "=", 50), {"none", "boundless", "later"}, f"{X} = 50")


@scenario("metadata.prune-nulls")
def prune_nulls(harness: TableHarness) -> None:
    """Files without nulls, with some, and with nulls only."""
    _table(harness, none=_range(0, 9), some=_range(0, 9, 3), all=_range(None, None, 10))
    harness.expect(_pruned(harness, "is null"), {"some", "all"}, f"{X} is null")
    harness.expect(_pruned(harness, "is not null"), {"none", "some"}, f"{X} is not null")
    harness.expect(_pruned(harness, "=", 5), {"none", "some"}, f"{X} = 5")


#: Two files of the initial dataset, with ranges.
_KNOWN = {(A, "a1"): [Statistics(X, 0, 9, 10, 0)], (A, "a2"): [Statistics(X, 10, 19, 10, 0)]}


@scenario("metadata.fixed-partitions")
def partition_added(harness: TableHarness) -> None:
    """Column statistics are added to a table, between commits."""
    writer = harness.table()
    harness.commit(writer, {B: {"b2": 5}})
    writer.create_statistics(_KNOWN)
    harness.expect_dataset("with statistics")
    harness.expect(_pruned(harness, "=", 15), {"a2", "b1", "b2"}, f"{X} = 15")
    harness.commit(writer, {C: {"c1": 5}})
    harness.expect_dataset("after a commit")
    harness.expect(_pruned(harness, "=", 15), {"a2", "b1", "b2", "c1"}, f"{X} = 15, and a commit")


@scenario("metadata.fixed-partitions")
def partition_rebuilt(harness: TableHarness) -> None:
    """Column statistics were wrong, and are built anew, before and after a compaction."""
    writer = _table(harness, a1=_range(50, 59), a2=_range(60, 69))
    writer.create_statistics(_KNOWN)
    for when in ("rebuilt", "rebuilt and compacted"):
        harness.expect_dataset(when)
        harness.expect(_pruned(harness, "=", 5), {"a1"}, f"{X} = 5, {when}")
        writer.compact()


@scenario("metadata.fixed-partitions")
def partition_dropped(harness: TableHarness) -> None:
    """Column statistics are dropped, and added again; commits continue."""
    writer = _table(harness, a1=_range(0, 9), a2=_range(50, 59))
    writer.drop_statistics()
    harness.expect_dataset("without statistics")
    harness.expect(_pruned(harness, "=", 15), {"a1", "a2"}, f"{X} = 15, without statistics")
    harness.commit(writer, {A: {"a3": 1}})
    writer.create_statistics(_KNOWN)
    harness.expect_dataset("with statistics again")
    harness.expect(_pruned(harness, "=", 15), {"a2", "a3"}, f"{X} = 15, with statistics again")


@scenario("metadata.fixed-partitions")
def partition_dies(harness: TableHarness) -> None:
    """A writer dies at each write while it adds or drops statistics; the next one adds them."""
    for name in ("adds", "drops"):
        for number in range(1, 40):
            harness.reset()
            writer = harness.table()
            if name == "drops":
                writer.create_statistics(_KNOWN)
            harness.fs.clear_log()
            harness.fs.kill_at, harness.fs.death = number, DEATHS[number % len(DEATHS)]
            died = True
            with suppress(Killed):
                if name == "adds":
                    writer.create_statistics(_KNOWN)
                else:
                    writer.drop_statistics()
                died = False
            following = harness.next_writer()
            when = f"{name}, dead at write {number}"
            harness.expect_dataset(when)
            harness.commit(following, {A: {"next": 1}})
            following.create_statistics(_KNOWN)
            harness.expect_dataset(f"{when}, and a commit")
            harness.expect(_pruned(harness, "=", 15), {"a2", "b1", "next"}, f"{X} = 15, {when}")
            if not died:
                break


@scenario("metadata.prune-nan")
def prune_nan(harness: TableHarness) -> None:
    """Bounds that are NaN, and a NaN value; NaN may be beyond any bound."""
    _table(harness, nan=_range(math.nan, math.nan), number=_range(0.0, 9.0))
    harness.expect(_pruned(harness, "=", 50.0), {"nan"}, f"{X} = 50.0")
    harness.expect(_pruned(harness, ">", 50.0), {"nan", "number"}, f"{X} > 50.0")
    harness.expect(_pruned(harness, "=", math.nan), {"nan", "number"}, f"{X} = NaN")


@scenario("metadata.prune-text")
def prune_text(harness: TableHarness) -> None:
    """The bounds of long texts may be truncated."""
    _table(harness, cut=_range("aaaa", "mmmm"), other=_range("p", "q"))
    harness.expect(_pruned(harness, "=", "mmmmz"), {"cut"}, f"{X} = 'mmmmz'")
    harness.expect(_pruned(harness, ">", "mmmm"), {"cut", "other"}, f"{X} > 'mmmm'")
    harness.expect(_pruned(harness, "=", "n"), set(), f"{X} = 'n'")


@scenario("metadata.prune-types")
def prune_types(harness: TableHarness) -> None:
    """The value has another type than the column."""
    _table(harness, number=_range(0, 9), text=_range("a", "b"))
    harness.expect(_pruned(harness, "=", "50"), {"number"}, f"{X} = '50'")
    harness.expect(_pruned(harness, "=", 50), {"text"}, f"{X} = 50")


@scenario("metadata.prune-replaced")
def prune_replaced(harness: TableHarness) -> None:
    """A file is deleted, and added again with other rows, with and without statistics."""
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
    """Files of the same name in two partitions have their own statistics."""
    harness.dataset({A: {"f": 1}, B: {"f": 2}})
    writer = harness.writer()
    known = {(A, "f"): [_range(0, 9)], (B, "f"): [_range(50, 59)]}
    writer.bootstrap(TableChange({A: {"f": 1}, B: {"f": 2}}, {}, known))
    harness.expect(_pruned(harness, "=", 99), set(), f"{X} = 99")
    for value in (5, 55):
        harness.expect(_pruned(harness, "=", value), {"f"}, f"{X} = {value}")


@scenario("metadata.prune-time-travel")
def prune_time_travel(harness: TableHarness) -> None:
    """A file was added again with other rows; readers look up the state before."""
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
