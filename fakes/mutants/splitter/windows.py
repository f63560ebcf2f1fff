"""Windows that are not repeated exactly, and checkpoints that lack something."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.fakes.mutants.registry import mutant, right
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


class _Altered(FSWindowStore):
    """Returns windows that differ from the saved ones."""

    def altered(self, taken: TakenFile) -> TakenFile | None:
        raise NotImplementedError

    def retrieve(self, window_id: int) -> WindowData | None:
        data = super().retrieve(window_id)
        if data is None:
            return None
        files = [self.altered(taken) for taken in data.files]
        return replace(data, files=tuple(taken for taken in files if taken is not None))


@mutant("split.replay-same", FSWindowStore.retrieve)
def other_order(self: FSWindowStore, window_id: int) -> WindowData | None:
    """The files of a repeated window have another order."""
    data = right(self).retrieve(window_id)
    return None if data is None else replace(data, files=data.files[::-1])


@mutant("split.replay-changed", _Altered.altered)
def looks_again(self: _Altered, taken: TakenFile) -> TakenFile:
    """A repeated window reads the statuses of the files again, as in Java."""
    if taken.file.is_directory:
        return taken
    try:
        status = self.filesystem.get_file_status(taken.file.path)
    except FileNotFoundException:
        return taken
    count = -(-status.length // taken.file.block_size)
    return replace(
        taken,
        file=replace(taken.file, file_length=status.length, number_of_blocks=count),
    )


@mutant("split.replay-gone", _Altered.altered)
def leaves_out_deleted(self: _Altered, taken: TakenFile) -> TakenFile | None:
    """A repeated window lacks files that have been deleted."""
    try:
        self.filesystem.get_file_status(taken.file.path)
    except FileNotFoundException:
        return None
    return taken


@mutant("split.replay-directory", _Altered.altered)
def directory_is_file(self: _Altered, taken: TakenFile) -> TakenFile:
    """A repeated directory is a file, as in Java."""
    return replace(taken, file=replace(taken.file, is_directory=False))


@mutant("split.replay-settings", FileSplitterInput._emit_blocks)
def present_threshold(self: FileSplitterInput, threshold: int) -> bool:
    """Repeated windows use the current threshold, as in Java."""
    return right(self)._emit_blocks(self.blocks_threshold)


@mutant("split.replay-alone", FileSplitterInput.begin_window)
def scans_meanwhile(self: FileSplitterInput, window_id: int) -> None:
    """The scanner starts with the first repeated window."""
    self.scanner.start()
    right(self).begin_window(window_id)


@mutant("split.replay-first-live", FileSplitterInput.end_window)
def rests_first(self: FileSplitterInput) -> None:
    """After the repeated windows the scanner waits for its interval."""
    if self._replaying:
        assert isinstance(self.scanner, TimeBasedDirectoryScanner)
        self.scanner._next_scan = self.clock.now() + self.scanner.scan_interval
    right(self).end_window()


@mutant("split.window-empty", FSWindowStore.save)
def skips_empty(self: FSWindowStore, data: WindowData) -> None:
    """Empty windows are not saved."""
    if data.files or data.blocks:
        right(self).save(data)


@mutant("split.window-once", FSWindowStore.retrieve)
def gives_once(self: FSWindowStore, window_id: int) -> WindowData | None:
    """A repeated window is saved again, without its files."""
    data = right(self).retrieve(window_id)
    if data is not None:
        largest, self._largest = self._largest, None
        self.filesystem.delete(self._path(window_id))
        self.save(replace(data, files=()))
        self._largest = largest
    return data


@mutant("split.window-torn", FSWindowStore._last_whole)
def trusts_all(self: FSWindowStore) -> int | None:
    """Every stored window counts as complete."""
    return max(
        (
            number
            for number, _ in self._numbered(self._operator_directory(self.operator_id), ".jsonl")
        ),
        default=None,
    )


@mutant("split.window-purge", FSWindowStore.committed)
def keeps_all(self: FSWindowStore, window_id: int, removed: Collection[int] = ()) -> None:
    """Committed windows are kept."""


@mutant("split.window-purge", FSWindowStore.committed)
def purges_by_text(self: FSWindowStore, window_id: int, removed: Collection[int] = ()) -> None:
    """The numbers of windows are compared as text."""
    for who in {self.operator_id, *removed}:
        for number, path in self._numbered(self._operator_directory(who), ".jsonl"):
            if str(number) <= str(window_id):
                self.filesystem.delete(path)


@mutant("split.window-partitions", FSWindowStore.committed)
def purges_by_prefix(self: FSWindowStore, window_id: int, removed: Collection[int] = ()) -> None:
    """Windows of operators whose number begins with that of a removed one are deleted, too."""
    gone = [who for who in self.operators() if str(who).startswith((*map(str, removed), "none"))]
    right(self).committed(window_id, gone)


@mutant("split.replay-same", FSWindowStore._path)
def one_digit(self: FSWindowStore, window_id: int, operator_id: int | None = None) -> str:
    """The file of a window has the last digit of its number."""
    return right(self)._path(window_id % 10, operator_id)


@mutant("split.window-partitions", FSWindowStore._operator_directory)
def one_for_all_operators(self: FSWindowStore, operator_id: int) -> str:
    """All operators share the same windows."""
    return right(self)._operator_directory(0)


@mutant("split.noop")
class KeepsWindowsAnyway(FileSplitterInput):
    """Windows are saved although the setting is off."""

    def __init__(self, filesystem: Any, files: Any, *, windows: Any, **settings: Any) -> None:
        if isinstance(windows, NoopWindowStore):
            windows = FSWindowStore(filesystem, "/kept")
        super().__init__(filesystem, files, windows=windows, **settings)


@mutant("split.checkpoint-between", FileSplitterInput.checkpoint)
def any_time(self: FileSplitterInput) -> str:
    """A checkpoint can be taken during a window."""
    return write_checkpoint(self._state())


@mutant("split.ids-unique", FileSplitterInput._state)
def counts_emitted_ids(self: FileSplitterInput) -> dict[str, Any]:
    """A checkpoint counts the blocks that were emitted, and not the others of their file."""
    state, pending = right(self)._state(), self._pending
    left = 0 if pending is None else pending.file.number_of_blocks - pending.emitted
    return {**state, "sequence": state["sequence"] - left}


@mutant("split.restored-references", FileSplitterInput._state)
def forgets_unfinished(self: FileSplitterInput) -> dict[str, Any]:
    """The known files in a checkpoint lack the one whose blocks are being emitted."""
    state = right(self)._state()
    current = None if self._pending is None else self._pending.file.path
    known = {
        root: {path: reference for path, reference in files.items() if path != current}
        for root, files in state["references"].items()
    }
    return {**state, "references": known}


@mutant("split.restored-references", FileSplitterInput._state)
def forgets_known(self: FileSplitterInput) -> dict[str, Any]:
    """A checkpoint lacks the known files, as in Java before 3.4."""
    return {**right(self)._state(), "references": {}}


@mutant("split.replayed-references", FileSplitterInput._replay)
def forgets_repeated(self: FileSplitterInput, window_id: int) -> None:
    """The scanner does not know the files of repeated windows."""
    right(self)._replay(window_id)
    self.scanner.references = ReferenceTimes()


@mutant("split.unprocessed-again", TimeBasedDirectoryScanner._hand_over)
def known_when_found(self: TimeBasedDirectoryScanner, info: ScannedFileInfo) -> None:
    """A file counts as handed over when it is found."""
    right(self)._hand_over(info)
    self.references.set(info.input, info.status.path, info.reference)
