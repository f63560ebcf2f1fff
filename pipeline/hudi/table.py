"""Reader of a dataset's metadata table: partitions, files and sizes without directory listings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, groupby
from operator import not_
from typing import ClassVar

from fscontract.contract.api.filesystem import Closeable, FileStatus, FileSystem
from fscontract.pipeline.hudi.changes import (
    RESTORE,
    WRITES,
    Change,
    changes_of,
    file_records,
    first_completion,
    paths_below,
    statistics_records,
    unsynced,
)
from fscontract.pipeline.hudi.column_stats import (
    ColumnChunk,
    chunks,
    column_prefix,
    partition_hash,
    partition_key,
)
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.file_slices import (
    FileSlice,
    check_slices,
    is_whole,
    latest_slices,
    visible,
)
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.index_definitions import indexed_columns, is_partitioned
from fscontract.pipeline.hudi.io import MetadataException, list_files
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.partition_stats import unknown_records
from fscontract.pipeline.hudi.pruning import Filter, ruled_out
from fscontract.pipeline.hudi.record_index import TIME_ZONE, RecordLocation, by_group, location
from fscontract.pipeline.hudi.records import (
    ALL_PARTITIONS,
    NO_PARTITION,
    ColumnStatistics,
    FilesRecord,
    LocationRecord,
    Record,
)
from fscontract.pipeline.hudi.table_location import (
    KEPT,
    location_of,
    read_properties,
    usable_partitions,
    version_of,
)
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    FILES,
    PARTITION_STATS,
    RECORD_INDEX,
    group_of,
    load_timeline,
)

#: Number of attempts to list the timelines while instants are removed.
_TRIES = 3
#: Largest number of partitions whose statistics are read one by one.
_FEW = 16
#: Largest number of files whose listing an open table holds in memory: about 40 MB.
MAX_LISTED = 1 << 17


class MetadataTable(Closeable):
    """The dataset at `path` when this object was created; create a new one for later commits.

    Creating it lists the two timelines; the first use of a partition of the metadata table lists
    that partition. A lookup then takes one positioned or vectored read for any number of
    partitions. Damaged files raise CorruptFileException. Not thread-safe.

    With `as_of`, an instant, it shows the dataset at that time; MetadataException if the table does
    not go back that far. Actions completed without the table are read from the dataset's timeline,
    unless `merge_unsynced` is off. `directory` is the table's directory, if outside the dataset.
    Blocks of more than `max_block_bytes` uncompressed bytes are rejected as damaged.
    """

    group_class: ClassVar[type[FileGroupReader]] = FileGroupReader

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        *,
        as_of: str | None = None,
        directory: str | None = None,
        merge_unsynced: bool = True,
        metrics: Metrics | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
    ) -> None:
        self._fs = fs
        self._max_block_bytes = max_block_bytes
        self._location = location = location_of(path, directory)
        self.path = location.path
        self._metadata = location.metadata
        self.metrics = metrics or Metrics()
        self._properties = properties = read_properties(fs, location.marker)
        self.partitions = frozenset(usable_partitions(properties))
        if FILES not in self.partitions:
            raise MetadataException(self.path, "the dataset has no metadata table")
        if (version := version_of(self.path, properties)) < KEPT[0]:
            message = f"unsupported metadata table of version {version}: must be {KEPT[0]} or later"
            raise MetadataException(self.path, message)
        has_columns = COLUMN_STATS in self.partitions
        self._columns = indexed_columns(fs, self.path, properties).names if has_columns else ()
        self._as_of = as_of
        for attempts_left in reversed(range(_TRIES)):
            try:
                self._unsynced = self._load(merge_unsynced)
                break
            # a writer is archiving: each of the two listings was incomplete
            except FileNotFoundError:
                if not attempts_left:
                    raise
        self._groups: dict[str, list[FileGroupReader]] = {}
        self._known: dict[str, list[ColumnChunk]] = {}
        self._was_listed = False
        self._listed: dict[str, list[FileStatus]] | None = None

    def _load(self, merge_unsynced: bool) -> list[Change]:
        """Load the timelines; return the changes that are missing in the table."""
        # The dataset's timeline first: its instants were completed in the other one before.
        self.data_timeline = load_timeline(self._fs, self.path)
        self.timeline = load_timeline(self._fs, self._metadata)
        if self._as_of is not None:
            self._check_age(self._as_of)
            self.data_timeline = self.data_timeline.until(self._as_of)
        missing = unsynced(self.data_timeline, self.timeline) if merge_unsynced else []
        self._unindexed = [item for item in missing if item.action in (*WRITES, RESTORE)]
        return changes_of(self._fs, self.path, missing)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, instant={self.data_timeline.latest!r})"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that have statistics."""
        return self._columns

    def close(self) -> None:
        """Close all files."""
        for groups in self._groups.values():
            for group in groups:
                group.close()
        self._groups.clear()
        self._listed = None

    def list_partitions(self) -> list[str]:
        """Return the sorted names of the partitions; "" means an unpartitioned dataset."""
        record = self._get([ALL_PARTITIONS]).get(ALL_PARTITIONS)
        names = record.sizes if isinstance(record, FilesRecord) else ()
        return sorted("" if name == NO_PARTITION else name for name in names)

    def list_files(self, partition: str) -> list[FileStatus]:
        """Return the files of a partition, sorted by path; none for a missing partition."""
        return self.list_many([partition])[partition]

    def list_many(self, partitions: Iterable[str]) -> dict[str, list[FileStatus]]:
        """Return the files of several partitions, with one vectored read."""
        unique = list(dict.fromkeys(partitions))
        records = self._get([name or NO_PARTITION for name in unique])
        files = {name: records.get(name or NO_PARTITION) for name in unique}
        for name in files.keys() & {ALL_PARTITIONS, NO_PARTITION}:
            files[name] = None  # keys that are not names of partitions
        return {
            name: self._statuses(name, record.sizes if isinstance(record, FilesRecord) else {})
            for name, record in files.items()
        }

    def list_all(self) -> Iterator[tuple[str, list[FileStatus]]]:
        """Yield every partition and its files, in order, in one pass over the table.

        From the second call on, the table holds the result in memory for the next ones, unless
        there are more than `MAX_LISTED` files.
        """
        if self._listed is not None:
            for name, statuses in self._listed.items():
                yield name, statuses.copy()
            return
        listed: dict[str, list[FileStatus]] | None = {} if self._was_listed else None
        self._was_listed = True
        count = 0
        for name, record in self._records(None):
            statuses = self._statuses(name, record.sizes)
            count += len(statuses)
            if count > MAX_LISTED:
                listed = None
            if listed is not None:
                listed[name] = statuses.copy()
            yield name, statuses
        self._listed = listed

    def _records(self, partitions: Iterable[str] | None) -> Iterator[tuple[str, FilesRecord]]:
        """Yield the records of some partitions, or of all."""
        records: Iterable[Record]
        if partitions is None:
            records = chain.from_iterable(group.scan() for group in self._readers(FILES))
        else:
            names = (name for name in partitions if name != NO_PARTITION)
            keys = list(dict.fromkeys(name or NO_PARTITION for name in names))
            known = self._get(keys)
            records = [known[key] for key in keys if key in known]
        for record in records:
            if isinstance(record, FilesRecord) and record.key != ALL_PARTITIONS:
                yield "" if record.key == NO_PARTITION else record.key, record

    def prune(
        self, filters: Iterable[Filter], partitions: Iterable[str] | None = None
    ) -> list[FileStatus]:
        """Return the files, of some partitions or all, that may have rows matching all filters.

        A file is omitted only if its statistics exclude a match, or those of its partition, which
        Hudi keeps for current files only: files that a later version of their group replaced may be
        omitted, too. The statistics of a column are read once and held in memory, or for few
        partitions read for these alone.
        """
        conditions = list(filters)
        self.metrics.filtered(condition.column for condition in conditions)
        kept = self._kept_partitions(conditions, partitions)
        excluded = [self._excluded(condition, kept) for condition in conditions]
        statuses = []
        for partition, record in self._records(partitions if kept is None else kept):
            key = partition_hash(partition)
            sizes = record.sizes
            names = sizes.keys() - set().union(*(condition.get(key, ()) for condition in excluded))
            if names:
                statuses += self._statuses(partition, {name: sizes[name] for name in names})
        return statuses

    def _kept_partitions(
        self, conditions: Sequence[Filter], partitions: Iterable[str] | None
    ) -> list[str] | None:
        """Return the partitions that may have matching rows; None if all have to be looked at."""
        out: set[str] = set()
        for condition in conditions:
            out.update(self._partitions_without_match(condition))
        if not out:
            return None
        names = self.list_partitions() if partitions is None else partitions
        return [name for name in names if name not in out]

    def _partitions_without_match(self, condition: Filter) -> Iterator[str]:
        """Yield the partitions whose range excludes a match."""
        if PARTITION_STATS not in self.partitions or condition.column not in self._columns:
            return
        for group in self._readers(PARTITION_STATS):
            for chunk in group.chunks(condition.column):
                marks = ruled_out(chunk, condition)
                for name in compress(chunk.files, marks):
                    yield "" if name == NO_PARTITION else name

    def _excluded(
        self, condition: Filter, kept: Sequence[str] | None
    ) -> Mapping[str, Collection[str]]:
        """Return the files without matching rows, by statistics of few partitions or of all."""
        column = condition.column
        if kept is None or len(kept) > _FEW or column in self._known:
            return self._without_match(condition)
        in_each = (self.column_statistics(column, partition) for partition in kept)
        return _marked(
            condition,
            (chunk for known in in_each for chunk in chunks(known.values())),
            self._ruled_out,
        )

    def _without_match(self, condition: Filter) -> Mapping[str, Collection[str]]:
        """Return the files without rows matching a condition, by hash of their partition."""
        return _marked(condition, self._chunks(condition.column), self._ruled_out)

    def _ruled_out(self, chunk: ColumnChunk, condition: Filter) -> list[bool]:
        """Return for each file of a chunk True if no row matches a condition."""
        return ruled_out(chunk, condition)

    def _chunks(self, column: str) -> Sequence[ColumnChunk]:
        """Return the statistics of a column."""
        if column not in self._known:
            groups = self._readers(COLUMN_STATS) if COLUMN_STATS in self.partitions else []
            self._known[column] = [chunk for group in groups for chunk in group.chunks(column)]
        return self._known[column]

    def column_statistics(
        self, column: str, partition: str | None = None
    ) -> Mapping[tuple[str, str], ColumnStatistics]:
        """Return the statistics of a column, by hash of the partition and name of the file.

        They cover all partitions or one; the hash is part of the keys of its statistics.
        """
        prefix = column_prefix(column) if partition is None else partition_key(column, partition)
        length = len(partition_key(column, ""))
        statistics: dict[tuple[str, str], ColumnStatistics] = {}
        if COLUMN_STATS in self.partitions:
            for group in self._readers(COLUMN_STATS):
                for record in group.scan(prefix):
                    if isinstance(record, ColumnStatistics) and record.column == column:
                        statistics[record.key[:length], record.file_name] = record
        return statistics

    def partition_statistics(self, keys: Iterable[str]) -> dict[str, ColumnStatistics]:
        """Return statistics of partitions by key, as of `column_stats.partition_key`."""
        if PARTITION_STATS not in self.partitions:
            return {}
        records = self._get(list(keys), PARTITION_STATS)
        return {
            key: record for key, record in records.items() if isinstance(record, ColumnStatistics)
        }

    def lookup(self, keys: Iterable[str]) -> dict[str, RecordLocation]:
        """Return the locations of the records with these keys, from Hudi's index of records.

        A key is the text in `_hoodie_record_key`, such as `7`, or `id:7,city:x` of several fields.
        A missing key has no entry. Raise MetadataException if the table has no such index, if it
        has one for each partition, or if actions completed without it.
        """
        zone = self._properties.get(TIME_ZONE, "LOCAL")
        return {
            key: location(record, self.data_timeline.instants, zone)
            for key, record in self.location_records(keys).items()
        }

    def location_records(self, keys: Iterable[str]) -> dict[str, LocationRecord]:
        """Return the stored records of `lookup`; raise MetadataException as it does."""
        groups = {group.name: group for group in self._index_readers()}
        try:
            keys_of = by_group(keys, list(groups))
        except ValueError as error:
            raise MetadataException(self.path, f"can't use {RECORD_INDEX}: {error}") from error
        return {
            key: record
            for name, of_group in keys_of.items()
            for key, record in groups[name].get_many(of_group).items()
            if isinstance(record, LocationRecord)
        }

    def scan_locations(self) -> Iterator[LocationRecord]:
        """Yield all records of the index, in one pass; raise MetadataException as `lookup`."""
        for group in self._index_readers():
            for record in group.scan():
                if isinstance(record, LocationRecord):
                    yield record

    def _index_readers(self) -> list[FileGroupReader]:
        """Return the file groups of the index of records; raise MetadataException."""
        reason = None
        if RECORD_INDEX not in self.partitions:
            reason = f"the metadata table has no {RECORD_INDEX}"
        elif is_partitioned(self._fs, self.path, self._properties):
            reason = f"unsupported {RECORD_INDEX}: it has its own keys in each partition"
        elif self._unindexed:
            reason = f"{RECORD_INDEX} lacks {len(self._unindexed)} actions of the timeline"
        elif not (readers := self._readers(RECORD_INDEX)):
            reason = f"the metadata table had no {RECORD_INDEX} at that time"
        else:
            return readers
        raise MetadataException(self.path, reason)

    def _get(self, keys: list[str], partition: str = FILES) -> dict[str, Record]:
        records: dict[str, Record] = {}
        for group in self._readers(partition):
            records |= group.get_many(keys)
        return records

    def _readers(self, partition: str) -> list[FileGroupReader]:
        if partition not in self._groups:
            statuses = list_files(self._fs, f"{self._metadata}/{partition}")
            slices = latest_slices(statuses, self.timeline, self._as_of)
            if partition == FILES and not slices:
                raise MetadataException(self.path, f"the metadata table has no partition {FILES!r}")
            if partition != FILES and self._is_unbuilt(partition, slices):
                slices = []
            else:
                where = (self._fs, self._metadata, partition)
                check_slices(*where, slices, self.timeline, self.data_timeline, self._as_of)
            self._groups[partition] = [
                self.group_class(
                    self._fs, file_slice, self._counts, self.metrics, self._max_block_bytes
                )
                for file_slice in slices
            ]
            if self._unsynced and partition != RECORD_INDEX:
                self._merge_unsynced(partition)
        return self._groups[partition]

    def _is_unbuilt(self, partition: str, slices: Sequence[FileSlice]) -> bool:
        """Return True if a partition was built after the requested time, or dropped meanwhile."""
        if self._as_of is not None:
            return not all(is_whole(item, self.timeline, self._as_of) for item in slices)
        if slices:
            return False
        properties = self._location.properties(self._fs)
        return partition not in usable_partitions(properties)

    def _merge_unsynced(self, partition: str) -> None:
        """Merge changes that are missing in the table over the logs, in order."""
        for change in self._unsynced:
            if partition == FILES:
                records = file_records(change, self._names)
            elif partition == PARTITION_STATS:
                records = unknown_records(change, self._columns)
            else:
                records = statistics_records(change, self._columns)
            groups = {group.name: group for group in self._groups[partition]}
            names = list(groups)
            for record in records if names else ():
                groups[group_of(record.key, names)].add([record])

    def _names(self, partitions: Collection[str]) -> Mapping[str, Collection[str]]:
        listed = self.list_many(partitions)
        return {p: [s.path.rpartition("/")[2] for s in listed[p]] for p in partitions}

    def _check_age(self, as_of: str) -> None:
        """Raise MetadataException unless the timelines show what was completed at that time."""
        start, began = self.data_timeline.start, first_completion(self.timeline)
        completed = self.data_timeline.completed.values()
        known = start is None or as_of >= start
        if not known or any(as_of < end <= began for end in completed):
            raise MetadataException(self.path, f"instant {as_of} is older than the table")

    def _counts(self, instant: str) -> bool:
        return visible(instant, self.data_timeline)

    def _statuses(self, partition: str, sizes: Mapping[str, int]) -> list[FileStatus]:
        names = sorted(sizes)
        paths = map(f"{self.path}/".__add__, paths_below(partition, names))
        return list(map(FileStatus, paths, map(sizes.__getitem__, names)))


def _marked(
    condition: Filter,
    statistics: Iterable[ColumnChunk],
    rule: Callable[[ColumnChunk, Filter], Sequence[bool]],
) -> Mapping[str, Collection[str]]:
    """Return the files that a rule marks, by hash of their partition; the last chunk counts."""
    files: dict[str, set[str]] = defaultdict(set)
    for chunk in statistics:
        marks, start = rule(chunk, condition), 0
        for partition, rows in groupby(chunk.partitions):
            run = slice(start, start := start + len(list(rows)))
            files[partition].update(compress(chunk.files[run], marks[run]))
            files[partition].difference_update(compress(chunk.files[run], map(not_, marks[run])))
    return files
