"""Record keys in the file slices of a dataset, and the records of the index that they give.

Keys are those that a snapshot query reads: of base files merged with their logs. Where they can't
be read, `UnknownKeys` says why, and the metadata table can have no index of records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.changes import Change, Names, Sizes, below
from fscontract.pipeline.hudi.data_files import data_slices
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import MetadataException, in_threads
from fscontract.pipeline.hudi.listing import sizes_of
from fscontract.pipeline.hudi.record_index import Group, location_changes, milliseconds_of
from fscontract.pipeline.hudi.records import LocationRecord, Record
from fscontract.pipeline.hudi.slice_merge import KEY
from fscontract.pipeline.hudi.snapshot import QueriedTable, open_table
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant, Timeline

#: Completion time of an action that is about to be completed: after all others.
_LAST = "9" * 17


class UnknownKeys(Exception):
    """The keys of a dataset's records can't be read; the message says why."""


@dataclass(frozen=True)
class KeyReader:
    """Reads the record keys of a dataset's file slices; `known` are those that were read."""

    table: QueriedTable
    known: dict[FileSlice, frozenset[str]] = field(default_factory=dict)

    def slices(self, sizes: Sizes, replaced: Names) -> dict[Group, FileSlice]:
        """Return the latest file slice of each file group of the files, unless it is `replaced`.

        Raise UnknownKeys for a file of rows that does not follow Hudi's naming.
        """
        found = {}
        for partition, files in sizes.items():
            statuses = (
                FileStatus(f"{self.table.path}/{below(partition, name)}", size)
                for name, size in files.items()
            )
            with _unknown():
                slices = data_slices(statuses, self.table.rules, replaced.get(partition, ()))
            for item in slices:
                if item.base is not None or item.logs:
                    found[partition, item.group] = item
        return found

    def read(self, slices: Iterable[FileSlice]) -> list[frozenset[str]]:
        """Return the keys of each slice; raise UnknownKeys."""
        every = list(slices)
        unread = [item for item in every if item not in self.known]
        self.known.update(zip(unread, in_threads(self._keys, unread), strict=True))
        return [self.known[item] for item in every]

    def _keys(self, item: FileSlice) -> frozenset[str]:
        with _unknown():
            keys = self.table.rows(item, self.table.selected([KEY]))[KEY]
            if keys.null_count:
                raise MetadataException(paths_of(item)[0], f"{keys.null_count} rows without {KEY}")
            return frozenset(keys.to_pylist())


def open_keys(fs: FileSystem, path: str, instant: str | None = None) -> KeyReader:
    """Return a reader of the keys of the dataset at `path`; raise UnknownKeys.

    `instant` is an action that is about to be completed: its files count.
    """
    with _unknown():
        table = open_table(fs, path)
        if KEY not in table.schema.names:
            raise MetadataException(path, f"rows without {KEY}")
    if instant is not None:
        known = table.rules.timeline.instants.values()
        timeline = Timeline([*known, Instant(instant, "commit", COMPLETED, _LAST)])
        table = replace(table, rules=replace(table.rules, timeline=timeline))
    return KeyReader(table)


def changed_locations(
    fs: FileSystem,
    table: MetadataTable,
    change: Change,
    instant: str,
    replaced: Names,
    read: dict[FileSlice, frozenset[str]],
) -> list[Record]:
    """Return the sorted records of an action for the index; raise UnknownKeys.

    `table` shows the dataset before the change, and `replaced` are file groups that earlier actions
    replaced. Of a file group whose files the change deletes, the index has the former keys. `read`
    has the keys of slices that were read already, and gets those of others.
    """
    reader = replace(open_keys(fs, table.path, instant if change.added else None), known=read)
    partitions = {*change.added, *change.deleted, *change.replaced}
    sizes = sizes_of(table.list_many(partitions))
    before = reader.slices(sizes, replaced)
    after = reader.slices(_applied(sizes, change), _united(replaced, change.replaced))
    changed = [g for g in before.keys() | after.keys() if before.get(g) != after.get(g)]
    former = {group: before[group] for group in changed if group in before}
    gone = {group for group, item in former.items() if _has_deleted(item, group[0], change)}
    with _unknown():
        known = dict(zip(gone, _indexed_keys(table, gone), strict=True))
    kept = {group: item for group, item in former.items() if group not in gone}
    known |= zip(kept, reader.read(kept.values()), strict=True)
    latest = {group: after[group] for group in changed if group in after}
    now = dict(zip(latest, reader.read(latest.values()), strict=True))
    with _unknown():
        return location_changes(known, now, table.location_records, instant)


def locations(
    slices: Mapping[Group, FileSlice], keys: Mapping[Group, Iterable[str]]
) -> list[LocationRecord]:
    """Return the sorted records of a new index: of the keys in all file groups.

    The instant is that of the base file, or of the first log.
    """
    found: dict[str, LocationRecord] = {}
    for group, item in sorted(slices.items()):
        time = milliseconds_of(item.base_instant or item.logs[0].name.instant)
        found |= {key: LocationRecord(key, *group, time) for key in keys[group]}
    return sorted(found.values(), key=lambda record: record.key.encode())


def paths_of(item: FileSlice) -> list[str]:
    """Return the paths of the files of a slice."""
    base = [] if item.base is None else [item.base.path]
    return [*base, *(log.status.path for log in item.logs)]


@contextmanager
def _unknown() -> Iterator[None]:
    """Return a context in which rows that can't be read raise UnknownKeys."""
    try:
        yield
    except (MetadataException, FileNotFoundError, ModuleNotFoundError, ValueError) as error:
        raise UnknownKeys(f"can't read the record keys: {error}") from error


def _applied(sizes: Sizes, change: Change) -> dict[str, dict[str, int]]:
    """Return the files after a change."""
    applied = {}
    for partition, files in sizes.items():
        deleted = set(change.deleted.get(partition, ()))
        kept = {name: size for name, size in files.items() if name not in deleted}
        applied[partition] = {**kept, **change.added.get(partition, {})}
    return applied


def _united(*names: Names) -> dict[str, set[str]]:
    """Return the names of several mappings by partition."""
    found: dict[str, set[str]] = {}
    for each in names:
        for partition, groups in each.items():
            found.setdefault(partition, set()).update(groups)
    return found


def _has_deleted(item: FileSlice, partition: str, change: Change) -> bool:
    names = {path.rpartition("/")[2] for path in paths_of(item)}
    return not names.isdisjoint(change.deleted.get(partition, ()))


def _indexed_keys(table: MetadataTable, groups: Collection[Group]) -> list[frozenset[str]]:
    """Return the keys that the index locates in each file group, with one pass if there are any."""
    found: dict[Group, set[str]] = {group: set() for group in groups}
    for record in table.scan_locations() if groups else ():
        if (group := (record.partition, record.file_group)) in found:
            found[group].add(record.key)
    return [frozenset(found[group]) for group in groups]
