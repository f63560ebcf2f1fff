"""Mutants of table services, of pruning, and of what happens after failures and damage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.metadata_table.registry import table_mutant
from fscontract.pipeline.hudi.changes import Change, Names
from fscontract.pipeline.hudi.column_stats import ColumnChunk
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException, list_files
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.log import Log, LogBlock
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.records import ColumnStatistics, Record
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    Instant,
    Timeline,
    TimelineWriter,
    parse_name,
)
from fscontract.pipeline.hudi.writer import MetadataWriter


@table_mutant("metadata.failed-update")
class CompletesFirst(MetadataWriter):
    """The action is completed before the table is changed."""

    def apply(self, instant: Instant, change: Change) -> None:
        self._data_instants.complete(instant, encode_commit([], "UPSERT"), self._latest())
        super().apply(instant, change)


@table_mutant("metadata.recovered")
class LeavesAlone(MetadataWriter):
    """What others have begun is left as it is."""

    def recover(self) -> list[Instant]:
        return []


@table_mutant("metadata.rollback-older")
class LastOnly(MetadataWriter):
    """An action that is not the last one is completed by its rollback, as it was in Hudi."""

    def _roll_back(self, instant: Instant, failed: Instant, deleted: Names) -> Instant:
        data, _ = self.timelines()
        if any(time > failed.time for time in data.completed):
            self._data_instants.complete(failed, encode_commit([], "UPSERT"), self._latest())
            return instant
        return super()._roll_back(instant, failed, deleted)


@table_mutant("metadata.rollback-first")
class LeavesLogs(MetadataWriter):
    """What an action wrote to the table stays there."""

    def _take_out(self, time: str) -> None:
        pass


@table_mutant("metadata.rollback-unknown")
class MustKnow(MetadataWriter):
    """What the table does not know can't be rolled back."""

    def _take_out(self, time: str) -> None:
        if time not in self.timelines()[1].instants:
            raise MetadataException(self.path, f"{time} is not there")
        super()._take_out(time)


@table_mutant("metadata.before-or-after")
class TwoHalves(MetadataWriter):
    """Files are added by one instant, and deleted by another."""

    def _finish(self, instant: Instant, change: Change, *args: Any, **kwargs: Any) -> Instant:
        if change.added and change.deleted:
            first = self._begin("commit")
            super()._finish(first, replace(change, deleted={}))
            change = replace(change, added={})
        return super()._finish(instant, change, *args, **kwargs)


@table_mutant("metadata.goes-on")
class Helpless(MetadataWriter):
    """What others have begun has to be ended by somebody else."""

    def recover(self) -> list[Instant]:
        data, _ = self.timelines()
        if any(each.time not in self._mine for each in data.pending):
            raise MetadataException(self.path, "repair the dataset")
        return []


@table_mutant("metadata.no-leak")
class Litters(MetadataWriter):
    """The files of an action that died are not looked for."""

    def _files_of(self, time: str) -> dict[str, set[str]]:
        return {}


@table_mutant("metadata.fallback-absent")
class NoTableNoFiles(FileListing):
    """Without a table there are no files."""

    def _listed(self, partition: str) -> Iterator[FileStatus]:
        return iter(())


@table_mutant("metadata.fallback-broken")
class GivesUp(FileListing):
    """Damage is an error."""

    def _ask(self, question: Callable[..., Any]) -> Any:
        return None if self._table is None else question(self._table)


@table_mutant("metadata.fallback-uncommitted")
class ListsEverything(FileListing):
    """Files of actions that are at work are listed."""

    def _completed(self, name: str) -> bool:
        return True


@table_mutant("metadata.warned")
class SaysNothing(FileListing):
    """Nobody is told that files are listed."""

    def _warn(self, reason: str) -> None:
        pass


@table_mutant("metadata.damage")
class MakesDo(FileGroupReader):
    """What can't be read is not there."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Record]:
        try:
            return super().get_many(keys)
        except CorruptFileException:
            return {}


@table_mutant("metadata.torn-completed")
class SkipsTorn(FileGroupReader):
    """A log that is not whole is passed over."""

    def _blocks(self) -> list[tuple[Log, LogBlock]]:
        try:
            return super()._blocks()
        except CorruptFileException:
            return []


class _RowByRow(MetadataTable):
    """Looks at each file alone."""

    def _ruled_out(self, chunk: ColumnChunk, condition: Filter) -> list[bool]:
        right = super()._ruled_out(chunk, condition)
        return [
            not self._may_match(chunk, row, condition, not out) for row, out in enumerate(right)
        ]

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        raise NotImplementedError


@table_mutant("metadata.prune-range")
class KeepsEverything(_RowByRow):
    """No file is left out."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        return True


@table_mutant("metadata.prune-unknown")
class DropsUnknown(MetadataTable):
    """A file without statistics is left out."""

    def prune(
        self, filters: Iterable[Filter], partitions: Iterable[str] | None = None
    ) -> list[FileStatus]:
        conditions = list(filters)
        known = {name for each in conditions for c in self._chunks(each.column) for name in c.files}
        kept = super().prune(conditions, partitions)
        return [each for each in kept if each.path.rpartition("/")[2] in known]


@table_mutant("metadata.prune-nulls")
class NullsAreValues(_RowByRow):
    """A file with values has no nulls."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        if condition.operator == "is null":
            return chunk.value_counts[row] == chunk.null_counts[row]
        return right


@table_mutant("metadata.prune-nan")
class NanIsNothing(_RowByRow):
    """Nothing is beyond the bounds."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        high: Any = chunk.highs[row]
        if isinstance(high, float) and condition.operator == ">":
            return bool(high > condition.value)
        return right


@table_mutant("metadata.prune-text")
class TextIsWhole(_RowByRow):
    """The largest text is the largest there is."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        high: Any = chunk.highs[row]
        if isinstance(high, str) and condition.operator == "=":
            return bool(condition.value <= high)
        return right


@table_mutant("metadata.prune-types")
class SameType(_RowByRow):
    """A value of another type is in no file."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        low = chunk.lows[row]
        return right and (low is None or type(low) is type(condition.value))


@table_mutant("metadata.prune-replaced")
class StaleStatistics(MetadataWriter):
    """Statistics of a file are not told to be gone."""

    def _statistics(self, change: Change, columns: Sequence[str]) -> list[Record]:
        found = super()._statistics(change, columns)
        return [r for r in found if isinstance(r, ColumnStatistics) and not r.is_deleted]


class _Everywhere(dict[str, Collection[str]]):
    """The same files in any partition."""

    def __missing__(self, partition: str) -> Collection[str]:
        return set().union(*self.values())

    def get(self, partition: str, default: Any = None) -> Any:
        return self[""]


@table_mutant("metadata.prune-partitions")
class NamesAlone(MetadataTable):
    """Statistics are found by the name of the file."""

    def _without_match(self, condition: Filter) -> Mapping[str, Collection[str]]:
        return _Everywhere(super()._without_match(condition))


@table_mutant("metadata.prune-time-travel")
class CurrentStatistics(MetadataTable):
    """Statistics are those of now."""

    def _chunks(self, column: str) -> Sequence[ColumnChunk]:
        with MetadataTable(self._fs, self.path) as now:
            return now._chunks(column)


@table_mutant("metadata.prune-replaced")
class OldColumns(FileGroupReader):
    """What a log says of a file's statistics does not reach those that are by column."""

    def chunks(self, column: str) -> Iterator[ColumnChunk]:
        yield from islice(super().chunks(column), 1)


@table_mutant("metadata.own-schedule")
class EachTime(MetadataWriter):
    """The table is compacted with each commit."""

    def deltacommits(self, metadata: Timeline) -> int:
        return 1000


@table_mutant("metadata.compaction-same")
class ForgetsLogs(MetadataWriter):
    """A compaction copies the base file."""

    def _compacted(self, each: FileSlice, instant: Instant, data: Timeline) -> Iterator[Record]:
        return super()._compacted(replace(each, logs=()), instant, data)


@table_mutant("metadata.compaction-undecided")
class FoldsAll(MetadataWriter):
    """A compaction takes in all that is there."""

    def _undecided(self, data: Timeline, metadata: Timeline) -> bool:
        return False

    def _counts(self, instant: str, data: Timeline) -> bool:
        return True


@table_mutant("metadata.compaction-late")
class PassesBy(MetadataWriter):
    """A compaction passes by what is not completed yet."""

    def _undecided(self, data: Timeline, metadata: Timeline) -> bool:
        return False


@table_mutant("metadata.compaction-first")
class CompactsLast(MetadataWriter):
    """What is due is done after the commit."""

    _now = False

    def maintain(self) -> None:
        if self._now:
            super().maintain()

    def _finish(self, instant: Instant, change: Change, *args: Any, **kwargs: Any) -> Instant:
        done = super()._finish(instant, change, *args, **kwargs)
        self._now = True
        self.maintain()
        self._now = False
        return done


@table_mutant("metadata.compaction-pending")
class TrustsPending(MetadataTable):
    """A compaction counts from its beginning."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timeline = Timeline(
            replace(each, state=COMPLETED, completed=each.completed or each.time)
            for each in self.timeline.instants.values()
        )


@table_mutant("metadata.compaction-retried")
class NeverRetries(MetadataWriter):
    """While a compaction is not completed there is no other."""

    def maintain(self) -> None:
        pass

    def compact(self) -> Instant | None:
        if any(each.action == "compaction" for each in self.timelines()[1].pending):
            return None
        return super().compact()


@table_mutant("metadata.table-clean")
class Unnoted(MetadataWriter):
    """Files are removed, and no instant says so."""

    def clean_table(self, keep: int = 1) -> list[str]:
        metadata = self.timelines()[1]
        gone = self._unneeded("files", metadata, keep)
        for path in gone:
            self._fs.delete(path)
        return gone


@table_mutant("metadata.table-clean-pending")
class CleansPending(MetadataWriter):
    """Logs of actions that are not completed are removed."""

    def _unneeded(self, partition: str, metadata: Timeline, keep: int) -> list[str]:
        pending = {each.time for each in self.timelines()[0].pending}
        paths = [each.path for each in list_files(self._fs, f"{self._metadata}/{partition}")]
        named = {path: parse_name(path.rpartition("/")[2]) for path in paths}
        more = [path for path, name in named.items() if name and name.instant in pending]
        return super()._unneeded(partition, metadata, keep) + more


@table_mutant("metadata.archive")
class ArchivesAll(MetadataWriter):
    """All completed instants of the dataset are dropped."""

    def _bound(self, metadata: Timeline) -> str:
        return "~"


@table_mutant("metadata.archive-failed")
class DropsPending(ArchivesAll):
    """Instants are dropped that were never completed, too."""

    def _drop(
        self, instants: TimelineWriter, timeline: Timeline, bound: str, keep: int, first: str
    ) -> list[str]:
        every = list(timeline.instants.values())[:-1]
        if instants is self._data_instants:
            for each in every:
                instants.forget(each)
        return [each.time for each in every]


@table_mutant("metadata.size-bounded")
class NeverArchives(MetadataWriter):
    """No instant is ever dropped."""

    def archive(self, keep: int = 0) -> list[str]:
        return []
