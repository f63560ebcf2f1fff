"""fsspec filesystems that are right, each as an author may write one."""

from __future__ import annotations

import io
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar
from unicodedata import normalize

import numpy
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import register_implementation
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem


class Files(AbstractFileSystem):  # type: ignore[misc]
    """Files by path, in a dictionary of the filesystem; `_open` is what differs."""

    protocol = "unusual"
    cachable = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.files: dict[str, bytes] = {}
        self.directories: set[str] = {""}

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return path if isinstance(path, list) else str(path).rpartition("://")[2].strip("/")

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        if path in self.files:
            return {"name": path, "size": len(self.files[path]), "type": "file"}
        if any(f"{name}/".startswith(path + "/") for name in (*self.files, *self.directories)):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        path = self._strip_protocol(path)
        if path in self.files:
            entries = [self.info(path)]
        else:
            self.info(path)
            start = f"{path}/" if path else ""
            children = {
                start + n.removeprefix(start).split("/")[0]
                for n in (*self.files, *self.directories)
                if n.startswith(start) and n != path
            }
            entries = [self.info(child) for child in sorted(children)]
        return entries if detail else [entry["name"] for entry in entries]

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.directories.add(self._strip_protocol(path))

    mkdir = makedirs

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        self.files[self._strip_protocol(path)] = bytes(value)

    def _rm(self, path: str) -> None:
        path = self._strip_protocol(path)
        self.files.pop(path, None)
        self.directories.discard(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        path = self._strip_protocol(path)
        for name in [n for n in (*self.files, *self.directories) if n.startswith(path)]:
            Files._rm(self, name)

    def _bytes(self, path: str) -> bytes:
        path = self._strip_protocol(path)
        if path not in self.files:
            if path in self.directories:
                raise IsADirectoryError(path)
            raise FileNotFoundError(path)
        return self.files[path]

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return _Sized(self._bytes(path))


class InMemory(Files):
    """Each open is a BytesIO; cat_file() is that of fsspec."""


class Repeated(InMemory):
    """A class that names a method of its base, which it would have anyway."""

    cat_file = AbstractFileSystem.cat_file


class WriteOnce(InMemory):
    """A file is retained: it can't be written again."""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        if self._strip_protocol(path) in self.files:
            raise PermissionError(f"{path} is retained")
        super().pipe_file(path, value)


class IgnoresCase(InMemory):
    """The names of all files are in lower case."""

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        path = super()._strip_protocol(path)
        return path if isinstance(path, list) else path.lower()

    def glob(self, path: str, **options: Any) -> Any:
        return super().glob(path.lower(), **options)


class EndsDirectories(InMemory):
    """The paths of directories end with a slash, and listings are in no order."""

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        entries = super().ls(path)[::-1]
        ends = {"directory": "/"}
        entries = [{**one, "name": one["name"] + ends.get(one["type"], "")} for one in entries]
        return entries if detail else [entry["name"] for entry in entries]

    def find(self, path: str, maxdepth: int | None = None, **options: Any) -> Any:
        found = super().find(path, maxdepth, **options)
        return found if isinstance(found, dict) else found[::-1]


class OwnWalk(InMemory):
    """walk() asks for a level when it is due, and yields the last directory first."""

    def walk(
        self,
        path: str,
        maxdepth: int | None = None,
        topdown: bool = True,
        on_error: Any = "omit",
        **options: Any,
    ) -> Iterator[Any]:
        path, detail = self._strip_protocol(path), options.get("detail")
        kinds: dict[bool, dict[str, Any]] = {True: {}, False: {}}
        for entry in self.ls(path):
            kinds[entry["type"] == "directory"][entry["name"].rpartition("/")[2]] = entry
        names = [*kinds[True]][::-1]
        step = (path, *(kinds.values() if detail else (names, [*kinds[False]])))
        if topdown:
            yield step
        if maxdepth != 1:
            for name in [*kinds[True]] if detail else names:
                depth = maxdepth and maxdepth - 1
                yield from self.walk(f"{path}/{name}", depth, topdown, **options)
        if not topdown:
            yield step


class OwnCat(InMemory):
    """cat() of a directory reads the files alone, the last one first."""

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        if recursive:
            return {name: self.cat_file(name) for name in self.find(path)[::-1]}
        return super().cat(path, recursive, on_error, **options)


class OwnSpace(InMemory):
    """du() measures the files itself."""

    def du(
        self, path: str, total: bool = True, maxdepth: int | None = None, withdirs: bool = False
    ) -> Any:
        found = self.find(path, maxdepth, withdirs)
        sizes = {name: len(self.files.get(name, b"")) for name in found}
        return sum(sizes.values()) if total else sizes


class WithoutItself(InMemory):
    """find() and expand_path() leave the directory itself out, glob() all directories."""

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **options: Any,
    ) -> Any:
        found = super().find(path, maxdepth, withdirs, detail=True, **options)
        found.pop(self._strip_protocol(path), None)
        return found if detail else sorted(found)

    def glob(self, path: str, maxdepth: int | None = None, **options: Any) -> Any:
        found = super().glob(path, maxdepth, **options)
        names = [n for n in found if path.endswith("/") or self.isfile(n)]
        return {n: found[n] for n in names} if isinstance(found, dict) else names


class WithoutDirectories(InMemory):
    """A store of objects: making a directory does nothing."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        pass

    mkdir = makedirs


class Decomposes(InMemory):
    """Accents are characters apart in the names that it lists."""

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        name = super()._strip_protocol(path)
        return name if isinstance(name, list) else normalize("NFD", name)


class PlainNames(InMemory):
    """Only letters, digits and few other characters are allowed in names."""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        if not re.fullmatch(r"[\w./-]*", path, re.ASCII):
            raise ValueError(f"name not allowed: {path}")
        super().pipe_file(path, value)


class KeepsListings(InMemory):
    """Listings are kept until invalidate_cache(), or until a file is written or removed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.kept: dict[str, list[Any]] = {}

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        name = self._strip_protocol(path)
        if name not in self.kept:
            self.kept[name] = super().ls(path)
        found = self.kept[name]
        return [*found] if detail else [entry["name"] for entry in found]

    def invalidate_cache(self, path: str | None = None) -> None:
        self.kept.clear()

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        super().pipe_file(path, value)
        self.kept.clear()

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        super().rm(path)
        self.kept.clear()


class OneTime(InMemory):
    """Times of creation are kept, without a zone; those of modification are not."""

    def created(self, path: str) -> datetime:
        return datetime.fromtimestamp(len(self._bytes(path)))


class NeverRemoves(InMemory):
    """Files can't be removed one by one."""

    def _rm(self, path: str) -> None:
        raise NotImplementedError


class HasMarkers(InMemory):
    """Each directory has a marker, which is not listed."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        super().makedirs(path)
        self.files[f"{self._strip_protocol(path)}/.marker"] = b""

    mkdir = makedirs

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        found = [one for one in super().ls(path) if not one["name"].endswith("/.marker")]
        return found if detail else [entry["name"] for entry in found]


class MoreKeys(InMemory):
    """Information has more keys, and directories have no size."""

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        found = super().info(path)
        size = None if found["type"] == "directory" else numpy.int64(found["size"])
        return {**found, "size": size, "islink": False, "mtime": 0, "owner": None}


class Delegates(InMemory):
    """A method that only calls that of its base class."""

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> Any:
        return super().cat_file(path, start, end, **options)


class OwnRanges(InMemory):
    """cat_file() and cat_ranges() are its own."""

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        return self._bytes(path)[start:end]


class OwnCalls(OwnRanges):
    """The other calls without a stream are its own, each with another choice."""

    def read_block(
        self, fn: str, offset: int, length: int | None, delimiter: bytes | None = None
    ) -> bytes:
        data = self._bytes(fn)
        stop = len(data) if length is None else min(offset + length, len(data))
        if not delimiter:
            return data[offset:stop]
        return data[self._behind(data, offset, delimiter) : self._behind(data, stop, delimiter)]

    def _behind(self, data: bytes, at: int, delimiter: bytes) -> int:
        """Return where a block begins; a delimiter that ends at the offset is the first."""
        if at in (0, len(data)) or data.endswith(delimiter, 0, at):
            return at
        before, _, _ = data[at:].partition(delimiter)
        return min(at + len(before) + len(delimiter), len(data))

    def get_file(self, rpath: str, lpath: str, **options: Any) -> None:
        if self.isdir(rpath):
            os.makedirs(lpath, exist_ok=True)
            return
        data = self._bytes(rpath)
        with open(f"{lpath}.part", "wb") as part:
            part.write(data)
        os.replace(f"{lpath}.part", lpath)

    def size(self, path: str) -> int | None:
        return None

    def checksum(self, path: str) -> Any:
        return ("sum", self._bytes(path))

    def exists(self, path: str, **options: Any) -> bool:
        return self._strip_protocol(path) in self.files or super().exists(path)


class FoundByUrl(InMemory):
    """URLs have a host, which paths do not have; each instance has the same files."""

    protocol = "unusual-url"
    shared: ClassVar[dict[str, bytes]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.files = self.shared
        register_implementation(self.protocol, FoundByUrl, clobber=True)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return str(path).removeprefix("unusual-url://host").strip("/")

    def unstrip_protocol(self, name: str) -> str:
        return f"unusual-url://host/{name}"


class Short(OwnCalls):
    """Files are raw, and a read returns at most 700 bytes; calls for ranges return all."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return _ShortReads(self._bytes(path))

    def head(self, path: str, size: int = 1024) -> bytes:
        return self._bytes(path)[:size]

    def tail(self, path: str, size: int = 1024) -> bytes:
        return self._bytes(path)[-size:] if size else b""


class Held(OwnCalls):
    """Files hold a descriptor until close(); no finalizer releases it."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return _Held(_Sized(self._bytes(path)))


class WithoutSize(InMemory):
    """Files are Python's own, without the attribute `size` that fsspec's cat_file() reads."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return io.BufferedReader(_ShortReads(self._bytes(path)))


class Zipped(OwnCalls):
    """Each open is a member of a zip archive in memory, with the failures of zipfile."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        stored = io.BytesIO()
        with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("member", self._bytes(path))
        return zipfile.ZipFile(stored).open("member")


class Ranged(Files):
    """Each open is fsspec's buffered file over ranges, with the default cache."""

    cache = "readahead"

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        options.setdefault("cache_type", self.cache)
        self._bytes(path)
        return _RangedFile(self, path, mode, block_size or 16, **options)


class OtherNumbers(Ranged):
    """Sizes are numbers of NumPy."""

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        found = super().info(path)
        return {**found, "size": numpy.int64(found["size"])}


class WithoutCache(Ranged):
    """The same without a cache."""

    cache = "none"


class WithBlocks(Ranged):
    """The same with a cache of blocks."""

    cache = "blockcache"


class WithAll(Ranged):
    """The same with a cache of the whole file."""

    cache = "all"


class WithBytes(Ranged):
    """The same with the cache `bytes`."""

    cache = "bytes"


class Async(AsyncFileSystem, Files):  # type: ignore[misc]
    """An asynchronous filesystem, with files over its ranges."""

    cachable = False

    def __init__(self, **options: Any) -> None:
        AsyncFileSystem.__init__(self, **options)
        self.files = {}
        self.directories = {""}

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        return self._bytes(path)[start:end]

    async def _info(self, path: str, **options: Any) -> dict[str, Any]:
        return Files.info(self, path)

    async def _ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        return Files.ls(self, path, detail)

    async def _pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        Files.pipe_file(self, path, value)

    async def _rm_file(self, path: str, **options: Any) -> None:
        Files._rm(self, path)

    _open = Ranged._open
    cache = "readahead"


class _RangedFile(AbstractBufferedFile):  # type: ignore[misc]
    def _fetch_range(self, start: int, end: int) -> bytes:
        return bytes(self.fs._bytes(self.path)[start:end])


class _ShortReads(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def readable(self) -> bool:
        return not self._file.closed or self._closed()

    def seekable(self) -> bool:
        return not self._file.closed or self._closed()

    def _closed(self) -> bool:
        raise ValueError("I/O operation on closed file")

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(memoryview(buffer).cast("B")[:700])

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


class _Sized(io.BytesIO):
    @property
    def size(self) -> int:
        return len(self.getbuffer())

    def writable(self) -> bool:
        return False

    def write(self, data: Any) -> int:
        raise io.UnsupportedOperation("write")


class _Held:
    def __init__(self, file: _Sized) -> None:
        self._file, self._held = file, os.open(os.devnull, os.O_RDONLY)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Held:
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        return iter(self._file)

    def __next__(self) -> bytes:
        return next(self._file)

    def close(self) -> None:
        if not self._file.closed:
            os.close(self._held)
        self._file.close()


class EmptySubclass(MemoryFileSystem):  # type: ignore[misc]
    """fsspec's memory filesystem under another name."""

    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]


class LocalSubclass(LocalFileSystem):  # type: ignore[misc]
    """fsspec's local filesystem under another name."""


class Connected(LocalFileSystem):  # type: ignore[misc]
    """Each filesystem, also one from a pickle, is connected until the process ends."""

    cachable = False
    connections: ClassVar[list[int]] = []

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.connections.append(os.open(os.devnull, os.O_RDONLY))


class Below(DirFileSystem):  # type: ignore[misc]
    """A directory of a filesystem as the root."""

    def __init__(self, **options: Any) -> None:
        super().__init__("/below", InMemory())


#: Every filesystem of this module.
ALL: tuple[type[AbstractFileSystem], ...] = tuple(
    value
    for name, value in vars(sys.modules[__name__]).items()
    if isinstance(value, type)
    and issubclass(value, AbstractFileSystem)
    and value.__module__ == __name__
    and value is not Files
)


def target(filesystem: type[AbstractFileSystem]) -> Any:
    """Return a new filesystem."""
    return filesystem(skip_instance_cache=True) if filesystem is not Below else Below()
