"""Incremental queries: the rows that commits of an interval wrote.

Hudi marks each row with the time of its commit. An incremental query returns the rows of the
table's state at the end of an interval whose commits completed in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.timeline import Timeline
from fscontract.pipeline.hudi.timeline_history import archived_completions

COMMIT_TIME = "_hoodie_commit_time"


@dataclass(frozen=True)
class CommitRange:
    """The commits that completed after `begin`, among those that `completed` names.

    `start` is the first instant of the timeline: earlier ones are archived. Before version 8
    (`by_request`) an instant completes at the time of its request.
    """

    begin: str
    end: str
    completed: Mapping[str, str]
    start: str
    by_request: bool = False

    def may_have_rows(self, item: FileSlice) -> bool:
        """Return True unless all files of a slice were complete at the beginning.

        A base file has only rows of its instant, and of those that were complete before.
        """
        if item.logs and self.by_request:
            return True  # logs are named after the base file, and have rows of later instants
        times = [log.name.instant for log in item.logs]
        times += [item.base_instant] if item.base is not None else []
        return any(self._may_be_later(time) for time in times)

    def _may_be_later(self, time: str) -> bool:
        end = self.completed.get(time)
        return (self.begin < self.start) if end is None else end > self.begin

    def select(self, rows: Any, where: str) -> Any:
        """Return the rows that commits of the range wrote; `where` names the slice in errors.

        Raise MetadataException if the completion time of a row's commit is unknown.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        times = pc.unique(rows[COMMIT_TIME]).to_pylist()
        chosen = [time for time in times if time is not None and self._has(time, where)]
        return rows.filter(pc.is_in(rows[COMMIT_TIME], pa.array(chosen, pa.string())))

    def _has(self, time: str, where: str) -> bool:
        end = self.completed.get(time)
        if end is None and time < self.start:
            if not self.by_request and self.begin < self.start:
                raise MetadataException(where, self._unknown(time))
            end = time
        return end is not None and self.begin < end <= self.end

    def _unknown(self, time: str) -> str:
        return (
            f"can't query since {self.begin}: the completion time of {time} was archived; "
            f"begin must be {self.start} or later"
        )


def commit_range(
    fs: FileSystem, table: str, timeline: Timeline, begin: str, end: str | None, by_request: bool
) -> CommitRange:
    """Return the commits in an interval; read the timeline's history if it begins earlier."""
    start = timeline.start or ""
    archived = archived_completions(fs, table) if begin < start and not by_request else {}
    completed = {**archived, **timeline.completed}
    return CommitRange(begin, end or "~", completed, start, by_request)


def first_hidden(timeline: Timeline, end: str) -> str | None:
    """Return the first instant that was not complete at a time, but is now; None without one."""
    hidden = (time for time, completed in timeline.completed.items() if completed > end)
    return min(hidden, default=None)
