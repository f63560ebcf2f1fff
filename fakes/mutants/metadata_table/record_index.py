"""Tables whose index of record keys is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any
from unicodedata import normalize

from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.record_index import RecordLocation
from fscontract.pipeline.hudi.records import Deleted, Record
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

_Located = dict[str, RecordLocation]


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
def without_partition(self: MetadataTable, keys: Iterable[str]) -> _Located:
    """Locations lack the partition."""
    found = right(self).lookup(keys)
    return {key: location._replace(partition="") for key, location in found.items()}


def _by(
    change: Callable[[str], str], lookup: Callable[[Iterable[str]], _Located], keys: Iterable[str]
) -> _Located:
    """Return the locations of changed keys, by the keys."""
    changed = {key: change(key) for key in keys}
    locations = lookup(changed.values())
    return {key: locations[other] for key, other in changed.items() if other in locations}


@mutant("metadata.record-index", MetadataTable.lookup)
def folds_keys(self: MetadataTable, keys: Iterable[str]) -> _Located:
    """Keys are looked up in lower case."""
    return _by(str.lower, right(self).lookup, keys)


@mutant("metadata.record-index", MetadataTable.lookup)
def strips_keys(self: MetadataTable, keys: Iterable[str]) -> _Located:
    """Keys are looked up without white space and zeros at their beginning."""
    return _by(lambda key: key.lstrip(" 0"), right(self).lookup, keys)


@mutant("metadata.record-index", MetadataTable.lookup)
def composes_keys(self: MetadataTable, keys: Iterable[str]) -> _Located:
    """A letter and its accent are looked up as one character."""
    return _by(partial(normalize, "NFC"), right(self).lookup, keys)


@mutant("metadata.record-index", MetadataWriter._build)
def builds_one_partition(
    self: MetadataWriter, records: Any, columns: Any, new_groups: Any = ()
) -> None:
    """A new index has the dataset's first partition for all keys."""
    locations = records.get("record_index", ())
    first = min((record.partition for record in locations), default="")
    wrong = {"record_index": [replace(record, partition=first) for record in locations]}
    right(self)._build(wrong if locations else records, columns, new_groups)
