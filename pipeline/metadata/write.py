"""Writing a dataset's metadata table: from a listing at first, then commit by commit.

One process writes at a time. The order is that of Hudi's second design: the metadata table is
changed first, and the change counts once the instant is completed on the dataset's timeline.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from fscontract.contract.errors import IllegalArgumentException
from fscontract.contract.ports import FileSystem
from fscontract.pipeline.metadata.codec import encode_record
from fscontract.pipeline.metadata.commits import (
    WrittenFile,
    encode_commit,
    encode_rollback,
    encode_rollback_plan,
)
from fscontract.pipeline.metadata.errors import MetadataException
from fscontract.pipeline.metadata.files import list_files, write_file
from fscontract.pipeline.metadata.group import FileGroupReader
from fscontract.pipeline.metadata.hfile.writer import write_hfile
from fscontract.pipeline.metadata.keys import file_key
from fscontract.pipeline.metadata.log import data_block, encode_log
from fscontract.pipeline.metadata.names import (
    COLUMN_STATS,
    FILE_GROUPS,
    FILES,
    FIRST_INSTANT,
    HOODIE,
    METADATA,
    PROPERTIES,
    BaseName,
    LogName,
    parse_name,
)
from fscontract.pipeline.metadata.payload import (
    ALL_PARTITIONS,
    GONE,
    NO_PARTITION,
    ColumnStatistics,
    FileInfo,
    FilesRecord,
    Record,
)
from fscontract.pipeline.metadata.properties import PARTITIONS, read_properties, write_properties
from fscontract.pipeline.metadata.schema import RECORD_JSON
from fscontract.pipeline.metadata.slices import FileSlice, latest_slices, visible
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.timeline import (
    COMPLETED,
    Clock,
    Instant,
    Timeline,
    TimelineWriter,
    load_timeline,
    utc_now,
)

#: Which columns have statistics, in the properties of a dataset.
COLUMNS = "hoodie.metadata.index.column.stats.column.list"
#: The Avro schema of a dataset's rows, in its properties; each commit repeats it.
SCHEMA = "hoodie.table.create.schema"
#: Files by partition and name, and their sizes.
Sizes = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Change:
    """What an action did to a dataset: files it added, with their sizes, and files it deleted.

    `statistics` are of files it added; their keys may be left empty.
    """

    added: Sizes = field(default_factory=dict)
    deleted: Mapping[str, Collection[str]] = field(default_factory=dict)
    statistics: Mapping[tuple[str, str], Sequence[ColumnStatistics]] = field(default_factory=dict)


class MetadataWriter:
    """Writes the metadata table of the dataset at `path`."""

    def __init__(self, fs: FileSystem, path: str, clock: Clock = utc_now) -> None:
        self._fs = fs
        self.path = path.rstrip("/")
        self._metadata = f"{self.path}/{METADATA}"
        self._data_instants = TimelineWriter(fs, self.path, clock)
        self._instants = TimelineWriter(fs, self._metadata, clock)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def bootstrap(
        self, content: Change, name: str, properties: Mapping[str, str] | None = None
    ) -> None:
        """Make the metadata table of what there is; FileAlreadyExistsException if there is one.

        It counts once the dataset's properties name its partitions. They are made if there are
        none; `properties` is added to them.
        """
        columns = sorted({s.column for group in content.statistics.values() for s in group})
        records: dict[str, list[Record]] = {FILES: self._file_records(content, {})}
        if columns:
            records[COLUMN_STATS] = self._statistics_records(content, columns)
        write_properties(self._fs, f"{self._metadata}/{PROPERTIES}", _own_properties(name))
        for number, (partition, each) in enumerate(records.items()):
            instant = Instant(f"{int(FIRST_INSTANT) + number:017}", "deltacommit", COMPLETED)
            self._begin(instant)
            base = self._write_base(partition, instant.time, iter(each))
            self._instants.complete(instant, encode_commit([base], "BULK_INSERT"))
        whole = {**_data_properties(name), **self._properties(), **(properties or {})}
        whole |= {PARTITIONS: ",".join(sorted(records)), COLUMNS: ",".join(columns)}
        write_properties(self._fs, f"{self.path}/{PROPERTIES}", whole, replace=True)

    def begin(self, action: str = "commit", plan: bytes = b"") -> Instant:
        """Begin an action on the dataset; its time may be part of the names of its files."""
        both = self.timelines()
        latest = max(both, key=lambda timeline: timeline.latest)
        instant = self._data_instants.request(action, latest, plan)
        self._data_instants.begin(instant)
        return instant

    def finish(self, instant: Instant, change: Change) -> Instant:
        """Put what an action did into the metadata table, and complete it: it counts from then."""
        self.apply(instant, change)
        files = [
            WrittenFile(partition, name.partition("_")[0], _below(partition, name), size)
            for partition, sizes in change.added.items()
            for name, size in sizes.items()
        ]
        schema = self._properties().get(SCHEMA)
        content = encode_commit(files, "UPSERT", {"schema": schema} if schema else {})
        return self._data_instants.complete(instant, content, self._latest())

    def commit(self, change: Change, action: str = "commit") -> Instant:
        """Do all of an action."""
        return self.finish(self.begin(action), change)

    def roll_back(self, failed: Instant) -> Instant:
        """Undo an action that was begun and never completed, as a new action.

        What it wrote to the metadata table did not count, and is removed; its data files are the
        caller's.
        """
        data, metadata = self.timelines()
        if failed.time in data.completed:
            raise IllegalArgumentException(f"{failed.time} is completed, and stays")
        plan = encode_rollback_plan(failed.time, failed.action)
        instant = self.begin("rollback", plan)
        done = metadata.instants.get(failed.time)
        if done is not None:
            if done.state == COMPLETED:
                self._fs.delete(f"{self._metadata}/.hoodie/timeline/{done.file_name}")
            self._instants.remove(done)
        for partition in FILE_GROUPS:
            for status in list_files(self._fs, f"{self._metadata}/{partition}"):
                name = parse_name(status.path.rpartition("/")[2])
                if name is not None and name.instant == failed.time:
                    self._fs.delete(status.path)
        self._data_instants.remove(failed)
        self.apply(instant, Change())
        content = encode_rollback(instant.time, failed.time, failed.action)
        return self._data_instants.complete(instant, content, self._latest())

    def compact(self) -> Instant | None:
        """Write new base files with all that the logs say; None while an action is not completed.

        One that was not completed is done again.
        """
        data, metadata = self.timelines()
        pending = [each for each in metadata.pending if each.action == "compaction"]
        if pending:
            instant = pending[0]
        elif data.pending:
            return None
        else:
            latest = max(data, metadata, key=lambda timeline: timeline.latest)
            instant = self._instants.request("compaction", latest)
            self._instants.begin(instant)
        written = [
            self._write_base(partition, instant.time, self._compacted(each, instant, data))
            for partition in self._properties()[PARTITIONS].split(",")
            for each in self._slices(partition, metadata)
        ]
        content = encode_commit(written, "COMPACT", compacted=True)
        return self._instants.complete(instant, content, self._latest())

    def _compacted(self, each: FileSlice, instant: Instant, data: Timeline) -> Iterator[Record]:
        """The records of a slice, without logs that were completed since the instant."""
        logs = tuple(log for log in each.logs if log.completed < instant.time)
        older = FileSlice(each.group, each.base_instant, each.base, logs)
        reader = FileGroupReader(self._fs, older, lambda time: visible(time, data))
        try:
            yield from reader.scan()
        finally:
            reader.close()

    def _slices(self, partition: str, metadata: Timeline) -> list[FileSlice]:
        if partition not in FILE_GROUPS:
            raise MetadataException(self._metadata, f"no partition to write is {partition!r}")
        slices = latest_slices(list_files(self._fs, f"{self._metadata}/{partition}"), metadata)
        if [each.group for each in slices] != [FILE_GROUPS[partition]]:
            raise MetadataException(self._metadata, f"other file groups in {partition!r}")
        return slices

    def apply(self, instant: Instant, change: Change) -> None:
        """Put what an action did into the metadata table: it counts once that is completed."""
        properties = self._properties()
        deleted = {name: set(gone) for name, gone in change.deleted.items() if gone}
        records = {FILES: self._file_records(change, deleted)}
        columns = [each for each in properties.get(COLUMNS, "").split(",") if each]
        if columns:
            records[COLUMN_STATS] = self._statistics_records(change, columns)
        delta = Instant(instant.time, "deltacommit", COMPLETED)
        self._begin(delta)
        written = [
            self._write_log(partition, instant.time, each)
            for partition, each in records.items()
            if each
        ]
        self._instants.complete(delta, encode_commit(written, "UPSERT_PREPPED"), self._latest())

    def _file_records(self, change: Change, deleted: Mapping[str, set[str]]) -> list[Record]:
        """The records of partitions that changed, and that of all partitions, in order."""
        added = {name: files for name, files in change.added.items() if files}
        empty = self._emptied(added, deleted)
        every = {name: FileInfo(0) for name in added}
        every |= dict.fromkeys(empty, GONE)
        records = []
        for name in {**added, **deleted}:
            files = dict.fromkeys(deleted.get(name, ()), GONE)
            files |= {each: FileInfo(size) for each, size in added.get(name, {}).items()}
            records.append(FilesRecord(name or NO_PARTITION, files))
        if every:
            named = {name or NO_PARTITION: info for name, info in every.items()}
            records.append(FilesRecord(ALL_PARTITIONS, named))
        return sorted(records, key=lambda record: record.key.encode())

    def _emptied(self, added: Sizes, deleted: Mapping[str, set[str]]) -> set[str]:
        """The partitions of which nothing is left."""
        suspects = [name for name in deleted if name not in added]
        if not suspects:
            return set()
        with MetadataTable(self._fs, self.path) as table:
            listed = table.list_many(suspects)
        names = {p: {s.path.rpartition("/")[2] for s in listed[p]} for p in suspects}
        return {name for name in suspects if names[name] <= deleted[name]}

    def _statistics_records(self, change: Change, columns: Sequence[str]) -> list[Record]:
        """Statistics of files that were added; what was known of them before is gone, too."""
        records: dict[str, Record] = {}
        added = ((name, file) for name, files in change.added.items() for file in files)
        deleted = ((name, file) for name, files in change.deleted.items() for file in files)
        for partition, file in chain(deleted, added):
            for column in columns:
                key = file_key(column, partition, file)
                records[key] = ColumnStatistics(key, file, column, is_deleted=True)
            for each in change.statistics.get((partition, file), ()):
                if each.column in columns:
                    key = file_key(each.column, partition, file)
                    records[key] = replace(each, key=key, file_name=file, is_tight=True)
        return [records[key] for key in sorted(records)]

    def _write_base(self, partition: str, instant: str, records: Iterator[Record]) -> WrittenFile:
        name = str(BaseName(FILE_GROUPS[partition], instant))
        path = f"{self._metadata}/{partition}/{name}"
        self._mark(partition)
        entries = (
            (record.key.encode(), encode_record(record))
            for record in records
            if not (isinstance(record, ColumnStatistics) and record.is_deleted)
        )
        with self._fs.create(path) as file:
            size = write_hfile(file, entries, info={b"schema": RECORD_JSON.encode()})
        return WrittenFile(partition, FILE_GROUPS[partition], _below(partition, name), size)

    def _write_log(self, partition: str, instant: str, records: list[Record]) -> WrittenFile:
        name = str(LogName(FILE_GROUPS[partition], instant))
        entries = [(record.key.encode(), encode_record(record)) for record in records]
        content = encode_log([data_block(instant, RECORD_JSON, entries)])
        write_file(self._fs, f"{self._metadata}/{partition}/{name}", content, replace=True)
        group = FILE_GROUPS[partition]
        return WrittenFile(partition, group, _below(partition, name), len(content), len(records))

    def _mark(self, partition: str) -> None:
        text = f"#partition metadata\ncommitTime={FIRST_INSTANT}\npartitionDepth=1\n"
        path = f"{self._metadata}/{partition}/.hoodie_partition_metadata"
        write_file(self._fs, path, text.encode(), replace=True)

    def _begin(self, instant: Instant) -> None:
        for state in ("requested", "inflight"):
            self._instants.put(Instant(instant.time, instant.action, state))

    def timelines(self) -> tuple[Timeline, Timeline]:
        """The timeline of the dataset, and that of its metadata table."""
        return load_timeline(self._fs, self.path), load_timeline(self._fs, self._metadata)

    def _latest(self) -> str:
        return max(timeline.latest for timeline in self.timelines())

    def _properties(self) -> dict[str, str]:
        try:
            return read_properties(self._fs, f"{self.path}/{PROPERTIES}")
        except FileNotFoundError:
            return {}


def listing(fs: FileSystem, path: str) -> dict[str, dict[str, int]]:
    """The sizes of all files below a directory, by the directory's name below it and theirs."""
    found: dict[str, dict[str, int]] = {}
    waiting = [""]
    while waiting:
        partition = waiting.pop()
        directory = f"{path}/{partition}" if partition else path
        for status in fs.list_status(directory):
            name = status.path.rpartition("/")[2]
            if status.is_directory and name != HOODIE:
                waiting.append(f"{partition}/{name}" if partition else name)
            elif not status.is_directory and not name.startswith(HOODIE):
                found.setdefault(partition, {})[name] = status.length
    return found


def _below(partition: str, name: str) -> str:
    return f"{partition}/{name}" if partition else name


def _data_properties(name: str) -> dict[str, str]:
    return {
        "hoodie.table.name": name,
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "8",
        "hoodie.table.initial.version": "8",
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
    }


def _own_properties(name: str) -> dict[str, str]:
    return {
        **_data_properties(f"{name}_metadata"),
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.base.file.format": "HFILE",
        "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
        "hoodie.table.recordkey.fields": "key",
        "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
        "hoodie.populate.meta.fields": "false",
        "hoodie.record.merge.mode": "CUSTOM",
        "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
        "hoodie.datasource.write.drop.partition.columns": "false",
    }
