"""Splitters that are right: they find and emit files in another order than the kit's own."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator

from fscontract.contract.api.filesystem import FileStatus
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


ALL = tuple(map(_binding, (Backwards, Shuffled, FilesFirst)))
