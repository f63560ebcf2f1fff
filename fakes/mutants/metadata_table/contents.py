"""Tables with wrong content, also with many partitions or files only, or with expensive reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import read_file, write_file
from fscontract.pipeline.hudi.records import FileEntry, FilesRecord, LiveFiles, Record, merge
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import write_properties
from fscontract.pipeline.hudi.timeline import FIRST_INSTANT, Instant
from fscontract.pipeline.hudi.writer import MetadataWriter

_Listed = dict[str, list[FileStatus]]


@mutant("metadata.place", MetadataWriter.bootstrap)
def two_bases(self: MetadataWriter, *args: Any, **kwargs: Any) -> None:
    """Listings begin with two base files."""
    right(self).bootstrap(*args, **kwargs)
    path = f"{self._metadata}/files/files-0000-0_0-0-0_00000000000000000.hfile"
    content = read_file(self._fs, path)
    write_file(self._fs, path.replace("_0-0-0_", "_1-0-0_"), content)


@mutant("metadata.partitions", MetadataTable.list_partitions)
def top_level(self: MetadataTable) -> list[str]:
    """Partitions below others are left out."""
    return [name for name in right(self).list_partitions() if "/" not in name]


@mutant("metadata.partitions", MetadataTable.list_partitions)
def folds_case(self: MetadataTable) -> list[str]:
    """Partitions are listed in lower case."""
    return sorted({name.lower() for name in right(self).list_partitions()})


@mutant("metadata.files", MetadataTable.list_many)
def composes_names(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """A letter and its accent become one character."""
    return {
        name: [replace(status, path=normalize("NFC", status.path)) for status in statuses]
        for name, statuses in right(self).list_many(partitions).items()
    }


@mutant("metadata.files", MetadataTable.list_many)
def hides_names(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Files whose names begin with a dot or an underscore are not listed."""
    return {
        name: [s for s in statuses if s.path.rpartition("/")[2][0] not in "._"]
        for name, statuses in right(self).list_many(partitions).items()
    }


@mutant("metadata.files")
class ForgetsLast(MetadataTable):
    """The changes of the last action are not visible."""

    def _counts(self, instant: str) -> bool:
        return super()._counts(instant) and instant != self.data_timeline.latest[:17]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        last = max(self.data_timeline.completed, default="")
        self.data_timeline = self.data_timeline.until(
            min(self.data_timeline.completed.get(last, ""), last)
        )


@mutant("metadata.sizes", MetadataTable.list_many)
def short(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Sizes are truncated to 32 bits."""
    return {
        name: [replace(status, length=status.length & 0xFFFFFFFF) for status in statuses]
        for name, statuses in right(self).list_many(partitions).items()
    }


@mutant("metadata.sizes", MetadataTable.list_many)
def floating(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Sizes are floating-point numbers."""
    return {
        name: [replace(status, length=int(float(status.length))) for status in statuses]
        for name, statuses in right(self).list_many(partitions).items()
    }


@mutant("metadata.sizes", MetadataTable.list_many)
def sizes_by_name(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Files of one name have the size of the first one."""
    sizes: dict[str, int] = {}
    listed = right(self).list_many(partitions)
    for name, statuses in listed.items():
        known = [sizes.setdefault(s.path.rpartition("/")[2], s.length) for s in statuses]
        pairs = zip(statuses, known, strict=True)
        listed[name] = [replace(status, length=size) for status, size in pairs]
    return listed


@mutant("metadata.files")
class LastLogs(FileGroupReader):
    """A reader merges the last thirty logs."""

    def __init__(self, fs: FileSystem, slice_: FileSlice, *arguments: Any, **options: Any) -> None:
        super().__init__(fs, replace(slice_, logs=slice_.logs[-30:]), *arguments, **options)


@mutant("metadata.root", MetadataTable.list_partitions)
def dot(self: MetadataTable) -> list[str]:
    """The partition of an unpartitioned dataset has its internal key as name."""
    return [name or "." for name in right(self).list_partitions()]


@mutant("metadata.absent-partition", MetadataTable.list_many)
def strict(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """A partition that does not exist is an error."""
    listed = right(self).list_many(partitions)
    for name, statuses in listed.items():
        if not statuses:
            raise FileNotFoundException(name, "no such partition")
    return listed


@mutant("metadata.empty-partition", MetadataWriter._names)
def keeps_empty(self: MetadataWriter, partitions: Any) -> Any:
    """A partition stays when its last file is deleted."""
    return {name: ["something"] for name in partitions}


@mutant("metadata.deleted", MetadataWriter._apply)
def adds_only(self: MetadataWriter, time: str, change: Change) -> None:
    """Deleted files are not reported to the table."""
    right(self)._apply(time, replace(change, deleted={}))


@mutant("metadata.deleted", MetadataWriter._apply)
def deletes_by_prefix(self: MetadataWriter, time: str, change: Change) -> None:
    """With a file those are deleted whose names begin with its name."""
    known = self._names(change.deleted)
    deleted = {
        partition: {*names, *(n for n in known[partition] if n.startswith(tuple(names)))}
        for partition, names in change.deleted.items()
    }
    right(self)._apply(time, replace(change, deleted=deleted))


@mutant("metadata.deleted", MetadataWriter._apply)
def deletes_decoded(self: MetadataWriter, time: str, change: Change) -> None:
    """Escapes in the names of deleted files are decoded, as those of URLs."""
    deleted = {name: [unquote(n) for n in files] for name, files in change.deleted.items()}
    right(self)._apply(time, replace(change, deleted=deleted))


@mutant("metadata.deleted")
class KeepsCompacted(FileGroupReader):
    """A file in the base file of a compaction stays."""

    def _merged_record(
        self, key: bytes, value: bytes | None, changes: dict[bytes, Record]
    ) -> Record | None:
        merged = super()._merged_record(key, value, changes)
        known = None if value is None else self._decoded(key, value)
        first = self._slice.base_instant.startswith(FIRST_INSTANT[:14])
        if first or not isinstance(known, FilesRecord):
            return merged
        sizes = merged.sizes if isinstance(merged, FilesRecord) else {}
        return FilesRecord(known.key, LiveFiles({**known.sizes, **sizes}))


@mutant("metadata.deleted", MetadataWriter._apply)
def deletes_by_name(self: MetadataWriter, time: str, change: Change) -> None:
    """A deleted file is deleted in each partition of the change that has one of this name."""
    names = sorted({name for files in change.deleted.values() for name in files})
    right(self)._apply(time, replace(change, deleted=dict.fromkeys(change.deleted, names)))


class _Merging(FileGroupReader):
    """Merges files of one name by another rule."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry | None:
        raise NotImplementedError

    def __init_subclass__(cls) -> None:
        def merging(older: Record, newer: Record) -> Record:
            merged = merge(older, newer)
            if not isinstance(older, FilesRecord) or not isinstance(newer, FilesRecord):
                return merged
            assert isinstance(merged, FilesRecord)
            files = dict(merged.files)
            for name in older.files.keys() & newer.files.keys():
                info = cls.merged(older.files[name], newer.files[name])
                if info is None:
                    del files[name]
                else:
                    files[name] = info
            return replace(merged, files=files)

        cls.merge = staticmethod(merging)  # type: ignore[method-assign]


@mutant("metadata.size-larger")
class NewestSize(_Merging):
    """A file has the size that was reported last."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry:
        return newer


@mutant("metadata.size-new")
class ForgetsDeletion(_Merging):
    """A file that was added again is merged with its state before the deletion."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry:
        if newer.is_deleted:
            return newer
        return FileEntry(newer.size) if older.is_deleted else FileEntry(max(older.size, newer.size))


@mutant("metadata.deleted-twice")
class DropsSecond(_Merging):
    """Two deletions of a file cancel each other, as in old releases of Hudi."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry | None:
        if older.is_deleted and newer.is_deleted:
            return None
        return newer if newer.is_deleted or older.is_deleted else max(older, newer)


@mutant("metadata.associative")
class DropsBoth(_Merging):
    """A file and its deletion cancel each other, also within logs, as in hudi-rs."""

    @staticmethod
    def merged(older: FileEntry, newer: FileEntry) -> FileEntry | None:
        if newer.is_deleted:
            return newer if older.is_deleted else None
        return newer if older.is_deleted else max(older, newer)


@mutant("metadata.live-only", MetadataWriter.clean_table)
def keeps_all(self: MetadataWriter, keep: int = 1) -> list[str]:
    """Cleaning leaves a hundred slices."""
    return right(self).clean_table(100)


@mutant("metadata.either-absent", FileGroupReader.get_many)
def needs_logs(self: FileGroupReader, keys: Iterable[str]) -> dict[str, Record]:
    """Without logs the table is empty."""
    return right(self).get_many(keys) if self._changes() else {}


@mutant("metadata.logs-once", FileGroupReader.get_many)
def reads_again(self: FileGroupReader, keys: Iterable[str]) -> dict[str, Record]:
    """Each lookup reads the logs."""
    self._merged = None
    return right(self).get_many(keys)


@mutant("metadata.one-reader", MetadataTable.list_many)
def reader_each(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Each partition is looked up by a separate reader."""
    listed: _Listed = {}
    for name in partitions:
        with MetadataTable(self._fs, self.path) as table:
            listed |= table.list_many([name])
    return listed


@mutant("metadata.no-listing", MetadataWriter._apply)
def lists(self: MetadataWriter, time: str, change: Change) -> None:
    """Directories with changes are listed."""
    for partition in {**change.added, **change.deleted}:
        list(self._fs.list_status(f"{self.path}/{partition}"))
    right(self)._apply(time, change)


@mutant("metadata.slices-cached", MetadataTable._readers)
def lists_slices(self: MetadataTable, partition: str) -> list[FileGroupReader]:
    """Each lookup lists the files of the table."""
    self._groups.clear()
    return right(self)._readers(partition)


@mutant("metadata.opening-cheap")
class ReadsRollbacks(MetadataTable):
    """Opening the table reads all rollbacks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for instant in self.data_timeline.instants.values():
            if instant.action == "rollback":
                self._look(instant)

    def _look(self, instant: Instant) -> None:
        read_file(self._fs, f"{self.path}/.hoodie/timeline/{instant.file_name}")


@mutant("metadata.time-travel")
class AlwaysNow(MetadataTable):
    """A table as of an earlier time shows the current dataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "as_of": None})


@mutant("metadata.time-travel-bounds", MetadataTable._check_age)
def before_time(self: MetadataTable, as_of: str) -> None:
    """Times before the table return its initial content."""


@mutant("metadata.fixed-partitions", MetadataWriter.create_partition)
def adds_once(self: MetadataWriter, partition: str, *args: Any, **kwargs: Any) -> None:
    """A partition that exists is not built anew."""
    with MetadataTable(self._fs, self.path) as table:
        existing = partition in table.partitions
    if not existing:
        right(self).create_partition(partition, *args, **kwargs)


@mutant("metadata.fixed-partitions", MetadataWriter.drop_partition)
def drops_all(self: MetadataWriter, partition: str) -> bool:
    """The whole table is dropped with a partition."""
    return self.drop()


@mutant("metadata.fixed-partitions", MetadataWriter._build)
def valid_first(self: MetadataWriter, records: Any, columns: Any, new_groups: Any = ()) -> None:
    """A new partition is valid before its files are written."""
    properties = self._properties()
    properties |= {"hoodie.table.metadata.partitions": ",".join(["files", *records])}
    write_properties(self._fs, self.location.marker, properties, replace=True)
    right(self)._build(records, columns, new_groups)


@mutant("metadata.partitions", MetadataTable.list_partitions)
def one_page(self: MetadataTable) -> list[str]:
    """Only the first 128 partitions are listed."""
    return right(self).list_partitions()[:128]


@mutant("metadata.files", MetadataTable.list_many)
def thousand_files(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Only 1,000 files of a partition are listed."""
    return {name: files[:1000] for name, files in right(self).list_many(partitions).items()}


@mutant("metadata.files", MetadataTable.list_many)
def hundred_lookups(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """A lookup of more than 100 partitions has no files for the others."""
    wanted = list(partitions)
    listed = right(self).list_many(wanted[:100])
    return {**listed, **{name: [] for name in wanted[100:]}}


@mutant("metadata.files", MetadataTable.list_many)
def lookups_in_order(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Partitions that are asked for in another order than that of their names are missed."""
    found, last = {}, ""
    for name, files in right(self).list_many(list(partitions)).items():
        found[name] = files if name >= last else []
        last = max(name, last)
    return found
