"""Scenarios of how the table begins, and of what each action on its dataset comes to."""

from __future__ import annotations

from contextlib import closing

from fscontract.contract.pipeline_bindings import DATASET
from fscontract.contract.scenarios.metadata_table.harness import (
    OWN_TIMELINE,
    START,
    TIMELINE,
    A,
    B,
    Bench,
    C,
)
from fscontract.contract.scenarios.metadata_table.instrumented_filesystem import Killed
from fscontract.contract.scenarios.metadata_table.scenario import Scenarios

scenario = Scenarios()


# Initialising -----------------------------------------------------------------------------------


@scenario("metadata.init-listing")
def init_listing(bench: Bench) -> None:
    """A dataset with files at several depths, and with what is Hudi's own among them."""
    content = {"": {"top": 1}, "x": {"f": 2}, "x/y/z": {"g": 3}}
    bench.put(".hoodie", "other.properties", 5)
    bench.put("x", ".hoodie_partition_metadata", 5)
    bench.table(content)
    bench.right()


@scenario("metadata.init-empty")
def init_empty(bench: Bench) -> None:
    """A dataset without files; the first comes later."""
    writer = bench.table({})
    with closing(bench.reader()) as reader:
        bench.want(reader.partitions(), [], "partitions")
    bench.commit(writer, {A: {"first": 1}})
    bench.right()


@scenario("metadata.init-pending")
def init_pending(bench: Bench) -> None:
    """An action is at work, and some of its files are there already."""
    bench.dataset()
    writer = bench.writer()
    bench.begin(writer)
    bench.put(A, "half", 1)
    bench.refused(writer.initialize, "refused while an action is not completed")


@scenario("metadata.init-once")
def init_once(bench: Bench) -> None:
    """There is a table, and another writer makes it again."""
    writer = bench.table()
    bench.clean(writer, {A: ["a1"]})
    bench.refused(bench.writer().initialize, "refused: there is a table")
    bench.right()


@scenario("metadata.init-whole")
def init_whole(bench: Bench) -> None:
    """The process dies at each write; there is no table, or a whole one, and the next makes it."""
    for number in range(1, 40):
        bench.reset()
        bench.dataset()
        bench.stage.forget()
        bench.stage.kill_at = number
        try:
            bench.writer().initialize()
        except Killed:
            pass
        else:
            return
        writer = bench.next_writer()
        try:
            seen = bench.seen()
        except OSError:
            writer.initialize()
            seen = bench.seen()
        bench.sees(START, seen, f"dead at write {number}")


# Actions ----------------------------------------------------------------------------------------


@scenario("metadata.one-deltacommit")
def one_deltacommit(bench: Bench) -> None:
    """There is a commit, a clean, a rollback and a restore: each is one instant of the table."""
    writer = bench.table()
    before = set(bench.completed(OWN_TIMELINE))
    first = bench.commit(writer, {A: {"a3": 1}})
    second = bench.commit(writer, {A: {"a4": 1}}, action="compaction")
    failed = bench.begin(writer)
    undone = writer.roll_back(failed, {})
    third = bench.clean(writer, {B: ["b1"]})
    added = sorted(set(bench.completed(OWN_TIMELINE)) - before)
    wanted = sorted((time, "deltacommit") for time in (first, second, undone, third))
    bench.want(added, wanted, "instants of the table")


@scenario("metadata.action-write")
def action_write(bench: Bench) -> None:
    """Inserts and upserts add files: a commit, a deltacommit, a replacecommit."""
    writer = bench.table()
    for number, action in enumerate(("commit", "deltacommit", "replacecommit")):
        bench.commit(writer, {A: {f"n{number}": number}}, action=action)
        bench.right(action)


@scenario("metadata.action-compaction")
def action_compaction(bench: Bench) -> None:
    """A compaction of the dataset adds a base file, while a commit goes on beside it."""
    writer = bench.table()
    time = bench.begin(writer, "compaction")
    bench.commit(writer, {B: {"b2": 2}})
    added = {A: {"base": 100}}
    writer.finish(time, bench.change(added))
    bench.model.complete(time, added)
    bench.right()
    bench.want((time, "commit") in bench.completed(TIMELINE), True, "it is a commit when done")


@scenario("metadata.action-clean")
def action_clean(bench: Bench) -> None:
    """A clean deletes files of two partitions."""
    writer = bench.table()
    bench.clean(writer, {A: ["a1"], B: ["b1"]})
    bench.right()
    left = [status.path for status in bench.stage.inner.list_status(f"{DATASET}/{A}")]
    bench.want(left, [f"{DATASET}/{A}/a2"], "files that are left")


@scenario("metadata.action-rollback")
def action_rollback(bench: Bench) -> None:
    """An action fails after the table has it, and is rolled back; its files go."""
    writer = bench.table()
    time = bench.begin(writer)
    writer.apply(time, bench.change({A: {"bad": 1}}, {B: ["b1"]}))
    writer.roll_back(time, {A: ["bad"]})
    bench.model.take_back(time)
    bench.right()
    left = [status.path for status in bench.stage.inner.list_status(f"{DATASET}/{A}")]
    bench.want(f"{DATASET}/{A}/bad" in left, False, "its file is left")


@scenario("metadata.action-restore")
def action_restore(bench: Bench) -> None:
    """The dataset goes back to a commit, with a compaction of the table since then."""
    for compacted in (False, True):
        bench.reset()
        writer = bench.table()
        first = bench.commit(writer, {A: {"keep": 1}})
        since = [bench.commit(writer, {C: {"c1": 1}}), bench.commit(writer, {A: {"a9": 1}})]
        if compacted:
            writer.compact()
        bench.model.request(time := writer.restore(first), "restore")
        bench.model.complete(time)
        for each in since:
            bench.model.take_back(each)
        bench.right("restored")
        bench.commit(writer, {A: {"next": 1}})
        bench.right("and a commit")


@scenario("metadata.restore-deleted")
def restore_deleted(bench: Bench) -> None:
    """Files were deleted since, and nothing brings them back."""
    writer = bench.table()
    first = bench.commit(writer, {A: {"keep": 1}})
    bench.clean(writer, {A: ["a1"]})
    bench.refused(lambda: writer.restore(first), "refused: files were deleted since")
    bench.right()


@scenario("metadata.clean-missing")
def clean_missing(bench: Bench) -> None:
    """A file that is to be deleted is gone already."""
    writer = bench.table()
    bench.stage.inner.delete(f"{DATASET}/{A}/a1")
    bench.clean(writer, {A: ["a1"]})
    bench.right()


@scenario("metadata.clean-failed")
def clean_failed(bench: Bench) -> None:
    """A file that is to be deleted can't be, and is there still."""
    writer = bench.table()
    bench.stage.refused = {f"{DATASET}/{A}/a1"}
    writer.clean({A: ["a1", "a2"]})
    bench.sees({A: {"a1": 10}, B: START[B]}, bench.seen())


@scenario("metadata.from-instant")
def from_instant(bench: Bench) -> None:
    """A writer that knows of no table commits; another brings the table up to it."""
    writer = bench.table()
    blind = bench.without_table()
    bench.commit(blind, {A: {"a3": 7}})
    bench.clean(blind, {B: ["b1"]})
    bench.with_table()
    bench.stage.forget()
    writer.sync()
    bench.sees(bench.model.listing(), bench.seen(read_only=True))
    listed = [p for p in bench.stage.listed if not p.startswith(f"{DATASET}/.hoodie")]
    bench.want(listed, [], "directories that were listed")
