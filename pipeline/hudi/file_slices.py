"""File slices of a metadata partition: the latest base file, and the logs since."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.avro import read_one
from fscontract.pipeline.hudi.io import MetadataException, open_stream, read_file
from fscontract.pipeline.hudi.log import Log, read_log
from fscontract.pipeline.hudi.schema import COMMIT
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    FIRST_INSTANT,
    TIMELINE,
    BaseName,
    Instant,
    LogName,
    Timeline,
    parse_name,
)


@dataclass(frozen=True)
class LogFile:
    """A log file, and the completion time of its instant."""

    name: LogName
    status: FileStatus
    completed: str


@dataclass(frozen=True)
class FileSlice:
    """A base file and the logs of instants completed since its start, oldest first."""

    group: str
    base_instant: str
    base: FileStatus | None
    logs: tuple[LogFile, ...]


def read_log_file(fs: FileSystem, file: LogFile) -> Log:
    """Return the blocks of a log file, with one read."""
    with open_stream(fs, file.status, "whole-file") as stream:
        return read_log(stream, file.status.path, file.status.length)


def latest_slices(
    statuses: Iterable[FileStatus], metadata: Timeline, as_of: str | None = None
) -> list[FileSlice]:
    """Return the latest slice of each file group, from completed instants of the table's timeline.

    With `as_of`, return the latest slice at that time. A base file of an incomplete compaction is
    ignored: the previous one and the logs since then are complete.
    """
    bases: dict[str, list[tuple[str, FileStatus]]] = {}
    logs: dict[str, list[LogFile]] = {}
    for status in statuses:
        name = parse_name(status.path.rpartition("/")[2])
        if name is None or not metadata.holds(name.instant):
            continue
        if isinstance(name, BaseName):
            if as_of is not None and name.instant > as_of:
                continue
            bases.setdefault(name.group, []).append((name.instant, status))
        else:
            completed = metadata.completed.get(name.instant, name.instant)
            logs.setdefault(name.group, []).append(LogFile(name, status, completed))
    return [
        _slice(group, bases.get(group, []), logs.get(group, []))
        for group in sorted(bases.keys() | logs.keys())
    ]


def last_compaction(metadata: Timeline) -> str:
    """Return the time of the last completed compaction; empty if there was none."""
    times = (
        instant.time
        for instant in metadata.instants.values()
        if instant.action == "commit" and instant.state == COMPLETED
    )
    return max(times, default="")


def is_whole(file_slice: FileSlice, metadata: Timeline, as_of: str | None = None) -> bool:
    """Return True if a slice has its base file; without it, most files are missing.

    A file group may begin without one, with a log of the table's first instants.
    """
    if file_slice.base is None:
        return any(log.name.instant[:14] == FIRST_INSTANT[:14] for log in file_slice.logs)
    return file_slice.base_instant >= last_compaction(metadata) or as_of is not None


def check_slices(
    fs: FileSystem,
    metadata: str,
    partition: str,
    slices: Iterable[FileSlice],
    timeline: Timeline,
    data: Timeline,
    as_of: str | None = None,
) -> None:
    """Raise MetadataException if a file of a completed instant in the table's timeline is missing.

    For an action without a log this reads its instant: most actions have one, the others made no
    change here. Rollbacks are skipped: they seldom have a log, and nothing is lost without it.
    """
    every = list(slices)
    if suspects := {item.group for item in every if not is_whole(item, timeline, as_of)}:
        last = timeline.instants.get(last_compaction(timeline))
        # Hudi compacts only file groups that have logs.
        compacted = _groups_of(_written(fs, metadata, last), partition) if last else suspects
        if suspects & compacted or any(
            item.base is None for item in every if item.group in suspects
        ):
            raise MetadataException(metadata, f"base file of {partition!r} is missing")
    start = min((file_slice.base_instant for file_slice in every), default="")
    present = {log.name.instant for file_slice in every for log in file_slice.logs}
    present |= {file_slice.base_instant for file_slice in every}  # a partition that was built
    for time, end in timeline.completed.items():
        instant = timeline.instants[time]
        if instant.action != "deltacommit" or time in present or end < start:
            continue
        of_data = data.instants.get(time)
        if time[:14] == FIRST_INSTANT[:14] or not visible(time, data):
            continue
        if of_data is not None and of_data.action == "rollback":
            continue
        written = _written(fs, metadata, instant)
        if partition in written and not _is_compacted(every, _groups_of(written, partition), end):
            raise MetadataException(metadata, f"log of {time} in {partition!r} is missing")


def _is_compacted(slices: Iterable[FileSlice], groups: Collection[str], end: str) -> bool:
    """Return True if all these file groups have a base file of a later compaction.

    Others may have none: Hudi compacts the file groups of a partition that have logs.
    """
    later = {item.group for item in slices if item.base_instant > end}
    return bool(groups) and later.issuperset(groups)


def _written(fs: FileSystem, metadata: str, instant: Instant) -> dict[str, list[dict[str, Any]]]:
    """Return the statistics of the files that an instant wrote, by partition."""
    path = f"{metadata}/{TIMELINE}/{instant.file_name}"
    try:
        return read_one(read_file(fs, path), COMMIT).get("partitionToWriteStats") or {}
    except ValueError as error:
        raise MetadataException(path, f"can't read the instant: {error}") from error


def _groups_of(written: dict[str, list[dict[str, Any]]], partition: str) -> set[str]:
    return {str(file.get("fileId")) for file in written.get(partition, ())}


def visible(instant: str, data: Timeline) -> bool:
    """Return True if an instant's data is valid according to the dataset's timeline.

    The metadata table's own first instants are not on that timeline, and are always valid.
    """
    return instant[:14] == FIRST_INSTANT[:14] or data.holds(instant)


def _slice(group: str, bases: list[tuple[str, FileStatus]], logs: list[LogFile]) -> FileSlice:
    instant, base = max(bases, key=lambda entry: entry[0], default=("", None))
    since = [log for log in logs if log.completed >= instant]
    since.sort(key=lambda log: (log.completed, log.name.version, log.name.token))
    return FileSlice(group, instant, base, tuple(since))
