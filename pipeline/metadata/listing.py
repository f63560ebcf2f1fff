"""The files of a dataset: from its metadata table, or by listing where that can't be used."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from fscontract.contract.ports import Closeable, FileStatus, FileSystem
from fscontract.pipeline.metadata.errors import MetadataWarning
from fscontract.pipeline.metadata.files import in_threads
from fscontract.pipeline.metadata.metrics import (
    LOOKUP_FILES,
    LOOKUP_PARTITIONS,
    VALIDATE_ERRORS,
    VALIDATE_FILES,
    VALIDATE_PARTITIONS,
    Metrics,
)
from fscontract.pipeline.metadata.names import HOODIE
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.timeline import Timeline, load_timeline

#: The instant in the name of a data file.
_INSTANT = re.compile(r"_(\d{17})(?=[._])")
_T = TypeVar("_T")


def listing(
    fs: FileSystem, path: str, progress: Callable[[int, int], None] | None = None
) -> dict[str, dict[str, int]]:
    """The sizes of all files below a directory, by the directory's name below it and theirs.

    `progress` is told how many directories have been listed, and how many files found.
    """
    found: dict[str, dict[str, int]] = {}
    waiting, done = [""], 0
    while waiting:
        listed = in_threads(lambda partition: list(_children(fs, path, partition)), waiting)
        deeper: list[str] = []
        for partition, statuses in zip(waiting, listed, strict=True):
            for status in statuses:
                name = status.path.rpartition("/")[2]
                if status.is_directory:
                    deeper.append(f"{partition}/{name}" if partition else name)
                else:
                    found.setdefault(partition, {})[name] = status.length
        done += len(waiting)
        waiting = deeper
        if progress is not None:
            progress(done, sum(map(len, found.values())))
    return found


def _children(fs: FileSystem, path: str, partition: str) -> Iterator[FileStatus]:
    """What is in a directory, without what is Hudi's own."""
    directory = f"{path}/{partition}" if partition else path
    for status in fs.list_status(directory):
        if not status.path.rpartition("/")[2].startswith(HOODIE):
            yield status


class FileListing(Closeable):
    """The partitions and files of the dataset at `path`.

    They come from its metadata table, which is opened once. Where there is none, it is damaged or
    not wanted (`enabled`), the filesystem is listed, and a MetadataWarning says why. To `validate`
    is to do both: what differs is counted, and warned of, and the filesystem is right.
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
    ) -> None:
        self._fs = fs
        self.path = path.rstrip("/")
        self.metrics = metrics or Metrics()
        self._validate = validate
        self._table: MetadataTable | None = None
        self._timeline: Timeline | None = None
        if enabled:
            try:
                self._table = self.table_class(
                    fs, self.path, directory=directory, metrics=self.metrics
                )
            except FileNotFoundError:
                self._warn(f"{self.path}: there is no metadata table")
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
        """Whether the metadata table answers, as far as is known."""
        return self._table is not None

    def list_partitions(self) -> list[str]:
        """The names of the partitions, sorted; "" for the one of a dataset without partitions."""
        self.metrics.count(LOOKUP_PARTITIONS)
        known = self._ask(lambda table: table.list_partitions())
        if known is not None and not self._validate:
            return known
        with self.metrics.timed(VALIDATE_PARTITIONS):
            found = sorted(name for name, files in self._all().items() if files)
        self._compare("the partitions", known, found)
        return found

    def list_files(self, partition: str) -> list[FileStatus]:
        """The files of a partition, sorted by path; none for one that is not there."""
        self.metrics.count(LOOKUP_FILES)
        known = self._ask(lambda table: table.list_files(partition))
        if known is not None and not self._validate:
            return known
        with self.metrics.timed(VALIDATE_FILES):
            found = sorted(self._listed(partition), key=lambda status: status.path)
        seen = None if known is None else [(each.path, each.length) for each in known]
        self._compare(repr(partition), seen, [(each.path, each.length) for each in found])
        return found

    def list_all(self) -> dict[str, list[FileStatus]]:
        """All partitions and their files."""
        known = self._ask(lambda table: dict(table.list_all()))
        if known is not None and not self._validate:
            return known
        return {name: self.list_files(name) for name in self.list_partitions()}

    def _ask(self, question: Callable[[MetadataTable], _T]) -> _T | None:
        """What the table says; None if it can't be used, now or ever."""
        if self._table is None:
            return None
        try:
            return question(self._table)
        except OSError as error:
            self._warn(str(error))
            self._table.close()
            self._table = None
            return None

    def _compare(self, what: str, known: object, found: object) -> None:
        if known is not None and known != found:
            self.metrics.count(VALIDATE_ERRORS)
            warnings.warn(
                f"{self.path}: the metadata table differs from the files in {what}",
                MetadataWarning,
                stacklevel=3,
            )

    def _warn(self, reason: str) -> None:
        warnings.warn(f"{reason}; files are listed instead", MetadataWarning, stacklevel=4)

    def _all(self) -> dict[str, dict[str, int]]:
        found = listing(self._fs, self.path)
        return {
            partition: {name: size for name, size in files.items() if self._completed(name)}
            for partition, files in found.items()
        }

    def _listed(self, partition: str) -> Iterator[FileStatus]:
        with suppress(FileNotFoundError):
            for status in _children(self._fs, self.path, partition):
                name = status.path.rpartition("/")[2]
                if not status.is_directory and self._completed(name):
                    yield status

    def _completed(self, name: str) -> bool:
        """Whether a file counts: what its name says of its instant, if it says anything."""
        named = _INSTANT.search(name)
        if named is None:
            return True
        if self._timeline is None:
            self._timeline = load_timeline(self._fs, self.path)
        timeline = self._timeline
        pending = {each.time for each in timeline.pending}
        return named[1] not in pending
