"""Avro schemas of the metadata table and of instants, with Hudi's names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

NAMESPACE = "org.apache.hudi.avro.model"

#: A text, and the class that Java has for it.
TEXT = {"type": "string", "avro.java.string": "String"}

#: Wrappers of a column's smallest and largest value, and their Avro types.
WRAPPERS: dict[str, Any] = {
    "BooleanWrapper": "boolean",
    "IntWrapper": "int",
    "LongWrapper": "long",
    "FloatWrapper": "float",
    "DoubleWrapper": "double",
    "BytesWrapper": "bytes",
    "StringWrapper": TEXT,
    "DateWrapper": "int",
    "DecimalWrapper": {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
    "TimeMicrosWrapper": {"type": "long", "logicalType": "time-micros"},
    "TimestampMicrosWrapper": "long",
    "LocalDateWrapper": "int",
}


#: Type of a field, and its default. It is a tuple because a type is a name, a list or a mapping.
_VERSION = (["int", "null"], 1)
_STRINGS = {"type": "array", "items": "string"}


def _record(name: str, /, **fields: Any) -> dict[str, Any]:
    """Return the schema of a record; fields are a type, or a tuple of type and default."""
    entries = [
        {"name": field, "type": kind[0], "default": kind[1]}
        if isinstance(kind, tuple)
        else {"name": field, "type": kind}
        for field, kind in fields.items()
    ]
    return {"type": "record", "name": name, "namespace": NAMESPACE, "fields": entries}


def _optional(*kinds: Any) -> tuple[Any, None]:
    return ["null", *kinds], None


def _array(kind: Any) -> dict[str, Any]:
    return {"type": "array", "items": kind}


def _map(kind: Any) -> dict[str, Any]:
    return {"type": "map", "values": kind}


_VALUE_TYPE = _record("HoodieValueTypeInfo", typeOrdinal="int", additionalInfo=_optional(TEXT))
_FILE_INFO = _record("HoodieMetadataFileInfo", size="long", isDeleted="boolean")


def _statistics(wrappers: Mapping[str, Any], **further: Any) -> dict[str, Any]:
    names = [f"{NAMESPACE}.{name}" for name in wrappers]
    plain = [name for name in names if not name.endswith(".ArrayWrapper")]
    records = [
        _record(name, value=kind)
        if kind is not None
        else _record(name, wrappedValues=_optional(_array(["null", *plain])))
        for name, kind in wrappers.items()
    ]
    return _record(
        "HoodieMetadataColumnStats",
        fileName=_optional(TEXT),
        columnName=_optional(TEXT),
        minValue=_optional(*records),
        maxValue=_optional(*names),
        valueCount=_optional("long"),
        nullCount=_optional("long"),
        totalSize=_optional("long"),
        totalUncompressedSize=_optional("long"),
        isDeleted="boolean",
        isTightBound=("boolean", False),
        **{name: _optional(kind) for name, kind in further.items()},
    )


_RECORD_INDEX = _record(
    "HoodieRecordIndexInfo",
    partitionName=_optional(TEXT),
    fileIdHighBits=_optional("long"),
    fileIdLowBits=_optional("long"),
    fileIndex=_optional("int"),
    fileId=_optional(TEXT),
    instantTime=_optional("long"),
    fileIdEncoding=("int", 0),
    position=_optional("long"),
)

#: The record as far as it is read.
RECORD = _record(
    "HoodieMetadataRecord",
    key="string",
    type="int",
    filesystemMetadata=["null", _map(_FILE_INFO)],
    ColumnStatsMetadata=_optional(_statistics(WRAPPERS, valueType=_VALUE_TYPE)),
    recordIndexMetadata=_optional(_RECORD_INDEX),
)

RECORD_JSON = json.dumps(RECORD, separators=(",", ":"))

_META_FIELDS = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
_BLOOM_FILTER = _record(
    "HoodieMetadataBloomFilter",
    type=TEXT,
    timestamp=TEXT,
    bloomFilter="bytes",
    isDeleted="boolean",
)
_SECONDARY_INDEX = _record("HoodieSecondaryIndexInfo", isDeleted="boolean")


def _stored(statistics: dict[str, Any]) -> dict[str, Any]:
    return _record(
        RECORD["name"],
        **{f"_hoodie_{name}": _optional("string") for name in _META_FIELDS},
        key=TEXT,
        type="int",
        filesystemMetadata=["null", {**_map(_FILE_INFO), "avro.java.string": "String"}],
        BloomFilterMetadata=_optional(_BLOOM_FILTER),
        ColumnStatsMetadata=_optional(statistics),
        recordIndexMetadata=_optional(_RECORD_INDEX),
        SecondaryIndexMetadata=_optional(_SECONDARY_INDEX),
    )


#: Schemas of written records: all fields and attributes of Hudi's, because hudi-rs 0.5.0 merges
#: only files that have the same ones. The first is that of tables before version 9; in later ones
#: statistics may have a type. Further fields are null.
UNTYPED_RECORD = _stored(_statistics(WRAPPERS))
TYPED_RECORD = _stored(_statistics({**WRAPPERS, "ArrayWrapper": None}, valueType=_VALUE_TYPE))
UNTYPED_JSON, TYPED_JSON = (
    json.dumps(record, separators=(",", ":")) for record in (UNTYPED_RECORD, TYPED_RECORD)
)

_INSTANT_INFO = _record("HoodieInstantInfo", commitTime="string", action="string")

#: The instant to roll back, in the request's file.
ROLLBACK_PLAN = _record(
    "HoodieRollbackPlan", instantToRollback=_optional(_INSTANT_INFO), version=_VERSION
)

_ROLLBACK_PARTITION = _record(
    "HoodieRollbackPartitionMetadata",
    partitionPath="string",
    successDeleteFiles=_STRINGS,
    failedDeleteFiles=_STRINGS,
    rollbackLogFiles=_optional(_map("long")),
    logFilesFromFailedCommit=_optional(_map("long")),
)

#: The instants rolled back, in the completed instant's file.
ROLLBACK = _record(
    "HoodieRollbackMetadata",
    startRollbackTime="string",
    timeTakenInMillis="long",
    totalFilesDeleted="int",
    commitsRollback=_STRINGS,
    partitionMetadata=_map(_ROLLBACK_PARTITION),
    version=_VERSION,
    instantsRollback=(_array(_INSTANT_INFO), []),
)

#: The files to delete, in the request's file of a clean.
CLEAN_PLAN = _record(
    "HoodieCleanerPlan",
    earliestInstantToRetain=_optional(_INSTANT_INFO),
    policy="string",
    filesToBeDeletedPerPartition=_optional(_map(_STRINGS)),
    version=_VERSION,
)

_CLEAN_PARTITION = _record(
    "HoodieCleanPartitionMetadata",
    partitionPath="string",
    policy="string",
    deletePathPatterns=_STRINGS,
    successDeleteFiles=_STRINGS,
    failedDeleteFiles=_STRINGS,
)

#: The files deleted, in the completed instant's file.
CLEAN = _record(
    "HoodieCleanMetadata",
    startCleanTime="string",
    timeTakenInMillis="long",
    totalFilesDeleted="int",
    earliestCommitToRetain="string",
    partitionMetadata=_map(_CLEAN_PARTITION),
    version=_VERSION,
)

#: The instants to revert, in the request's file of a restore.
RESTORE_PLAN = _record(
    "HoodieRestorePlan",
    instantsToRollback=(_array(_INSTANT_INFO), []),
    version=_VERSION,
    savepointToRestoreTimestamp=_optional("string"),
)

#: The result of a restore, in the completed instant's file.
RESTORE = _record(
    "HoodieRestoreMetadata",
    startRestoreTime="string",
    timeTakenInMillis="long",
    instantsToRollback=_STRINGS,
    hoodieRestoreMetadata=_map(_array(ROLLBACK)),
    version=_VERSION,
    restoreInstantInfo=(_array(f"{NAMESPACE}.HoodieInstantInfo"), []),
)

_STAT_FIELDS = {
    "string": ("fileId", "path", "prevCommit", "partitionPath"),
    "long": ("numWrites", "numDeletes", "totalWriteBytes", "totalWriteErrors", "fileSizeInBytes"),
}
_WRITE_STAT = _record(
    "HoodieWriteStat",
    **{name: _optional(kind) for kind, names in _STAT_FIELDS.items() for name in names},
)

_COMMIT_FIELDS = {
    "partitionToWriteStats": _optional(_map(_array(_WRITE_STAT))),
    "compacted": _optional("boolean"),
    "extraMetadata": _optional(_map("string")),
    "version": _VERSION,
    "operationType": _optional("string"),
}

#: The changes of an action, in the completed instant's file.
COMMIT = _record("HoodieCommitMetadata", **_COMMIT_FIELDS)
#: The same for an action that replaced file groups, with the replaced ones by partition.
REPLACE_COMMIT = _record(
    "HoodieReplaceCommitMetadata",
    **_COMMIT_FIELDS,
    partitionToReplaceFileIds=_optional(_map(_STRINGS)),
)

_ORDERING_VALUES = [
    _record(name, value=kind) for name, kind in WRAPPERS.items() if name != "LocalDateWrapper"
]
_DELETE_RECORD = _record(
    "HoodieDeleteRecord",
    recordKey=_optional("string"),
    partitionPath=_optional("string"),
    orderingVal=_optional(*_ORDERING_VALUES),
)
#: The deleted keys of a delete block, with their values of the ordering field.
DELETE_LIST = _record("HoodieDeleteRecordList", deleteRecordList=_array(_DELETE_RECORD))
