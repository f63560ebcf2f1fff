"""Splitters that are right: they find, emit and store files in other ways than the kit's own."""

from __future__ import annotations

import pickle
import random
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from zlib import crc32

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.blocks import FileBlockMetadata, FileInfo, FileMetadata
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import (
    ScannedFileInfo,
    TimeBasedDirectoryScanner,
    _below,
)
from fscontract.pipeline.splitter.windows import FSWindowStore, WindowData, read_file


class Backwards(TimeBasedDirectoryScanner):
    """Lists directories from the last entry to the first."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        yield from reversed([*super()._children(path)])


class Shuffled(TimeBasedDirectoryScanner):
    """Lists directories in another order at each scan."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        children = [*super()._children(path)]
        random.Random(len(path)).shuffle(children)
        yield from children


class FilesFirst(TimeBasedDirectoryScanner):
    """Lists the files of a directory before its sub-directories."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        waiting: deque[FileStatus] = deque()
        for child in super()._children(path):
            if child.is_directory:
                waiting.append(child)
            else:
                yield child
        yield from waiting


class DeepestFirst(TimeBasedDirectoryScanner):
    """Lists everything below an input, level by level, and then finds the deepest files first."""

    def _scan_directory(self, input_path: str, root: FileStatus) -> None:
        found: list[FileStatus] = []
        level = [root]
        while level:
            children = [child for status in level for child in self._listed(status.path)]
            found += children
            level = [c for c in children if c.is_directory and self.recursive]
        for status in reversed(found):
            if status.is_directory or self.accepts(status):
                self._hand_over(_below(input_path, root.path, status))
        if not found and self._is_there(root.path):
            self._hand_over(ScannedFileInfo(None, input_path, input_path, root))

    def _listed(self, path: str) -> list[FileStatus]:
        try:
            return list(self.filesystem.list_status(path))
        except FileNotFoundError:
            return []


class LastFirst(TimeBasedDirectoryScanner):
    """Splits the file first that was found last."""

    def take(self) -> ScannedFileInfo | None:
        with self._changed:
            self._waiting.rotate(1)
        return super().take()


def _binding(scanner: type[TimeBasedDirectoryScanner]) -> LocalSplitterBinding:
    class Splitter(FileSplitterInput):
        scanner_class = scanner

    class Binding(LocalSplitterBinding):
        input_class = Splitter

    return Binding(scanner.__name__)


def _spread(number: int) -> int:
    """Return a block id with a gap before the next one; that of no block is unchanged."""
    return number + 6 * (number & 0xFFFFFFFF) if number >= 0 else number


class _FileWithGaps:
    """The metadata of a file, with gaps between the ids of its blocks."""

    def __init__(self, file: FileMetadata) -> None:
        self._file = file
        first = _spread(file.first_block_id)
        self.block_ids = range(first, first + 7 * file.number_of_blocks, 7)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _with_gaps(taken: Callable[[], Sequence[Any]]) -> Callable[[], Sequence[Any]]:
    def records() -> Sequence[Any]:
        return [
            replace(r, block_id=_spread(r.block_id), previous_block_id=_spread(r.previous_block_id))
            if isinstance(r, FileBlockMetadata)
            else _FileWithGaps(r)
            for r in taken()
        ]

    return records


class Gaps(LocalSplitterBinding):
    """The ids of consecutive blocks are not consecutive."""

    def fed(self, *arguments: Any) -> Any:
        splitter: Any = super().fed(*arguments)
        splitter.taken = _with_gaps(splitter.taken)
        return splitter

    def finding(self, *arguments: Any) -> Any:
        splitter: Any = super().finding(*arguments)
        splitter.taken = _with_gaps(splitter.taken)
        return splitter


class _RoundsTimes(FileSplitterInput):
    """Rounds the times of files up to milliseconds."""

    def build_file_metadata(self, info: FileInfo) -> FileMetadata:
        file = super().build_file_metadata(info)
        time = file.modification_time
        return replace(file, modification_time=None if time is None else time + 1)


class RoundsTimes(LocalSplitterBinding):
    """Times of files are the next millisecond."""

    input_class = _RoundsTimes


class _OneFile(FSWindowStore):
    """Keeps the windows of an operator in one file, which is written anew with each window."""

    def _file(self, operator_id: int) -> str:
        return f"{self.directory}/{operator_id}"

    def _windows(self, operator_id: int) -> dict[int, WindowData]:
        windows: dict[int, WindowData] = {}
        with suppress(FileNotFoundError):
            for line in read_file(self.filesystem, self._file(operator_id)).splitlines():
                check, _, text = line.partition(b" ")
                if check != b"%d" % crc32(text):
                    break
                window = pickle.loads(b64decode(text))
                windows[window.window_id] = window
        return windows

    def _write(self, operator_id: int, windows: Mapping[int, WindowData]) -> None:
        texts = [b64encode(pickle.dumps(window)) for window in windows.values()]
        with self.filesystem.create(self._file(operator_id)) as file:
            file.write(b"".join(b"%d %s\n" % (crc32(text), text) for text in texts))

    def _last_whole(self) -> int | None:
        return max(self._windows(self.operator_id), default=None)

    def save(self, data: WindowData) -> None:
        windows = {**self._windows(self.operator_id), data.window_id: data}
        self._write(self.operator_id, windows)
        self._largest = data.window_id

    def retrieve(self, window_id: int) -> WindowData | None:
        return self._windows(self.operator_id).get(window_id)

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        for number in (self.operator_id, *removed):
            windows = self._windows(number)
            left = {key: window for key, window in windows.items() if key > window_id}
            if windows and not left and number in removed:
                self.filesystem.delete(self._file(number))
            elif windows:
                self._write(number, left)


class OneFile(LocalSplitterBinding):
    """The windows of an operator are one file."""

    store_class = _OneFile


class _ClosesOnce:
    """A splitter that may be closed once."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._splitter, name)

    def close(self) -> None:
        self._splitter.close()
        del self._splitter


class ClosesOnce(LocalSplitterBinding):
    """A splitter that was closed can't be used any more."""

    def finding(self, *arguments: Any) -> Any:
        return _ClosesOnce(super().finding(*arguments))


class _Number(int):
    """An integer of another class, such as that of an array library."""

    def __repr__(self) -> str:
        return f"number({int(self)})"


class _OtherRecord:
    """A record whose numbers are of another class."""

    def __init__(self, record: Any) -> None:
        self._record = record

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._record, name)
        return _Number(value) if type(value) is int else value


def _other_classes(taken: Callable[[], Sequence[Any]]) -> Callable[[], Iterator[Any]]:
    def records() -> Iterator[Any]:
        yield from map(_OtherRecord, taken())

    return records


class OtherClasses(LocalSplitterBinding):
    """Records are yielded lazily, and their numbers have another class."""

    def fed(self, *arguments: Any) -> Any:
        splitter: Any = super().fed(*arguments)
        splitter.taken = _other_classes(splitter.taken)
        return splitter

    def finding(self, *arguments: Any) -> Any:
        splitter: Any = super().finding(*arguments)
        splitter.taken = _other_classes(splitter.taken)
        return splitter


class OwnError(LocalSplitterBinding):
    """A missing file raises another error."""

    def fed(self, *arguments: Any) -> Any:
        splitter: Any = super().fed(*arguments)
        put = splitter.put

        def own(directory: str | None, relative_path: str) -> None:
            try:
                put(directory, relative_path)
            except FileNotFoundError as error:
                raise LookupError(str(error)) from None

        splitter.put = own
        return splitter


ALL = (
    *map(_binding, (Backwards, Shuffled, FilesFirst, DeepestFirst, LastFirst)),
    *(kind(kind.__name__) for kind in (Gaps, RoundsTimes, OneFile, ClosesOnce, OtherClasses)),
    OwnError("OwnError"),
)
