"""Drive writers and readers of a metadata table, and compare listings with the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from typing import Any, ClassVar, TypeVar

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.models.metadata_table import Acceptor, Listing, difference
from fscontract.contract.models.violation import difference_of
from fscontract.contract.pipeline_bindings import (
    DATASET,
    CheckedTableReader,
    CheckedWriter,
    MetadataTableBinding,
    TableChange,
    TableSettings,
)
from fscontract.contract.runner.sandbox import call_sandboxed
from fscontract.contract.scenarios.instrumented_filesystem import InstrumentedFileSystem, Killed
from fscontract.contract.scenarios.scenario import Harness

T = TypeVar("T")

#: The directories of the table, of its listings of files, and of the two timelines.
TABLE = f"{DATASET}/.hoodie/metadata"
FILES = f"{TABLE}/files"
TIMELINE, OWN_TIMELINE = f"{DATASET}/.hoodie/timeline", f"{TABLE}/.hoodie/timeline"
_PROPERTIES, _ASIDE = f"{DATASET}/.hoodie/hoodie.properties", f"{DATASET}/.hoodie/aside"
#: What a writer raises that refuses a call.
REFUSALS = (OSError, ValueError)
#: More writes than any action has.
MANY = 60
#: Partitions.
A, B, C = "day=1", "day=2", "day=3"
_DONE = re.compile(r"(\d{17})_(\d{17})\.([a-z]+)")
#: What settings let a writer do by itself. With `compact_after` it also cleans the table, which
#: scenarios observe only together with `keep_instants`.
_SAME_AS = {"compact_after": ("compact",), "keep_instants": ("clean_table", "archive")}
_DELETED, _PENDING = "deleted files", "an action that is not completed"
_DEATH = "a process that died"
#: What the table contains after these.
_LEFT_BY = {"clean": _DELETED, "restore": _DELETED, "apply": _PENDING, _DEATH: _PENDING}
_DIGITS = re.compile(r"\d+")
#: Names that mean the same everywhere.
_PLAIN = re.compile(r"[a-z0-9=/_.-]*")
#: The initial files.
START: Listing = {A: {"a1": 10, "a2": 20}, B: {"b1": 30}}
#: A dataset with many files in one partition, and one in each of many.
LARGE: Listing = {
    A: {f"f{number:02}": number + 1 for number in range(70)},
    **{f"day={number}": {"g": 1} for number in range(10, 80)},
}


def _features(partition: str, name: str, size: int) -> list[str]:
    """Return what tells a file from most others."""
    features = {
        "the root as partition": not partition,
        "a partition in another one": "/" in partition,
        "unusual names": not _PLAIN.fullmatch(partition + name),
        "an empty file": not size,
    }
    return [feature for feature, is_there in features.items() if is_there]


class TableHarness(Harness):
    """A dataset with writers and readers; `model` is the expected content of the dataset."""

    collects: ClassVar[bool] = True
    usual = frozenset(
        {"initialize", "bootstrap", "begin", "finish", "commit", "partitions", "files"}
    )
    usual |= {"close"}

    def __init__(self, binding: MetadataTableBinding, clause: str = "") -> None:
        super().__init__(clause)
        self.binding = binding
        self.fs = InstrumentedFileSystem(binding.filesystem())
        self.reset()

    def reset(self) -> None:
        """Start again with an empty filesystem."""
        self.step()
        self._note_death()
        self.fs = InstrumentedFileSystem(self.binding.filesystem())
        self.model = Acceptor()
        self._writers: list[CheckedWriter] = []
        #: The first partition with a file of each name.
        self._partition_of: dict[str, str] = {}

    def close(self) -> None:
        """Close all writers, in any state."""
        self.fs.revive()
        for writer in self._writers:
            with suppress(Exception, Killed):
                call_sandboxed(writer.close)

    def observed(self, clause: str, what: str) -> tuple[str, ...]:
        """Return what a comparison observes: the layout alone, which explains no wrong listing."""
        return ("layout",) if clause == "metadata.place" else super().observed(clause, what)

    # The dataset ------------------------------------------------------------------------------

    def put(self, partition: str, name: str, size: int) -> None:
        """Write a data file."""
        self.use(*_features(partition, name, size))
        if self._partition_of.setdefault(name, partition) != partition:
            self.use("a name in two partitions")
        directory = f"{DATASET}/{partition}" if partition else DATASET
        with self.fs.inner.create(f"{directory}/{name}") as file:
            file.write(bytes(size))

    def dataset(self, content: Listing = START) -> None:
        """Write files without a metadata table."""
        for partition, files in content.items():
            for name, size in files.items():
                self.put(partition, name, size)
        self.fs.inner.mkdirs(DATASET)
        self.model = Acceptor(content)

    def table(self, content: Listing = START, **settings: Any) -> CheckedWriter:
        """Write files, make their metadata table from a listing, and return its writer."""
        self.dataset(content)
        writer = self.writer(**settings)
        writer.initialize()
        return writer

    def writer(self, **settings: Any) -> CheckedWriter:
        """Return another writer."""
        for name, value in settings.items():
            self.use(*(_SAME_AS.get(name, (name,)) if value else ()))
        writer = self.noted(self.binding.writer(self.fs, TableSettings(**settings)))
        self._writers.append(writer)
        return writer

    @property
    def uses(self) -> frozenset[str]:
        """The calls, settings and features of files that the scenario has used of the part."""
        self._note_death()
        return super().uses

    def _note_death(self) -> None:
        if self.fs.died:
            self.use(_DEATH)

    def use(self, *names: str) -> None:
        """Note that the scenario uses something of the part, and what that leaves in the table."""
        super().use(*names, *(_LEFT_BY[name] for name in names if name in _LEFT_BY))

    def next_writer(self, **settings: Any) -> CheckedWriter:
        """Return a writer in another process, after a crash."""
        self.fs.revive()
        return self.writer(**settings)

    def without_table(self) -> CheckedWriter:
        """Return a writer without a table, by moving the properties away."""
        self.require(_PROPERTIES)
        self.fs.inner.rename(_PROPERTIES, _ASIDE)
        return self.writer()

    def with_table(self) -> None:
        """Move the properties back."""
        self.fs.inner.rename(_ASIDE, _PROPERTIES)

    def begin(self, writer: CheckedWriter, action: str = "commit") -> str:
        """Begin an action."""
        self.step()
        self.use(action)
        time = writer.begin(action)
        self.model.request(time, action)
        self.model.begin(time)
        return time

    def change(
        self, added: Listing | None = None, deleted: Mapping[str, Collection[str]] | None = None
    ) -> TableChange:
        """Return a change after writing its files."""
        for partition, files in (added or {}).items():
            for name, size in files.items():
                self.put(partition, name, size)
        self.use(*((_DELETED,) if deleted else ()))
        return TableChange(added or {}, deleted or {})

    def commit(
        self,
        writer: CheckedWriter,
        added: Listing | None = None,
        deleted: Mapping[str, Collection[str]] | None = None,
        action: str = "commit",
    ) -> str:
        """Begin and complete an action; return its instant."""
        time = self.begin(writer, action)
        self.finish(writer, time, added, deleted)
        return time

    def finish(
        self,
        writer: CheckedWriter,
        time: str,
        added: Listing | None = None,
        deleted: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Complete an action."""
        change = self.change(added, deleted)
        with self.model.perhaps(lambda: self.model.complete(time, added, deleted)):
            writer.finish(time, change)

    def clean(self, writer: CheckedWriter, deleted: Mapping[str, Collection[str]]) -> str:
        """Delete files of the dataset."""

        def done() -> None:
            name = f"clean {self.model.order}"
            self.model.request(name, "clean")
            self.model.complete(name, None, deleted)

        with self.model.perhaps(done):
            return writer.clean(deleted)

    def restore(self, writer: CheckedWriter, to: str) -> str:
        """Restore the dataset to an action."""

        def done() -> None:
            since = list(self.model.actions)
            for time in since[since.index(to) + 1 :]:
                self.model.take_back(time)

        with self.model.perhaps(done):
            return writer.restore(to)

    def compact(self, writer: CheckedWriter) -> None:
        """Compact a table with logs, which other layouts may lack; judge that there were some."""
        compacted = self.perhaps(writer.compact)
        if self.has(FILES):
            self.expect(compacted, True, "compacted")

    def perhaps(self, step: Callable[[], T]) -> T | None:
        """Take a step without which the scenario still judges its clause, if the table has it."""
        try:
            return step()
        except UnsupportedOperationException:
            return None

    def apply(self, writer: CheckedWriter, time: str, change: TableChange) -> None:
        """Write the change of an action, if the table takes it before the action is completed."""
        self.perhaps(lambda: writer.apply(time, change))

    # Observations -----------------------------------------------------------------------------

    def reader(self, as_of: str | None = None, read_only: bool = False) -> CheckedTableReader:
        """Return a reader, which the caller closes."""
        self.use(*(("as_of",) if as_of else ()), *(("read_only",) if read_only else ()))
        return self.noted(self.binding.reader(self.fs, as_of, read_only))

    def listing(self, as_of: str | None = None, read_only: bool = False) -> Listing:
        """Return everything that a new reader lists."""
        with closing(self.reader(as_of, read_only)) as reader:
            return reader.files(reader.partitions())

    def has(self, path: str) -> bool:
        """Return whether a file or directory of Hudi's layout exists."""
        try:
            self.fs.inner.get_file_status(path)
        except FileNotFoundError:
            return False
        return True

    def require(self, path: str) -> None:
        """Raise UnsupportedOperationException without a file or directory of Hudi's layout.

        `metadata.place` judges the layout; clauses about files in it don't apply to others.
        """
        if not self.has(path):
            raise UnsupportedOperationException(f"the table is not laid out as Hudi's: no {path}")

    def names(self, directory: str) -> list[str]:
        """Return the names in a directory of Hudi's layout."""
        self.require(directory)
        return [status.path.rpartition("/")[2] for status in self.fs.inner.list_status(directory)]

    def completed(self, timeline: str) -> list[tuple[str, str]]:
        """Return times and actions of the completed instants of a timeline."""
        names = self.names(timeline)
        return [(match[1], match[3]) for name in names if (match := _DONE.fullmatch(name))]

    def last(self) -> str:
        """Return the completion time of the last action of the dataset."""
        names = self.names(TIMELINE)
        return max(match[2] for name in names if (match := _DONE.fullmatch(name)))

    def own_files(self, ending: str = "") -> list[str]:
        """Return the files of the table that list files: bases, logs, or both."""
        names = self.names(FILES)
        return [f"{FILES}/{n}" for n in names if ending in n and "partition_metadata" not in n]

    def own_size(self) -> int:
        """Return the bytes of the files of the table that list files."""
        return sum(self.fs.inner.get_file_status(path).length for path in self.own_files())

    def pending(self, timeline: str) -> set[str]:
        """Return the pending instants of a timeline."""
        names = self.names(timeline)
        started = {name.partition(".")[0] for name in names if not _DONE.fullmatch(name)}
        return started - {time for time, _ in self.completed(timeline)}

    def on_disk(self) -> Listing:
        """Return the data files in directories of one level."""
        self.use("data files")
        listing: dict[str, dict[str, int]] = {}
        for directory in self.fs.inner.list_status(DATASET):
            name = directory.path.rpartition("/")[2]
            if directory.is_directory and not name.startswith("."):
                files = self.fs.inner.list_status(directory.path)
                listing[name] = {s.path.rpartition("/")[2]: s.length for s in files}
        return {name: files for name, files in listing.items() if files}

    # Judgement --------------------------------------------------------------------------------

    def expect_dataset(self, when: str = "", settles: bool = True) -> None:
        """Judge the clause by comparing the listing of a new reader with the model."""
        self.judged()
        listing, expected = self.listing(), self.model.listing()
        wrong = self.model.judge(listing, settles)
        self._judge(wrong, "the content of the dataset", when, listing, expected)

    def expect_listing(self, expected: Listing, actual: Listing, when: str = "") -> None:
        """Judge the clause by the equality of two listings."""
        self.judged()
        wrong = difference(actual, expected)
        self._judge(wrong, str(expected), when, actual, expected)

    def _judge(self, wrong: str, text: str, when: str, actual: Listing, expected: Listing) -> None:
        """End the scenario if something is wrong with a listing, of which `text` was expected."""
        if wrong:
            head, how = f"{when}: " if when else "", difference_of(actual, expected)
            self.fail(f"{head}{text}", wrong, kind=_DIGITS.sub("N", wrong), difference=how)

    def expect_no_listing(self) -> None:
        """Judge the clause: no directory of data files was listed since the log was cleared."""
        listed = [path for path in self.fs.listed if not path.startswith(f"{DATASET}/.hoodie")]
        self.expect(listed, [], "directories that were listed")

    def expect_refusal(self, call: Callable[[], object], what: str) -> None:
        """Judge the clause: a call must raise OSError or ValueError."""
        self.judged()
        try:
            call()
        except REFUSALS:
            return
        self.fail(what, "no error")
