"""Input files, found in metadata tables: option `metadata`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.implementations.filesystem_base import normalize
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.table_location import location_of
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.input_files import Directory, accepts, directory_of, is_hidden
from fscontract.pipeline.spark_source.request import ReadRequest
from fscontract.pipeline.splitter.scanner import ScannedFileInfo

_GROUP = r"(?P<group>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+)"
_DATA = re.compile(rf"{_GROUP}_\d+-\d+-\d+_(?P<instant>\d{{14,17}})\.parquet", re.ASCII)
_LOG = re.compile(rf"\.{_GROUP}_\d{{14,17}}\.log\.\d+_.*", re.ASCII)
#: Actions that replace files without deleting them.
_REPLACING = frozenset({"replacecommit", "clustering"})


def current_files(
    statuses: Sequence[FileStatus],
    everything: Callable[[], Sequence[FileStatus]],
    actions: Callable[[], Collection[str]],
) -> list[FileStatus]:
    """Return the files that no newer file of their group replaces.

    The newer one may be only in `everything`: it may have no matching row, and still replaces the
    older one. Files that do not follow Hudi's naming are all kept. Raise SourceException for a
    table with rows outside such files, detected by completed actions or by logs.
    """
    if not any(_DATA.fullmatch(name) or _LOG.fullmatch(name) for name in map(_name, statuses)):
        return list(statuses)
    latest: dict[tuple[str, str], str] = {}
    for status in everything():
        if _LOG.fullmatch(_name(status)):
            raise SourceException(f"unsupported Hudi log file: {status.path!r}")
        if parts := _DATA.fullmatch(_name(status)):
            key = (_directory(status), parts["group"])
            latest[key] = max(latest.get(key, ""), parts["instant"])
    if replacing := _REPLACING.intersection(actions()):
        raise SourceException(
            f"unsupported Hudi action: {min(replacing)}; the replaced files are unknown"
        )
    return [candidate for candidate in statuses if _is_latest(candidate, latest)]


def _is_latest(status: FileStatus, latest: dict[tuple[str, str], str]) -> bool:
    parts = _DATA.fullmatch(_name(status))
    return parts is None or latest[_directory(status), parts["group"]] == parts["instant"]


def _name(status: FileStatus) -> str:
    return status.path.rpartition("/")[2]


def _directory(status: FileStatus) -> str:
    return status.path.rpartition("/")[0]


class IndexedFiles:
    """Files from the metadata tables of the datasets that are the inputs.

    A dataset without a usable table is listed, with a MetadataWarning.
    """

    def __init__(self, fs: FileSystem, request: ReadRequest) -> None:
        self.roots = request.paths
        self._accepts = accepts(fs, request)
        self._parquet = request.parquet
        self._recursive: bool = request.values["recursive"]
        where: str | None = request.values["metadataDir"]
        self.metrics = Metrics()
        self._datasets = {
            root: IndexedDataset(fs, root, where, self.metrics) for root in self.roots
        }

    def directories(self) -> list[Directory]:
        """Return the partitions of the datasets."""
        return [
            Directory(root, name)
            for root, dataset in self._datasets.items()
            for name in dataset.partitions()
            if (self._recursive or not name) and not (self._parquet and is_hidden(name))
        ]

    def find(
        self, directories: Collection[Directory] | None = None, filters: Sequence[Filter] = ()
    ) -> list[ScannedFileInfo]:
        """Return the files of partitions that column statistics do not exclude."""
        if directories is None and (self._parquet or not self._recursive):
            directories = self.directories()
        infos: dict[str, ScannedFileInfo] = {}
        for root, dataset in self._datasets.items():
            names = None if directories is None else [d.name for d in directories if d.root == root]
            prune = dataset.current if self._parquet else dataset.prune
            for status in prune(filters, names):
                if self._accepts(status):
                    below = status.path[len(dataset.path.rstrip("/")) + 1 :]
                    info = ScannedFileInfo(root, below, root, status)
                    infos.setdefault(status.path, info)
        return list(infos.values())

    def close(self) -> None:
        """Close the tables."""
        for dataset in self._datasets.values():
            dataset.close()


class IndexedDataset:
    """One dataset at `root`, a path or URI; without a table it is listed once."""

    def __init__(self, fs: FileSystem, root: str, directory: str | None, metrics: Metrics) -> None:
        self.path = _path(root)
        where = None if directory is None else _path(directory)
        self._listing = FileListing(fs, self.path, directory=where, metrics=metrics)
        self._listed: dict[str, list[FileStatus]] = {}
        self._names: list[str] | None = None
        if not self._listing.uses_table:
            check_dataset(fs, root)

    def partitions(self) -> list[str]:
        """Return the names of the partitions."""
        if self._names is None and self._listing.uses_table:
            self._names = self._listing.list_partitions()
        return sorted(self._all()) if self._names is None else self._names

    def prune(
        self, filters: Sequence[Filter], partitions: Collection[str] | None
    ) -> list[FileStatus]:
        """Return the files, of some partitions or all, that may have matching rows."""
        if self._listing.uses_table:
            return self._listing.prune(filters, self._unless_all(partitions))
        listed = self._all()
        names = sorted(listed) if partitions is None else partitions
        return [status for name in names for status in listed.get(name, ())]

    def current(
        self, filters: Sequence[Filter], partitions: Collection[str] | None
    ) -> list[FileStatus]:
        """Return the files that no newer file replaces, by their Hudi names."""
        statuses = self.prune(filters, partitions)

        def everything() -> list[FileStatus]:
            return self.prune((), partitions) if filters else statuses

        return current_files(statuses, everything, self._listing.completed_actions)

    def close(self) -> None:
        """Close the table."""
        self._listing.close()

    def _unless_all(self, partitions: Collection[str] | None) -> Collection[str] | None:
        """Return None for all partitions, because these are read faster."""
        every = self._names is not None and set(self._names) == set(partitions or ())
        return None if every else partitions

    def _all(self) -> dict[str, list[FileStatus]]:
        if not self._listed:
            for status in self._listing.prune(()):
                name = directory_of(status.path, [self.path])
                self._listed.setdefault(name, []).append(status)
        return self._listed


def check_datasets(fs: FileSystem, roots: Iterable[str], directory: str | None) -> None:
    """Raise SourceException for a path without a metadata table and without a directory."""
    for root in roots:
        location = location_of(_path(root), None if directory is None else _path(directory))
        with suppress(MetadataException):  # the planning will warn of it
            if location.exists(fs):
                continue
        check_dataset(fs, root)


def check_dataset(fs: FileSystem, root: str) -> None:
    """Raise SourceException unless the path is a directory."""
    try:
        status: FileStatus | None = fs.get_file_status(bare_path(root))
    except FileNotFoundError:
        status = None
    if status is None:
        raise SourceException(f"input not found: {root!r}")
    if not status.is_directory:
        raise SourceException(f"option 'metadata' requires a directory: {root!r}")


def _path(uri: str) -> str:
    return normalize(bare_path(uri))
