"""S3 filesystem: listings, statuses, writes, and the reader shared by its streams."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fscontract.contract.api.errors import FileNotFoundException, PathIOException
from fscontract.contract.api.filesystem import Closeable, FileStatus, FSDataInputStream
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS, OP_OPEN
from fscontract.implementations.filesystem_base import (
    PendingFile,
    ReferenceFileSystem,
    normalize,
    not_found,
    path_elements,
)
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import ObjectLocation
from fscontract.implementations.s3.input_stream import S3InputStream
from fscontract.implementations.s3.object_reader import RangeSource, RequestCounters
from fscontract.implementations.s3.object_store import (
    BATCH,
    ObjectInfo,
    ObjectStore,
    Page,
    Requests,
    Upload,
    exists,
)
from fscontract.implementations.s3.range_download import Target, VersionPin
from fscontract.implementations.s3.read_ahead import Workers, plan_of
from fscontract.implementations.s3.transports.selection import (
    PerProcess,
    ProcessSource,
    namespace,
    range_source,
)

if TYPE_CHECKING:
    from fscontract.implementations.s3.fsspec_adapter import S3Fsspec


def nameable(name: str) -> bool:
    """Return True if a path element may have this name."""
    return name not in ("", ".", "..") and "\0" not in name


def children(
    pages: Iterable[Page], prefix: str, probe: Callable[[str], bool]
) -> Iterator[tuple[str, ObjectInfo | None]]:
    """Yield name and object of each child below `prefix`, sorted; a directory has no object.

    Skip keys that are not valid paths, and directories that have the same name as a file. `probe`
    checks for a directory with a given name; it is called when one page can't answer that.

    A directory's key ends with a slash, so "a.b" is listed before "a/", although the path "a" sorts
    first. Only directories whose name is a prefix of the page's last key, followed by a character
    less than a slash, can come late. There are few of them, so no page is held back.
    """
    probed: set[str] = set()  # directories already probed
    files: set[str] = set()  # files that may share their name with a directory on a later page
    for page in pages:
        entries = _names(page, prefix, probed | files)
        if page.more is not None:
            last = max(_keys(page))[len(prefix) :]
            files = {
                name
                for name in files | {n for n, info in entries.items() if info is not None}
                if last.startswith(name)
            }
            for name in _before_slash(last) - probed - files:
                probed.add(name)
                if name not in entries and probe(name):
                    entries[name] = None
        yield from sorted(entries.items())


def _names(page: Page, prefix: str, hidden: set[str]) -> dict[str, ObjectInfo | None]:
    entries: dict[str, ObjectInfo | None] = {}
    for directory in page.prefixes:
        name = directory[len(prefix) : -1]
        if name not in hidden:
            entries[name] = None
    for info in page.objects:
        entries[info.key[len(prefix) :]] = info
    return {name: info for name, info in entries.items() if nameable(name)}


def _keys(page: Page) -> list[str]:
    return [*page.prefixes, *(info.key for info in page.objects)]


def _before_slash(last: str) -> set[str]:
    """Return the prefixes of `last` that a character less than a slash follows."""
    return {name for i, c in enumerate(last) if c < "/" and nameable(name := last[:i])}


class Reader:
    """Opens the objects of one bucket; `connect` creates a byte source on first use."""

    def __init__(self, config: S3Config, connect: Callable[[], RangeSource]) -> None:
        self.config = config
        self._source = ProcessSource(connect)
        self._workers = Workers(config.connections)

    def open(self, path: str, options: OpenOptions) -> S3InputStream:
        """Return a stream over the object at a normalized path, without sending a request."""
        config = self.config
        pin = VersionPin(options.etag, getattr(options.status, "version_id", None), options.length)
        target = Target(
            config.bucket, path[1:], self._source, pin, RequestCounters(), config.retries
        )
        plan = plan_of(options, config.read_policy, config.prefetch)
        return S3InputStream(path, target, plan, config, self._workers, options.split_end)

    def close(self) -> None:
        """Close connections. Streams that are still open make new ones."""
        self._source.close()


def checked(stream: FSDataInputStream) -> FSDataInputStream:
    """Return a stream after its first request; close it if that raises."""
    try:
        stream.available()
    except BaseException:
        stream.close()
        raise
    return stream


#: Maximum number of objects copied concurrently.
_COPIES = 16


@dataclass(frozen=True)
class S3FileStatus(FileStatus):
    """A status with the object's version ID, if the bucket is versioned.

    Listings do not include the version ID.
    """

    version_id: str | None = None


class S3FileSystem(ReferenceFileSystem, Closeable):
    """A bucket as a filesystem: the file at `/a/b` is the object with key `a/b`.

    A directory exists if an object lies below it, or if an empty object with key `a/b/` marks it.
    Deleting its last object removes it, but deleting or moving a directory keeps the parent.
    Listings omit keys that are not valid paths, such as `a//b` or `a/../b`, but moving or deleting
    their directory includes them. A file hides a directory with the same name.

    `options.py` lists the options. A pickle holds the configuration without keys; see S3Config.
    Objects made before a fork are not used after it.
    """

    def __init__(self, bucket: str, **options: Any) -> None:
        self._set_up(S3Config.of(bucket, options))

    @classmethod
    def of(cls, config: S3Config) -> S3FileSystem:
        """Return the filesystem of an existing configuration."""
        self = cls.__new__(cls)
        self._set_up(config)
        return self

    def _set_up(self, config: S3Config) -> None:
        super().__init__()
        self.config = config
        self._reader = Reader(config, lambda: range_source(config))
        self._namespace = PerProcess(lambda: namespace(config))
        self._requests = Requests()
        self._store = ObjectStore(
            config.bucket, self._namespace.get, config.retries, self._requests.count
        )

    def __repr__(self) -> str:
        where = f", endpoint={self.config.endpoint!r}" if self.config.endpoint else ""
        return f"{type(self).__name__}({self.config.bucket!r}{where})"

    def __reduce__(self) -> tuple[Any, tuple[S3Config]]:
        return type(self).of, (self.config,)

    def close(self) -> None:
        """Close all connections and threads. A later call makes new ones."""
        self._reader.close()
        namespace_used = self._namespace.take()
        if namespace_used is not None:
            namespace_used.close()

    def io_statistics(self) -> Mapping[str, int]:
        """Return statistics of the filesystem and its streams (IOStatisticsSource).

        Each attempt counts as a request. Opening a file does not request its status; creating a
        file or a directory does.
        """
        return {**super().io_statistics(), **self._requests.snapshot()}

    def _open(self, path: str, options: OpenOptions) -> S3InputStream:
        return self._reader.open(path, options)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; raise FileNotFoundException for a missing path or a directory.

        This sends the first request, for the first bytes. `open_file` sends none before a read.
        """
        return checked(self._opened(OP_OPEN, path, OpenOptions(buffer_size=buffer_size)))

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Return a binary file for writing; raise PathIOException if the path can't be replaced.

        It buffers `part_size` bytes, and twice that while it sends a part. Without `overwrite`, the
        store checks that the file does not exist yet, and closing it may raise
        FileAlreadyExistsException.
        """
        path = normalize(path)
        key = _key(path)
        self._check_parents(path)
        if self._any_below(key):
            raise PathIOException(path, "path is a directory, expected a file")
        if not overwrite and self._find(key) is not None:
            raise exists(ObjectLocation(self.config.bucket, key))
        return self._create(key, overwrite)

    def create_performance(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Create a file without checking the path: a small file takes one request.

        Use it only if no file exists where the path needs a directory (fs.s3a.create.performance).
        """
        return self._create(_key(normalize(path)), overwrite)

    def _create(self, key: str, overwrite: bool) -> io.BufferedIOBase:
        upload = Upload(self._store, key, self.config.part_size, create=not overwrite)
        return PendingFile(upload, upload.publish, upload.abandon)

    def get_file_status(self, path: str) -> S3FileStatus:
        """Return the status of a file or directory; raise FileNotFoundException.

        This sends one request for a file, and a second one for a directory.
        """
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        return self._status(path)

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the children of a directory, sorted by path, or the file itself.

        The first request is sent immediately, then one for each 1,000 children on demand.
        """
        path = normalize(path)
        prefix = _prefix(path)
        pages = self._store.list(prefix, "/")
        first = next(pages)
        if path != "/" and not first.objects and not first.prefixes:
            return iter([self._file(path)])
        return self._children(path, prefix, first, pages)

    def mkdirs(self, path: str) -> None:
        """Create a directory with a marker object; raise PathIOException if the path is a file."""
        path = normalize(path)
        if path == "/" or self._any_below(_key(path)):
            return
        if self._find(_key(path)) is not None:
            raise PathIOException(path, "can't create the directory: a file exists at this path")
        self._check_parents(path)
        self._store.put(_prefix(path), b"")

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; return False if it does not exist.

        Raise PathIOException for the root, and for a non-empty directory unless `recursive`.
        Objects of a directory are deleted in batches, so another reader may see a part of them. The
        parent directory remains.
        """
        path = normalize(path)
        key = _key(path)
        if self._find(key) is not None:
            self._store.delete([key])
            return True
        there = False
        for page in self._store.list(f"{key}/", limit=BATCH if recursive else 2):
            keys = [info.key for info in page.objects]
            if not recursive and keys not in ([], [f"{key}/"]):
                raise PathIOException(path, "the directory is not empty; expected recursive=True")
            if keys and not there:
                there = True
                self._keep_parent(path)
            self._store.delete(keys)
        return there

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory by copying and deleting each object.

        Raise FileNotFoundException, or PathIOException if the target exists or lies in the source.
        The move is not atomic: other readers may see both paths or parts of both, and a failure
        leaves copies behind. Nothing is deleted before everything was copied. A target that another
        client creates during the move is overwritten.
        """
        source, target = normalize(source), normalize(target)
        old, new = _key(source), _key(target)
        status = self._status(source)
        if status.is_directory and f"{new}/".startswith(f"{old}/"):
            raise PathIOException(target, f"can't move {source!r} into itself")
        if self._find(new) is not None or self._any_below(new):
            raise PathIOException(target, "the target already exists")
        self._check_parents(target)
        if status.is_directory:
            self._keep_parent(source)
            self._move(f"{old}/", f"{new}/")
        else:
            info = ObjectInfo(old, status.length, status.etag)
            self._store.copy(info, new)
            self._store.delete([old])

    def as_fsspec(self) -> S3Fsspec:
        """Return this filesystem as an fsspec filesystem, whose paths begin with the bucket."""
        from fscontract.implementations.s3.fsspec_adapter import S3Fsspec

        return S3Fsspec(fs=self)

    def _find(self, key: str) -> ObjectInfo | None:
        try:
            return self._store.head(key)
        except FileNotFoundException:
            return None

    def _any_below(self, key: str) -> bool:
        page = next(self._store.list(f"{key}/", limit=1))
        return bool(page.objects)

    def _status(self, path: str) -> S3FileStatus:
        if path == "/":
            next(self._store.list("", limit=1))  # raises if the bucket does not exist
            return S3FileStatus(path, 0, is_directory=True)
        info = self._find(_key(path))
        if info is not None:
            return _status(path, info)
        if self._any_below(_key(path)):
            return S3FileStatus(path, 0, is_directory=True)
        raise not_found(path)

    def _file(self, path: str) -> S3FileStatus:
        info = self._find(_key(path))
        if info is None:
            raise not_found(path)
        return _status(path, info)

    def _children(
        self, path: str, prefix: str, first: Page, rest: Iterator[Page]
    ) -> Iterator[FileStatus]:
        def pages() -> Iterator[Page]:
            yield first
            yield from rest

        base = path.rstrip("/")
        for name, info in children(pages(), prefix, lambda n: self._any_below(prefix + n)):
            child = f"{base}/{name}"
            if info is None:
                yield S3FileStatus(child, 0, is_directory=True)
            else:
                yield _status(child, info)

    def _check_parents(self, path: str) -> None:
        """Raise PathIOException if a parent of `path` is a file."""
        elements = path_elements(path)
        for depth in range(len(elements) - 1, 0, -1):
            key = "/".join(elements[:depth])
            if self._find(key) is not None:
                raise PathIOException(f"/{key}", "path is a file, expected a directory")

    def _keep_parent(self, path: str) -> None:
        """Mark the parent of a directory before its last child is removed."""
        parent = path.rpartition("/")[0]
        if not parent:
            return
        page = next(self._store.list(_prefix(parent), "/", limit=2))
        if not page.objects and page.prefixes == (_prefix(path),) and page.more is None:
            self._store.put(_prefix(parent), b"")

    def _move(self, old: str, new: str) -> None:
        infos = [info for page in self._store.list(old) for info in page.objects]
        workers = min(_COPIES, self.config.connections)
        with ThreadPoolExecutor(workers, thread_name_prefix="fscontract-s3-copy") as pool:
            copies = [
                pool.submit(self._store.copy, info, new + info.key[len(old) :]) for info in infos
            ]
            try:
                for copy in copies:
                    copy.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._store.delete([info.key for info in infos])


def _key(path: str) -> str:
    """Return the key of a normalized path; raise PathIOException for the root."""
    if path == "/":
        raise PathIOException(path, "operation not supported on the root directory")
    return path[1:]


def _prefix(path: str) -> str:
    """Return the key prefix of everything below a normalized path."""
    return "" if path == "/" else f"{path[1:]}/"


def _status(path: str, info: ObjectInfo) -> S3FileStatus:
    return S3FileStatus(
        path,
        info.length,
        modification_time=info.modified,
        etag=info.etag,
        version_id=info.version,
    )
