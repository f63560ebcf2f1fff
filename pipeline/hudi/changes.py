"""Changes of a dataset: written to instants, read back, and converted to table records.

`unsynced` lists the completed instants whose change is missing in the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from typing import Any, cast

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi import schema
from fscontract.pipeline.hudi.avro import read_one
from fscontract.pipeline.hudi.column_stats import file_key
from fscontract.pipeline.hudi.commit_metadata import (
    WrittenFile,
    encode_clean,
    encode_commit,
    encode_restore,
    encode_rollback,
)
from fscontract.pipeline.hudi.io import MetadataException, read_file
from fscontract.pipeline.hudi.records import (
    ALL_PARTITIONS,
    GONE,
    NO_PARTITION,
    ColumnStatistics,
    FileEntry,
    FilesRecord,
    Record,
)
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    FIRST_INSTANT,
    HOODIE,
    Instant,
    Timeline,
)

COMMIT, COMPACTION, CLEAN, ROLLBACK, RESTORE = (
    "commit",
    "compaction",
    "clean",
    "rollback",
    "restore",
)
#: Action that replaces file groups by others.
REPLACE = "replacecommit"
#: Actions that add files, with their names on the timeline when completed.
WRITES = frozenset({COMMIT, COMPACTION, "deltacommit", REPLACE})
_COMMITS = (schema.COMMIT, schema.REPLACE_COMMIT)
#: Key of a commit for the files that it deleted; Hudi's commits delete none.
DELETED = "fscontract.deleted.files"
#: Key of a deltacommit of the metadata table for the digest of its change.
DIGEST = "fscontract.change"
#: File sizes by partition and name; and file names by partition.
Sizes = Mapping[str, Mapping[str, int]]
Names = Mapping[str, Collection[str]]

#: Values that are not valid as a name of a file or partition, or as a part of one.
_OUTSIDE = frozenset({"", ".", ".."})


@dataclass(frozen=True)
class Change:
    """The change of a dataset by an action: added files with their sizes, and deleted files.

    `statistics` belong to added files; their keys may be empty. `replaced` are the file groups, by
    partition, whose rows a replacecommit drops or writes to others; their files remain listed.
    """

    added: Sizes = field(default_factory=dict)
    deleted: Names = field(default_factory=dict)
    statistics: Mapping[tuple[str, str], Sequence[ColumnStatistics]] = field(default_factory=dict)
    replaced: Names = field(default_factory=dict)


def below(partition: str, name: str) -> str:
    """Return a file's path below its dataset; raise MetadataException for names outside it.

    The names may come from untrusted files.
    """
    path = f"{partition}/{name}" if partition else name
    if not _OUTSIDE.isdisjoint(path.split("/")):
        raise MetadataException(path, "invalid path: must be below the dataset")
    return path


def check_change(change: Change) -> None:
    """Raise MetadataException for files that a listing of the dataset would not find."""
    for names in (change.added, change.deleted):
        for partition, files in names.items():
            for name in files:
                path = below(partition, name)
                hidden = any(part.startswith(HOODIE) for part in path.split("/"))
                if hidden or "/" in name or partition == ALL_PARTITIONS:
                    raise MetadataException(path, "invalid file name in a dataset")
                try:
                    path.encode()
                except UnicodeEncodeError as error:
                    raise MetadataException(ascii(path), "file name is not valid text") from error
    for partition, sizes in change.added.items():
        for name, size in sizes.items():
            if size < 0:
                raise MetadataException(below(partition, name), f"invalid file size: {size} bytes")


def digest_of(change: Change) -> str:
    """Return a digest of the files of a change, their sizes, and the replaced file groups."""
    added = sorted(
        (p, name, size) for p, sizes in change.added.items() for name, size in sizes.items()
    )
    deleted = sorted((p, name) for p, names in change.deleted.items() for name in names)
    replaced = sorted((p, name) for p, names in change.replaced.items() for name in names)
    parts = [added, deleted, replaced] if replaced else [added, deleted]
    return sha256(json.dumps(parts).encode()).hexdigest()


def digest_in(content: bytes, path: str) -> str | None:
    """Return the digest of a completed deltacommit; None if other software wrote it.

    Raise MetadataException if the content is invalid.
    """
    digest = (_decoded(content, path, *_COMMITS).get("extraMetadata") or {}).get(DIGEST)
    return digest if isinstance(digest, str) else None


def paths_below(partition: str, names: Sequence[str]) -> Iterable[str]:
    """Return `below` of each name."""
    if not names or "/" in "".join(names) or not _OUTSIDE.isdisjoint(names):
        return [below(partition, name) for name in names]
    start = below(partition, "name").removesuffix("name")
    return map(start.__add__, names)


def encode_change(
    action: str,
    time: str,
    change: Change,
    extra: Mapping[str, str],
    target: Sequence[str] = (),
    failed: Names | None = None,
    layout: int = 2,
) -> bytes:
    """Return the content of an action's completed instant.

    `target` are the instants that a rollback or restore reverts, each followed by a dot and its
    action; `failed` are files that could not be deleted. In `layout` 1 commits are JSON. Raise
    MetadataException for replaced file groups of another action than a replacecommit.
    """
    if change.replaced and action != REPLACE:
        raise MetadataException(time, f"a {action} can't replace file groups; use {REPLACE}")
    deleted = {name: sorted(gone) for name, gone in change.deleted.items() if gone}
    if action == CLEAN:
        return encode_clean(time, deleted, failed or {})
    if action == ROLLBACK:
        (instant,) = target
        return encode_rollback(time, *_instant(instant), deleted)
    if action == RESTORE:
        return encode_restore(time, [_instant(reference) for reference in target], deleted)
    files = [
        WrittenFile(partition, name.partition("_")[0], below(partition, name), size)
        for partition, sizes in change.added.items()
        for name, size in sizes.items()
    ]
    metadata = {**extra, DELETED: json.dumps(deleted)} if deleted else extra
    operation = "COMPACT" if action == COMPACTION else "UPSERT"
    is_compaction = action == COMPACTION
    replaced = change.replaced if action == REPLACE else None
    return encode_commit(files, operation, metadata, is_compaction, layout == 1, replaced)


def decode_change(action: str, content: bytes, path: str) -> Change:
    """Return the change in a completed instant; `path` is the instant's file.

    Raise MetadataException if it is invalid. Unknown actions change no files.
    """
    if action in WRITES:
        return _written(decode_commit(content, path), path)
    if action == CLEAN:
        deleted = decode_clean(content, path)["partitionMetadata"]
        return Change(deleted=_deleted(deleted, "deletePathPatterns", "successDeleteFiles"))
    if action == ROLLBACK:
        deleted = _decoded(content, path, schema.ROLLBACK)["partitionMetadata"]
        return Change(deleted=_deleted(deleted, "successDeleteFiles"))
    if action == RESTORE:
        gone: dict[str, set[str]] = {}
        for rollbacks in _decoded(content, path, schema.RESTORE)["hoodieRestoreMetadata"].values():
            for rollback in rollbacks:
                deleted = _deleted(rollback["partitionMetadata"], "successDeleteFiles")
                for partition, names in deleted.items():
                    gone.setdefault(partition, set()).update(names)
        return Change(deleted=gone)
    return Change()


def decode_commit(content: bytes, path: str) -> dict[str, Any]:
    """Return the content of a completed instant of `WRITES`; raise MetadataException."""
    if content.startswith(b"{"):
        return _decoded_json(content, path)
    return _decoded(content, path, *_COMMITS) if content else {}


def decode_clean(content: bytes, path: str) -> dict[str, Any]:
    """Return the content of a completed clean; raise MetadataException."""
    return _decoded(content, path, schema.CLEAN)


def _decoded(content: bytes, path: str, *schemas: dict[str, Any]) -> dict[str, Any]:
    try:
        return read_one(content, *schemas)
    except ValueError as error:
        raise MetadataException(path, f"can't read the instant: {error}") from error


def _decoded_json(content: bytes, path: str) -> dict[str, Any]:
    """Return a commit of a table before version 8."""
    try:
        datum = parse_json(content)
        for files in (datum.get("partitionToWriteStats") or {}).values():
            for file in files:
                size = file.get("fileSizeInBytes") or 0
                if not isinstance(file.get("path") or "", str) or not isinstance(size, int):
                    raise ValueError("path and size of a file must be a text and a number")
        dict(datum.get("extraMetadata") or {})
    except (ValueError, AttributeError, TypeError) as error:
        raise MetadataException(path, f"can't read the instant: {error}") from error
    return cast(dict[str, Any], datum)


def _written(datum: dict[str, Any], path: str) -> Change:
    added: dict[str, dict[str, int]] = {}
    for partition, statistics in (datum.get("partitionToWriteStats") or {}).items():
        for written in statistics:
            if written.get("path"):
                name = written["path"].rpartition("/")[2]
                added.setdefault(partition, {})[name] = written.get("fileSizeInBytes") or 0
    deleted = _names((datum.get("extraMetadata") or {}).get(DELETED), path)
    replaced = datum.get("partitionToReplaceFileIds") or {}
    if not isinstance(replaced, dict) or not all(map(_are_names, replaced.values())):
        raise MetadataException(path, "invalid replaced file groups")
    return Change(added, deleted, replaced=replaced)


def _are_names(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _names(text: str | None, path: str) -> dict[str, list[str]]:
    """Return the files that a commit reports as deleted; raise MetadataException."""
    try:
        parsed = {} if text is None else parse_json(text)
    except ValueError as error:
        raise MetadataException(path, f"can't read {DELETED}: {error}") from error
    lists = parsed.values() if isinstance(parsed, dict) else [None]
    names = [name for names in lists for name in (names if isinstance(names, list) else [None])]
    if not all(isinstance(name, str) for name in names):
        raise MetadataException(path, f"{DELETED} must be lists of names by partition")
    return dict(parsed)


def _deleted(partitions: Mapping[str, Any], *fields: str) -> dict[str, set[str]]:
    """Return file names by partition, from paths or names in the given fields."""
    return {
        partition: {path.rpartition("/")[2] for name in fields for path in entry[name]}
        for partition, entry in partitions.items()
    }


def _instant(text: str) -> tuple[str, str]:
    time, _, action = text.partition(".")
    return time, action


#: Returns the file names of partitions before the change.
Lookup = Callable[[Collection[str]], Mapping[str, Collection[str]]]


def file_records(change: Change, lookup: Lookup) -> list[Record]:
    """Return the sorted records of changed partitions, and the record of all partitions."""
    deleted = {name: set(gone) for name, gone in change.deleted.items() if gone}
    added = {name: files for name, files in change.added.items() if files}
    every = {name: FileEntry(0) for name in added}
    every |= dict.fromkeys(_emptied(added, deleted, lookup), GONE)
    records: list[Record] = []
    for name in {**added, **deleted}:
        files = dict.fromkeys(deleted.get(name, ()), GONE)
        files |= {file: FileEntry(size) for file, size in added.get(name, {}).items()}
        records.append(FilesRecord(name or NO_PARTITION, files))
    if every:
        named = {name or NO_PARTITION: info for name, info in every.items()}
        records.append(FilesRecord(ALL_PARTITIONS, named))
    return sorted(records, key=lambda record: record.key.encode())


def _emptied(added: Iterable[str], deleted: Mapping[str, set[str]], lookup: Lookup) -> set[str]:
    """Return the partitions that become empty."""
    suspects = deleted.keys() - set(added)
    if not suspects:
        return set()
    before = lookup(suspects)
    return {name for name in suspects if set(before[name]) <= deleted[name]}


def statistics_records(change: Change, columns: Sequence[str]) -> list[Record]:
    """Return the statistics of added files; they replace all earlier ones."""
    records: dict[str, Record] = {}
    added = ((name, file) for name, files in change.added.items() for file in files)
    deleted = ((name, file) for name, files in change.deleted.items() for file in files)
    for partition, file in chain(deleted, added):
        for column in columns:
            key = file_key(column, partition, file)
            records[key] = ColumnStatistics(key, file, column, is_deleted=True)
        for known in change.statistics.get((partition, file), ()):
            if known.column in columns:
                key = file_key(known.column, partition, file)
                records[key] = replace(known, key=key, file_name=file, is_tight=True)
    return [records[key] for key in sorted(records)]


def unsynced(data: Timeline, metadata: Timeline) -> list[Instant]:
    """Return the completed instants of the dataset without a deltacommit, in order of completion.

    Instants completed before the table was created are in it from the start.
    """
    began = first_completion(metadata)
    missing = [
        instant
        for instant in data.instants.values()
        if instant.state == COMPLETED
        and (instant.completed or "") > began
        and not metadata.holds(instant.time)
    ]
    return sorted(missing, key=lambda instant: instant.completed or "")


def first_completion(metadata: Timeline) -> str:
    """Return when the table was created; empty if its timeline does not go back that far."""
    first = FIRST_INSTANT[:14]
    return max((end for time, end in metadata.completed.items() if time[:14] == first), default="")


def changes_of(fs: FileSystem, path: str, instants: Iterable[Instant]) -> list[Change]:
    """Return the change of each instant; raise MetadataException if one is damaged."""
    changes = []
    for instant in instants:
        file = f"{path}/{instant.path}"
        changes.append(decode_change(instant.action, read_file(fs, file), file))
    return changes
