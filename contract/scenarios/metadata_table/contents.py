"""Scenarios of what the table says: partitions, files, merging, and how it is read."""

from __future__ import annotations

from contextlib import closing

from fscontract.contract.pipeline_bindings import DATASET
from fscontract.contract.scenarios.metadata_table.harness import FILES, START, A, B, Bench, C
from fscontract.contract.scenarios.metadata_table.scenario import Scenarios

scenario = Scenarios()


@scenario("metadata.place")
def place(bench: Bench) -> None:
    """The table is made, and lies where Hudi has it, with one partition for listings."""
    bench.table()
    bench.want(len(bench.own_files(".hfile")), 1, f"base files in {FILES}")
    inside = [s.path for s in bench.stage.inner.list_status(DATASET) if "/." in s.path]
    bench.want(inside, [f"{DATASET}/.hoodie"], "what is the table's in the dataset")


@scenario("metadata.partitions")
def partitions(bench: Bench) -> None:
    """A commit adds a partition, at several depths."""
    writer = bench.table({A: {"a": 1}, "x/y=2": {"b": 2}})
    bench.commit(writer, {"x/y=3": {"c": 3}})
    with closing(bench.reader()) as reader:
        bench.want(reader.partitions(), [A, "x/y=2", "x/y=3"], "partitions")


@scenario("metadata.files")
def files(bench: Bench) -> None:
    """Files are added to partitions that are there and to a new one."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}, C: {"c1": 5}})
    bench.commit(writer, {A: {"a4": 2}})
    bench.right()


@scenario("metadata.sizes")
def sizes(bench: Bench) -> None:
    """Files of no byte, of one, and of more than 32 bits say."""
    writer = bench.table({A: {"none": 0, "one": 1}})
    time = bench.begin(writer)
    change = bench.change()
    big = {A: {"big": 1 << 40}}
    writer.finish(time, type(change)(big))
    bench.model.complete(time, big)
    bench.right()


@scenario("metadata.root")
def root(bench: Bench) -> None:
    """The files lie in the dataset itself."""
    writer = bench.table({"": {"f1": 1}})
    bench.commit(writer, {"": {"f2": 2}})
    with closing(bench.reader()) as reader:
        bench.want(reader.partitions(), [""], "partitions")
        bench.want(dict(reader.files([""])[""]), {"f1": 1, "f2": 2}, "files")


@scenario("metadata.absent-partition")
def absent_partition(bench: Bench) -> None:
    """A partition is asked for that is not there, alone and with one that is."""
    bench.table()
    with closing(bench.reader()) as reader:
        bench.want({**reader.files(["day=9"])}, {"day=9": {}}, "files")
        bench.want(dict(reader.files(["day=9", A])[A]), START[A], "files beside it")


@scenario("metadata.empty-partition")
def empty_partition(bench: Bench) -> None:
    """The last file of a partition is deleted, by one action and by two; and one comes again."""
    writer = bench.table()
    bench.clean(writer, {B: ["b1"], A: ["a1"]})
    bench.clean(writer, {A: ["a2"]})
    with closing(bench.reader()) as reader:
        bench.want(reader.partitions(), [], "partitions")
    bench.commit(writer, {B: {"b2": 1}})
    with closing(bench.reader()) as reader:
        bench.want(reader.partitions(), [B], "partitions after a commit")


@scenario("metadata.deleted")
def deleted(bench: Bench) -> None:
    """A file is deleted that the base file has, and one that a log has."""
    writer = bench.table()
    bench.commit(writer, {A: {"a3": 1}})
    bench.clean(writer, {A: ["a1", "a3"]})
    bench.right()


@scenario("metadata.size-larger")
def size_larger(bench: Bench) -> None:
    """A file is told of again: longer, as a log that grew, and shorter, as by a late writer."""
    writer = bench.table({A: {"log": 10}})
    for size in (30, 20):
        bench.commit(writer, {A: {"log": size}})
    bench.want(dict(bench.seen()[A]), {"log": 30}, "sizes")
    bench.want(writer.compact(), True, "compacted")
    bench.want(dict(bench.seen()[A]), {"log": 30}, "sizes after a compaction")


@scenario("metadata.size-new")
def size_new(bench: Bench) -> None:
    """A file is deleted, and comes again with fewer bytes."""
    writer = bench.table()
    bench.clean(writer, {A: ["a2"]})
    bench.commit(writer, {A: {"a2": 3}})
    bench.right()


@scenario("metadata.deleted-twice")
def deleted_twice(bench: Bench) -> None:
    """A file is deleted, and then again."""
    writer = bench.table()
    for _ in range(2):
        bench.clean(writer, {A: ["a1"]})
    bench.right()
    writer.compact()
    bench.right("after a compaction")


@scenario("metadata.associative")
def associative(bench: Bench) -> None:
    """A file of the base is told of again in one log, and deleted in the next."""
    writer = bench.table()
    bench.commit(writer, {A: {"a1": 11}})
    bench.clean(writer, {A: ["a1"]})
    bench.right()


@scenario("metadata.live-only")
def live_only(bench: Bench) -> None:
    """Many files come and go; then the table is compacted and cleaned."""
    names = {f"{number:04}-{number * 7919 % 10007:05}": 1 for number in range(1500)}
    writer = bench.table({A: {"only": 1}})
    bench.commit(writer, {A: names})
    bench.clean(writer, {A: list(names)})
    writer.compact()
    writer.clean_table()
    bench.right()
    size = sum(bench.stage.inner.get_file_status(path).length for path in bench.own_files())
    bench.want(size < 8000, True, f"bytes of the table, {size}, are as if they had not been")


@scenario("metadata.either-absent")
def either_absent(bench: Bench) -> None:
    """There is a base file alone; one that knows nothing; and logs that do."""
    writer = bench.table({})
    bench.sees({}, bench.seen(), "an empty dataset")
    bench.commit(writer, {A: {"a": 1}})
    bench.right("logs alone")
    writer.compact()
    bench.right("a base file alone")


@scenario("metadata.logs-once")
def logs_once(bench: Bench) -> None:
    """One reader looks up several partitions, one after the other."""
    writer = bench.table()
    for number in range(3):
        bench.commit(writer, {A: {f"new{number}": 1}})
    bench.stage.forget()
    with closing(bench.reader()) as reader:
        for partition in (A, B, A, C):
            reader.files([partition])
    logs = {path: n for path, n in bench.stage.opened.items() if ".log." in path}
    bench.want(sorted(logs.values()), [1, 1, 1], "how often each log was opened")


@scenario("metadata.one-reader")
def one_reader(bench: Bench) -> None:
    """One reader looks up a hundred partitions."""
    content = {f"p={number:03}": {"f": number} for number in range(100)}
    bench.table(content)
    bench.stage.forget()
    with closing(bench.reader()) as reader:
        bench.sees(content, reader.files(reader.partitions()))
    opens = sum(n for path, n in bench.stage.opened.items() if path.startswith(FILES))
    bench.want(opens <= 2, True, f"{opens} opens of the table's files, instead of one or two")


@scenario("metadata.no-listing")
def no_listing(bench: Bench) -> None:
    """Everything is looked up, and written, without a look at the dataset's directories."""
    writer = bench.table()
    bench.stage.forget()
    bench.commit(writer, {A: {"a3": 1}})
    bench.clean(writer, {A: ["a1"]})
    bench.right()
    listed = [p for p in bench.stage.listed if not p.startswith(f"{DATASET}/.hoodie")]
    bench.want(listed, [], "directories that were listed")


@scenario("metadata.slices-cached")
def slices_cached(bench: Bench) -> None:
    """One reader looks up ten times."""
    bench.table()
    bench.stage.forget()
    with closing(bench.reader()) as reader:
        for _ in range(10):
            reader.files([A])
    bench.want(bench.stage.listed[FILES] <= 1, True, "the table's files are listed once")


@scenario("metadata.opening-cheap")
def opening_cheap(bench: Bench) -> None:
    """A reader opens a table after many rollbacks."""
    writer = bench.table()
    for _ in range(6):
        time = bench.begin(writer)
        writer.roll_back(time, {})
        bench.model.take_back(time)
    bench.stage.forget()
    bench.right()
    opened = [path for path in bench.stage.opened if "/timeline/" in path]
    bench.want(opened, [], "instants that were opened")


@scenario("metadata.time-travel")
def time_travel(bench: Bench) -> None:
    """Readers ask for the dataset as it was, before and after a compaction."""
    writer = bench.table()
    moments = []
    for number in range(3):
        bench.commit(writer, {A: {f"new{number}": number}}, {A: [f"new{number - 1}"]})
        moments.append((bench.last(), bench.model.order))
    writer.compact()
    bench.commit(writer, {C: {"late": 1}})
    for time, order in moments:
        bench.sees(bench.model.listing(order), bench.seen(as_of=time), f"as of {time}")


@scenario("metadata.time-travel-bounds")
def time_travel_bounds(bench: Bench) -> None:
    """What was before the table was made, nothing can tell; nor what has been cleaned."""
    bench.dataset()
    writer = bench.writer()
    early = bench.commit(writer, {A: {"first": 1}})
    writer.initialize()
    bench.refused(lambda: bench.seen(as_of=early), "an error for a time before the table")
    moment = bench.last()
    for _ in range(2):
        bench.commit(writer, {A: {"more": 1}})
        writer.compact()
    writer.clean_table()
    bench.refused(lambda: bench.seen(as_of=moment), "an error for a time that was cleaned")
    bench.right("now")
