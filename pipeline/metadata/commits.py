"""What a completed instant says of itself: Hudi's commit metadata, as an Avro file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fscontract.pipeline.metadata.schema import COMMIT, ROLLBACK, ROLLBACK_PLAN


@dataclass(frozen=True)
class WrittenFile:
    """A file that an action wrote: its file group, its path below the table, its size."""

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
) -> bytes:
    """The content of a completed instant."""
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
    return _encode(
        COMMIT,
        {
            "partitionToWriteStats": statistics,
            "compacted": compacted,
            "extraMetadata": dict(extra or {}),
            "operationType": operation,
        },
    )


def encode_rollback_plan(target: str, action: str) -> bytes:
    """The content of the request to take back an instant."""
    return _encode(ROLLBACK_PLAN, {"instantToRollback": {"commitTime": target, "action": action}})


def encode_rollback(time: str, target: str, action: str) -> bytes:
    """The content of the completed instant that took another one back."""
    return _encode(
        ROLLBACK,
        {
            "startRollbackTime": time,
            "timeTakenInMillis": 0,
            "totalFilesDeleted": 0,
            "commitsRollback": [target],
            "partitionMetadata": {},
            "instantsRollback": [{"commitTime": target, "action": action}],
        },
    )


def _encode(schema: dict[str, Any], datum: dict[str, Any]) -> bytes:
    import fastavro

    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), [datum])
    return out.getvalue()
