"""Ports of the parts of a pipeline, through which scenarios drive splitters, readers and tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.models.blockreader import Block
from fscontract.contract.models.splitter import BlockRecord, FileRecord


class PipelineBinding(ABC):
    """A part of a pipeline that can be checked. Reports show its `name`.

    A part without an operation or setting raises UnsupportedOperationException; clauses that need
    it are inexpressible.
    """

    #: The `api` of the documents that apply to it.
    api: ClassVar[str]
    name: str


@dataclass(frozen=True)
class SplitterSettings:
    """Settings of a splitter. None selects the splitter's own default.

    `data_offset` is the start of the first block of each file. `windows` is the directory in which
    a splitter that finds its files stores windows; without it, it stores none.
    """

    files: str | Sequence[str] = ()
    block_size: int | None = None
    blocks_threshold: int | None = None
    operator_id: int = 0
    data_offset: int = 0
    recursive: bool = True
    scan_interval: float = 5.0
    file_pattern: str | None = None
    ignore_pattern: str | None = None
    windows: str | None = None


class Splitter(ABC):
    """One instance of a splitter; `taken` returns the records that it emits."""

    @abstractmethod
    def begin_window(self, window_id: int) -> None:
        """Begin a window."""

    @abstractmethod
    def end_window(self) -> None:
        """End the window."""

    @abstractmethod
    def taken(self) -> Sequence[FileRecord | BlockRecord]:
        """Return the records emitted since the last call, in order."""

    @abstractmethod
    def checkpoint(self) -> str:
        """Return a checkpoint from which a new instance can start."""

    @abstractmethod
    def close(self) -> None:
        """Close this instance. It writes nothing afterwards."""


class FedSplitter(Splitter):
    """A splitter that receives its files."""

    @abstractmethod
    def put(self, directory: str | None, relative_path: str) -> None:
        """Pass a file to the splitter."""

    @abstractmethod
    def idle(self) -> None:
        """Let the splitter do its work for idle time."""


class FindingSplitter(Splitter):
    """A splitter that finds its files in a thread, whose clock only `advance` moves."""

    @abstractmethod
    def start(self) -> None:
        """Start the thread."""

    @abstractmethod
    def emit_tuples(self) -> None:
        """Emit the records that the window still allows."""

    @abstractmethod
    def committed(self, window_id: int, removed: Sequence[int] = ()) -> None:
        """Commit a window: no failure returns to it. `removed` operators no longer exist."""

    @abstractmethod
    def trigger(self) -> None:
        """Request a scan."""

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Advance the clock."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until the thread is idle."""

    @abstractmethod
    def missing(self) -> Sequence[str]:
        """Return the inputs that it reported as missing, once for each report."""


class SplitterBinding(PipelineBinding):
    """Make splitters of one kind; ValueError for invalid settings."""

    api: ClassVar[str] = "splitter"

    @abstractmethod
    def filesystem(self) -> FileSystem:
        """Return a new empty filesystem, for files to split and for windows."""

    @abstractmethod
    def fed(
        self, filesystem: FileSystem, settings: SplitterSettings, checkpoint: str | None = None
    ) -> FedSplitter:
        """Return a splitter that receives its files."""

    @abstractmethod
    def finding(
        self, filesystem: FileSystem, settings: SplitterSettings, checkpoint: str | None = None
    ) -> FindingSplitter:
        """Return a splitter that finds its files; it has not been started."""


#: The directory of the dataset.
DATASET = "/dataset"


@dataclass(frozen=True)
class Statistics:
    """Statistics of a column in a file; None for an unknown bound."""

    column: str
    minimum: Any = None
    maximum: Any = None
    value_count: int = 10
    null_count: int = 0


@dataclass(frozen=True)
class TableChange:
    """The change of an action: sizes of added files, by partition and name, and deleted names.

    `statistics` has those of added files, by partition and name.
    """

    added: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    deleted: Mapping[str, Collection[str]] = field(default_factory=dict)
    statistics: Mapping[tuple[str, str], Collection[Statistics]] = field(default_factory=dict)


@dataclass(frozen=True)
class TableSettings:
    """Settings of a writer.

    `design` is 1 for tables that are synced after their dataset, 2 for those written before it.
    After `compact_after` deltacommits the table is compacted, cleaned and archived; None means
    never. Archiving leaves `keep_instants` on the timeline. `lock` is "" for none, "shared" for a
    lock for each action, "session" for one that is held until the writer is closed. A writer that
    died holds it for `lease` seconds of the clock, which advances by one second at each call.
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
        """Make the table from a listing."""

    @abstractmethod
    def bootstrap(self, content: TableChange) -> None:
        """Make the table from this content and its statistics."""

    @abstractmethod
    def begin(self, action: str) -> str:
        """Begin an action on the dataset; return its instant."""

    @abstractmethod
    def apply(self, instant: str, change: TableChange) -> None:
        """Write the change of an action to the table, without completing the action."""

    @abstractmethod
    def finish(self, instant: str, change: TableChange) -> None:
        """Complete an action."""

    @abstractmethod
    def clean(self, deleted: Mapping[str, Collection[str]]) -> str:
        """Delete files of the dataset; return the instant."""

    @abstractmethod
    def roll_back(self, instant: str, deleted: Mapping[str, Collection[str]]) -> str:
        """Roll back an action that was not completed, with its files; return the instant."""

    @abstractmethod
    def restore(self, instant: str) -> str:
        """Restore the dataset to an instant; return the instant of the restore."""

    @abstractmethod
    def recover(self) -> None:
        """Recover actions that other writers left incomplete."""

    @abstractmethod
    def sync(self) -> None:
        """Sync the table with the dataset."""

    @abstractmethod
    def compact(self) -> bool:
        """Compact the table; return whether there was something to compact."""

    @abstractmethod
    def clean_table(self) -> None:
        """Delete the files of the table that no reader of its present state needs."""

    @abstractmethod
    def create_statistics(
        self, statistics: Mapping[tuple[str, str], Collection[Statistics]]
    ) -> None:
        """Add the partition of column statistics to the table, or build it anew, from these."""

    @abstractmethod
    def drop_statistics(self) -> None:
        """Drop the partition of column statistics."""

    def create_record_index(self) -> None:
        """Add the index of record keys to the table, or build it anew.

        Raise UnsupportedOperationException if the table has no such index.
        """
        raise UnsupportedOperationException("the table has no index of record keys")

    @abstractmethod
    def archive(self) -> None:
        """Archive the instants that are not needed."""

    @abstractmethod
    def close(self) -> None:
        """Close the writer."""


class CheckedTableReader(ABC):
    """The table as of one moment."""

    @abstractmethod
    def partitions(self) -> list[str]:
        """Return the sorted partitions."""

    @abstractmethod
    def files(self, partitions: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        """Return the sizes of the files of some partitions, with one request."""

    @abstractmethod
    def prune(self, column: str, operator: str, value: Any) -> set[str]:
        """Return the names of files that may have a row that meets a condition."""

    def locate(self, keys: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        """Return partition and file group of each existing key, from the index of record keys.

        The file group is the number given to `MetadataTableBinding.put_rows`.
        """
        raise UnsupportedOperationException("the table has no index of record keys")

    @abstractmethod
    def close(self) -> None:
        """Close the reader."""


class CheckedListing(ABC):
    """The files of a dataset, by its table or a listing."""

    @abstractmethod
    def partitions(self) -> list[str]:
        """Return the sorted partitions."""

    @abstractmethod
    def files(self, partition: str) -> Mapping[str, int]:
        """Return the sizes of the files of a partition."""

    @abstractmethod
    def warnings(self) -> int:
        """Return the number of warnings about an unusable or wrong table."""

    @abstractmethod
    def metrics(self) -> Mapping[str, float]:
        """Return the metrics, by Hudi's names."""


class MetadataTableBinding(PipelineBinding):
    """Make writers and readers of one kind, for the dataset at DATASET."""

    api: ClassVar[str] = "metadata-table"

    @abstractmethod
    def filesystem(self) -> FileSystem:
        """Return a new empty filesystem."""

    @abstractmethod
    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        """Return a writer."""

    @abstractmethod
    def reader(
        self, filesystem: FileSystem, as_of: str | None = None, read_only: bool = False
    ) -> CheckedTableReader:
        """Return the current table, or its state at an instant; OSError.

        With `read_only`, it lists the files in the table, even if the dataset is ahead.
        """

    @abstractmethod
    def listing(
        self, filesystem: FileSystem, enabled: bool = True, validate: bool = False
    ) -> CheckedListing:
        """Return the files: from the table, from a listing without one, or both to validate."""

    def put_rows(
        self, filesystem: FileSystem, partition: str, group: int, instant: str, keys: Iterable[str]
    ) -> tuple[str, int]:
        """Write a data file with a row of each key, as the content of a file group from an instant.

        Return its name and size. Raise UnsupportedOperationException if it can't write rows.
        """
        raise UnsupportedOperationException("no rows can be written")


@dataclass(frozen=True)
class ReaderSettings:
    """Settings of a reader; None selects the reader's own default.

    `context` is read-ahead, line, fixed or fixed-width. `length` is that of fixed records.
    `converter` returns None for a record to drop; `on_block` is called with the id of each block
    after its records.
    """

    context: str = "read-ahead"
    delimiter: bytes | None = None
    length: int | None = None
    max_length: int | None = None
    on_too_long: str | None = None
    drop_blank: bool = False
    data_offset: int = 0
    buffer_size: int | None = None
    overflow_buffer_size: int | None = None
    converter: Callable[[bytes], Any] | None = None
    on_block: Callable[[int], None] | None = None
    idle_seconds: float | None = None
    clock: Callable[[], float] | None = None


class DeliveredRecord(Protocol):
    """A record that a reader delivers."""

    @property
    def block_id(self) -> int:
        """The block from which it was read."""

    @property
    def record(self) -> Any:
        """The result of the converter."""

    @property
    def offset(self) -> int:
        """The offset of the record in the file."""


class CheckedReader(ABC):
    """One reader. A block of compressed data is the whole file."""

    @abstractmethod
    def process(self, block: Block) -> Iterator[DeliveredRecord]:
        """Yield the records of a block."""

    @abstractmethod
    def counters(self) -> Mapping[str, float]:
        """Return the counters blocks, records, bytes, and time in seconds of the clock."""

    @abstractmethod
    def close_if_idle(self) -> None:
        """Close the stream if it is idle; called while no block arrives."""

    @abstractmethod
    def close(self) -> None:
        """Close the reader."""


class CheckedScaling(ABC):
    """Decisions of one logical reader about its partitions."""

    @abstractmethod
    def report(self, partition: int, queue_size: int | None, now: float) -> bool:
        """Report a partition's statistics; return whether to redefine the partitions."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The desired number of partitions."""

    @abstractmethod
    def define(
        self, counters: Sequence[int], backlog: Sequence[int], required: int, first: bool
    ) -> ScaledPartitions:
        """Define partitions, given the counted and waiting blocks of the present ones.

        Their readers are configured as "old0", "old1", ...; new ones have the configuration "new".
        """


@dataclass(frozen=True)
class ScaledPartitions:
    """The partitions by their configurations, blocks counted, and keys.

    `reused` is true if any of them is one of the old objects.
    """

    readers: tuple[str, ...]
    blocks: tuple[int, ...]
    keys: tuple[frozenset[int], ...]
    mask: int
    reused: bool


class BlockReaderBinding(PipelineBinding):
    """Make readers of one kind; ValueError for invalid settings.

    The number of readers is fixed unless `scaling` is overridden.
    """

    api: ClassVar[str] = "blockreader"

    @abstractmethod
    def reader(self, filesystem: FileSystem, settings: ReaderSettings) -> CheckedReader:
        """Return a reader of the files of a filesystem."""

    def scaling(self, low: int, high: int, interval: float, collect: bool) -> CheckedScaling:
        """Return the decisions for `low` to `high` readers; ValueError for invalid bounds.

        `interval` is the least time between two of them, in seconds; without `collect` there are
        none. Raise UnsupportedOperationException if the number of readers is fixed.
        """
        raise UnsupportedOperationException("the number of readers is fixed")
