"""Correct fsspec filesystems, from which mutants derive."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any
from weakref import WeakValueDictionary, finalize

from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem

#: Filesystems by name, as which they are pickled: mutants are classes without a module.
_NAMED: WeakValueDictionary[str, RightFilesystem] = WeakValueDictionary()


def named(name: str) -> RightFilesystem:
    """Return the filesystem of this name."""
    return _NAMED[name]


def entries_of(files: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    """Return what `ls` returns of a directory, or of a file, of these files."""
    if name in files:
        return [{"name": name, "size": len(files[name]), "type": "file"}]
    start = f"{name}/"
    below = {one.removeprefix(start).partition("/")[0] for one in files if one.startswith(start)}
    entries = []
    for path in sorted(f"{start}{one}" for one in below):
        kind = "file" if path in files else "directory"
        entries.append({"name": path, "size": len(files.get(path, b"")), "type": kind})
    return entries


class RightFile(io.BytesIO):
    """A file that was opened for reading."""

    def writable(self) -> bool:
        """Return False."""
        return False

    def write(self, data: Any) -> int:
        """Raise UnsupportedOperation."""
        raise io.UnsupportedOperation("not writable")

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move the position; raise ValueError before the start, where BytesIO clamps."""
        if whence == io.SEEK_CUR and self.tell() + offset < 0:
            raise ValueError(f"negative position {self.tell() + offset}")
        return super().seek(offset, whence)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        return super().read(size)


class RightFilesystem(AbstractFileSystem):  # type: ignore[misc]
    """A filesystem in memory, with other methods where those of fsspec have bugs."""

    protocol = "right"
    cachable = False

    def __init__(self, file_class: type[RightFile] = RightFile, **options: Any) -> None:
        super().__init__(**options)
        self.file_class = file_class
        self.files: dict[str, bytes] = {}
        self.name = f"{type(self).__name__}-{id(self)}"
        _NAMED[self.name] = self

    def __reduce__(self) -> Any:
        return named, (self.name,)

    def content(self, path: str) -> bytes:
        """Return the bytes of a file; raise FileNotFoundError."""
        name = self._strip_protocol(path)
        if name not in self.files:
            raise FileNotFoundError(name)
        return self.files[name]

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        """Write a file."""
        self.files[self._strip_protocol(path)] = bytes(value)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove a file, or all files of a directory."""
        name = self._strip_protocol(path)
        for found in [one for one in self.files if one == name or one.startswith(f"{name}/")]:
            del self.files[found]

    def rm_file(self, path: str) -> None:
        """Remove a file."""
        del self.files[self._strip_protocol(path)]

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing: there are no directories without files."""

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        """List the entries of a directory, or the file at the path."""
        name = self._strip_protocol(path)
        found = entries_of(self.files, name)
        if not found:
            raise FileNotFoundError(name)
        return found if detail else [entry["name"] for entry in found]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Return name, size and type."""
        name = self._strip_protocol(path)
        if name not in self.files and any(one.startswith(f"{name}/") for one in self.files):
            return {"name": name, "size": 0, "type": "directory"}
        return {"name": name, "size": len(self.content(name)), "type": "file"}

    def _open(self, path: str, mode: str = "rb", **options: Any) -> RightFile:
        return self.file_class(self.content(path))

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Open a file for reading."""
        return super().open(path, mode, **options)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        """Return a slice of the file."""
        return self.content(path)[start:end]

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **options: Any,
    ) -> list[Any]:
        """Return the bytes of ranges."""
        return list(super().cat_ranges(paths, starts, ends, max_gap, on_error))

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        """Return the bytes of one file, or of several by their paths."""
        return super().cat(path, recursive, on_error)

    def read_block(
        self, fn: str, offset: int, length: int | None, delimiter: bytes | None = None
    ) -> bytes:
        """Return a block, or one from a delimiter to another."""
        data = self.content(fn)
        end = len(data) if length is None else min(offset + length, len(data))
        if delimiter:
            offset = 0 if offset == 0 else self.boundary(data, offset, delimiter)
            end = end if end in (0, len(data)) else self.boundary(data, end, delimiter)
        return data[offset:end]

    def boundary(self, data: bytes, at: int, delimiter: bytes) -> int:
        """Return the end of the first delimiter from an offset."""
        found = data.find(delimiter, at)
        return len(data) if found < 0 else found + len(delimiter)

    def head(self, path: str, size: int = 1024) -> bytes:
        """Return the first bytes."""
        return self.content(path)[:size]

    def tail(self, path: str, size: int = 1024) -> bytes:
        """Return the last bytes."""
        data = self.content(path)
        return data[max(len(data) - size, 0) :]

    def get(self, rpath: Any, lpath: Any, recursive: bool = False, **options: Any) -> None:
        """Copy files to local paths."""
        super().get(rpath, lpath, recursive, **options)

    def get_file(self, rpath: str, lpath: str, **options: Any) -> None:
        """Copy a file to a local path, or make a local directory for one."""
        if self.isdir(rpath):
            os.makedirs(lpath, exist_ok=True)
            return
        data = self.content(rpath)
        os.makedirs(os.path.dirname(lpath), exist_ok=True)
        with open(lpath, "wb") as file:
            file.write(data)

    def size(self, path: str) -> int | None:
        """Return the number of bytes."""
        return len(self.content(path))

    def sizes(self, paths: Sequence[str]) -> list[int | None]:
        """Return the number of bytes of each file."""
        return [self.size(path) for path in paths]

    def checksum(self, path: str) -> int:
        """Return a number that depends on the bytes."""
        return hash(self.content(path))

    def ukey(self, path: str) -> str:
        """Return a text that depends on the bytes."""
        return str(self.checksum(path))

    def created(self, path: str) -> datetime:
        """Return a time, which depends on the size."""
        return datetime.fromtimestamp(len(self.content(path)), timezone.utc)

    modified = created

    def exists(self, path: str, **options: Any) -> bool:
        """Return whether there is a file, or a directory."""
        return bool(super().exists(path, **options))

    def isfile(self, path: str) -> bool:
        """Return whether there is a file."""
        return bool(super().isfile(path))

    def isdir(self, path: str) -> bool:
        """Return whether there is a directory."""
        return bool(super().isdir(path))


class RightDisk(LocalFileSystem):  # type: ignore[misc]
    """A filesystem on disk, which other processes see, too."""

    cachable = False

    def __reduce__(self) -> Any:
        return RightDisk, ()

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        """Return a slice of the file."""
        with self.open(path) as file:
            return bytes(file.read())[start:end]


class RightAsyncFile:
    """A stream of `open_async`."""

    def __init__(self, data: bytes) -> None:
        self.file = RightFile(data)

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        return self.file.seek(at, whence)

    async def read(self, length: int = -1) -> bytes:
        """Return the next bytes."""
        return self.file.read(length)

    async def close(self) -> None:
        """Close the stream."""
        self.file.close()


class RightAsyncFilesystem(AsyncFileSystem):  # type: ignore[misc]
    """An asynchronous filesystem in memory; instances with the same `files` share them."""

    protocol = "right-async"
    cachable = False

    def __init__(self, files: dict[str, bytes] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.files: dict[str, bytes] = {} if files is None else files

    def content(self, path: str) -> bytes:
        """Return the bytes of a file; raise FileNotFoundError."""
        name = self._strip_protocol(path)
        if name not in self.files:
            raise FileNotFoundError(name)
        return self.files[name]

    def _open(self, path: str, mode: str = "rb", **options: Any) -> RightFile:
        return RightFile(self.content(path))

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing: there are no directories without files."""

    async def _pipe_file(
        self, path: str, value: bytes, mode: str = "overwrite", **options: Any
    ) -> None:
        self.files[self._strip_protocol(path)] = bytes(value)

    async def _rm_file(self, path: str, **options: Any) -> None:
        self.files.pop(self._strip_protocol(path), None)

    async def _ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        found = entries_of(self.files, self._strip_protocol(path))
        return found if detail else [entry["name"] for entry in found]

    async def _info(self, path: str, **options: Any) -> dict[str, Any]:
        name = self._strip_protocol(path)
        if name not in self.files and any(one.startswith(f"{name}/") for one in self.files):
            return {"name": name, "size": 0, "type": "directory"}
        return {"name": name, "size": len(self.content(name)), "type": "file"}

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        return self.content(path)[start:end]

    async def _cat_ranges(
        self, paths: list[str], starts: Any, ends: Any, on_error: str = "return", **options: Any
    ) -> list[Any]:
        return list(await super()._cat_ranges(paths, starts, ends, on_error=on_error))

    async def _cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        return await super()._cat(path, recursive, on_error)

    async def open_async(self, path: str, mode: str = "rb", **options: Any) -> RightAsyncFile:
        """Open a stream for reading."""
        return RightAsyncFile(self.content(path))


class RightCache(RightFilesystem):
    """A cache of whole files in front of a filesystem in memory, which has copies by path."""

    protocol = "right-cache"

    def __init__(self, check_files: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.fs = RightFilesystem()
        self.check_files = check_files
        self.copies: dict[str, bytes] = {}

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        """Write a file behind the cache."""
        self.fs.pipe_file(path, value)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove a file, or all files of a directory, behind the cache."""
        self.fs.rm(path, recursive)

    def content(self, path: str) -> bytes:
        """Return the bytes of the copy, which is made or renewed before."""
        name = self._strip_protocol(path)
        if name not in self.copies or (self.check_files and self.is_old(name)):
            self.copies[name] = self.fs.content(name)
        return self.copies[name]

    def is_old(self, name: str) -> bool:
        """Return whether a copy differs from the file; raise FileNotFoundError."""
        return self.copies[name] != self.fs.content(name)


class RightUncheckedCache(RightCache):
    """A cache that never compares its copies with the files."""

    def __init__(self, **options: Any) -> None:
        super().__init__(check_files=False, **options)


class RightThreadedCache(RightUncheckedCache):
    """A cache for several threads, each of which downloads to another file."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.directory = tempfile.mkdtemp()
        finalize(self, shutil.rmtree, self.directory, ignore_errors=True)

    def content(self, path: str) -> bytes:
        """Return the bytes of the copy, which is made before."""
        name = self._strip_protocol(path)
        if name not in self.copies:
            self.copies[name] = self.download(name)
        return self.copies[name]

    def download(self, name: str) -> bytes:
        """Return the bytes of a file behind the cache."""
        with tempfile.TemporaryDirectory(dir=self.directory) as own:
            copy = os.path.join(own, "copy")
            self.fs.get_file(name, copy)
            with open(copy, "rb") as file:
                return file.read()


class RightSimpleCache(RightThreadedCache):
    """The same under the name of the cache that fsspec guarantees to be safe for threads."""

    protocol = "simplecache"


class RightExpiringCache(RightUncheckedCache):
    """A cache whose copies expire after some seconds, and that rounds their times down."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.expiry = 100
        self.times: dict[str, int] = {}

    def content(self, path: str) -> bytes:
        """Return the bytes of the copy, which is made again once it has expired."""
        name = self._strip_protocol(path)
        if name not in self.copies or self.age(name) > self.expiry:
            self.copies[name] = self.fs.content(name)
            self.times[name] = self.now()
        return self.copies[name]

    def age(self, name: str) -> int:
        """Return the age of a copy in seconds."""
        return self.now() - self.times[name]

    def now(self) -> int:
        """Return the time in seconds."""
        return time.time_ns() // 10**9
