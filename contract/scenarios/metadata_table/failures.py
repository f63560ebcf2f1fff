"""Scenarios of crashes, damaged tables and concurrent writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product

from fscontract.contract.models.metadata_table import Listing
from fscontract.contract.pipeline_bindings import CheckedWriter
from fscontract.contract.scenarios.instrumented_filesystem import BEFORE, DEATHS, Killed
from fscontract.contract.scenarios.metadata_table.harness import (
    FILES,
    LARGE,
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
#: A dataset with files in its root and at several depths, also with the name of a log of Hudi's.
DEEP: Listing = {
    "": {"top": 1},
    A: {"f": 2, ".f_1.log.1_0-0-0": 3},
    "x": {"f": 4},
    "x/y z/p=%2F": {"e\u0301": 5, "\xe9": 6},
}


@scenario("metadata.failed-update")
def failed_update(harness: TableHarness) -> None:
    """The process crashes while the table is written: the action is not completed either."""
    for number in range(1, MANY):
        harness.reset()
        writer = harness.table()
        time = harness.begin(writer)
        change = harness.change({A: {"a3": 1}}, {B: ["b1"]})
        harness.fs.clear_log()
        harness.fs.kill_at = number
        try:
            writer.apply(time, change)
        except Killed:
            harness.fs.revive()
            if harness.has(TIMELINE):
                done = [instant for instant, _ in harness.completed(TIMELINE)]
                harness.expect(time in done, False, f"dead at write {number}: completed")
            harness.expect_dataset(f"dead at write {number}")
        else:
            return


@scenario("metadata.recovered")
def recovered(harness: TableHarness) -> None:
    """A writer crashes after the table was written; the next action of another writer rolls it
    back.
    """
    writer = harness.table()
    writer.recover()  # nothing yet; a table without this call is not judged
    time = harness.begin(writer)
    change = harness.change({A: {f"x_0-1-0_{time}.parquet": 1}}, {B: ["b1"]})
    harness.apply(writer, time, change)
    harness.model.take_back(time)
    other = harness.next_writer()
    harness.commit(other, {A: {"a3": 1}})
    harness.expect_dataset()
    left = [name for name in harness.on_disk()[A] if time in name]
    harness.expect(left, [], "files of the crashed writer that are left")
    if not harness.has(TIMELINE):
        return
    names = harness.names(TIMELINE)
    harness.expect([n for n in names if n.startswith(time)], [], "what is left of its instant")
    rollbacks = [instant for instant, action in harness.completed(TIMELINE) if action == "rollback"]
    harness.expect(len(rollbacks), 1, "rollbacks on the timeline")


@scenario("metadata.rollback-older")
def rollback_older(harness: TableHarness) -> None:
    """An action is rolled back after later ones were completed."""
    writer = harness.table()
    time = harness.begin(writer)
    harness.apply(writer, time, harness.change({A: {"bad": 1}}, {B: ["b1"]}))
    harness.commit(writer, {C: {"c1": 1}})
    writer.roll_back(time, {A: ["bad"]})
    harness.model.take_back(time)
    harness.expect_dataset("rolled back")
    harness.commit(writer, {C: {"c2": 1}})
    harness.perhaps(writer.compact)
    harness.expect_dataset("compacted")


@scenario("metadata.rollback-first")
def rollback_first(harness: TableHarness) -> None:
    """The first action of the dataset fails with the table written, and is rolled back."""
    writer = harness.table()
    time = harness.begin(writer)
    harness.apply(writer, time, harness.change({A: {"bad": 1}}, {B: ["b1"]}))
    writer.roll_back(time, {})
    harness.model.take_back(time)
    harness.expect_dataset()


@scenario("metadata.rollback-unknown")
def rollback_unknown(harness: TableHarness) -> None:
    """An action that the table does not contain is rolled back, with its files."""
    writer = harness.table()
    time = harness.begin(writer)
    harness.change({A: {"bad": 1}, C: {"worse": 1}})
    writer.roll_back(time, {A: ["bad"], C: ["worse"]})
    harness.model.take_back(time)
    harness.expect_dataset()


Step = Callable[[TableHarness, CheckedWriter], object]


def _commit(harness: TableHarness, writer: CheckedWriter) -> None:
    time = harness.begin(writer)
    added = {A: {f"new_0-1-0_{time}.parquet": 7}, C: {f"c_0-1-0_{time}.parquet": 8}}
    harness.finish(writer, time, added, {B: ["b1"]})


def _clean(harness: TableHarness, writer: CheckedWriter) -> None:
    harness.clean(writer, {A: ["a1"], B: ["b1"]})


def _failing(harness: TableHarness, writer: CheckedWriter) -> None:
    time = harness.begin(writer)
    writer.apply(time, harness.change({A: {f"bad_0-1-0_{time}.parquet": 1}}))


def _roll_back(harness: TableHarness, writer: CheckedWriter) -> None:
    (time,) = (t for t, action in harness.model.actions.items() if action.state != "completed")
    writer.roll_back(time, {A: [f"bad_0-1-0_{time}.parquet"]})
    harness.model.take_back(time)


def _twice(harness: TableHarness, writer: CheckedWriter) -> None:
    for name in ("one", "two"):
        harness.commit(writer, {A: {name: 1}, C: {name: 2}})


def _compacted(harness: TableHarness, writer: CheckedWriter) -> None:
    _twice(harness, writer)
    writer.compact()


def _restore(harness: TableHarness, writer: CheckedWriter) -> None:
    harness.restore(writer, next(iter(harness.model.actions)))


def _nothing(harness: TableHarness, writer: CheckedWriter) -> None:
    pass


#: Actions before the one that crashes, and that one.
ACTIONS: dict[str, tuple[Step, Step]] = {
    "a commit": (_nothing, _commit),
    "a clean": (_nothing, _clean),
    "a rollback": (_failing, _roll_back),
    "a restore": (_twice, _restore),
    "a compaction of the table": (_twice, lambda harness, writer: writer.compact()),
    "a cleaning of the table": (_compacted, lambda harness, writer: writer.clean_table()),
    "an archiving": (_compacted, lambda harness, writer: writer.archive()),
}


def die(harness: TableHarness, name: str, number: int, death: str) -> bool:
    """Run an action that crashes at a write; return False if it makes fewer writes.

    After that, the model allows the dataset before the action or after it.
    """
    before, action = ACTIONS[name]
    harness.reset()
    writer = harness.table()
    before(harness, writer)
    harness.fs.clear_log()
    harness.fs.kill_at, harness.fs.death = number, death
    try:
        action(harness, writer)
    except Killed:
        harness.fs.revive()
        return True
    harness.fs.revive()
    return False


def deaths(harness: TableHarness, every: bool = False) -> Iterator[str]:
    """Crash every action at each of its writes; yield each crash.

    It crashes before the write and in another mode in turn, or in `every` mode.
    """
    for name in ACTIONS:
        for number in range(1, MANY):
            chosen = DEATHS if every else dict.fromkeys((BEFORE, DEATHS[number % len(DEATHS)]))
            survived = False
            for death in chosen:
                if die(harness, name, number, death):
                    yield f"{name}, dead at write {number} ({death})"
                else:
                    survived = True
            if survived:
                break


@scenario("metadata.before-or-after")
def before_or_after(harness: TableHarness) -> None:
    """Each action crashes at each of its writes: readers see the dataset before it, or after it."""
    for when in deaths(harness):
        harness.expect_dataset(when)
        harness.expect_dataset(f"{when}, and again")


@scenario("metadata.goes-on")
def goes_on(harness: TableHarness) -> None:
    """Each action crashes at each of its writes; the next writer commits, compacts and reads."""
    for when in deaths(harness):
        harness.expect_dataset(when, settles=False)
        writer = harness.next_writer()
        harness.commit(writer, {A: {"next": 1}})
        harness.expect_dataset(f"{when}, and a commit")
        writer.compact()
        harness.expect_dataset(f"{when}, and a compaction")


@scenario("metadata.no-leak")
def no_leak(harness: TableHarness) -> None:
    """Each action crashes at each of its writes; the next writer removes all its files."""
    for when in deaths(harness):
        writer = harness.next_writer()
        harness.commit(writer, {A: {"next": 1}})
        writer.compact()
        writer.clean_table()
        if harness.has(FILES):
            harness.expect(len(harness.own_files()), 1, f"{when}: files of the table")
        for timeline in filter(harness.has, (TIMELINE, OWN_TIMELINE)):
            harness.expect(harness.pending(timeline), set(), f"{when}: what is begun in {timeline}")
        harness.expect_dataset(when)
        listed, existing = _paths(harness.model.listing()), _paths(harness.on_disk())
        harness.expect(listed - existing, set(), f"{when}: files that are listed, and not there")
        harness.expect(existing - listed - _paths(START), set(), f"{when}: files that are left")


def _paths(listing: Listing) -> set[str]:
    return {f"{partition}/{name}" for partition, files in listing.items() for name in files}


@scenario("metadata.race")
def race(harness: TableHarness) -> None:
    """At each write of a writer, another one tries to commit; the timeline shows which one
    succeeded.
    """
    for number in range(1, MANY):
        harness.reset()
        writer = harness.table(lock="shared", patience=1e6)
        harness.fs.clear_log()
        met: list[int] = []

        def meet(count: int, at: int = number, met: list[int] = met) -> None:
            if count == at and not met:
                met.append(count)
                rival = harness.writer(lock="shared", patience=1e6)
                time = None
                try:
                    time = rival.begin("commit")
                    rival.finish(time, harness.change({B: {"other": 2}}))
                except REFUSALS:
                    return
                harness.model.request(time, "commit")
                harness.model.complete(time, {B: {"other": 2}})

        harness.fs.on_write = meet
        with suppress(*REFUSALS):
            harness.commit(writer, {A: {"mine": 1}}, {B: ["b1"]})
        harness.fs.on_write = None
        if not met:
            return
        harness.expect_dataset(f"another one at write {number}")


# Damage -----------------------------------------------------------------------------------------


@scenario("metadata.fallback-absent")
def fallback_absent(harness: TableHarness) -> None:
    """The table does not exist, or is disabled: directories are listed, also large or deep ones."""
    for content, enabled in product((LARGE, DEEP), (True, False)):
        harness.reset()
        harness.dataset(content)
        listing = harness.binding.listing(harness.fs, enabled=enabled)
        found = listing.partitions()
        harness.expect([p for p in found if p not in content], [], "partitions not there")
        harness.expect(len(content.keys() - {*found, *DEEP}), 0, "partitions that are missing")
        for partition in DEEP if content is DEEP else (A,):
            harness.expect(partition in found, True, f"partition {partition!r} is listed")
            files = dict(listing.files(partition))
            harness.expect(files, content[partition], f"files of {partition!r}")


@scenario("metadata.fallback-broken")
def fallback_broken(harness: TableHarness) -> None:
    """Each file of the table is truncated, emptied and deleted; directories are listed, or the
    table is read.
    """
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}}, {})
    for path in harness.own_files():
        intact = _content(harness, path)
        for content in (intact[: len(intact) // 2], b"", None):
            _put(harness, path, content)
            listing = harness.binding.listing(harness.fs)
            if content is not None or path.endswith(".hfile"):
                harness.expect(
                    dict(listing.files(A)), harness.model.listing()[A], f"files, {path} cut"
                )
            _put(harness, path, intact)


@scenario("metadata.warned")
def warned(harness: TableHarness) -> None:
    """The table is damaged, and then deleted: both cause a warning, and an intact table causes
    none.
    """
    harness.table()
    listing = harness.binding.listing(harness.fs)
    listing.files(A)
    harness.expect(listing.warnings(), 0, "warnings while all is well")
    for path in harness.own_files():
        _put(harness, path, _content(harness, path)[:-9])
    listing = harness.binding.listing(harness.fs)
    listing.files(A), listing.files(A)
    harness.expect(listing.warnings(), 1, "warnings of the damage")
    harness.fs.inner.delete(TABLE, recursive=True)
    listing = harness.binding.listing(harness.fs)
    listing.files(A)
    harness.expect(listing.warnings(), 1, "warnings that it is gone")


@scenario("metadata.damage")
def damage(harness: TableHarness) -> None:
    """Any byte of the table is changed: the read raises an error, or returns the right result."""
    writer = harness.table({f"p={number:02}": {f"f{number}": number} for number in range(40)})
    harness.commit(writer, {A: {"a3": 1}}, {"p=01": ["f1"]})
    for path in harness.own_files():
        intact = _content(harness, path)
        for position in range(0, len(intact), max(1, len(intact) // 60)):
            changed = bytearray(intact)
            changed[position] ^= 0x55
            _put(harness, path, bytes(changed))
            try:
                listing = harness.listing()
            except OSError:
                continue
            harness.expect_listing(harness.model.listing(), listing, f"byte {position} of {path}")
        _put(harness, path, intact)


@scenario("metadata.torn-completed")
def torn_completed(harness: TableHarness) -> None:
    """The log of a completed action is truncated: the read raises an error, and returns no older
    listing.
    """
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}})
    for path in harness.own_files(".log."):
        intact = _content(harness, path)
        for length in (0, 1, len(intact) // 2, len(intact) - 1):
            _put(harness, path, intact[:length])
            harness.expect_refusal(harness.listing, f"an error for a log of {length} bytes")
        _put(harness, path, intact)


@scenario("metadata.fallback-uncommitted")
def fallback_uncommitted(harness: TableHarness) -> None:
    """Directories are listed while an action is pending, whose files contain its instant in their
    names.
    """
    harness.dataset()
    writer = harness.writer()
    time = harness.begin(writer)
    harness.change({A: {f"new_0-1-0_{time}.parquet": 1}})
    listing = harness.binding.listing(harness.fs)
    harness.expect(dict(listing.files(A)), START[A], "files")
    harness.expect(FILES in harness.fs.listed, False, "there is no table to be listed")


def _content(harness: TableHarness, path: str) -> bytes:
    with harness.fs.inner.open(path) as stream, stream.as_file() as file:
        return file.read()


def _put(harness: TableHarness, path: str, content: bytes | None) -> None:
    if content is None:
        harness.fs.inner.delete(path)
    else:
        with harness.fs.inner.create(path) as file:
            file.write(content)
