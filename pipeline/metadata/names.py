"""Names of files and instants, as Hudi has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

#: Directories below a dataset, and below its metadata table.
HOODIE = ".hoodie"
METADATA = ".hoodie/metadata"
TIMELINE = ".hoodie/timeline"
PROPERTIES = ".hoodie/hoodie.properties"

#: Partitions of the metadata table, and the file group that each has when it is written here.
FILES = "files"
COLUMN_STATS = "column_stats"
PARTITION_STATS = "partition_stats"
FILE_GROUPS = {
    FILES: "files-0000-0",
    COLUMN_STATS: "col-stats-0000-0",
    PARTITION_STATS: "partition-stats-0000-0",
}

#: Instants of the metadata table's own making, one for each partition it began with.
FIRST_INSTANT = "0" * 17
_BASE = re.compile(r"(?P<group>[^_]+)_(?P<token>[\d-]+)_(?P<instant>\d{17})\.hfile")
_LOG = re.compile(
    r"\.(?P<group>[^_]+)_(?P<instant>\d{17})\.log\.(?P<version>\d{1,9})_(?P<token>[\d-]+)"
)


@dataclass(frozen=True)
class BaseName:
    """The name of a base file: its file group, instant and the token of its writing."""

    group: str
    instant: str
    token: str = "0-0-0"

    def __str__(self) -> str:
        return f"{self.group}_{self.token}_{self.instant}.hfile"


@dataclass(frozen=True)
class LogName:
    """The name of a log file: its file group, instant, version and the token of its writing."""

    group: str
    instant: str
    version: int = 1
    token: str = "0-0-0"

    def __str__(self) -> str:
        return f".{self.group}_{self.instant}.log.{self.version}_{self.token}"


def parse_name(name: str) -> BaseName | LogName | None:
    """The parts of a file's name, None for any other file."""
    if found := _BASE.fullmatch(name):
        return BaseName(found["group"], found["instant"], found["token"])
    if found := _LOG.fullmatch(name):
        return LogName(found["group"], found["instant"], int(found["version"]), found["token"])
    return None


def instant_at(time: datetime) -> str:
    """The name of an instant: its time to the millisecond."""
    return time.strftime("%Y%m%d%H%M%S") + f"{time.microsecond // 1000:03}"


def instant_after(instant: str) -> str:
    """The instant a millisecond later."""
    try:
        time = datetime.strptime(f"{instant}000", "%Y%m%d%H%M%S%f")
    except ValueError:  # one of the metadata table's own making
        return f"{int(instant) + 1:017}"
    return instant_at(time + timedelta(milliseconds=1))
