"""Scenarios of both table designs, of concurrent writers, validation and metrics."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from fscontract.contract.models.metadata_table import Listing
from fscontract.contract.pipeline_bindings import DATASET, CheckedWriter, TableChange
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.metadata_table.harness import (
    MANY,
    OWN_TIMELINE,
    REFUSALS,
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
METRIC = "HoodieMetadata."
#: A time at which no action starts.
UNBEGUN = "20260101120000000"
#: The lease of a writer that crashes or is slow, in seconds.
LEASE = 50


# The first design -------------------------------------------------------------------------------


@scenario("metadata.v1-sync")
def v1_sync(harness: TableHarness) -> None:
    """The dataset advances; then the table catches up with each action in order, once."""
    writer = harness.table(design=1)
    before = harness.completed(OWN_TIMELINE)
    times = [harness.commit(writer, {A: {"a3": 1}})]
    harness.expect(harness.completed(OWN_TIMELINE), before, "instants of the table before")
    writer.sync()
    writer.sync()
    done = [
        time for time, _ in harness.completed(OWN_TIMELINE) if (time, "deltacommit") not in before
    ]
    harness.expect(done, times, "instants of the table")
    harness.expect_listing(harness.model.listing(), harness.listing(read_only=True))


@scenario("metadata.v1-order")
def v1_order(harness: TableHarness) -> None:
    """A file is added by one commit and deleted by the next; the table catches up with both."""
    writer = harness.table(design=1)
    time = harness.begin(writer)
    writer.finish(time, harness.change({A: {"a3": 1}}))
    harness.model.complete(time, {A: {"a3": 1}})
    blind = harness.without_table()
    harness.clean(blind, {A: ["a3"]})
    harness.with_table()
    writer.sync()
    harness.expect_listing(harness.model.listing(), harness.listing(read_only=True))


@scenario("metadata.v1-stops")
def v1_stops(harness: TableHarness) -> None:
    """A compaction of the dataset is pending; commits are completed before and after its start."""
    writer = harness.table(design=1)
    first = harness.commit(writer, {A: {"a3": 1}})
    async_ = harness.begin(writer, "compaction")
    later = harness.begin(writer)
    writer.finish(later, harness.change({A: {"a4": 1}}))
    harness.model.complete(later, {A: {"a4": 1}})
    writer.sync()
    done = {time for time, _ in harness.completed(OWN_TIMELINE)}
    harness.expect((first in done, later in done), (True, False), "before, and after it, synced")
    writer.finish(async_, harness.change({B: {"base": 1}}))
    writer.sync()
    done = {time for time, _ in harness.completed(OWN_TIMELINE)}
    harness.expect({async_, later} <= done, True, "synced once it is completed")


@scenario("metadata.v1-merged")
def v1_merged(harness: TableHarness) -> None:
    """A compaction of the dataset blocks the table, and a reader looks files up."""
    writer = harness.table(design=1)
    harness.begin(writer, "compaction")
    harness.commit(writer, {A: {"a3": 1}, C: {"c": 1}})
    writer.sync()
    harness.expect_dataset()


@scenario("metadata.v1-read-only")
def v1_read_only(harness: TableHarness) -> None:
    """The table is behind, and a reader looks up the synced state."""
    writer = harness.table(design=1)
    harness.commit(writer, {A: {"a3": 1}})
    writer.sync()
    synced = harness.model.listing()
    harness.commit(writer, {A: {"a4": 1}})
    harness.expect_listing(synced, harness.listing(read_only=True))


# The second design ------------------------------------------------------------------------------


@scenario("metadata.v2-order")
def v2_order(harness: TableHarness) -> None:
    """A commit writes the table before the instant is completed."""
    writer = harness.table()
    time = harness.begin(writer)
    change = harness.change({A: {"a3": 1}})
    harness.require(TIMELINE)
    harness.fs.clear_log()
    writer.finish(time, change)
    done = [path for path in harness.fs.writes if f"/{time}_" in path]
    expected = [OWN_TIMELINE, TIMELINE]
    harness.expect([path.rpartition("/")[0] for path in done], expected, "where it was completed")
    last = harness.fs.writes[-1]
    harness.expect(last in done, True, "nothing is written after the instant")


@scenario("metadata.v2-hidden")
def v2_hidden(harness: TableHarness) -> None:
    """The table contains the changes of an action that is not completed."""
    writer = harness.table()
    time = harness.begin(writer)
    change = harness.change({A: {"a3": 1}, C: {"c1": 1}}, {B: ["b1"]})
    harness.apply(writer, time, change)
    harness.expect_dataset("before it is completed")
    writer.finish(time, change)
    harness.model.complete(time, change.added, change.deleted)
    harness.expect_dataset("after it is completed")


@scenario("metadata.read-only")
def read_only(harness: TableHarness) -> None:
    """Readers of all kinds use a table with an action whose writer crashed."""
    writer = harness.table()
    time = harness.begin(writer)
    harness.apply(writer, time, harness.change({A: {"bad": 1}}))
    harness.fs.clear_log()
    harness.listing()
    harness.listing(read_only=True)
    harness.perhaps(lambda: harness.binding.listing(harness.fs).files(A))
    harness.expect(harness.fs.writes, [], "writes")


@scenario("metadata.single-writer")
def single_writer(harness: TableHarness) -> None:
    """A writer holds the table; another one tries, and tries again when the first has finished."""
    first = harness.table(lock="session")
    harness.commit(first, {A: {"a3": 1}})
    harness.expect_refusal(
        lambda: harness.writer(lock="session").begin("commit"), "refused: there is a writer"
    )
    first.close()
    harness.commit(harness.writer(lock="session"), {A: {"a4": 1}})
    harness.expect_dataset()


@scenario("metadata.single-writer")
def lost_session(harness: TableHarness) -> None:
    """The lease of a writer that holds the table ends, and another one begins an action."""
    first = harness.table(lock="session", lease=LEASE)
    late = _after_lease(harness, "session")
    if late is not None:
        change = harness.change({A: {"a3": 1}})
        harness.expect_refusal(
            lambda: first.finish(first.begin("commit"), change), "refused: there is a writer"
        )
        harness.finish(*late, {A: {"a4": 1}})
        harness.expect_dataset()


@scenario("metadata.several-writers")
def several_writers(harness: TableHarness) -> None:
    """Two writers with a lock take turns; neither treats the other as crashed."""
    writer_one = harness.table(lock="shared", patience=1e6)
    writer_two = harness.writer(lock="shared", patience=1e6)
    first, second = harness.begin(writer_one), harness.begin(writer_two)
    for writer, time, name in ((writer_two, second, "a4"), (writer_one, first, "a3")):
        writer.finish(time, harness.change({A: {name: 1}}))
        harness.model.complete(time, {A: {name: 1}})
    harness.expect_dataset()
    writer_one.compact()
    harness.expect_dataset("compacted by one of them")


@scenario("metadata.several-writers")
def refused_writer(harness: TableHarness) -> None:
    """A call of one writer is refused; then another one commits."""
    refused = harness.table(lock="shared", patience=1e6)
    with suppress(*REFUSALS):
        refused.finish(UNBEGUN, TableChange())
    harness.commit(harness.writer(lock="shared", patience=1e6), {A: {"a3": 1}})
    harness.expect_dataset()


@scenario("metadata.race")
def slow_writer(harness: TableHarness) -> None:
    """The lease of a writer ends at each of its writes to the table; another one commits then."""
    for number in range(1, MANY):
        harness.reset()
        writer = harness.table(lock="shared", lease=LEASE)
        time = harness.begin(writer)
        harness.require(TIMELINE)
        harness.fs.clear_log()
        met: list[int] = []

        def meet(count: int, at: int = number, met: list[int] = met) -> None:
            is_table = harness.fs.writes[-1].startswith(TABLE)
            if count >= at and is_table and not met:
                met.append(count)
                late = _after_lease(harness)
                if late is not None:
                    harness.finish(*late, {B: {"other": 2}})

        harness.fs.on_write = meet
        with suppress(*REFUSALS):
            harness.finish(writer, time, {A: {"mine": 1}})
        harness.fs.on_write = None
        if not met:
            return
        harness.expect_dataset(f"another one at write {met[0]}")


@scenario("metadata.lock-left")
def lock_left(harness: TableHarness) -> None:
    """A writer crashes while holding the lock, which another writer gets after the timeout."""
    for number in range(1, MANY):
        harness.reset()
        harness.table(lock="shared")
        harness.fs.clear_log()
        harness.fs.kill_at = number
        try:
            harness.writer(lock="shared", lease=LEASE).begin("commit")
        except Killed:
            harness.fs.revive()
        else:
            return
        if _is_locked(harness):
            harness.judged()
            late = _after_lease(harness)
            if late is None:
                harness.fail("the lock is another's after its lease", "it is still refused")
            harness.finish(*late, {A: {"a3": 1}})
            harness.expect_dataset(f"dead at write {number}")


def _is_locked(harness: TableHarness) -> bool:
    """Return whether another writer is refused."""
    try:
        harness.writer(lock="shared").begin("commit")
    except REFUSALS:
        return True
    return False


def _after_lease(harness: TableHarness, lock: str = "shared") -> tuple[CheckedWriter, str] | None:
    """Return another writer and its action once the lease is over, or None if it is refused."""
    writer = harness.writer(lock=lock, lease=LEASE)
    for _ in range(2 * LEASE):
        with suppress(*REFUSALS):
            return writer, harness.begin(writer)
    return None


@scenario("metadata.rolled-back-writer")
def rolled_back_writer(harness: TableHarness) -> None:
    """A slow writer is treated as crashed by another one, and then continues."""
    slow = harness.table()
    slow.recover()  # a table that recovers nothing doesn't roll back the actions of others either
    time = slow.begin("commit")
    change = harness.change({A: {"slow": 1}})
    harness.commit(harness.writer(), {A: {"a3": 1}})
    harness.expect_refusal(lambda: slow.finish(time, change), "refused: it was rolled back")
    harness.expect_dataset()


@scenario("metadata.unbegun")
def unbegun(harness: TableHarness) -> None:
    """A writer completes an action that is not on the timeline, first and after others."""
    writer = harness.table()
    for before in (False, True):
        if before:
            harness.commit(writer, {A: {"a3": 1}})
        change = harness.change({A: {f"stray{before}": 1}, C: {"c1": 1}}, {B: ["b1"]})
        harness.expect_refusal(partial(writer.finish, UNBEGUN, change), "refused: not begun")
        harness.expect_dataset("after an action that was not begun")
        harness.commit(writer, {A: {f"next{before}": 1}})
        harness.expect_dataset("and a commit")


@scenario("metadata.finish-change")
def finish_change(harness: TableHarness) -> None:
    """The table has one change of an action, which is completed with another one; then a
    compaction.
    """
    smaller: Listing = {A: {"a3": 1}}
    for case, applied, added, deleted in (
        ("a file more", TableChange(smaller), {A: {"a3": 1, "a4": 2}, C: {"c1": 3}}, {}),
        ("a file less", TableChange({A: {"a3": 1, "a4": 2}, C: {"c1": 3}}), smaller, {}),
        ("a larger file", TableChange(smaller), {A: {"a3": 7}}, {}),
        ("a smaller file", TableChange({A: {"a3": 7}}), smaller, {}),
        ("a file deleted", TableChange(smaller), smaller, {B: ["b1"]}),
        ("a file kept", TableChange(smaller, {B: ["b1"], A: ["a1"]}), smaller, {A: ["a1"]}),
        ("nothing", TableChange(smaller, {B: ["b1"]}), {}, {}),
    ):
        harness.reset()
        writer = harness.table()
        time = harness.begin(writer)
        writer.apply(time, applied)
        harness.expect_dataset(f"{case}: before it is completed")
        change = harness.change(added, deleted)
        try:
            writer.finish(time, change)
        except REFUSALS:
            harness.expect_dataset(f"{case}, refused")
            continue
        harness.model.complete(time, added, deleted)
        harness.expect_dataset(f"completed with {case}")
        harness.expect_listing(
            harness.model.listing(), harness.listing(read_only=True), f"{case}, in the table"
        )
        writer.compact()
        harness.expect_dataset(f"{case}, compacted")


# Validation and metrics -------------------------------------------------------------------------


@scenario("metadata.validate-listing")
def validate_listing(harness: TableHarness) -> None:
    """A file exists that the table does not contain; the listing is returned."""
    harness.table()
    harness.put(A, "stray", 5)
    listing = harness.binding.listing(harness.fs, validate=True)
    harness.expect(dict(listing.files(A)), {**START[A], "stray": 5}, "files")


@scenario("metadata.validate-counts")
def validate_counts(harness: TableHarness) -> None:
    """Differences are counted, and correct entries are not."""
    harness.table({A: START[A], B: {**START[B], "b2": 40}})
    listing = harness.binding.listing(harness.fs, validate=True)
    listing.partitions(), listing.files(A)
    harness.expect(listing.metrics().get(f"{METRIC}validate_errors.count", 0), 0, "errors at first")
    harness.fs.inner.delete(f"{DATASET}/{B}/b1")
    harness.put(A, "a1", 11)
    harness.put(C, "c1", 1)
    listing = harness.binding.listing(harness.fs, validate=True)
    listing.files(A), listing.files(B), listing.partitions()
    harness.expect(listing.metrics().get(f"{METRIC}validate_errors.count"), 3, "errors")
    harness.expect(listing.warnings(), 3, "warnings")


@scenario("metadata.metrics")
def metrics(harness: TableHarness) -> None:
    """Lookups and scans of logs are counted under Hudi's names."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}})
    harness.fs.clear_log()
    listing = harness.binding.listing(harness.fs)
    listing.partitions(), listing.files(A), listing.files(B)
    values = listing.metrics()
    expected = {"lookup_partitions.count": 1, "lookup_files.count": 2, "scan.count": 1}
    for name, count in expected.items():
        harness.expect(values.get(METRIC + name), count, name)
    harness.expect(f"{METRIC}scan.duration" in values, True, "scan.duration is there")
    harness.expect_no_listing()
