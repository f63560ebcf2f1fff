"""Scenarios of what the table says: partitions, files, merging, and how it is read."""

from __future__ import annotations

from contextlib import closing

from fscontract.contract.pipeline_bindings import DATASET
from fscontract.contract.scenarios.metadata_table.harness import FILES, START, A, B, C, TableHarness
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[TableHarness]()


@scenario("metadata.place")
def place(harness: TableHarness) -> None:
    """The table is made, and lies where Hudi has it, with one partition for listings."""
    harness.table()
    harness.expect(len(harness.own_files(".hfile")), 1, f"base files in {FILES}")
    inside = [s.path for s in harness.fs.inner.list_status(DATASET) if "/." in s.path]
    harness.expect(inside, [f"{DATASET}/.hoodie"], "what is the table's in the dataset")


@scenario("metadata.partitions")
def partitions(harness: TableHarness) -> None:
    """A commit adds a partition, at several depths."""
    writer = harness.table({A: {"a": 1}, "x/y=2": {"b": 2}})
    harness.commit(writer, {"x/y=3": {"c": 3}})
    with closing(harness.reader()) as reader:
        harness.expect(reader.partitions(), [A, "x/y=2", "x/y=3"], "partitions")


@scenario("metadata.files")
def files(harness: TableHarness) -> None:
    """Files are added to partitions that are there and to a new one."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}, C: {"c1": 5}})
    harness.commit(writer, {A: {"a4": 2}})
    harness.expect_dataset()


@scenario("metadata.sizes")
def sizes(harness: TableHarness) -> None:
    """Files of no byte, of one, and of more than 32 bits say."""
    writer = harness.table({A: {"none": 0, "one": 1}})
    time = harness.begin(writer)
    change = harness.change()
    big = {A: {"big": 1 << 40}}
    writer.finish(time, type(change)(big))
    harness.model.complete(time, big)
    harness.expect_dataset()


@scenario("metadata.root")
def root(harness: TableHarness) -> None:
    """The files lie in the dataset itself."""
    writer = harness.table({"": {"f1": 1}})
    harness.commit(writer, {"": {"f2": 2}})
    with closing(harness.reader()) as reader:
        harness.expect(reader.partitions(), [""], "partitions")
        harness.expect(dict(reader.files([""])[""]), {"f1": 1, "f2": 2}, "files")


@scenario("metadata.absent-partition")
def absent_partition(harness: TableHarness) -> None:
    """A partition is asked for that is not there, alone and with one that is."""
    harness.table()
    with closing(harness.reader()) as reader:
        harness.expect({**reader.files(["day=9"])}, {"day=9": {}}, "files")
        harness.expect(dict(reader.files(["day=9", A])[A]), START[A], "files beside it")


@scenario("metadata.empty-partition")
def empty_partition(harness: TableHarness) -> None:
    """The last file of a partition is deleted, by one action and by two; and one comes again."""
    writer = harness.table()
    harness.clean(writer, {B: ["b1"], A: ["a1"]})
    harness.clean(writer, {A: ["a2"]})
    with closing(harness.reader()) as reader:
        harness.expect(reader.partitions(), [], "partitions")
    harness.commit(writer, {B: {"b2": 1}})
    with closing(harness.reader()) as reader:
        harness.expect(reader.partitions(), [B], "partitions after a commit")


@scenario("metadata.deleted")
def deleted(harness: TableHarness) -> None:
    """A file is deleted that the base file has, and one that a log has."""
    writer = harness.table()
    harness.commit(writer, {A: {"a3": 1}})
    harness.clean(writer, {A: ["a1", "a3"]})
    harness.expect_dataset()


@scenario("metadata.size-larger")
def size_larger(harness: TableHarness) -> None:
    """A file is told of again: longer, as a log that grew, and shorter, as by a late writer."""
    writer = harness.table({A: {"log": 10}})
    for size in (30, 20):
        harness.commit(writer, {A: {"log": size}})
    harness.expect(dict(harness.listing()[A]), {"log": 30}, "sizes")
    harness.expect(writer.compact(), True, "compacted")
    harness.expect(dict(harness.listing()[A]), {"log": 30}, "sizes after a compaction")


@scenario("metadata.size-new")
def size_new(harness: TableHarness) -> None:
    """A file is deleted, and comes again with fewer bytes."""
    writer = harness.table()
    harness.clean(writer, {A: ["a2"]})
    harness.commit(writer, {A: {"a2": 3}})
    harness.expect_dataset()


@scenario("metadata.deleted-twice")
def deleted_twice(harness: TableHarness) -> None:
    """A file is deleted, and then again."""
    writer = harness.table()
    for _ in range(2):
        harness.clean(writer, {A: ["a1"]})
    harness.expect_dataset()
    writer.compact()
    harness.expect_dataset("after a compaction")


@scenario("metadata.associative")
def associative(harness: TableHarness) -> None:
    """A file of the base is told of again in one log, and deleted in the next."""
    writer = harness.table()
    harness.commit(writer, {A: {"a1": 11}})
    harness.clean(writer, {A: ["a1"]})
    harness.expect_dataset()


@scenario("metadata.live-only")
def live_only(harness: TableHarness) -> None:
    """Many files come and go; then the table is compacted and cleaned."""
    names = {f"{number:04}-{number * 7919 % 10007:05}": 1 for number in range(1500)}
    writer = harness.table({A: {"only": 1}})
    harness.commit(writer, {A: names})
    harness.clean(writer, {A: list(names)})
    writer.compact()
    writer.clean_table()
    harness.expect_dataset()
    size = sum(harness.fs.inner.get_file_status(path).length for path in harness.own_files())
    harness.expect(size < 8000, True, f"bytes of the table, {size}, are as if they had not been")


@scenario("metadata.either-absent")
def either_absent(harness: TableHarness) -> None:
    """There is a base file alone; one that knows nothing; and logs that do."""
    writer = harness.table({})
    harness.expect_listing({}, harness.listing(), "an empty dataset")
    harness.commit(writer, {A: {"a": 1}})
    harness.expect_dataset("logs alone")
    writer.compact()
    harness.expect_dataset("a base file alone")


@scenario("metadata.logs-once")
def logs_once(harness: TableHarness) -> None:
    """One reader looks up several partitions, one after the other."""
    writer = harness.table()
    for number in range(3):
        harness.commit(writer, {A: {f"new{number}": 1}})
    harness.fs.clear_log()
    with closing(harness.reader()) as reader:
        for partition in (A, B, A, C):
            reader.files([partition])
    logs = {path: n for path, n in harness.fs.opened.items() if ".log." in path}
    harness.expect(sorted(logs.values()), [1, 1, 1], "how often each log was opened")


@scenario("metadata.one-reader")
def one_reader(harness: TableHarness) -> None:
    """One reader looks up a hundred partitions."""
    content = {f"p={number:03}": {"f": number} for number in range(100)}
    harness.table(content)
    harness.fs.clear_log()
    with closing(harness.reader()) as reader:
        harness.expect_listing(content, reader.files(reader.partitions()))
    opens = sum(n for path, n in harness.fs.opened.items() if path.startswith(FILES))
    harness.expect(opens <= 2, True, f"{opens} opens of the table's files, instead of one or two")


@scenario("metadata.no-listing")
def no_listing(harness: TableHarness) -> None:
    """Everything is looked up, and written, without a look at the dataset's directories."""
    writer = harness.table()
    harness.fs.clear_log()
    harness.commit(writer, {A: {"a3": 1}})
    harness.clean(writer, {A: ["a1"]})
    harness.expect_dataset()
    listed = [p for p in harness.fs.listed if not p.startswith(f"{DATASET}/.hoodie")]
    harness.expect(listed, [], "directories that were listed")


@scenario("metadata.slices-cached")
def slices_cached(harness: TableHarness) -> None:
    """One reader looks up ten times."""
    harness.table()
    harness.fs.clear_log()
    with closing(harness.reader()) as reader:
        for _ in range(10):
            reader.files([A])
    harness.expect(harness.fs.listed[FILES] <= 1, True, "the table's files are listed once")


@scenario("metadata.opening-cheap")
def opening_cheap(harness: TableHarness) -> None:
    """A reader opens a table after many rollbacks."""
    writer = harness.table()
    for _ in range(6):
        time = harness.begin(writer)
        writer.roll_back(time, {})
        harness.model.take_back(time)
    harness.fs.clear_log()
    harness.expect_dataset()
    opened = [path for path in harness.fs.opened if "/timeline/" in path]
    harness.expect(opened, [], "instants that were opened")


@scenario("metadata.time-travel")
def time_travel(harness: TableHarness) -> None:
    """Readers ask for the dataset as it was, before and after a compaction."""
    writer = harness.table()
    moments = []
    for number in range(3):
        harness.commit(writer, {A: {f"new{number}": number}}, {A: [f"new{number - 1}"]})
        moments.append((harness.last(), harness.model.order))
    writer.compact()
    harness.commit(writer, {C: {"late": 1}})
    for time, order in moments:
        harness.expect_listing(
            harness.model.listing(order), harness.listing(as_of=time), f"as of {time}"
        )


@scenario("metadata.time-travel-bounds")
def time_travel_bounds(harness: TableHarness) -> None:
    """What was before the table was made, nothing can tell; nor what has been cleaned."""
    harness.dataset()
    writer = harness.writer()
    early = harness.commit(writer, {A: {"first": 1}})
    writer.initialize()
    harness.expect_refusal(
        lambda: harness.listing(as_of=early), "an error for a time before the table"
    )
    moment = harness.last()
    for _ in range(2):
        harness.commit(writer, {A: {"more": 1}})
        writer.compact()
    writer.clean_table()
    harness.expect_refusal(
        lambda: harness.listing(as_of=moment), "an error for a time that was cleaned"
    )
    harness.expect_dataset("now")
