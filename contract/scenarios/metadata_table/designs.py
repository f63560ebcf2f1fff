"""Scenarios of both designs, of several writers, and of tables that are watched."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from fscontract.contract.models.metadata_table import Listing
from fscontract.contract.pipeline_bindings import DATASET, TableChange
from fscontract.contract.scenarios.metadata_table.harness import (
    FILES,
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
METRIC = "HoodieMetadata."
#: A time at which no action begins.
UNBEGUN = "20260101120000000"


# The first design -------------------------------------------------------------------------------


@scenario("metadata.v1-sync")
def v1_sync(bench: Bench) -> None:
    """The dataset goes on; then the table catches up with all of it, in order, once."""
    writer = bench.table(design=1)
    before = bench.completed(OWN_TIMELINE)
    times = [bench.commit(writer, {A: {"a3": 1}})]
    bench.want(bench.completed(OWN_TIMELINE), before, "instants of the table before")
    writer.sync()
    writer.sync()
    done = [
        time for time, _ in bench.completed(OWN_TIMELINE) if (time, "deltacommit") not in before
    ]
    bench.want(done, times, "instants of the table")
    bench.sees(bench.model.listing(), bench.seen(read_only=True))


@scenario("metadata.v1-order")
def v1_order(bench: Bench) -> None:
    """A file is added by one commit and deleted by the next; the table catches up with both."""
    writer = bench.table(design=1)
    time = bench.begin(writer)
    writer.finish(time, bench.change({A: {"a3": 1}}))
    bench.model.complete(time, {A: {"a3": 1}})
    blind = bench.without_table()
    bench.clean(blind, {A: ["a3"]})
    bench.with_table()
    writer.sync()
    bench.sees(bench.model.listing(), bench.seen(read_only=True))


@scenario("metadata.v1-stops")
def v1_stops(bench: Bench) -> None:
    """A compaction of the dataset is at work; commits are completed before and after it began."""
    writer = bench.table(design=1)
    first = bench.commit(writer, {A: {"a3": 1}})
    async_ = bench.begin(writer, "compaction")
    later = bench.begin(writer)
    writer.finish(later, bench.change({A: {"a4": 1}}))
    bench.model.complete(later, {A: {"a4": 1}})
    writer.sync()
    done = {time for time, _ in bench.completed(OWN_TIMELINE)}
    bench.want((first in done, later in done), (True, False), "before, and after it, synced")
    writer.finish(async_, bench.change({B: {"base": 1}}))
    writer.sync()
    done = {time for time, _ in bench.completed(OWN_TIMELINE)}
    bench.want({async_, later} <= done, True, "synced once it is completed")


@scenario("metadata.v1-merged")
def v1_merged(bench: Bench) -> None:
    """A compaction of the dataset holds the table up, and a reader asks."""
    writer = bench.table(design=1)
    bench.begin(writer, "compaction")
    bench.commit(writer, {A: {"a3": 1}, C: {"c": 1}})
    writer.sync()
    bench.right()


@scenario("metadata.v1-read-only")
def v1_read_only(bench: Bench) -> None:
    """The table is behind, and a reader asks for what has been synced."""
    writer = bench.table(design=1)
    bench.commit(writer, {A: {"a3": 1}})
    writer.sync()
    synced = bench.model.listing()
    bench.commit(writer, {A: {"a4": 1}})
    bench.sees(synced, bench.seen(read_only=True))


# The second design ------------------------------------------------------------------------------


@scenario("metadata.v2-order")
def v2_order(bench: Bench) -> None:
    """A commit: the table is written before the instant is completed."""
    writer = bench.table()
    time = bench.begin(writer)
    change = bench.change({A: {"a3": 1}})
    bench.stage.forget()
    writer.finish(time, change)
    done = [path for path in bench.stage.writes if f"/{time}_" in path]
    wanted = [OWN_TIMELINE, TIMELINE]
    bench.want([path.rpartition("/")[0] for path in done], wanted, "where it was completed")
    last = bench.stage.writes[-1]
    bench.want(last in done, True, "nothing is written after the instant")


@scenario("metadata.v2-hidden")
def v2_hidden(bench: Bench) -> None:
    """The table has what an action did, and the action is not completed."""
    writer = bench.table()
    time = bench.begin(writer)
    change = bench.change({A: {"a3": 1}, C: {"c1": 1}}, {B: ["b1"]})
    writer.apply(time, change)
    bench.right("before it is completed")
    writer.finish(time, change)
    bench.model.complete(time, change.added, change.deleted)
    bench.right("after it is completed")


@scenario("metadata.read-only")
def read_only(bench: Bench) -> None:
    """Readers of all kinds, on a table with an action that died."""
    writer = bench.table()
    time = bench.begin(writer)
    writer.apply(time, bench.change({A: {"bad": 1}}))
    bench.stage.forget()
    bench.seen()
    bench.seen(read_only=True)
    bench.binding.listing(bench.stage).files(A)
    bench.want(bench.stage.writes, [], "writes")


@scenario("metadata.single-writer")
def single_writer(bench: Bench) -> None:
    """A writer holds the table; another one tries, and tries again when the first is done."""
    first = bench.table(lock="session")
    bench.commit(first, {A: {"a3": 1}})
    bench.refused(
        lambda: bench.writer(lock="session").begin("commit"), "refused: there is a writer"
    )
    first.close()
    bench.commit(bench.writer(lock="session"), {A: {"a4": 1}})
    bench.right()


@scenario("metadata.several-writers")
def several_writers(bench: Bench) -> None:
    """Two writers with a lock work by turns; neither takes the other for dead."""
    one = bench.table(lock="shared", patience=1e6)
    two = bench.writer(lock="shared", patience=1e6)
    first, second = bench.begin(one), bench.begin(two)
    for writer, time, name in ((two, second, "a4"), (one, first, "a3")):
        writer.finish(time, bench.change({A: {name: 1}}))
        bench.model.complete(time, {A: {name: 1}})
    bench.right()


@scenario("metadata.lock-left")
def lock_left(bench: Bench) -> None:
    """A writer dies with the lock, which is another's once the time is over."""
    bench.table(lock="shared")
    bench.stage.forget()
    bench.stage.kill_at = 3
    with suppress(Killed):
        bench.writer(lock="shared", lease=50).begin("commit")
    writer = bench.next_writer(lock="shared")
    bench.refused(lambda: writer.begin("commit"), "refused: the lock is held")
    late = bench.next_writer(lock="shared", lease=50)
    for _ in range(40):
        try:
            bench.commit(late, {A: {"a3": 1}})
            break
        except OSError:
            continue
    else:
        bench.fail("the lock is another's after its lease", "it is still refused")
    bench.right()


@scenario("metadata.rolled-back-writer")
def rolled_back_writer(bench: Bench) -> None:
    """A writer is slow, another takes it for dead; then the first goes on."""
    slow = bench.table()
    time = slow.begin("commit")
    change = bench.change({A: {"slow": 1}})
    bench.commit(bench.writer(), {A: {"a3": 1}})
    bench.refused(lambda: slow.finish(time, change), "refused: it was rolled back")
    bench.right()


@scenario("metadata.unbegun")
def unbegun(bench: Bench) -> None:
    """A writer completes an action that is not on the timeline, as the first one and as a later."""
    writer = bench.table()
    for before in (False, True):
        if before:
            bench.commit(writer, {A: {"a3": 1}})
        change = bench.change({A: {f"stray{before}": 1}, C: {"c1": 1}}, {B: ["b1"]})
        bench.refused(partial(writer.finish, UNBEGUN, change), "refused: not begun")
        bench.right("after an action that was not begun")
        bench.commit(writer, {A: {f"next{before}": 1}})
        bench.right("and a commit")


@scenario("metadata.finish-change")
def finish_change(bench: Bench) -> None:
    """The table has one change of an action, which is completed with another; then a compaction."""
    one: Listing = {A: {"a3": 1}}
    for what, told, added, deleted in (
        ("a file more", TableChange(one), {A: {"a3": 1, "a4": 2}, C: {"c1": 3}}, {}),
        ("a file less", TableChange({A: {"a3": 1, "a4": 2}, C: {"c1": 3}}), one, {}),
        ("a larger file", TableChange(one), {A: {"a3": 7}}, {}),
        ("a smaller file", TableChange({A: {"a3": 7}}), one, {}),
        ("a file deleted", TableChange(one), one, {B: ["b1"]}),
        ("a file kept", TableChange(one, {B: ["b1"], A: ["a1"]}), one, {A: ["a1"]}),
        ("nothing", TableChange(one, {B: ["b1"]}), {}, {}),
    ):
        bench.reset()
        writer = bench.table()
        time = bench.begin(writer)
        writer.apply(time, told)
        bench.right(f"{what}: before it is completed")
        change = bench.change(added, deleted)
        try:
            writer.finish(time, change)
        except (OSError, ValueError):
            bench.right(f"{what}, refused")
            continue
        bench.model.complete(time, added, deleted)
        bench.right(f"completed with {what}")
        bench.sees(bench.model.listing(), bench.seen(read_only=True), f"{what}, in the table")
        writer.compact()
        bench.right(f"{what}, compacted")


# Validation and metrics -------------------------------------------------------------------------


@scenario("metadata.validate-listing")
def validate_listing(bench: Bench) -> None:
    """A file is there that the table does not have; what is listed is given."""
    bench.table()
    bench.put(A, "stray", 5)
    listing = bench.binding.listing(bench.stage, validate=True)
    bench.want(dict(listing.files(A)), {**START[A], "stray": 5}, "files")


@scenario("metadata.validate-counts")
def validate_counts(bench: Bench) -> None:
    """What differs is counted, and what is right is not."""
    bench.table()
    listing = bench.binding.listing(bench.stage, validate=True)
    listing.partitions(), listing.files(A)
    bench.want(listing.metrics().get(f"{METRIC}validate_errors.count", 0), 0, "errors at first")
    bench.stage.inner.delete(f"{DATASET}/{B}/b1")
    bench.put(C, "c1", 1)
    listing = bench.binding.listing(bench.stage, validate=True)
    listing.files(A), listing.files(B), listing.partitions()
    bench.want(listing.metrics().get(f"{METRIC}validate_errors.count"), 2, "errors")
    bench.want(listing.warnings(), 2, "warnings")


@scenario("metadata.metrics")
def metrics(bench: Bench) -> None:
    """Lookups and scans of logs are counted, by Hudi's names."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}})
    listing = bench.binding.listing(bench.stage)
    listing.partitions(), listing.files(A), listing.files(B)
    seen = listing.metrics()
    wanted = {"lookup_partitions.count": 1, "lookup_files.count": 2, "scan.count": 1}
    for name, count in wanted.items():
        bench.want(seen.get(METRIC + name), count, name)
    bench.want(f"{METRIC}scan.duration" in seen, True, "scan.duration is there")
    bench.want(FILES in bench.stage.listed, True, "the table was used")
