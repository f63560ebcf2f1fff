"""Tests of the partitions of the metadata table: those not kept up to date are removed."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress

import pytest

from fscontract.contract.scenarios.instrumented_filesystem import (
    DEATHS,
    InstrumentedFileSystem,
    Killed,
)
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.records import ColumnStatistics, ValueType
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import parse_properties
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import (
    DEFINITIONS,
    PATH,
    PROPERTIES,
    Ticks,
    by_hudi,
    get,
    put,
    ranges,
    seen,
)

A, B = "city=a", "city=b"
REMOVED = "removed partitions bloom_filters, secondary_index_city: can't be kept up to date"
DIRECTORY = f"{PATH}/.hoodie/metadata"


def adds(file: str, low: int) -> Change:
    """Return a change that adds a file with numbers from `low`."""
    return Change({A: {file: 1}}, statistics={(A, file): ranges(file, low)})


def directories(fs: MemoryFileSystem) -> set[str]:
    """Return the directories of the metadata table."""
    return {
        status.path.rpartition("/")[2]
        for status in fs.list_status(DIRECTORY)
        if status.is_directory
    }


def test_first_commit_removes_unknown_indexes_with_one_warning() -> None:
    """From the properties, the definitions and the disk; the rest is kept."""
    fs = MemoryFileSystem()
    made = by_hudi(fs)
    with pytest.warns(MetadataWarning, match=REMOVED) as caught:
        made.commit(adds("new", 50))
    assert len(caught) == 1
    assert seen(fs)[A]["new"] == 1
    properties = parse_properties(get(fs, PROPERTIES).decode())
    assert properties["hoodie.table.metadata.partitions"] == "column_stats,files,partition_stats"
    assert properties["hoodie.table.metadata.partitions.inflight"] == ""
    assert properties["hoodie.kept"] == "as it was"
    assert list(json.loads(get(fs, DEFINITIONS))["indexDefinitions"]) == ["column_stats"]
    assert directories(fs) == {".hoodie", "column_stats", "files", "partition_stats"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.commit(adds("newer", 70))


def test_index_with_keys_of_each_partition_is_removed_with_the_reason() -> None:
    fs = MemoryFileSystem()
    made = by_hudi(fs)
    properties = get(fs, PROPERTIES).replace(b",bloom_filters", b",record_index")
    put(fs, PROPERTIES, properties)
    options = {"record_index": {"indexOptions": {"isPartitioned": "true"}}}
    put(fs, DEFINITIONS, json.dumps({"indexDefinitions": options}).encode())
    reason = "record_index has its own keys in each partition"
    with pytest.warns(MetadataWarning, match=reason) as caught:
        made.compact()
    assert len(caught) == 1
    assert "record_index" not in directories(fs)


@pytest.mark.parametrize("version", ["V1", "V2"])
@pytest.mark.parametrize("groups", [1, 3])
def test_statistics_keep_version_and_file_groups_of_the_table(version: str, groups: int) -> None:
    """In commits and in compactions."""
    fs = MemoryFileSystem()
    made = by_hudi(fs, version, groups)
    with pytest.warns(MetadataWarning, match=REMOVED):
        made.commit(adds("new", 50))
    for _ in range(2):
        with MetadataTable(fs, PATH) as table:
            assert table.columns == ("id", "city")
            known = {record.file_name: record for record in table.column_statistics("id").values()}
            assert [s.path for s in table.prune([Filter("id", "=", 55)])] == [f"{PATH}/{A}/new"]
            per_group = [len(list(group.scan())) for group in table._readers("column_stats")]
        assert known["new"].value_type == (ValueType(4) if version == "V2" else None)
        assert len(per_group) == groups
        assert sum(per_group) == 10
        made.compact()


def test_replaced_statistics_are_looked_up_in_their_own_group() -> None:
    """Also while the table lacks the commit."""
    fs = MemoryFileSystem()
    with pytest.warns(MetadataWarning, match=REMOVED):
        by_hudi(fs, groups=3).commit(adds("f", 50))
    MetadataWriter(fs, PATH, design=1).commit(Change({A: {"f": 1}}))
    with MetadataTable(fs, PATH) as table:
        assert f"{PATH}/{A}/f" in [status.path for status in table.prune([Filter("id", "=", 7)])]


def test_missing_file_group_is_an_error() -> None:
    """Keys would be looked up in the wrong one."""
    fs = MemoryFileSystem()
    made = by_hudi(fs, groups=3)
    for status in list(fs.list_status(f"{DIRECTORY}/column_stats")):
        if "col-stats-0001-0" in status.path:
            fs.delete(status.path)
    with (
        pytest.warns(MetadataWarning, match=REMOVED),
        pytest.raises(MetadataException, match="unexpected file groups in 'column_stats'"),
    ):
        made.commit(adds("new", 50))


def test_compaction_removes_unknown_indexes() -> None:
    fs = MemoryFileSystem()
    made = by_hudi(fs)
    with pytest.warns(MetadataWarning, match=REMOVED):
        made.compact()
    assert seen(fs)[A].keys() == seen(fs)[B].keys()


def test_group_without_logs_may_be_left_out_of_a_compaction() -> None:
    """Hudi compacts the others; a group that it compacted is damaged without its base file."""
    fs = MemoryFileSystem()
    made = by_hudi(fs, groups=2)
    with pytest.warns(MetadataWarning, match=REMOVED):
        made.commit(adds("new", 50))
    instant = made.compact()
    assert instant is not None
    other = f"{DIRECTORY}/column_stats/col-stats-0001-0_0-0-0_{instant.time}.hfile"
    fs.delete(other)
    table = MetadataTable(fs, PATH)
    with pytest.raises(MetadataException, match="base file of 'column_stats' is missing"):
        table.prune([Filter("id", "=", 1)])
    path = f"{DIRECTORY}/.hoodie/timeline/{instant.time}_{instant.completed}.commit"
    put(fs, path, get(fs, path).replace(b"col-stats-0001-0", b"col-stats-0002-0"))
    with MetadataTable(fs, PATH) as again:
        assert isinstance(again.column_statistics("id"), dict)


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("number", range(1, 30, 3))
def test_writer_that_dies_removing_indexes_leaves_a_right_table(number: int, death: str) -> None:
    """The next writer removes the rest."""
    fs = InstrumentedFileSystem(MemoryFileSystem())
    made = by_hudi(fs)
    before = seen(fs)
    after = {**before, A: {**before[A], "new": 1}}
    fs.clear_log()
    fs.kill_at, fs.death = number, death
    with suppress(Killed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.commit(adds("new", 50))
    fs.revive()
    assert seen(fs) in (before, after)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = MetadataWriter(fs, PATH, Ticks(1000))
        other.commit(adds("next", 50))
        other.clean_table()
    assert seen(fs)[A]["next"] == 1
    names = {s.path.rpartition("/")[2] for s in fs.list_status(DIRECTORY) if s.is_directory}
    assert names == {".hoodie", "column_stats", "files", "partition_stats"}
    assert list(json.loads(get(fs, DEFINITIONS))["indexDefinitions"]) == ["column_stats"]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("5", "unsupported table version 5: must be 6, 8 or 9"),
        ("10", "unsupported table version 10: must be 6, 8 or 9"),
        ("x", "invalid table version 'x': must be a number"),
    ],
)
def test_table_of_another_version_is_not_written(version: str, message: str) -> None:
    fs = MemoryFileSystem()
    made = by_hudi(fs)
    text = get(fs, PROPERTIES).replace(b"table.version=9", f"table.version={version}".encode())
    put(fs, PROPERTIES, text)
    with pytest.raises(MetadataException, match=message):
        made.begin()
    assert get(fs, PROPERTIES) == text


def test_statistics_of_hudi_are_records_of_files() -> None:
    """The fixture of this module is a table as Hudi's: the ranges of four files."""
    fs = MemoryFileSystem()
    by_hudi(fs, groups=3)
    with MetadataTable(fs, PATH) as table:
        records = table.column_statistics("id").values()
    assert all(isinstance(record, ColumnStatistics) for record in records)
    assert sorted((record.minimum, record.maximum) for record in records) == [
        (0, 9),
        (10, 19),
        (100, 109),
        (110, 119),
    ]
