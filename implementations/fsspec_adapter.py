"""fsspec views of the filesystems, for pandas, PyArrow, zipfile and other libraries."""

from __future__ import annotations

import io
from datetime import datetime, timezone
from posixpath import basename
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.utils import read_block

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.implementations.filesystem_base import PendingFile
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem


class StreamReader(io.BufferedReader):
    """A buffered file over a stream; `size` is the file's length in bytes."""

    def __init__(self, raw: io.RawIOBase, size: int, buffer_size: int) -> None:
        super().__init__(raw, buffer_size)
        self.size = size
        self._buffer_size = buffer_size

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to `size` bytes, or the rest for None or a negative size.

        A read larger than the buffer is passed to the stream as a whole.
        """
        if size is None or not self._buffer_size < size <= self.size - self.tell():
            return super().read(size)
        data = bytearray(size)
        count = self.readinto(data)
        return bytes(data if count == size else data[:count])


class _View(AbstractFileSystem):  # type: ignore[misc] # fsspec has no types
    """fsspec's methods, implemented by calls of the filesystem `fs`."""

    cachable = False  # instances may wrap filesystems with different roots or stores
    root_marker = "/"
    fs: FileSystem

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        text = str(path)
        text = text.split("://", 1)[1] if text.startswith(f"{cls.protocol}://") else text
        return "/" + text.strip("/")

    def _open(
        self, path: str, mode: str = "rb", block_size: Any = None, **options: Any
    ) -> io.BufferedIOBase:
        if mode == "rb":
            return self._reader(path, block_size)
        if mode not in ("wb", "xb"):
            raise ValueError(f"invalid mode: {mode!r}; must be 'rb', 'wb' or 'xb'")
        if mode == "xb" and self.exists(path):
            raise FileExistsError(path)
        file = self.fs.create(path, overwrite=mode == "wb")
        if isinstance(file, PendingFile):
            file.autocommit = options.get("autocommit", True)
        return file

    def _reader(self, path: str, block_size: Any) -> io.BufferedIOBase:
        stream = self.fs.open(path)
        size = stream.available()
        buffer_size = block_size if isinstance(block_size, int) and block_size > 0 else 1 << 16
        return StreamReader(stream.as_file(), size, buffer_size)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        """Return the bytes of a file, or of a slice of them; the base class fails for some."""
        with self.open(path, "rb", **options) as file:
            low, high, _ = slice(start, end).indices(file.size)
            file.seek(low)
            data: bytes = file.read(max(high - low, 0))
            return data

    def read_block(
        self, fn: str, offset: int, length: int | None, delimiter: bytes | None = None
    ) -> bytes:
        """Return a block of a file, empty past its end, where the base class fails."""
        with self.open(fn, "rb") as file:
            left = max(file.size - offset, 0)
            length = left if length is None else min(length, left)
            return bytes(read_block(file, offset, length, delimiter))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the entry of one path; raise FileNotFoundError."""
        return _entry(self.fs.get_file_status(self._strip_protocol(path)))

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """Return the entries of a directory, or of the file itself: names, or dictionaries."""
        entries = [_entry(s) for s in self.fs.list_status(self._strip_protocol(path))]
        return entries if detail else [entry["name"] for entry in entries]

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Create a directory; raise FileExistsError."""
        path = self._strip_protocol(path)
        if self.exists(path):
            raise FileExistsError(path)
        if not create_parents:
            self.fs.get_file_status(self._parent(path))
        self.fs.mkdirs(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Create a directory and its parents; raise FileExistsError unless `exist_ok`."""
        if not exist_ok or not self.isdir(path):
            self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        self._delete(self._strip_protocol(path), recursive=False)

    def rm_file(self, path: str) -> None:
        """Remove a file; raise FileNotFoundError."""
        self._delete(self._strip_protocol(path), recursive=False)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove files, and directories if `recursive`."""
        if maxdepth is not None:
            super().rm(path, recursive=recursive, maxdepth=maxdepth)
            return
        for one in self.expand_path(path, recursive=False):
            if self.isdir(one) and not recursive:
                raise IsADirectoryError(one)
            self._delete(one, recursive)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy one file, or create a directory for one."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.isdir(source):
            self.fs.mkdirs(target)
            return
        with self._open(source) as reader, self._open(target, "wb") as writer:
            while chunk := reader.read(1 << 20):
                writer.write(chunk)

    def mv(
        self,
        path1: str,
        path2: str,
        recursive: bool = False,
        maxdepth: int | None = None,
        **_: Any,
    ) -> None:
        """Move a file or directory, into `path2` if that is a directory."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if source == target:
            return
        if self.isdir(target):
            target = f"{target.rstrip('/')}/{basename(source)}"
        if self.isfile(target) and self.exists(source):
            self.fs.delete(target)
        self.fs.rename(source, target)

    def created(self, path: str) -> datetime:
        """Return the creation time of this version of the file, in UTC."""
        return self.modified(path)

    def modified(self, path: str) -> datetime:
        """Return the modification time of the file, in UTC."""
        return datetime.fromtimestamp(self.info(path)["mtime"], tz=timezone.utc)

    def _delete(self, path: str, recursive: bool) -> None:
        if not self.fs.delete(path, recursive):
            raise FileNotFoundError(path)


class MemoryFsspec(_View):
    """View of a MemoryFileSystem: `fs`, or one shared by the whole process."""

    protocol = "fscontract-memory"
    shared = MemoryFileSystem()

    def __init__(self, fs: MemoryFileSystem | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.fs = self.shared if fs is None else fs


class LocalFsspec(_View):
    """View of a LocalFileSystem: `fs`, or one with this `root` and `strategy`."""

    protocol = "fscontract-local"

    def __init__(
        self,
        fs: LocalFileSystem | None = None,
        root: str = "/",
        strategy: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.fs = LocalFileSystem(root, strategy) if fs is None else fs


def _entry(status: FileStatus) -> dict[str, Any]:
    return {
        "name": status.path,
        "size": status.length,
        "type": "directory" if status.is_directory else "file",
        "mtime": status.modification_time,
        "created": status.modification_time,
        "ETag": status.etag,
    }
