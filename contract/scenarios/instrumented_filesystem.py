"""A filesystem that logs calls, shows scripted statuses, fails calls, and dies at a write."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, NoReturn

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import (
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
)

#: When a simulated crash occurs: before, after or during a write.
BEFORE, AFTER, TORN = "before", "after", "torn"
DEATHS = (BEFORE, AFTER, TORN)


class Killed(BaseException):
    """The simulated process has crashed: further operations have no effect."""


class InstrumentedFileSystem(FileSystem):
    """Delegates to `inner`, logs opens, listings and writes, and simulates faults and crashes.

    A write is a new file, a deletion, or a new directory. At write number `kill_at`, from 1, the
    process crashes, until `revive`. Half of a torn file appears, except for instants,
    properties and definitions of indexes, which stores write atomically.
    """

    def __init__(self, inner: FileSystem) -> None:
        self.inner = inner
        #: The written paths, in order; the number of opens of each path and of listings of each
        #: directory.
        self.writes: list[str] = []
        self.opened: Counter[str] = Counter()
        self.listed: Counter[str] = Counter()
        #: Fields to replace in statuses, by path, and the block size of all statuses.
        self.stated: dict[str, dict[str, Any]] = {}
        self.block_size: int | None = None
        #: Called before a directory is listed (with None) and before each of its children is
        #: returned. It may change files, or raise.
        self.on_list: Callable[[str, str | None], None] | None = None
        #: Called before each write with its number.
        self.on_write: Callable[[int], None] | None = None
        #: Additional children of a directory.
        self.extra_children: Callable[[str], Iterator[FileStatus]] = lambda directory: iter(())
        #: Paths that can't be deleted.
        self.undeletable: set[str] = set()
        self.kill_at: int | None = None
        self.death = BEFORE
        #: Whether a process has crashed.
        self.died = False
        self._dead = False

    def revive(self) -> None:
        """Start another process, which does not crash."""
        self._dead, self.kill_at = False, None

    def clear_log(self) -> None:
        """Clear the log of calls."""
        self.writes.clear()
        self.opened.clear()
        self.listed.clear()

    def _check_alive(self) -> None:
        if self._dead:
            raise Killed

    def _die(self) -> NoReturn:
        self._dead = self.died = True
        raise Killed

    # Reads ------------------------------------------------------------------------------------

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status with the replaced fields."""
        self._check_alive()
        return self._stated(self.inner.get_file_status(path))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """List the children with the replaced fields."""
        self._check_alive()
        self.listed[path] += 1
        if self.on_list is not None:
            self.on_list(path, None)
        return self._children(path, self.inner.list_status(path))

    def _children(self, path: str, children: Iterator[FileStatus]) -> Iterator[FileStatus]:
        for status in children:
            if self._exists_after_hook(path, status.path):
                yield self._stated(status)
        yield from self.extra_children(path)

    def _exists_after_hook(self, directory: str, child: str) -> bool:
        if self.on_list is None:
            return True
        self.on_list(directory, child)
        try:
            self.inner.get_file_status(child)
        except FileNotFoundException:
            return False
        return True

    def _stated(self, status: FileStatus) -> FileStatus:
        fields = dict(self.stated.get(status.path, {}))
        if self.block_size is not None:
            fields["block_size"] = self.block_size
        return replace(status, **fields) if fields else status

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file, and log it."""
        self._check_alive()
        self.opened[path] += 1
        return self.inner.open(path, buffer_size)

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """Open a file with options, and log it."""
        self._check_alive()
        self.opened[path] += 1
        return self.inner.open_file(path)

    # Writes -----------------------------------------------------------------------------------

    @contextmanager
    def _write(self, path: str) -> Iterator[bool]:
        """Log a write, and yield True if the process crashes during it.

        The process also crashes if the write itself fails.
        """
        self._check_alive()
        self.writes.append(path)
        if self.on_write is not None:
            self.on_write(len(self.writes))
        last = self.kill_at == len(self.writes)
        if last and self.death == BEFORE:
            self._die()
        try:
            yield last
        finally:
            if last:
                self._die()

    def publish(self, path: str, content: bytes, overwrite: bool) -> None:
        """Make a complete file visible."""
        with self._write(path) as last:
            torn = last and self.death == TORN
            if torn and not path.endswith((".properties", ".json")) and "/timeline/" not in path:
                content = content[: len(content) // 2]
            with self.inner.create(path, overwrite) as file:
                file.write(content)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Create a file, which appears when it is closed."""
        self._check_alive()
        return _PendingFile(self, path, overwrite)

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents."""
        with self._write(path):
            self.inner.mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; PermissionError if it is undeletable."""
        with self._write(path):
            if path in self.undeletable:
                raise PermissionError(f"not to be deleted: {path}")
            return self.inner.delete(path, recursive)

    def rename(self, source: str, target: str) -> None:
        """Move a path."""
        with self._write(target):
            self.inner.rename(source, target)

    def as_fsspec(self) -> Any:
        """Return the view of `inner` for fsspec."""
        return self.inner.as_fsspec()


class _PendingFile(io.BytesIO):
    """A file that appears when it is closed, unless an exception is raised before."""

    def __init__(self, fs: InstrumentedFileSystem, path: str, overwrite: bool) -> None:
        super().__init__()
        self._fs = fs
        self._path = path
        self._overwrite = overwrite
        self._discarded = False

    def close(self) -> None:
        if self.closed:
            return
        content = self.getvalue()
        super().close()
        if not self._discarded:
            self._fs.publish(self._path, content, self._overwrite)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._discarded = kind is not None
        self.close()

    def __del__(self) -> None:
        self._discarded = True
        super().close()
