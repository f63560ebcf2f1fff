"""Avro of records in our own schema, read into what they become without dictionaries between."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from fscontract.pipeline.metadata.payload import (
    COLUMN_STATS,
    FILES,
    GONE,
    PARTITION_STATS,
    PARTITIONS,
    ColumnStatistics,
    FileInfo,
    FilesRecord,
)
from fscontract.pipeline.metadata.schema import WRAPPERS

#: The bytes that a number of 64 bits takes at most.
_MOST_BYTES = 10


def decode_own(key: str, value: bytes) -> FilesRecord | ColumnStatistics | None:
    """A record by the schema of this package; None if it has a part that is not known here.

    ValueError for what is no such record.
    """
    try:
        if value[0]:  # it says its key
            return None
        kind, position = take_long(value, 1)
        if kind in (PARTITIONS, FILES) and value[position] == 2:
            record, position = _files(key, value, position + 1)
            whole = value[position] == 0 and position + 1 == len(value)
        elif kind in (COLUMN_STATS, PARTITION_STATS) and value[position : position + 2] == b"\0\2":
            found = _statistics(key, kind, value, position + 2)
            if found is None:
                return None
            record, position = found
            whole = position == len(value)
        else:
            return None
    except (IndexError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"the record of {key!r} can't be read ({error})") from error
    if not whole:
        raise ValueError(f"the record of {key!r} has another length")
    return record


def _files(key: str, data: bytes, position: int) -> tuple[FilesRecord | ColumnStatistics, int]:
    files: dict[str, FileInfo] = {}
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
                raise IndexError("a name has no length")
            name = data[position:end].decode()
            size, position = take_long(data, end)
            files[name] = GONE if data[position] else FileInfo(size)
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
        values or None,  # none is what a log has of which nothing is known
        nulls,
        size,
        plain,
        data[position] != 0,
        data[position + 1] != 0,
        kind,
    )
    return record, position + 2


def take_long(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at a position, and where it ends; IndexError."""
    byte = data[position]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), position + 1
    second = data[position + 1]
    found = byte & 127 | (second & 127) << 7
    if second < 128:
        return (found >> 1) ^ -(found & 1), position + 2
    for place in range(2, _MOST_BYTES):
        byte = data[position + place]
        found |= (byte & 127) << 7 * place
        if byte < 128:
            return (found >> 1) ^ -(found & 1), position + place + 1
    raise IndexError("a number has no end")


def take_bytes(data: bytes, position: int) -> tuple[bytes, int]:
    """Return the bytes at a position that their length precedes, and their end; IndexError."""
    length, position = take_long(data, position)
    end = position + length
    if length < 0 or end > len(data):
        raise IndexError("a text is cut off")
    return data[position:end], end


def _text(data: bytes, position: int) -> tuple[str, int]:
    found, position = take_bytes(data, position)
    return found.decode(), position


def _optional_text(data: bytes, position: int) -> tuple[str, int]:
    return _text(data, position + 1) if _is_there(data, position) else ("", position + 1)


def _optional_longs(data: bytes, position: int, count: int) -> tuple[list[int | None], int]:
    found: list[int | None] = []
    for _ in range(count):
        number = None
        if _is_there(data, position):
            number, position = take_long(data, position + 1)
        else:
            position += 1
        found.append(number)
    return found, position


def _is_there(data: bytes, position: int) -> bool:
    """Which part of a union with null it is."""
    if data[position] not in (0, 2):
        raise IndexError("a part of another kind")
    return data[position] == 2


def is_nan(value: object) -> bool:
    """Whether a value is no number: no bound of anything."""
    return isinstance(value, float) and math.isnan(value)


def are_bounds(low: object, high: object) -> bool:
    """Whether a smallest and a largest value are both there, and both some value."""
    return not (low is None or high is None or is_nan(low) or is_nan(high))


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
#: Bounds by the number of their wrapper; those of decimals and times are left to fastavro.
_BOUNDS: dict[int, tuple[str | None, Callable[[bytes, int], tuple[Any, int]]]] = {
    0: (None, lambda data, position: (None, position)),
    **{
        number: (name, _READERS[kind])
        for number, (name, kind) in enumerate(WRAPPERS.items(), 1)
        if isinstance(kind, str)
    },
}
