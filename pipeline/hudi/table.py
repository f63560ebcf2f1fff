"""Read a dataset's metadata table: partitions, files and their sizes, without listing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import ClassVar

from fscontract.contract.api.filesystem import Closeable, FileStatus, FileSystem
from fscontract.pipeline.hudi.changes import (
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
    column_prefix,
    partition_hash,
    partition_key,
)
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.file_slices import check_slices, latest_slices, visible
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.io import MetadataException, list_files
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.pruning import Filter, ruled_out
from fscontract.pipeline.hudi.records import (
    ALL_PARTITIONS,
    NO_PARTITION,
    ColumnStatistics,
    FilesRecord,
    Record,
)
from fscontract.pipeline.hudi.table_location import COLUMNS, location_of, read_properties
from fscontract.pipeline.hudi.table_location import PARTITIONS as METADATA_PARTITIONS
from fscontract.pipeline.hudi.timeline import COLUMN_STATS, FILES, load_timeline

#: How often the timelines are listed, if instants go meanwhile.
_TRIES = 3


class MetadataTable(Closeable):
    """The dataset at `path`, as of the time this was made; later commits need a new one.

    Making it lists the two timelines; the first use of a partition of the metadata table lists
    that. Then a lookup takes one positioned read, or a vectored one, whatever the number of
    partitions asked for. What is damaged raises CorruptFileException. Not safe with threads.

    With `as_of`, an instant, the dataset is as it was then; MetadataException if the table does
    not go back so far. What was completed without the table is read from the dataset's timeline,
    unless `merge_unsynced` is off. `directory` is where the table is, if not in the dataset. A
    block of more than `max_block_bytes` uncompressed is refused as damaged.
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
        location = location_of(path, directory)
        self.path = location.path
        self._metadata = location.metadata
        self.metrics = metrics or Metrics()
        properties = read_properties(fs, location.marker)
        self.partitions = frozenset(properties.get(METADATA_PARTITIONS, "").split(","))
        self._columns = [column for column in properties.get(COLUMNS, "").split(",") if column]
        if FILES not in self.partitions:
            raise MetadataException(self.path, "the dataset has no metadata table")
        self._as_of = as_of
        for attempts_left in reversed(range(_TRIES)):
            try:
                self._unsynced = self._load(merge_unsynced)
                break
            except FileNotFoundError:  # a writer archives: of two listings each showed a part
                if not attempts_left:
                    raise
        self._groups: dict[str, list[FileGroupReader]] = {}
        self._known: dict[str, list[ColumnChunk]] = {}

    def _load(self, merge_unsynced: bool) -> list[Change]:
        """Load the timelines; return the changes that the table does not have."""
        # The dataset's first: an instant completed there was completed before in the other.
        self.data_timeline = load_timeline(self._fs, self.path)
        self.timeline = load_timeline(self._fs, self._metadata)
        if self._as_of is not None:
            self._check_age(self._as_of)
            self.data_timeline = self.data_timeline.until(self._as_of)
        missing = unsynced(self.data_timeline, self.timeline) if merge_unsynced else []
        return changes_of(self._fs, self.path, missing)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, instant={self.data_timeline.latest!r})"

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of which files have statistics."""
        return tuple(self._columns)

    def close(self) -> None:
        """Close all files."""
        for groups in self._groups.values():
            for group in groups:
                group.close()
        self._groups.clear()

    def list_partitions(self) -> list[str]:
        """Return the sorted names of the partitions; "" stands for an unpartitioned dataset."""
        record = self._get([ALL_PARTITIONS]).get(ALL_PARTITIONS)
        files = record.files if isinstance(record, FilesRecord) else {}
        return sorted("" if name == NO_PARTITION else name for name in files)

    def list_files(self, partition: str) -> list[FileStatus]:
        """Return the files of a partition, sorted by path; none for one that is not there."""
        return self.list_many([partition])[partition]

    def list_many(self, partitions: Iterable[str]) -> dict[str, list[FileStatus]]:
        """Return the files of several partitions, by one vectored read."""
        unique = list(dict.fromkeys(partitions))
        records = self._get([name or NO_PARTITION for name in unique])
        files = {name: records.get(name or NO_PARTITION) for name in unique}
        for name in files.keys() & {ALL_PARTITIONS, NO_PARTITION}:
            files[name] = None  # keys that are no partition's name
        return {name: self._statuses(name, record) for name, record in files.items()}

    def list_all(self) -> Iterator[tuple[str, list[FileStatus]]]:
        """Yield every partition and its files, in order, by reading through the table once."""
        for name, record in self._records(None):
            yield name, self._statuses(name, record)

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
        """Return the files, of some partitions or all, that may have rows which meet all filters.

        A file is left out only if its statistics rule that out. Those of a column are read once,
        and held.
        """
        excluded = [self._without_match(condition) for condition in filters]
        statuses = []
        for partition, record in self._records(partitions):
            key = partition_hash(partition)
            names = record.files.keys() - set().union(
                *(condition.get(key, ()) for condition in excluded)
            )
            files = {name: record.files[name] for name in names}
            statuses += self._statuses(partition, FilesRecord(record.key, files))
        return statuses

    def _without_match(self, condition: Filter) -> Mapping[str, Collection[str]]:
        """Return the files that have no row which meets a condition, by hash of their partition."""
        files: dict[str, set[str]] = defaultdict(set)
        for chunk in self._chunks(condition.column):
            marks = self._ruled_out(chunk, condition)
            for partition, name, out in zip(chunk.partitions, chunk.files, marks, strict=True):
                if out:
                    files[partition].add(name)
                elif partition in files:
                    files[partition].discard(name)
        return files

    def _ruled_out(self, chunk: ColumnChunk, condition: Filter) -> list[bool]:
        """Return which files of a chunk have no row that meets a condition."""
        return ruled_out(chunk, condition)

    def _chunks(self, column: str) -> Sequence[ColumnChunk]:
        """Return what is known of a column."""
        if column not in self._known:
            groups = self._readers(COLUMN_STATS) if COLUMN_STATS in self.partitions else []
            self._known[column] = [chunk for group in groups for chunk in group.chunks(column)]
        return self._known[column]

    def column_statistics(
        self, column: str, partition: str | None = None
    ) -> Mapping[tuple[str, str], ColumnStatistics]:
        """Return what is known of a column, by hash of the partition and name of the file.

        Of all partitions or of one; the hash is what the keys of its statistics begin with.
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

    def _get(self, keys: list[str]) -> dict[str, Record]:
        records: dict[str, Record] = {}
        for group in self._readers(FILES):
            records |= group.get_many(keys)
        return records

    def _readers(self, partition: str) -> list[FileGroupReader]:
        if partition not in self._groups:
            statuses = list_files(self._fs, f"{self._metadata}/{partition}")
            slices = latest_slices(statuses, self.timeline, self._as_of)
            if partition == FILES and not slices:
                raise MetadataException(self.path, f"the metadata table has no {FILES!r}")
            where = (self._fs, self._metadata, partition)
            check_slices(*where, slices, self.timeline, self.data_timeline, self._as_of)
            self._groups[partition] = [
                self.group_class(
                    self._fs, file_slice, self._counts, self.metrics, self._max_block_bytes
                )
                for file_slice in slices
            ]
            if self._unsynced:
                self._merge_unsynced(partition)
        return self._groups[partition]

    def _merge_unsynced(self, partition: str) -> None:
        """Put changes over the logs that the table does not have yet; in order."""
        for change in self._unsynced:
            if partition == FILES:
                records = file_records(change, self._names)
            else:
                records = statistics_records(change, self._columns)
            for group in self._groups[partition][:1]:
                group.add(records)

    def _names(self, partitions: Collection[str]) -> Mapping[str, Collection[str]]:
        listed = self.list_many(partitions)
        return {p: [s.path.rpartition("/")[2] for s in listed[p]] for p in partitions}

    def _check_age(self, as_of: str) -> None:
        """MetadataException unless the timelines tell what was completed by then."""
        start, began = self.data_timeline.start, first_completion(self.timeline)
        completed = self.data_timeline.completed.values()
        known = start is None or as_of >= start
        if not known or any(as_of < end <= began for end in completed):
            raise MetadataException(self.path, f"{as_of} is older than the table")

    def _counts(self, instant: str) -> bool:
        return visible(instant, self.data_timeline)

    def _statuses(self, partition: str, record: Record | None) -> list[FileStatus]:
        files = record.files if isinstance(record, FilesRecord) else {}
        names = sorted(files)
        paths = paths_below(partition, names)
        return [
            FileStatus(f"{self.path}/{path}", files[name].size)
            for name, path in zip(names, paths, strict=True)
        ]
