"""A bucket as a filesystem: listings, statuses, and the readers that its streams share."""

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
from fscontract.implementations.s3.upload import Upload

if TYPE_CHECKING:
    from fscontract.implementations.s3.fsspec_adapter import S3Fsspec


def nameable(name: str) -> bool:
    """Whether a path may have an element of this name."""
    return name not in ("", ".", "..") and "\0" not in name


def children(
    pages: Iterable[Page], prefix: str, probe: Callable[[str], bool]
) -> Iterator[tuple[str, ObjectInfo | None]]:
    """Name and object of each child below `prefix`, sorted, no object for a directory.

    Keys that no path can name are left out, and directories that a file has the name of. `probe`
    tells whether there is a directory of a name; it is asked where one page does not show that.

    The key of a directory has a slash at its end, so "a.b" is listed before "a/", although the
    path "a" comes first. What may still come and belongs before the end of a page is a directory
    whose name that end begins with, followed by something less than a slash: of those there are
    few, so that nothing has to be held back.
    """
    probed: set[str] = set()  # directories that were asked for
    files: set[str] = set()  # files that directories yet to come may have the names of
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
    """What `last` begins with, and has something less than a slash after."""
    return {name for i, c in enumerate(last) if c < "/" and nameable(name := last[:i])}


class Reader:
    """Opens the objects of one bucket; `connect` makes a source of bytes when one is needed."""

    def __init__(self, config: S3Config, connect: Callable[[], RangeSource]) -> None:
        self.config = config
        self._source = ProcessSource(connect)
        self._workers = Workers(config.connections)

    def open(self, path: str, options: OpenOptions) -> S3InputStream:
        """A stream over the object at a normalized path; nothing is asked of the store yet."""
        config = self.config
        pin = VersionPin(options.etag, getattr(options.status, "version_id", None), options.length)
        target = Target(
            config.bucket, path[1:], self._source, pin, RequestCounters(), config.retries
        )
        plan = plan_of(options, config.read_policy)
        return S3InputStream(path, target, plan, config, self._workers, options.split_end)

    def close(self) -> None:
        """Let go of connections; streams that are still open make new ones."""
        self._source.close()


#: How many objects are copied at the same time at most.
_COPIES = 16


@dataclass(frozen=True)
class S3FileStatus(FileStatus):
    """A status that also says which version of the object it is of, if the bucket has versions.

    Listings do not say it.
    """

    version_id: str | None = None


class S3FileSystem(ReferenceFileSystem, Closeable):
    """A bucket: the file at `/a/b` is the object of key `a/b`.

    There is a directory wherever an object lies below it, or an empty one of key `a/b/` marks it;
    it goes with the last of them, but never with a directory that is deleted or moved. Keys that no
    path can name, such as `a//b` or `a/../b`, are left out of listings, but moved and deleted with
    their directory. Where there is a file and a directory of one name, that name is the file's.

    Options are those of `options.py`. A pickle has the configuration but keys, see S3Config; what
    was made before a fork is not used after it.
    """

    def __init__(self, bucket: str, **options: Any) -> None:
        self._set_up(S3Config.of(bucket, options))

    @classmethod
    def of(cls, config: S3Config) -> S3FileSystem:
        """The filesystem of a configuration that is there already."""
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
        """End all connections and threads; a later call makes new ones."""
        self._reader.close()
        namespace_used = self._namespace.take()
        if namespace_used is not None:
            namespace_used.close()

    def io_statistics(self) -> Mapping[str, int]:
        """What the filesystem and its streams did; each attempt is a request. (IOStatisticsSource)

        No open asks for the status of a path; creating a file, or a directory, does.
        """
        return {**super().io_statistics(), **self._requests.snapshot()}

    def _open(self, path: str, options: OpenOptions) -> S3InputStream:
        return self._reader.open(path, options)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; FileNotFoundException for a missing path or a directory.

        That takes the first request, for the first bytes. `open_file` makes none before a read.
        """
        stream = self._opened(OP_OPEN, path, OpenOptions(buffer_size=buffer_size))
        try:
            stream.available()
        except BaseException:
            stream.close()
            raise
        return stream

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """A binary file to write; PathIOException if the path can't be or must not be replaced.

        It takes memory of `part_size`, twice while a part is sent. Without `overwrite` the store
        sees to it that the file is there once, FileAlreadyExistsException from closing it.
        """
        path = normalize(path)
        key = _key(path)
        self._check_parents(path)
        if self._any_below(key):
            raise PathIOException(path, "a directory, not a file")
        if not overwrite and self._find(key) is not None:
            raise exists(ObjectLocation(self.config.bucket, key))
        return self._create(key, overwrite)

    def create_performance(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """As `create`, without a look at what is in the way: a small file takes one request.

        For whoever knows that no file is where a directory has to be. (fs.s3a.create.performance)
        """
        return self._create(_key(normalize(path)), overwrite)

    def _create(self, key: str, overwrite: bool) -> io.BufferedIOBase:
        upload = Upload(self._store, key, self.config.part_size, create=not overwrite)
        return PendingFile(upload, upload.publish, upload.abandon)

    def get_file_status(self, path: str) -> S3FileStatus:
        """The status of a file or directory; FileNotFoundException.

        One request for a file, another one for a directory.
        """
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        return self._status(path)

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """The children of a directory, sorted by path, or the file itself.

        A request for each 1,000 children, when the listing comes to them; the first is now.
        """
        path = normalize(path)
        prefix = _prefix(path)
        pages = self._store.list(prefix, "/")
        first = next(pages)
        if path != "/" and not first.objects and not first.prefixes:
            return iter([self._file(path)])
        return self._children(path, prefix, first, pages)

    def mkdirs(self, path: str) -> None:
        """Make a directory, by an object that marks it; PathIOException if a file is in the way."""
        path = normalize(path)
        if path == "/" or self._any_below(_key(path)):
            return
        if self._find(_key(path)) is not None:
            raise PathIOException(path, "a file is in the way")
        self._check_parents(path)
        self._store.put(_prefix(path), b"")

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; False if it was not there.

        PathIOException for the root, and for a directory that is not empty unless `recursive`. A
        directory goes object by object; another reader may see it half gone. The directory that it
        was in stays.
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
                raise PathIOException(path, "the directory is not empty")
            if keys and not there:
                there = True
                self._keep_parent(path)
            self._store.delete(keys)
        return there

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory, by copying and deleting each object.

        FileNotFoundException, or PathIOException if the target exists or lies in the source. It is
        not atomic: others see both or parts of both meanwhile, and a failure leaves copies behind;
        nothing is deleted before everything was copied. Who makes the target meanwhile loses it.
        """
        source, target = normalize(source), normalize(target)
        old, new = _key(source), _key(target)
        status = self._status(source)
        if status.is_directory and f"{new}/".startswith(f"{old}/"):
            raise PathIOException(target, f"can't move {source!r} into itself")
        if self._find(new) is not None or self._any_below(new):
            raise PathIOException(target, "the target exists")
        self._check_parents(target)
        if status.is_directory:
            self._keep_parent(source)
            self._move(f"{old}/", f"{new}/")
        else:
            info = ObjectInfo(old, status.length, status.etag)
            self._store.copy(info, new)
            self._store.delete([old])

    def as_fsspec(self) -> S3Fsspec:
        """This filesystem as an `fsspec.AbstractFileSystem`, in whose paths the bucket is first."""
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
            next(self._store.list("", limit=1))  # is there such a bucket?
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
        """PathIOException if one of the directories that `path` lies in is a file."""
        elements = path_elements(path)
        for depth in range(len(elements) - 1, 0, -1):
            key = "/".join(elements[:depth])
            if self._find(key) is not None:
                raise PathIOException(f"/{key}", "a file, not a directory")

    def _keep_parent(self, path: str) -> None:
        """Mark the parent of a directory that is about to go, if nothing else is in it."""
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
    """The key of a normalized path; PathIOException for the root."""
    if path == "/":
        raise PathIOException(path, "not possible with the root directory")
    return path[1:]


def _prefix(path: str) -> str:
    """What the keys of everything below a normalized path begin with."""
    return "" if path == "/" else f"{path[1:]}/"


def _status(path: str, info: ObjectInfo) -> S3FileStatus:
    return S3FileStatus(
        path,
        info.length,
        modification_time=info.modified,
        etag=info.etag,
        version_id=info.version,
    )
