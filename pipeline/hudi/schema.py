"""Avro schemas of the metadata table and of instants; the names are Hudi's."""

from __future__ import annotations

import json
from typing import Any

NAMESPACE = "org.apache.hudi.avro.model"

#: The wrappers of a column's smallest and largest value, and the Avro type each holds.
WRAPPERS: dict[str, Any] = {
    "BooleanWrapper": "boolean",
    "IntWrapper": "int",
    "LongWrapper": "long",
    "FloatWrapper": "float",
    "DoubleWrapper": "double",
    "BytesWrapper": "bytes",
    "StringWrapper": "string",
    "DateWrapper": "int",
    "DecimalWrapper": {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
    "TimeMicrosWrapper": {"type": "long", "logicalType": "time-micros"},
    "TimestampMicrosWrapper": "long",
    "LocalDateWrapper": "int",
}


def _record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "namespace": NAMESPACE, "fields": fields}


def _field(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind}


def _optional(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None}


def _wrapper(name: str) -> dict[str, Any]:
    return _record(name, [_field("value", WRAPPERS[name])])


_FILE_INFO = _record(
    "HoodieMetadataFileInfo", [_field("size", "long"), _field("isDeleted", "boolean")]
)
_COLUMN_STATS = _record(
    "HoodieMetadataColumnStats",
    [
        _optional("fileName", "string"),
        _optional("columnName", "string"),
        {"name": "minValue", "type": ["null", *map(_wrapper, WRAPPERS)], "default": None},
        {
            "name": "maxValue",
            "type": ["null", *(f"{NAMESPACE}.{name}" for name in WRAPPERS)],
            "default": None,
        },
        _optional("valueCount", "long"),
        _optional("nullCount", "long"),
        _optional("totalSize", "long"),
        _optional("totalUncompressedSize", "long"),
        _field("isDeleted", "boolean"),
        {"name": "isTightBound", "type": "boolean", "default": False},
    ],
)

RECORD = _record(
    "HoodieMetadataRecord",
    [
        _field("key", "string"),
        _field("type", "int"),
        _field("filesystemMetadata", ["null", {"type": "map", "values": _FILE_INFO}]),
        _optional("ColumnStatsMetadata", _COLUMN_STATS),
    ],
)

RECORD_JSON = json.dumps(RECORD, separators=(",", ":"))

_INSTANT_INFO = _record(
    "HoodieInstantInfo", [_field("commitTime", "string"), _field("action", "string")]
)

#: Which instant an action of the timeline is to take back, in the file that requests it.
ROLLBACK_PLAN = _record(
    "HoodieRollbackPlan",
    [
        _optional("instantToRollback", _INSTANT_INFO),
        {"name": "version", "type": ["int", "null"], "default": 1},
    ],
)

_ROLLBACK_PARTITION = _record(
    "HoodieRollbackPartitionMetadata",
    [
        _field("partitionPath", "string"),
        _field("successDeleteFiles", {"type": "array", "items": "string"}),
        _field("failedDeleteFiles", {"type": "array", "items": "string"}),
        _optional("rollbackLogFiles", {"type": "map", "values": "long"}),
        _optional("logFilesFromFailedCommit", {"type": "map", "values": "long"}),
    ],
)

#: Which instants it took back, in the file of its completed instant.
ROLLBACK = _record(
    "HoodieRollbackMetadata",
    [
        _field("startRollbackTime", "string"),
        _field("timeTakenInMillis", "long"),
        _field("totalFilesDeleted", "int"),
        _field("commitsRollback", {"type": "array", "items": "string"}),
        _field("partitionMetadata", {"type": "map", "values": _ROLLBACK_PARTITION}),
        {"name": "version", "type": ["int", "null"], "default": 1},
        {
            "name": "instantsRollback",
            "type": {"type": "array", "items": _INSTANT_INFO},
            "default": [],
        },
    ],
)

_STRINGS = {"type": "array", "items": "string"}

#: Which files a clean is to delete, in the file that requests it.
CLEAN_PLAN = _record(
    "HoodieCleanerPlan",
    [
        _optional("earliestInstantToRetain", _INSTANT_INFO),
        _field("policy", "string"),
        _optional("filesToBeDeletedPerPartition", {"type": "map", "values": _STRINGS}),
        {"name": "version", "type": ["int", "null"], "default": 1},
    ],
)

#: Which files it deleted, in the file of its completed instant.
CLEAN = _record(
    "HoodieCleanMetadata",
    [
        _field("startCleanTime", "string"),
        _field("timeTakenInMillis", "long"),
        _field("totalFilesDeleted", "int"),
        _field("earliestCommitToRetain", "string"),
        _field(
            "partitionMetadata",
            {
                "type": "map",
                "values": _record(
                    "HoodieCleanPartitionMetadata",
                    [
                        _field("partitionPath", "string"),
                        _field("policy", "string"),
                        _field("deletePathPatterns", _STRINGS),
                        _field("successDeleteFiles", _STRINGS),
                        _field("failedDeleteFiles", _STRINGS),
                    ],
                ),
            },
        ),
        {"name": "version", "type": ["int", "null"], "default": 1},
    ],
)

#: Which instants a restore is to take back, in the file that requests it.
RESTORE_PLAN = _record(
    "HoodieRestorePlan",
    [
        {
            "name": "instantsToRollback",
            "type": {"type": "array", "items": _INSTANT_INFO},
            "default": [],
        },
        {"name": "version", "type": ["int", "null"], "default": 1},
        _optional("savepointToRestoreTimestamp", "string"),
    ],
)

#: What came of it, in the file of its completed instant.
RESTORE = _record(
    "HoodieRestoreMetadata",
    [
        _field("startRestoreTime", "string"),
        _field("timeTakenInMillis", "long"),
        _field("instantsToRollback", _STRINGS),
        _field(
            "hoodieRestoreMetadata",
            {"type": "map", "values": {"type": "array", "items": ROLLBACK}},
        ),
        {"name": "version", "type": ["int", "null"], "default": 1},
        {
            "name": "restoreInstantInfo",
            "type": {"type": "array", "items": f"{NAMESPACE}.HoodieInstantInfo"},
            "default": [],
        },
    ],
)

_STAT_FIELDS = {
    "string": ("fileId", "path", "prevCommit", "partitionPath"),
    "long": ("numWrites", "numDeletes", "totalWriteBytes", "totalWriteErrors", "fileSizeInBytes"),
}
_WRITE_STAT = _record(
    "HoodieWriteStat",
    [_optional(name, kind) for kind, names in _STAT_FIELDS.items() for name in names],
)

_COMMIT_FIELDS = [
    _optional(
        "partitionToWriteStats",
        {"type": "map", "values": {"type": "array", "items": _WRITE_STAT}},
    ),
    _optional("compacted", "boolean"),
    _optional("extraMetadata", {"type": "map", "values": "string"}),
    {"name": "version", "type": ["int", "null"], "default": 1},
    _optional("operationType", "string"),
]

#: What an action of the timeline did, as it stands in the file of its completed instant.
COMMIT = _record("HoodieCommitMetadata", _COMMIT_FIELDS)
#: The same of an action that replaced file groups; which ones is not read here.
REPLACE_COMMIT = _record("HoodieReplaceCommitMetadata", _COMMIT_FIELDS)
