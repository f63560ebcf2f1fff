"""Scenarios of the services of the table: compaction, cleaning and archiving."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

from fscontract.contract.pipeline_bindings import TableChange
from fscontract.contract.scenarios.instrumented_filesystem import (
    AFTER,
    DEATHS,
    Killed,
)
from fscontract.contract.scenarios.metadata_table.harness import (
    OWN_TIMELINE,
    START,
    TABLE,
    TIMELINE,
    A,
    B,
    C,
    TableHarness,
)
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[TableHarness]()


def _compactions(harness: TableHarness) -> list[str]:
    return [time for time, action in harness.completed(OWN_TIMELINE) if action == "commit"]


@scenario("metadata.own-schedule")
def own_schedule(harness: TableHarness) -> None:
    """Seven commits, with a compaction of the table after three; a compaction of the dataset does
    not count.
    """
    writer = harness.table(compact_after=3)
    for number in range(3):
        harness.commit(writer, {A: {f"n{number}": 1}}, action="compaction")
    harness.expect(len(_compactions(harness)), 0, "compactions after three commits")
    for number in range(3, 7):
        harness.commit(writer, {A: {f"n{number}": 1}})
    harness.expect(len(_compactions(harness)), 2, "compactions after seven commits")
    harness.expect_dataset()


@scenario("metadata.compaction-same")
def compaction_same(harness: TableHarness) -> None:
    """The table is compacted after adds, deletes and new partitions, and its logs are removed."""
    writer = harness.table({**START, "": {"top": 1}, "x/y": {"\xe9": 1, "e\u0301": 2, "none": 0}})
    harness.commit(writer, {A: {"a3": 1}, C: {"c1": 2}}, {B: ["b1"]})
    harness.commit(writer, {A: {"a4": 1}, "x/y": {f"f{number}": number for number in range(1100)}})
    time = harness.begin(writer)
    big = {A: {"big": 1 << 40}}
    writer.finish(time, TableChange(big))
    harness.model.complete(time, big)
    harness.compact(writer)
    harness.expect_dataset("compacted")
    for path in harness.own_files(".log."):
        harness.fs.inner.delete(path)
    harness.expect_dataset("without the logs")


@scenario("metadata.compaction-undecided")
def compaction_undecided(harness: TableHarness) -> None:
    """The table contains the changes of an action that later fails; it is compacted in between."""
    for due in (None, 1):
        harness.reset()
        writer = harness.table(compact_after=due)
        harness.commit(writer, {A: {"a3": 1}})
        time = harness.begin(writer)
        writer.apply(time, harness.change({A: {"bad": 1}}, {B: ["b1"]}))
        if due is None:
            writer.compact()
        else:
            harness.commit(writer, {A: {"a4": 1}})
        writer.roll_back(time, {A: ["bad"]})
        harness.model.take_back(time)
        harness.expect_dataset("rolled back")
        writer.compact()
        harness.expect_dataset("and compacted")


@scenario("metadata.compaction-late")
def compaction_late(harness: TableHarness) -> None:
    """The table is compacted with the changes of a pending action, which is completed later."""
    writer = harness.table()
    time = harness.begin(writer)
    change = harness.change({A: {"late": 1}})
    writer.apply(time, change)
    writer.compact()
    writer.finish(time, change)
    harness.model.complete(time, change.added)
    harness.expect_dataset("completed")
    writer.compact()
    harness.expect_dataset("compacted again")


@scenario("metadata.compaction-first")
def compaction_first(harness: TableHarness) -> None:
    """A commit with a due compaction compacts before the commit is applied."""
    writer = harness.table(compact_after=1)
    harness.commit(writer, {A: {"a3": 1}})
    harness.require(OWN_TIMELINE)
    harness.fs.clear_log()
    time = harness.commit(writer, {A: {"a4": 1}})
    done = [path for path in harness.fs.writes if path.startswith(OWN_TIMELINE)]
    ends = [number for number, path in enumerate(done) if path.endswith(".commit")]
    begins = [number for number, path in enumerate(done) if f"/{time}" in path]
    harness.expect(
        bool(ends) and ends[0] < begins[0], True, "the compaction goes before the commit"
    )


@scenario("metadata.compaction-pending")
def compaction_pending(harness: TableHarness) -> None:
    """A compaction crashes at each of its writes; readers read, writers write."""
    for number, death in product(range(1, 30), DEATHS):
        harness.reset()
        if not _dead_compaction(harness, number, death):
            return
        harness.expect_dataset(f"dead at write {number} ({death})")
        writer = harness.next_writer()
        harness.commit(writer, {A: {f"after{number}": 1}})
        harness.expect_dataset(f"dead at write {number} ({death}), and a commit")


@scenario("metadata.compaction-retried")
def compaction_retried(harness: TableHarness) -> None:
    """A compaction crashes; the next writer completes it before it starts another one."""
    for number in range(1, 30):
        harness.reset()
        if not _dead_compaction(harness, number, AFTER):
            return
        began = _pending(harness)
        writer = harness.next_writer()
        harness.commit(writer, {A: {"after": 1}})
        if began:
            harness.expect(
                began[0] in _compactions(harness), True, f"dead at write {number}, and ended"
            )
        harness.expect(_pending(harness), [], "compactions that are not completed")
        writer.compact()
        harness.expect_dataset("and another one")


def _dead_compaction(harness: TableHarness, number: int, death: str) -> bool:
    """Return a table whose compaction crashes at a write; False if it makes fewer writes."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}}, {B: ["b1"]})
    harness.fs.clear_log()
    harness.fs.kill_at, harness.fs.death = number, death
    with suppress(Killed):
        writer.compact()
        harness.fs.revive()
        return False
    harness.fs.revive()
    return True


def _pending(harness: TableHarness) -> list[str]:
    """Return the pending compactions."""
    names = harness.names(OWN_TIMELINE)
    started = {name.partition(".")[0] for name in names if ".compaction." in name}
    return sorted(started - {time for time, _ in harness.completed(OWN_TIMELINE)})


@scenario("metadata.table-clean")
def table_clean(harness: TableHarness) -> None:
    """The table is cleaned: the latest base file and the logs since then remain."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}})
    writer.compact()
    harness.commit(writer, {A: {"a4": 1}})
    writer.clean_table()
    harness.expect_dataset()
    kinds = sorted(".log." in path for path in harness.own_files())
    harness.expect(kinds, [False, True], "a base file, and a log")
    cleans = [time for time, action in harness.completed(OWN_TIMELINE) if action == "clean"]
    harness.expect(len(cleans), 1, "cleans on the table's timeline")


@scenario("metadata.table-clean-pending")
def table_clean_pending(harness: TableHarness) -> None:
    """The table is cleaned while it contains an action that is completed later."""
    writer = harness.table()
    time = harness.begin(writer)
    change = harness.change({A: {"late": 1}})
    writer.apply(time, change)
    writer.clean_table()
    writer.finish(time, change)
    harness.model.complete(time, change.added)
    harness.expect_dataset()


@scenario("metadata.archive")
def archive(harness: TableHarness) -> None:
    """Instants are archived: those that a compaction of the table includes, and no later ones."""
    writer = harness.table()
    old = harness.commit(writer, {A: {"a3": 1}})
    writer.compact()
    new = [harness.commit(writer, {A: {name: 1}}) for name in ("a4", "a5")]
    writer.clean_table()
    writer.archive()
    remaining = {time for time, _ in harness.completed(TIMELINE)}
    harness.expect(
        (old in remaining, set(new) <= remaining), (False, True), "the old one, and the new ones"
    )
    harness.expect_dataset()


@scenario("metadata.archive-failed")
def archive_failed(harness: TableHarness) -> None:
    """A writer crashed after writing the table; later instants are archived as far as allowed."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}})
    time = harness.begin(writer)
    writer.apply(time, harness.change({A: {"bad": 1}}, {B: ["b1"]}))
    for name in ("a4", "a5"):
        harness.commit(writer, {A: {name: 1}})
    writer.archive()
    harness.expect_dataset("archived")
    writer.compact()
    writer.archive()
    harness.expect_dataset("compacted and archived")


@scenario("metadata.size-bounded")
def size_bounded(harness: TableHarness) -> None:
    """Forty commits with services: the table and the timelines stay small."""
    writer = harness.table(compact_after=4, keep_instants=6)
    for number in range(40):
        harness.commit(writer, {A: {f"n{number}": 1}})
    files = len(harness.own_files())
    harness.expect(files <= 16, True, f"{files} files in {TABLE}")
    harness.expect_dataset()
    lengths = [len(harness.completed(timeline)) for timeline in (TIMELINE, OWN_TIMELINE)]
    harness.expect(max(lengths) <= 20, True, f"{lengths} instants completed on the two timelines")
