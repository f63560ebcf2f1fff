"""Listings of a dataset's files: from its metadata table or its directories, also on Spark."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeVar

from fscontract.contract.api.filesystem import Closeable, FileStatus, FileSystem
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.implementations.spark.locations import FileLocation, location_of
from fscontract.implementations.spark.tasks import Tasks, tasks_of
from fscontract.pipeline.hudi.changes import Sizes
from fscontract.pipeline.hudi.data_files import instant_of, write_timeline
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.io import MetadataWarning, in_threads
from fscontract.pipeline.hudi.metrics import (
    LOOKUP_FILES,
    LOOKUP_PARTITIONS,
    VALIDATE_ERRORS,
    VALIDATE_FILES,
    VALIDATE_PARTITIONS,
    Metrics,
)
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import HOODIE, Timeline, load_first_layout, load_timeline

#: The instant in a data file's name.
_INSTANT = re.compile(r"_(\d{17})(?=[._])")
_T = TypeVar("_T")


def instant_in(name: str) -> str | None:
    """Return the instant in a data file's name; None for other names."""
    match = _INSTANT.search(name)
    return None if match is None else match[1]


def listing(
    fs: FileSystem, path: str, progress: Callable[[int, int], None] | None = None
) -> dict[str, dict[str, int]]:
    """Return the sizes of all files below a directory, by relative directory and file name.

    `progress` is called with the numbers of listed directories and of found files.
    """
    return sizes_of(files_below(fs, path, progress))


def sizes_of(files: Mapping[str, Iterable[FileStatus]]) -> dict[str, dict[str, int]]:
    """Return the sizes of files by directory and name."""
    return {
        directory: {status.path.rpartition("/")[2]: status.length for status in statuses}
        for directory, statuses in files.items()
    }


def files_below(
    fs: FileSystem,
    path: str,
    progress: Callable[[int, int], None] | None = None,
    directories: Sequence[str] = ("",),
    skip: str | None = HOODIE,
) -> dict[str, list[FileStatus]]:
    """Return the listed statuses of all files below a directory, by relative directory.

    The listing starts at `directories`, which are relative names. Names that begin with `skip` are
    left out.
    """
    files: dict[str, list[FileStatus]] = {}
    done = 0
    while directories:
        done += len(directories)
        level, directories = list_level(fs, path, directories, skip)
        files |= level
        if progress is not None:
            progress(done, sum(map(len, files.values())))
    return files


def list_level(
    fs: FileSystem, path: str, directories: Sequence[str], skip: str | None = HOODIE
) -> tuple[dict[str, list[FileStatus]], list[str]]:
    """Return the files in directories below a path, and the names of their subdirectories."""
    listed = in_threads(lambda name: list(_children(fs, path, name, skip)), directories)
    files: dict[str, list[FileStatus]] = {}
    deeper: list[str] = []
    for directory, statuses in zip(directories, listed, strict=True):
        for status in statuses:
            if status.is_directory:
                name = status.path.rpartition("/")[2]
                deeper.append(f"{directory}/{name}" if directory else name)
            else:
                files.setdefault(directory, []).append(status)
    return files, deeper


def _children(
    fs: FileSystem, path: str, partition: str, skip: str | None = HOODIE
) -> Iterator[FileStatus]:
    """Yield the children of a directory whose names don't begin with `skip`."""
    directory = f"{path}/{partition}" if partition else path
    for status in fs.list_status(directory):
        if skip is None or not status.path.rpartition("/")[2].startswith(skip):
            yield status


def _sorted(statuses: Iterable[FileStatus]) -> list[FileStatus]:
    return sorted(statuses, key=lambda status: status.path)


class FileListing(Closeable):
    """Partitions and files of the dataset at `path`.

    They come from its metadata table, which is opened once. If the table is missing, damaged or not
    wanted (`enabled`), the filesystem is listed, and a MetadataWarning gives the reason. With
    `validate`, both are read: differences are counted and reported by a warning, and the listing is
    returned. A table is damaged, too, if an uncompressed block exceeds `max_block_bytes`. `lister`
    replaces the listing of all files in this process: `spark_files` lists on executors.
    """

    table_class: Callable[..., MetadataTable] = MetadataTable

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        *,
        enabled: bool = True,
        validate: bool = False,
        directory: str | None = None,
        metrics: Metrics | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        lister: Callable[[FileSystem, str], dict[str, list[FileStatus]]] | None = None,
    ) -> None:
        self._fs = fs
        self._lister = lister or files_below
        self.path = path.rstrip("/")
        self.metrics = metrics or Metrics()
        self._validate = validate
        self._table: MetadataTable | None = None
        self._timeline: Timeline | None = None
        if enabled:
            try:
                self._table = self.table_class(
                    fs,
                    self.path,
                    directory=directory,
                    metrics=self.metrics,
                    max_block_bytes=max_block_bytes,
                )
            except FileNotFoundError:
                self._warn(f"{self.path}: no metadata table")
            except OSError as error:
                self._warn(str(error))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, table={self._table!r})"

    def close(self) -> None:
        """Close the table."""
        if self._table is not None:
            self._table.close()

    @property
    def uses_table(self) -> bool:
        """True if the metadata table is used, as far as known."""
        return self._table is not None

    def list_partitions(self) -> list[str]:
        """Return the sorted names of the partitions; "" means an unpartitioned dataset."""
        self.metrics.count(LOOKUP_PARTITIONS)
        known = self._ask(lambda table: table.list_partitions())
        if known is not None and not self._validate:
            return known
        with self.metrics.timed(VALIDATE_PARTITIONS):
            listed = sorted(self._all())
        self._compare("the partitions", known, listed)
        return listed

    def list_files(self, partition: str) -> list[FileStatus]:
        """Return the files of a partition, sorted by path; none for a missing partition."""
        self.metrics.count(LOOKUP_FILES)
        known = self._ask(lambda table: table.list_files(partition))
        if known is not None and not self._validate:
            return known
        with self.metrics.timed(VALIDATE_FILES):
            listed = _sorted(self._listed(partition))
        known_sizes = None if known is None else [(status.path, status.length) for status in known]
        self._compare(
            repr(partition), known_sizes, [(status.path, status.length) for status in listed]
        )
        return listed

    def list_all(self) -> dict[str, list[FileStatus]]:
        """Return all partitions and their files."""
        known = self._ask(lambda table: dict(table.list_all()))
        if known is not None and not self._validate:
            return known
        if known is None:  # nothing to compare with, so each directory is listed once
            listed = self._all()
            return {name: _sorted(listed[name]) for name in sorted(listed)}
        return {name: self.list_files(name) for name in self.list_partitions()}

    def prune(
        self, filters: Iterable[Filter], partitions: Collection[str] | None = None
    ) -> list[FileStatus]:
        """Return the files, of some partitions or all, that may have rows matching all filters.

        Without the table all files are returned, because a listing has no statistics.
        """
        known = self._ask(lambda table: table.prune(filters, partitions))
        if known is not None and not self._validate:
            return known
        if partitions is None:
            listed = self._all()
            return [status for name in sorted(listed) for status in _sorted(listed[name])]
        return [status for name in partitions for status in self.list_files(name)]

    def completed_actions(self) -> frozenset[str]:
        """Return the completed actions of the dataset's timeline."""
        timeline = self._ask(lambda table: table.data_timeline) or self._own_timeline()
        done = (instant for instant in timeline.instants.values() if instant.completed is not None)
        return frozenset(instant.action for instant in done)

    def _ask(self, question: Callable[[MetadataTable], _T]) -> _T | None:
        """Return the table's answer; None if it can't be used, and from then on."""
        if self._table is None:
            return None
        try:
            return question(self._table)
        except OSError as error:
            self._warn(str(error))
            self._table.close()
            self._table = None
            return None

    def _compare(self, what: str, known: object, listed: object) -> None:
        if known is not None and known != listed:
            self.metrics.count(VALIDATE_ERRORS)
            warnings.warn(
                f"{self.path}: the metadata table differs from the files in {what}; "
                "MetadataWriter.rebuild repairs it",
                MetadataWarning,
                stacklevel=3,
            )

    def _warn(self, reason: str) -> None:
        warnings.warn(f"{reason}; files are listed instead", MetadataWarning, stacklevel=4)

    def _all(self) -> dict[str, list[FileStatus]]:
        partitions = {
            partition: [
                status for status in files if self._completed(status.path.rpartition("/")[2])
            ]
            for partition, files in self._lister(self._fs, self.path).items()
        }
        return {partition: files for partition, files in partitions.items() if files}

    def _listed(self, partition: str) -> Iterator[FileStatus]:
        with suppress(FileNotFoundError):
            for status in _children(self._fs, self.path, partition):
                name = status.path.rpartition("/")[2]
                if not status.is_directory and self._completed(name):
                    yield status

    def _completed(self, name: str) -> bool:
        """Return True if the file's instant is completed, or its name contains none.

        A file with Hudi's naming also does not count if its instant is unknown, as after a
        rollback, unless it is older than the timeline.
        """
        named = instant_in(name)
        if named is None:
            return True
        if named in self._pending:
            return False
        writes = self._writes
        return writes.start is None or instant_of(name) is None or writes.holds(named)

    @cached_property
    def _pending(self) -> frozenset[str]:
        return frozenset(instant.time for instant in self._own_timeline().pending)

    @cached_property
    def _writes(self) -> Timeline:
        return write_timeline(self._own_timeline().instants.values())

    def _own_timeline(self) -> Timeline:
        if self._timeline is None:
            loaded = load_timeline(self._fs, self.path)
            if not loaded.instants:
                loaded = load_first_layout(self._fs, self.path)
            self._timeline = loaded
        return self._timeline


_Listed = TypeVar("_Listed")
#: Number of groups of directories for each concurrent task.
_SHARE = 4


def spark_lister(spark: Any) -> Callable[[FileSystem, str], Sizes]:
    """Return a `lister` for `MetadataWriter.initialize` that lists on Spark's executors.

    Executors must have access to the filesystem: a local one at the same path, or a bucket.
    """
    return _with_tasks(spark, listing_by)


def spark_files(spark: Any) -> Callable[[FileSystem, str], dict[str, list[FileStatus]]]:
    """Return a `lister` for `FileListing` that lists on Spark's executors, as `spark_lister`."""
    return _with_tasks(spark, files_by)


def _with_tasks(
    spark: Any, listed: Callable[[Tasks, FileSystem, str], _Listed]
) -> Callable[[FileSystem, str], _Listed]:
    def lister(fs: FileSystem, path: str) -> _Listed:
        tasks = tasks_of(spark)
        try:
            return listed(tasks, fs, path)
        finally:
            tasks.close()

    return lister


def listing_by(
    tasks: Tasks, fs: FileSystem, path: str, progress: Callable[[int, int], None] | None = None
) -> dict[str, dict[str, int]]:
    """Return the result of `listing`, from one job; raise ExecutorException if the job fails."""
    sizes = _by_tasks(tasks, fs, path, sizes_of)
    if progress is not None:
        progress(len(sizes), sum(map(len, sizes.values())))
    return sizes


def files_by(
    tasks: Tasks, fs: FileSystem, path: str, skip: str | None = HOODIE
) -> dict[str, list[FileStatus]]:
    """Return the result of `files_below`, from one job; raise ExecutorException if it fails."""
    return _by_tasks(tasks, fs, path, _statuses, skip)


def _statuses(files: Mapping[str, list[FileStatus]]) -> dict[str, list[FileStatus]]:
    return dict(files)


def _by_tasks(
    tasks: Tasks,
    fs: FileSystem,
    path: str,
    convert: Callable[[Mapping[str, list[FileStatus]]], dict[str, _T]],
    skip: str | None = HOODIE,
) -> dict[str, _T]:
    """Return the files below a directory by relative directory, each converted where it is listed.

    Directories are listed in this process until there are enough for all tasks; tasks list those
    and everything below them.
    """
    shares = _SHARE * tasks.parallelism
    waiting: Sequence[str] = [""]
    found: dict[str, _T] = {}
    while waiting and len(waiting) < shares:
        level, waiting = list_level(fs, path, waiting, skip)
        found |= convert(level)
    if waiting:
        bounds = [len(waiting) * part // shares for part in range(shares + 1)]
        parts = [waiting[start:stop] for start, stop in pairwise(bounds)]
        task = partial(_list_below, location_of(fs), path, convert, skip)
        for listed in tasks.map(task, parts, shares):
            found |= listed
    return found


def _list_below(
    location: FileLocation,
    path: str,
    convert: Callable[[Mapping[str, list[FileStatus]]], dict[str, _T]],
    skip: str | None,
    directories: Sequence[str],
) -> dict[str, _T]:
    """List directories and everything below them: the function of a task."""
    with FILESYSTEMS.lease(location) as fs:
        return convert(files_below(fs, path, directories=directories, skip=skip))
