"""Encoder and decoder of metadata-table records, by the Avro schema of their file.

Records with this package's schema are decoded by this module, which is faster than fastavro, the
decoder of others.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from datetime import datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from fscontract.pipeline.hudi.avro import (
    MAX_LONG_BYTES,
    checked_schema,
    decode_value,
    take_bytes,
    take_long,
)
from fscontract.pipeline.hudi.column_stats import (
    decimal_of,
    digits_of,
    stored_type,
    stored_wrapper,
    typed_wrapper,
)
from fscontract.pipeline.hudi.records import (
    COLUMN_STATS,
    FILES,
    GONE,
    PARTITION_STATS,
    PARTITIONS,
    RECORD_INDEX,
    ColumnStatistics,
    Deleted,
    FileEntry,
    FilesRecord,
    LiveFiles,
    LocationRecord,
    Record,
    ValueType,
    are_bounds,
)
from fscontract.pipeline.hudi.schema import (
    NAMESPACE,
    RECORD_JSON,
    TEXT,
    TYPED_JSON,
    TYPED_RECORD,
    UNTYPED_JSON,
    UNTYPED_RECORD,
    WRAPPERS,
)

#: Schemas of this package, and whether their statistics have a type.
_OWN = {UNTYPED_JSON.encode(): False, TYPED_JSON.encode(): True}
#: Null fields before the key of a record and after its statistics.
_META, _INDEXES = bytes(5), bytes(2)
#: Maximum bytes of a decimal with 30 digits.
_MAX_DECIMAL = 13
_DAY = 24 * 60 * 60 * 10**6
#: Encodings of a file group in the index of records; the index of a UUID without one; 64 bits.
_UUID, _TEXT, _NO_INDEX, _BITS = 0, 1, -1, (1 << 64) - 1
_HEX = "[0-9a-f]"
_UUID_GROUP = re.compile(
    rf"({_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}})(?:-(0|[1-9][0-9]{{0,8}}))?", re.ASCII
)


def encode_record(record: Record, typed: bool = False) -> bytes:
    """Return a record as Avro, by the schema of this module; empty for a deleted record.

    If `typed`, statistics have their type.
    """
    import fastavro

    if isinstance(record, Deleted):
        return b""

    datum: dict[str, Any] = {"key": "", "type": record.type}  # the file stores the key
    datum["filesystemMetadata"] = datum["ColumnStatsMetadata"] = None
    datum["recordIndexMetadata"] = None
    if isinstance(record, FilesRecord):
        datum["filesystemMetadata"] = {
            name: {"size": info.size, "isDeleted": info.is_deleted}
            for name, info in record.files.items()
        }
    elif isinstance(record, LocationRecord):
        datum["recordIndexMetadata"] = _location_datum(record)
    else:
        datum["ColumnStatsMetadata"] = _statistics_datum(record, typed)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _own_schema(typed), datum)
    return out.getvalue()


def decoder(schema: bytes | None) -> Callable[[bytes, bytes], Record | None]:
    """Return a decoder of keys and values of a file with this schema.

    The decoder returns None for records of unknown types. Both raise ValueError.
    """
    if schema is None:
        schema = UNTYPED_JSON.encode()
    typed = _OWN.get(schema)
    parsed = checked_schema(schema, RECORD_JSON)

    def decode(key: bytes, value: bytes) -> Record | None:
        name = key.decode()
        record = decode_own(name, value, typed) if typed is not None and value else None
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
    if kind == RECORD_INDEX:
        return _decoded_location(key, _plain(datum["recordIndexMetadata"]))
    return None


def _decoded_location(key: str, datum: dict[str, Any]) -> LocationRecord:
    """Return a location; a file group is a text, or a UUID and the number behind it."""
    partition, group = datum["partitionName"] or "", datum["fileId"] or ""
    encoding = datum.get("fileIdEncoding", _UUID)
    if encoding == _UUID:
        high, low = (datum[f"fileId{part}Bits"] for part in ("High", "Low"))
        number = (high & _BITS) << 64 | low & _BITS
        suffix = "" if (index := datum["fileIndex"]) == _NO_INDEX else f"-{index}"
        group = f"{UUID(int=number)}{suffix}"
    elif encoding != _TEXT:
        raise ValueError(f"unknown encoding {encoding} of the file group of {key!r}")
    return LocationRecord(key, partition, group, datum["instantTime"])


def _plain(datum: Any) -> Any:
    """Return the value of a union, without the name of its record."""
    return datum[1] if isinstance(datum, tuple) else datum


def _decoded_statistics(key: str, kind: int, datum: dict[str, Any]) -> ColumnStatistics:
    low, high = datum["minValue"], datum["maxValue"]
    wrapper, minimum, maximum = None, None, None
    of_type = _plain(datum.get("valueType"))
    value_type = of_type and ValueType(of_type["typeOrdinal"], of_type["additionalInfo"])
    if isinstance(low, tuple) and isinstance(high, tuple) and low[0] == high[0]:
        name = str(low[0]).rpartition(".")[2]
        if name in WRAPPERS:
            wrapper = typed_wrapper(name, value_type)
            bounds = (low[1]["value"], high[1]["value"])
            minimum, maximum = (_value(name, wrapper, bound, value_type) for bound in bounds)
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
        value_type=value_type,
    )


def _value(stored: str, wrapper: str, value: Any, value_type: ValueType | None) -> Any:
    """Return the value of a wrapper from its stored one; raise ValueError if out of range."""
    if wrapper == "DecimalWrapper":
        if stored != wrapper and value_type is not None:
            return decimal_of(value, value_type)
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


def _statistics_datum(record: ColumnStatistics, typed: bool) -> dict[str, Any]:
    of_type = stored_type(record) if typed else None

    def wrapped(value: object) -> Any:
        if record.wrapper is None or value is None:
            return None
        stored = stored_wrapper(record.wrapper, of_type)
        if of_type is not None and isinstance(value, Decimal):
            value = digits_of(value, of_type)
        elif stored == "LongWrapper" and isinstance(value, time):
            value = _microseconds(value)
        return (f"{NAMESPACE}.{stored}", {"value": value})

    return {
        "fileName": record.file_name,
        "columnName": record.column,
        "minValue": wrapped(record.minimum),
        "maxValue": wrapped(record.maximum),
        # Hudi expects a number, and stores 0 if it is unknown
        "valueCount": record.value_count if record.null_count is None else record.value_count or 0,
        "nullCount": record.null_count,
        "totalSize": record.total_size,
        "totalUncompressedSize": record.total_uncompressed_size,
        "isDeleted": record.is_deleted,
        "isTightBound": record.is_tight,
        "valueType": of_type and {"typeOrdinal": of_type.ordinal, "additionalInfo": of_type.info},
    }


def _location_datum(record: LocationRecord) -> dict[str, Any]:
    """Return a location as Hudi stores it: a UUID and its number, or any other name as text."""
    high, low, number, text, encoding = -1, -1, _NO_INDEX, record.file_group, _TEXT
    if match := _UUID_GROUP.fullmatch(record.file_group):
        high, low = struct.unpack(">qq", UUID(match[1]).bytes)
        number, text, encoding = int(match[2] or _NO_INDEX), "", _UUID
    return {
        "partitionName": record.partition,
        "fileIdHighBits": high,
        "fileIdLowBits": low,
        "fileIndex": number,
        "fileId": text,
        "instantTime": record.milliseconds,
        "fileIdEncoding": encoding,
        "position": None,
    }


def _microseconds(value: time) -> int:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * 10**6 + value.microsecond


@lru_cache(maxsize=2)
def _own_schema(typed: bool) -> Any:
    import fastavro

    return fastavro.parse_schema(TYPED_RECORD if typed else UNTYPED_RECORD)


def decode_own(
    key: str, value: bytes, typed: bool = False
) -> FilesRecord | ColumnStatistics | None:
    """Decode a record with the schema of this package; return None for unknown parts.

    Raise ValueError if the record is invalid.
    """
    try:
        if not value.startswith(_META + b"\0"):  # the record contains its key
            return None
        kind, position = take_long(value, len(_META) + 1)
        if kind in (PARTITIONS, FILES) and value[position] == 2:
            record, position = _files(key, value, position + 1)
            complete = value[position:] == b"\0\0" + _INDEXES
        elif (
            kind in (COLUMN_STATS, PARTITION_STATS) and value[position : position + 3] == b"\0\0\2"
        ):
            decoded = _statistics(key, kind, value, position + 3, typed)
            if decoded is None:
                return None
            record, position = decoded
            complete = value[position:] == _INDEXES
        else:
            return None
    except (IndexError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"can't read the record of {key!r}: {error}") from error
    if not complete:
        raise ValueError(f"wrong length of the record of {key!r}")
    return record


def _files(key: str, data: bytes, position: int) -> tuple[FilesRecord | ColumnStatistics, int]:
    sizes: dict[str, int] = {}
    deleted: set[str] = set()
    text = data.decode("latin-1")
    while True:
        count, position = take_long(data, position)
        if count == 0:
            break
        if count < 0:  # the size of the block follows
            count = -count
            _, position = take_long(data, position)
        position = _take_files(data, text, position, count, sizes, deleted)
    if not deleted:
        return FilesRecord(key, LiveFiles(sizes)), position
    files = {name: GONE if name in deleted else FileEntry(size) for name, size in sizes.items()}
    return FilesRecord(key, files), position


def _take_files(
    data: bytes, text: str, position: int, count: int, sizes: dict[str, int], deleted: set[str]
) -> int:
    """Add `count` files to `sizes` and `deleted`; return their end, or raise IndexError.

    `text` is `data` as Latin-1, whose slices take half the time of decoded bytes. Numbers are
    decoded here, because calls of `take_long` would take a third of the time of a large listing.
    """
    for _ in range(count):
        low = data[position]
        if low >= 128 and (high := data[position + 1]) < 128:
            length = (low - 128 + (high << 7)) >> 1
            position += 2
        else:
            length, position = take_long(data, position)
        if low & 1:
            raise IndexError("invalid length of a name")
        end = position + length
        name = text[position:end]
        if not name.isascii():
            name = data[position:end].decode()
        size = byte = data[end]
        shift = 7
        while byte >= 128:
            end += 1
            byte = data[end]
            size += (byte - 1) << shift
            shift += 7
            if shift > 7 * MAX_LONG_BYTES:
                raise IndexError("unterminated number")
        sizes[name] = (size >> 1) ^ -(size & 1)
        if data[end + 1]:
            deleted.add(name)
        else:
            deleted.discard(name)
        position = end + 2
    return position


def _statistics(
    key: str, kind: int, data: bytes, position: int, typed: bool
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
    wrapper = stored = _BOUNDS[low_kind][0]
    value_type, end = _value_type(data, position + 2) if typed else (None, position + 2)
    if low_kind != high_kind or not are_bounds(low, high):
        wrapper = low = high = None
    elif stored is not None and value_type is not None:
        wrapper = typed_wrapper(stored, value_type)
        low, high = (_value(stored, wrapper, bound, value_type) for bound in (low, high))
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
        value_type=value_type,
    )
    return record, end


def _value_type(data: bytes, position: int) -> tuple[ValueType | None, int]:
    if not _is_there(data, position):
        return None, position + 1
    ordinal, position = take_long(data, position + 1)
    if not _is_there(data, position):
        return ValueType(ordinal), position + 1
    info, position = _text(data, position + 1)
    return ValueType(ordinal, info), position


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
        for number, (name, wrapped) in enumerate(WRAPPERS.items(), 1)
        if isinstance(kind := "string" if wrapped == TEXT else wrapped, str)
    },
}
