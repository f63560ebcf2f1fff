"""hudi-rs, which shares no line with this, reads what is written here as it is read here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.ports import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.metadata.write import Change, MetadataWriter
from tests.pipeline.metadata.support import (
    FILES,
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
        self.fs: FileSystem = LocalFileSystem(root)
        self.writer: MetadataWriter = dataset(self.fs)
        self.count = 100

    def agree(self) -> None:
        """Both see the same, and it is what hudi-rs calls file slices."""
        assert seen_by_hudi(self.root) == names(seen(self.fs))

    def add(self, *partitions: str, deleted: dict[str, list[str]] | None = None) -> str:
        """Commit a new file in each partition; its name."""
        instant = self.writer.begin()
        self.count += 1
        new = name(self.count, instant.time)
        self.writer.finish(instant, Change({each: {new: 5} for each in partitions}, deleted or {}))
        return new


@pytest.fixture
def trips(tmp_path: Path) -> Trips:
    """A dataset of two partitions."""
    return Trips(str(tmp_path))


def test_what_it_begins_with(trips: Trips) -> None:
    trips.agree()


def test_a_commit_and_a_new_partition(trips: Trips) -> None:
    trips.add(A, C)
    trips.agree()


def test_deleted_files_and_a_partition_that_is_gone(trips: Trips) -> None:
    trips.add(A, deleted={A: [name(0)], B: [name(n) for n in range(3)]})
    trips.agree()
    assert B not in seen(trips.fs)


def test_an_action_that_was_not_completed(trips: Trips) -> None:
    """It may have added, deleted or both; and it may have been taken back since."""
    instant = trips.writer.begin()
    change = Change({A: {name(9, instant.time): 5}}, {B: [name(0)]})
    trips.writer.apply(instant, change)
    trips.agree()
    trips.writer.roll_back(instant)
    trips.agree()


def test_an_action_that_was_completed_on_neither_timeline(trips: Trips) -> None:
    """Its log is there, and nothing says that it counts."""
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
    fs = LocalFileSystem(str(tmp_path))
    dataset(fs, [f"city={n:04}" for n in range(600)], 4)
    assert seen_by_hudi(str(tmp_path)) == names(seen(fs))


def test_hudi_rs_lists_a_file_that_came_twice_and_was_deleted(trips: Trips) -> None:
    """A finding: hudi-rs 0.5.0 merges logs before their base, and loses the deletion there.

    It fails here as soon as hudi-rs is right.
    """
    trips.writer.commit(Change({A: {name(0): 600}}))
    trips.writer.commit(Change(deleted={A: [name(0)]}))
    assert seen(trips.fs)[A].keys() == {name(1), name(2)}
    assert seen_by_hudi(trips.root)[A] == {name(0), name(1), name(2)}
    trips.writer.compact()
    trips.agree()


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "delete", "fail", "compact"]), st.sampled_from([A, B, C])),
    max_size=6,
)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_both_agree_after_whatever_happened(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    """Names are new each time, as Hudi's are: a name that comes again is the finding above."""
    trips = Trips(str(tmp_path_factory.mktemp("root")))
    for kind, partition in steps:
        if kind == "add":
            trips.add(partition)
        elif kind == "compact":
            trips.writer.compact()
        elif files := sorted(seen(trips.fs).get(partition, {})):
            change = Change(deleted={partition: files[:2]})
            if kind == "delete":
                trips.writer.commit(change)
            else:
                trips.writer.apply(trips.writer.begin(), change)
    trips.agree()
