"""Ports to the parts of a pipeline: splitter, block reader and metadata table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.models.blockreader import Block
from fscontract.contract.models.splitter import BlockRecord, FileRecord


class PipelineBinding(ABC):
    """A part of a pipeline that can be checked; `name` is what reports call it."""

    #: The `api` of the documents that judge it.
    api: ClassVar[str]
    name: str


@dataclass(frozen=True)
class SplitterSettings:
    """How a splitter is set up. None stands for the splitter's own default.

    `data_offset` is where the first block of each file starts. `windows` is a directory for the
    windows of a splitter that finds its files; without it, it keeps none.
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
    """One life of a splitter: what it emits waits for `taken`."""

    @abstractmethod
    def begin_window(self, window_id: int) -> None:
        """Begin a window."""

    @abstractmethod
    def end_window(self) -> None:
        """End the window."""

    @abstractmethod
    def taken(self) -> Sequence[FileRecord | BlockRecord]:
        """What was emitted since the last call, in order."""

    @abstractmethod
    def checkpoint(self) -> str:
        """What a new life can be begun with."""

    @abstractmethod
    def close(self) -> None:
        """End this life; nothing more is written."""


class FedSplitter(Splitter):
    """A splitter that is told what to split."""

    @abstractmethod
    def put(self, directory: str | None, relative_path: str) -> None:
        """Give it a file."""

    @abstractmethod
    def idle(self) -> None:
        """Let it do what it does when there is nothing to take."""


class FindingSplitter(Splitter):
    """A splitter that finds its files, in a thread that sees the time pass when it is told to."""

    @abstractmethod
    def start(self) -> None:
        """Begin to work."""

    @abstractmethod
    def emit_tuples(self) -> None:
        """Let it emit what the window still allows."""

    @abstractmethod
    def committed(self, window_id: int, removed: Sequence[int] = ()) -> None:
        """Tell it that no failure leads back to this window; `removed` operators are no more."""

    @abstractmethod
    def trigger(self) -> None:
        """Ask for a scan."""

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Let time pass."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until the thread has nothing to do but wait."""

    @abstractmethod
    def missing(self) -> Sequence[str]:
        """The inputs that it has said are not there, each as often as it said so."""


class SplitterBinding(PipelineBinding):
    """Makes splitters of one kind. Settings that make no sense raise ValueError."""

    api: ClassVar[str] = "splitter"

    @abstractmethod
    def filesystem(self) -> FileSystem:
        """A new filesystem with nothing in it, for files to split and for windows."""

    @abstractmethod
    def fed(
        self, filesystem: FileSystem, settings: SplitterSettings, checkpoint: str | None = None
    ) -> FedSplitter:
        """A splitter that is told what to split."""

    @abstractmethod
    def finding(
        self, filesystem: FileSystem, settings: SplitterSettings, checkpoint: str | None = None
    ) -> FindingSplitter:
        """A splitter that finds its files; it has not been started."""


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


class CheckedTableReader(ABC):
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

    api: ClassVar[str] = "metadata-table"

    @abstractmethod
    def filesystem(self) -> FileSystem:
        """A new filesystem with nothing in it."""

    @abstractmethod
    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        """A writer."""

    @abstractmethod
    def reader(
        self, filesystem: FileSystem, as_of: str | None = None, read_only: bool = False
    ) -> CheckedTableReader:
        """The table as it is, or as it was at an instant; OSError.

        One that is `read_only` shows what the table has, though the dataset may be ahead.
        """

    @abstractmethod
    def listing(
        self, filesystem: FileSystem, enabled: bool = True, validate: bool = False
    ) -> CheckedListing:
        """The files by the table if there is one, by listing otherwise; both, to validate it."""


@dataclass(frozen=True)
class ReaderSettings:
    """How a reader is set up; None stands for the reader's own default.

    `context` is read-ahead, line, fixed or fixed-width. `length` is that of fixed records.
    `converter` gives None for what is to be dropped; `on_block` is told of each block when its
    records are out.
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
    """A record as a reader delivers it."""

    @property
    def block_id(self) -> int:
        """The block it was read from."""

    @property
    def record(self) -> Any:
        """What the converter made of it."""

    @property
    def offset(self) -> int:
        """Where it starts in the file."""


class CheckedReader(ABC):
    """One reader. A block of compressed data is the whole file."""

    @abstractmethod
    def process(self, block: Block) -> Iterator[DeliveredRecord]:
        """The records of a block."""

    @abstractmethod
    def counters(self) -> Mapping[str, float]:
        """The counters blocks, records, bytes, and time in seconds of the clock."""

    @abstractmethod
    def close_if_idle(self) -> None:
        """What is called while nothing comes."""

    @abstractmethod
    def close(self) -> None:
        """The reader is not needed any more."""


class CheckedScaling(ABC):
    """One logical reader's decisions about its partitions."""

    @abstractmethod
    def report(self, partition: int, queue_size: int | None, now: float) -> bool:
        """A partition's statistics; whether to define the partitions anew."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many partitions there should be."""

    @abstractmethod
    def define(
        self, counters: Sequence[int], backlog: Sequence[int], required: int, first: bool
    ) -> ScaledPartitions:
        """Define partitions; those there are have these blocks counted, and these waiting.

        Their readers are configured as "old0", "old1", ...; new ones have the configuration "new".
        """


@dataclass(frozen=True)
class ScaledPartitions:
    """What became of the partitions: each one's configuration, blocks counted, and keys.

    `reused` says whether any is the very object that was there before.
    """

    readers: tuple[str, ...]
    blocks: tuple[int, ...]
    keys: tuple[frozenset[int], ...]
    mask: int
    reused: bool


class BlockReaderBinding(PipelineBinding):
    """Makes readers of one kind. Settings that make no sense raise ValueError."""

    api: ClassVar[str] = "blockreader"

    @abstractmethod
    def reader(self, filesystem: FileSystem, settings: ReaderSettings) -> CheckedReader:
        """A reader of the files of a filesystem."""

    @abstractmethod
    def scaling(self, low: int, high: int, interval: float, collect: bool) -> CheckedScaling:
        """Decisions for from `low` to `high` readers; ValueError for bounds that are none."""
