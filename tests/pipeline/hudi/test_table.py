"""Tests of the metadata table: it shows all committed changes, and no others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.api.errors import FileAlreadyExistsException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Timeline, load_timeline
from fscontract.pipeline.hudi.writer import Change, MetadataWriter, listing
from tests.pipeline.hudi.support import FILES, PATH, dataset, get, name, put, seen, writer

A, B, C = "city=a", "city=b", "city=c"


@pytest.fixture(params=["memory", "local"])
def fs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FileSystem:
    """Each filesystem."""
    if request.param == "memory":
        return MemoryFileSystem()
    return LocalFileSystem(str(tmp_path_factory.mktemp("root")))


def logs(fs: FileSystem) -> list[str]:
    """Return the log files of the partition that lists files."""
    return [each.path for each in fs.list_status(FILES) if ".log." in each.path]


def test_table_starts_with_the_existing_files(fs: FileSystem) -> None:
    dataset(fs)
    expected = {name(n): 600 + n for n in range(3)}
    assert seen(fs) == {A: expected, B: expected}
    with MetadataTable(fs, PATH) as table:
        assert table.list_partitions() == [A, B]
        for other in ("city=none", "__all_partitions__", "."):
            assert table.list_files(other) == []


def test_a_commit_adds_and_deletes(fs: FileSystem) -> None:
    made = dataset(fs)
    made.commit(Change({A: {"new": 7}, C: {"other": 8}}, {B: [name(0), name(1)]}))
    assert seen(fs) == {
        A: {**{name(n): 600 + n for n in range(3)}, "new": 7},
        B: {name(2): 602},
        C: {"other": 8},
    }


def test_a_partition_goes_with_its_last_file(fs: FileSystem) -> None:
    made = dataset(fs)
    made.commit(Change(deleted={A: [name(0)]}))
    made.commit(Change(deleted={A: [name(1), name(2)]}))
    assert list(seen(fs)) == [B]
    made.commit(Change({A: {"again": 1}}))
    assert list(seen(fs)) == [A, B]
    made.compact()
    assert list(seen(fs)) == [A, B]


def test_a_dataset_without_partitions_has_one(fs: FileSystem) -> None:
    made = dataset(fs, [""])
    made.commit(Change({"": {"new": 7}}))
    with MetadataTable(fs, PATH) as table:
        assert table.list_partitions() == [""]
        assert [each.path for each in table.list_files("")][-1] == f"{PATH}/new"


def test_incomplete_actions_are_not_visible(fs: FileSystem) -> None:
    """Although the metadata table, which changes first, already has it."""
    made = dataset(fs)
    before = seen(fs)
    instant = made.begin()
    made.apply(instant, Change({A: {"new": 1}}, {B: [name(0)]}))
    assert seen(fs) == before
    made.roll_back(instant)
    assert seen(fs) == before
    made.compact()
    assert seen(fs) == before


def test_failed_first_action_is_not_visible() -> None:
    """Even after its rollback, when it is older than the whole timeline."""
    fs = MemoryFileSystem()
    made = writer(fs)
    made.bootstrap(Change({A: {"old": 1}}), "trips")
    instant = made.begin()
    made.apply(instant, Change({A: {"new": 1}}, {A: ["old"]}))
    assert seen(fs) == {A: {"old": 1}}
    made.roll_back(instant)
    assert seen(fs) == {A: {"old": 1}}


def test_completed_action_can_not_be_rolled_back() -> None:
    made = dataset(MemoryFileSystem())
    with pytest.raises(IllegalArgumentException, match="it is completed"):
        made.roll_back(made.commit(Change({A: {"new": 1}})))


def test_a_compaction_changes_nothing_that_is_seen(fs: FileSystem) -> None:
    made = dataset(fs)
    made.commit(Change({A: {"new": 7}}, {B: [name(0)]}))
    before = seen(fs)
    assert made.compact() is not None
    for path in logs(fs):
        fs.delete(path)
    assert seen(fs) == before


def test_compaction_is_skipped_while_an_action_may_fail() -> None:
    made = dataset(MemoryFileSystem())
    instant = made.begin()
    assert made.compact() is not None, "nothing of it is in the table"
    made.apply(instant, Change({A: {"new": 1}}))
    assert made.compact() is None
    made.roll_back(instant)
    assert made.compact() is not None


def test_a_compaction_that_was_not_completed_is_done_again() -> None:
    """By the next commit, which it does not include."""
    fs = MemoryFileSystem()
    made = dataset(fs)
    made.commit(Change({A: {"one": 1}}))
    metadata = f"{PATH}/.hoodie/metadata"
    pending = made._instants.request("compaction", load_timeline(fs, metadata))
    put(fs, f"{FILES}/files-0000-0_0-0-0_{pending.time}.hfile", b"half of a")
    made.commit(Change({A: {"two": 2}}))
    assert load_timeline(fs, metadata).instants[pending.time].state == "completed"
    assert {"one", "two"} <= seen(fs)[A].keys()


def test_recreated_file_has_its_new_size(fs: FileSystem) -> None:
    made = dataset(fs)
    made.commit(Change(deleted={A: [name(0)]}))
    made.commit(Change({A: {name(0): 5}}))
    assert seen(fs)[A][name(0)] == 5
    made.compact()
    assert seen(fs)[A][name(0)] == 5


def test_a_file_deleted_twice_stays_deleted(fs: FileSystem) -> None:
    made = dataset(fs)
    made.commit(Change(deleted={A: [name(0)]}))
    made.commit(Change(deleted={A: [name(0)]}))
    assert name(0) not in seen(fs)[A]
    made.compact()
    assert name(0) not in seen(fs)[A]


def test_torn_log_of_an_incomplete_action_is_ignored(fs: FileSystem) -> None:
    made = dataset(fs)
    before = seen(fs)
    made.apply(made.begin(), Change({A: {"new": 1}}))
    (path,) = logs(fs)
    put(fs, path, get(fs, path)[:-100])
    assert seen(fs) == before


@pytest.mark.parametrize("keep", [0, 10, -1])
def test_torn_log_of_a_completed_action_is_damage(fs: FileSystem, keep: int) -> None:
    """Ignoring it would give a wrong listing."""
    made = dataset(fs)
    made.commit(Change({A: {"new": 1}}))
    (path,) = logs(fs)
    put(fs, path, get(fs, path)[:keep])
    with pytest.raises(CorruptFileException) as caught:
        seen(fs)
    assert caught.value.path == path


def test_torn_log_is_ignored_next_to_a_complete_one(fs: FileSystem) -> None:
    """As after an attempt that died, and a retry."""
    made = dataset(fs)
    made.commit(Change({A: {"new": 1}}))
    (path,) = logs(fs)
    before = seen(fs)
    put(fs, path.replace("_0-0-0", "_0-1-0"), get(fs, path)[:-100])
    assert seen(fs) == before


def test_a_log_whose_blocks_are_of_another_instant_is_damage() -> None:
    fs = MemoryFileSystem()
    made = dataset(fs)
    made.commit(Change({A: {"new": 1}}))
    other = made.commit(Change({A: {"newer": 1}}))
    first, second = logs(fs)
    assert other.time in second
    put(fs, second, get(fs, first))
    with pytest.raises(CorruptFileException, match="of another instant"):
        seen(fs)


def test_damage_of_the_base_file_is_detected(fs: FileSystem) -> None:
    dataset(fs)
    (path,) = (each.path for each in fs.list_status(FILES) if each.path.endswith(".hfile"))
    content = bytearray(get(fs, path))
    content[50] ^= 1
    put(fs, path, bytes(content))
    with pytest.raises(CorruptFileException, match="checksum mismatch in a block, at offset 0"):
        seen(fs)


def test_missing_metadata_table_raises(fs: FileSystem) -> None:
    fs.mkdirs(PATH)
    with pytest.raises(FileNotFoundError):
        MetadataTable(fs, PATH)
    put(fs, f"{PATH}/.hoodie/hoodie.properties", b"hoodie.table.version=8\n")
    with pytest.raises(MetadataException, match="no metadata table"):
        MetadataTable(fs, PATH)


def test_a_metadata_table_is_made_once(fs: FileSystem) -> None:
    made = dataset(fs)
    with pytest.raises(FileAlreadyExistsException):
        made.bootstrap(Change(), "trips")


def test_an_action_can_be_finished_again(fs: FileSystem) -> None:
    """For example after an unknown outcome."""
    made = dataset(fs)
    instant = made.begin()
    change = Change({A: {"new": 7}})
    done = made.finish(instant, change)
    assert made.finish(instant, change) == done
    assert seen(fs)[A]["new"] == 7


def test_table_with_a_missing_base_file_is_rejected(fs: FileSystem) -> None:
    """Its logs alone, and the previous slice, would give a wrong listing."""
    made = dataset(fs)
    made.commit(Change({A: {"new": 7}}))
    made.compact()
    made.commit(Change({A: {"newer": 7}}))
    first, second = (p.path for p in fs.list_status(FILES) if p.path.endswith(".hfile"))
    for gone in (second, first):
        fs.delete(gone)
        with pytest.raises(MetadataException, match="base file of 'files' is missing"):
            seen(fs)


def test_table_starts_with_a_listing(fs: FileSystem) -> None:
    """Without Hudi's own files."""
    for path in ("a/x=1/one", "a/x=1/two", "a/x=2/three", ".hoodie/other", ".hoodie_partition"):
        put(fs, f"{PATH}/{path}", b"12345")
    found = listing(fs, PATH)
    assert found == {"a/x=1": {"one": 5, "two": 5}, "a/x=2": {"three": 5}}
    writer(fs).bootstrap(Change(found), "plain")
    assert seen(fs) == found


@pytest.mark.parametrize(("content", "reads"), [(b"12345", True), (b"54321", True), (b"1", False)])
def test_a_status_is_a_path_and_a_length(fs: FileSystem, content: bytes, reads: bool) -> None:
    """The format stores no more: a replaced file is detected only if it is shorter."""
    put(fs, f"{PATH}/f", b"12345")
    MetadataWriter(fs, PATH).initialize()
    with MetadataTable(fs, PATH) as table:
        (status,) = table.list_files("")
    assert (status.length, status.etag, status.modification_time) == (5, None, 0.0)
    put(fs, f"{PATH}/f", content)
    buffer = bytearray(5)
    with fs.open_file(status.path).with_file_status(status).build().result() as stream:
        if not reads:
            with pytest.raises(EOFError):
                stream.read_fully(0, buffer)
        else:
            stream.read_fully(0, buffer)
            assert buffer == content


def test_a_cold_lookup_takes_five_requests_and_the_next_one() -> None:
    """The properties, two timelines, the files of the table, and its end and one block."""
    fs = MemoryFileSystem()
    partitions = [f"city={n:03}" for n in range(300)]
    dataset(fs, partitions, 100)
    operations = "stream_read_operations"
    with MetadataTable(fs, PATH) as table:
        before = fs.io_statistics()[operations]
        table.list_files("city=150")
        assert fs.io_statistics()[operations] == before + 2
        table.list_files("city=250")
        assert fs.io_statistics()[operations] == before + 3
        vectored = fs.io_statistics()["stream_read_vectored_operations"]
        assert len(table.list_many(partitions[::10])) == 30
        assert fs.io_statistics()["stream_read_vectored_operations"] == vectored + 1


def test_third_listing_of_all_files_reads_nothing() -> None:
    """The first keeps nothing in memory, since most tables are listed once."""
    fs = MemoryFileSystem()
    dataset(fs)
    with MetadataTable(fs, PATH) as table:
        first = dict(table.list_all())
        once = fs.io_statistics()
        assert dict(table.list_all()) == first
        before = fs.io_statistics()
        assert before != once
        assert dict(table.list_all()) == first
        assert fs.io_statistics() == before


def test_changes_of_a_listing_do_not_change_the_next_one(fs: FileSystem) -> None:
    dataset(fs)
    with MetadataTable(fs, PATH) as table:
        for _ in range(4):
            listed = dict(table.list_all())
            assert [len(files) for files in listed.values()] == [3, 3]
            for files in listed.values():
                files.clear()


def test_interrupted_listing_of_all_files_is_not_kept(fs: FileSystem) -> None:
    dataset(fs)
    with MetadataTable(fs, PATH) as table:
        for _ in range(2):
            assert next(table.list_all())[0] == A
        assert list(dict(table.list_all())) == [A, B]


def test_listing_of_many_files_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fscontract.pipeline.hudi.table.MAX_LISTED", 5)
    fs = MemoryFileSystem()
    dataset(fs)
    with MetadataTable(fs, PATH) as table:
        for _ in range(3):
            before = fs.io_statistics().get("stream_read_operations", 0)
            assert [len(files) for _, files in table.list_all()] == [3, 3]
            assert fs.io_statistics()["stream_read_operations"] > before


#: Possible events of a dataset with two partitions and three names.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["commit", "fail", "roll back", "compact"]),
        st.dictionaries(
            st.sampled_from([A, B]),
            st.dictionaries(st.sampled_from("xyz"), st.integers(0, 9), max_size=2),
            max_size=2,
        ),
        st.dictionaries(st.sampled_from([A, B]), st.sets(st.sampled_from("xyz")), max_size=2),
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_table_equals_the_dataset_after_any_events(
    steps: list[tuple[str, dict[str, dict[str, int]], dict[str, set[str]]]],
) -> None:
    """A dictionary is the model of the dataset."""
    fs = MemoryFileSystem()
    made = dataset(fs, [A], 1)
    model = {A: {name(0): 600}}
    for kind, added, deleted in steps:
        change = Change(added, {p: gone - added.get(p, {}).keys() for p, gone in deleted.items()})
        _STEPS[kind](made, change)
        if kind == "commit":
            _change(model, change)
        assert seen(fs) == {p: files for p, files in model.items() if files}


def _change(model: dict[str, dict[str, int]], change: Change) -> None:
    for partition, gone in change.deleted.items():
        for each in gone:
            model.get(partition, {}).pop(each, None)
    for partition, files in change.added.items():
        known = model.setdefault(partition, {})
        known.update({each: max(size, known.get(each, 0)) for each, size in files.items()})


def _fail(made: MetadataWriter, change: Change) -> None:
    made.apply(made.begin(), change)


def _roll_back(made: MetadataWriter, _: Change) -> None:
    data: Timeline = made.timelines()[0]
    for instant in data.pending:
        made.roll_back(instant)


_STEPS: dict[str, Callable[[MetadataWriter, Change], object]] = {
    "commit": lambda made, change: made.commit(change),
    "fail": _fail,
    "roll back": _roll_back,
    "compact": lambda made, _: made.compact(),
}
