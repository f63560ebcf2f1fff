"""A filesystem that counts what is done to it, and at whose writes a process can die."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn

from fscontract.contract.api.filesystem import (
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
)

#: How a process dies at a write: before it, after it, or while it writes.
BEFORE, AFTER, TORN = "before", "after", "torn"
DEATHS = (BEFORE, AFTER, TORN)


class Killed(BaseException):
    """The process is dead: nothing that it does has any effect."""


class Stage(FileSystem):
    """Passes everything on to `inner`.

    A write is a file that appears, one that is deleted, or a directory that is made; `writes` has
    their paths in order. At the write number `kill_at`, from 1, the process dies, until `revive`.
    Of a file that is torn, half appears: not of instants and properties, which stores make whole.
    """

    def __init__(self, inner: FileSystem) -> None:
        self.inner = inner
        self.writes: list[str] = []
        self.opened: Counter[str] = Counter()
        self.listed: Counter[str] = Counter()
        self.refused: set[str] = set()
        self.kill_at: int | None = None
        self.death = BEFORE
        #: Called before each write with its number.
        self.on_write: Callable[[int], None] | None = None
        self._dead = False

    def revive(self) -> None:
        """Another process begins, and nothing kills it."""
        self._dead, self.kill_at = False, None

    def forget(self) -> None:
        """Count from 0."""
        self.writes.clear()
        self.opened.clear()
        self.listed.clear()

    def _alive(self) -> None:
        if self._dead:
            raise Killed

    @contextmanager
    def _write(self, path: str) -> Iterator[bool]:
        """Around a write: whether it is the last. The process dies with it, though it fails."""
        self._alive()
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

    def _die(self) -> NoReturn:
        self._dead = True
        raise Killed

    def publish(self, path: str, content: bytes, overwrite: bool) -> None:
        """Let a file appear."""
        with self._write(path) as last:
            torn = last and self.death == TORN
            if torn and not path.endswith(".properties") and "/timeline/" not in path:
                content = content[: len(content) // 2]
            with self.inner.create(path, overwrite) as file:
                file.write(content)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """A file to write, which appears at once when it is closed."""
        self._alive()
        return _Pending(self, path, overwrite)

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents."""
        with self._write(path):
            self.inner.mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; OSError for one that is `refused`."""
        with self._write(path):
            if path in self.refused:
                raise PermissionError(f"not to be deleted: {path}")
            return self.inner.delete(path, recursive)

    def rename(self, source: str, target: str) -> None:
        """Move a path."""
        with self._write(target):
            self.inner.rename(source, target)

    def get_file_status(self, path: str) -> FileStatus:
        """The status of a path."""
        self._alive()
        return self.inner.get_file_status(path)

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """The children of a directory."""
        self._alive()
        self.listed[path] += 1
        return self.inner.list_status(path)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file."""
        self._alive()
        self.opened[path] += 1
        return self.inner.open(path, buffer_size)

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """Open a file with options."""
        self._alive()
        self.opened[path] += 1
        return self.inner.open_file(path)

    def as_fsspec(self) -> Any:
        """The filesystem below, for fsspec."""
        return self.inner.as_fsspec()


class _Pending(io.BytesIO):
    """A file that appears when it is closed, unless something goes wrong before."""

    def __init__(self, stage: Stage, path: str, overwrite: bool) -> None:
        super().__init__()
        self._stage = stage
        self._path = path
        self._overwrite = overwrite
        self._discarded = False

    def close(self) -> None:
        if self.closed:
            return
        content = self.getvalue()
        super().close()
        if not self._discarded:
            self._stage.publish(self._path, content, self._overwrite)

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
