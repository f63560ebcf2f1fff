"""The records of the metadata table that a change of the dataset comes to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from fscontract.pipeline.metadata.changes import Change
from fscontract.pipeline.metadata.keys import file_key
from fscontract.pipeline.metadata.payload import (
    ALL_PARTITIONS,
    GONE,
    NO_PARTITION,
    ColumnStatistics,
    FileInfo,
    FilesRecord,
    Record,
)

#: The names of the files of some partitions, as they were before the change.
Lookup = Callable[[Collection[str]], Mapping[str, Collection[str]]]


def file_records(change: Change, lookup: Lookup) -> list[Record]:
    """The records of partitions that changed, and that of all partitions, in order."""
    deleted = {name: set(gone) for name, gone in change.deleted.items() if gone}
    added = {name: files for name, files in change.added.items() if files}
    every = {name: FileInfo(0) for name in added}
    every |= dict.fromkeys(_emptied(added, deleted, lookup), GONE)
    records: list[Record] = []
    for name in {**added, **deleted}:
        files = dict.fromkeys(deleted.get(name, ()), GONE)
        files |= {each: FileInfo(size) for each, size in added.get(name, {}).items()}
        records.append(FilesRecord(name or NO_PARTITION, files))
    if every:
        named = {name or NO_PARTITION: info for name, info in every.items()}
        records.append(FilesRecord(ALL_PARTITIONS, named))
    return sorted(records, key=lambda record: record.key.encode())


def _emptied(added: Iterable[str], deleted: Mapping[str, set[str]], lookup: Lookup) -> set[str]:
    """The partitions of which nothing is left."""
    suspects = deleted.keys() - set(added)
    if not suspects:
        return set()
    before = lookup(suspects)
    return {name for name in suspects if set(before[name]) <= deleted[name]}


def statistics_records(change: Change, columns: Sequence[str]) -> list[Record]:
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
