"""What is checked of a pipeline: ports through which scenarios drive its parts.

A document of clauses names in `api` what it is about; a binding says the same of itself, and is
judged by those documents alone. Streams have `Binding`; the parts of a pipeline have these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fscontract.contract.models.blocks import BlockRecord, FileRecord
from fscontract.contract.ports import FileSystem


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
