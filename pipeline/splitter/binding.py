"""Binding of the splitters to the scenarios of their contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.contract.models.splitter import BlockRecord, FileRecord
from fscontract.contract.pipeline_bindings import (
    FedSplitter,
    FindingSplitter,
    SplitterBinding,
    SplitterSettings,
)
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.targets import check_options
from fscontract.pipeline.blocks import FileInfo
from fscontract.pipeline.splitter.clock import ManualClock
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import MissingInput
from fscontract.pipeline.splitter.splitter import FileSplitterBase
from fscontract.pipeline.splitter.windows import FSWindowStore, NoopWindowStore, WindowStore

_Records = list[Any]


class LocalSplitterBinding(SplitterBinding):
    """Splitters in this process. Mutants replace their classes, which are attributes."""

    input_class: ClassVar[type[FileSplitterInput]] = FileSplitterInput
    base_class: ClassVar[type[FileSplitterBase]] = FileSplitterBase
    store_class: ClassVar[type[FSWindowStore]] = FSWindowStore
    noop_class: ClassVar[type[NoopWindowStore]] = NoopWindowStore

    def __init__(
        self, name: str = "splitter", filesystem: Callable[[], FileSystem] = MemoryFileSystem
    ) -> None:
        self.name = name
        self._filesystem = filesystem

    def filesystem(self) -> FileSystem:
        """Return a new empty filesystem."""
        return self._filesystem()

    def fed(
        self, filesystem: FileSystem, settings: SplitterSettings, checkpoint: str | None = None
    ) -> FedSplitter:
        """Return a splitter that receives its files."""
        kind = _with_offset(self.base_class, settings.data_offset)
        splitter = kind(filesystem, **_common(settings))
        if checkpoint is not None:
            splitter.restore(checkpoint)
        return _Fed(splitter)

    def finding(
        self, filesystem: FileSystem, settings: SplitterSettings, checkpoint: str | None = None
    ) -> FindingSplitter:
        """Return a splitter that finds its files. It has not been started."""
        clock = ManualClock()
        splitter = _with_offset(self.input_class, settings.data_offset)(
            filesystem,
            settings.files,
            windows=self._windows(filesystem, settings),
            recursive=settings.recursive,
            scan_interval=settings.scan_interval,
            file_pattern=settings.file_pattern,
            ignore_pattern=settings.ignore_pattern,
            clock=clock,
            **_common(settings),
        )
        if checkpoint is not None:
            splitter.restore(checkpoint)
        return _Finding(splitter, clock)

    def _windows(self, filesystem: FileSystem, settings: SplitterSettings) -> WindowStore:
        if settings.windows is None:
            return self.noop_class()
        return self.store_class(filesystem, settings.windows, settings.operator_id)


def splitter(options: Mapping[str, str]) -> SplitterBinding:
    """Return the target `splitter`, over files in memory; raise TargetError for any option."""
    check_options("splitter", options, ())
    return LocalSplitterBinding()


def _common(settings: SplitterSettings) -> dict[str, Any]:
    options: dict[str, Any] = {"operator_id": settings.operator_id}
    if settings.block_size is not None:
        options["block_size"] = settings.block_size
    if settings.blocks_threshold is not None:
        options["blocks_threshold"] = settings.blocks_threshold
    return options


def _with_offset(kind: Any, offset: int) -> Any:
    def get_data_offset(self: Any, info: FileInfo, status: FileStatus) -> int:
        return offset

    return type(kind.__name__, (kind,), {"get_data_offset": get_data_offset}) if offset else kind


class _Fed(FedSplitter):
    def __init__(self, splitter: FileSplitterBase) -> None:
        self._splitter = splitter
        self._records: _Records = []
        splitter.files_metadata_output = self._records.append
        splitter.blocks_metadata_output = self._records.append

    def begin_window(self, window_id: int) -> None:
        self._splitter.begin_window(window_id)

    def end_window(self) -> None:
        self._splitter.end_window()

    def taken(self) -> Sequence[FileRecord | BlockRecord]:
        return _empty(self._records)

    def checkpoint(self) -> str:
        return self._splitter.checkpoint()

    def close(self) -> None:
        pass

    def put(self, directory: str | None, relative_path: str) -> None:
        self._splitter.put(FileInfo(directory, relative_path))

    def idle(self) -> None:
        self._splitter.handle_idle_time()


class _Finding(FindingSplitter):
    def __init__(self, splitter: FileSplitterInput, clock: ManualClock) -> None:
        self._splitter = splitter
        self._clock = clock
        self._records: _Records = []
        self._missing: list[MissingInput] = []
        splitter.files_metadata_output = self._records.append
        splitter.blocks_metadata_output = self._records.append
        splitter.notices_output = self._missing.append

    def start(self) -> None:
        self._splitter.start()

    def begin_window(self, window_id: int) -> None:
        self._splitter.begin_window(window_id)

    def emit_tuples(self) -> None:
        self._splitter.emit_tuples()

    def end_window(self) -> None:
        self._splitter.end_window()

    def taken(self) -> Sequence[FileRecord | BlockRecord]:
        return _empty(self._records)

    def checkpoint(self) -> str:
        return self._splitter.checkpoint()

    def committed(self, window_id: int, removed: Sequence[int] = ()) -> None:
        self._splitter.committed(window_id, removed)

    def trigger(self) -> None:
        self._splitter.scanner.trigger()

    def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)

    def settle(self) -> None:
        self._splitter.scanner.settle()

    def missing(self) -> Sequence[str]:
        return [notice.path for notice in self._missing]

    def close(self) -> None:
        self._splitter.close()


def _empty(records: _Records) -> Sequence[FileRecord | BlockRecord]:
    emitted = list(records)
    records.clear()
    return emitted
