"""Tables whose index of record keys is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.record_index import RecordLocation
from fscontract.pipeline.hudi.records import Deleted, Record
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter


@mutant("metadata.record-index", MetadataWriter._location_records)
def keeps_deleted(self: MetadataWriter, time: str, change: Change) -> list[Record]:
    """Keys of deleted rows stay in the index."""
    records = right(self)._location_records(time, change)
    return [record for record in records if not isinstance(record, Deleted)]


@mutant("metadata.record-index", MetadataWriter._location_records)
def keeps_moved(self: MetadataWriter, time: str, change: Change) -> list[Record]:
    """A key that moves keeps its first location."""
    records = right(self)._location_records(time, change)
    with self._table() as table:
        known = table.location_records([record.key for record in records])
    return [r for r in records if isinstance(r, Deleted) or r.key not in known]


@mutant("metadata.record-index", MetadataTable.lookup)
def without_partition(self: MetadataTable, keys: Iterable[str]) -> dict[str, RecordLocation]:
    """Locations lack the partition."""
    found = right(self).lookup(keys)
    return {key: location._replace(partition="") for key, location in found.items()}


@mutant("metadata.record-index", MetadataWriter._build)
def builds_one_partition(
    self: MetadataWriter, records: Any, columns: Any, new_groups: Any = ()
) -> None:
    """A new index has the dataset's first partition for all keys."""
    locations = records.get("record_index", ())
    first = min((record.partition for record in locations), default="")
    wrong = {"record_index": [replace(record, partition=first) for record in locations]}
    right(self)._build(wrong if locations else records, columns, new_groups)
