"""Snapshot and incremental queries: rows of a Hudi table, from base files and logs.

Hudi marks each row with the time of its commit. An incremental query returns the rows of the
table's state at the end of an interval whose commits completed in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.avro_arrow import arrow_schema
from fscontract.pipeline.hudi.base_files import read_base_file
from fscontract.pipeline.hudi.changes import (
    CLEAN,
    WRITES,
    decode_change,
    decode_clean,
    decode_commit,
)
from fscontract.pipeline.hudi.data_files import SliceRules, data_slices, write_timeline
from fscontract.pipeline.hudi.file_slices import FileSlice, read_log_file
from fscontract.pipeline.hudi.io import MetadataException, in_threads, read_file
from fscontract.pipeline.hudi.layout import RECORD_KEY
from fscontract.pipeline.hudi.listing import files_below
from fscontract.pipeline.hudi.log_records import log_records
from fscontract.pipeline.hudi.merge_rules import merge_rules
from fscontract.pipeline.hudi.slice_merge import KEY, MergeTable, aligned, merge_slice
from fscontract.pipeline.hudi.table_location import (
    SCHEMA,
    WRITABLE,
    check_version,
    location_of,
    read_properties,
    version_of,
)
from fscontract.pipeline.hudi.timeline import COMPLETED, HOODIE, Instant, Timeline, load_instants
from fscontract.pipeline.hudi.timeline_history import HISTORY_PATH, archived_completions

COMMIT_TIME = "_hoodie_commit_time"


@dataclass(frozen=True)
class _CommitRange:
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


def _commit_range(
    fs: FileSystem, table: str, timeline: Timeline, begin: str, end: str | None, by_request: bool
) -> _CommitRange:
    """Return the commits in an interval; read the timeline's history if it begins earlier."""
    start = timeline.start or ""
    archived = archived_completions(fs, table) if begin < start and not by_request else {}
    completed = {**archived, **timeline.completed}
    return _CommitRange(begin, end or "~", completed, start, by_request)


def _first_hidden(timeline: Timeline, end: str) -> str | None:
    """Return the first instant that was not complete at a time, but is now; None without one."""
    hidden = (time for time, completed in timeline.completed.items() if completed > end)
    return min(hidden, default=None)


Mode = Literal["snapshot", "read-optimised"]
PARTITION = "_hoodie_partition_path"
META_FIELDS = (
    COMMIT_TIME,
    "_hoodie_commit_seqno",
    KEY,
    PARTITION,
    "_hoodie_file_name",
)
_META = "hoodie.populate.meta.fields"
#: Properties with other values need more than the files of rows, or another timeline.
_REQUIRED = {
    "hoodie.datasource.write.drop.partition.columns": "false",
    "hoodie.timeline.path": "timeline",
    HISTORY_PATH: "history",
    "hoodie.bootstrap.base.path": "",
}
_INSTANT = re.compile(r"\d{17}", re.ASCII)


@dataclass(frozen=True)
class Query:
    """Rows to read: at an instant `as_of`, or those of commits completed in (`begin`, `end`].

    Raise ValueError for an unknown mode, an invalid instant, or options that exclude each other.
    """

    mode: Mode = "snapshot"
    as_of: str | None = None
    begin: str | None = None
    end: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            allowed = ", ".join(get_args(Mode))
            raise ValueError(f"unknown mode {self.mode!r}; must be one of {allowed}")
        for instant in (self.as_of, self.begin, self.end):
            if instant is not None and not _INSTANT.fullmatch(instant):
                raise ValueError(
                    f"invalid instant {instant!r}; must be 17 digits, yyyyMMddHHmmssSSS"
                )
        if self.as_of is not None and (self.begin or self.end) is not None:
            raise ValueError("as_of is for snapshots; an incremental query has begin and end")
        if self.end is not None and self.begin is None:
            raise ValueError("missing begin; an incremental query to an end needs both")
        if self.end is not None and self.begin is not None and self.end < self.begin:
            raise ValueError(f"end {self.end} must not be before begin {self.begin}")


def read(
    fs: FileSystem,
    path: str,
    *,
    mode: Mode = "snapshot",
    columns: Sequence[str] | None = None,
    partitions: Sequence[str] | None = None,
    as_of: str | None = None,
    begin: str | None = None,
    end: str | None = None,
) -> Iterator[Any]:
    """Yield the rows of the Hudi table at `path`, as one PyArrow table for each file slice.

    All have the schema of the table's latest commit, with Hudi's meta fields. The mode `snapshot`
    merges base files with their logs; `read-optimised` reads base files only. `columns` are names
    of columns, `partitions` paths of directories below the table. `as_of` is an instant, such as
    `20260101120000000`: later ones are ignored. A table without rows yields an empty PyArrow table.

    With `begin`, yield only rows of commits that completed later, up to the instant `end` or until
    now, as they were at the end: an incremental query. Deleted rows are not among them.

    Each file slice is held in memory. Tables of versions 6, 8 and 9 are read, if their base files
    are Parquet, or Lance with the extra `lance`. Raise MetadataException, before the first rows if
    the properties or instants are the reason, for everything else, FileNotFoundError for a missing
    table or partition, and ValueError for an unknown mode or column, or an invalid instant or
    partition.
    """
    query = Query(mode, as_of, begin, end)
    table = open_table(fs, path.rstrip("/"), query)
    schema = table.selected(columns)
    return _tables(table, table.slices(partitions), schema)


def base_files(
    fs: FileSystem,
    path: str,
    *,
    partitions: Sequence[str] | None = None,
    as_of: str | None = None,
) -> list[FileStatus]:
    """Return the latest base file of each file group of a Hudi table, for other readers.

    Files of incomplete actions, and of replaced file groups, are left out, as Hudi's
    HoodieROTablePathFilter does. Arguments and errors are those of `read`.
    """
    table = open_table(fs, path.rstrip("/"), Query("read-optimised", as_of))
    return [item.base for item in table.slices(partitions) if item.base is not None]


def _tables(table: QueriedTable, slices: Sequence[FileSlice], schema: Any) -> Iterator[Any]:
    if not slices:
        yield schema.empty_table()
    for item in slices:
        yield table.rows(item, schema)


@dataclass(frozen=True)
class QueriedTable:
    """A table at an instant: its properties, visible instants, schema, and replaced file groups.

    `commits` are those of an incremental query.
    """

    fs: FileSystem
    path: str
    mode: Mode
    properties: Mapping[str, str]
    rules: SliceRules
    schema: Any
    replaced: Mapping[str, frozenset[str]]
    commits: _CommitRange | None = None

    def selected(self, columns: Sequence[str] | None) -> Any:
        """Return the schema of some columns, or of all; raise ValueError for an unknown one."""
        import pyarrow as pa

        if columns is None:
            return self.schema
        if not columns:
            raise ValueError("columns must have at least one name")
        for name in columns:
            if name not in self.schema.names:
                known = ", ".join(self.schema.names)
                raise ValueError(f"unknown column {name!r}; must be one of {known}")
        return pa.schema([self.schema.field(name) for name in dict.fromkeys(columns)])

    def slices(self, partitions: Sequence[str] | None) -> list[FileSlice]:
        """Return the file slices to read of some partitions or all, by partition and file group."""
        roots = [""] if partitions is None else [_partition(name) for name in partitions]
        try:
            found = files_below(self.fs, self.path, directories=roots)
        except FileNotFoundError as error:
            if partitions is None:
                raise
            names = ", ".join(map(repr, roots))
            raise FileNotFoundException(self.path, f"partition not found: {names}") from error
        return [
            item
            for name in sorted(found)
            for item in data_slices(found[name], self.rules, self.replaced.get(name, ()))
            if self._may_have_rows(item)
        ]

    def partition_of(self, item: FileSlice) -> str:
        """Return the partition of a slice, the path of its directory below the table."""
        return _files(item)[0].path[len(self.path) + 1 :].rpartition("/")[0]

    def _may_have_rows(self, item: FileSlice) -> bool:
        if item.base is None and (self.mode != "snapshot" or not item.logs):
            return False
        return self.commits is None or self.commits.may_have_rows(item)

    def rows(self, item: FileSlice, schema: Any) -> Any:
        """Return the rows of a slice with the columns of a schema."""
        if self.commits is None:
            return self._slice_rows(item, schema)
        needed = schema
        if COMMIT_TIME not in schema.names:
            needed = schema.append(self.schema.field(COMMIT_TIME))
        rows = self.commits.select(self._slice_rows(item, needed), _files(item)[0].path)
        return rows.select(schema.names)

    def _slice_rows(self, item: FileSlice, schema: Any) -> Any:
        if self.mode == "snapshot" and item.logs:
            return self._merged(item, schema)
        assert item.base is not None  # `slices` leaves others out
        return self._base_rows(item.base, schema)

    def _base_rows(self, status: FileStatus, schema: Any) -> Any:
        """Return the rows of a base file with the columns of a schema."""
        rows = read_base_file(self.fs, status, schema.names)
        return aligned(rows, schema, status.path)

    def _merged(self, item: FileSlice, schema: Any) -> Any:
        """Return the rows of a slice with logs."""
        where = item.logs[-1].status.path
        table = self._merge_table(schema, where)
        if item.base is None:
            base = table.schema.empty_table()
        else:
            base = self._base_rows(item.base, table.schema)
        logs = in_threads(partial(read_log_file, self.fs), item.logs)
        merged = merge_slice(base, log_records(logs, self.rules.shows), table, where)
        return merged.select(schema.names)

    def _merge_table(self, schema: Any, where: str) -> MergeTable:
        """Return the rules of the merge, with the columns that it needs besides a schema's."""
        import pyarrow as pa

        rules = merge_rules(where, self.properties)
        key = KEY
        if not _has_meta_fields(self.properties):
            key, *further = self.properties.get(RECORD_KEY, "").split(",")
            if further or key not in self.schema.names:
                raise MetadataException(where, f"can't merge records: needs one key, or {KEY}")
        needed = {key, *(name.split(".")[0] for name in rules.fields), *rules.fields}
        names = [*schema.names, *sorted(needed - set(schema.names))]
        fields = [self.schema.field(name) for name in names if name in self.schema.names]
        return MergeTable(rules, key, pa.schema(fields))


def open_table(fs: FileSystem, path: str, query: Query | None = None) -> QueriedTable:
    """Return a table for a query; raise MetadataException if it can't be read."""
    query = query or Query()
    properties = read_properties(fs, location_of(path).marker)
    check_version(path, properties, WRITABLE)
    for name, value in _REQUIRED.items():
        if (own := properties.get(name, value)) != value:
            raise MetadataException(path, f"can't read the table: unsupported {name}={own}")
    if query.begin is not None and not _has_meta_fields(properties):
        raise MetadataException(path, f"can't query incrementally: rows have no {COMMIT_TIME}")
    is_first = version_of(path, properties) < 8
    every = load_instants(fs, path, layout=1 if is_first else 2)
    timeline = write_timeline(every)
    instants = _Instants(fs, path)
    instants.check_age(query, every, timeline)
    commits = None
    if query.begin is not None:
        commits = _commit_range(fs, path, timeline, query.begin, query.end, is_first)
    if query.end is not None:
        timeline = timeline.until(query.end)
    rules = SliceRules(timeline, query.as_of, by_base=is_first)
    visible = [instant for instant in timeline.instants.values() if rules.shows(instant.time)]
    schema = instants.schema(visible, properties)
    replaced = instants.replaced(visible)
    return QueriedTable(fs, path, query.mode, properties, rules, schema, replaced, commits)


@dataclass(frozen=True)
class _Instants:
    """Content of a table's completed instants."""

    fs: FileSystem
    path: str

    def schema(self, visible: Sequence[Instant], properties: Mapping[str, str]) -> Any:
        """Return the Arrow schema of the latest commit that has one, or of the table's creation."""
        import pyarrow as pa

        text, path = properties.get(SCHEMA), self.path
        for instant in sorted(visible, key=_completion, reverse=True):
            if instant.action in WRITES:
                extra = self._commit(instant).get("extraMetadata") or {}
                if extra.get("latest_schema"):
                    message = "can't read the table: unsupported evolution of its schema on read"
                    raise MetadataException(self._file(instant), message)
                if extra.get("schema"):
                    text, path = extra["schema"], self._file(instant)
                    break
        if not text:
            raise MetadataException(path, "can't read the table: no commit has a schema")
        try:
            own = arrow_schema(text)
        except (ValueError, AttributeError) as error:
            raise MetadataException(path, f"can't read the table's schema: {error}") from error
        meta = META_FIELDS if _has_meta_fields(properties) else ()
        fields = [field for field in own if field.name not in meta]
        return pa.schema([*(pa.field(name, pa.string()) for name in meta), *fields])

    def replaced(self, visible: Sequence[Instant]) -> dict[str, frozenset[str]]:
        """Return the file groups that completed actions replaced, by partition."""
        replacing = [instant for instant in visible if instant.action == "replacecommit"]
        found: dict[str, set[str]] = {}
        for instant, commit in zip(replacing, in_threads(self._commit, replacing), strict=True):
            groups = commit.get("partitionToReplaceFileIds")
            if not isinstance(groups, dict) or not all(map(_is_names, groups.values())):
                raise MetadataException(self._file(instant), "invalid replaced file groups")
            for partition, names in groups.items():
                found.setdefault(partition, set()).update(names)
        return {partition: frozenset(names) for partition, names in found.items()}

    def check_age(self, query: Query, instants: Iterable[Instant], timeline: Timeline) -> None:
        """Raise MetadataException if files of a past state may have been deleted since."""
        asked = query.end if query.as_of is None else query.as_of
        if asked is None:
            return
        if timeline.start is not None and asked < timeline.start:
            raise MetadataException(self.path, f"instant {asked} is older than the timeline")
        limit = _first_hidden(timeline, asked) if query.as_of is None else asked
        for instant in instants:
            if instant.action != CLEAN or instant.state != COMPLETED:
                continue
            if limit is None or instant.time <= limit:
                continue
            path = self._file(instant)
            content = read_file(self.fs, path)
            retained = decode_clean(content, path)["earliestCommitToRetain"]
            is_kept = bool(retained) and retained <= limit
            if not is_kept and decode_change(CLEAN, content, path).deleted:
                raise MetadataException(self.path, f"instant {asked} was cleaned by {path}")

    def _commit(self, instant: Instant) -> dict[str, Any]:
        path = self._file(instant)
        return decode_commit(read_file(self.fs, path), path)

    def _file(self, instant: Instant) -> str:
        return f"{self.path}/{instant.path}"


def _files(item: FileSlice) -> list[FileStatus]:
    base = [] if item.base is None else [item.base]
    return [*base, *(log.status for log in item.logs)]


def _partition(name: str) -> str:
    """Return the path of a partition as listings have it; raise ValueError for other paths."""
    path = name.strip("/")
    parts = path.split("/") if path else []
    if any(part in ("", ".", "..") or part.startswith(HOODIE) for part in parts):
        raise ValueError(f"invalid partition {name!r}; must be a path below the table")
    return path


def _completion(instant: Instant) -> str:
    return instant.completed or ""


def _is_names(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _has_meta_fields(properties: Mapping[str, str]) -> bool:
    return properties.get(_META, "true").lower() != "false"
