"""Writer of a dataset's metadata table: first from a listing, then action by action.

The order follows Hudi's second design: the metadata table changes first, and the change becomes
valid once the instant is completed on the dataset's timeline. With `design=1` the instant is
completed first, and the table catches up.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import FileAlreadyExistsException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.avro import read_one
from fscontract.pipeline.hudi.changes import (
    CLEAN,
    COMMIT,
    COMPACTION,
    DIGEST,
    REPLACE,
    RESTORE,
    ROLLBACK,
    Change,
    Names,
    Sizes,
    below,
    changes_of,
    check_change,
    digest_in,
    digest_of,
    encode_change,
    file_records,
    statistics_records,
    unsynced,
)
from fscontract.pipeline.hudi.commit_metadata import (
    encode_clean_plan,
    encode_commit,
    encode_restore_plan,
    encode_rollback_plan,
)
from fscontract.pipeline.hudi.index_definitions import (
    IndexedColumns,
    default_path,
    with_columns,
)
from fscontract.pipeline.hudi.io import (
    LockedException,
    MetadataException,
    MetadataWarning,
    RolledBackException,
    list_files,
    sync_files,
)
from fscontract.pipeline.hudi.listing import listing
from fscontract.pipeline.hudi.metrics import INITIALIZE, SYNC
from fscontract.pipeline.hudi.parquet_stats import (
    StatisticsReader,
    indexable,
    read_statistics,
    without,
)
from fscontract.pipeline.hudi.partition_builder import (
    PartitionBuilder,
    columns_of,
    versioned,
)
from fscontract.pipeline.hudi.partition_stats import (
    IncompleteStatistics,
    check_known,
    partition_records,
)
from fscontract.pipeline.hudi.record_keys import UnknownKeys, changed_locations
from fscontract.pipeline.hudi.records import NO_PARTITION, Record
from fscontract.pipeline.hudi.schema import CLEAN_PLAN, RESTORE_PLAN, ROLLBACK_PLAN
from fscontract.pipeline.hudi.schema import RESTORE as RESTORED
from fscontract.pipeline.hudi.table_location import (
    CHECKSUM,
    COLUMNS,
    INFLIGHT,
    KEPT,
    KEY_GENERATOR,
    NAME,
    PARTITIONS,
    SCHEMA,
    VERSION,
    WRITABLE,
    check_version,
    usable_partitions,
    version_of,
    write_properties,
)
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    COMPLETED,
    FILE_GROUPS,
    FILES,
    FIRST_INSTANT,
    HOODIE,
    PARTITION_STATS,
    PROPERTIES,
    RECORD_INDEX,
    REQUESTED,
    Instant,
    Timeline,
    group_names,
    instant_at,
)
from fscontract.pipeline.hudi.writer_base import Services

__all__ = ["COLUMNS", "Change", "MetadataWriter", "Services", "Sizes", "listing"]

#: Schemas of the plans of actions.
_PLANS = {CLEAN: CLEAN_PLAN, ROLLBACK: ROLLBACK_PLAN, RESTORE: RESTORE_PLAN}

#: Actions that are requested by one process and executed by another.
_SCHEDULED = frozenset({COMPACTION, "logcompaction", "clustering", "indexing"})


class MetadataWriter(PartitionBuilder):
    """Writes the metadata table of the dataset at `path`.

    Only one process may write at a time, unless all use a `lock`: then each acquires it for every
    write, or permanently with `hold`. When this writer begins an action, it rolls back instants of
    other writers that are older than `patience`. With `services`, the table is compacted, cleaned
    and archived automatically. A clean, a rollback or a restore stores its plan in the requested
    instant, so that another writer can complete it. `directory` is the table's directory, if
    outside the dataset. No block of more than `max_block_bytes` uncompressed bytes is read or
    written.
    """

    def initialize(
        self,
        name: str = "dataset",
        properties: Mapping[str, str] | None = None,
        lister: Callable[[FileSystem, str], Sizes] = listing,
        columns: Collection[str] | None = (),
        reader: StatisticsReader = read_statistics,
        infer: Callable[[FileSystem, str, Sizes], Mapping[str, str]] | None = None,
        partition_stats: bool = False,
    ) -> None:
        """Create the metadata table from a listing of the dataset.

        `infer`, such as `layout.infer_properties`, is called with the sizes, and returns properties
        for a dataset that will contain the table and does not belong to Hudi yet.

        The table stores ranges of `columns`, or of the first 32 of each file if None: those of
        Parquet files are read from their footers, now and with each action that adds files. With
        `partition_stats` it also stores the ranges over the files of each partition, if all files
        have ranges; a MetadataWarning names the first that has not.

        Raise IllegalArgumentException for `partition_stats` without columns; MetadataException
        while an action is not completed, because its files would count as part of the dataset;
        otherwise as `bootstrap`.
        """
        if partition_stats and columns is not None and not columns:
            raise IllegalArgumentException(f"{PARTITION_STATS} requires columns")
        with self._critical(), self.metrics.timed(INITIALIZE):
            content = self._listed(lister, columns, reader)
            merged = dict(properties or {})
            known = KEY_GENERATOR in self._properties()  # set by Hudi, or by an earlier call
            if infer is not None and not known and not self._elsewhere:
                merged = {**infer(self._fs, self.path, content.added), **merged}
            self.bootstrap(content, name, merged, columns or (), partition_stats)

    def rebuild(
        self,
        lister: Callable[[FileSystem, str], Sizes] = listing,
        reader: StatisticsReader = read_statistics,
    ) -> Change:
        """Rebuild the metadata table from a listing, with the same columns; return the files found.

        This repairs a table that is damaged or differs from the files. Meanwhile readers list
        directories. Partitions that this package does not write are removed, with a
        MetadataWarning. Raise MetadataException without a table, and while an action is not
        completed.
        """
        with self._critical(), self.metrics.timed(INITIALIZE):
            self._partitions()
            indexed = self._indexed(self._properties()).names
            columns = [column for column in indexed if indexable(column)]
            content = self._listed(lister, columns, reader)
            self._retire()
            properties = self._properties()
            index = list_files(self._fs, f"{self._metadata}/{RECORD_INDEX}")
            groups = len(group_names(index, self.timelines()[1]))
            self.drop()
            own = {k: v for k, v in properties.items() if k not in (PARTITIONS, COLUMNS, CHECKSUM)}
            partitions = usable_partitions(properties)
            ranges = PARTITION_STATS in partitions
            self.bootstrap(content, properties.get(NAME, "dataset"), own, columns, ranges)
            if RECORD_INDEX in partitions:
                self._rebuild_record_index(groups)
            return content

    def _rebuild_record_index(self, file_groups: int) -> None:
        try:
            self.create_partition(RECORD_INDEX, file_groups=file_groups or None)
        except MetadataException as error:
            message = f"{self._metadata}: removed partition {RECORD_INDEX}: {error}"
            warnings.warn(message, MetadataWarning, stacklevel=4)

    def _listed(
        self,
        lister: Callable[[FileSystem, str], Sizes],
        columns: Collection[str] | None,
        reader: StatisticsReader,
    ) -> Change:
        """Return all files with statistics; raise MetadataException while an action is pending."""
        pending = [item for item in self.timelines()[0].pending if not _is_scheduled(item)]
        if pending:
            raise MetadataException(self.path, f"action {pending[0].time} is not completed")
        sizes = lister(self._fs, self.path)
        has_columns = columns is None or bool(columns)
        return Change(
            sizes, statistics=reader(self._fs, self.path, sizes, columns) if has_columns else {}
        )

    def bootstrap(
        self,
        content: Change,
        name: str,
        properties: Mapping[str, str] | None = None,
        columns: Collection[str] = (),
        partition_stats: bool = False,
    ) -> None:
        """Create the table with this content; raise FileAlreadyExistsException if it exists.

        It stores ranges of `columns`, and of columns with statistics in `content`, and those of
        partitions as `initialize`. Raise IllegalArgumentException for a name that can't be part of
        the list of columns.

        The table becomes valid once the properties name its partitions: the dataset's, which are
        created if missing, and get `properties`. Remains of earlier attempts are removed. If the
        properties have a schema, a dataset without instants gets a first commit of all files,
        because other readers treat one without commits as empty.
        """
        check_change(content)
        columns = columns_of(content, columns)
        records = {FILES: file_records(content, self._names)}
        if columns:
            records |= self._first_statistics(content, columns, partition_stats)
        with self._critical():
            self._make_room()
            version = {VERSION: str(version_of(self.path, self._properties()))}
            own = {**own_properties(name), **version}
            if SCHEMA in (properties or {}) and not self._elsewhere:
                self._first_commit(content, dict(properties or {})[SCHEMA])
            write_properties(self._fs, f"{self._metadata}/{PROPERTIES}", own)
            for number, (partition, item) in enumerate(records.items()):
                instant = Instant(f"{int(FIRST_INSTANT) + number:017}", "deltacommit", COMPLETED)
                self._instants.reserve(instant)
                base = self._write_base(partition, FILE_GROUPS[partition], instant.time, item)
                commit = encode_commit([base], "BULK_INSERT")
                self._instants.complete(instant, commit, self._latest())
            merged = {**(own if self._elsewhere else data_properties(name)), **self._properties()}
            merged |= properties or {}
            merged |= {} if self._elsewhere or not columns else default_path(merged)
            merged |= {PARTITIONS: ",".join(sorted(records))}
            merged = with_columns(merged, columns)
            write_properties(self._fs, self.location.marker, merged, replace=True)
            self._refresh()

    def _first_commit(self, content: Change, schema: str) -> None:
        """Write a commit to an empty timeline; completion file first, so that none is pending."""
        data, metadata = self.timelines()
        if data.instants:
            return
        time = self._data_instants.next_time(metadata.latest)
        extra = {"schema": schema}
        commit = encode_change(COMMIT, time, Change(content.added), extra)
        done = self._data_instants.complete(Instant(time, COMMIT, REQUESTED), commit)
        self._data_instants.reserve(done)

    def _make_room(self) -> None:
        check_version(self.path, self._of_dataset(), KEPT)
        if self.location.exists(self._fs) and list_files(self._fs, f"{self._metadata}/{HOODIE}"):
            raise FileAlreadyExistsException(
                self._metadata, "the dataset already has a metadata table"
            )
        self.drop()

    def drop(self) -> bool:
        """Delete the metadata table; return True if it existed."""
        with self._critical():
            properties = self._properties()
            self._refresh()
            existed = PARTITIONS in properties
            if existed and not self._elsewhere:
                gone = (PARTITIONS, INFLIGHT, COLUMNS)
                remaining = {k: v for k, v in properties.items() if k not in gone}
                write_properties(self._fs, self.location.marker, remaining, replace=True)
            elif existed:
                self._fs.delete(self.location.marker)
            existed = self._fs.delete(self._metadata, recursive=True) and existed
            self._refresh()
            return existed

    def begin(self, action: str = "commit", plan: bytes = b"") -> Instant:
        """Begin an action on the dataset; its time may be part of its file names.

        Actions of other writers that were not completed in time are rolled back first.
        """
        with self._critical():
            self.recover()
            if self._design == 1:
                self.sync()
            return self._begin(action, plan)

    def finish(self, instant: Instant, change: Change) -> Instant:
        """Apply an action's change to the metadata table, and complete the action.

        Its new files are first synced to disk, if the filesystem supports it. The call may be
        repeated with the same change, for example after an unknown outcome. Raise
        RolledBackException if another writer took the action for a failed one, and delete its files
        that are named after it; MetadataException for a change with invalid files.
        """
        check_change(change)
        added = ((part, name) for part, names in change.added.items() for name in names)
        paths = (f"{self.path}/{below(part, name)}" for part, name in added)
        sync_files(self._fs, paths, self.path)
        if self._design != 1:
            change = self._with_statistics(change)
            self._read_keys(instant, change)
        with self._critical():
            known = self.timelines()[0].instants.get(instant.time)
            if known is None:
                self._delete_data(_named_after(instant.time, change.added))
                raise RolledBackException(self.path, f"action {instant.time} was rolled back")
            return known if known.state == COMPLETED else self._finish(instant, change)

    def commit(self, change: Change, action: str = "commit") -> Instant:
        """Run a whole action that adds files: a commit, a deltacommit or a compaction."""
        with self._critical():
            return self.finish(self.begin(action), change)

    # updates ------------------------------------------------------------------------------

    def _begin(self, action: str, plan: bytes = b"") -> Instant:
        check_version(self.path, self._of_dataset(), WRITABLE)
        self._drop_early()
        latest = max(self.timelines(), key=lambda timeline: timeline.latest)
        instant = self._data_instants.request(action, latest, plan)
        self._mine.add(instant.time)
        self._data_instants.begin(instant)
        return instant

    def _drop_early(self) -> None:
        """Drop the metadata table of a dataset before version 8, because it is not written."""
        properties = self._properties()
        if self._layout() == 1 and properties.get(PARTITIONS):
            self.drop()
            message = (
                f"removed, because tables of version {properties.get(VERSION)} are not written"
            )
            warnings.warn(f"{self._metadata}: {message}", MetadataWarning, stacklevel=4)

    def _finish(
        self,
        instant: Instant,
        change: Change,
        target: Sequence[str] = (),
        failed: Names | None = None,
    ) -> Instant:
        """Write the metadata table, then the instant; in the first design the instant first."""
        properties = self._properties()
        extra = {"schema": properties[SCHEMA]} if SCHEMA in properties else {}
        content = encode_change(
            instant.action, instant.time, change, extra, target, failed, self._layout()
        )
        if self._design != 1 and FILES in usable_partitions(properties):
            self.maintain()
            self._catch_up()
            self.apply(instant, change)
        return self._complete(instant, content)

    def _complete(self, instant: Instant, content: bytes) -> Instant:
        rolled_back = RolledBackException(self.path, f"action {instant.time} was rolled back")
        known = self._completed_rollbacks()
        try:
            self._check_lock()
        except LockedException:
            self._withdraw(instant)
            raise
        if self._lock is not None and self._is_rolled_back(instant, known):
            raise rolled_back
        done = self._data_instants.complete(instant, content, self._latest())
        self._mine.discard(instant.time)
        if self._lock is not None:
            self._data_instants.refresh()
            if self._is_rolled_back(done, known):
                self._forget([done])
                raise rolled_back
        return done

    def _completed_rollbacks(self) -> frozenset[str]:
        instants = self.timelines()[0].instants.values()
        return frozenset(i.time for i in instants if (i.action, i.state) == (ROLLBACK, COMPLETED))

    def _withdraw(self, instant: Instant) -> None:
        """Remove an action from the table that another writer has rolled back meanwhile.

        Readers take an action before the first of the timeline for a completed one.
        """
        self._refresh()
        if instant.time not in self.timelines()[0].instants:
            self._take_out(instant.time)

    def _is_rolled_back(self, action: Instant, known: Collection[str]) -> bool:
        """Return True if another writer has requested to roll back an action.

        It may be slow, and delete the action's files later, also if this one has the lock now. This
        one may lose the lock before the completion takes effect. Both first make their own file,
        then look for the other's, so that one of them sees it.
        """
        return any(
            self._plan(instant)["instantToRollback"]["commitTime"] == action.time
            for instant in self.timelines()[0].instants.values()
            if instant.action == ROLLBACK and instant.time not in known
        )

    def _settle(self) -> None:
        self.recover()
        self.maintain()
        self._catch_up()

    def _catch_up(self) -> None:
        """Apply actions completed by writers that do not update the metadata table."""
        for instant in self._behind(*self.timelines()):
            (change,) = changes_of(self._fs, self.path, [instant])
            self._apply(instant.time, change)

    def apply(self, instant: Instant, change: Change) -> None:
        """Apply an action's change to the metadata table; it becomes valid on completion.

        A later call replaces the change of an earlier one.
        """
        with self._critical():
            done = self.timelines()[1].instants.get(instant.time)
            if done is None or done.state != COMPLETED or self._differs(done, change):
                self._apply(instant.time, change)

    def _differs(self, done: Instant, change: Change) -> bool:
        """Return True if a deltacommit has another change of an action that is not valid yet."""
        if all(pending.time != done.time for pending in self.timelines()[0].pending):
            return False
        digest = digest_in(self._instants.read(done), f"{self._metadata}/{done.file_name}")
        return digest not in (None, digest_of(change))

    def _apply(self, time: str, change: Change) -> None:
        check_version(self.path, self._of_dataset(), KEPT)
        self._retire()
        records = self._records(time, change)
        if time in self.timelines()[1].instants:  # an earlier attempt died
            self._take_out(time)
        delta = Instant(time, "deltacommit", COMPLETED)
        self._instants.reserve(delta)
        written = [
            file
            for partition, entries in records.items()
            for file in self._write_logs(partition, time, entries)
        ]
        content = encode_commit(written, "UPSERT_PREPPED", {DIGEST: digest_of(change)})
        self._instants.complete(delta, content, self._latest())

    def _records(self, time: str, change: Change) -> dict[str, Sequence[Record]]:
        """Return the records of an action's change, by partition of the table."""
        records: dict[str, Sequence[Record]] = {FILES: file_records(change, self._names)}
        properties = self._properties()
        indexed = self._indexed(properties)
        if indexed.names:
            statistics = self._statistics(change, indexed.names)
            records[COLUMN_STATS] = versioned(statistics, indexed.typed)
        partitions = usable_partitions(properties)
        if PARTITION_STATS in partitions:
            try:
                records[PARTITION_STATS] = self._partition_records(change, records, indexed)
            except IncompleteStatistics as error:
                self._disable([PARTITION_STATS], str(error))
        if RECORD_INDEX in partitions:
            try:
                records[RECORD_INDEX] = self._location_records(time, change)
            except UnknownKeys as error:
                self._disable([RECORD_INDEX], str(error))
            self._keys.clear()
        return records

    def _location_records(self, time: str, change: Change) -> list[Record]:
        """Return the records of an action for the index of records; raise UnknownKeys."""
        data, metadata = self.timelines()
        if time in data.completed and data.instants[time].action == RESTORE:
            raise UnknownKeys(f"restore {time} was completed without the metadata table")
        missing = {instant.time for instant in unsynced(data, metadata)}
        replacing = [
            instant
            for instant in data.instants.values()
            if instant.action == REPLACE and instant.completed and instant.time not in missing
        ]
        replaced: dict[str, set[str]] = {}
        for earlier in changes_of(self._fs, self.path, replacing):
            for partition, groups in earlier.replaced.items():
                replaced.setdefault(partition, set()).update(groups)
        with self._table() as table:
            return changed_locations(self._fs, table, change, time, replaced, self._keys)

    def _read_keys(self, instant: Instant, change: Change) -> None:
        """Read the keys of a change before acquiring the lock, so that other writers don't wait."""
        usable = usable_partitions(self._properties())
        if self._lock is not None and not self._has_lock and RECORD_INDEX in usable:
            with suppress(UnknownKeys, MetadataException, FileNotFoundError):
                self._location_records(instant.time, change)

    def _partition_records(
        self, change: Change, records: Mapping[str, Sequence[Record]], indexed: IndexedColumns
    ) -> list[Record]:
        """Return the statistics of a change's partitions; raise IncompleteStatistics."""
        ranges = partition_records(change, records.get(COLUMN_STATS, ()), indexed.names)
        with self._table() as table:
            known = table.partition_statistics(record.key for record in ranges)
            listed = table.list_many(
                partition for partition, files in change.added.items() if files
            )
        check_known(
            ranges, known, {name or NO_PARTITION for name, files in listed.items() if files}
        )
        types = {key: record.value_type for key, record in known.items()}
        return versioned(ranges, indexed.typed, types)

    def sync(self) -> list[str]:
        """Apply missing actions of the dataset's timeline; return their times.

        Follows Hudi's first design: in order of completion, and up to the first instant that has an
        older pending one. Readers merge the rest until then.
        """
        with self._critical(), self.metrics.timed(SYNC):
            self.maintain()
            data, metadata = self.timelines()
            applied = []
            for instant in self._behind(data, metadata):
                if self._blocked(instant, data):
                    break
                (change,) = changes_of(self._fs, self.path, [instant])
                self._apply(instant.time, change)
                applied.append(instant.time)
            return applied

    def _behind(self, data: Timeline, metadata: Timeline) -> list[Instant]:
        """Return the actions missing in the table, in order."""
        return unsynced(data, metadata)

    def _statistics(self, change: Change, columns: Sequence[str]) -> list[Record]:
        """Return the statistics records of a change, from the change or from the files."""
        return statistics_records(self._with_statistics(change, columns), columns)

    def _with_statistics(self, change: Change, columns: Sequence[str] | None = None) -> Change:
        """Return a change with statistics read from footers, if the table indexes columns.

        They are read before acquiring the lock, so that other writers don't wait.
        """
        unread = without(change.added, change.statistics)
        if not any(unread.values()):
            return change
        indexed = self._indexed(self._properties()).names if columns is None else columns
        if not indexed:
            return change
        known = read_statistics(self._fs, self.path, unread, indexed)
        return replace(change, statistics={**known, **change.statistics})

    def _blocked(self, instant: Instant, data: Timeline) -> bool:
        """Return True if an earlier action is not completed."""
        return any(pending.time < instant.time for pending in data.pending)

    def _names(self, partitions: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the file names of partitions, from the table."""
        with self._table() as table:
            listed = table.list_many(partitions)
        return {p: [s.path.rpartition("/")[2] for s in listed[p]] for p in partitions}

    # recovery -----------------------------------------------------------------------------

    def clean(self, deleted: Names) -> Instant:
        """Delete files of the dataset that no reader needs any more.

        A missing file counts as deleted; a file that can't be deleted remains listed. Raise
        MetadataException for names outside the dataset.
        """
        check_change(Change(deleted=deleted))
        with self._critical():
            self.recover()
            return self._clean(self._begin(CLEAN, encode_clean_plan(deleted)), deleted)

    def _clean(self, instant: Instant, deleted: Names) -> Instant:
        failed = self._delete_data(deleted)
        gone = {p: set(names) - failed.get(p, set()) for p, names in deleted.items()}
        return self._finish(instant, Change(deleted=gone), failed=failed)

    def roll_back(self, failed: Instant, deleted: Names | None = None) -> Instant:
        """Undo an action that was begun and never completed, as a new action.

        Its changes of the metadata table were never valid, and are removed; its data files
        `deleted` are deleted.
        """
        with self._critical():
            if failed.time in self.timelines()[0].completed:
                raise IllegalArgumentException(f"can't roll back {failed.time}: it is completed")
            instant = self._begin(ROLLBACK, encode_rollback_plan(failed.time, failed.action))
            done = self._roll_back(instant, failed, deleted or {})
            if done.time == failed.time:
                raise IllegalArgumentException(f"can't roll back {failed.time}: it is completed")
            return done

    def _roll_back(self, instant: Instant, failed: Instant, deleted: Names) -> Instant:
        """Roll back an action; return the rollback that was requested as `instant`.

        If the action's writer has completed it meanwhile, remove the request and return the action.
        """
        if self._lock is not None:
            self._data_instants.refresh()
            data = self.timelines()[0]
            if failed.time in data.completed:
                self._data_instants.remove(instant)
                self._mine.discard(instant.time)
                return data.instants[failed.time]
        self._delete_data(deleted)
        self._take_out(failed.time)
        self._data_instants.remove(failed)
        self._mine.discard(failed.time)
        return self._finish(instant, Change(deleted=deleted), [f"{failed.time}.{failed.action}"])

    def restore(self, to: Instant) -> Instant:
        """Restore the dataset to the completion of an instant; delete files added since.

        Raise IllegalArgumentException if files were deleted since, because they can't be restored.
        """
        with self._critical():
            self.recover()
            data, _ = self.timelines()
            end = data.completed.get(to.time)
            if end is None:
                raise IllegalArgumentException(f"{to.time} is not a completed instant")
            after = [
                instant for instant in data.instants.values() if (instant.completed or "") > end
            ]
            targets = [instant for instant in after if instant.action not in (ROLLBACK, RESTORE)]
            self._restorable(targets)
            plan = encode_restore_plan(
                [(instant.time, instant.action) for instant in targets], to.time
            )
            return self._restore(self._begin(RESTORE, plan), targets)

    def _restorable(self, targets: list[Instant]) -> None:
        for instant, change in zip(targets, changes_of(self._fs, self.path, targets), strict=True):
            if any(change.deleted.values()):
                raise IllegalArgumentException(
                    f"can't restore: action {instant.time} deleted files"
                )

    def _restore(self, instant: Instant, targets: list[Instant]) -> Instant:
        changes = changes_of(self._fs, self.path, targets)
        deleted: dict[str, set[str]] = {}
        for change in changes:
            for partition, files in change.added.items():
                deleted.setdefault(partition, set()).update(files)
        usable = usable_partitions(self._properties())
        if RECORD_INDEX in usable and any(change.replaced for change in changes):
            self._disable([RECORD_INDEX], "a restore brings back file groups that were replaced")
        self._delete_data(deleted)
        named = [f"{target.time}.{target.action}" for target in targets]
        done = self._finish(instant, Change(deleted=deleted), named)
        self._forget(targets)
        return done

    def _forget(self, targets: Iterable[Instant]) -> None:
        """Remove the instants that a restore has reverted, and then their changes of the table.

        In the reverse order, readers would treat them as missing in the table.
        """
        for instant in targets:
            self._data_instants.forget(instant)
            self._take_out(instant.time)

    def recover(self) -> list[Instant]:
        """Complete planned actions of dead writers, and roll back the others.

        Actions younger than `patience` may still be running, and are skipped. A compaction, a
        clustering or an indexing that is only requested waits for its executor. Temporary files of
        killed writers are removed.
        """
        with self._critical():
            data, metadata = self.timelines()
            self._forget_reverted(data, metadata)
            recovered = []
            for instant in data.pending:
                if self._is_dead(instant):
                    recovered.append(self._end(instant, data))
            self._sweep(*([self.path] if recovered else []))
            return recovered

    def _is_dead(self, instant: Instant) -> bool:
        if instant.time in self._mine:
            return False
        if _is_scheduled(instant):
            return False
        return not self._patience or instant.time < instant_at(self._clock() - self._patience)

    def _end(self, instant: Instant, data: Timeline) -> Instant:
        if instant.action in (CLEAN, ROLLBACK, RESTORE):
            plan = self._plan(instant)
            self._data_instants.reserve(instant)
            if instant.action == CLEAN:
                return self._clean(instant, plan["filesToBeDeletedPerPartition"] or {})
            if instant.action == ROLLBACK:
                target = plan["instantToRollback"]
                failed = Instant(target["commitTime"], target["action"], REQUESTED)
                return self._roll_back(instant, failed, self._files_of(failed.time))
            every = data.instants
            named = [entry["commitTime"] for entry in plan["instantsToRollback"]]
            return self._restore(instant, [every[time] for time in named if time in every])
        plan_of_rollback = encode_rollback_plan(instant.time, instant.action)
        undo = self._begin(ROLLBACK, plan_of_rollback)
        return self._roll_back(undo, instant, self._files_of(instant.time))

    def _forget_reverted(self, data: Timeline, metadata: Timeline) -> None:
        """Remove what completed restores and rollbacks reverted, if their writers died before.

        A slow writer may complete an action after its rollback, and die before it sees that.
        """
        for instant in data.instants.values():
            if instant.action in (RESTORE, ROLLBACK) and instant.state == COMPLETED:
                named = self._reverted_by(instant)
                self._forget(data.instants[time] for time in named if time in data.completed)
                for time in named:
                    if time in metadata.instants:
                        self._take_out(time)

    def _reverted_by(self, instant: Instant) -> Sequence[str]:
        """Return the times of the actions that a completed restore or rollback reverted.

        None for a rollback without a readable plan, such as one of an early version of Hudi.
        """
        if instant.action == RESTORE:
            return (*self._plan(instant)["instantsToRollback"],)
        if instant.time not in self._rolled_back:
            self._rolled_back[instant.time] = ()
            with suppress(FileNotFoundError, MetadataException):
                time = self._plan(instant)["instantToRollback"]["commitTime"]
                self._rolled_back[instant.time] = (time,)
        return self._rolled_back[instant.time]

    def _plan(self, instant: Instant) -> dict[str, Any]:
        schema = _PLANS[instant.action]
        source = Instant(instant.time, instant.action, REQUESTED)
        # its completed instant lists the reverted ones
        if instant.state == COMPLETED and instant.action == RESTORE:
            source, schema = instant, RESTORED
        try:
            content = self._data_instants.read(source)
            return read_one(content, schema)
        except ValueError as error:
            raise MetadataException(
                self.path, f"can't read the plan of {instant.time}: {error}"
            ) from error

    def _files_of(self, time: str) -> dict[str, set[str]]:
        """Return the files whose names have the action's time, from a listing."""
        return _named_after(time, listing(self._fs, self.path))

    def _delete_data(self, deleted: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
        """Delete files of the dataset; return those that could not be deleted."""
        failed: dict[str, set[str]] = {}
        for partition, names in deleted.items():
            for name in sorted(names):
                try:
                    self._fs.delete(f"{self.path}/{below(partition, name)}")
                except FileNotFoundError:
                    continue
                except OSError:
                    failed.setdefault(partition, set()).add(name)
        return failed


def _named_after(time: str, files: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return the files whose names have an action's time, by partition."""
    mark = re.compile(rf"_{time}\b|_{time}_")
    marked = {p: {name for name in names if mark.search(name)} for p, names in files.items()}
    return {partition: names for partition, names in marked.items() if names}


def _is_scheduled(instant: Instant) -> bool:
    """Return True if an action waits for its executor, and has written nothing."""
    return instant.action in _SCHEDULED and instant.state == REQUESTED


def data_properties(name: str) -> dict[str, str]:
    """Return the properties of a new dataset."""
    return {
        "hoodie.table.name": name,
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "8",
        "hoodie.table.initial.version": "8",
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
    }


def own_properties(name: str) -> dict[str, str]:
    """Return the properties of a metadata table."""
    return {
        **data_properties(f"{name}_metadata"),
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.base.file.format": "HFILE",
        "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
        "hoodie.table.recordkey.fields": "key",
        "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
        "hoodie.populate.meta.fields": "false",
        "hoodie.record.merge.mode": "CUSTOM",
        "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
        "hoodie.datasource.write.drop.partition.columns": "false",
    }
