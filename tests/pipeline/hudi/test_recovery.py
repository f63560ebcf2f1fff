"""Tests of a writer's handling of instants and changes by other writers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.log import encode_log, rollback_block
from fscontract.pipeline.hudi.timeline import Instant, TimelineWriter, load_timeline
from fscontract.pipeline.hudi.writer import Change, MetadataWriter, Services
from tests.pipeline.hudi.support import FILES, PATH, Ticks, dataset, get, name, put, seen

A, B = "city=a", "city=b"
METADATA = f"{PATH}/.hoodie/metadata"


@pytest.fixture
def fs() -> MemoryFileSystem:
    """A filesystem with a dataset."""
    made = MemoryFileSystem()
    dataset(made)
    return made


def another(fs: MemoryFileSystem, start: int = 1000, **rest: object) -> MetadataWriter:
    """Return a later writer."""
    return MetadataWriter(fs, PATH, Ticks(start), **rest)  # type: ignore[arg-type]


def test_actions_of_writers_without_table_are_applied_before_a_commit(
    fs: MemoryFileSystem,
) -> None:
    """So that the newer change wins."""
    properties = f"{PATH}/.hoodie/hoodie.properties"
    whole = get(fs, properties)
    put(fs, properties, whole.replace(b"hoodie.table.metadata.partitions=files\n", b""))
    blind = another(fs, 100)
    blind.commit(Change({A: {"x": 1}}))
    put(fs, properties, whole)
    another(fs).clean({A: ["x"]})
    assert "x" not in seen(fs)[A]
    data, metadata = load_timeline(fs, PATH), load_timeline(fs, METADATA)
    missing = [each for each in data.completed if each not in metadata.completed]
    assert missing == ["20260101000000000"], "the one from before the table"


@pytest.mark.parametrize("action", ["logcompaction", "clustering", "indexing"])
def test_a_scheduled_action_waits_for_its_executor(fs: MemoryFileSystem, action: str) -> None:
    """A table can be created, rebuilt and written meanwhile."""
    time = "20260101000000500"
    TimelineWriter(fs, PATH).put(Instant(time, action, "requested"))
    made = MetadataWriter(fs, PATH, Ticks(1000))
    made.commit(Change({A: {"new": 1}}))
    made.rebuild()
    assert [instant.time for instant in made.timelines()[0].pending] == [time]


def test_a_requested_compaction_of_the_dataset_waits(fs: MemoryFileSystem) -> None:
    """For its executor; one that was begun, and died, is rolled back."""
    instants = TimelineWriter(fs, PATH)
    time = "20260605000000000"
    instants.put(Instant(time, "compaction", "requested"))
    writer = another(fs)
    assert writer.recover() == []
    writer.commit(Change({A: {"x": 1}}))
    assert time in load_timeline(fs, PATH).instants
    instants.put(Instant(time, "compaction", "inflight"))
    assert len(writer.recover()) == 1
    assert time not in load_timeline(fs, PATH).instants


def test_young_actions_are_not_rolled_back(fs: MemoryFileSystem) -> None:
    young = another(fs).begin()
    patient = another(fs, 1060, patience=timedelta(minutes=5))
    assert patient.recover() == []
    late = another(fs, 2000, patience=timedelta(minutes=5))
    (undone,) = late.recover()
    assert undone.action == "rollback"
    assert young.time not in load_timeline(fs, PATH).instants


def test_instant_without_a_plan_is_named(fs: MemoryFileSystem) -> None:
    time = "20260605000000000"
    TimelineWriter(fs, PATH).put(Instant(time, "clean", "requested"))
    with pytest.raises(MetadataException, match=f"can't read the plan of {time}"):
        another(fs).recover()


def test_log_can_roll_back_a_later_one(fs: MemoryFileSystem) -> None:
    """Hudi wrote it so before table version 8."""
    writer = another(fs)
    bad = writer.commit(Change({A: {"bad": 1}}, {B: [name(0)]}))
    writer.commit(Change({A: {"good": 1}}))
    undo = writer.begin()
    writer.apply(undo, Change())
    log = f"{FILES}/.files-0000-0_{undo.time}.log.1_0-0-0"
    put(fs, log, encode_log([rollback_block(undo.time, bad.time)]))
    assert "bad" in seen(fs)[A], "it is not completed"
    writer.finish(undo, Change())
    listed = seen(fs)
    assert "bad" not in listed[A]
    assert "good" in listed[A]
    assert name(0) in listed[B]


def test_restore_requires_a_completed_instant(fs: MemoryFileSystem) -> None:
    writer = another(fs)
    with pytest.raises(IllegalArgumentException, match="not a completed instant"):
        writer.restore(Instant("20300101000000000", "commit", "completed"))


def test_restore_reverts_actions_completed_later(fs: MemoryFileSystem) -> None:
    """Although it was begun before."""
    writer = another(fs)
    slow = writer.begin()
    before = writer.commit(Change({A: {"one": 1}}))
    writer.finish(slow, Change({A: {"slow": 1}}))
    writer.restore(before)
    assert "one" in seen(fs)[A]
    assert "slow" not in seen(fs)[A]


def test_a_restore_can_go_behind_another_one(fs: MemoryFileSystem) -> None:
    """And past rollbacks."""
    writer = another(fs)
    first = writer.commit(Change({A: {"one": 1}}))
    second = writer.commit(Change({A: {"two": 1}}))
    writer.commit(Change({A: {"three": 1}}))
    writer.restore(second)
    assert {"one", "two"} <= seen(fs)[A].keys()
    writer.roll_back(writer.begin())
    writer.restore(first)
    assert "one" in seen(fs)[A]
    assert not {"two", "three"} & seen(fs)[A].keys()
    writer.compact()
    writer.clean_table()
    writer.archive()
    assert not {"two", "three"} & seen(fs)[A].keys()


def test_services_need_no_call(fs: MemoryFileSystem) -> None:
    writer = another(fs, services=Services(compact_after=2, keep_slices=1, keep_instants=3))
    for number in range(9):
        writer.commit(Change({A: {f"f{number}": number}}))
    assert len(seen(fs)[A]) == 12
    assert len([each for each in fs.list_status(FILES) if ".hfile" in each.path]) <= 2
    assert len(load_timeline(fs, METADATA).instants) < 12


def test_an_instant_that_was_completed_elsewhere_keeps_its_content(fs: MemoryFileSystem) -> None:
    """Hudi's commit metadata, with only its own fields."""
    time, end = "20260605000000000", "20260605000001000"
    TimelineWriter(fs, PATH).put(
        Instant(time, "deltacommit", "completed", end), encode_commit([], "UPSERT")
    )
    before = seen(fs)
    assert another(fs, 10**6).sync() == [time]
    assert seen(fs) == before
