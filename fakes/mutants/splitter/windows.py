"""Windows that are not repeated as they were, and checkpoints that lack something."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.fakes.mutants.splitter.registry import splitter_mutant
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import (
    ReferenceTimes,
    ScannedFileInfo,
    TimeBasedDirectoryScanner,
)
from fscontract.pipeline.splitter.splitter import write_checkpoint
from fscontract.pipeline.splitter.windows import (
    FSWindowStore,
    NoopWindowStore,
    TakenFile,
    WindowData,
)


class _Retold(FSWindowStore):
    """Windows come back otherwise than they were saved."""

    def retold(self, taken: TakenFile) -> TakenFile | None:
        raise NotImplementedError

    def retrieve(self, window_id: int) -> WindowData | None:
        data = super().retrieve(window_id)
        if data is None:
            return None
        files = [self.retold(taken) for taken in data.files]
        return replace(data, files=tuple(taken for taken in files if taken is not None))


@splitter_mutant("split.replay-same")
class OtherOrder(FSWindowStore):
    """The files of a window come again in another order."""

    def retrieve(self, window_id: int) -> WindowData | None:
        data = super().retrieve(window_id)
        return None if data is None else replace(data, files=data.files[::-1])


@splitter_mutant("split.replay-changed")
class LooksAgain(_Retold):
    """A repeated window asks for the files again, as in Java."""

    def retold(self, taken: TakenFile) -> TakenFile:
        try:
            status = self.filesystem.get_file_status(taken.file.path)
        except FileNotFoundException:
            return taken
        count = -(-status.length // taken.file.block_size)
        return replace(
            taken,
            file=replace(taken.file, file_length=status.length, number_of_blocks=count),
        )


@splitter_mutant("split.replay-gone")
class LeavesOutDeleted(_Retold):
    """A repeated window lacks files that have been deleted."""

    def retold(self, taken: TakenFile) -> TakenFile | None:
        try:
            self.filesystem.get_file_status(taken.file.path)
        except FileNotFoundException:
            return None
        return taken


@splitter_mutant("split.replay-directory")
class DirectoryIsFile(_Retold):
    """A directory comes again as a file, as in Java."""

    def retold(self, taken: TakenFile) -> TakenFile:
        return replace(taken, file=replace(taken.file, is_directory=False))


@splitter_mutant("split.replay-settings")
class PresentThreshold(FileSplitterInput):
    """Repeated windows go by the present threshold, as in Java."""

    def _emit_blocks(self, threshold: int) -> bool:
        return super()._emit_blocks(self.blocks_threshold)


@splitter_mutant("split.replay-alone")
class ScansMeanwhile(FileSplitterInput):
    """The scanner starts with the first repeated window."""

    def begin_window(self, window_id: int) -> None:
        self.scanner.start()
        super().begin_window(window_id)


@splitter_mutant("split.replay-first-live")
class RestsFirst(FileSplitterInput):
    """Behind the repeated windows the scanner waits for its interval."""

    def end_window(self) -> None:
        if self._replaying:
            self.scanner._next_scan = self.clock.now() + self.scanner.scan_interval
        super().end_window()


@splitter_mutant("split.window-empty")
class SkipsEmpty(FSWindowStore):
    """Windows that emitted nothing are not kept."""

    def save(self, data: WindowData) -> None:
        if data.files or data.blocks:
            super().save(data)


@splitter_mutant("split.window-once")
class GivesOnce(FSWindowStore):
    """A window that is repeated is written anew, without its files."""

    def retrieve(self, window_id: int) -> WindowData | None:
        data = super().retrieve(window_id)
        if data is not None:
            largest, self._largest = self._largest, None
            self.filesystem.delete(self._path(window_id))
            self.save(replace(data, files=()))
            self._largest = largest
        return data


@splitter_mutant("split.window-torn")
class TrustsAll(FSWindowStore):
    """Every window that is there counts as complete."""

    def _last_whole(self) -> int | None:
        return max(
            (
                number
                for number, _ in self._numbered(
                    self._operator_directory(self.operator_id), ".jsonl"
                )
            ),
            default=None,
        )


@splitter_mutant("split.window-purge")
class KeepsAll(FSWindowStore):
    """Committed windows are kept."""

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        pass


@splitter_mutant("split.window-partitions")
class OneForAllOperators(FSWindowStore):
    """All operators have the same windows."""

    def _operator_directory(self, operator_id: int) -> str:
        return super()._operator_directory(0)


@splitter_mutant("split.noop")
class KeepsWindowsAnyway(FileSplitterInput):
    """Windows are kept in spite of the setting."""

    def __init__(self, filesystem: Any, files: Any, *, windows: Any, **settings: Any) -> None:
        if isinstance(windows, NoopWindowStore):
            windows = FSWindowStore(filesystem, "/kept")
        super().__init__(filesystem, files, windows=windows, **settings)


@splitter_mutant("split.checkpoint-between")
class AnyTime(FileSplitterInput):
    """A checkpoint can be taken inside of a window."""

    def checkpoint(self) -> str:
        return write_checkpoint(self._state())


@splitter_mutant("split.restored-references")
class ForgetsKnown(FileSplitterInput):
    """A checkpoint has nothing of what is known of files, as in Java before 3.4."""

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "references": {}}


@splitter_mutant("split.replayed-references")
class ForgetsRepeated(FileSplitterInput):
    """Files of repeated windows are not known to the scanner."""

    def _replay(self, window_id: int) -> None:
        super()._replay(window_id)
        self.scanner.references = ReferenceTimes()


@splitter_mutant("split.unprocessed-again")
class KnownWhenFound(TimeBasedDirectoryScanner):
    """A file counts as handed over when it is found."""

    def _hand_over(self, info: ScannedFileInfo) -> None:
        super()._hand_over(info)
        self.references.set(info.input, info.status.path, info.reference)
