"""Encoder for the content of instants: commits, cleans, rollbacks and restores, as Avro files."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fscontract.pipeline.hudi.schema import (
    CLEAN,
    CLEAN_PLAN,
    COMMIT,
    REPLACE_COMMIT,
    RESTORE,
    RESTORE_PLAN,
    ROLLBACK,
    ROLLBACK_PLAN,
)


@dataclass(frozen=True)
class WrittenFile:
    """A file written by an action: its file group, its path below the table, its size in bytes."""

    partition: str
    file_id: str
    path: str
    size: int
    writes: int = 0
    deletes: int = 0


def encode_commit(
    files: Iterable[WrittenFile],
    operation: str,
    extra: Mapping[str, str] | None = None,
    compacted: bool = False,
    as_json: bool = False,
    replaced: Mapping[str, Collection[str]] | None = None,
) -> bytes:
    """Return the content of a completed instant, for tables before version 8 `as_json`.

    `replaced` are the file groups that a replacecommit replaced, by partition.
    """
    statistics: dict[str, list[dict[str, object]]] = {}
    for file in files:
        statistics.setdefault(file.partition, []).append(
            {
                "fileId": file.file_id,
                "path": file.path,
                "prevCommit": "null",
                "partitionPath": file.partition,
                "numWrites": file.writes,
                "numDeletes": file.deletes,
                "totalWriteBytes": file.size,
                "totalWriteErrors": 0,
                "fileSizeInBytes": file.size,
            }
        )
    commit: dict[str, Any] = {
        "partitionToWriteStats": statistics,
        "compacted": compacted,
        "extraMetadata": dict(extra or {}),
        "operationType": operation,
    }
    if replaced is not None:
        commit["partitionToReplaceFileIds"] = {name: sorted(ids) for name, ids in replaced.items()}
    if as_json:
        return json.dumps(commit, indent=2).encode()
    return _encode(COMMIT if replaced is None else REPLACE_COMMIT, commit)


def encode_rollback_plan(target: str, action: str) -> bytes:
    """Return the content of the request to roll back an instant."""
    return _encode(ROLLBACK_PLAN, {"instantToRollback": {"commitTime": target, "action": action}})


def encode_rollback(
    time: str, target: str, action: str, deleted: Mapping[str, Collection[str]] | None = None
) -> bytes:
    """Return the content of the completed rollback of an instant."""
    return _encode(ROLLBACK, _rollback(time, target, action, deleted or {}))


def encode_clean_plan(deleted: Mapping[str, Collection[str]]) -> bytes:
    """Return the content of the request to delete files."""
    files = {partition: sorted(names) for partition, names in deleted.items()}
    return _encode(CLEAN_PLAN, {"filesToBeDeletedPerPartition": files, "policy": "KEEP_LATEST"})


def encode_clean(
    time: str, deleted: Mapping[str, Collection[str]], failed: Mapping[str, Collection[str]]
) -> bytes:
    """Return the content of the completed clean."""
    partitions = {
        partition: {
            "partitionPath": partition,
            "policy": "KEEP_LATEST_FILE_VERSIONS",
            "deletePathPatterns": sorted(deleted.get(partition, ())),
            "successDeleteFiles": sorted(deleted.get(partition, ())),
            "failedDeleteFiles": sorted(failed.get(partition, ())),
        }
        for partition in {**deleted, **failed}
    }
    return _encode(
        CLEAN,
        {
            "startCleanTime": time,
            "timeTakenInMillis": 0,
            "totalFilesDeleted": sum(map(len, deleted.values())),
            "earliestCommitToRetain": "",
            "partitionMetadata": partitions,
        },
    )


def encode_restore_plan(targets: Iterable[tuple[str, str]], to: str) -> bytes:
    """Return the content of the request to revert all instants since `to`."""
    instants = [{"commitTime": time, "action": action} for time, action in targets]
    return _encode(
        RESTORE_PLAN, {"instantsToRollback": instants, "savepointToRestoreTimestamp": to}
    )


def encode_restore(
    time: str, targets: Sequence[tuple[str, str]], deleted: Mapping[str, Collection[str]]
) -> bytes:
    """Return the content of a completed restore; its first rollback has the deleted files."""
    rollbacks = {
        target: [_rollback(time, target, action, deleted if number == 0 else {})]
        for number, (target, action) in enumerate(targets)
    }
    return _encode(
        RESTORE,
        {
            "startRestoreTime": time,
            "timeTakenInMillis": 0,
            "instantsToRollback": [target for target, _ in targets],
            "hoodieRestoreMetadata": rollbacks,
            "restoreInstantInfo": [{"commitTime": t, "action": a} for t, a in targets],
        },
    )


def _rollback(
    time: str, target: str, action: str, deleted: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    partitions = {
        partition: {
            "partitionPath": partition,
            "successDeleteFiles": sorted(names),
            "failedDeleteFiles": [],
        }
        for partition, names in deleted.items()
    }
    return {
        "startRollbackTime": time,
        "timeTakenInMillis": 0,
        "totalFilesDeleted": sum(map(len, deleted.values())),
        "commitsRollback": [target],
        "partitionMetadata": partitions,
        "instantsRollback": [{"commitTime": target, "action": action}],
    }


def _encode(schema: dict[str, Any], datum: dict[str, Any]) -> bytes:
    import fastavro

    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), [datum])
    return out.getvalue()
