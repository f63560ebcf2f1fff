"""Decode Avro from outside: check schemas and sizes before fastavro sees a file."""

from __future__ import annotations

import io
import json
import math
import struct
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES, expanded_bound
from fscontract.pipeline.hudi.records import (
    COLUMN_STATS,
    FILES,
    GONE,
    PARTITION_STATS,
    PARTITIONS,
    ColumnStatistics,
    FileInfo,
    FilesRecord,
)
from fscontract.pipeline.hudi.schema import WRAPPERS

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


_MAGIC = b"Obj\x01"
_SYNC = 16
#: Hudi's largest schema has 9,000 bytes, 100 types and 8 levels.
_MAX_SCHEMA_BYTES = 256 * 1024
_MAX_TYPES = 4096
_MAX_DEPTH = 32
_MAX_NAME = 1024
_PRIMITIVES = frozenset({"boolean", "int", "long", "float", "double", "bytes", "string"})
_RESERVED = _PRIMITIVES | {"null", "record", "enum", "fixed", "array", "map"}
#: Which types a decoded value of another type may come from.
_WIDENED = {"long": {"int"}, "double": {"float"}}


def decode_value(value: bytes, schema: Any) -> Any:
    """Return the datum in `value` by a schema of `checked_schema`; ValueError.

    In a union a record is a pair of its name and its fields.
    """
    import fastavro

    file = io.BytesIO(value)
    try:
        datum = fastavro.schemaless_reader(file, schema, None, return_record_name=True)
    except Exception as error:  # of any kind, for bytes of any kind
        raise ValueError(str(error) or type(error).__name__) from error
    if file.tell() != len(value):
        raise ValueError(f"{len(value) - file.tell()} bytes are left over")
    return datum


def read_one(content: bytes, *allowed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one record of an Avro file whose schema agrees with one of `allowed`; ValueError.

    Codecs are `null` and `deflate`, which all implementations have to know.
    """
    try:
        text, data = _only_record(content)
    except IndexError as error:
        raise ValueError("the Avro file is cut off") from error
    schema = checked_schema(text, *(json.dumps(each) for each in allowed))
    datum: dict[str, Any] = _without_names(decode_value(data, schema))
    return datum


@lru_cache(maxsize=16)
def checked_schema(text: bytes, *allowed: str) -> Any:
    """Return a schema, reduced and as fastavro wants it; ValueError if it is not allowed.

    It must agree with one of `allowed`, JSON of schemas: be a record of that name, whose fields
    have the same types as far as they are known. Other fields may be there.
    """
    import fastavro

    if len(text) > _MAX_SCHEMA_BYTES:
        raise ValueError(f"an Avro schema of {len(text)} bytes, {_MAX_SCHEMA_BYTES} at most")
    try:
        whole = parse_json(text)
    except ValueError as error:
        raise ValueError(f"the Avro schema can't be read ({error})") from error
    found, names = _reduced(whole)
    name = found.get("name") if isinstance(found, dict) else None
    for each in allowed:
        own, own_names = _reduced(parse_json(each))
        if own["name"] == name:
            _agree(own, found, own_names, names, own["name"])
            try:
                return fastavro.parse_schema(found)
            except Exception as error:  # of any kind, for a schema of any kind
                raise ValueError(f"the Avro schema can't be read ({error})") from error
    wanted = " or ".join(str(parse_json(each)["name"]) for each in allowed)
    raise ValueError(f"an Avro schema of {name or found!r:.60}, expected {wanted}")


def _only_record(content: bytes) -> tuple[bytes, bytes]:
    """The schema's text and the bytes of the only record of a file; IndexError if it ends."""
    if content[: len(_MAGIC)] != _MAGIC:
        raise ValueError("not an Avro file")
    meta, position = _header(content, len(_MAGIC))
    sync = content[position : position + _SYNC]
    count, position = take_long(content, position + _SYNC)
    data, position = take_bytes(content, position)
    if count != 1 or content[position:] != sync or len(sync) != _SYNC:
        raise ValueError("not an Avro file of one record")
    codec = meta.get(b"avro.codec", b"null")
    if codec == b"deflate":
        data = _inflated(data)
    elif codec != b"null":
        raise ValueError(f"compression {codec[:20]!r}, null and deflate are supported")
    return meta.get(b"avro.schema", b""), data


def _header(content: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    meta: dict[bytes, bytes] = {}
    while True:
        count, position = take_long(content, position)
        if not count:
            return meta, position
        if count < 0:  # the size of the block follows
            count = -count
            _, position = take_long(content, position)
        for _ in range(count):
            key, position = take_bytes(content, position)
            meta[key], position = take_bytes(content, position)


def _inflated(data: bytes) -> bytes:
    bound = min(MAX_BLOCK_BYTES, expanded_bound(len(data)))
    unpacker = zlib.decompressobj(-15)
    try:
        found = unpacker.decompress(data, bound)
    except zlib.error as error:
        raise ValueError(f"can't be uncompressed ({error})") from error
    if not unpacker.eof:  # some writers leave a part of zlib's checksum behind the end
        raise ValueError(f"cut off, or more than {bound} bytes uncompressed")
    return found


def _without_names(datum: Any) -> Any:
    """A datum in which records of unions are without their names."""
    if isinstance(datum, tuple):
        return _without_names(datum[1])
    if isinstance(datum, dict):
        return {key: _without_names(value) for key, value in datum.items()}
    if isinstance(datum, list):
        return [_without_names(each) for each in datum]
    return datum


def _reduced(schema: Any) -> tuple[Any, dict[str, Any]]:
    reducer = _Reducer()
    return reducer.reduce(schema, "", 0), reducer.names


class _Reducer:
    """Copies a schema's names and types, and nothing else; ValueError for a type not allowed."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._open: set[str] = set()
        self._count = 0
        self._deepest = 0
        self._heights: dict[str, int] = {}

    def reduce(self, kind: Any, namespace: str, depth: int) -> Any:
        """Return a type without what its values don't depend on."""
        self._count += 1
        self._descend(depth)
        if isinstance(kind, list):
            return self._union(kind, namespace, depth)
        if isinstance(kind, str):
            return kind if kind in _PRIMITIVES else self._known(kind, namespace, depth)
        if not isinstance(kind, dict):
            raise ValueError(f"an Avro type that is {type(kind).__name__}")
        name = kind.get("type")
        if name == "record":
            return self._record(kind, namespace, depth)
        if name in ("enum", "fixed"):
            return self._plain_named(kind, namespace)
        if name == "array":
            return {"type": name, "items": self.reduce(kind.get("items"), namespace, depth + 1)}
        if name == "map":
            return {"type": name, "values": self.reduce(kind.get("values"), namespace, depth + 1)}
        if name == "bytes" and kind.get("logicalType") == "decimal":
            return {"type": name, "scale": kind.get("scale", 0)}
        return self.reduce(name, namespace, depth + 1)

    def _descend(self, depth: int) -> None:
        if depth > _MAX_DEPTH or self._count > _MAX_TYPES:
            raise ValueError(f"an Avro schema of over {_MAX_DEPTH} levels or {_MAX_TYPES} types")
        self._deepest = max(self._deepest, depth)

    def _union(self, kinds: list[Any], namespace: str, depth: int) -> list[Any]:
        if not kinds or any(isinstance(each, list) for each in kinds):
            raise ValueError("an Avro union of unions or of nothing")
        return [
            each if each == "null" else self.reduce(each, namespace, depth + 1) for each in kinds
        ]

    def _known(self, name: str, namespace: str, depth: int) -> str:
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        if full in self._open:
            raise ValueError(f"the Avro type {full!r:.200} contains itself")
        if full not in self.names:
            reason = "takes no bytes outside of a union" if name == "null" else "is not known"
            raise ValueError(f"the Avro type {name!r:.200} {reason}")
        self._descend(depth + self._heights[full])
        return full

    def _record(self, kind: dict[str, Any], namespace: str, depth: int) -> dict[str, Any]:
        full = self._new_name(kind, namespace)
        below = full.rpartition(".")[0]
        fields = kind.get("fields")
        if not isinstance(fields, list) or not fields:
            raise ValueError(f"the Avro record {full!r} has no fields")
        self._open.add(full)
        outside, self._deepest = self._deepest, depth
        made: dict[str, Any] = {"type": "record", "name": full, "fields": []}
        for each in fields:
            name = each.get("name") if isinstance(each, dict) else None
            if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME:
                raise ValueError(f"the Avro record {full!r} has a field without a name")
            field = {"name": name, "type": self.reduce(each.get("type"), below, depth + 1)}
            made["fields"].append(field | ({"optional": True} if "default" in each else {}))
        self._open.discard(full)
        self._heights[full] = self._deepest - depth
        self._deepest = max(outside, self._deepest)
        self.names[full] = made
        return made

    def _plain_named(self, kind: dict[str, Any], namespace: str) -> dict[str, Any]:
        full = self._new_name(kind, namespace)
        made = {"type": kind["type"], "name": full}
        size, symbols = kind.get("size"), kind.get("symbols")
        if kind["type"] == "fixed" and isinstance(size, int) and 0 < size <= MAX_BLOCK_BYTES:
            made["size"] = size
        elif kind["type"] == "enum" and isinstance(symbols, list) and symbols:
            made["symbols"] = symbols
        else:
            raise ValueError(f"the Avro type {full!r} has no size or no symbols")
        self.names[full], self._heights[full] = made, 0
        return made

    def _new_name(self, kind: dict[str, Any], namespace: str) -> str:
        name, own = kind.get("name"), kind.get("namespace", namespace)
        if not isinstance(name, str) or not isinstance(own, str) or not name:
            raise ValueError("an Avro type without a name")
        full = name if "." in name or not own else f"{own}.{name}"
        if full in {*self.names, *self._open, *_RESERVED} or len(full) > _MAX_NAME:
            raise ValueError(f"the Avro type {full!r:.200} has a name that is taken or too long")
        return full


def _agree(
    own: Any, found: Any, own_names: Mapping[str, Any], names: Mapping[str, Any], where: str
) -> None:
    """ValueError if a type that the format has is another one in a schema.

    A union may have fewer branches, and records as further ones: wrappers that came later.
    """
    own = own_names[own] if isinstance(own, str) and own in own_names else own
    found = names[found] if isinstance(found, str) and found in names else found
    if isinstance(own, list) or isinstance(found, list):
        known = {_key(each, own_names): each for each in (own if isinstance(own, list) else [own])}
        for each in found if isinstance(found, list) else [found]:
            key = _key(each, names)
            if key in known:
                _agree(known[key], each, own_names, names, where)
            elif any(key in _WIDENED.get(kind, ()) for kind in known):
                continue
            elif names.get(key, {}).get("type") != "record":
                raise ValueError(f"the Avro type of {where} may be {key}")
        return
    if _key(own, own_names) != _key(found, names):
        if _key(found, names) in _WIDENED.get(_key(own, own_names), ()):
            return
        raise ValueError(f"the Avro type of {where} is {_key(found, names)}")
    if not isinstance(own, dict):
        return
    for part in own.keys() & {"items", "values"}:
        _agree(own[part], found[part], own_names, names, where)
    fields = {each["name"]: each for each in found.get("fields", ())}
    for each in own.get("fields", ()):
        at = f"{where}.{each['name']}"
        if each["name"] in fields:
            _agree(each["type"], fields[each["name"]]["type"], own_names, names, at)
        elif "optional" not in each:
            raise ValueError(f"the Avro schema lacks {at}")


def _key(kind: Any, names: Mapping[str, Any]) -> str:
    """What a branch of a union is told from others by."""
    if isinstance(kind, str):
        return kind
    if "name" in kind:
        return str(kind["name"])
    return f"decimal({kind['scale']})" if "scale" in kind else str(kind["type"])
