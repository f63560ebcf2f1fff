"""Partitions of a metadata table: their file groups, and removal of a partition.

Properties of the dataset name the usable partitions. A partition is removed from the properties
first, and its files are deleted afterwards, so that no reader uses a part of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping

from fscontract.pipeline.hudi.commit_metadata import WrittenFile
from fscontract.pipeline.hudi.index_definitions import (
    IndexedColumns,
    indexed_columns,
    is_partitioned,
    remove_definitions,
)
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning, list_files
from fscontract.pipeline.hudi.records import Record
from fscontract.pipeline.hudi.table_location import (
    COLUMNS,
    INFLIGHT,
    PARTITIONS,
    usable_partitions,
    write_properties,
)
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    FILE_GROUPS,
    FILES,
    PARTITION_STATS,
    RECORD_INDEX,
    group_names,
    group_number,
    group_of,
)
from fscontract.pipeline.hudi.writer_base import TableWriterBase


class TablePartitions(TableWriterBase):
    """Partitions of a dataset's metadata table, for writers."""

    def _listed_partitions(self, properties: Mapping[str, str]) -> list[str]:
        """Return the usable partitions, and those that are being built."""
        named = (*usable_partitions(properties), *self._inflight(properties))
        return [name for name in dict.fromkeys(named) if name]

    def _inflight(self, properties: Mapping[str, str]) -> list[str]:
        return [name for name in properties.get(INFLIGHT, "").split(",") if name]

    def _indexed(self, properties: Mapping[str, str]) -> IndexedColumns:
        """Return the columns with statistics; none if the table has no such partition."""
        if COLUMN_STATS not in usable_partitions(properties):
            return IndexedColumns()
        return indexed_columns(self._fs, self.path, properties)

    def _retire(self) -> None:
        """Remove partitions that can't be kept up to date, with one MetadataWarning."""
        properties = self._properties()
        usable = usable_partitions(properties)
        known, reason = {*FILE_GROUPS} - {*self._inflight(properties)}, "can't be kept up to date"
        if COLUMN_STATS not in usable:
            known -= {PARTITION_STATS}
        if RECORD_INDEX in usable and is_partitioned(self._fs, self.path, properties):
            known -= {RECORD_INDEX}
            reason += f"; {RECORD_INDEX} has its own keys in each partition"
        unknown = [name for name in self._listed_partitions(properties) if name not in known]
        if unknown and FILES in usable:
            self._disable(unknown, reason)

    def _disable(self, names: Collection[str], reason: str) -> None:
        """Remove partitions, and warn about it."""
        self._remove_partitions(names)
        what = "partition" if len(names) == 1 else "partitions"
        warnings.warn(
            f"{self._metadata}: removed {what} {', '.join(sorted(names))}: {reason}",
            MetadataWarning,
            stacklevel=3,
        )

    def _remove_partitions(self, names: Collection[str]) -> None:
        properties = self._properties()
        for key in (PARTITIONS, INFLIGHT):
            if key in properties:
                kept = [name for name in properties[key].split(",") if name not in names]
                properties[key] = ",".join(kept)
        if COLUMN_STATS in names:
            properties.pop(COLUMNS, None)
        self._check_lock()
        write_properties(self._fs, self.location.marker, properties, replace=True)
        self._known = None
        self._remove_remains()

    def _remove_remains(self) -> list[str]:
        """Delete files and definitions of partitions that the properties do not name.

        Return the deleted directories.
        """
        properties = self._properties()
        listed = self._listed_partitions(properties)
        remove_definitions(self._fs, self.path, properties, listed)
        try:
            statuses = list(self._fs.list_status(self._metadata))
        except FileNotFoundError:
            return []
        remains = [
            status.path
            for status in statuses
            if status.is_directory
            and not (name := status.path.rpartition("/")[2]).startswith(".")
            and name not in listed
        ]
        for directory in remains:
            self._fs.delete(directory, recursive=True)
        return remains

    def _groups(self, partition: str) -> list[str]:
        """Return the file groups of a partition; those of others than `files` are listed."""
        if partition == FILES:
            return [FILE_GROUPS[FILES]]
        found = group_names(
            list_files(self._fs, f"{self._metadata}/{partition}"), self.timelines()[1]
        )
        if not found or list(map(group_number, found)) != list(range(len(found))):
            raise MetadataException(self._metadata, f"unexpected file groups in {partition!r}")
        return found

    def _write_logs(
        self, partition: str, instant: str, records: Iterable[Record]
    ) -> list[WrittenFile]:
        """Write a log of each file group that has some of the records."""
        groups = self._groups(partition)
        parts: dict[str, list[Record]] = {}
        for record in records:
            parts.setdefault(group_of(record.key, groups), []).append(record)
        return [self._write_log(partition, group, instant, parts[group]) for group in sorted(parts)]
