"""What an action did to a dataset, written into its instant and read from there again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.metadata import schema
from fscontract.pipeline.metadata.commits import (
    WrittenFile,
    encode_clean,
    encode_commit,
    encode_restore,
    encode_rollback,
)
from fscontract.pipeline.metadata.errors import MetadataException
from fscontract.pipeline.metadata.names import HOODIE
from fscontract.pipeline.metadata.payload import ALL_PARTITIONS, ColumnStatistics
from fscontract.pipeline.metadata.safe_avro import read_one

COMMIT, COMPACTION, CLEAN, ROLLBACK, RESTORE = (
    "commit",
    "compaction",
    "clean",
    "rollback",
    "restore",
)
#: Actions that add files; what they are called on the timeline once they are completed, too.
WRITES = frozenset({COMMIT, COMPACTION, "deltacommit", "replacecommit"})
_COMMITS = (schema.COMMIT, schema.REPLACE_COMMIT)
#: Where a commit names the files that it deleted; Hudi's commits delete none.
DELETED = "fscontract.deleted.files"
#: Where a deltacommit of the metadata table has the digest of the change that it is of.
DIGEST = "fscontract.change"
#: Files by partition and name, and their sizes; and names of files by partition.
Sizes = Mapping[str, Mapping[str, int]]
Names = Mapping[str, Collection[str]]

#: What no name of a file or a partition is, and no part of one.
_OUTSIDE = frozenset({"", ".", ".."})


@dataclass(frozen=True)
class Change:
    """What an action did to a dataset: files it added, with their sizes, and files it deleted.

    `statistics` are of files it added; their keys may be left empty.
    """

    added: Sizes = field(default_factory=dict)
    deleted: Names = field(default_factory=dict)
    statistics: Mapping[tuple[str, str], Sequence[ColumnStatistics]] = field(default_factory=dict)


def below(partition: str, name: str) -> str:
    """A file's path below its dataset; MetadataException for names that lead out of it.

    The names come from files that anybody may have written.
    """
    path = f"{partition}/{name}" if partition else name
    if not _OUTSIDE.isdisjoint(path.split("/")):
        raise MetadataException(path, "is no path below a dataset")
    return path


def check_change(change: Change) -> None:
    """MetadataException for files that no listing of the dataset would find as they are named."""
    for names in (change.added, change.deleted):
        for partition, files in names.items():
            for name in files:
                path = below(partition, name)
                hidden = any(part.startswith(HOODIE) for part in path.split("/"))
                if hidden or "/" in name or partition == ALL_PARTITIONS:
                    raise MetadataException(path, "can't be a file of a dataset")
                try:
                    path.encode()
                except UnicodeEncodeError as error:
                    raise MetadataException(ascii(path), "has a name that is no text") from error
    for partition, sizes in change.added.items():
        for name, size in sizes.items():
            if size < 0:
                raise MetadataException(below(partition, name), f"can't have {size} bytes")


def digest_of(change: Change) -> str:
    """Return a digest of the files of a change, with their sizes."""
    added = sorted(
        (p, name, size) for p, sizes in change.added.items() for name, size in sizes.items()
    )
    deleted = sorted((p, name) for p, names in change.deleted.items() for name in names)
    return sha256(json.dumps([added, deleted]).encode()).hexdigest()


def digest_in(content: bytes, path: str) -> str | None:
    """Return the digest that a completed deltacommit has; None if other software wrote it.

    MetadataException if it can't be read.
    """
    found = (_decoded(content, path, *_COMMITS).get("extraMetadata") or {}).get(DIGEST)
    return found if isinstance(found, str) else None


def paths_below(partition: str, names: Sequence[str]) -> Iterable[str]:
    """As `below` of each name."""
    if not names or any("/" in name or name in _OUTSIDE for name in names):
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
) -> bytes:
    """The content of an action's completed instant.

    `target` are the instants that a rollback or a restore takes back, each with its action after
    a dot; `failed` the files that should have been deleted, and could not be.
    """
    deleted = {name: sorted(gone) for name, gone in change.deleted.items() if gone}
    if action == CLEAN:
        return encode_clean(time, deleted, failed or {})
    if action == ROLLBACK:
        (instant,) = target
        return encode_rollback(time, *_instant(instant), deleted)
    if action == RESTORE:
        return encode_restore(time, [_instant(each) for each in target], deleted)
    files = [
        WrittenFile(partition, name.partition("_")[0], below(partition, name), size)
        for partition, sizes in change.added.items()
        for name, size in sizes.items()
    ]
    whole = {**extra, DELETED: json.dumps(deleted)} if deleted else extra
    operation = "COMPACT" if action == COMPACTION else "UPSERT"
    return encode_commit(files, operation, whole, compacted=action == COMPACTION)


def decode_change(action: str, content: bytes, path: str) -> Change:
    """What a completed instant says that its action did; `path` is that of its file.

    MetadataException if it can't be read. Actions that are not known change no files.
    """
    if action in WRITES:
        return _written(_decoded(content, path, *_COMMITS), path) if content else Change()
    if action == CLEAN:
        found = _decoded(content, path, schema.CLEAN)["partitionMetadata"]
        return Change(deleted=_deleted(found, "deletePathPatterns", "successDeleteFiles"))
    if action == ROLLBACK:
        found = _decoded(content, path, schema.ROLLBACK)["partitionMetadata"]
        return Change(deleted=_deleted(found, "successDeleteFiles"))
    if action == RESTORE:
        gone: dict[str, set[str]] = {}
        for rollbacks in _decoded(content, path, schema.RESTORE)["hoodieRestoreMetadata"].values():
            for each in rollbacks:
                found = _deleted(each["partitionMetadata"], "successDeleteFiles")
                for partition, names in found.items():
                    gone.setdefault(partition, set()).update(names)
        return Change(deleted=gone)
    return Change()


def _decoded(content: bytes, path: str, *schemas: dict[str, Any]) -> dict[str, Any]:
    try:
        return read_one(content, *schemas)
    except ValueError as error:
        raise MetadataException(path, f"the instant can't be read ({error})") from error


def _written(datum: dict[str, Any], path: str) -> Change:
    added: dict[str, dict[str, int]] = {}
    for partition, statistics in (datum.get("partitionToWriteStats") or {}).items():
        for each in statistics:
            if each.get("path"):
                name = each["path"].rpartition("/")[2]
                added.setdefault(partition, {})[name] = each.get("fileSizeInBytes") or 0
    return Change(added, _deleted_names((datum.get("extraMetadata") or {}).get(DELETED), path))


def _deleted_names(text: str | None, path: str) -> dict[str, list[str]]:
    """The files that a commit says it deleted; MetadataException."""
    try:
        found = {} if text is None else parse_json(text)
    except ValueError as error:
        raise MetadataException(path, f"{DELETED} can't be read ({error})") from error
    lists = found.values() if isinstance(found, dict) else [None]
    names = [each for names in lists for each in (names if isinstance(names, list) else [None])]
    if not all(isinstance(each, str) for each in names):
        raise MetadataException(path, f"{DELETED} must be lists of names by partition")
    return dict(found)


def _deleted(partitions: Mapping[str, Any], *fields: str) -> dict[str, set[str]]:
    """Names of files by partition, from paths or names in any of the fields."""
    return {
        partition: {path.rpartition("/")[2] for name in fields for path in found[name]}
        for partition, found in partitions.items()
    }


def _instant(text: str) -> tuple[str, str]:
    time, _, action = text.partition(".")
    return time, action
