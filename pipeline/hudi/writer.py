"""Write a dataset's metadata table: from a listing first, then action by action.

The order is that of Hudi's second design: the metadata table changes first, and the change counts
once the instant is completed on the dataset's timeline. With `design=1` the instant is completed
first, and the table catches up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from fscontract.contract.api.errors import FileAlreadyExistsException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.changes import (
    COMMIT,
    Change,
    Sizes,
    below,
    check_change,
    encode_change,
    file_records,
    statistics_records,
)
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.io import (
    MetadataException,
    RolledBackException,
    list_files,
    sync_files,
)
from fscontract.pipeline.hudi.listing import listing
from fscontract.pipeline.hudi.metrics import INITIALIZE
from fscontract.pipeline.hudi.parquet_stats import StatisticsReader, indexable, read_statistics
from fscontract.pipeline.hudi.records import Record
from fscontract.pipeline.hudi.recovery import Recovery
from fscontract.pipeline.hudi.table_location import (
    CHECKSUM,
    COLUMNS,
    KEY_GENERATOR,
    NAME,
    PARTITIONS,
    write_properties,
)
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    COMPLETED,
    FILES,
    FIRST_INSTANT,
    HOODIE,
    PROPERTIES,
    REQUESTED,
    Instant,
)
from fscontract.pipeline.hudi.updates import SCHEMA
from fscontract.pipeline.hudi.writer_base import Services

__all__ = ["COLUMNS", "Change", "MetadataWriter", "Services", "Sizes", "listing"]


class MetadataWriter(Recovery):
    """Writes the metadata table of the dataset at `path`.

    One process writes at a time, unless all of them have a `lock`: then each takes it for as long
    as it writes, or for good with `hold`. Instants that another writer has begun are taken back
    when this one begins an action, once they are older than `patience`. With `services` the table
    is compacted, cleaned and archived in between. `directory` is where the table is, if not in the
    dataset. No block of more than `max_block_bytes` uncompressed is read or written.
    """

    def initialize(
        self,
        name: str = "dataset",
        properties: Mapping[str, str] | None = None,
        lister: Callable[[FileSystem, str], Sizes] = listing,
        columns: Collection[str] | None = (),
        reader: StatisticsReader = read_statistics,
        infer: Callable[[FileSystem, str, Sizes], Mapping[str, str]] | None = None,
    ) -> None:
        """Make the metadata table of what a listing of the dataset finds.

        `infer`, such as `layout.infer_properties`, is given the sizes, and returns properties for
        a dataset in which the table is to be, unless it is Hudi's already.

        It has ranges of `columns`, of the first 32 of each file if that is None: those of Parquet
        files are read from their footers, now and with each action that adds files.

        MetadataException while an action is not completed, whose files would be taken for those
        of the dataset; otherwise as `bootstrap`.
        """
        with self._critical(), self.metrics.timed(INITIALIZE):
            content = self._listed(lister, columns, reader)
            merged = dict(properties or {})
            known = KEY_GENERATOR in self._properties()  # by Hudi, or by an earlier call
            if infer is not None and not known and not self._elsewhere:
                merged = {**infer(self._fs, self.path, content.added), **merged}
            self.bootstrap(content, name, merged, columns or ())

    def rebuild(
        self,
        lister: Callable[[FileSystem, str], Sizes] = listing,
        reader: StatisticsReader = read_statistics,
    ) -> Change:
        """Make the metadata table anew of what a listing finds, with the columns that it has.

        It mends a table that differs from the files, or is damaged; return what was found.
        Meanwhile readers list. MetadataException if there is none, if it has partitions that are
        not written here, and while an action is not completed.
        """
        with self._critical(), self.metrics.timed(INITIALIZE):
            self._partitions()
            properties = self._properties()
            self._check_partitions(properties)
            columns = self._columns(properties)
            content = self._listed(lister, columns, reader)
            self.drop()
            own = {k: v for k, v in properties.items() if k not in (PARTITIONS, COLUMNS, CHECKSUM)}
            self.bootstrap(content, properties.get(NAME, "dataset"), own, columns)
            return content

    def _listed(
        self,
        lister: Callable[[FileSystem, str], Sizes],
        columns: Collection[str] | None,
        reader: StatisticsReader,
    ) -> Change:
        """Return all files and their statistics; MetadataException while an action is pending."""
        pending = self.timelines()[0].pending
        if pending:
            raise MetadataException(self.path, f"{pending[0].time} is not completed")
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
    ) -> None:
        """Make the metadata table of what there is; FileAlreadyExistsException if there is one.

        It has ranges of `columns`, and of those that there are statistics of;
        IllegalArgumentException for a name that can't stand in the list of them.

        It counts once the properties name its partitions: the dataset's, which are made if there
        are none, and get `properties`. What another attempt has left is removed. If they have a
        schema, a dataset without instants gets a first commit, of all files: other readers take
        one without commits for empty.
        """
        check_change(content)
        indexed = {known.column for group in content.statistics.values() for known in group}
        columns = sorted({*columns, *indexed})
        if bad := [item for item in columns if not indexable(item)]:
            raise IllegalArgumentException(f"no name of a column to have ranges of is {bad[0]!r}")
        records: dict[str, list[Record]] = {FILES: file_records(content, self._names)}
        if columns:
            records[COLUMN_STATS] = statistics_records(content, columns)
        with self._critical():
            self._make_room()
            own = own_properties(name)
            if SCHEMA in (properties or {}) and not self._elsewhere:
                self._first_commit(content, dict(properties or {})[SCHEMA])
            write_properties(self._fs, f"{self._metadata}/{PROPERTIES}", own)
            for number, (partition, item) in enumerate(records.items()):
                instant = Instant(f"{int(FIRST_INSTANT) + number:017}", "deltacommit", COMPLETED)
                self._instants.reserve(instant)
                base = self._write_base(partition, instant.time, item)
                commit = encode_commit([base], "BULK_INSERT")
                self._instants.complete(instant, commit, self._latest())
            merged = {**(own if self._elsewhere else data_properties(name)), **self._properties()}
            merged |= properties or {}
            merged |= {PARTITIONS: ",".join(sorted(records)), COLUMNS: ",".join(columns)}
            write_properties(self._fs, self.location.marker, merged, replace=True)
            self._refresh()

    def _first_commit(self, content: Change, schema: str) -> None:
        """Put a commit on an empty timeline; the file that counts first, so none is pending."""
        data, metadata = self.timelines()
        if data.instants:
            return
        time = self._data_instants.next_time(metadata.latest)
        extra = {"schema": schema}
        commit = encode_change(COMMIT, time, Change(content.added), extra)
        done = self._data_instants.complete(Instant(time, COMMIT, REQUESTED), commit)
        self._data_instants.reserve(done)

    def _make_room(self) -> None:
        if self.location.exists(self._fs) and list_files(self._fs, f"{self._metadata}/{HOODIE}"):
            raise FileAlreadyExistsException(self._metadata, "there is a metadata table")
        self.drop()

    def drop(self) -> bool:
        """Delete the metadata table; return whether there was one."""
        with self._critical():
            properties = self._properties()
            self._refresh()
            existed = PARTITIONS in properties
            if existed and not self._elsewhere:
                remaining = {k: v for k, v in properties.items() if k not in (PARTITIONS, COLUMNS)}
                write_properties(self._fs, self.location.marker, remaining, replace=True)
            elif existed:
                self._fs.delete(self.location.marker)
            existed = self._fs.delete(self._metadata, recursive=True) and existed
            self._refresh()
            return existed

    def begin(self, action: str = "commit", plan: bytes = b"") -> Instant:
        """Begin an action on the dataset; its time may be part of the names of its files.

        What other writers have begun, and not completed in time, is taken back before.
        """
        with self._critical():
            self.recover()
            if self._design == 1:
                self.sync()
            return self._begin(action, plan)

    def finish(self, instant: Instant, change: Change) -> Instant:
        """Put what an action did into the metadata table, and complete it: it counts from then.

        Before that the files that it added are on the disk, as far as the filesystem can tell.
        It can be called again, with the same change, by whoever does not know whether it has
        failed. RolledBackException if another writer took it for a failed one meanwhile;
        MetadataException for a change that can't be of the dataset's files.
        """
        check_change(change)
        added = ((part, name) for part, names in change.added.items() for name in names)
        paths = (f"{self.path}/{below(part, name)}" for part, name in added)
        sync_files(self._fs, paths, self.path)
        if self._design != 1:
            change = self._with_statistics(change)
        with self._critical():
            known = self.timelines()[0].instants.get(instant.time)
            if known is None:
                raise RolledBackException(self.path, f"{instant.time} was rolled back")
            return known if known.state == COMPLETED else self._finish(instant, change)

    def commit(self, change: Change, action: str = "commit") -> Instant:
        """Do all of an action that adds files: a commit, a deltacommit or a compaction."""
        with self._critical():
            return self.finish(self.begin(action), change)


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
