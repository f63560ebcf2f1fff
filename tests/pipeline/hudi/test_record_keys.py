"""Tests of record keys in file slices, and of the index that a writer keeps up to date."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import Change, Sizes
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning, write_file
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.log import DELETE, HFILE, encode_log, read_log
from fscontract.pipeline.hudi.log_records import deletions_in
from fscontract.pipeline.hudi.record_keys import KeyReader, locations, open_keys
from fscontract.pipeline.hudi.snapshot import META_FIELDS
from fscontract.pipeline.hudi.snapshot import read as read_rows
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import parse_properties, write_properties
from fscontract.pipeline.hudi.timeline import RECORD_INDEX, Instant
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.row_tables import delete_block, parquet_block
from tests.pipeline.hudi.support import PATH, PROPERTIES, Ticks, get, put, started

SCHEMA = pa.schema([(name, pa.string()) for name in META_FIELDS])
A, B = "city=a", "city=b"
#: Instant of the first files.
FIRST = "20260101000000000"
#: Partition and file group.
Group = tuple[str, str]


def group(number: int, partition: str = A) -> Group:
    """Return a file group with a name as Hudi's."""
    return partition, f"{number:08x}-0000-4000-8000-000000000000-0"


def put_keys(fs: FileSystem, at: Group, instant: str, keys: Iterable[str]) -> dict[str, int]:
    """Write a base file with rows of keys; return its size by name."""
    partition, name = at[0], f"{at[1]}_0-1-0_{instant}.parquet"
    rows = [
        {"_hoodie_record_key": key, "_hoodie_partition_path": partition, "_hoodie_file_name": name}
        for key in sorted(keys)
    ]
    with fs.create(f"{PATH}/{partition}/{name}") as out:
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), out)
    return {name: fs.get_file_status(f"{PATH}/{partition}/{name}").length}


def sizes_of(fs: FileSystem, content: Mapping[Group, Iterable[str]], instant: str) -> Sizes:
    """Write a base file for each file group; return their sizes."""
    sizes: dict[str, dict[str, int]] = {}
    for at, keys in content.items():
        sizes.setdefault(at[0], {}).update(put_keys(fs, at, instant, keys))
    return sizes


def commit(
    made: MetadataWriter,
    fs: FileSystem,
    content: Mapping[Group, Iterable[str]],
    action: str = "commit",
    replaced: Iterable[Group] = (),
) -> str:
    """Commit base files with these keys; return the instant."""
    instant = made.begin(action)
    groups: dict[str, list[str]] = {}
    for partition, name in replaced:
        groups.setdefault(partition, []).append(name)
    made.finish(instant, Change(sizes_of(fs, content, instant.time), replaced=groups))
    return instant.time


def table_of(
    fs: FileSystem, content: Mapping[Group, Iterable[str]], file_groups: int | None = 2
) -> MetadataWriter:
    """Create a dataset with an index of records; return its writer."""
    made = started(fs, PATH, sizes_of(fs, content, FIRST))
    if file_groups is not None:
        made.create_partition(RECORD_INDEX, file_groups=file_groups)
    return made


def after_first_read(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run an action once, after keys were read without the lock."""
    real = KeyReader.read
    reads: list[int] = []

    def read(self: KeyReader, slices: Iterable[FileSlice]) -> list[frozenset[str]]:
        keys = real(self, slices)
        reads.append(len(keys))
        if len(reads) == 1:
            action()
        return keys

    monkeypatch.setattr(KeyReader, "read", read)


def latest(made: MetadataWriter) -> Instant:
    """Return the last instant of the dataset."""
    return max(made.timelines()[0].instants.values(), key=lambda instant: instant.time)


def in_index(fs: FileSystem) -> dict[str, Group]:
    """Return the location of each key in the index, and check that lookups agree."""
    with MetadataTable(fs, PATH) as table:
        known = {r.key: (r.partition, r.file_group) for r in table.scan_locations()}
        assert {key: found[:2] for key, found in table.lookup([*known, "absent"]).items()} == known
    return known


def in_rows(fs: FileSystem) -> dict[str, Group]:
    """Return the location of each key in a snapshot."""
    found = {}
    for rows in read_rows(fs, PATH, columns=list(META_FIELDS)):
        for row in rows.to_pylist():
            name = row["_hoodie_file_name"].partition("_")[0]
            assert row["_hoodie_record_key"] not in found
            found[row["_hoodie_record_key"]] = (row["_hoodie_partition_path"], name)
    return found


@pytest.fixture
def fs() -> MemoryFileSystem:
    """An empty filesystem."""
    return MemoryFileSystem()


# Creation ------------------------------------------------------------------------------------


def test_index_of_an_existing_table_locates_every_key(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc", group(2, B): "de"})
    assert in_index(fs) == in_rows(fs)
    assert len(in_index(fs)) == 5
    made.compact()
    made.clean_table()
    assert in_index(fs) == in_rows(fs)


def test_index_has_the_instant_that_wrote_a_key_to_its_file_group(fs: MemoryFileSystem) -> None:
    """An update in place does not change it; a move does."""
    made = table_of(fs, {group(1): "abc"})
    commit(made, fs, {group(1): "abc"})
    moved = commit(made, fs, {group(1): "ab", group(2, B): "c"})
    with MetadataTable(fs, PATH) as table:
        found = table.lookup("ac")
    assert (found["a"].instant, found["c"].instant) == (FIRST, moved)


def test_new_index_has_ten_file_groups_by_default(fs: MemoryFileSystem) -> None:
    table_of(fs, {group(1): "abc"}, None).create_partition(RECORD_INDEX)
    with MetadataTable(fs, PATH) as table:
        assert len(table._readers(RECORD_INDEX)) == 10


def test_index_that_is_built_anew_keeps_its_file_groups(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"}, 3)
    made.create_partition(RECORD_INDEX)
    made.create_partition(RECORD_INDEX, file_groups=3)
    with MetadataTable(fs, PATH) as table:
        assert len(table._readers(RECORD_INDEX)) == 3
    with pytest.raises(IllegalArgumentException, match="has 3 file groups, not 4; drop it first"):
        made.create_partition(RECORD_INDEX, file_groups=4)


@pytest.mark.parametrize("count", [0, 10_001])
def test_invalid_numbers_of_file_groups_are_rejected(fs: MemoryFileSystem, count: int) -> None:
    made = table_of(fs, {group(1): "abc"}, None)
    with pytest.raises(IllegalArgumentException, match="must be from 1 to 10000"):
        made.create_partition(RECORD_INDEX, file_groups=count)


def test_other_partitions_have_no_number_of_file_groups(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"}, None)
    with pytest.raises(IllegalArgumentException, match="column_stats has a fixed number of file"):
        made.create_partition("column_stats", ["id"], file_groups=2)


def test_commits_while_keys_are_read_are_included(
    fs: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New file groups, new versions, and a file that was replaced under its name."""
    made = table_of(fs, {group(1): "abc", group(2): "de", group(3): "f"}, None)
    other = MetadataWriter(fs, PATH, Ticks(1000))

    def commits() -> None:
        commit(other, fs, {group(1): "ab", group(4): "cx"})
        same = put_keys(fs, group(3), FIRST, "y")
        other.commit(Change({A: same}))

    after_first_read(monkeypatch, commits)
    made.create_partition(RECORD_INDEX)
    assert in_index(fs) == in_rows(fs)
    assert in_index(fs).keys() == set("abcdexy")


def test_file_group_that_is_restored_while_keys_are_read_is_read_again(
    fs: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = table_of(fs, {group(1): "abc"}, None)
    first = latest(made)
    commit(made, fs, {group(1): "abx"})
    other = MetadataWriter(fs, PATH, Ticks(1000))
    after_first_read(monkeypatch, lambda: other.restore(first))
    made.create_partition(RECORD_INDEX)
    assert in_index(fs).keys() == set("abc")


def test_index_is_defined_in_tables_of_version_9(fs: MemoryFileSystem) -> None:
    """As Hudi defines it, and until it is dropped."""
    made = table_of(fs, {group(1): "abc"}, None)
    properties = parse_properties(get(fs, PROPERTIES).decode())
    write_properties(fs, PROPERTIES, {**properties, "hoodie.table.version": "9"}, replace=True)
    made.create_partition(RECORD_INDEX)
    path = f"{PATH}/.hoodie/.index_defs/index.json"
    (definition,) = json.loads(get(fs, path))["indexDefinitions"].values()
    assert definition["indexName"] == RECORD_INDEX
    assert definition["indexOptions"] == {"isPartitioned": "false"}
    assert in_index(fs) == in_rows(fs)
    assert made.drop_partition(RECORD_INDEX)
    assert json.loads(get(fs, path))["indexDefinitions"] == {}


def test_rebuilt_table_has_the_index(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"}, 3)
    put(fs, f"{PATH}/{A}/x.csv", b"1")
    made.rebuild()
    assert in_index(fs) == in_rows(fs)
    with MetadataTable(fs, PATH) as table:
        assert len(table._readers(RECORD_INDEX)) == 3


def test_rebuilt_table_lacks_an_index_whose_keys_cannot_be_read(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"})
    put(fs, f"{PATH}/{A}/{group(2)[1]}_0-1-0_{FIRST}.parquet", b"x")
    with pytest.warns(MetadataWarning, match="removed partition record_index: can't create"):
        made.rebuild()
    with MetadataTable(fs, PATH) as table:
        assert table.partitions == {"files"}


def test_index_of_a_table_outside_the_dataset(fs: MemoryFileSystem) -> None:
    table_of(fs, {group(1): "abc"}, None)
    made = MetadataWriter(fs, PATH, Ticks(1000), directory="/other")
    made.initialize()
    made.create_partition(RECORD_INDEX)
    with MetadataTable(fs, PATH, directory="/other") as table:
        assert table.lookup("a")["a"][:2] == group(1)


# Rows that have no keys ----------------------------------------------------------------------


def without_keys(fs: FileSystem) -> dict[str, int]:
    """Write a base file whose rows have no key; return its size by name."""
    name = f"{group(9)[1]}_0-1-0_{FIRST}.parquet"
    with fs.create(f"{PATH}/{A}/{name}") as out:
        pq.write_table(pa.table({"id": [1, 2]}), out)
    return {name: fs.get_file_status(f"{PATH}/{A}/{name}").length}


def test_index_of_rows_without_keys_is_not_created(fs: MemoryFileSystem) -> None:
    made = started(fs, PATH, {A: without_keys(fs)})
    message = "can't create record_index: can't read the record keys: 2 rows without"
    with pytest.raises(MetadataException, match=message):
        made.create_partition(RECORD_INDEX)
    with MetadataTable(fs, PATH) as table:
        assert table.partitions == {"files"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({f"{group(9)[1]}_0-1-0_{FIRST}.orc": b"x"}, "must be Parquet or Lance"),
        ({f"{group(9)[1]}_0-1-0_{FIRST}.parquet": b"x"}, "can't read"),
        ({"f.parquet": b"x"}, "does not follow Hudi's naming"),
    ],
    ids=["format", "damaged", "name"],
)
def test_commit_of_unreadable_keys_drops_the_index_with_one_warning(
    fs: MemoryFileSystem, files: dict[str, bytes], message: str
) -> None:
    made = table_of(fs, {group(1): "abc"})
    for name, content in files.items():
        put(fs, f"{PATH}/{A}/{name}", content)
    with pytest.warns(MetadataWarning, match=f"removed partition record_index: .*{message}") as w:
        made.commit(Change({A: {name: len(content) for name, content in files.items()}}))
    assert len(w) == 1
    with MetadataTable(fs, PATH) as table:
        assert table.partitions == {"files"}
        assert set(files) < {status.path.rpartition("/")[2] for status in table.list_files(A)}


def test_rows_without_a_key_drop_the_index(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"})
    with pytest.warns(MetadataWarning, match="2 rows without _hoodie_record_key"):
        made.commit(Change({A: without_keys(fs)}))


def test_virtual_keys_are_not_indexed(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"}, None)
    properties = parse_properties(get(fs, PROPERTIES).decode())
    virtual = {**properties, "hoodie.populate.meta.fields": "false"}
    write_properties(fs, PROPERTIES, virtual, replace=True)
    with pytest.raises(MetadataException, match="rows without _hoodie_record_key"):
        made.create_partition(RECORD_INDEX)


# Commits -------------------------------------------------------------------------------------


def test_deleted_inserted_and_moved_keys(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc", group(2, B): "de"})
    commit(made, fs, {group(1): "ax", group(2, B): "bde", group(3): "y"})
    assert in_index(fs) == in_rows(fs)
    assert in_index(fs)["b"] == group(2, B)
    assert "c" not in in_index(fs)


def test_deletion_of_one_of_two_rows_keeps_the_other(fs: MemoryFileSystem) -> None:
    """The index locates one of several rows with a key; it follows the row that is left."""
    made = table_of(fs, {group(1): "a", group(2): "ab"})
    assert in_index(fs)["a"] == group(2)
    commit(made, fs, {group(1): "ac"})
    assert in_index(fs)["a"] == group(2)
    commit(made, fs, {group(1): "acd", group(2): "b"})
    assert in_index(fs) == in_rows(fs)


def test_a_row_that_the_index_locates_elsewhere_is_deleted_without_effect(
    fs: MemoryFileSystem,
) -> None:
    made = table_of(fs, {group(1): "a", group(2): "ab"})
    commit(made, fs, {group(1): ""})
    assert in_index(fs)["a"] == group(2)


def test_replaced_file_groups_lose_their_keys(fs: MemoryFileSystem) -> None:
    """Also when their files are cleaned afterwards."""
    made = table_of(fs, {group(1): "abc", group(2): "de"})
    commit(made, fs, {group(3): "ab"}, "replacecommit", [group(1)])
    assert in_index(fs) == in_rows(fs)
    assert in_index(fs).keys() == set("abde")
    with MetadataTable(fs, PATH) as table:
        old = [s.path.rpartition("/")[2] for s in table.list_files(A) if group(1)[1] in s.path]
    made.clean({A: old})
    assert in_index(fs) == in_rows(fs)


def test_clean_of_older_or_replaced_files_reads_no_keys(
    fs: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = table_of(fs, {group(1): "abc", group(2): "de"})
    commit(made, fs, {group(2): "dex"})
    commit(made, fs, {group(3): "ab"}, "replacecommit", [group(1)])
    with MetadataTable(fs, PATH) as table:
        old = [s.path.rpartition("/")[2] for s in table.list_files(A) if FIRST in s.path]
    before = in_index(fs)
    for reader, call in ((MetadataTable, "scan_locations"), (KeyReader, "_keys")):
        monkeypatch.setattr(reader, call, None)  # raises TypeError
    made.clean({A: old})
    monkeypatch.undo()
    assert in_index(fs) == in_rows(fs) == before


def test_deletion_of_the_latest_files_deletes_their_keys(fs: MemoryFileSystem) -> None:
    """Their rows are gone, but the index has the keys."""
    made = table_of(fs, {group(1): "abc", group(2): "de"})
    with MetadataTable(fs, PATH) as table:
        names = [s.path.rpartition("/")[2] for s in table.list_files(A) if group(1)[1] in s.path]
    made.clean({A: names})
    assert in_index(fs) == in_rows(fs)
    assert in_index(fs).keys() == set("de")


def test_keys_of_logs_count(fs: MemoryFileSystem) -> None:
    """Those of data blocks, and those of delete blocks."""
    made = table_of(fs, {group(1): "abc"})
    properties = parse_properties(get(fs, PROPERTIES).decode())
    merged = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
    write_properties(fs, PROPERTIES, {**properties, **merged}, replace=True)
    instant = made.begin("deltacommit")
    name = f".{group(1)[1]}_{instant.time}.log.1_0-1-0"
    blocks = [
        parquet_block(instant.time, [("d", 1, "x")]),
        delete_block(instant.time, {"a": None}),
    ]
    write_file(fs, f"{PATH}/{A}/{name}", encode_log(blocks))
    size = fs.get_file_status(f"{PATH}/{A}/{name}").length
    made.finish(instant, Change({A: {name: size}}))
    assert in_index(fs).keys() == set("bcd")
    built = in_index(fs)
    made.create_partition(RECORD_INDEX)
    assert in_index(fs) == built


def test_file_group_without_a_base_file_has_the_keys_of_its_logs(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"})
    instant = made.begin("deltacommit")
    name = f".{group(2)[1]}_{instant.time}.log.1_0-1-0"
    write_file(fs, f"{PATH}/{A}/{name}", encode_log([parquet_block(instant.time, [("d", 1, "x")])]))
    size = fs.get_file_status(f"{PATH}/{A}/{name}").length
    made.finish(instant, Change({A: {name: size}}))
    assert in_index(fs)["d"] == group(2)
    made.create_partition(RECORD_INDEX)
    with MetadataTable(fs, PATH) as table:
        assert table.lookup("d")["d"] == (*group(2), instant.time)


def test_restore_brings_the_former_locations_back(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc", group(2): "de"})
    commit(made, fs, {group(1): "abcf"})
    before, last = in_index(fs), latest(made)
    commit(made, fs, {group(1): "ab", group(2): "ce", group(3): "g"})
    assert in_index(fs) != before
    made.restore(last)
    assert in_index(fs) == in_rows(fs) == before


def test_restore_of_replaced_file_groups_drops_the_index(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"})
    last = latest(made)
    commit(made, fs, {group(3): "ab"}, "replacecommit", [group(1)])
    with pytest.warns(MetadataWarning, match="a restore brings back file groups"):
        made.restore(last)
    with MetadataTable(fs, PATH) as table:
        assert RECORD_INDEX not in table.partitions


def test_rolled_back_commit_leaves_no_locations(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"})
    before = in_index(fs)
    failed = made.begin()
    sizes = sizes_of(fs, {group(1): "a", group(2): "bx"}, failed.time)
    made.apply(failed, Change(sizes))
    made.roll_back(failed, sizes)
    assert in_index(fs) == before


def test_commits_that_bypassed_the_table_are_applied_in_order(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc", group(2): "d"})
    other = MetadataWriter(fs, PATH, Ticks(1000), design=1)
    instant = other.begin()
    other.finish(instant, Change(sizes_of(fs, {group(1): "ab", group(3): "c"}, instant.time)))
    other.sync()
    assert in_index(fs) == in_rows(fs)
    instant = other.begin("replacecommit")
    sizes = sizes_of(fs, {group(4): "a"}, instant.time)
    other.finish(instant, Change(sizes, replaced={A: [group(1)[1]]}))
    made.commit(Change({A: put_keys(fs, group(5), "20270101000000000", "z")}))
    assert in_index(fs) == in_rows(fs)


def test_restore_that_bypassed_the_table_drops_the_index(fs: MemoryFileSystem) -> None:
    """Its instant does not say if it brought back file groups that were replaced."""
    made = table_of(fs, {group(1): "abc"})
    last = latest(made)
    commit(made, fs, {group(3): "x"})
    other = MetadataWriter(fs, PATH, Ticks(1000), design=1)
    other.restore(last)
    with pytest.warns(MetadataWarning, match="was completed without the metadata table"):
        other.sync()
    with MetadataTable(fs, PATH) as table:
        assert table.partitions == {"files"}


def test_keys_are_read_before_the_lock_is_acquired(
    fs: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_of(fs, {group(1): "abc", group(2): "de"})
    made = MetadataWriter(fs, PATH, Ticks(1000), lock=FileLock(fs, f"{PATH}/{LOCKS}"))
    real = KeyReader._keys
    locked: list[bool] = []

    def keys(self: KeyReader, item: FileSlice) -> frozenset[str]:
        locked.append(made._has_lock)
        return real(self, item)

    monkeypatch.setattr(KeyReader, "_keys", keys)
    instant = made.begin()
    sizes = sizes_of(fs, {group(1): "ab", group(3): "c"}, instant.time)
    made.finish(instant, Change(sizes))
    assert locked == [False] * 3
    assert not made._keys
    assert in_index(fs) == in_rows(fs)


@pytest.mark.parametrize("first", [0, 1])
def test_concurrent_commits_to_different_file_groups(fs: MemoryFileSystem, first: int) -> None:
    """In both orders of completion."""
    table_of(fs, {group(1): "abc", group(2): "de"})
    lock = FileLock(fs, f"{PATH}/{LOCKS}")
    writers = [
        MetadataWriter(fs, PATH, Ticks(1000), lock=lock, patience=timedelta(days=1))
        for _ in range(2)
    ]
    instants = [made.begin() for made in writers]
    contents = [{group(1): "ax"}, {group(2): "dy", group(3): "z"}]
    for number in (first, 1 - first):
        sizes = sizes_of(fs, contents[number], instants[number].time)
        writers[number].finish(instants[number], Change(sizes))
    assert in_index(fs) == in_rows(fs)
    assert in_index(fs).keys() == set("axdyz")


def test_log_of_an_action_that_began_before_a_compaction_counts(fs: MemoryFileSystem) -> None:
    """It completes later, so the compaction has not merged it."""
    table_of(fs, {group(1): "abc"})
    made = MetadataWriter(fs, PATH, Ticks(1000), patience=timedelta(days=1))
    late, compaction = made.begin("deltacommit"), made.begin("compaction")
    made.finish(compaction, Change({A: put_keys(fs, group(1), compaction.time, "abc")}))
    name = f".{group(1)[1]}_{late.time}.log.1_0-1-0"
    write_file(fs, f"{PATH}/{A}/{name}", encode_log([parquet_block(late.time, [("d", 1, "x")])]))
    size = fs.get_file_status(f"{PATH}/{A}/{name}").length
    made.finish(late, Change({A: {name: size}}))
    assert in_index(fs).keys() == set("abcd")
    assert in_index(fs) == {key: group(1) for key in "abcd"}


def test_deletions_of_keys_are_in_delete_blocks(fs: MemoryFileSystem) -> None:
    """As Hudi reads them."""
    made = table_of(fs, {group(1): "abc"}, 1)
    instant = commit(made, fs, {group(1): "abx"})
    directory = f"{PATH}/.hoodie/metadata/record_index"
    (status,) = (s for s in fs.list_status(directory) if f"_{instant}.log" in s.path)
    log = read_log(fs.open(status.path), status.path, status.length)
    assert [block.type for block in log.blocks] == [HFILE, DELETE]
    assert [deletion.key for deletion in deletions_in(log.blocks[1].content)] == ["c"]


def test_replaced_file_groups_of_a_commit_are_refused(fs: MemoryFileSystem) -> None:
    made = table_of(fs, {group(1): "abc"})
    with pytest.raises(MetadataException, match="a commit can't replace file groups"):
        made.commit(Change(replaced={A: [group(1)[1]]}))


def test_new_index_locates_one_of_several_rows_with_a_key(fs: MemoryFileSystem) -> None:
    table_of(fs, {group(1): "ab", group(2): "b"}, None)
    reader = open_keys(fs, PATH)
    slices = reader.slices(sizes_of(fs, {group(1): "ab", group(2): "b"}, FIRST), {})
    keys = dict(zip(slices, reader.read(slices.values()), strict=True))
    found = [(r.key, r.file_group) for r in locations(slices, keys)]
    assert found == [("a", group(1)[1]), ("b", group(2)[1])]
