"""What is checked of metadata tables: the ports through which scenarios drive them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fscontract.contract.pipelineports import PipelineBinding
from fscontract.contract.ports import FileSystem

#: Where the dataset is.
DATASET = "/dataset"


@dataclass(frozen=True)
class Statistics:
    """What is known of a column in a file. None stands for a bound that is not known."""

    column: str
    minimum: Any = None
    maximum: Any = None
    value_count: int = 10
    null_count: int = 0


@dataclass(frozen=True)
class TableChange:
    """What an action did: files it added, by partition, with their sizes; names it deleted.

    `statistics` are those of files that it added, by partition and name.
    """

    added: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    deleted: Mapping[str, Collection[str]] = field(default_factory=dict)
    statistics: Mapping[tuple[str, str], Collection[Statistics]] = field(default_factory=dict)


@dataclass(frozen=True)
class TableSettings:
    """How a writer is set up.

    `design` is 1 for tables that catch up with their dataset, 2 for those that go before it.
    `compact_after` deltacommits the table is compacted, cleaned and archived; never if it is None.
    `keep_instants` stay on a timeline that is archived. `lock` is "" for none, "shared" for one
    that is taken for each action, "session" for one that is held until the writer is closed.
    `lease` is how long a writer that died holds it, in seconds of the clock, which goes on by one
    at each look.
    """

    design: int = 2
    compact_after: int | None = None
    keep_instants: int = 30
    lock: str = ""
    lease: float = 1e6
    patience: float = 0.0


class CheckedWriter(ABC):
    """One writer. Actions are named as on Hudi's timeline, instants by their times."""

    @abstractmethod
    def initialize(self) -> None:
        """Make the table of what a listing finds."""

    @abstractmethod
    def bootstrap(self, content: TableChange) -> None:
        """Make the table of what is told, with the columns that there are statistics of."""

    @abstractmethod
    def begin(self, action: str) -> str:
        """Begin an action on the dataset; its instant."""

    @abstractmethod
    def apply(self, instant: str, change: TableChange) -> None:
        """Put what an action did into the table, and do not complete it."""

    @abstractmethod
    def finish(self, instant: str, change: TableChange) -> None:
        """Complete an action."""

    @abstractmethod
    def clean(self, deleted: Mapping[str, Collection[str]]) -> str:
        """Delete files of the dataset; the instant."""

    @abstractmethod
    def roll_back(self, instant: str, deleted: Mapping[str, Collection[str]]) -> str:
        """Take back an action that was not completed, with the files it has written."""

    @abstractmethod
    def restore(self, instant: str) -> str:
        """Take the dataset back to an instant."""

    @abstractmethod
    def recover(self) -> None:
        """End what other writers have not."""

    @abstractmethod
    def sync(self) -> None:
        """Let the table catch up."""

    @abstractmethod
    def compact(self) -> bool:
        """Compact the table; whether that was done."""

    @abstractmethod
    def clean_table(self) -> None:
        """Delete the files of the table that no reader of its present state needs."""

    @abstractmethod
    def archive(self) -> None:
        """Drop the instants that nobody needs."""

    @abstractmethod
    def close(self) -> None:
        """The writer is not needed any more."""


class CheckedReader(ABC):
    """The table as of one moment."""

    @abstractmethod
    def partitions(self) -> list[str]:
        """The partitions, sorted."""

    @abstractmethod
    def files(self, partitions: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        """The files of some partitions with their sizes, by one request."""

    @abstractmethod
    def prune(self, column: str, operator: str, value: Any) -> set[str]:
        """The names of files that may have a row that meets a condition."""

    @abstractmethod
    def close(self) -> None:
        """The reader is not needed any more."""


class CheckedListing(ABC):
    """The files of a dataset by whatever can be used."""

    @abstractmethod
    def partitions(self) -> list[str]:
        """The partitions, sorted."""

    @abstractmethod
    def files(self, partition: str) -> Mapping[str, int]:
        """The files of a partition with their sizes."""

    @abstractmethod
    def warnings(self) -> int:
        """How often it was warned of a table that can't be used, or is wrong."""

    @abstractmethod
    def metrics(self) -> Mapping[str, float]:
        """The metrics, by Hudi's names."""


class MetadataTableBinding(PipelineBinding):
    """Makes writers and readers of one kind, of the dataset at DATASET."""

    api: ClassVar[str] = "metadatatable"

    @abstractmethod
    def filesystem(self) -> FileSystem:
        """A new filesystem with nothing in it."""

    @abstractmethod
    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        """A writer."""

    @abstractmethod
    def reader(
        self, filesystem: FileSystem, as_of: str | None = None, read_only: bool = False
    ) -> CheckedReader:
        """The table as it is, or as it was at an instant; OSError.

        One that is `read_only` shows what the table has, though the dataset may be ahead.
        """

    @abstractmethod
    def listing(
        self, filesystem: FileSystem, enabled: bool = True, validate: bool = False
    ) -> CheckedListing:
        """The files by the table if there is one, by listing otherwise; both, to validate it."""
