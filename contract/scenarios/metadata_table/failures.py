"""Scenarios in which something dies, is damaged, or is done by two at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from fscontract.contract.models.metadata_table import Listing
from fscontract.contract.pipeline_bindings import CheckedWriter
from fscontract.contract.scenarios.metadata_table.harness import (
    FILES,
    OWN_TIMELINE,
    START,
    TABLE,
    TIMELINE,
    A,
    B,
    Bench,
    C,
)
from fscontract.contract.scenarios.metadata_table.instrumented_filesystem import DEATHS, Killed
from fscontract.contract.scenarios.metadata_table.scenario import Scenarios

scenario = Scenarios()
#: More writes than any action has.
MANY = 60


@scenario("metadata.failed-update")
def failed_update(bench: Bench) -> None:
    """The process dies while the table is written: the action is not completed either."""
    for number in range(1, MANY):
        bench.reset()
        writer = bench.table()
        time = bench.begin(writer)
        change = bench.change({A: {"a3": 1}}, {B: ["b1"]})
        bench.stage.forget()
        bench.stage.kill_at = number
        try:
            writer.apply(time, change)
        except Killed:
            bench.stage.revive()
            done = [each for each, _ in bench.completed(TIMELINE)]
            bench.want(time in done, False, f"dead at write {number}: completed")
            bench.right(f"dead at write {number}")
        else:
            return


@scenario("metadata.recovered")
def recovered(bench: Bench) -> None:
    """An action dies with the table written; the next action of another writer takes it back."""
    writer = bench.table()
    time = bench.begin(writer)
    change = bench.change({A: {f"x_0-1-0_{time}.parquet": 1}}, {B: ["b1"]})
    writer.apply(time, change)
    bench.model.take_back(time)
    other = bench.next_writer()
    bench.commit(other, {A: {"a3": 1}})
    bench.right()
    names = [s.path.rpartition("/")[2] for s in bench.stage.inner.list_status(TIMELINE)]
    bench.want([n for n in names if n.startswith(time)], [], "what is left of its instant")
    rollbacks = [each for each, action in bench.completed(TIMELINE) if action == "rollback"]
    bench.want(len(rollbacks), 1, "rollbacks on the timeline")


@scenario("metadata.rollback-older")
def rollback_older(bench: Bench) -> None:
    """An action is rolled back that is not the last one: others were completed since."""
    writer = bench.table()
    time = bench.begin(writer)
    writer.apply(time, bench.change({A: {"bad": 1}}, {B: ["b1"]}))
    bench.commit(writer, {C: {"c1": 1}})
    writer.roll_back(time, {A: ["bad"]})
    bench.model.take_back(time)
    bench.right("rolled back")
    bench.commit(writer, {C: {"c2": 1}})
    writer.compact()
    bench.right("compacted")


@scenario("metadata.rollback-first")
def rollback_first(bench: Bench) -> None:
    """The first action of the dataset fails with the table written, and is rolled back."""
    writer = bench.table()
    time = bench.begin(writer)
    writer.apply(time, bench.change({A: {"bad": 1}}, {B: ["b1"]}))
    writer.roll_back(time, {})
    bench.model.take_back(time)
    bench.right()


@scenario("metadata.rollback-unknown")
def rollback_unknown(bench: Bench) -> None:
    """An action is rolled back that the table has never heard of, with its files."""
    writer = bench.table()
    time = bench.begin(writer)
    bench.change({A: {"bad": 1}, C: {"worse": 1}})
    writer.roll_back(time, {A: ["bad"], C: ["worse"]})
    bench.model.take_back(time)
    bench.right()


Step = Callable[[Bench, CheckedWriter], object]


def _commit(bench: Bench, writer: CheckedWriter) -> None:
    time = bench.begin(writer)
    added = {A: {f"new_0-1-0_{time}.parquet": 7}, C: {f"c_0-1-0_{time}.parquet": 8}}
    bench.finish(writer, time, added, {B: ["b1"]})


def _clean(bench: Bench, writer: CheckedWriter) -> None:
    bench.clean(writer, {A: ["a1"], B: ["b1"]})


def _failing(bench: Bench, writer: CheckedWriter) -> None:
    time = bench.begin(writer)
    writer.apply(time, bench.change({A: {f"bad_0-1-0_{time}.parquet": 1}}))


def _roll_back(bench: Bench, writer: CheckedWriter) -> None:
    (time,) = (t for t, action in bench.model.actions.items() if action.state != "completed")
    writer.roll_back(time, {A: [f"bad_0-1-0_{time}.parquet"]})
    bench.model.take_back(time)


def _twice(bench: Bench, writer: CheckedWriter) -> None:
    for name in ("one", "two"):
        bench.commit(writer, {A: {name: 1}, C: {name: 2}})


def _compacted(bench: Bench, writer: CheckedWriter) -> None:
    _twice(bench, writer)
    writer.compact()


def _restore(bench: Bench, writer: CheckedWriter) -> None:
    bench.restore(writer, next(iter(bench.model.actions)))


def _nothing(bench: Bench, writer: CheckedWriter) -> None:
    pass


#: What is done before an action, and the action that dies.
ACTIONS: dict[str, tuple[Step, Step]] = {
    "a commit": (_nothing, _commit),
    "a clean": (_nothing, _clean),
    "a rollback": (_failing, _roll_back),
    "a restore": (_twice, _restore),
    "a compaction of the table": (_twice, lambda bench, writer: writer.compact()),
    "a cleaning of the table": (_compacted, lambda bench, writer: writer.clean_table()),
    "an archiving": (_compacted, lambda bench, writer: writer.archive()),
}


def die(bench: Bench, name: str, number: int, death: str) -> bool:
    """Play an action that dies at a write; False if it has no so many.

    The model knows then that the dataset is as before it, or as after it.
    """
    before, action = ACTIONS[name]
    bench.reset()
    writer = bench.table()
    before(bench, writer)
    bench.stage.forget()
    bench.stage.kill_at, bench.stage.death = number, death
    try:
        action(bench, writer)
    except Killed:
        bench.stage.revive()
        return True
    bench.stage.revive()
    return False


def deaths(bench: Bench, every: bool = False) -> Iterator[str]:
    """Every action dies at every of its writes, in one of the ways or in `every` one; which."""
    for name in ACTIONS:
        for number in range(1, MANY):
            chosen = DEATHS if every else (DEATHS[number % len(DEATHS)],)
            ended = False
            for death in chosen:
                if die(bench, name, number, death):
                    yield f"{name}, dead at write {number} ({death})"
                else:
                    ended = True
            if ended:
                break


@scenario("metadata.before-or-after")
def before_or_after(bench: Bench) -> None:
    """Each action dies at each of its writes: the dataset is seen as before it, or as after it."""
    for when in deaths(bench):
        bench.right(when)
        bench.right(f"{when}, and again")


@scenario("metadata.goes-on")
def goes_on(bench: Bench) -> None:
    """Each action dies at each of its writes; the next writer commits, compacts and reads."""
    for when in deaths(bench):
        bench.right(when, settles=False)
        writer = bench.next_writer()
        bench.commit(writer, {A: {"next": 1}})
        bench.right(f"{when}, and a commit")
        writer.compact()
        bench.right(f"{when}, and a compaction")


@scenario("metadata.no-leak")
def no_leak(bench: Bench) -> None:
    """Each action dies at each of its writes; the next writer leaves nothing of it."""
    for when in deaths(bench):
        writer = bench.next_writer()
        bench.commit(writer, {A: {"next": 1}})
        writer.compact()
        writer.clean_table()
        bench.want(len(bench.own_files()), 1, f"{when}: files of the table")
        for timeline in (TIMELINE, OWN_TIMELINE):
            bench.want(bench.pending(timeline), set(), f"{when}: what is begun in {timeline}")
        bench.right(when)
        listed, there = _paths(bench.model.listing()), _paths(bench.on_disk())
        bench.want(listed - there, set(), f"{when}: files that are listed, and not there")
        bench.want(there - listed - _paths(START), set(), f"{when}: files that are left")


def _paths(listing: Listing) -> set[str]:
    return {f"{partition}/{name}" for partition, files in listing.items() for name in files}


@scenario("metadata.race")
def race(bench: Bench) -> None:
    """At each write of a writer another one tries to commit; who succeeds is seen."""
    for number in range(1, MANY):
        bench.reset()
        writer = bench.table(lock="shared", patience=1e6)
        bench.stage.forget()
        met: list[int] = []

        def meet(count: int, at: int = number, met: list[int] = met) -> None:
            if count == at and not met:
                met.append(count)
                other = bench.writer(lock="shared", patience=1e6)
                time = None
                try:
                    time = other.begin("commit")
                    other.finish(time, bench.change({B: {"other": 2}}))
                except OSError:
                    return
                bench.model.request(time, "commit")
                bench.model.complete(time, {B: {"other": 2}})

        bench.stage.on_write = meet
        with suppress(OSError):
            bench.commit(writer, {A: {"mine": 1}}, {B: ["b1"]})
        bench.stage.on_write = None
        if not met:
            return
        bench.right(f"another one at write {number}")


# Damage -----------------------------------------------------------------------------------------


@scenario("metadata.fallback-absent")
def fallback_absent(bench: Bench) -> None:
    """There is no table, or it is not wanted: files are listed."""
    bench.dataset()
    for listing in (
        bench.binding.listing(bench.stage),
        bench.binding.listing(bench.stage, enabled=False),
    ):
        bench.want(listing.partitions(), [A, B], "partitions")
        bench.want(dict(listing.files(A)), START[A], "files")


@scenario("metadata.fallback-broken")
def fallback_broken(bench: Bench) -> None:
    """Each file of the table is cut, emptied and deleted; files are listed, or found in it."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}}, {})
    for path in bench.own_files():
        whole = _content(bench, path)
        for content in (whole[: len(whole) // 2], b"", None):
            _put(bench, path, content)
            listing = bench.binding.listing(bench.stage)
            if content is not None or path.endswith(".hfile"):
                bench.want(dict(listing.files(A)), bench.model.listing()[A], f"files, {path} cut")
            _put(bench, path, whole)


@scenario("metadata.warned")
def warned(bench: Bench) -> None:
    """The table is damaged, and then there is none: both are said, and that all is well is not."""
    bench.table()
    listing = bench.binding.listing(bench.stage)
    listing.files(A)
    bench.want(listing.warnings(), 0, "warnings while all is well")
    (path,) = bench.own_files(".hfile")
    _put(bench, path, _content(bench, path)[:-9])
    listing = bench.binding.listing(bench.stage)
    listing.files(A), listing.files(A)
    bench.want(listing.warnings(), 1, "warnings of the damage")
    bench.stage.inner.delete(TABLE, recursive=True)
    listing = bench.binding.listing(bench.stage)
    listing.files(A)
    bench.want(listing.warnings(), 1, "warnings that it is gone")


@scenario("metadata.damage")
def damage(bench: Bench) -> None:
    """A byte of the table is another, anywhere: an error, or what is right."""
    writer = bench.table({f"p={number:02}": {f"f{number}": number} for number in range(40)})
    bench.commit(writer, {A: {"a3": 1}}, {"p=01": ["f1"]})
    for path in bench.own_files():
        whole = _content(bench, path)
        for position in range(0, len(whole), max(1, len(whole) // 60)):
            changed = bytearray(whole)
            changed[position] ^= 0x55
            _put(bench, path, bytes(changed))
            try:
                seen = bench.seen()
            except OSError:
                continue
            bench.sees(bench.model.listing(), seen, f"byte {position} of {path}")
        _put(bench, path, whole)


@scenario("metadata.torn-completed")
def torn_completed(bench: Bench) -> None:
    """The log of a completed action lost its end: that is an error, and no older listing."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}})
    (path,) = bench.own_files(".log.")
    whole = _content(bench, path)
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        _put(bench, path, whole[:length])
        bench.refused(bench.seen, f"an error for a log of {length} bytes")


@scenario("metadata.fallback-uncommitted")
def fallback_uncommitted(bench: Bench) -> None:
    """Files are listed while an action is at work, whose files have its instant in their names."""
    bench.dataset()
    writer = bench.writer()
    time = bench.begin(writer)
    bench.change({A: {f"new_0-1-0_{time}.parquet": 1}})
    listing = bench.binding.listing(bench.stage)
    bench.want(dict(listing.files(A)), START[A], "files")
    bench.want(FILES in bench.stage.listed, False, "there is no table to be listed")


def _content(bench: Bench, path: str) -> bytes:
    with bench.stage.inner.open(path) as stream, stream.as_file() as file:
        return file.read()


def _put(bench: Bench, path: str, content: bytes | None) -> None:
    if content is None:
        bench.stage.inner.delete(path)
    else:
        with bench.stage.inner.create(path) as file:
            file.write(content)
