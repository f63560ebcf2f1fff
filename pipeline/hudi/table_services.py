"""Services of a metadata table: compaction, cleaning and archiving."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fscontract.pipeline.hudi.changes import WRITES, unsynced
from fscontract.pipeline.hudi.commit_metadata import encode_clean, encode_commit
from fscontract.pipeline.hudi.file_slices import FileSlice, last_compaction
from fscontract.pipeline.hudi.io import list_files
from fscontract.pipeline.hudi.records import Record
from fscontract.pipeline.hudi.table_partitions import TablePartitions
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    FILE_GROUPS,
    FIRST_INSTANT,
    BaseName,
    Instant,
    LogName,
    Timeline,
    TimelineWriter,
    parse_name,
)

_COMPACTION, _CLEAN = "compaction", "clean"


class TableServices(TablePartitions):
    """Compaction, cleaning and archiving of a metadata table."""

    def maintain(self) -> None:
        """Complete pending services, then run those that are due."""
        services = self._services
        with self._critical():
            data, metadata = self.timelines()
            for pending in metadata.pending:  # a partition whose writer died
                if pending.action == "deltacommit" and _is_abandoned(pending, data):
                    self._take_out(pending.time)
            actions = {instant.action for instant in metadata.pending}
            if _COMPACTION in actions:
                self.compact()
            if _CLEAN in actions:
                self.clean_table(services.keep_slices if services else 2)
            if services is None or self.deltacommits(metadata) < services.compact_after:
                return
            if self.compact() is not None:
                self.clean_table(services.keep_slices)
                self.archive(services.keep_instants)

    def deltacommits(self, metadata: Timeline) -> int:
        """Return the number of deltacommits since the last compaction."""
        last = last_compaction(metadata)
        return sum(
            instant.action == "deltacommit" and (instant.completed or "") > last
            for instant in metadata.instants.values()
            if instant.time[:14] != FIRST_INSTANT[:14]
        )

    def compact(self) -> Instant | None:
        """Write new base files with the content of the logs.

        Return None if the table has an action that may still fail, because it could not be removed
        afterwards. A compaction that was not completed is repeated.
        """
        with self._critical():
            self._sweep()
            self._retire()
            data, metadata = self.timelines()
            pending = [item for item in metadata.pending if item.action == _COMPACTION]
            if pending:
                instant = pending[0]
                self._instants.reserve(instant)
            elif self._undecided(data, metadata):
                return None
            else:
                latest = max(data, metadata, key=lambda timeline: timeline.latest)
                instant = self._instants.request(_COMPACTION, latest)
                self._instants.begin(instant)
            written = [
                self._write_base(
                    partition, item.group, instant.time, self._compacted(item, instant, data)
                )
                for partition in self._partitions()
                for item in self._slices(partition, metadata)
            ]
            content = encode_commit(written, "COMPACT", compacted=True)
            self._check_lock()
            return self._instants.complete(instant, content, self._latest())

    def _undecided(self, data: Timeline, metadata: Timeline) -> bool:
        """Return True if the table contains an action that is not completed."""
        return any(instant.time in metadata.completed for instant in data.pending)

    def _compacted(
        self, file_slice: FileSlice, instant: Instant, data: Timeline
    ) -> Iterator[Record]:
        """Yield the records of a slice, without logs completed after the instant."""
        logs = tuple(log for log in file_slice.logs if log.completed < instant.time)
        older = FileSlice(file_slice.group, file_slice.base_instant, file_slice.base, logs)
        reader = self.group_class(
            self._fs,
            older,
            lambda time: self._counts(time, data),
            max_block_bytes=self._max_block_bytes,
        )
        try:
            yield from reader.scan()
        finally:
            reader.close()

    def clean_table(self, keep: int = 1) -> list[str]:
        """Delete files of the table that no reader needs; return their paths.

        The latest `keep` slices remain, and files of instants that are not completed. Files unknown
        to the timelines belong to writers that died, and are deleted.
        """
        with self._critical():
            self._sweep()
            _, metadata = self.timelines()
            cleans = [pending for pending in metadata.pending if pending.action == _CLEAN]
            gone = {name: self._unneeded(name, metadata, keep) for name in self._partitions()}
            self._remove_remains()
            if not cleans and not any(gone.values()):
                return []
            instant = cleans[0] if cleans else self._instants.request(_CLEAN, metadata)
            if cleans:
                self._instants.reserve(instant)
            else:
                self._instants.begin(instant)
            for paths in gone.values():
                for path in paths:
                    self._fs.delete(path)
            names = {part: [p.rpartition("/")[2] for p in paths] for part, paths in gone.items()}
            content = encode_clean(instant.time, names, {})
            self._instants.complete(instant, content, self._latest())
            return [path for paths in gone.values() for path in paths]

    def _unneeded(self, partition: str, metadata: Timeline, keep: int) -> list[str]:
        files: dict[str, list[tuple[BaseName | LogName, str]]] = {}
        for status in list_files(self._fs, f"{self._metadata}/{partition}"):
            name = parse_name(status.path.rpartition("/")[2])
            if name is not None:
                files.setdefault(name.group, []).append((name, status.path))
        return [path for group in files.values() for path in _unneeded_of(group, metadata, keep)]

    def _take_out(self, time: str) -> None:
        """Remove an action's change from the metadata table, the files first."""
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

    def archive(self, keep: int = 0) -> list[str]:
        """Remove unneeded instants from both timelines; return their times.

        The last `keep` remain, at least one. Instants older than a timeline count as completed.
        Therefore an instant of the dataset is removed only after a compaction, so that no log of an
        earlier failed one is left.
        """
        with self._critical():
            self._sweep()
            data, metadata = self.timelines()
            missing = [instant.time for instant in (*data.pending, *unsynced(data, metadata))]
            first = min(missing, default="~")
            bound = min(first, self._bound(metadata))
            dropped = self._drop(self._data_instants, data, bound, keep, first)
            bases = [
                name.instant
                for partition in self._partitions()
                for status in list_files(self._fs, f"{self._metadata}/{partition}")
                if (name := parse_name(status.path.rpartition("/")[2])) is not None
            ]
            oldest = min(bases, default="")
            return dropped + self._drop(self._instants, metadata, oldest, keep, first)

    def _bound(self, metadata: Timeline) -> str:
        """Return the time from which instants of the dataset must remain."""
        return last_compaction(metadata)

    def _drop(
        self, instants: TimelineWriter, timeline: Timeline, bound: str, keep: int, first: str
    ) -> list[str]:
        """Remove the oldest instants, while the timeline begins no later than at `first`.

        The last one that wrote files remains, because hudi-rs treats a dataset without one as
        empty.
        """
        every = list(timeline.instants.values())
        wrote = [
            candidate.time
            for candidate in every
            if candidate.action in WRITES and candidate.completed
        ]
        dropped: list[str] = []
        for instant, following in pairwise(every):
            if len(every) - len(dropped) <= max(keep, 1) or following.time > first:
                break
            if wrote and instant.time == wrote[-1]:
                break
            if instant.state != COMPLETED or (instant.completed or "~") >= bound:
                break
            instants.forget(instant)
            dropped.append(instant.time)
        return dropped


def _unneeded_of(
    files: list[tuple[BaseName | LogName, str]], metadata: Timeline, keep: int
) -> list[str]:
    """Return the paths of a file group that no reader needs."""
    bases = [name.instant for name, _ in files if isinstance(name, BaseName)]
    recent = sorted(time for time in bases if metadata.holds(time))[-keep:]
    oldest = recent[0] if recent else ""
    unneeded = []
    for name, path in files:
        known = name.instant in metadata.instants
        if isinstance(name, BaseName):
            needed = name.instant >= oldest and known
        else:
            completed = metadata.completed.get(name.instant, name.instant)
            needed = known and (name.instant not in metadata.completed or completed >= oldest)
        if not needed and name.instant not in recent:
            unneeded.append(path)
    return unneeded


def _is_abandoned(instant: Instant, data: Timeline) -> bool:
    """Return True if an instant of the table belongs to no action of the dataset."""
    is_first = instant.time[:14] == FIRST_INSTANT[:14]
    return not is_first and instant.time not in data.instants
