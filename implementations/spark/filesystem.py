"""Filesystem whose files are read by Spark executors, and its fsspec view."""

from __future__ import annotations

import io
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import NullPointerException
from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS, OP_OPEN, OP_OPENFILE
from fscontract.implementations.filesystem_base import ReferenceFileSystem
from fscontract.implementations.fsspec_adapter import _View
from fscontract.implementations.openfile_builder import Builder, OpenOptions
from fscontract.implementations.spark.executor_reads import OF_STREAMS, Source
from fscontract.implementations.spark.input_stream import SparkExecutorInputStream
from fscontract.implementations.spark.locations import FileLocation, location_of
from fscontract.implementations.spark.pickling import (
    pickled_builder,
    portable,
    unpickled_filesystem,
)
from fscontract.implementations.spark.tasks import Tasks, tasks_of


class SparkBuilder(Builder[FSDataInputStream]):
    """A builder that can be pickled before it has opened a file."""

    def __init__(self, filesystem: SparkFileSystem, path: str) -> None:
        super().__init__(path, filesystem.open_with)
        self._location = filesystem.location

    def __reduce__(self) -> Any:
        return pickled_builder(self._location, self._path, self)


class SparkFileSystem(ReferenceFileSystem):
    """The files of `inner` as the executors of a Spark session see them.

    `inner` is `memory:` (files of this process, sent with tasks), `file:///directory`,
    `s3://bucket` with `options` of S3FileSystem, or a filesystem of this package. `spark` is a
    classic or Spark Connect session, or Tasks. Streams read through tasks; all other operations
    (create, list, delete, ...) run in this process on the inner filesystem.

    Streams and builders can be pickled and read where they are unpickled: in an executor, without
    further tasks. The filesystem can be pickled too, unless it is in memory.
    """

    def __init__(self, spark: Any, inner: Any, **options: Any) -> None:
        super().__init__()
        self.location: FileLocation = location_of(inner, options)
        self.inner = inner if isinstance(inner, ReferenceFileSystem) else self.location.make()
        self._tasks = spark if isinstance(spark, Tasks) else tasks_of(spark)
        self._lock = threading.Lock()
        self._counted: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"

    def __reduce__(self) -> Any:
        return unpickled_filesystem, (self.location,)

    @property
    def tasks(self) -> Tasks:
        """Runner of functions on the executors."""
        return self._tasks

    def close(self) -> None:
        """Stop the job threads, and close the connections of the inner filesystem."""
        self._tasks.close()
        close = getattr(self.inner, "close", None)
        if close is not None:
            close()

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; raise FileNotFoundException for a missing path or a directory.

        This runs a task that reads the first bytes. `open_file` runs none before a read.
        """
        stream = self._opened(OP_OPEN, path, OpenOptions(buffer_size=buffer_size))
        assert isinstance(stream, SparkExecutorInputStream)
        try:
            stream.look()
        except BaseException:
            stream.close()
            raise
        return stream

    def open_file(self, path: str) -> SparkBuilder:
        """Return a builder to open a file with options; raise NullPointerException without a path.

        Other errors are raised by the first read.
        """
        if path is None:
            raise NullPointerException("path must not be None")
        return SparkBuilder(self, path)

    def _open(self, path: str, options: OpenOptions) -> SparkExecutorInputStream:
        source = Source(self.location, path, replace(options, status=portable(options.status)))
        return SparkExecutorInputStream(source, self._tasks, self._count)

    def _count(self, counts: Mapping[str, int]) -> None:
        with self._lock:
            self._counted.update(counts)

    def io_statistics(self) -> Mapping[str, int]:
        """Return statistics of the filesystem, its streams, and executors (IOStatisticsSource)."""
        own = self.inner.io_statistics()
        left_out = (OP_OPEN, OP_OPENFILE, OP_GET_FILE_STATUS, *OF_STREAMS)
        total = Counter(super().io_statistics())
        total.update(
            {n: c for n, c in own.items() if n not in left_out and not n.startswith("stream_")}
        )
        with self._lock:
            total.update(self._counted)
        return dict(total)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """See the inner filesystem."""
        return self.inner.create(path, overwrite)

    def get_file_status(self, path: str) -> FileStatus:
        """See the inner filesystem."""
        self._statistics.count(OP_GET_FILE_STATUS)
        return self.inner.get_file_status(path)

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """See the inner filesystem."""
        return self.inner.list_status(path)

    def mkdirs(self, path: str) -> None:
        """See the inner filesystem."""
        self.inner.mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """See the inner filesystem."""
        return self.inner.delete(path, recursive)

    def rename(self, source: str, target: str) -> None:
        """See the inner filesystem."""
        self.inner.rename(source, target)

    def set_permission(self, path: str, mode: int) -> None:
        """See the inner filesystem."""
        self.inner.set_permission(path, mode)

    def access(self, path: str, mode: str) -> None:
        """See the inner filesystem."""
        self.inner.access(path, mode)

    def has_path_capability(self, path: str, name: str) -> bool:
        """See the inner filesystem."""
        return self.inner.has_path_capability(path, name)

    def as_fsspec(self) -> SparkFsspec:
        """Return this filesystem as an `fsspec.AbstractFileSystem`."""

        return SparkFsspec(self)


class SparkFsspec(_View):
    """fsspec view of a SparkFileSystem. It has no URL, because it needs a Spark session."""

    protocol = "fscontract-spark"

    def __init__(self, fs: SparkFileSystem, **options: Any) -> None:
        super().__init__(**options)
        self.fs = fs
