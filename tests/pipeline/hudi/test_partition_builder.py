"""Tests of partitions of a table that are created, built anew and dropped during its life."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.scenarios.instrumented_filesystem import (
    DEATHS,
    InstrumentedFileSystem,
    Killed,
)
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import Change, Sizes
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning
from fscontract.pipeline.hudi.parquet_stats import Statistics, read_statistics
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import COLUMN_STATS, PARTITION_STATS
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import (
    PATH,
    Ticks,
    by_hudi,
    get,
    name,
    names,
    put,
    ranges,
    seen,
    seen_by_hudi,
    started,
    writer,
)

A, B = "city=a", "city=b"


def put_rows(fs: FileSystem, partition: str, file: str, low: int) -> dict[str, int]:
    """Write a Parquet file with ten numbers; return its size by name."""
    path = f"{PATH}/{partition}/{file}"
    with fs.create(path) as out:
        pq.write_table(pa.table({"id": range(low, low + 10), "x": range(10)}), out)
    return {file: fs.get_file_status(path).length}


def plain(fs: FileSystem) -> MetadataWriter:
    """Create a table that lists two files, without statistics; return its writer."""
    return started(
        fs,
        PATH,
        {A: put_rows(fs, A, name(0), 0), B: put_rows(fs, B, name(1), 100)},
    )


def commit(made: MetadataWriter, fs: FileSystem, low: int) -> str:
    """Commit a file with numbers from `low`; return its name."""
    instant = made.begin()
    file = name(low, instant.time)
    made.finish(instant, Change({A: put_rows(fs, A, file, low)}))
    return file


def pruned(fs: FileSystem, value: int, column: str = "id", as_of: str | None = None) -> set[str]:
    """Return the names of files that may have a value."""
    with MetadataTable(fs, PATH, as_of=as_of) as table:
        found = table.prune([Filter(column, "=", value)])
    return {status.path.rpartition("/")[2] for status in found}


def partitions(fs: FileSystem) -> frozenset[str]:
    """Return the partitions of the table."""
    with MetadataTable(fs, PATH) as table:
        return table.partitions


@pytest.fixture
def fs() -> MemoryFileSystem:
    """An empty filesystem."""
    return MemoryFileSystem()


def test_statistics_can_be_added_to_an_existing_table(fs: MemoryFileSystem) -> None:
    """Of all files, and of those that are committed later."""
    made = plain(fs)
    first = commit(made, fs, 50)
    before = seen(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    assert seen(fs) == before
    assert pruned(fs, 55) == {first}
    second = commit(made, fs, 70)
    assert pruned(fs, 75) == {second}
    made.compact()
    made.clean_table()
    assert (pruned(fs, 55), pruned(fs, 75)) == ({first}, {second})


def test_statistics_can_be_built_anew_with_other_columns(fs: MemoryFileSystem) -> None:
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["x"])
    made.create_partition(PARTITION_STATS)
    assert len(pruned(fs, 5)) == 2
    made.create_partition(COLUMN_STATS, ["id"])
    assert partitions(fs) == {"files", COLUMN_STATS, PARTITION_STATS}
    assert pruned(fs, 5) == {name(0)}
    assert len(pruned(fs, 99, "x")) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        commit(made, fs, 50)


def test_wrong_statistics_are_replaced(fs: MemoryFileSystem) -> None:
    """Of a commit that gave wrong ones; the same columns are the default."""
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    size = put_rows(fs, A, "f.parquet", 80)
    made.commit(Change({A: size}, statistics={(A, "f.parquet"): ranges("f.parquet", 50)}))
    assert pruned(fs, 85) == set()
    made.create_partition(COLUMN_STATS)
    assert pruned(fs, 85) == {"f.parquet"}


def test_partition_that_was_dropped_can_be_created_again(fs: MemoryFileSystem) -> None:
    """Earlier commits to it no longer count."""
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    made.create_partition(PARTITION_STATS)
    file = commit(made, fs, 50)
    assert made.drop_partition(COLUMN_STATS)
    assert not made.drop_partition(COLUMN_STATS)
    assert partitions(fs) == {"files"}
    assert len(pruned(fs, 55)) == 3
    commit(made, fs, 60)
    made.create_partition(COLUMN_STATS, ["id"])
    assert pruned(fs, 55) == {file}


def test_statistics_of_partitions_are_dropped_alone(fs: MemoryFileSystem) -> None:
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    made.create_partition(PARTITION_STATS)
    assert made.drop_partition(PARTITION_STATS)
    assert partitions(fs) == {"files", COLUMN_STATS}
    assert pruned(fs, 5) == {name(0)}


def test_commits_while_footers_are_read_are_included(fs: MemoryFileSystem) -> None:
    """New files, deleted ones, and one that was replaced under the same name."""
    made, other = plain(fs), MetadataWriter(fs, PATH, Ticks(1000))
    added: list[str] = []

    def slow(
        fs: FileSystem, path: str, sizes: Sizes, columns: Collection[str] | None
    ) -> Statistics:
        known = read_statistics(fs, path, sizes, columns)
        if not added:
            added.append(commit(other, fs, 50))
            other.commit(Change({A: put_rows(fs, A, name(0), 20)}))
            other.commit(Change(deleted={B: [name(1)]}))
        return known

    made.create_partition(COLUMN_STATS, ["id"], slow)
    made.create_partition(PARTITION_STATS)
    assert pruned(fs, 55) == set(added)
    assert pruned(fs, 25) == {name(0)}
    assert pruned(fs, 105) == pruned(fs, 5) == set()


def test_readers_of_an_earlier_state_continue(fs: MemoryFileSystem) -> None:
    """While statistics are built anew, and after they were dropped."""
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    with MetadataTable(fs, PATH) as old, MetadataTable(fs, PATH) as late:
        made.create_partition(COLUMN_STATS, ["x"])
        assert len(old.prune([Filter("id", "=", 5)])) == 1
        made.drop_partition(COLUMN_STATS)
        assert len(late.prune([Filter("id", "=", 5)])) == 2


def test_earlier_states_have_no_statistics(fs: MemoryFileSystem) -> None:
    made = plain(fs)
    commit(made, fs, 50)
    then = made.timelines()[0].latest
    made.create_partition(COLUMN_STATS, ["id"])
    commit(made, fs, 60)
    assert len(pruned(fs, 5, as_of=then)) == 3
    assert pruned(fs, 5) == {name(0)}


def test_archived_instants_leave_a_built_partition_readable(fs: MemoryFileSystem) -> None:
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    for low in range(3):
        commit(made, fs, 50 + 10 * low)
    made.compact()
    made.archive(1)
    commit(made, fs, 90)
    made.compact()
    made.archive(1)
    assert pruned(fs, 5) == {name(0)}


def test_partition_waits_for_applied_actions(fs: MemoryFileSystem) -> None:
    """Its base file would hide their logs."""
    made = plain(fs)
    instant = made.begin()
    change = Change({A: put_rows(fs, A, "new.parquet", 50)})
    made.apply(instant, change)
    with pytest.raises(MetadataException, match="an action is applied, but not completed"):
        made.create_partition(COLUMN_STATS, ["id"])
    made.finish(instant, change)
    made.create_partition(COLUMN_STATS, ["id"])
    assert pruned(fs, 55) == {"new.parquet"}


def test_statistics_of_partitions_need_a_range_of_each_file(fs: MemoryFileSystem) -> None:
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    made.commit(Change({A: {"x.csv": 1}}))
    with pytest.raises(MetadataException, match="can't create partition_stats: no range"):
        made.create_partition(PARTITION_STATS)
    assert partitions(fs) == {"files", COLUMN_STATS}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda made: made.create_partition("files"), "invalid partition: 'files'; must be"),
        (lambda made: made.drop_partition("bloom_filters"), "invalid partition: 'bloom_filters'"),
        (lambda made: made.create_partition(COLUMN_STATS), "column_stats requires columns"),
        (lambda made: made.create_partition(COLUMN_STATS, ["a,b"]), "invalid column name: 'a,b'"),
        (lambda made: made.create_partition(PARTITION_STATS), "requires column_stats"),
    ],
)
def test_invalid_partitions_and_columns_are_rejected(
    fs: MemoryFileSystem, build: Callable[[MetadataWriter], object], message: str
) -> None:
    made = plain(fs)
    with pytest.raises(IllegalArgumentException, match=message):
        build(made)
    assert partitions(fs) == {"files"}


def test_partition_of_a_missing_table_is_not_created(fs: MemoryFileSystem) -> None:
    with pytest.raises(MetadataException, match="no metadata table"):
        writer(fs).create_partition(COLUMN_STATS, ["id"])


def test_statistics_need_a_file_that_has_some(fs: MemoryFileSystem) -> None:
    """The table stays as before."""
    put(fs, f"{PATH}/{A}/x.csv", b"1")
    made = writer(fs)
    made.initialize(columns=None, partition_stats=True)
    with pytest.raises(MetadataException, match="no file has statistics of columns"):
        made.create_partition(COLUMN_STATS, None)
    assert partitions(fs) == {"files"}


def test_rebuilt_table_has_the_same_partitions(fs: MemoryFileSystem) -> None:
    made = plain(fs)
    made.create_partition(COLUMN_STATS, ["id"])
    made.create_partition(PARTITION_STATS)
    made.rebuild()
    assert partitions(fs) == {"files", COLUMN_STATS, PARTITION_STATS}
    assert pruned(fs, 5) == {name(0)}


@pytest.mark.parametrize("fields", [[], ["a,b"]])
def test_table_with_definitions_of_no_usable_column_is_rebuilt(
    fs: MemoryFileSystem, fields: list[str]
) -> None:
    """Hudi has such tables if their files are not Parquet files."""
    made = by_hudi(fs)
    definitions = {"indexDefinitions": {"column_stats": {"sourceFields": fields}}}
    put(fs, f"{PATH}/.hoodie/.index_defs/index.json", json.dumps(definitions).encode())
    before = seen(fs)
    for partition, files in before.items():
        for file, size in files.items():
            put(fs, f"{PATH}/{partition}/{file}", bytes(size))
    with pytest.warns(MetadataWarning, match="removed partition"):
        made.rebuild()
    assert seen(fs) == before


def test_table_outside_the_dataset_has_the_same_partitions(fs: MemoryFileSystem) -> None:
    put_rows(fs, A, "a.parquet", 0)
    made = MetadataWriter(fs, PATH, Ticks(), directory="/other")
    made.initialize()
    made.create_partition(COLUMN_STATS, None)
    made.create_partition(PARTITION_STATS)
    with MetadataTable(fs, PATH, directory="/other") as table:
        assert table.columns == ("id", "x")
        assert table.prune([Filter("id", "=", 50)]) == []


@pytest.mark.parametrize("version", ["V1", "V2"])
def test_index_of_hudi_keeps_its_file_groups(fs: MemoryFileSystem, version: str) -> None:
    """And has a definition again after it was dropped."""
    made = by_hudi(fs, version, groups=3)
    files = {
        partition: {each: put_rows(fs, partition, each, low)[each] for each in seen(fs)[partition]}
        for partition, low in ((A, 0), (B, 100))
    }
    with pytest.warns(MetadataWarning, match="removed partition"):
        made.commit(Change(files))
    made.create_partition(COLUMN_STATS, ["id"])
    with MetadataTable(fs, PATH) as table:
        assert len(table._readers(COLUMN_STATS)) == 3
        assert len(table.prune([Filter("id", "=", 105)])) == 2
    made.drop_partition(COLUMN_STATS)
    made.create_partition(COLUMN_STATS, ["x"])
    definitions = get(fs, f"{PATH}/.hoodie/.index_defs/index.json").decode()
    assert f'"version": "{version}"' in definitions
    assert pruned(fs, 50, "x") == set()


def test_hudi_rs_lists_the_same_files(tmp_path: Path) -> None:
    fs = LocalFileSystem(str(tmp_path), durable=False)
    made = plain(fs)
    for number, build in enumerate(LIFE):
        build(made)
        commit(made, fs, 50 + number)
        assert seen_by_hudi(str(tmp_path)) == names(seen(fs))


# Killed writers ------------------------------------------------------------------------------

#: Ends of the names of base files, and of the file that marks a partition.
HFILES = {"hfile", "hoodie_partition_metadata"}
LIFE: list[Callable[[MetadataWriter], object]] = [
    lambda made: made.create_partition(COLUMN_STATS, ["id"]),
    lambda made: made.create_partition(PARTITION_STATS),
    lambda made: made.create_partition(COLUMN_STATS, ["id", "x"]),
    lambda made: made.drop_partition(PARTITION_STATS),
    lambda made: made.drop_partition(COLUMN_STATS),
]


@pytest.mark.parametrize("step", range(len(LIFE)), ids=["add", "ranges", "again", "less", "drop"])
@pytest.mark.parametrize("death", DEATHS)
def test_writer_that_dies_at_any_write_leaves_a_right_table(step: int, death: str) -> None:
    """The next writer continues, and leaves no file of the dead one."""
    for number in range(1, 40):
        fs = InstrumentedFileSystem(MemoryFileSystem())
        made = plain(fs)
        for build in LIFE[:step]:
            build(made)
        before = seen(fs)
        fs.clear_log()
        fs.kill_at, fs.death = number, death
        died = True
        with suppress(Killed):
            LIFE[step](made)
            died = False
        fs.revive()
        assert seen(fs) == before
        assert name(0) in pruned(fs, 5)
        assert name(1) in pruned(fs, 105)
        other = MetadataWriter(fs, PATH, Ticks(1000))
        file = commit(other, fs, 50)
        assert file in pruned(fs, 55)
        other.create_partition(COLUMN_STATS, ["id"])
        other.compact()
        other.clean_table()
        assert pruned(fs, 55) == {file}
        assert not other.timelines()[1].pending
        left = list(fs.list_status(f"{PATH}/.hoodie/metadata/{COLUMN_STATS}"))
        assert {status.path.rpartition(".")[2] for status in left} <= HFILES
        assert len(left) <= 3
        if not died:
            return
    raise AssertionError("more writes than were tried")
