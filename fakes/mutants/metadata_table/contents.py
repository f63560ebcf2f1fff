"""Tables that say something wrong, or are read in a way that costs too much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.metadata_table.registry import table_mutant
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.io import read_file, write_file
from fscontract.pipeline.hudi.records import FileEntry, FilesRecord, Record, merge
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import MetadataWriter

_Listed = dict[str, list[FileStatus]]


@table_mutant("metadata.place")
class TwoBases(MetadataWriter):
    """Listings begin with two base files."""

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        super().bootstrap(*args, **kwargs)
        path = f"{self._metadata}/files/files-0000-0_0-0-0_00000000000000000.hfile"
        content = read_file(self._fs, path)
        write_file(self._fs, path.replace("_0-0-0_", "_1-0-0_"), content)


@table_mutant("metadata.partitions")
class TopLevel(MetadataTable):
    """Partitions below others are left out."""

    def list_partitions(self) -> list[str]:
        return [name for name in super().list_partitions() if "/" not in name]


@table_mutant("metadata.files")
class ForgetsLast(MetadataTable):
    """What the last action did is not seen."""

    def _counts(self, instant: str) -> bool:
        return super()._counts(instant) and instant != self.data_timeline.latest[:17]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        last = max(self.data_timeline.completed, default="")
        self.data_timeline = self.data_timeline.until(
            min(self.data_timeline.completed.get(last, ""), last)
        )


@table_mutant("metadata.sizes")
class Short(MetadataTable):
    """Sizes have 32 bits."""

    def list_many(self, partitions: Iterable[str]) -> _Listed:
        return {
            name: [replace(status, length=status.length & 0xFFFFFFFF) for status in statuses]
            for name, statuses in super().list_many(partitions).items()
        }


@table_mutant("metadata.root")
class Dot(MetadataTable):
    """The partition of a dataset that has none is called by its key."""

    def list_partitions(self) -> list[str]:
        return [name or "." for name in super().list_partitions()]


@table_mutant("metadata.absent-partition")
class Strict(MetadataTable):
    """A partition that is not there is an error."""

    def list_many(self, partitions: Iterable[str]) -> _Listed:
        found = super().list_many(partitions)
        for name, statuses in found.items():
            if not statuses:
                raise FileNotFoundException(name, "no such partition")
        return found


@table_mutant("metadata.empty-partition")
class KeepsEmpty(MetadataWriter):
    """A partition stays when its last file goes."""

    def _names(self, partitions: Any) -> Any:
        return {name: ["something"] for name in partitions}


@table_mutant("metadata.deleted")
class AddsOnly(MetadataWriter):
    """The table is not told of files that were deleted."""

    def _apply(self, time: str, change: Change) -> None:
        super()._apply(time, replace(change, deleted={}))


class _Merging(FileGroupReader):
    """Merges files of one name by a rule of its own."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry | None:
        raise NotImplementedError

    def __init_subclass__(cls) -> None:
        def merging(older: Record, newer: Record) -> Record:
            found = merge(older, newer)
            if not isinstance(older, FilesRecord) or not isinstance(newer, FilesRecord):
                return found
            assert isinstance(found, FilesRecord)
            files = dict(found.files)
            for name in older.files.keys() & newer.files.keys():
                info = cls.merged(older.files[name], newer.files[name])
                if info is None:
                    del files[name]
                else:
                    files[name] = info
            return replace(found, files=files)

        cls.merge = staticmethod(merging)  # type: ignore[method-assign]


@table_mutant("metadata.size-larger")
class NewestSize(_Merging):
    """A file has the size that it was told of last."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry:
        return newer


@table_mutant("metadata.size-new")
class ForgetsDeletion(_Merging):
    """A file that came again is merged with what it was before it was deleted."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry:
        if newer.is_deleted:
            return newer
        return FileEntry(newer.size) if older.is_deleted else FileEntry(max(older.size, newer.size))


@table_mutant("metadata.deleted-twice")
class DropsSecond(_Merging):
    """Two deletions of a file are none, as they were in Hudi."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry | None:
        if older.is_deleted and newer.is_deleted:
            return None
        return newer if newer.is_deleted or older.is_deleted else max(older, newer)


@table_mutant("metadata.associative")
class DropsBoth(_Merging):
    """A file and its deletion are nothing, also where both are in logs; as in hudi-rs."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry | None:
        if newer.is_deleted:
            return newer if older.is_deleted else None
        return newer if older.is_deleted else max(older, newer)


@table_mutant("metadata.live-only")
class KeepsAll(MetadataWriter):
    """Cleaning leaves a hundred slices."""

    def clean_table(self, keep: int = 1) -> list[str]:
        return super().clean_table(100)


@table_mutant("metadata.either-absent")
class NeedsLogs(FileGroupReader):
    """Without logs there is nothing."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Record]:
        return super().get_many(keys) if self._changes() else {}


@table_mutant("metadata.logs-once")
class ReadsAgain(FileGroupReader):
    """Each lookup reads the logs."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Record]:
        self._merged = None
        return super().get_many(keys)


@table_mutant("metadata.one-reader")
class ReaderEach(MetadataTable):
    """Each partition is looked up by a reader of its own."""

    def list_many(self, partitions: Iterable[str]) -> _Listed:
        found: _Listed = {}
        for name in partitions:
            with MetadataTable(self._fs, self.path) as table:
                found |= table.list_many([name])
        return found


@table_mutant("metadata.no-listing")
class Lists(MetadataWriter):
    """The directories that change are listed."""

    def _apply(self, time: str, change: Change) -> None:
        for partition in {**change.added, **change.deleted}:
            list(self._fs.list_status(f"{self.path}/{partition}"))
        super()._apply(time, change)


@table_mutant("metadata.slices-cached")
class ListsSlices(MetadataTable):
    """Each lookup lists the files of the table."""

    def _readers(self, partition: str) -> list[FileGroupReader]:
        self._groups.clear()
        return super()._readers(partition)


@table_mutant("metadata.opening-cheap")
class ReadsRollbacks(MetadataTable):
    """To open the table all rollbacks are read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for each in self.data_timeline.instants.values():
            if each.action == "rollback":
                self._look(each)

    def _look(self, instant: Instant) -> None:
        read_file(self._fs, f"{self.path}/.hoodie/timeline/{instant.file_name}")


@table_mutant("metadata.time-travel")
class AlwaysNow(MetadataTable):
    """The dataset is as it is now, whatever is asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "as_of": None})


@table_mutant("metadata.time-travel-bounds")
class BeforeTime(MetadataTable):
    """What was before the table is what it began with."""

    def _check_age(self, as_of: str) -> None:
        pass
