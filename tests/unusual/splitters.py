"""Splitters that are right: they find and emit files in another order than the kit's own."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import TimeBasedDirectoryScanner


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


ALL = (*map(_binding, (Backwards, Shuffled, FilesFirst)), Gaps("Gaps"))
