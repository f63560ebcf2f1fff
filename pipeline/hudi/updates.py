"""Apply changes of a dataset to its metadata table, before or after they are completed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from fscontract.pipeline.hudi.changes import (
    DIGEST,
    Change,
    Names,
    changes_of,
    digest_in,
    digest_of,
    encode_change,
    file_records,
    statistics_records,
    unsynced,
)
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.io import MetadataException, list_files
from fscontract.pipeline.hudi.metrics import SYNC
from fscontract.pipeline.hudi.parquet_stats import read_statistics, without
from fscontract.pipeline.hudi.records import Record
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import PARTITIONS
from fscontract.pipeline.hudi.table_services import TableServices
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    COMPLETED,
    FILE_GROUPS,
    FILES,
    PROPERTIES,
    Instant,
    Timeline,
    parse_name,
)

#: The Avro schema of a dataset's rows, in its properties; each commit repeats it.
SCHEMA = "hoodie.table.create.schema"


class TableUpdates(TableServices):
    """A metadata table that follows its dataset."""

    def _begin(self, action: str, plan: bytes = b"") -> Instant:
        latest = max(self.timelines(), key=lambda timeline: timeline.latest)
        instant = self._data_instants.request(action, latest, plan)
        self._mine.add(instant.time)
        self._data_instants.begin(instant)
        return instant

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
        content = encode_change(instant.action, instant.time, change, extra, target, failed)
        if self._design != 1 and FILES in properties.get(PARTITIONS, "").split(","):
            self.maintain()
            self._catch_up()
            self.apply(instant, change)
        return self._complete(instant, content)

    def _complete(self, instant: Instant, content: bytes) -> Instant:
        self._check_lock()
        done = self._data_instants.complete(instant, content, self._latest())
        self._mine.discard(instant.time)
        return done

    def _catch_up(self) -> None:
        """Apply what writers have completed that know of no metadata table."""
        for instant in self._behind(*self.timelines()):
            (change,) = changes_of(self._fs, self.path, [instant])
            self._apply(instant.time, change)

    def apply(self, instant: Instant, change: Change) -> None:
        """Put what an action did into the metadata table: it counts once that is completed.

        The last change holds: another one that was put there before is taken out.
        """
        with self._critical():
            done = self.timelines()[1].instants.get(instant.time)
            if done is None or done.state != COMPLETED or self._differs(done, change):
                self._apply(instant.time, change)

    def _differs(self, done: Instant, change: Change) -> bool:
        """Return whether a deltacommit has another change of an action that does not count yet."""
        if all(pending.time != done.time for pending in self.timelines()[0].pending):
            return False
        digest = digest_in(self._instants.read(done), f"{self._metadata}/{done.file_name}")
        return digest not in (None, digest_of(change))

    def _apply(self, time: str, change: Change) -> None:
        properties = self._properties()
        self._check_partitions(properties)
        columns = self._columns(properties)
        records = {FILES: file_records(change, self._names)}
        if columns:
            records[COLUMN_STATS] = self._statistics(change, columns)
        if time in self.timelines()[1].instants:  # an attempt before this one died
            self._take_out(time)
        delta = Instant(time, "deltacommit", COMPLETED)
        self._instants.reserve(delta)
        written = [
            self._write_log(partition, time, entries)
            for partition, entries in records.items()
            if entries
        ]
        content = encode_commit(written, "UPSERT_PREPPED", {DIGEST: digest_of(change)})
        self._instants.complete(delta, content, self._latest())

    def _check_partitions(self, properties: Mapping[str, str]) -> None:
        """MetadataException for a partition of the table that would not be kept up to date."""
        unsupported = {*properties.get(PARTITIONS, FILES).split(",")} - {FILES, COLUMN_STATS}
        if unsupported:
            message = f"a partition that can't be kept up to date: {', '.join(sorted(unsupported))}"
            raise MetadataException(self._metadata, message)

    def _take_out(self, time: str) -> None:
        """Remove what an action wrote to the metadata table: the logs first."""
        _, metadata = self.timelines()
        for partition in FILE_GROUPS:
            for status in list_files(self._fs, f"{self._metadata}/{partition}"):
                name = parse_name(status.path.rpartition("/")[2])
                if name is not None and name.instant == time:
                    self._fs.delete(status.path)
        done = metadata.instants.get(time)
        if done is not None and done.state == COMPLETED:
            self._instants.forget(done)
        elif done is not None:
            self._instants.remove(done)

    def sync(self) -> list[str]:
        """Let the table catch up with the dataset's timeline; the times of what was applied.

        As in Hudi's first design: in the order in which it was completed, and up to the first
        instant that an older one is at work beside. Readers merge the rest, until that is done.
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
        """Return what the table lacks, in order."""
        return unsynced(data, metadata)

    def _statistics(self, change: Change, columns: Sequence[str]) -> list[Record]:
        """Return the statistics records of a change: those it has, or read from the files."""
        return statistics_records(self._with_statistics(change, columns), columns)

    def _with_statistics(self, change: Change, columns: Sequence[str] | None = None) -> Change:
        """Return a change with statistics read from footers, if the table indexes columns.

        Read before the lock is taken, they keep nobody waiting.
        """
        unread = without(change.added, change.statistics)
        if not any(unread.values()):
            return change
        indexed = self._columns(self._properties()) if columns is None else columns
        if not indexed:
            return change
        known = read_statistics(self._fs, self.path, unread, indexed)
        return replace(change, statistics={**known, **change.statistics})

    def _blocked(self, instant: Instant, data: Timeline) -> bool:
        """Return whether an action before this one is not completed."""
        return any(pending.time < instant.time for pending in data.pending)

    def _names(self, partitions: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the names of the files of partitions, by the table."""
        with MetadataTable(
            self._fs,
            self.path,
            directory=self._directory,
            merge_unsynced=False,
            max_block_bytes=self._max_block_bytes,
        ) as table:
            listed = table.list_many(partitions)
        return {p: [s.path.rpartition("/")[2] for s in listed[p]] for p in partitions}

    @property
    def _elsewhere(self) -> bool:
        return self.location.marker == f"{self._metadata}/{PROPERTIES}"

    @property
    def _directory(self) -> str | None:
        return self._metadata if self._elsewhere else None
