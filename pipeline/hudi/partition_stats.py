"""Statistics of the dataset's partitions: the range of each column over a partition's files.

A record of a commit covers the files that the commit adds, and readers widen earlier records by it.
So no commit reads the statistics of other files, and actions may be completed in any order, or
fail. Deleted files leave ranges too wide, which is safe; an index that is built anew is exact.

A partition without a record may be skipped by Hudi if others have one. So either all files of a
dataset are covered, or the table has no such index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.column_stats import file_key, partition_key
from fscontract.pipeline.hudi.records import (
    NO_PARTITION,
    PARTITION_STATS,
    ColumnStatistics,
    Record,
    merge,
)


class IncompleteStatistics(Exception):
    """A column's range over a partition is unknown; the message says which."""


def partition_records(
    change: Change, records: Iterable[Record], columns: Sequence[str], is_tight: bool = False
) -> list[ColumnStatistics]:
    """Return the sorted records of partitions with added files, from the records of the files.

    If `is_tight`, the change has all files of its partitions. Raise IncompleteStatistics if a file
    has no range of a column.
    """
    known = {record.key: record for record in records if isinstance(record, ColumnStatistics)}
    ranges = []
    for partition, files in change.added.items():
        for column in columns if files else ():
            of_files = [known.get(file_key(column, partition, name)) for name in files]
            merged = _merged(partition, column, of_files)
            if merged is not None:
                ranges.append(replace(merged, is_tight=is_tight, replaces=is_tight))
    return sorted(ranges, key=lambda record: record.key)


def _merged(
    partition: str, column: str, of_files: Sequence[ColumnStatistics | None]
) -> ColumnStatistics | None:
    """Return the range of a column over files; None if they are empty."""
    name = partition or NO_PARTITION
    parts: list[Record] = []
    for known in of_files:
        if known is None or not _has_range(known):
            raise IncompleteStatistics(f"no range of column {column!r} in partition {name!r}")
        if known.value_count != 0:
            key = partition_key(column, partition)
            part = replace(known, key=key, file_name=name, type=PARTITION_STATS, is_tight=False)
            parts.append(replace(part, replaces=False))
    if not parts:
        return None
    merged = reduce(merge, parts)
    if not isinstance(merged, ColumnStatistics) or not _has_range(merged):
        raise IncompleteStatistics(f"files of partition {name!r} store {column!r} differently")
    return merged


def _has_range(known: ColumnStatistics) -> bool:
    has_bounds = known.wrapper is not None and not known.has_digits
    return not known.is_deleted and (has_bounds or known.all_null or known.value_count == 0)


def check_known(
    records: Iterable[ColumnStatistics],
    known: Mapping[str, Record],
    occupied: Collection[str],
) -> None:
    """Raise IncompleteStatistics unless earlier records can be widened by these.

    `known` are the earlier records by key, and `occupied` the partitions that had files before.
    """
    for record in records:
        before = known.get(record.key)
        if before is None:
            if record.file_name in occupied:
                raise IncompleteStatistics(
                    f"no range of column {record.column!r} in partition {record.file_name!r}"
                )
        elif not _has_range_of(merge(before, record)):
            raise IncompleteStatistics(
                f"files of partition {record.file_name!r} store {record.column!r} differently"
            )


def _has_range_of(record: Record) -> bool:
    return isinstance(record, ColumnStatistics) and _has_range(record)


def unknown_records(change: Change, columns: Sequence[str]) -> list[Record]:
    """Return records that make the ranges of a change's partitions unknown."""
    return [
        ColumnStatistics(
            partition_key(column, partition),
            partition or NO_PARTITION,
            column,
            is_deleted=True,
            type=PARTITION_STATS,
        )
        for partition, files in change.added.items()
        for column in columns
        if files
    ]
