"""A plain filesystem in memory that opens files as streams of any class."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
)
from fscontract.contract.api.filesystem import (
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
)

_PREFIX = "fs.option.openfile."
_STANDARD = frozenset(
    f"{_PREFIX}{name}"
    for name in (
        "buffer.size",
        "read.policy",
        "length",
        "split.start",
        "split.end",
        "footer.cache",
    )
)

Open = Callable[[bytes, str], FSDataInputStream]


class Builder(FutureDataInputStreamBuilder[FSDataInputStream]):
    """A builder that knows the standard keys, and takes every option as a hint, also None."""

    def __init__(self, path: str, opens: Callable[[], FSDataInputStream]) -> None:
        self.path = path
        self.opens = opens
        self.mandatory: dict[str, bool] = {}

    def _set(self, key: str, value: Any, mandatory: bool) -> Builder:
        self.mandatory[key] = mandatory
        return self

    def opt(self, key: str, value: str | int | bool) -> Builder:
        return self._set(key, value, False)

    def must(self, key: str, value: str | int | bool) -> Builder:
        return self._set(key, value, True)

    def opt_long(self, key: str, value: int) -> Builder:
        return self._set(key, value, False)

    def must_long(self, key: str, value: int) -> Builder:
        return self._set(key, value, True)

    def opt_double(self, key: str, value: float) -> Builder:
        return self._set(key, value, False)

    def must_double(self, key: str, value: float) -> Builder:
        return self._set(key, value, True)

    def buffer_size(self, size: int) -> Builder:
        return self

    def with_file_status(self, status: FileStatus | None) -> Builder:
        return self

    def build(self) -> Future[FSDataInputStream]:
        unknown = [key for key, must in self.mandatory.items() if must and key not in _STANDARD]
        if unknown:
            raise IllegalArgumentException(f"unknown keys: {unknown}")
        future: Future[FSDataInputStream] = Future()
        try:
            future.set_result(self.opens())
        except Exception as error:
            future.set_exception(error)
        return future


class _File(io.BytesIO):
    """A file that is written; it is stored when it is closed."""

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        super().__init__()
        self._keep = keep

    def close(self) -> None:
        if not self.closed:
            self._keep(self.getvalue())
        super().close()


class PlainFileSystem(FileSystem):
    """Files by path; a directory is there if a file is below it, or it was made."""

    builder = Builder

    def __init__(self, opens: Open) -> None:
        self.files: dict[str, bytes] = {}
        self.directories = {"/"}
        self.opens = opens

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        if path not in self.files:
            raise FileNotFoundException(path, "no such file")
        return self.opens(self.files[path], path)

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        return self.builder(path, lambda: self.open(path))

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        self.mkdirs(path.rpartition("/")[0])

        def keep(data: bytes) -> None:
            self.files[path] = data

        return _File(keep)

    def get_file_status(self, path: str) -> FileStatus:
        path = path.rstrip("/") or "/"
        if path in self.files:
            return FileStatus(path, len(self.files[path]))
        if path in self.directories:
            return FileStatus(path, 0, is_directory=True)
        raise FileNotFoundException(path, "no such file")

    def list_status(self, path: str) -> Iterator[FileStatus]:
        path = path.rstrip("/")
        if path in self.files:
            return iter([self.get_file_status(path)])
        names = sorted({*self.files, *self.directories} - {"/"})
        return iter([self.get_file_status(n) for n in names if n.rpartition("/")[0] == path])

    def mkdirs(self, path: str) -> None:
        while path:
            self.directories.add(path)
            path = path.rpartition("/")[0]

    def delete(self, path: str, recursive: bool = False) -> bool:
        path = path.rstrip("/")
        below = [p for p in (*self.files, *self.directories) if p.startswith(path + "/")]
        if below and not recursive:
            raise PathIOException(path, "not empty")
        for one in (path, *below):
            self.files.pop(one, None)
            self.directories.discard(one)
        return True

    def rename(self, source: str, target: str) -> None:
        self.files[target] = self.files.pop(source)

    def as_fsspec(self) -> Any:
        raise NotImplementedError
