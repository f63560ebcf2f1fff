"""Mutants of table services, of pruning, and of what happens after failures and damage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple
from unicodedata import normalize

from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.hudi.changes import Change, Names
from fscontract.pipeline.hudi.column_stats import ColumnChunk
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException, list_files
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.log import Log, LogBlock
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.records import (
    ALL_PARTITIONS,
    NO_PARTITION,
    ColumnStatistics,
    FilesRecord,
    LiveFiles,
    Record,
)
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    Instant,
    Timeline,
    TimelineWriter,
    parse_name,
)
from fscontract.pipeline.hudi.writer import MetadataWriter


@mutant("metadata.failed-update", MetadataWriter.apply)
def completes_first(self: MetadataWriter, instant: Instant, change: Change) -> None:
    """The action is completed before the table is changed."""
    self._data_instants.complete(instant, encode_commit([], "UPSERT"), self._latest())
    right(self).apply(instant, change)


@mutant("metadata.recovered", MetadataWriter.recover)
def leaves_alone(self: MetadataWriter) -> list[Instant]:
    """Pending actions of other writers are not recovered."""
    return []


@mutant("metadata.recovered", MetadataWriter._files_of)
def forgets_files(self: MetadataWriter, time: str) -> dict[str, set[str]]:
    """A pending action of another writer is rolled back, but its files stay."""
    return {}


@mutant("metadata.rollback-older", MetadataWriter._roll_back)
def last_only(self: MetadataWriter, instant: Instant, failed: Instant, deleted: Names) -> Instant:
    """The rollback of an action that is not the last one completes it, as in old releases of
    Hudi.
    """
    data, _ = self.timelines()
    if any(time > failed.time for time in data.completed):
        self._data_instants.complete(failed, encode_commit([], "UPSERT"), self._latest())
        return instant
    return right(self)._roll_back(instant, failed, deleted)


@mutant("metadata.rollback-first", MetadataWriter._take_out)
def leaves_logs(self: MetadataWriter, time: str) -> None:
    """Records of the action in the table stay."""


@mutant("metadata.rollback-unknown", MetadataWriter._take_out)
def must_know(self: MetadataWriter, time: str) -> None:
    """An action that the table does not contain can't be rolled back."""
    if time not in self.timelines()[1].instants:
        raise MetadataException(self.path, f"{time} is not there")
    right(self)._take_out(time)


@mutant("metadata.before-or-after", MetadataWriter._finish)
def two_halves(
    self: MetadataWriter, instant: Instant, change: Change, *args: Any, **kwargs: Any
) -> Instant:
    """Files are added by one instant, and deleted by another."""
    if change.added and change.deleted:
        first = self._begin("commit")
        right(self)._finish(first, replace(change, deleted={}))
        change = replace(change, added={})
    return right(self)._finish(instant, change, *args, **kwargs)


@mutant("metadata.goes-on", MetadataWriter.recover)
def helpless(self: MetadataWriter) -> list[Instant]:
    """Pending actions of other writers raise an error instead of being recovered."""
    data, _ = self.timelines()
    if any(each.time not in self._mine for each in data.pending):
        raise MetadataException(self.path, "repair the dataset")
    return []


@mutant("metadata.no-leak", MetadataWriter._files_of)
def litters(self: MetadataWriter, time: str) -> dict[str, set[str]]:
    """The files of a crashed action are not removed."""
    return {}


@mutant("metadata.fallback-absent", FileListing._listed)
def no_table_no_files(self: FileListing, partition: str) -> Iterator[FileStatus]:
    """Without a table, listings are empty."""
    return iter(())


@mutant("metadata.fallback-absent", FileListing._listed)
def first_page_only(self: FileListing, partition: str) -> Iterator[FileStatus]:
    """A directory listing ends after its first page of 50 files."""
    return islice(right(self)._listed(partition), 50)


@mutant("metadata.fallback-absent", FileListing._all)
def lists_one_level(self: FileListing) -> dict[str, list[FileStatus]]:
    """Without a table, partitions below others are left out."""
    return {name: files for name, files in right(self)._all().items() if "/" not in name}


@mutant("metadata.fallback-absent", FileListing._all)
def lists_no_root(self: FileListing) -> dict[str, list[FileStatus]]:
    """Without a table, files in the directory of the dataset are left out."""
    return {name: files for name, files in right(self)._all().items() if name}


@mutant("metadata.fallback-absent", FileListing._listed)
def lists_no_logs(self: FileListing, partition: str) -> Iterator[FileStatus]:
    """Without a table, files whose names begin with a dot are left out."""
    for status in right(self)._listed(partition):
        if "/." not in status.path:
            yield status


@mutant("metadata.fallback-broken", FileListing._ask)
def gives_up(self: FileListing, question: Callable[..., Any]) -> Any:
    """A damaged table raises an error instead of a listing."""
    return None if self._table is None else question(self._table)


@mutant("metadata.fallback-uncommitted", FileListing._completed)
def lists_everything(self: FileListing, name: str) -> bool:
    """Files of pending actions are listed."""
    return True


@mutant("metadata.warned", FileListing._warn)
def says_nothing(self: FileListing, reason: str) -> None:
    """There is no warning when directories are listed."""


@mutant("metadata.damage", FileGroupReader.get_many)
def makes_do(self: FileGroupReader, keys: Iterable[str]) -> dict[str, Record]:
    """Unreadable records are skipped."""
    try:
        return right(self).get_many(keys)
    except CorruptFileException:
        return {}


@mutant("metadata.torn-completed", FileGroupReader._blocks)
def skips_torn(self: FileGroupReader) -> list[tuple[Log, LogBlock]]:
    """A truncated log is skipped."""
    try:
        return right(self)._blocks()
    except CorruptFileException:
        return []


class _File(NamedTuple):
    """Statistics of a file's column, a condition on it, and whether the file may match."""

    low: Any
    high: Any
    values: int | None
    nulls: int | None
    condition: Filter
    may_match: bool


class _FileByFile(MetadataTable):
    """Uses the statistics of each file alone."""

    def _ruled_out(self, chunk: ColumnChunk, condition: Filter) -> list[bool]:
        ruled_out = super()._ruled_out(chunk, condition)
        return [
            not self.may_match(
                _File(
                    chunk.lows[row],
                    chunk.highs[row],
                    chunk.value_counts[row],
                    chunk.null_counts[row],
                    condition,
                    not is_out,
                )
            )
            for row, is_out in enumerate(ruled_out)
        ]

    def may_match(self, file: _File) -> bool:
        return file.may_match


@mutant("metadata.prune-range", _FileByFile.may_match)
def keeps_everything(self: _FileByFile, file: _File) -> bool:
    """No file is pruned."""
    return True


@mutant("metadata.prune-range", _FileByFile.may_match)
def zero_is_unknown(self: _FileByFile, file: _File) -> bool:
    """A bound of 0 counts as unknown."""
    return right(self).may_match(file) or 0 in (file.low, file.high)


@mutant("metadata.prune-range", _FileByFile.may_match)
def compares_as_floats(self: _FileByFile, file: _File) -> bool:
    """Whole numbers are compared as floating-point numbers."""
    low, high, value = file.low, file.high, file.condition.value
    whole = file.condition.operator == "=" and all(type(n) is int for n in (low, high, value))
    if not whole:
        return right(self).may_match(file)
    return float(low) <= float(value) <= float(high)


@mutant("metadata.prune-unknown", MetadataTable.prune)
def drops_unknown(
    self: MetadataTable, filters: Iterable[Filter], partitions: Iterable[str] | None = None
) -> list[FileStatus]:
    """A file without statistics is pruned."""
    conditions = list(filters)
    chunks = [chunk for c in conditions for chunk in self._chunks(c.column)]
    known = {name for chunk in chunks for name in chunk.files}
    statuses = right(self).prune(conditions, partitions)
    return [status for status in statuses if status.path.rpartition("/")[2] in known]


@mutant("metadata.prune-nulls", _FileByFile.may_match)
def nulls_are_values(self: _FileByFile, file: _File) -> bool:
    """A file with values counts as having no nulls."""
    return file.values == file.nulls if file.condition.operator == "is null" else file.may_match


@mutant("metadata.prune-nan", _FileByFile.may_match)
def nan_is_nothing(self: _FileByFile, file: _File) -> bool:
    """Files with NaN are pruned by their bounds."""
    if isinstance(file.high, float) and file.condition.operator == ">":
        return bool(file.high > file.condition.value)
    return file.may_match


@mutant("metadata.prune-text", _FileByFile.may_match)
def text_is_whole(self: _FileByFile, file: _File) -> bool:
    """A truncated upper bound of a text counts as its maximum."""
    if isinstance(file.high, str) and file.condition.operator == "=":
        return bool(file.condition.value <= file.high)
    return file.may_match


@mutant("metadata.prune-types", _FileByFile.may_match)
def same_type(self: _FileByFile, file: _File) -> bool:
    """A value of another type prunes every file."""
    is_of_type = file.low is None or type(file.low) is type(file.condition.value)
    return file.may_match and is_of_type


@mutant("metadata.prune-replaced", MetadataWriter._statistics)
def stale_statistics(self: MetadataWriter, change: Change, columns: Sequence[str]) -> list[Record]:
    """Outdated statistics of a file are not invalidated."""
    records = right(self)._statistics(change, columns)
    return [r for r in records if isinstance(r, ColumnStatistics) and not r.is_deleted]


class _Everywhere(dict[str, Collection[str]]):
    """The same files in any partition."""

    def __missing__(self, partition: str) -> Collection[str]:
        return set().union(*self.values())

    def get(self, partition: str, default: Any = None) -> Any:
        return self[""]


@mutant("metadata.prune-partitions", MetadataTable._without_match)
def names_alone(self: MetadataTable, condition: Filter) -> Mapping[str, Collection[str]]:
    """Statistics are looked up by file name alone."""
    return _Everywhere(right(self)._without_match(condition))


@mutant("metadata.prune-time-travel", MetadataTable._chunks)
def current_statistics(self: MetadataTable, column: str) -> Sequence[ColumnChunk]:
    """Statistics are the current ones, for any requested time."""
    with MetadataTable(self._fs, self.path) as now:
        return now._chunks(column)


@mutant("metadata.prune-replaced", FileGroupReader.chunks)
def old_columns(self: FileGroupReader, column: str) -> Iterator[ColumnChunk]:
    """Statistics of a file in a log do not replace those stored by column."""
    yield from islice(right(self).chunks(column), 1)


@mutant("metadata.own-schedule", MetadataWriter.deltacommits)
def each_time(self: MetadataWriter, metadata: Timeline) -> int:
    """The table is compacted with each commit."""
    return 1000


@mutant("metadata.compaction-same", MetadataWriter._compacted)
def forgets_logs(
    self: MetadataWriter, file_slice: FileSlice, instant: Instant, data: Timeline
) -> Iterator[Record]:
    """A compaction copies the base file without the logs."""
    return right(self)._compacted(replace(file_slice, logs=()), instant, data)


class _Compacting(MetadataWriter):
    """Changes the files of partitions when the table is compacted."""

    def files(self, partition: str, sizes: Mapping[str, int]) -> Mapping[str, int]:
        raise NotImplementedError

    def _compacted(
        self, file_slice: FileSlice, instant: Instant, data: Timeline
    ) -> Iterator[Record]:
        for record in super()._compacted(file_slice, instant, data):
            if isinstance(record, FilesRecord) and record.key != ALL_PARTITIONS:
                sizes = self.files(record.key, record.sizes)
                yield FilesRecord(record.key, LiveFiles(sizes))
            else:
                yield record


@mutant("metadata.compaction-same", _Compacting.files)
def compacts_to_nfc(
    self: _Compacting, partition: str, sizes: Mapping[str, int]
) -> Mapping[str, int]:
    """After a compaction, letters and their accents are one character."""
    return {normalize("NFC", name): size for name, size in sizes.items()}


@mutant("metadata.compaction-same", _Compacting.files)
def compacts_in_32_bits(
    self: _Compacting, partition: str, sizes: Mapping[str, int]
) -> Mapping[str, int]:
    """After a compaction, sizes have 32 bits."""
    return {name: size & 0xFFFFFFFF for name, size in sizes.items()}


@mutant("metadata.compaction-same", _Compacting.files)
def compacts_without_empty_files(
    self: _Compacting, partition: str, sizes: Mapping[str, int]
) -> Mapping[str, int]:
    """A compaction drops files without bytes."""
    return {name: size for name, size in sizes.items() if size}


@mutant("metadata.compaction-same", _Compacting.files)
def compacts_without_root(
    self: _Compacting, partition: str, sizes: Mapping[str, int]
) -> Mapping[str, int]:
    """A compaction drops the files in the directory of the dataset."""
    return {} if partition == NO_PARTITION else sizes


@mutant("metadata.compaction-same", _Compacting.files)
def compacts_a_thousand(
    self: _Compacting, partition: str, sizes: Mapping[str, int]
) -> Mapping[str, int]:
    """A compaction keeps at most 1,000 files of a partition."""
    return dict(islice(sizes.items(), 1000))


@mutant("metadata.compaction-undecided")
class FoldsAll(MetadataWriter):
    """A compaction includes actions that are not completed."""

    def _undecided(self, data: Timeline, metadata: Timeline) -> bool:
        return False

    def _counts(self, instant: str, data: Timeline) -> bool:
        return True


@mutant("metadata.compaction-late", MetadataWriter._undecided)
def passes_by(self: MetadataWriter, data: Timeline, metadata: Timeline) -> bool:
    """A compaction skips actions that are not completed yet."""
    return False


@mutant("metadata.compaction-first")
class CompactsLast(MetadataWriter):
    """Due table services run after the commit."""

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


@mutant("metadata.compaction-pending")
class TrustsPending(MetadataTable):
    """A compaction counts from its start."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timeline = Timeline(
            replace(each, state=COMPLETED, completed=each.completed or each.time)
            for each in self.timeline.instants.values()
        )


@mutant("metadata.compaction-retried")
class NeverRetries(MetadataWriter):
    """A pending compaction prevents any other."""

    def maintain(self) -> None:
        pass

    def compact(self) -> Instant | None:
        if any(each.action == "compaction" for each in self.timelines()[1].pending):
            return None
        return super().compact()


@mutant("metadata.table-clean", MetadataWriter.clean_table)
def unnoted(self: MetadataWriter, keep: int = 1) -> list[str]:
    """Files are removed, and no instant records it."""
    metadata = self.timelines()[1]
    gone = self._unneeded("files", metadata, keep)
    for path in gone:
        self._fs.delete(path)
    return gone


@mutant("metadata.table-clean-pending", MetadataWriter._unneeded)
def cleans_pending(
    self: MetadataWriter, partition: str, metadata: Timeline, keep: int
) -> list[str]:
    """Logs of pending actions are removed."""
    pending = {instant.time for instant in self.timelines()[0].pending}
    paths = [instant.path for instant in list_files(self._fs, f"{self._metadata}/{partition}")]
    named = {path: parse_name(path.rpartition("/")[2]) for path in paths}
    more = [path for path, name in named.items() if name and name.instant in pending]
    return right(self)._unneeded(partition, metadata, keep) + more


@mutant("metadata.archive")
class ArchivesAll(MetadataWriter):
    """All completed instants of the dataset are dropped."""

    def _bound(self, metadata: Timeline) -> str:
        return "~"


@mutant("metadata.archive-failed", ArchivesAll._drop)
def drops_pending(
    self: ArchivesAll,
    instants: TimelineWriter,
    timeline: Timeline,
    bound: str,
    keep: int,
    first: str,
) -> list[str]:
    """Pending instants are dropped, too."""
    every = list(timeline.instants.values())[:-1]
    if instants is self._data_instants:
        for each in every:
            instants.forget(each)
    return [each.time for each in every]


@mutant("metadata.size-bounded", MetadataWriter.archive)
def never_archives(self: MetadataWriter, keep: int = 0) -> list[str]:
    """No instant is ever dropped."""
    return []
