"""Timeline of a table: instants, their files in .hoodie/timeline, and file names and groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from fscontract.contract.api.errors import FileAlreadyExistsException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.io import list_files, read_file, write_file

#: Directories below a dataset, and below its metadata table.
HOODIE = ".hoodie"
METADATA = ".hoodie/metadata"
TIMELINE = ".hoodie/timeline"
PROPERTIES = ".hoodie/hoodie.properties"

#: Partitions of the metadata table that are written here, and the name of their first file group.
FILES = "files"
COLUMN_STATS = "column_stats"
PARTITION_STATS = "partition_stats"
RECORD_INDEX = "record_index"
FILE_GROUPS = {
    FILES: "files-0000-0",
    COLUMN_STATS: "col-stats-0000-0",
    PARTITION_STATS: "partition-stats-0000-0",
    RECORD_INDEX: "record-index-0000-0",
}

#: First of the metadata table's own instants, one for each initial partition.
FIRST_INSTANT = "0" * 17
_BASE = re.compile(r"(?P<group>[^_]+)_(?P<token>[\d-]+)_(?P<instant>\d{17})\.hfile")
_LOG = re.compile(
    r"\.(?P<group>[^_]+)_(?P<instant>\d{17})\.log\.(?P<version>\d{1,9})_(?P<token>[\d-]+)"
)


@dataclass(frozen=True)
class BaseName:
    """Name of a base file: its file group, instant and write token."""

    group: str
    instant: str
    token: str = "0-0-0"

    def __str__(self) -> str:
        return f"{self.group}_{self.token}_{self.instant}.hfile"


@dataclass(frozen=True)
class LogName:
    """Name of a log file: its file group, instant, version and write token."""

    group: str
    instant: str
    version: int = 1
    token: str = "0-0-0"

    def __str__(self) -> str:
        return f".{self.group}_{self.instant}.log.{self.version}_{self.token}"


def parse_name(name: str) -> BaseName | LogName | None:
    """Parse a file's name; return None for any other file."""
    if match := _BASE.fullmatch(name):
        return BaseName(match["group"], match["instant"], match["token"])
    if match := _LOG.fullmatch(name):
        return LogName(match["group"], match["instant"], int(match["version"]), match["token"])
    return None


def instant_at(time: datetime) -> str:
    """Return the name of an instant: its time in milliseconds."""
    return time.strftime("%Y%m%d%H%M%S") + f"{time.microsecond // 1000:03}"


def instant_after(instant: str) -> str:
    """Return the instant a millisecond later."""
    try:
        time = datetime.strptime(f"{instant}000", "%Y%m%d%H%M%S%f")
    except ValueError:  # one of the metadata table's own instants
        return f"{int(instant) + 1:017}"
    return instant_at(time + timedelta(milliseconds=1))


REQUESTED, INFLIGHT, COMPLETED = "requested", "inflight", "completed"
_RANK = {REQUESTED: 0, INFLIGHT: 1, COMPLETED: 2}
_NAME = re.compile(
    r"(?P<time>\d{17})(?:_(?P<end>\d{17}))?\.(?P<action>[a-z]+?)"
    r"(?:\.(?P<state>requested|inflight))?"
)
#: Names of completed instants before version 8.
_FIRST_LAYOUT = re.compile(r"(?P<time>\d{17})\.(?P<action>(?!inflight)[a-z]+)")
#: Names of completed instants of an action, if different.
_COMPLETED_AS = {"compaction": "commit", "logcompaction": "deltacommit"}
_BEGUN_AS = {"commit": ("compaction",), "deltacommit": ("logcompaction",)}

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current time, for names of instants."""
    return datetime.now(timezone.utc)


@dataclass(frozen=True)
class Instant:
    """An action on a table: its request and completion time, its state, and the timeline's layout.

    In layout 1, of tables before version 8, the completion time is that of the request.
    """

    time: str
    action: str
    state: str
    completed: str | None = None
    layout: int = 2

    @property
    def path(self) -> str:
        """Path of the file for this state, below the table."""
        return f"{HOODIE if self.layout == 1 else TIMELINE}/{self.file_name}"

    @property
    def file_name(self) -> str:
        """Name of the file for this state."""
        if self.state == COMPLETED and self.layout == 1:
            return f"{self.time}.{_COMPLETED_AS.get(self.action, self.action)}"
        if self.state == COMPLETED:
            return f"{self.time}_{self.completed}.{_COMPLETED_AS.get(self.action, self.action)}"
        if self.action == "commit" and self.state == INFLIGHT:
            return f"{self.time}.inflight"
        return f"{self.time}.{self.action}.{self.state}"


def parse_instant(name: str) -> Instant | None:
    """Parse the file name of an instant; return None for any other file."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    action, state, end = match["action"], match["state"], match["end"]
    if action == INFLIGHT and state is None:
        action, state = "commit", INFLIGHT
    if (end is None) != (state is not None):
        return None
    return Instant(match["time"], action, state or COMPLETED, end)


class Timeline:
    """Instants found by a listing, by time, each in its latest state."""

    def __init__(self, instants: Iterable[Instant], start: str | None = None) -> None:
        last: dict[str, Instant] = {}
        for instant in instants:
            known = last.get(instant.time)
            if known is None or _RANK[known.state] < _RANK[instant.state]:
                last[instant.time] = instant
        self.instants: Mapping[str, Instant] = {time: last[time] for time in sorted(last)}
        self.completed: Mapping[str, str] = {
            time: latest.completed
            for time, latest in self.instants.items()
            if latest.completed is not None
        }
        self.start = next(iter(self.instants), None) if start is None else start

    @property
    def pending(self) -> list[Instant]:
        """Instants that are not completed, oldest first."""
        return [instant for instant in self.instants.values() if instant.state != COMPLETED]

    @property
    def latest(self) -> str:
        """Latest time of any instant; empty if there is none."""
        return max([*self.instants, *self.completed.values()], default="")

    def until(self, time: str) -> Timeline:
        """Return a timeline with the instants that were completed at a time."""
        instants = (
            instant for instant in self.instants.values() if (instant.completed or "~") <= time
        )
        return Timeline(instants, self.start)

    def holds(self, time: str) -> bool:
        """Return True if an instant is completed, or archived: older than all instants here."""
        return time in self.completed or (self.start is not None and time < self.start)


def load_timeline(fs: FileSystem, table: str) -> Timeline:
    """Return the timeline of a table, with one listing; an empty one if there is none."""
    return Timeline(load_instants(fs, table))


def load_first_layout(fs: FileSystem, table: str) -> Timeline:
    """Return the timeline of a table before version 8, whose instants are in `.hoodie` itself."""
    return Timeline(load_instants(fs, table, layout=1))


def load_instants(fs: FileSystem, table: str, layout: int = 2) -> list[Instant]:
    """Return the instants of a table in all their states, with one listing.

    Completed instants have no completion time in layout 1, and get that of their request.
    """
    statuses = list_files(fs, f"{table}/{TIMELINE if layout == 2 else HOODIE}")
    names = [status.path.rpartition("/")[2] for status in statuses]
    instants = [instant for instant in map(parse_instant, names) if instant is not None]
    if layout == 2:
        return instants
    pending = [replace(each, layout=1) for each in instants if each.state != COMPLETED]
    matches = (_FIRST_LAYOUT.fullmatch(name) for name in names)
    completed = (
        Instant(match["time"], match["action"], COMPLETED, match["time"], layout=1)
        for match in matches
        if match is not None
    )
    return [*pending, *completed]


class TimelineWriter:
    """Creates instants of a table; each file can be created only once, by one writer.

    `layout` is that of the timeline; set it before the first use.
    """

    def __init__(self, fs: FileSystem, table: str, clock: Clock = utc_now) -> None:
        self._fs = fs
        self._table = table
        self.layout = 2
        self._clock = clock
        self._known: Timeline | None = None

    def timeline(self) -> Timeline:
        """Return the timeline as of the last `refresh`, with instants created by this object."""
        if self._known is None:
            load = load_first_layout if self.layout == 1 else load_timeline
            self._known = load(self._fs, self._table)
        return self._known

    def refresh(self) -> None:
        """List the timeline again on next use, because other writers may have changed it."""
        self._known = None

    def request(self, action: str, timeline: Timeline, content: bytes = b"") -> Instant:
        """Request an action at a time later than the whole timeline."""
        time = self.next_time(timeline.latest)
        while True:
            instant = Instant(time, action, REQUESTED)
            try:
                return self.put(instant, content)
            except FileAlreadyExistsException:
                time = instant_after(time)

    def begin(self, instant: Instant, content: bytes = b"") -> Instant:
        """Mark an action as begun."""
        return self.put(Instant(instant.time, instant.action, INFLIGHT), content)

    def complete(self, instant: Instant, content: bytes, after: str = "") -> Instant:
        """Mark an action as completed, at a time later than `after`: the point of commit."""
        end = instant.time if self.layout == 1 else self.next_time(max(after, instant.time))
        return self.put(Instant(instant.time, instant.action, COMPLETED, end), content)

    def put(self, instant: Instant, content: bytes = b"") -> Instant:
        """Create the file of an instant; raise FileAlreadyExistsException."""
        instant = replace(instant, layout=self.layout)
        try:
            write_file(self._fs, self._path(instant), content)
        except BaseException:
            self._known = None
            raise
        if self._known is not None:
            self._known = Timeline([*self._known.instants.values(), instant])
        return instant

    def read(self, instant: Instant) -> bytes:
        """Return the content of an instant's file."""
        return read_file(self._fs, self._path(instant))

    def remove(self, instant: Instant, action: str | None = None) -> None:
        """Remove the files of an incomplete instant, the last one first."""
        self._known = None
        for state in (INFLIGHT, REQUESTED):
            self._fs.delete(self._path(Instant(instant.time, action or instant.action, state)))

    def forget(self, instant: Instant) -> None:
        """Remove the files of a completed instant, the completion file last."""
        for action in {instant.action, *_BEGUN_AS.get(instant.action, ())}:
            self.remove(instant, action)
        self._fs.delete(self._path(instant))

    def reserve(self, instant: Instant) -> None:
        """Request and begin an action at a given time, unless that was done before."""
        for state in (REQUESTED, INFLIGHT):
            with suppress(FileAlreadyExistsException):
                self.put(Instant(instant.time, instant.action, state))

    def _path(self, instant: Instant) -> str:
        return f"{self._table}/{replace(instant, layout=self.layout).path}"

    def next_time(self, after: str) -> str:
        """Return the current time, or the first time after `after` if that is later."""
        now = instant_at(self._clock())
        return now if now > after else instant_after(after)


_GROUP = re.compile(r".*-(\d{4,9})-\d+")


def group_names(statuses: Iterable[FileStatus], metadata: Timeline) -> list[str]:
    """Return the file groups of a listed partition in order, without those of failed instants."""
    names = (parse_name(status.path.rpartition("/")[2]) for status in statuses)
    groups = {name.group for name in names if name is not None and metadata.holds(name.instant)}
    return sorted(groups, key=lambda group: (group_number(group), group))


def group_number(group: str) -> int:
    """Return the number in the name of a file group, -1 if it has none."""
    match = _GROUP.fullmatch(group)
    return int(match[1]) if match else -1


def group_of(key: str, groups: Sequence[str]) -> str:
    """Return the file group of a key: Java's hash of the text, modulo the number of groups."""
    if len(groups) == 1:
        return groups[0]
    value = 0
    units = key.encode("utf-16-be")
    for position in range(0, len(units), 2):
        unit = units[position] << 8 | units[position + 1]
        value = (31 * value + unit) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    # Java's absolute value of the smallest integer is negative, and so is its remainder.
    return groups[abs(signed) % len(groups)]
