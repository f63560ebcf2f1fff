"""Creation of partitions of a metadata table, also anew, while readers and writers continue.

Footers or record keys are read without the lock. Then, with the lock, those of files that were
added meanwhile are read, and base files are written as by a compaction: they become valid with
their instant, and earlier logs no longer count. A new partition is added to the properties last.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.hudi.changes import (
    Change,
    Sizes,
    below,
    changes_of,
    statistics_records,
)
from fscontract.pipeline.hudi.column_stats import with_type
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.index_definitions import (
    default_path,
    indexed_columns,
    put_definition,
    put_record_index,
    with_columns,
)
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning
from fscontract.pipeline.hudi.listing import sizes_of
from fscontract.pipeline.hudi.parquet_stats import StatisticsReader, indexable, read_statistics
from fscontract.pipeline.hudi.partition_stats import IncompleteStatistics, partition_records
from fscontract.pipeline.hudi.record_index import MAX_GROUPS, Group, file_group_count
from fscontract.pipeline.hudi.record_index import group_names as new_group_names
from fscontract.pipeline.hudi.record_keys import (
    KeyReader,
    UnknownKeys,
    locations,
    open_keys,
    paths_of,
)
from fscontract.pipeline.hudi.records import ColumnStatistics, Record, ValueType
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import (
    KEPT,
    PARTITIONS,
    check_version,
    usable_partitions,
    write_properties,
)
from fscontract.pipeline.hudi.table_services import TableServices
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    FILE_GROUPS,
    PARTITION_STATS,
    PROPERTIES,
    RECORD_INDEX,
    Timeline,
    group_of,
)

_Files = set[tuple[str, str]]


class PartitionBuilder(TableServices):
    """Creates and drops partitions of a metadata table."""

    def create_partition(
        self,
        partition: str,
        columns: Collection[str] | None = (),
        reader: StatisticsReader = read_statistics,
        file_groups: int | None = None,
    ) -> None:
        """Add a partition to the table, or build an existing one anew.

        `column_stats` stores ranges of `columns`: by default the same as before, with None the
        first 32 of each file. If the table has `partition_stats`, they are built anew, too.
        `partition_stats` stores the ranges of the dataset's partitions. `record_index` stores the
        file group of each record key, in a number of `file_groups` that stays: by default as many
        as Hudi uses for that number of records.

        Other writers may commit meanwhile, and readers use the table as before. If this process
        dies, the table is as before, too. Raise IllegalArgumentException for any other partition
        and for invalid columns; MetadataException without a table, if another action is applied to
        the table but not completed, if no file has statistics, if one has no range for
        `partition_stats`, and if record keys can't be read.
        """
        self._check_name(partition)
        if partition == RECORD_INDEX:
            self._create_record_index(file_groups)
            return
        if file_groups is not None:
            raise IllegalArgumentException(f"{partition} has a fixed number of file groups")
        with self._critical():
            self._partitions()
            check_version(self.path, self._of_dataset(), KEPT)
            self._settle()
            before = self.timelines()[0]
            columns = self._columns(partition, columns)
            files = self._files()
        reads = partition == COLUMN_STATS
        known = reader(self._fs, self.path, files, columns) if reads else {}
        with self._critical():
            self._settle()
            self._remove_remains()  # of a writer that died
            if not reads:
                self._build(self._ranges(), self._indexed(self._properties()).names)
                return
            after = self._files()
            stale = self._touched(before) | (_names(after) - _names(files))
            again = _selected(after, stale)
            known = {file: ranges for file, ranges in known.items() if file not in stale}
            known |= reader(self._fs, self.path, again, columns)
            content = Change(after, statistics=known)
            names = columns_of(content, columns)
            if not names:
                raise MetadataException(self.path, "no file has statistics of columns")
            partitions = self._partitions()
            ranges = PARTITION_STATS in partitions
            records = self._first_statistics(content, names, ranges)
            self._build(records, names)
            if ranges and PARTITION_STATS not in records:
                self._remove_partitions([PARTITION_STATS])

    def drop_partition(self, partition: str) -> bool:
        """Drop a partition of the table, with those that need it; return True if it existed.

        Raise IllegalArgumentException for `files`, without which there is no table.
        """
        self._check_name(partition)
        with self._critical():
            listed = self._listed_partitions(self._properties())
            names = {partition, PARTITION_STATS} if partition == COLUMN_STATS else {partition}
            existing = [name for name in listed if name in names]
            if existing:
                self._remove_partitions(existing)
            return partition in existing

    def _create_record_index(self, file_groups: int | None) -> None:
        if file_groups is not None and not 0 < file_groups <= MAX_GROUPS:
            raise IllegalArgumentException(
                f"invalid number of file groups: {file_groups}; must be from 1 to {MAX_GROUPS}"
            )
        try:
            with self._critical():
                self._partitions()
                check_version(self.path, self._of_dataset(), KEPT)
                self._settle()
                self._retire()
                before = self.timelines()[0]
                reader, slices = self._file_slices()
            known = dict(zip(slices, reader.read(slices.values()), strict=True))
            with self._critical():
                self._settle()
                self._remove_remains()  # of a writer that died
                stale = {below(*file) for file in self._touched(before)}
                reader, after = self._file_slices()
                fresh = [
                    group
                    for group, item in after.items()
                    if item != slices.get(group) or not stale.isdisjoint(self._names_in(item))
                ]
                known |= zip(fresh, reader.read(after[group] for group in fresh), strict=True)
                records = locations(after, known)
                self._check_groups(file_groups)
                count = file_groups or file_group_count(len(records))
                self._build({RECORD_INDEX: records}, (), new_group_names(count))
        except UnknownKeys as error:
            raise MetadataException(self.path, f"can't create {RECORD_INDEX}: {error}") from error

    def _file_slices(self) -> tuple[KeyReader, dict[Group, FileSlice]]:
        """Return the latest slices of the dataset's files, and a reader of their keys."""
        reader = open_keys(self._fs, self.path)
        return reader, reader.slices(self._files(), reader.table.replaced)

    def _names_in(self, item: FileSlice) -> set[str]:
        """Return the paths of a slice's files below the dataset."""
        return {path[len(self.path) + 1 :] for path in paths_of(item)}

    def _check_groups(self, file_groups: int | None) -> None:
        """Raise IllegalArgumentException if an existing index has another number of file groups."""
        if file_groups is None or RECORD_INDEX not in self._partitions():
            return
        if (count := len(self._groups(RECORD_INDEX))) != file_groups:
            raise IllegalArgumentException(
                f"{RECORD_INDEX} has {count} file groups, not {file_groups}; drop it first"
            )

    @abstractmethod
    def _settle(self) -> None:
        """End actions of dead writers, and apply completed ones that the table lacks."""

    def _check_name(self, partition: str) -> None:
        if partition not in (COLUMN_STATS, PARTITION_STATS, RECORD_INDEX):
            allowed = f"{COLUMN_STATS}, {PARTITION_STATS} or {RECORD_INDEX}"
            raise IllegalArgumentException(f"invalid partition: {partition!r}; must be {allowed}")

    def _columns(self, partition: str, columns: Collection[str] | None) -> Collection[str] | None:
        """Return the columns to read; raise IllegalArgumentException."""
        known = [name for name in self._indexed(self._properties()).names if indexable(name)]
        if partition == PARTITION_STATS and not known:
            raise IllegalArgumentException(f"{PARTITION_STATS} requires {COLUMN_STATS}")
        if columns is None or partition == PARTITION_STATS:
            return None
        if not (columns or known):
            raise IllegalArgumentException(f"{COLUMN_STATS} requires columns")
        return list(columns or known)

    def _files(self) -> dict[str, dict[str, int]]:
        with self._table() as table:
            return sizes_of(dict(table.list_all()))

    def _touched(self, before: Timeline) -> _Files:
        """Return the files that actions completed since then have added or deleted."""
        data = self.timelines()[0]
        recent = [data.instants[time] for time in data.completed if time not in before.completed]
        changes = changes_of(self._fs, self.path, recent)
        return {
            (partition, name)
            for change in changes
            for names in (change.added, change.deleted)
            for partition, files in names.items()
            for name in files
        }

    def _ranges(self) -> dict[str, list[Record]]:
        """Return the ranges of all partitions, from the statistics of their files."""
        indexed = self._indexed(self._properties())
        content = Change(self._files())
        with self._table() as table:
            of_files = [
                record
                for column in indexed.names
                for record in table.column_statistics(column).values()
            ]
        try:
            ranges = partition_records(content, of_files, indexed.names, is_tight=True)
        except IncompleteStatistics as error:
            raise MetadataException(
                self.path, f"can't create {PARTITION_STATS}: {error}"
            ) from error
        return {PARTITION_STATS: versioned(ranges, indexed.typed)}

    def _first_statistics(
        self, content: Change, columns: Sequence[str], partition_stats: bool
    ) -> dict[str, list[Record]]:
        """Return the statistics of all files, and of their partitions if they are complete."""
        typed = self._is_typed(columns)
        of_files = statistics_records(content, columns)
        records = {COLUMN_STATS: versioned(of_files, typed)}
        if partition_stats:
            try:
                ranges = partition_records(content, of_files, columns, is_tight=True)
                records[PARTITION_STATS] = versioned(ranges, typed)
            except IncompleteStatistics as error:
                message = f"{self._metadata}: no partition {PARTITION_STATS}: {error}"
                warnings.warn(message, MetadataWarning, stacklevel=4)
        return records

    def _is_typed(self, columns: Sequence[str]) -> bool:
        """Return True if statistics have their type: if an index that exists has, or a new one."""
        properties = self._properties()
        if COLUMN_STATS not in usable_partitions(properties) and not self._elsewhere:
            properties |= default_path(properties)
            put_definition(self._fs, self.path, properties, columns)
        return indexed_columns(self._fs, self.path, properties).typed

    def _build(
        self,
        records: Mapping[str, Sequence[Record]],
        columns: Sequence[str],
        new_groups: Sequence[str] = (),
    ) -> None:
        """Write partitions, and make them valid; a new one has one file group, or `new_groups`."""
        data, metadata = self.timelines()
        if self._undecided(data, metadata):
            raise MetadataException(self.path, "an action is applied, but not completed")
        existing = self._partitions()
        instant = self._instants.request("deltacommit", max(data, metadata, key=_latest))
        self._instants.begin(instant)
        written = []
        for partition, entries in records.items():
            groups: Sequence[str] = new_groups or [FILE_GROUPS[partition]]
            if partition in existing:
                groups = self._groups(partition)
            parts: dict[str, list[Record]] = {group: [] for group in groups}
            for record in entries:
                parts[group_of(record.key, groups)].append(record)
            for group, part in parts.items():
                written.append(self._write_base(partition, group, instant.time, part))
        self._check_lock()
        content = encode_commit(written, "BULK_INSERT")
        self._instants.complete(instant, content, self._latest())
        properties = self._properties()
        named = {*existing, *records}
        properties |= {} if self._elsewhere else default_path(properties)
        properties |= {PARTITIONS: ",".join(sorted(named))}
        if COLUMN_STATS in records:
            properties = with_columns(properties, columns)
        if RECORD_INDEX in records and not self._elsewhere:
            put_record_index(self._fs, self.path, properties)
        write_properties(self._fs, self.location.marker, properties, replace=True)
        if COLUMN_STATS in records and not self._elsewhere:
            put_definition(self._fs, self.path, properties, columns)
        self._refresh()

    def _table(self) -> MetadataTable:
        return MetadataTable(
            self._fs,
            self.path,
            directory=self._directory,
            merge_unsynced=False,
            max_block_bytes=self._max_block_bytes,
        )

    @property
    def _elsewhere(self) -> bool:
        return self.location.marker == f"{self._metadata}/{PROPERTIES}"

    @property
    def _directory(self) -> str | None:
        return self._metadata if self._elsewhere else None


def columns_of(content: Change, columns: Collection[str] | None) -> list[str]:
    """Return these columns and those with statistics; raise IllegalArgumentException if invalid."""
    indexed = {known.column for group in content.statistics.values() for known in group}
    names = sorted({*(columns or ()), *indexed})
    if bad := [name for name in names if not indexable(name)]:
        raise IllegalArgumentException(
            f"invalid column name: {bad[0]!r}; it can't be part of a comma-separated list"
        )
    return names


def versioned(
    records: Iterable[Record], typed: bool, types: Mapping[str, ValueType | None] | None = None
) -> list[Record]:
    """Return statistics with the types that the table's version has; `types` are known by key."""
    statistics = (record for record in records if isinstance(record, ColumnStatistics))
    if typed:
        return [with_type(record, (types or {}).get(record.key)) for record in statistics]
    return [
        record if record.value_type is None else replace(record, value_type=None)
        for record in statistics
    ]


def _latest(timeline: Timeline) -> str:
    return timeline.latest


def _names(files: Sizes) -> _Files:
    return {(partition, name) for partition, names in files.items() for name in names}


def _selected(files: Sizes, names: Collection[tuple[str, str]]) -> dict[str, dict[str, int]]:
    return {
        partition: {name: size for name, size in sizes.items() if (partition, name) in names}
        for partition, sizes in files.items()
    }
