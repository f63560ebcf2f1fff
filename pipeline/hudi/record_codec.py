"""Encoder and decoder of metadata-table records, by the Avro schema of their file.

Records with this package's schema are decoded by this module, which is faster than fastavro, the
decoder of others.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from fscontract.pipeline.hudi.avro import checked_schema, decode_value, take_bytes, take_long
from fscontract.pipeline.hudi.records import (
    COLUMN_STATS,
    FILES,
    GONE,
    PARTITION_STATS,
    PARTITIONS,
    ColumnStatistics,
    Deleted,
    FileEntry,
    FilesRecord,
    Record,
    are_bounds,
)
from fscontract.pipeline.hudi.schema import NAMESPACE, RECORD, RECORD_JSON, WRAPPERS

_OWN = RECORD_JSON.encode()
#: Maximum bytes of a decimal with 30 digits.
_MAX_DECIMAL = 13
_DAY = 24 * 60 * 60 * 10**6


def encode_record(record: Record) -> bytes:
    """Return a record as Avro, by the schema of this module; empty for a deleted record."""
    import fastavro

    if isinstance(record, Deleted):
        return b""

    datum: dict[str, Any] = {"key": "", "type": record.type}  # the file stores the key
    datum["filesystemMetadata"] = datum["ColumnStatsMetadata"] = None
    if isinstance(record, FilesRecord):
        datum["filesystemMetadata"] = {
            name: {"size": info.size, "isDeleted": info.is_deleted}
            for name, info in record.files.items()
        }
    else:
        datum["ColumnStatsMetadata"] = _statistics_datum(record)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _own_schema(), datum)
    return out.getvalue()


def decoder(schema: bytes | None) -> Callable[[bytes, bytes], Record | None]:
    """Return a decoder of keys and values of a file with this schema.

    The decoder returns None for records of unknown types. Both raise ValueError.
    """
    own = schema in (None, _OWN)
    parsed = checked_schema(_OWN if schema is None else schema, RECORD_JSON)

    def decode(key: bytes, value: bytes) -> Record | None:
        name = key.decode()
        record = decode_own(name, value) if own and value else None
        return _decoded(parsed, name, value) if record is None else record

    return decode


def _decoded(schema: Any, key: str, value: bytes) -> Record | None:
    if not value:
        return Deleted(key)
    try:
        datum: Any = decode_value(value, schema)
    except ValueError as error:
        raise ValueError(f"can't read the record of {key!r}: {error}") from error
    if datum["key"] not in ("", key):
        raise ValueError(f"the record of {key!r} has another key")
    try:
        return _record(key, datum)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"missing field in the record of {key!r}: {error}") from error


def _record(key: str, datum: dict[str, Any]) -> Record | None:
    kind = datum["type"]
    if kind in (PARTITIONS, FILES):
        entries = _plain(datum["filesystemMetadata"]) or {}
        files = {}
        for name, entry in entries.items():
            size, is_deleted = entry["size"], entry["isDeleted"]
            files[name] = GONE if is_deleted else FileEntry(size)
        return FilesRecord(key, files)
    if kind in (COLUMN_STATS, PARTITION_STATS):
        return _decoded_statistics(key, kind, _plain(datum["ColumnStatsMetadata"]))
    return None


def _plain(datum: Any) -> Any:
    """Return the value of a union, without the name of its record."""
    return datum[1] if isinstance(datum, tuple) else datum


def _decoded_statistics(key: str, kind: int, datum: dict[str, Any]) -> ColumnStatistics:
    low, high = datum["minValue"], datum["maxValue"]
    wrapper, minimum, maximum = None, None, None
    if isinstance(low, tuple) and isinstance(high, tuple) and low[0] == high[0]:
        name = str(low[0]).rpartition(".")[2]
        if name in WRAPPERS:
            wrapper = name
            minimum, maximum = (_value(name, bound[1]["value"]) for bound in (low, high))
    if not are_bounds(minimum, maximum):
        wrapper = minimum = maximum = None
    return ColumnStatistics(
        key,
        datum["fileName"] or "",
        datum["columnName"] or "",
        wrapper,
        minimum,
        maximum,
        datum["valueCount"] or None,  # a log stores 0 if it is unknown
        datum["nullCount"],
        datum["totalSize"],
        datum["totalUncompressedSize"],
        datum["isDeleted"],
        datum.get("isTightBound", False),
        kind,
    )


def _value(wrapper: str, value: Any) -> Any:
    """Return the value of a wrapper; raise ValueError if it is out of range."""
    if wrapper == "DecimalWrapper":
        if len(value) > _MAX_DECIMAL:
            raise ValueError(
                f"decimal too large: {len(value)} bytes; must be at most {_MAX_DECIMAL}"
            )
        return Decimal(f"{int.from_bytes(value, 'big', signed=True)}E-15")
    if wrapper == "TimeMicrosWrapper":
        if not 0 <= value < _DAY:
            raise ValueError(f"time of day out of range: {value} microseconds")
        return (datetime.min + timedelta(microseconds=value)).time()
    return value


def _statistics_datum(record: ColumnStatistics) -> dict[str, Any]:
    def wrapped(value: object) -> Any:
        if record.wrapper is None or value is None:
            return None
        return (f"{NAMESPACE}.{record.wrapper}", {"value": value})

    return {
        "fileName": record.file_name,
        "columnName": record.column,
        "minValue": wrapped(record.minimum),
        "maxValue": wrapped(record.maximum),
        "valueCount": record.value_count,
        "nullCount": record.null_count,
        "totalSize": record.total_size,
        "totalUncompressedSize": record.total_uncompressed_size,
        "isDeleted": record.is_deleted,
        "isTightBound": record.is_tight,
    }


@lru_cache(maxsize=1)
def _own_schema() -> Any:
    import fastavro

    return fastavro.parse_schema(RECORD)


def decode_own(key: str, value: bytes) -> FilesRecord | ColumnStatistics | None:
    """Decode a record with the schema of this package; return None for unknown parts.

    Raise ValueError if the record is invalid.
    """
    try:
        if value[0]:  # the record contains its key
            return None
        kind, position = take_long(value, 1)
        if kind in (PARTITIONS, FILES) and value[position] == 2:
            record, position = _files(key, value, position + 1)
            complete = value[position] == 0 and position + 1 == len(value)
        elif kind in (COLUMN_STATS, PARTITION_STATS) and value[position : position + 2] == b"\0\2":
            decoded = _statistics(key, kind, value, position + 2)
            if decoded is None:
                return None
            record, position = decoded
            complete = position == len(value)
        else:
            return None
    except (IndexError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"can't read the record of {key!r}: {error}") from error
    if not complete:
        raise ValueError(f"wrong length of the record of {key!r}")
    return record


def _files(key: str, data: bytes, position: int) -> tuple[FilesRecord | ColumnStatistics, int]:
    files: dict[str, FileEntry] = {}
    while True:
        count, position = take_long(data, position)
        if count == 0:
            return FilesRecord(key, files), position
        if count < 0:  # the size of the block follows
            count = -count
            _, position = take_long(data, position)
        for _ in range(count):
            length, position = take_long(data, position)
            end = position + length
            if length < 0:
                raise IndexError("invalid length of a name")
            name = data[position:end].decode()
            size, position = take_long(data, end)
            files[name] = GONE if data[position] else FileEntry(size)
            position += 1


def _statistics(
    key: str, kind: int, data: bytes, position: int
) -> tuple[FilesRecord | ColumnStatistics, int] | None:
    name, position = _optional_text(data, position)
    column, position = _optional_text(data, position)
    low_kind, position = take_long(data, position)
    if low_kind not in _BOUNDS:
        return None
    low, position = _BOUNDS[low_kind][1](data, position)
    high_kind, position = take_long(data, position)
    if high_kind not in _BOUNDS:
        return None
    high, position = _BOUNDS[high_kind][1](data, position)
    (values, nulls, size, plain), position = _optional_longs(data, position, 4)
    wrapper = _BOUNDS[low_kind][0]
    if low_kind != high_kind or not are_bounds(low, high):
        wrapper = low = high = None
    record = ColumnStatistics(
        key,
        name,
        column,
        wrapper,
        low,
        high,
        values or None,  # a log stores 0 if it is unknown
        nulls,
        size,
        plain,
        data[position] != 0,
        data[position + 1] != 0,
        kind,
    )
    return record, position + 2


def _text(data: bytes, position: int) -> tuple[str, int]:
    raw, position = take_bytes(data, position)
    return raw.decode(), position


def _optional_text(data: bytes, position: int) -> tuple[str, int]:
    return _text(data, position + 1) if _is_there(data, position) else ("", position + 1)


def _optional_longs(data: bytes, position: int, count: int) -> tuple[list[int | None], int]:
    numbers: list[int | None] = []
    for _ in range(count):
        number = None
        if _is_there(data, position):
            number, position = take_long(data, position + 1)
        else:
            position += 1
        numbers.append(number)
    return numbers, position


def _is_there(data: bytes, position: int) -> bool:
    """Return True if a union with null holds a value."""
    if data[position] not in (0, 2):
        raise IndexError("unexpected branch of a union")
    return data[position] == 2


def _fixed(form: str) -> Callable[[bytes, int], tuple[Any, int]]:
    packed = struct.Struct(form)
    return lambda data, position: (packed.unpack_from(data, position)[0], position + packed.size)


_READERS: dict[str, Callable[[bytes, int], tuple[Any, int]]] = {
    "boolean": lambda data, position: (data[position] != 0, position + 1),
    "int": take_long,
    "long": take_long,
    "float": _fixed("<f"),
    "double": _fixed("<d"),
    "bytes": take_bytes,
    "string": _text,
}
#: By the number of the wrapper; fastavro decodes decimals and times.
_BOUNDS: dict[int, tuple[str | None, Callable[[bytes, int], tuple[Any, int]]]] = {
    0: (None, lambda data, position: (None, position)),
    **{
        number: (name, _READERS[kind])
        for number, (name, kind) in enumerate(WRAPPERS.items(), 1)
        if isinstance(kind, str)
    },
}
