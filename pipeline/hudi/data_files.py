"""Base files and log files of a table's rows, and the file slices that they form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.hudi.file_slices import FileSlice, LogFile
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.timeline import Instant, LogName, Timeline

_TOKEN = r"(?P<token>\d+-\d+-\d+)"
_BASE = re.compile(rf"(?P<group>[^_]+)_{_TOKEN}_(?P<instant>\d{{17}})\.\w+", re.ASCII)
_LOG = re.compile(
    rf"\.(?P<group>[^_]+)_(?P<instant>\d{{17}})\.log\.(?P<version>\d{{1,9}})(?:_{_TOKEN})?",
    re.ASCII,
)
#: Changes for change data capture; the rows are in other files, too.
_CDC_LOG = re.compile(r"\..+\.log\.\d+_.*[.-]cdc", re.ASCII)
#: Names of files with rows. Other files of a partition are hidden, or not Hudi's.
_ROWS = re.compile(r"(?![._]).+\.(?:parquet|orc|hfile|lance)|\.(?![._]).+\.log\.\d+.*", re.ASCII)


@dataclass(frozen=True)
class SliceRules:
    """Visible instants of a table.

    `as_of` is the last visible one. Before version 8 (`by_base`) logs are named after the base file
    that they belong to; since then after their own instant.
    """

    timeline: Timeline
    as_of: str | None = None
    by_base: bool = False

    def shows(self, instant: str) -> bool:
        """Return True if an instant is completed, and not later than `as_of`."""
        return self.timeline.holds(instant) and (self.as_of is None or instant <= self.as_of)


#: Actions that write rows; the timeline begins with the first of them, as older ones are archived.
_WRITES = frozenset(
    {"commit", "deltacommit", "compaction", "logcompaction", "replacecommit", "clustering"}
)


def write_timeline(instants: Iterable[Instant]) -> Timeline:
    """Return the timeline of the actions that write rows, from instants in all their states.

    Other actions are archived at other times, and a savepoint has the time of its commit.
    """
    return Timeline(instant for instant in instants if instant.action in _WRITES)


def instant_of(name: str) -> str | None:
    """Return the instant in the name of a base or log file of Hudi; None for other names."""
    match = _BASE.fullmatch(name) or _LOG.fullmatch(name)
    return None if match is None else match["instant"]


def data_slices(
    statuses: Iterable[FileStatus], rules: SliceRules, replaced: Collection[str] = ()
) -> list[FileSlice]:
    """Return the latest slice of each file group of a partition that no action replaced.

    Raise MetadataException for a file of rows that does not follow Hudi's naming.
    """
    bases: dict[str, list[tuple[str, FileStatus]]] = {}
    logs: dict[str, list[LogFile]] = {}
    for status in statuses:
        name = status.path.rpartition("/")[2]
        if base := _BASE.fullmatch(name):
            if rules.shows(base["instant"]):
                bases.setdefault(base["group"], []).append((base["instant"], status))
        elif log := _LOG.fullmatch(name):
            if rules.by_base or rules.shows(log["instant"]):
                file = _log_file(log, status, rules.timeline)
                logs.setdefault(file.name.group, []).append(file)
        elif _ROWS.fullmatch(name) and not _CDC_LOG.fullmatch(name):
            raise MetadataException(status.path, "file name does not follow Hudi's naming")
    return [
        _slice(group, bases.get(group, []), logs.get(group, []), rules)
        for group in sorted((bases.keys() | logs.keys()) - set(replaced))
    ]


def _log_file(match: re.Match[str], status: FileStatus, timeline: Timeline) -> LogFile:
    instant = match["instant"]
    name = LogName(match["group"], instant, int(match["version"]), match["token"] or "")
    return LogFile(name, status, timeline.completed.get(instant, instant))


def _slice(
    group: str, bases: list[tuple[str, FileStatus]], logs: list[LogFile], rules: SliceRules
) -> FileSlice:
    instant, base = max(bases, key=lambda entry: entry[0], default=("", None))
    since = [
        log for log in logs if (log.name.instant if rules.by_base else log.completed) >= instant
    ]
    return FileSlice(group, instant, base, tuple(sorted(since, key=_order)))


def _order(log: LogFile) -> tuple[str, int, list[int]]:
    """Return the key by which Hudi's readers sort the logs of a slice."""
    numbers = [int(number) for number in log.name.token.split("-") if number]
    return log.name.instant, log.name.version, numbers
