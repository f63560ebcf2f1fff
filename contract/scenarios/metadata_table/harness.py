"""Where a scenario is played: a dataset, its writers and readers, and what should be seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NoReturn

from fscontract.contract.models.metadata_table import Acceptor, Listing, difference
from fscontract.contract.pipeline_bindings import (
    DATASET,
    CheckedTableReader,
    CheckedWriter,
    MetadataTableBinding,
    TableChange,
    TableSettings,
)
from fscontract.contract.scenarios.metadata_table.instrumented_filesystem import Stage

#: Where the table is, where its listings of files are, and the two timelines.
TABLE = f"{DATASET}/.hoodie/metadata"
FILES = f"{TABLE}/files"
TIMELINE, OWN_TIMELINE = f"{DATASET}/.hoodie/timeline", f"{TABLE}/.hoodie/timeline"
_PROPERTIES, _ASIDE = f"{DATASET}/.hoodie/hoodie.properties", f"{DATASET}/.hoodie/aside"
#: Partitions.
A, B, C = "day=1", "day=2", "day=3"
_DONE = re.compile(r"(\d{17})_(\d{17})\.([a-z]+)")
#: What files are there at first.
START: Listing = {A: {"a1": 10, "a2": 20}, B: {"b1": 30}}


@dataclass(frozen=True)
class Broken:
    """A clause that is broken: what would have been accepted, and what was seen."""

    clause: str
    expected: str
    actual: str


class Violated(Exception):
    """The scenario's clause does not hold."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(actual)
        self.expected = expected
        self.actual = actual


class Bench:
    """One scenario's stage. `model` is what the dataset should be."""

    def __init__(self, binding: MetadataTableBinding) -> None:
        self.binding = binding
        self._writers: list[CheckedWriter] = []
        self.reset()

    def reset(self) -> None:
        """Begin with nothing."""
        self.stage = Stage(self.binding.filesystem())
        self.model = Acceptor()
        self._writers = []

    def close(self) -> None:
        """Close all writers."""
        self.stage.revive()
        for writer in self._writers:
            writer.close()

    # The dataset ------------------------------------------------------------------------------

    def put(self, partition: str, name: str, size: int) -> None:
        """Write a data file."""
        directory = f"{DATASET}/{partition}" if partition else DATASET
        with self.stage.inner.create(f"{directory}/{name}") as file:
            file.write(bytes(size))

    def dataset(self, content: Listing = START) -> None:
        """Files without a metadata table."""
        for partition, files in content.items():
            for name, size in files.items():
                self.put(partition, name, size)
        self.stage.inner.mkdirs(DATASET)
        self.model = Acceptor(content)

    def table(self, content: Listing = START, **settings: Any) -> CheckedWriter:
        """Files with a metadata table made of a listing; its writer."""
        self.dataset(content)
        writer = self.writer(**settings)
        writer.initialize()
        return writer

    def writer(self, **settings: Any) -> CheckedWriter:
        """Another writer."""
        made = self.binding.writer(self.stage, TableSettings(**settings))
        self._writers.append(made)
        return made

    def next_writer(self, **settings: Any) -> CheckedWriter:
        """One in a process of its own, after another has died."""
        self.stage.revive()
        return self.writer(**settings)

    def without_table(self) -> CheckedWriter:
        """A writer that knows of no table: the properties that say so are put aside."""
        self.stage.inner.rename(_PROPERTIES, _ASIDE)
        return self.writer()

    def with_table(self) -> None:
        """Put them where they were."""
        self.stage.inner.rename(_ASIDE, _PROPERTIES)

    def begin(self, writer: CheckedWriter, action: str = "commit") -> str:
        """Begin an action."""
        time = writer.begin(action)
        self.model.request(time, action)
        self.model.begin(time)
        return time

    def change(
        self, added: Listing | None = None, deleted: Mapping[str, Collection[str]] | None = None
    ) -> TableChange:
        """A change, whose files are written."""
        for partition, files in (added or {}).items():
            for name, size in files.items():
                self.put(partition, name, size)
        return TableChange(added or {}, deleted or {})

    def commit(
        self,
        writer: CheckedWriter,
        added: Listing | None = None,
        deleted: Mapping[str, Collection[str]] | None = None,
        action: str = "commit",
    ) -> str:
        """Do all of an action."""
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
        """Take the dataset back to an action."""

        def done() -> None:
            since = list(self.model.actions)
            for time in since[since.index(to) + 1 :]:
                self.model.take_back(time)

        with self.model.perhaps(done):
            return writer.restore(to)

    # What is seen -----------------------------------------------------------------------------

    def reader(self, as_of: str | None = None, read_only: bool = False) -> CheckedTableReader:
        """A reader, to be closed."""
        return self.binding.reader(self.stage, as_of, read_only)

    def seen(self, as_of: str | None = None, read_only: bool = False) -> Listing:
        """All that a new reader says."""
        with closing(self.reader(as_of, read_only)) as reader:
            return reader.files(reader.partitions())

    def completed(self, timeline: str) -> list[tuple[str, str]]:
        """The time and the action of what is completed on a timeline."""
        try:
            names = [s.path.rpartition("/")[2] for s in self.stage.inner.list_status(timeline)]
        except FileNotFoundError:
            return []
        return [(found[1], found[3]) for name in names if (found := _DONE.fullmatch(name))]

    def last(self) -> str:
        """When the last action of the dataset was completed."""
        names = [
            status.path.rpartition("/")[2] for status in self.stage.inner.list_status(TIMELINE)
        ]
        return max(found[2] for name in names if (found := _DONE.fullmatch(name)))

    def own_files(self, ending: str = "") -> list[str]:
        """The files of the table that list files: bases, logs, or both."""
        paths = [status.path for status in self.stage.inner.list_status(FILES)]
        return [
            p for p in paths if ending in p.rpartition("/")[2] and "partition_metadata" not in p
        ]

    def pending(self, timeline: str) -> set[str]:
        """The instants of a timeline that are begun, and not completed."""
        names = {s.path.rpartition("/")[2] for s in self.stage.inner.list_status(timeline)}
        begun = {name.partition(".")[0] for name in names if not _DONE.fullmatch(name)}
        return begun - {time for time, _ in self.completed(timeline)}

    def on_disk(self) -> Listing:
        """The data files that there are; files below directories of two levels at most."""
        found: dict[str, dict[str, int]] = {}
        for directory in self.stage.inner.list_status(DATASET):
            name = directory.path.rpartition("/")[2]
            if directory.is_directory and not name.startswith("."):
                files = self.stage.inner.list_status(directory.path)
                found[name] = {s.path.rpartition("/")[2]: s.length for s in files}
        return {name: files for name, files in found.items() if files}

    # What is wanted ---------------------------------------------------------------------------

    def right(self, when: str = "", settles: bool = True) -> None:
        """A new reader sees the dataset as it should be."""
        wrong = self.model.judge(self.seen(), settles)
        if wrong:
            self.fail(f"{when}: the dataset as it is" if when else "the dataset as it is", wrong)

    def sees(self, expected: Listing, seen: Listing, when: str = "") -> None:
        """A listing is another one."""
        wrong = difference(seen, expected)
        if wrong:
            self.fail(f"{when}: {expected}" if when else f"{expected}", wrong)

    def want(self, actual: object, expected: object, what: str = "") -> None:
        """Two things are equal."""
        if actual != expected:
            head = f"{what}: " if what else ""
            self.fail(f"{head}{expected!r}", repr(actual))

    def refused(self, call: Callable[[], object], what: str) -> None:
        """A call raises an OSError or a ValueError."""
        try:
            call()
        except (OSError, ValueError):
            return
        self.fail(what, "no error")

    def fail(self, expected: str, actual: str) -> NoReturn:
        """The clause does not hold."""
        raise Violated(expected, actual)
