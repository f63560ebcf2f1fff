"""Tables whose services do harm, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fscontract.fakes.mutants.metadatatable.registry import table_mutant
from fscontract.pipeline.metadata.changes import Change
from fscontract.pipeline.metadata.files import list_files
from fscontract.pipeline.metadata.names import parse_name
from fscontract.pipeline.metadata.payload import Record
from fscontract.pipeline.metadata.slices import FileSlice
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.timeline import (
    COMPLETED,
    Instant,
    Timeline,
    TimelineWriter,
)
from fscontract.pipeline.metadata.write import MetadataWriter


@table_mutant("meta.own-schedule")
class EachTime(MetadataWriter):
    """The table is compacted with each commit."""

    def deltacommits(self, metadata: Timeline) -> int:
        return 1000


@table_mutant("meta.compaction-same")
class ForgetsLogs(MetadataWriter):
    """A compaction copies the base file."""

    def _compacted(self, each: FileSlice, instant: Instant, data: Timeline) -> Iterator[Record]:
        return super()._compacted(replace(each, logs=()), instant, data)


@table_mutant("meta.compaction-undecided")
class FoldsAll(MetadataWriter):
    """A compaction takes in all that is there."""

    def _undecided(self, data: Timeline, metadata: Timeline) -> bool:
        return False

    def _counts(self, instant: str, data: Timeline) -> bool:
        return True


@table_mutant("meta.compaction-late")
class PassesBy(MetadataWriter):
    """A compaction passes by what is not completed yet."""

    def _undecided(self, data: Timeline, metadata: Timeline) -> bool:
        return False


@table_mutant("meta.compaction-first")
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


@table_mutant("meta.compaction-pending")
class TrustsPending(MetadataTable):
    """A compaction counts from its beginning."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timeline = Timeline(
            replace(each, state=COMPLETED, completed=each.completed or each.time)
            for each in self.timeline.instants.values()
        )


@table_mutant("meta.compaction-retried")
class NeverRetries(MetadataWriter):
    """While a compaction is not completed there is no other."""

    def maintain(self) -> None:
        pass

    def compact(self) -> Instant | None:
        if any(each.action == "compaction" for each in self.timelines()[1].pending):
            return None
        return super().compact()


@table_mutant("meta.table-clean")
class Unnoted(MetadataWriter):
    """Files are removed, and no instant says so."""

    def clean_table(self, keep: int = 1) -> list[str]:
        metadata = self.timelines()[1]
        gone = self._unneeded("files", metadata, keep)
        for path in gone:
            self._fs.delete(path)
        return gone


@table_mutant("meta.table-clean-pending")
class CleansPending(MetadataWriter):
    """Logs of actions that are not completed are removed."""

    def _unneeded(self, partition: str, metadata: Timeline, keep: int) -> list[str]:
        pending = {each.time for each in self.timelines()[0].pending}
        paths = [each.path for each in list_files(self._fs, f"{self._metadata}/{partition}")]
        named = {path: parse_name(path.rpartition("/")[2]) for path in paths}
        more = [path for path, name in named.items() if name and name.instant in pending]
        return super()._unneeded(partition, metadata, keep) + more


@table_mutant("meta.archive")
class ArchivesAll(MetadataWriter):
    """All completed instants of the dataset are dropped."""

    def _bound(self, metadata: Timeline) -> str:
        return "~"


@table_mutant("meta.archive-failed")
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


@table_mutant("meta.size-bounded")
class NeverArchives(MetadataWriter):
    """No instant is ever dropped."""

    def archive(self, keep: int = 0) -> list[str]:
        return []
