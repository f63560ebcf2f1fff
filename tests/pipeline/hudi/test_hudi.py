"""Tests that hudi-rs, an independent implementation, reads the same tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.scenarios.instrumented_filesystem import (
    DEATHS,
    InstrumentedFileSystem,
    Killed,
)
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.io import CorruptFileException
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import Change, MetadataWriter, Services
from tests.pipeline.hudi.support import (
    FILES,
    PATH,
    START,
    Ticks,
    dataset,
    get,
    name,
    names,
    put,
    seen,
    seen_by_hudi,
)

A, B, C = "city=a", "city=b", "city=c"


class Trips:
    """A dataset in a directory."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.fs: FileSystem = LocalFileSystem(root, durable=False)
        self.writer: MetadataWriter = dataset(self.fs)
        self.count = 100

    def agree(self) -> None:
        """Assert that both see the same file slices."""
        assert seen_by_hudi(self.root) == names(seen(self.fs))

    def add(self, *partitions: str, deleted: dict[str, list[str]] | None = None) -> str:
        """Commit a new file in each partition; return its name."""
        instant = self.writer.begin()
        self.count += 1
        new = name(self.count, instant.time)
        self.writer.finish(instant, Change({each: {new: 5} for each in partitions}, deleted or {}))
        return new

    def begin_with(self, partition: str) -> Instant:
        """Commit a new file; return the instant."""
        instant = self.writer.begin()
        return self.writer.finish(instant, Change({partition: {name(99, instant.time): 5}}))


@pytest.fixture
def trips(tmp_path: Path) -> Trips:
    """A dataset of two partitions."""
    return Trips(str(tmp_path))


def test_initial_table(trips: Trips) -> None:
    trips.agree()


def test_a_commit_and_a_new_partition(trips: Trips) -> None:
    trips.add(A, C)
    trips.agree()


def test_deleted_files_and_a_partition_that_is_gone(trips: Trips) -> None:
    trips.add(A, deleted={A: [name(0)], B: [name(n) for n in range(3)]})
    trips.agree()
    assert B not in seen(trips.fs)


def test_an_action_that_was_not_completed(trips: Trips) -> None:
    """It may have added, deleted or both, and may have been rolled back."""
    instant = trips.writer.begin()
    change = Change({A: {name(9, instant.time): 5}}, {B: [name(0)]})
    trips.writer.apply(instant, change)
    trips.agree()
    trips.writer.roll_back(instant)
    trips.agree()


def test_an_action_that_was_completed_on_neither_timeline(trips: Trips) -> None:
    """Its log exists, but is not valid."""
    trips.add(A)
    (path,) = (each.path for each in trips.fs.list_status(FILES) if ".log." in each.path)
    put(trips.fs, path.replace("_2026", "_2025"), get(trips.fs, path))
    trips.agree()


def test_a_torn_log_that_does_not_count(trips: Trips) -> None:
    trips.writer.apply(trips.writer.begin(), Change({A: {name(9): 5}}))
    (path,) = (each.path for each in trips.fs.list_status(FILES) if ".log." in each.path)
    put(trips.fs, path, get(trips.fs, path)[:-100])
    trips.agree()


def test_a_compaction_and_commits_after_it(trips: Trips) -> None:
    first = trips.add(A)
    trips.add(B, deleted={A: [first]})
    trips.writer.compact()
    trips.agree()
    trips.add(C, deleted={A: [name(0)]})
    trips.agree()


def test_an_index_of_several_levels(tmp_path: Path) -> None:
    """There are enough partitions for more than one block."""
    fs = LocalFileSystem(str(tmp_path), durable=False)
    dataset(fs, [f"city={n:04}" for n in range(600)], 4)
    assert seen_by_hudi(str(tmp_path)) == names(seen(fs))


def test_hudi_rs_lists_a_file_that_came_twice_and_was_deleted(trips: Trips) -> None:
    """A finding: hudi-rs 0.5.0 merges logs before their base, and loses the deletion.

    The test fails once hudi-rs is fixed.
    """
    trips.writer.commit(Change({A: {name(0): 600}}))
    trips.writer.commit(Change(deleted={A: [name(0)]}))
    assert seen(trips.fs)[A].keys() == {name(1), name(2)}
    assert seen_by_hudi(trips.root)[A] == {name(0), name(1), name(2)}
    trips.writer.compact()
    trips.agree()


def test_hudi_rs_ignores_a_torn_log_of_a_completed_commit(trips: Trips) -> None:
    """A finding: hudi-rs 0.5.0 silently lists the files before a valid commit.

    The test fails once hudi-rs reports it.
    """
    before = names(seen(trips.fs))
    new = trips.add(A)
    assert seen_by_hudi(trips.root)[A] == before[A] | {new}
    (path,) = (each.path for each in trips.fs.list_status(FILES) if ".log." in each.path)
    put(trips.fs, path, get(trips.fs, path)[:-100])
    with pytest.raises(CorruptFileException):
        seen(trips.fs)
    assert seen_by_hudi(trips.root) == before


def test_clean_rollback_and_restore(trips: Trips) -> None:
    """Each is an instant of the dataset, with its content, and a deltacommit."""
    first = trips.begin_with(A)
    new = trips.add(C)
    trips.agree()
    trips.writer.restore(first)
    trips.agree()
    assert C not in seen(trips.fs)
    assert new not in str(seen(trips.fs))
    trips.writer.clean({B: [name(0)]})
    trips.agree()
    failed = trips.writer.begin()
    change = Change({A: {name(9, failed.time): 5}})
    trips.writer.apply(failed, change)
    trips.writer.roll_back(failed, change.added)
    trips.agree()


def test_services_on_their_own_schedule(tmp_path: Path) -> None:
    """Compacted, cleaned and archived many times."""
    trips = Trips(str(tmp_path))
    services = Services(compact_after=3, keep_slices=1, keep_instants=4)
    trips.writer = MetadataWriter(trips.fs, PATH, Ticks(), services=services)
    for number in range(12):
        trips.add((A, B, C)[number % 3])
        trips.agree()
    assert len(list(trips.fs.list_status(FILES))) < 8


def test_hudi_rs_treats_a_dataset_without_commits_as_empty(trips: Trips) -> None:
    """A finding: if a timeline's commits are archived, and it has a rollback.

    The test fails once hudi-rs lists the files.
    """
    trips.writer.roll_back(trips.writer.begin())
    trips.agree()
    for status in list(trips.fs.list_status(f"{PATH}/.hoodie/timeline")):
        if START in status.path:
            trips.fs.delete(status.path)
    assert list(seen(trips.fs)) == [A, B]
    assert seen_by_hudi(trips.root) == {}


def test_a_commit_stays_on_the_timeline(trips: Trips) -> None:
    """Without one, hudi-rs 0.5.0 lists no files, whatever the table contains."""
    trips.add(A)
    for number in range(3):
        trips.writer.roll_back(trips.writer.begin())
        trips.writer.clean({B: [name(number)]})
        trips.writer.compact()
    trips.writer.archive(1)
    assert "commit" in {each.action for each in trips.writer.timelines()[0].instants.values()}
    trips.agree()


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("number", [3, 5, 7, 9, 11])
def test_both_agree_after_a_writer_died(trips: Trips, number: int, death: str) -> None:
    """In a commit with deletions; also after the next writer rolled it back, or completed it."""
    fs = InstrumentedFileSystem(trips.fs)
    trips.fs = fs
    trips.writer = MetadataWriter(fs, PATH, Ticks(100))
    trips.add(A)
    fs.clear_log()
    fs.kill_at, fs.death = number, death
    with suppress(Killed):
        trips.add(A, C, deleted={B: [name(n) for n in range(3)]})
    fs.revive()
    trips.agree()
    trips.writer = MetadataWriter(fs, PATH, Ticks(1000))
    trips.writer.recover()
    trips.agree()
    trips.add(B)
    trips.writer.compact()
    trips.agree()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "delete", "fail", "compact", "clean", "roll back", "services"]),
        st.sampled_from([A, B, C]),
    ),
    max_size=6,
)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_both_agree_after_any_events(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    """Names are unique, as Hudi's are: a reused name is the finding above."""
    trips = Trips(str(tmp_path_factory.mktemp("root")))
    for kind, partition in steps:
        if kind == "add":
            trips.add(partition)
        elif kind == "compact":
            trips.writer.compact()
        elif kind == "services":
            trips.writer.compact()
            trips.writer.clean_table()
            trips.writer.archive(3)
        elif kind == "roll back":
            for failed in trips.writer.timelines()[0].pending:
                trips.writer.roll_back(failed)
        elif files := sorted(seen(trips.fs).get(partition, {})):
            change = Change(deleted={partition: files[:2]})
            if kind == "delete":
                trips.writer.commit(change)
            elif kind == "clean":
                trips.writer.clean(change.deleted)
            else:
                trips.writer.apply(trips.writer.begin(), change)
    trips.agree()
