"""A dataset's metadata table for readers: partitions, files and their sizes, without listing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import ClassVar

from fscontract.contract.ports import Closeable, FileStatus, FileSystem
from fscontract.pipeline.metadata.changes import below
from fscontract.pipeline.metadata.deltas import file_records, statistics_records
from fscontract.pipeline.metadata.errors import MetadataException
from fscontract.pipeline.metadata.files import list_files
from fscontract.pipeline.metadata.group import FileGroupReader
from fscontract.pipeline.metadata.keys import column_prefix, partition_key
from fscontract.pipeline.metadata.metrics import Metrics
from fscontract.pipeline.metadata.names import COLUMN_STATS, FILES
from fscontract.pipeline.metadata.payload import (
    ALL_PARTITIONS,
    NO_PARTITION,
    ColumnStatistics,
    FilesRecord,
    Record,
)
from fscontract.pipeline.metadata.place import place_of
from fscontract.pipeline.metadata.properties import COLUMNS, read_properties
from fscontract.pipeline.metadata.properties import PARTITIONS as METADATA_PARTITIONS
from fscontract.pipeline.metadata.prune import Filter, may_match
from fscontract.pipeline.metadata.slices import is_whole, latest_slices, visible
from fscontract.pipeline.metadata.timeline import load_timeline
from fscontract.pipeline.metadata.unsynced import changes_of, first_completion, unsynced


class MetadataTable(Closeable):
    """The dataset at `path`, as of the time this was made; later commits need a new one.

    Making it lists the two timelines; the first use of a partition of the metadata table lists
    that. Then a lookup takes one positioned read, or a vectored one, whatever the number of
    partitions asked for. What is damaged raises CorruptFileException. Not safe with threads.

    With `as_of`, an instant, the dataset is as it was then; MetadataException if the table does
    not go back so far. What was completed without the table is read from the dataset's timeline,
    unless `merge_unsynced` is off. `directory` is where the table is, if not in the dataset.
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
    ) -> None:
        self._fs = fs
        place = place_of(path, directory)
        self.path = place.path
        self._metadata = place.metadata
        self.metrics = metrics or Metrics()
        properties = read_properties(fs, place.marker)
        self.partitions = frozenset(properties.get(METADATA_PARTITIONS, "").split(","))
        self._columns = [each for each in properties.get(COLUMNS, "").split(",") if each]
        if FILES not in self.partitions:
            raise MetadataException(self.path, "the dataset has no metadata table")
        # The dataset's first: an instant completed there was completed before in the other.
        self.data_timeline = load_timeline(fs, self.path)
        self.timeline = load_timeline(fs, self._metadata)
        if as_of is not None:
            self._check_age(as_of)
            self.data_timeline = self.data_timeline.until(as_of)
        self._as_of = as_of
        missing = unsynced(self.data_timeline, self.timeline) if merge_unsynced else []
        self._unsynced = changes_of(fs, self.path, missing)
        self._groups: dict[str, list[FileGroupReader]] = {}
        self._statistics: dict[str, Mapping[tuple[str, str], ColumnStatistics]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, instant={self.data_timeline.latest!r})"

    def close(self) -> None:
        """Close all files."""
        for groups in self._groups.values():
            for group in groups:
                group.close()
        self._groups.clear()

    def list_partitions(self) -> list[str]:
        """The names of the partitions, sorted; "" for the one of a dataset without partitions."""
        record = self._get([ALL_PARTITIONS]).get(ALL_PARTITIONS)
        files = record.files if isinstance(record, FilesRecord) else {}
        return sorted("" if name == NO_PARTITION else name for name in files)

    def list_files(self, partition: str) -> list[FileStatus]:
        """The files of a partition, sorted by path; none for one that is not there."""
        return self.list_many([partition])[partition]

    def list_many(self, partitions: Iterable[str]) -> dict[str, list[FileStatus]]:
        """The files of several partitions, by one vectored read."""
        wanted = list(dict.fromkeys(partitions))
        records = self._get([name or NO_PARTITION for name in wanted])
        return {name: self._statuses(name, records.get(name or NO_PARTITION)) for name in wanted}

    def list_all(self) -> Iterator[tuple[str, list[FileStatus]]]:
        """Every partition and its files, in order, by reading through the table once."""
        for group in self._readers(FILES):
            for record in group.scan():
                if record.key != ALL_PARTITIONS:
                    name = "" if record.key == NO_PARTITION else record.key
                    yield name, self._statuses(name, record)

    def prune(
        self, filters: Iterable[Filter], partitions: Iterable[str] | None = None
    ) -> list[FileStatus]:
        """The files, of some partitions or of all, that may have a row which meets all filters.

        A file is left out only if its statistics rule that out. Those of a column are read once,
        and held.
        """
        conditions = list(filters)
        for column in {each.column for each in conditions} - self._statistics.keys():
            self._statistics[column] = self.column_statistics(column)
        listed = self.list_all() if partitions is None else self.list_many(partitions).items()
        kept = []
        for partition, statuses in listed:
            known = [
                (each, self._statistics[each.column], partition_key(each.column, partition))
                for each in conditions
            ]
            for status in statuses:
                name = status.path.rpartition("/")[2]
                if all(self._may_match(found.get((key, name)), e) for e, found, key in known):
                    kept.append(status)
        return kept

    def _may_match(self, statistics: ColumnStatistics | None, condition: Filter) -> bool:
        """Whether a file may have a row that meets a condition."""
        return may_match(statistics, condition)

    def column_statistics(
        self, column: str, partition: str | None = None
    ) -> Mapping[tuple[str, str], ColumnStatistics]:
        """What is known of a column, by hash of the partition and name of the file.

        Of all partitions or of one; the hash is what the keys of its statistics begin with.
        """
        prefix = column_prefix(column) if partition is None else partition_key(column, partition)
        length = len(partition_key(column, ""))
        found: dict[tuple[str, str], ColumnStatistics] = {}
        if COLUMN_STATS in self.partitions:
            for group in self._readers(COLUMN_STATS):
                for record in group.scan(prefix):
                    if isinstance(record, ColumnStatistics) and record.column == column:
                        found[record.key[:length], record.file_name] = record
        return found

    def _get(self, keys: list[str]) -> dict[str, Record]:
        found: dict[str, Record] = {}
        for group in self._readers(FILES):
            found |= group.get_many(keys)
        return found

    def _readers(self, partition: str) -> list[FileGroupReader]:
        if partition not in self._groups:
            statuses = list_files(self._fs, f"{self._metadata}/{partition}")
            slices = latest_slices(statuses, self.timeline, self._as_of)
            if partition == FILES and not slices:
                raise MetadataException(self.path, f"the metadata table has no {FILES!r}")
            if not all(is_whole(each, self.timeline, self._as_of) for each in slices):
                raise MetadataException(self.path, f"a base file of {partition!r} is not there")
            self._groups[partition] = [
                self.group_class(self._fs, each, self._counts, self.metrics) for each in slices
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
        if not known or any(as_of < each <= began for each in completed):
            raise MetadataException(self.path, f"{as_of} is older than the table")

    def _counts(self, instant: str) -> bool:
        return visible(instant, self.data_timeline)

    def _statuses(self, partition: str, record: Record | None) -> list[FileStatus]:
        files = record.files if isinstance(record, FilesRecord) else {}
        return [
            FileStatus(f"{self.path}/{below(partition, name)}", files[name].size)
            for name in sorted(files)
        ]
