"""Scenarios of initialisation, and of the effect of each action of the dataset."""

from __future__ import annotations

from contextlib import closing, suppress

from fscontract.contract.pipeline_bindings import DATASET
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.metadata_table.harness import (
    LARGE,
    OWN_TIMELINE,
    REFUSALS,
    START,
    TIMELINE,
    A,
    B,
    C,
    TableHarness,
)
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[TableHarness]()


# Initialising -----------------------------------------------------------------------------------


@scenario("metadata.init-listing")
def init_listing(harness: TableHarness) -> None:
    """A dataset with files at several depths, also with names that begin with a dot or an
    underscore, and with Hudi's own files among them.
    """
    content = {"": {"top": 1}, "x": {"f": 2}, "x/y/z": {"g": 3, "_h": 4, ".i_1.log.1_0-0-0": 5}}
    harness.put(".hoodie", "other.properties", 5)
    harness.put("x", ".hoodie_partition_metadata", 5)
    harness.table(content)
    harness.expect_dataset()


@scenario("metadata.init-empty")
def init_empty(harness: TableHarness) -> None:
    """A dataset without files; the first one is added later."""
    writer = harness.table({})
    with closing(harness.reader()) as reader:
        harness.expect([*reader.partitions()], [], "partitions")
    harness.commit(writer, {A: {"first": 1}})
    harness.expect_dataset()


@scenario("metadata.init-pending")
def init_pending(harness: TableHarness) -> None:
    """An action is pending, and some of its files exist already."""
    harness.dataset()
    writer = harness.writer()
    harness.begin(writer)
    harness.put(A, "half", 1)
    harness.expect_refusal(writer.initialize, "refused while an action is not completed")


@scenario("metadata.init-once")
def init_once(harness: TableHarness) -> None:
    """The table exists, and another writer initialises it again, which may be refused; the dataset
    has a file that no action wrote.
    """
    writer = harness.table()
    harness.clean(writer, {A: ["a1"]})
    harness.put(A, "unlisted", 1)
    with suppress(*REFUSALS):
        harness.writer().initialize()
    harness.expect_dataset("initialised again")


@scenario("metadata.init-whole")
def init_whole(harness: TableHarness) -> None:
    """The process crashes at each write; there is no table or a complete one, and the next process
    makes it.
    """
    for number in range(1, 40):
        harness.reset()
        harness.dataset()
        harness.fs.clear_log()
        harness.fs.kill_at = number
        try:
            harness.writer().initialize()
        except Killed:
            pass
        else:
            return
        writer = harness.next_writer()
        try:
            listing = harness.listing()
        except OSError:
            writer.initialize()
            listing = harness.listing()
        harness.expect_listing(START, listing, f"dead at write {number}")


# Actions ----------------------------------------------------------------------------------------


@scenario("metadata.one-deltacommit")
def one_deltacommit(harness: TableHarness) -> None:
    """A commit, a clean, a rollback and a restore: each is one instant of the table."""
    writer = harness.table()
    before = set(harness.completed(OWN_TIMELINE))
    first = harness.commit(writer, {A: {"a3": 1}})
    second = harness.commit(writer, {A: {"a4": 1}}, action="compaction")
    failed = harness.begin(writer)
    undone = writer.roll_back(failed, {})
    third = harness.clean(writer, {B: ["b1"]})
    added = sorted(set(harness.completed(OWN_TIMELINE)) - before)
    expected = sorted((time, "deltacommit") for time in (first, second, undone, third))
    harness.expect(added, expected, "instants of the table")


@scenario("metadata.action-write")
def action_write(harness: TableHarness) -> None:
    """Inserts and upserts add files: a commit, a deltacommit, a replacecommit."""
    writer = harness.table()
    for number, action in enumerate(("commit", "deltacommit", "replacecommit")):
        harness.commit(writer, {A: {f"n{number}": number}}, action=action)
        harness.expect_dataset(action)


@scenario("metadata.action-compaction")
def action_compaction(harness: TableHarness) -> None:
    """A compaction of the dataset adds a base file while a commit is pending."""
    writer = harness.table()
    time = harness.begin(writer, "compaction")
    harness.commit(writer, {B: {"b2": 2}})
    added = {A: {"base": 100}}
    writer.finish(time, harness.change(added))
    harness.model.complete(time, added)
    harness.expect_dataset()
    harness.expect(
        (time, "commit") in harness.completed(TIMELINE), True, "it is a commit when done"
    )


@scenario("metadata.action-clean")
def action_clean(harness: TableHarness) -> None:
    """A clean deletes files of two partitions, and not those of the same name in others."""
    writer = harness.table({**START, B: {"a1": 1, "b1": 2}, C: {"a1": 3, "b1": 4}})
    harness.clean(writer, {A: ["a1"], B: ["b1"]})
    harness.expect_dataset()
    harness.expect_listing(harness.model.listing(), harness.on_disk(), "files that are left")


@scenario("metadata.action-clean")
def action_clean_of_many(harness: TableHarness) -> None:
    """A clean deletes all but one of many files of a partition, and those of many partitions."""
    writer = harness.table(LARGE)
    kept = min(LARGE[A])
    deleted = {p: [n for n in files if n != kept] for p, files in LARGE.items()}
    harness.clean(writer, deleted)
    harness.expect_dataset()
    harness.expect([*harness.on_disk()[A]], [kept], "files that are left")


@scenario("metadata.action-rollback")
def action_rollback(harness: TableHarness) -> None:
    """An action fails after it was applied to the table, and is rolled back with its files; another
    partition has a file of the same name.
    """
    writer = harness.table({**START, C: {"bad": 2}})
    time = harness.begin(writer)
    harness.apply(writer, time, harness.change({A: {"bad": 1}}, {B: ["b1"]}))
    writer.roll_back(time, {A: ["bad"]})
    harness.model.take_back(time)
    harness.expect_dataset()
    harness.expect("bad" in harness.on_disk()[A], False, "its file is left")


@scenario("metadata.action-restore")
def action_restore(harness: TableHarness) -> None:
    """The dataset is restored to a commit, with a compaction of the table since then."""
    for compacted in (False, True):
        harness.reset()
        writer = harness.table()
        first = harness.commit(writer, {A: {"keep": 1}})
        since = [harness.commit(writer, {C: {"c1": 1}}), harness.commit(writer, {A: {"a9": 1}})]
        if compacted:
            harness.perhaps(writer.compact)
        harness.model.request(time := writer.restore(first), "restore")
        harness.model.complete(time)
        for later in since:
            harness.model.take_back(later)
        harness.expect_dataset("restored")
        harness.commit(writer, {A: {"next": 1}})
        harness.expect_dataset("and a commit")


@scenario("metadata.restore-deleted")
def restore_deleted(harness: TableHarness) -> None:
    """A restore to an instant after which files were deleted; it can't bring them back."""
    writer = harness.table()
    first = harness.commit(writer, {A: {"keep": 1}})
    harness.clean(writer, {A: ["a1"]})
    harness.expect_refusal(lambda: writer.restore(first), "refused: files were deleted since")
    harness.expect_dataset()


@scenario("metadata.clean-missing")
def clean_missing(harness: TableHarness) -> None:
    """A file to be deleted does not exist any more, nor does the partition of another one."""
    writer = harness.table()
    harness.fs.inner.delete(f"{DATASET}/{A}/a1")
    harness.clean(writer, {A: ["a1"], C: ["c1"]})
    harness.expect_dataset()


@scenario("metadata.clean-failed")
def clean_failed(harness: TableHarness) -> None:
    """A file can't be deleted, and still exists."""
    writer = harness.table()
    harness.fs.undeletable = {f"{DATASET}/{A}/a1"}
    writer.clean({A: ["a1", "a2"]})
    harness.expect_listing({A: {"a1": 10}, B: START[B]}, harness.listing())


@scenario("metadata.from-instant")
def from_instant(harness: TableHarness) -> None:
    """A writer without a table commits; another writer brings the table up to date."""
    writer = harness.table()
    blind = harness.without_table()
    harness.commit(blind, {A: {"a3": 7}})
    harness.clean(blind, {B: ["b1"]})
    harness.with_table()
    harness.fs.clear_log()
    writer.sync()
    harness.expect_listing(harness.model.listing(), harness.listing(read_only=True))
    harness.expect_no_listing()
