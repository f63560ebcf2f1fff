"""What is checked of block readers: the ports through which scenarios drive them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from fscontract.contract.models.records import Block
from fscontract.contract.pipelineports import PipelineBinding
from fscontract.contract.ports import FileSystem


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
