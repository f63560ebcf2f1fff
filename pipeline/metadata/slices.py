"""File groups of a partition of the metadata table: the latest base file and the logs since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fscontract.contract.ports import FileStatus
from fscontract.pipeline.metadata.names import FIRST_INSTANT, BaseName, LogName, parse_name
from fscontract.pipeline.metadata.timeline import Timeline


@dataclass(frozen=True)
class LogFile:
    """A log file, and when the instant was completed that wrote it."""

    name: LogName
    status: FileStatus
    completed: str


@dataclass(frozen=True)
class FileSlice:
    """A base file and the logs of instants completed since it was begun, oldest first."""

    group: str
    base_instant: str
    base: FileStatus | None
    logs: tuple[LogFile, ...]


def latest_slices(statuses: Iterable[FileStatus], metadata: Timeline) -> list[FileSlice]:
    """The latest slice of each file group, of what the table's own timeline has completed.

    A base file whose compaction is not completed does not count: the one before it, and the
    logs since that, still say everything.
    """
    bases: dict[str, list[tuple[str, FileStatus]]] = {}
    logs: dict[str, list[LogFile]] = {}
    for status in statuses:
        name = parse_name(status.path.rpartition("/")[2])
        if name is None or not metadata.holds(name.instant):
            continue
        if isinstance(name, BaseName):
            bases.setdefault(name.group, []).append((name.instant, status))
        else:
            completed = metadata.completed.get(name.instant, name.instant)
            logs.setdefault(name.group, []).append(LogFile(name, status, completed))
    return [
        _slice(group, bases.get(group, []), logs.get(group, []))
        for group in sorted(bases.keys() | logs.keys())
    ]


def visible(instant: str, data: Timeline) -> bool:
    """Whether what an instant wrote counts, which the dataset's timeline decides.

    The metadata table's own first instants are not on that timeline, and always count.
    """
    return instant[:14] == FIRST_INSTANT[:14] or data.holds(instant)


def _slice(group: str, bases: list[tuple[str, FileStatus]], logs: list[LogFile]) -> FileSlice:
    instant, base = max(bases, key=lambda each: each[0], default=("", None))
    since = [log for log in logs if log.completed >= instant]
    since.sort(key=lambda log: (log.completed, log.name.version, log.name.token))
    return FileSlice(group, instant, base, tuple(since))
