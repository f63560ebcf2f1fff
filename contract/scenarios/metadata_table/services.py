"""Scenarios of the services of the table: compaction, cleaning and archiving."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

from fscontract.contract.scenarios.metadata_table.harness import (
    OWN_TIMELINE,
    TABLE,
    TIMELINE,
    A,
    B,
    Bench,
    C,
)
from fscontract.contract.scenarios.metadata_table.instrumented_filesystem import (
    AFTER,
    DEATHS,
    Killed,
)
from fscontract.contract.scenarios.metadata_table.scenario import Scenarios

scenario = Scenarios()


def _compactions(bench: Bench) -> list[str]:
    return [time for time, action in bench.completed(OWN_TIMELINE) if action == "commit"]


@scenario("metadata.own-schedule")
def own_schedule(bench: Bench) -> None:
    """Seven commits, with a compaction of the table after three; one of the dataset is none."""
    writer = bench.table(compact_after=3)
    for number in range(3):
        bench.commit(writer, {A: {f"n{number}": 1}}, action="compaction")
    bench.want(len(_compactions(bench)), 0, "compactions after three commits")
    for number in range(3, 7):
        bench.commit(writer, {A: {f"n{number}": 1}})
    bench.want(len(_compactions(bench)), 2, "compactions after seven commits")
    bench.right()


@scenario("metadata.compaction-same")
def compaction_same(bench: Bench) -> None:
    """The table is compacted after adds, deletes and new partitions, and its logs are removed."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}, C: {"c1": 2}}, {B: ["b1"]})
    bench.commit(writer, {A: {"a4": 1}})
    bench.want(writer.compact(), True, "compacted")
    bench.right("compacted")
    for path in bench.own_files(".log."):
        bench.stage.inner.delete(path)
    bench.right("without the logs")


@scenario("metadata.compaction-undecided")
def compaction_undecided(bench: Bench) -> None:
    """The table has what an action did that fails then; it is compacted in between."""
    for due in (None, 1):
        bench.reset()
        writer = bench.table(compact_after=due)
        bench.commit(writer, {A: {"a3": 1}})
        time = bench.begin(writer)
        writer.apply(time, bench.change({A: {"bad": 1}}, {B: ["b1"]}))
        if due is None:
            writer.compact()
        else:
            bench.commit(writer, {A: {"a4": 1}})
        writer.roll_back(time, {A: ["bad"]})
        bench.model.take_back(time)
        bench.right("rolled back")
        writer.compact()
        bench.right("and compacted")


@scenario("metadata.compaction-late")
def compaction_late(bench: Bench) -> None:
    """An action is in the table when that is compacted, and is completed later: it counts."""
    writer = bench.table()
    time = bench.begin(writer)
    change = bench.change({A: {"late": 1}})
    writer.apply(time, change)
    writer.compact()
    writer.finish(time, change)
    bench.model.complete(time, change.added)
    bench.right("completed")
    writer.compact()
    bench.right("compacted again")


@scenario("metadata.compaction-first")
def compaction_first(bench: Bench) -> None:
    """A commit finds that a compaction is due: it is done before the commit is applied."""
    writer = bench.table(compact_after=1)
    bench.commit(writer, {A: {"a3": 1}})
    bench.stage.forget()
    time = bench.commit(writer, {A: {"a4": 1}})
    done = [path for path in bench.stage.writes if path.startswith(OWN_TIMELINE)]
    ends = [number for number, path in enumerate(done) if path.endswith(".commit")]
    begins = [number for number, path in enumerate(done) if f"/{time}" in path]
    bench.want(bool(ends) and ends[0] < begins[0], True, "the compaction goes before the commit")


@scenario("metadata.compaction-pending")
def compaction_pending(bench: Bench) -> None:
    """A compaction dies at each of its writes; readers read, writers write."""
    for number, death in product(range(1, 30), DEATHS):
        bench.reset()
        if not _dead_compaction(bench, number, death):
            return
        bench.right(f"dead at write {number} ({death})")
        writer = bench.next_writer()
        bench.commit(writer, {A: {f"after{number}": 1}})
        bench.right(f"dead at write {number} ({death}), and a commit")


@scenario("metadata.compaction-retried")
def compaction_retried(bench: Bench) -> None:
    """A compaction dies; the next writer ends it, before it begins another one."""
    for number in range(1, 30):
        bench.reset()
        if not _dead_compaction(bench, number, AFTER):
            return
        began = _pending(bench)
        writer = bench.next_writer()
        bench.commit(writer, {A: {"after": 1}})
        if began:
            bench.want(began[0] in _compactions(bench), True, f"dead at write {number}, and ended")
        bench.want(_pending(bench), [], "compactions that are not completed")
        writer.compact()
        bench.right("and another one")


def _dead_compaction(bench: Bench, number: int, death: str) -> bool:
    """A table whose compaction dies at a write; False if it has no so many."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}}, {B: ["b1"]})
    bench.stage.forget()
    bench.stage.kill_at, bench.stage.death = number, death
    with suppress(Killed):
        writer.compact()
        bench.stage.revive()
        return False
    bench.stage.revive()
    return True


def _pending(bench: Bench) -> list[str]:
    """The compactions that have begun, and are not completed."""
    names = [s.path.rpartition("/")[2] for s in bench.stage.inner.list_status(OWN_TIMELINE)]
    begun = {name.partition(".")[0] for name in names if ".compaction." in name}
    return sorted(begun - {time for time, _ in bench.completed(OWN_TIMELINE)})


@scenario("metadata.table-clean")
def table_clean(bench: Bench) -> None:
    """The table is cleaned: what remains is the latest base file and the logs since."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}})
    writer.compact()
    bench.commit(writer, {A: {"a4": 1}})
    writer.clean_table()
    bench.right()
    kinds = sorted(".log." in path for path in bench.own_files())
    bench.want(kinds, [False, True], "a base file, and a log")
    cleans = [time for time, action in bench.completed(OWN_TIMELINE) if action == "clean"]
    bench.want(len(cleans), 1, "cleans on the table's timeline")


@scenario("metadata.table-clean-pending")
def table_clean_pending(bench: Bench) -> None:
    """The table is cleaned while an action is in it that is completed later."""
    writer = bench.table()
    time = bench.begin(writer)
    change = bench.change({A: {"late": 1}})
    writer.apply(time, change)
    writer.clean_table()
    writer.finish(time, change)
    bench.model.complete(time, change.added)
    bench.right()


@scenario("metadata.archive")
def archive(bench: Bench) -> None:
    """Instants are dropped: of those that the table is compacted with, and of no later ones."""
    writer = bench.table()
    old = bench.commit(writer, {A: {"a3": 1}})
    writer.compact()
    new = [bench.commit(writer, {A: {name: 1}}) for name in ("a4", "a5")]
    writer.clean_table()
    writer.archive()
    left = {time for time, _ in bench.completed(TIMELINE)}
    bench.want((old in left, set(new) <= left), (False, True), "the old one, and the new ones")
    bench.right()


@scenario("metadata.archive-failed")
def archive_failed(bench: Bench) -> None:
    """An action died with the table written; instants after it are archived as far as may be."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}})
    time = bench.begin(writer)
    writer.apply(time, bench.change({A: {"bad": 1}}, {B: ["b1"]}))
    for name in ("a4", "a5"):
        bench.commit(writer, {A: {name: 1}})
    writer.archive()
    bench.right("archived")
    writer.compact()
    writer.archive()
    bench.right("compacted and archived")


@scenario("metadata.size-bounded")
def size_bounded(bench: Bench) -> None:
    """Forty commits with services: the table and the timelines stay small."""
    writer = bench.table(compact_after=4, keep_instants=6)
    for number in range(40):
        bench.commit(writer, {A: {f"n{number}": 1}})
    bench.right()
    bench.want(len(bench.own_files()) <= 16, True, f"{len(bench.own_files())} files in {TABLE}")
    lengths = [len(bench.completed(each)) for each in (TIMELINE, OWN_TIMELINE)]
    bench.want(max(lengths) <= 20, True, f"{lengths} instants completed on the two timelines")
