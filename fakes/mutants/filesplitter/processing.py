"""Wrong amounts of work in windows."""

from __future__ import annotations

from typing import Any

from fscontract.contract.errors import FileNotFoundException
from fscontract.contract.ports import FileStatus
from fscontract.fakes.mutants.filesplitter.registry import splitter_mutant
from fscontract.pipeline.blocks import FileInfo, FileMetadata
from fscontract.pipeline.splitter.base import FileSplitterBase
from fscontract.pipeline.splitter.input import FileSplitterInput


@splitter_mutant("split.pending-first")
class DropsTheRest(FileSplitterInput):
    """What is left of a file is dropped when another one is there."""

    def process(self) -> None:
        info = self.get_file_info()
        if info is not None:
            self.process_file_info(info)
        super().process()


@splitter_mutant("split.threshold")
class ThresholdByCall(FileSplitterInput):
    """The threshold goes for each call of process()."""

    def process(self) -> None:
        self.block_count = 0
        super().process()


@splitter_mutant("split.threshold-fill")
class OneFileAtATime(FileSplitterInput):
    """A window begins one file at most."""

    def process_file_info(self, info: FileInfo) -> bool:
        super().process_file_info(info)
        return False


@splitter_mutant("split.file-start")
class AnnouncesNextFile(FileSplitterInput):
    """A file is begun when the threshold has been met."""

    def process(self) -> None:
        super().process()
        info = None if self._pending else self.get_file_info()
        if info is not None:
            self.process_file_info(info)


@splitter_mutant("split.uncounted")
class CountsFiles(FileSplitterInput):
    """A file without blocks counts as one."""

    def emit_file(self, file: FileMetadata) -> bool:
        self.block_count += file.number_of_blocks == 0
        return super().emit_file(file)


@splitter_mutant("split.threshold-default")
class NoDefault(FileSplitterInput):
    """There is no limit unless one is configured."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"blocks_threshold": 1 << 31, **settings})


@splitter_mutant("split.checkpoint-in-file")
class ForgetsPending(FileSplitterInput):
    """A checkpoint has no blocks that are left."""

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "pending": None}


@splitter_mutant("split.base-order")
class WaitsForTheEnd(FileSplitterBase):
    """Files are split when the window ends."""

    def put(self, info: FileInfo) -> None:
        self._queue.append(info)

    def end_window(self) -> None:
        self.process()
        super().end_window()


@splitter_mutant("split.base-idle")
class Idle(FileSplitterBase):
    """Nothing is done while no file comes."""

    def handle_idle_time(self) -> None:
        pass


@splitter_mutant("split.base-missing")
class MissingIsEmpty(FileSplitterBase):
    """A file that is not there passes for an empty one."""

    def get_file_status(self, info: FileInfo) -> FileStatus:
        try:
            return super().get_file_status(info)
        except FileNotFoundException:
            return FileStatus(info.path, 0)


@splitter_mutant("split.base-checkpoint")
class ForgetsQueue(FileSplitterBase):
    """A checkpoint has no files that wait."""

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "queue": []}
