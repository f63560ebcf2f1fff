"""A filesystem whose listings say what a scenario wants, over one that holds the files."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import (
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
)


class StagedFileSystem(FileSystem):
    """Passes everything on to `inner`, and puts what `stated` says into statuses.

    `opened` are the paths that were opened, `asked` counts listings and statuses by path. Before a
    directory is listed, and before each of its children is given, `on_list` is called with the
    paths; it may change the files, or raise. `more` is listed below a directory in addition.
    """

    def __init__(self, inner: FileSystem) -> None:
        self.inner = inner
        self.stated: dict[str, dict[str, Any]] = {}
        self.opened: list[str] = []
        self.asked: Counter[str] = Counter()
        self.on_list: Callable[[str, str | None], None] = lambda directory, child: None
        self.more: Callable[[str], Iterator[FileStatus]] = lambda directory: iter(())
        self.block_size: int | None = None

    def _status(self, status: FileStatus) -> FileStatus:
        said = dict(self.stated.get(status.path, {}))
        if self.block_size is not None:
            said["block_size"] = self.block_size
        return replace(status, **said)

    def get_file_status(self, path: str) -> FileStatus:
        """The status, as the scenario wants it."""
        self.asked[path] += 1
        return self._status(self.inner.get_file_status(path))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """The children, as the scenario wants them; one that vanishes meanwhile is left out."""
        self.asked[f"{path}/"] += 1
        self.on_list(path, None)
        for status in self.inner.list_status(path):
            self.on_list(path, status.path)
            try:
                self.inner.get_file_status(status.path)
            except FileNotFoundException:
                continue
            yield self._status(status)
        yield from self.more(path)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file, and keep that it was."""
        self.opened.append(path)
        return self.inner.open(path, buffer_size)

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """Open a file with options, and keep that it was."""
        self.opened.append(path)
        return self.inner.open_file(path)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """A file to write."""
        return self.inner.create(path, overwrite)

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents."""
        self.inner.mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path."""
        return self.inner.delete(path, recursive)

    def rename(self, source: str, target: str) -> None:
        """Move a path."""
        self.inner.rename(source, target)

    def as_fsspec(self) -> Any:
        """The filesystem below, for fsspec."""
        return self.inner.as_fsspec()
