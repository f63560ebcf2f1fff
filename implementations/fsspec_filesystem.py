"""Any fsspec filesystem as a `FileSystem`, for the pipelines.

A file is created whole and once, or not at all: stores that can't do so are read-only. Credentials
stay where fsspec and its libraries find them, and no message contains them.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from inspect import signature
from typing import Any, NoReturn, cast

from fsspec import AbstractFileSystem, get_filesystem_class
from fsspec.core import url_to_fs
from fsspec.implementations.cached import CachingFileSystem

from fscontract.contract.api.errors import (
    FileAlreadyExistsException,
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    Allocate,
    Closeable,
    FileRange,
    FileStatus,
    Release,
    no_release,
)
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS
from fscontract.contract.api.openfile_options import READ_POLICY
from fscontract.contract.text import mask_url
from fscontract.contract.untrusted import typed_value
from fscontract.implementations.bindings.common import secrets_in, told
from fscontract.implementations.bindings.fsspec_quirks import (
    close_sessions,
    is_flat,
    is_local,
    is_unreachable,
    layers_of,
    protocols,
)
from fscontract.implementations.filesystem_base import (
    MemorySink,
    PendingFile,
    ReferenceFileSystem,
    denied,
    free_in_children,
    normalize,
    not_a_file,
    not_found,
)
from fscontract.implementations.fsspec_open_file import open_file, status_of
from fscontract.implementations.input_stream import ReferenceInputStream, vectored_ranges
from fscontract.implementations.openfile_builder import OpenOptions

_MEMORY = frozenset({"memory"})
_WEB = frozenset({"http", "https"})
#: Stores that create an object only if it is missing, by one conditional request: the arguments of
#: `pipe_file` for that.
_CONDITIONAL: Mapping[str, Mapping[str, Any]] = {
    **{protocol: {"mode": "create"} for protocol in ("s3", "s3a", "gs", "gcs")},
    **{protocol: {"overwrite": False} for protocol in ("abfs", "abfss", "az")},
}
_WRITABLE = "a local directory, s3:, gs: or abfs:"
#: Keys of `info` with the time of a file's last change, beside those of `status_of`.
_TIMES = ("Last-Modified", "modify", "modified", "updated", "modificationTime", "created")
#: Bytes that sequential reads request ahead.
_AHEAD = 4 << 20
#: Number of requests that run concurrently.
_WORKERS = 8
_NO_RANGES = "the server ignores ranges; put simplecache:: in front of the URL to copy whole files"
#: Held while a file in this process's memory is created.
_creating = free_in_children(threading.RLock())


def check_protocols(url: str) -> None:
    """Raise IllegalArgumentException for an unknown protocol, or one whose package is missing."""
    for link in url.split("::"):
        protocol = link.partition(":")[0]
        try:
            get_filesystem_class(protocol)
        except ImportError as error:
            raise IllegalArgumentException(
                f"{protocol}: URLs need a package that is not installed: {_line(error)}"
            ) from None
        except ValueError:
            raise IllegalArgumentException(
                f"unknown protocol {protocol!r:.40} in {mask_url(url)}: not one of fsspec's"
            ) from None


def open_fsspec(url: str, options: Mapping[str, Any] | None = None) -> tuple[Any, str]:
    """Return the fsspec filesystem at a URL, and the path of its root there.

    `options` are fsspec's storage options; values that are valid JSON are parsed. Raise
    IllegalArgumentException for an unknown protocol, a missing package or a wrong option, and
    PathIOException if the filesystem can't be reached.
    """
    typed = {name: typed_value(value) for name, value in (options or {}).items()}
    name = mask_url(url)
    check_protocols(url)
    whole = url.endswith("/") and not url.endswith("://")
    root_url = url if whole else f"{url}/"  # file:// is the working directory
    try:
        fs, root = url_to_fs(root_url, **typed, skip_instance_cache=True)
    except (ImportError, TypeError, ValueError) as error:
        reason = told(error, secrets_in(url, typed))
        raise IllegalArgumentException(f"{name}: can't be opened by fsspec: {reason}") from None
    except Exception as error:  # libraries raise classes of their own
        reason = told(error, secrets_in(url, typed))
        raise PathIOException(name, f"can't be opened by fsspec: {reason}") from None
    for layer in layers_of(fs):
        if hasattr(layer, "dircache"):
            layer.dircache.use_listings_cache = False  # as an option, this breaks sftp
    return fs, str(root)


class FsspecFileSystem(ReferenceFileSystem, Closeable):
    """An fsspec filesystem, whose paths are those below `root`.

    `fs` is an instance, for example of s3fs; `from_url` opens one. Files are read, listed and
    deleted on all of them. They are created only where that is atomic: by conditional requests of
    S3, Google Cloud Storage and Azure, and in this process's memory.
    """

    path_capabilities = frozenset()
    #: The location that opened the filesystem, which executors can open, too.
    location: object = None

    def __init__(self, fs: AbstractFileSystem, root: str = "") -> None:
        super().__init__()
        self.fs = fs
        self._root = root.rstrip("/")
        self._owned = False
        self.protocols = protocols(fs)
        self._flat = is_flat(fs)
        # a cache passes this attribute of the cached filesystem on
        is_async = not isinstance(fs, CachingFileSystem) and getattr(fs, "async_impl", False)
        #: Ranges are read without opening a file.
        self.ranged = bool(is_async or self.protocols & _MEMORY)
        #: Several threads may call the filesystem at once.
        self.concurrent = self.ranged or is_local(fs)
        self.lock: AbstractContextManager[Any] = (
            nullcontext() if self.concurrent else free_in_children(threading.RLock())
        )
        options = {
            str(n): getattr(one, "storage_options", {}) for n, one in enumerate(layers_of(fs))
        }
        self._secrets = secrets_in("", options)

    @classmethod
    def from_url(cls, url: str, options: Mapping[str, Any] | None = None) -> FsspecFileSystem:
        """Return the filesystem of a URL such as `ftp://host`; raises as `open_fsspec` does."""
        filesystem = cls(*open_fsspec(url, options))
        filesystem._owned = True
        return filesystem

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.fs).__name__}, {mask_url(self._root)!r})"

    def close(self) -> None:
        """Close the connections of a filesystem that `from_url` opened."""
        if self._owned:
            close_sessions(self.fs)

    def host_path(self, path: str) -> str:
        """Return the path of a file for fsspec."""
        return f"{self._root}{normalize(path)}"

    @contextmanager
    def errors(self, path: str) -> Iterator[None]:
        """Convert the exceptions of fsspec and its libraries, without credentials."""
        try:
            with self.lock:
                yield
        except PathIOException:
            raise
        except FileExistsError:
            raise FileAlreadyExistsException(path, "the file already exists") from None
        except PermissionError:
            raise denied(path) from None
        except FileNotFoundError as error:
            if (cause := error.__cause__) is not None and is_unreachable(cause):
                raise PathIOException(path, told(cause, self._secrets)) from None
            raise not_found(path) from None
        except IsADirectoryError:
            raise not_a_file(path) from None
        except Exception as error:
            raise PathIOException(path, told(error, self._secrets)) from None

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of a file or directory; raise FileNotFoundException."""
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        with self.errors(path):
            return _status(path, self.fs.info(self.host_path(path)))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the children of a directory, sorted by path, or the file itself."""
        path = normalize(path)
        if not self._flat:  # some list a file as if it were a directory
            status = self.get_file_status(path)
            if not status.is_directory:
                return iter([status])
        with self.errors(path):
            infos = self.fs.ls(self.host_path(path), detail=True)
        return iter(sorted(self._children(path, infos), key=lambda status: status.path))

    def _children(self, directory: str, infos: Sequence[Mapping[str, Any]]) -> list[FileStatus]:
        """Return the statuses of the entries below a directory, or of the file that it is."""
        below = directory.rstrip("/") + "/"
        statuses = {}
        for info in infos:
            name = str(info["name"])
            path = "/" + name[len(self._root) :].strip("/")
            is_child = path.startswith(below) and "/" not in path[len(below) :] != ""
            is_link = self.protocols & _WEB and ("?" in name or "#" in name)
            if (is_child or (path == directory and info["type"] == "file")) and not is_link:
                statuses[path] = _status(path, info)
        unknown = [path for path, status in statuses.items() if status.length < 0]
        if unknown:
            with ThreadPoolExecutor(_WORKERS if self.concurrent else 1) as pool:
                statuses.update(zip(unknown, pool.map(self.get_file_status, unknown), strict=True))
        return list(statuses.values())

    def _open(self, path: str, options: OpenOptions) -> FsspecInputStream:
        length = self._length_to_open(path, options)
        return FsspecInputStream(self, path, length)

    # changes ------------------------------------------------------------------------------

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Return a binary file for writing, which appears whole when it is closed.

        Raise UnsupportedOperationException if the store can't create a file atomically,
        FileAlreadyExistsException if it exists, unless `overwrite`.
        """
        path = normalize(path)
        self._check_writable()
        sink = MemorySink()

        def publish() -> None:
            with self.errors(path):
                self._put(self.host_path(path), sink.content, overwrite)

        return PendingFile(cast(io.RawIOBase, sink), publish, lambda: None)

    def _put(self, host_path: str, content: bytes, overwrite: bool) -> None:
        if self.protocols & _MEMORY:
            with _creating:
                if not overwrite and self.fs.exists(host_path):
                    raise FileExistsError(host_path)
                self.fs.pipe_file(host_path, content)
            return
        conditions = {} if overwrite else self._conditions()
        try:
            self.fs.pipe_file(host_path, content, **conditions)
        except Exception as error:
            if conditions and _is_conflict(error):
                raise FileExistsError(host_path) from None
            raise

    def _conditions(self) -> Mapping[str, Any]:
        return next((_CONDITIONAL[p] for p in sorted(self.protocols) if p in _CONDITIONAL), {})

    def _check_writable(self) -> None:
        """Raise UnsupportedOperationException unless files are created atomically."""
        if self.protocols & _MEMORY:
            return
        conditions = self._conditions()
        parameters = signature(getattr(self.fs, "_pipe_file", self.fs.pipe_file)).parameters
        if not conditions or not conditions.keys() <= parameters.keys():
            self._refuse("this filesystem can't create a file atomically")

    def _refuse(self, reason: str) -> NoReturn:
        name = min(self.protocols, default=type(self.fs).__name__)
        raise UnsupportedOperationException(
            f"{name}: is read-only for pipelines, because {reason}; keep tables and windows in "
            f"{_WRITABLE}"
        )

    def mkdirs(self, path: str) -> None:
        """Create a directory and its parents; do nothing in a store without directories."""
        self._check_writable()
        if self.protocols & _MEMORY or not self._flat:
            with self.errors(path):
                self.fs.makedirs(self.host_path(path), exist_ok=True)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; return False if it does not exist.

        Raise PathIOException for a non-empty directory unless `recursive`.
        """
        self._check_writable()
        try:
            status = self.get_file_status(path)
        except FileNotFoundError:
            return False
        if status.is_directory and not recursive and any(self.list_status(path)):
            raise PathIOException(path, "the directory is not empty; expected recursive=True")
        try:
            with self.errors(path):
                self.fs.rm(self.host_path(path), recursive=status.is_directory)
        except FileNotFoundError:
            return status.is_directory  # a prefix that ended with its last object
        return True

    def rename(self, source: str, target: str) -> None:
        """Raise UnsupportedOperationException, because few stores rename atomically."""
        self._refuse("few filesystems rename atomically")

    def as_fsspec(self) -> Any:
        """Return the fsspec filesystem, whose paths begin with the root."""
        return self.fs


class FsspecInputStream(ReferenceInputStream):
    """A stream over a file of `length` bytes, read in ranges or from an fsspec file."""

    def __init__(self, filesystem: FsspecFileSystem, path: str, length: int) -> None:
        self._filesystem = filesystem
        self._host_path = filesystem.host_path(path)
        self._size = length
        self._file: Any = None
        self._file_lock = free_in_children(threading.RLock())
        super().__init__(path)

    def _length(self) -> int:
        return self._size

    def _read_at(self, position: int, view: memoryview) -> int:
        if self._filesystem.protocols & _MEMORY:
            return self._pread_at(position, view)
        return self._fill(position, view, self._from_file)

    def _pread_at(self, position: int, view: memoryview) -> int:
        ranged = self._filesystem.ranged
        return self._fill(position, view, self._range if ranged else self._from_file)

    def _fill(self, position: int, view: memoryview, read: Any) -> int:
        count = min(len(view), self._size - position)
        if count <= 0:
            return 0
        with self._filesystem.errors(self.path):
            data = read(position, count)
        view[: len(data)] = data
        return len(data)

    def _range(self, position: int, count: int) -> bytes:
        data: bytes = self._filesystem.fs.cat_file(
            self._host_path, start=position, end=position + count
        )
        if len(data) > count:  # the server or the filesystem ignores ranges
            self._filesystem.ranged = False
            return self._from_file(position, count)
        return data

    def _from_file(self, position: int, count: int) -> bytes:
        with self._file_lock:
            if self._file is None:
                self._file = self._opened()
            try:
                return _read(self._file, position, count)
            except ValueError:
                if self._filesystem.protocols & _WEB:
                    raise PathIOException(self.path, _NO_RANGES) from None
                raise

    def _opened(self) -> Any:
        builder = open_file(self._filesystem.fs, self._host_path)
        builder.opt(READ_POLICY, "sequential").buffer_size(_AHEAD)
        builder.with_file_status(FileStatus(self._host_path, self._size))
        return builder.build().result()

    def _release(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Read every range, several at a time if the filesystem allows it. (readVectored)"""
        if not self._filesystem.ranged or len(ranges) < 2 or self._closed:
            super().read_vectored(ranges, allocate, release)
            return
        vectored_ranges(ranges, allocate, release, self._size)
        with ThreadPoolExecutor(min(_WORKERS, len(ranges))) as pool:
            read = pool.map(lambda item: self._read_range(item, allocate, release), ranges)
            for item, future in zip(ranges, read, strict=True):
                item.data = future


def _read(file: Any, position: int, count: int) -> bytes:
    """Return `count` bytes of a file from a position on; fewer only at EOF."""
    if file.tell() != position:
        file.seek(position)
    parts = []
    while count > 0 and (data := file.read(count)):
        parts.append(data)
        count -= len(data)
    return b"".join(parts)


def _status(path: str, info: Mapping[str, Any]) -> FileStatus:
    """Return the status for a result of `info` or `ls`; length -1 without a size."""
    found = status_of(info)
    if found.is_directory or _is_index(info):
        return FileStatus(path, 0, is_directory=True)
    seconds = found.modification_time or next(
        (_seconds(info[key]) for key in _TIMES if info.get(key) is not None), 0.0
    )
    etag = None if found.etag is None else str(found.etag)
    return FileStatus(path, found.length, modification_time=seconds, etag=etag)


def _is_index(info: Mapping[str, Any]) -> bool:
    """Return True for the page that a web server makes for a directory.

    It has the URL with a slash at the end, after a redirect, or no date and no ETag.
    """
    if "url" not in info:
        return False
    dated = any(info.get(key) for key in ("ETag", "Last-Modified"))
    return str(info["url"]).endswith("/") or (info.get("mimetype") == "text/html" and not dated)


def _seconds(value: Any) -> float:
    """Return a time in seconds since 1970; 0 if its form is unknown."""
    try:
        if isinstance(value, str):
            value = parsedate_to_datetime(value) if "," in value else _compact_time(value)
        if isinstance(value, datetime):
            return value.timestamp()
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return number / 1000 if number > 1e11 else number  # WebHDFS has milliseconds


def _compact_time(text: str) -> datetime:
    """Parse FTP's `20260102030405` or an ISO time; raise ValueError."""
    if text[:14].isdigit():
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _is_conflict(error: BaseException | None) -> bool:
    """Return True if a store rejected a conditional request, because the object exists."""
    while error is not None:
        response = getattr(error, "response", None)
        code = response.get("Error", {}).get("Code", "") if isinstance(response, dict) else ""
        number = getattr(error, "errno", None)
        if code in ("PreconditionFailed", "ConditionalRequestConflict") or number == 412:
            return True
        if str(getattr(error, "code", "")) == "412" or "PreconditionFailed" in str(error):
            return True
        error = error.__cause__
    return False


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
