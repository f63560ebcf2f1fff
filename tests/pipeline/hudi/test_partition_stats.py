"""Tests of the statistics of partitions: they cover every file, or do not exist."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.scenarios.instrumented_filesystem import InstrumentedFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import Change, statistics_records
from fscontract.pipeline.hudi.column_stats import partition_key
from fscontract.pipeline.hudi.io import MetadataWarning
from fscontract.pipeline.hudi.partition_stats import IncompleteStatistics, partition_records
from fscontract.pipeline.hudi.pruning import Filter, Operator
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import COMPARISONS, PATH, ranges, started, writer

A, B = "day=1", "day=2"


def indexed() -> tuple[FileSystem, MetadataWriter]:
    """Return a dataset of two partitions with one file each, and its writer."""
    fs = MemoryFileSystem()
    sizes = {A: {"a": 1}, B: {"b": 1}}
    known = {(A, "a"): ranges("a", 0), (B, "b"): ranges("b", 50)}
    return fs, started(fs, PATH, sizes, statistics=known, partition_stats=True)


def adds(partition: str, file: str, low: int) -> Change:
    """Return a change that adds a file with numbers from `low`."""
    return Change({partition: {file: 1}}, statistics={(partition, file): ranges(file, low)})


def bounds(fs: FileSystem, partition: str) -> tuple[object, object] | None:
    """Return the range of the numbers in a partition; None if the table has none."""
    key = partition_key("id", partition)
    with MetadataTable(fs, PATH) as table:
        known = table.partition_statistics([key]).get(key)
    return None if known is None else (known.minimum, known.maximum)


def test_new_table_has_the_range_of_each_partition() -> None:
    fs, _ = indexed()
    assert (bounds(fs, A), bounds(fs, B)) == ((0, 9), (50, 59))


def test_a_commit_widens_the_range_of_its_partition() -> None:
    fs, made = indexed()
    made.commit(adds(A, "low", -20))
    made.commit(adds(A, "high", 30))
    made.commit(adds("day=3", "new", 7))
    assert (bounds(fs, A), bounds(fs, B), bounds(fs, "day=3")) == ((-20, 39), (50, 59), (7, 16))
    made.compact()
    assert bounds(fs, A) == (-20, 39)


def test_actions_that_overlap_widen_the_same_range() -> None:
    """Whatever is applied or completed first."""
    fs, made = indexed()
    first, second = made.begin(), made.begin()
    made.apply(first, adds(A, "x", -20))
    made.finish(second, adds(A, "y", 30))
    assert bounds(fs, A) == (0, 39)
    made.finish(first, adds(A, "x", -20))
    assert bounds(fs, A) == (-20, 39)


def test_an_action_that_is_rolled_back_widens_nothing() -> None:
    fs, made = indexed()
    failed = made.begin()
    made.apply(failed, adds(A, "x", -20))
    made.roll_back(failed)
    assert bounds(fs, A) == (0, 9)


def test_a_partition_of_deleted_files_keeps_its_range() -> None:
    """A range that is too wide is safe, also if an earlier action adds a file later."""
    fs, made = indexed()
    pending = made.begin()
    made.apply(pending, adds(A, "x", 20))
    made.commit(Change(deleted={A: ["a"]}))
    made.finish(pending, adds(A, "x", 20))
    low, high = bounds(fs, A) or (None, None)
    assert (low, high) == (0, 29)


def test_range_is_unknown_while_the_table_lacks_a_commit() -> None:
    """Until a writer applies the commit."""
    fs, made = indexed()
    other = MetadataWriter(fs, PATH, design=1)
    other.commit(adds(A, "x", -20))
    assert (bounds(fs, A), bounds(fs, B)) == (None, (50, 59))
    with pytest.warns(MetadataWarning, match="removed partition partition_stats: no range"):
        made.sync()  # the instant does not name ranges, and the file can't be read


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Change({A: {"x.csv": 1}}), "no range of column 'city' in partition 'day=1'"),
        (
            Change(
                {A: {"x": 1}},
                statistics={
                    (A, "x"): [
                        *ranges("x", 1)[1:],
                        ColumnStatistics("", "x", "id", "StringWrapper", "1", "2", 9, 0),
                    ]
                },
            ),
            "store 'id' differently",
        ),
        (
            Change(
                {A: {"x": 1}},
                statistics={
                    (A, "x"): [*ranges("x", 1)[1:], ColumnStatistics("", "x", "id", None, None)]
                },
            ),
            "no range of column 'id'",
        ),
    ],
    ids=["no statistics", "another type", "no bounds"],
)
def test_a_file_without_a_range_ends_the_statistics_of_partitions(
    change: Change, message: str
) -> None:
    """Hudi skips partitions without ranges if others have some."""
    fs, made = indexed()
    with pytest.warns(MetadataWarning, match=message):
        made.commit(change)
    with MetadataTable(fs, PATH) as table:
        assert table.partitions == {"files", "column_stats"}
        assert "x" in str(table.list_files(A))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.commit(adds(A, "y", 7))


def test_new_table_with_an_unknown_file_has_no_statistics_of_partitions() -> None:
    fs = MemoryFileSystem()
    with pytest.warns(MetadataWarning, match="no partition partition_stats: no range of column"):
        started(
            *(fs, PATH, {A: {"a": 1, "b": 1}}),
            statistics={(A, "a"): ranges("a", 0)},
            partition_stats=True,
        )
    with MetadataTable(fs, PATH) as table:
        assert "partition_stats" not in table.partitions


def test_columns_of_nulls_and_empty_files_have_a_range() -> None:
    """Nulls leave the bounds unchanged; a file without rows has no part in them."""
    nulls = ColumnStatistics("", "n", "id", None, None, None, 5, 5)
    empty = ColumnStatistics("", "e", "id", None, None, None, 0, 0)
    change = Change(
        {A: {"n": 1, "e": 1, "a": 1}, B: {"n": 1}, "day=3": {"e": 1}},
        statistics={
            (A, "n"): [nulls],
            (A, "e"): [empty],
            (A, "a"): ranges("a", 0),
            (B, "n"): [nulls],
            ("day=3", "e"): [empty],
        },
    )
    found = {
        record.file_name: (record.minimum, record.maximum, record.null_count)
        for record in partition_records(change, statistics_records(change, ["id"]), ["id"])
    }
    assert found == {A: (0, 9, 5), B: (None, None, 5)}


def test_partitions_are_incomplete_if_a_file_lacks_a_column() -> None:
    change = adds(A, "a", 0)
    with pytest.raises(IncompleteStatistics, match="no range of column 'other'"):
        partition_records(change, statistics_records(change, ["id", "other"]), ["id", "other"])


def test_an_unpartitioned_dataset_has_one_range() -> None:
    fs = MemoryFileSystem()
    known = {("", "a"): ranges("a", 0)}
    started(fs, PATH, {"": {"a": 1}}, statistics=known, partition_stats=True)
    writer(fs).commit(adds("", "b", 90))
    assert bounds(fs, "") == (0, 99)


# Pruning ---------------------------------------------------------------------------------------


def pruned(fs: FileSystem, *filters: Filter, as_of: str | None = None) -> set[str]:
    """Return the paths below the dataset that may match all filters."""
    with MetadataTable(fs, PATH, as_of=as_of) as table:
        return {status.path.removeprefix(f"{PATH}/") for status in table.prune(filters)}


def test_partitions_without_a_match_are_not_looked_up() -> None:
    """Statistics of files are read only for partitions that may match."""
    inner, _ = indexed()
    fs = InstrumentedFileSystem(inner)
    assert pruned(fs, Filter("id", "=", 1000)) == set()
    assert not [path for path in fs.opened if "column_stats" in path]
    assert pruned(fs, Filter("id", "=", 55)) == {"day=2/b"}
    assert [path for path in fs.opened if "column_stats" in path]


def test_partition_of_no_match_hides_files_of_every_filter() -> None:
    fs, made = indexed()
    made.commit(adds(A, "x", 30))
    assert pruned(fs, Filter("id", "=", 35), Filter("city", "=", "a")) == {"day=1/x"}
    assert pruned(fs, Filter("id", "=", 55), Filter("id", "=", 35)) == set()


def test_partitions_of_an_earlier_time_are_pruned_by_their_ranges_then() -> None:
    fs, made = indexed()
    then = made.timelines()[0].latest
    made.commit(adds(A, "x", 30))
    assert pruned(fs, Filter("id", "=", 35), as_of=then) == set()
    assert pruned(fs, Filter("id", "=", 35)) == {"day=1/x"}


def test_commit_that_the_table_lacks_is_not_pruned() -> None:
    fs, _ = indexed()
    MetadataWriter(fs, PATH, design=1).commit(Change({A: {"x": 1}}))
    assert pruned(fs, Filter("id", "=", 1000)) == {"day=1/x"}


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "delete", "compact", "fail"]), st.integers(0, 3)), max_size=6
)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sampled_from(list(COMPARISONS)), st.integers(-5, 45))
def test_statistics_of_partitions_prune_no_further_file(
    steps: list[tuple[str, int]], operator: Operator, value: int
) -> None:
    """The files are those that their own statistics leave."""
    fs, made = indexed()
    for number, (kind, place) in enumerate(steps):
        partition = f"day={place}"
        if kind == "add":
            made.commit(adds(partition, f"f{number}", 10 * place))
        elif kind == "fail":
            failed = made.begin()
            made.apply(failed, adds(partition, f"f{number}", 10 * place))
            made.roll_back(failed)
        elif kind == "compact":
            made.compact()
        else:
            with MetadataTable(fs, PATH) as table:
                files = [s.path.rpartition("/")[2] for s in table.list_files(partition)[:1]]
            made.commit(Change(deleted={partition: files}))
    found = pruned(fs, Filter("id", operator, value))
    made.drop_partition("partition_stats")
    assert found == pruned(fs, Filter("id", operator, value))
