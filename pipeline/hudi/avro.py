"""Decoder of Avro files written by other software.

Schemas and sizes are checked before fastavro sees them: a schema is reduced to names and types, and
must agree with the format's own.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES, expanded_bound

#: Maximum encoded bytes of a 64-bit number.
MAX_LONG_BYTES = 10


def take_long(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at a position, and its end; raise IndexError."""
    byte = data[position]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), position + 1
    second = data[position + 1]
    number = byte & 127 | (second & 127) << 7
    if second < 128:
        return (number >> 1) ^ -(number & 1), position + 2
    for index in range(2, MAX_LONG_BYTES):
        byte = data[position + index]
        number |= (byte & 127) << 7 * index
        if byte < 128:
            return (number >> 1) ^ -(number & 1), position + index + 1
    raise IndexError("unterminated number")


def take_bytes(data: bytes, position: int) -> tuple[bytes, int]:
    """Return the length-prefixed bytes at a position, and their end; raise IndexError."""
    length, position = take_long(data, position)
    end = position + length
    if length < 0 or end > len(data):
        raise IndexError("truncated text")
    return data[position:end], end


_MAGIC = b"Obj\x01"
_SYNC = 16
#: For comparison: Hudi's largest schema has 9,000 bytes, 100 types and 8 levels.
_MAX_SCHEMA_BYTES = 256 * 1024
_MAX_TYPES = 4096
_MAX_DEPTH = 32
_MAX_NAME = 1024
_PRIMITIVES = frozenset({"boolean", "int", "long", "float", "double", "bytes", "string"})
_RESERVED = _PRIMITIVES | {"null", "record", "enum", "fixed", "array", "map"}
#: Types whose values are decoded as another type.
_WIDENED = {"long": {"int"}, "double": {"float"}}


def decode_value(value: bytes, schema: Any) -> Any:
    """Decode `value` by a schema of `checked_schema`; raise ValueError.

    In a union, a record is a pair of its name and its fields.
    """
    import fastavro

    file = io.BytesIO(value)
    try:
        datum = fastavro.schemaless_reader(file, schema, None, return_record_name=True)
    except Exception as error:  # any kind, because the bytes may be arbitrary
        raise ValueError(str(error) or type(error).__name__) from error
    if file.tell() != len(value):
        raise ValueError(f"{len(value) - file.tell()} unexpected bytes at the end")
    return datum


def read_one(content: bytes, *allowed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the single record of an Avro file whose schema agrees with one of `allowed`.

    Supported codecs are `null` and `deflate`, which all implementations must support. Raise
    ValueError if the file is invalid.
    """
    try:
        text, data = _only_record(content)
    except IndexError as error:
        raise ValueError("truncated Avro file") from error
    schema = checked_schema(text, *(json.dumps(own) for own in allowed))
    datum: dict[str, Any] = decode_record(data, schema)
    return datum


@lru_cache(maxsize=16)
def data_schema(text: str) -> Any:
    """Return the schema of a table's rows, reduced and parsed by fastavro; raise ValueError."""
    import fastavro

    try:
        return fastavro.parse_schema(_reduced(_parsed(text.encode()))[0])
    except Exception as error:  # any kind, because the schema may be arbitrary
        raise ValueError(f"can't read the Avro schema: {error}") from error


def decode_record(value: bytes, schema: Any) -> Any:
    """Decode `value` by a schema of `data_schema` or `checked_schema`; raise ValueError."""
    return _without_names(decode_value(value, schema))


def _parsed(text: bytes) -> Any:
    if len(text) > _MAX_SCHEMA_BYTES:
        raise ValueError(
            f"Avro schema too large: {len(text)} bytes; must be at most {_MAX_SCHEMA_BYTES}"
        )
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"can't read the Avro schema: {error}") from error


@lru_cache(maxsize=16)
def checked_schema(text: bytes, *allowed: str) -> Any:
    """Return a schema, reduced and parsed by fastavro; raise ValueError if it is not allowed.

    It must agree with one of `allowed`, schemas as JSON: a record with the same name, whose known
    fields have the same types. Further fields are allowed.
    """
    import fastavro

    reduced, names = _reduced(_parsed(text))
    name = reduced.get("name") if isinstance(reduced, dict) else None
    for candidate in allowed:
        own, own_names = _reduced(parse_json(candidate))
        if own["name"] == name:
            _agree(own, reduced, own_names, names, own["name"])
            try:
                return fastavro.parse_schema(reduced)
            except Exception as error:  # any kind, because the schema may be arbitrary
                raise ValueError(f"can't read the Avro schema: {error}") from error
    expected = " or ".join(str(parse_json(candidate)["name"]) for candidate in allowed)
    raise ValueError(f"unexpected Avro schema {name or reduced!r:.60}, expected {expected}")


def _only_record(content: bytes) -> tuple[bytes, bytes]:
    """Return the schema and the bytes of a file's only record; raise IndexError if truncated."""
    if content[: len(_MAGIC)] != _MAGIC:
        raise ValueError("not an Avro file")
    meta, position = _header(content, len(_MAGIC))
    sync = content[position : position + _SYNC]
    count, position = take_long(content, position + _SYNC)
    data, position = take_bytes(content, position)
    if count != 1 or content[position:] != sync or len(sync) != _SYNC:
        raise ValueError("expected an Avro file with one record")
    codec = meta.get(b"avro.codec", b"null")
    if codec == b"deflate":
        data = _inflated(data)
    elif codec != b"null":
        raise ValueError(f"unsupported Avro codec {codec[:20]!r}; must be null or deflate")
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
        inflated = unpacker.decompress(data, bound)
    except zlib.error as error:
        raise ValueError(f"can't decompress: {error}") from error
    if not unpacker.eof:  # some writers leave a part of zlib's checksum after the end
        raise ValueError(f"truncated data, or more than {bound} decompressed bytes")
    return inflated


def _without_names(datum: Any) -> Any:
    """Return a datum with records of unions replaced by their fields."""
    if isinstance(datum, tuple):
        return _without_names(datum[1])
    if isinstance(datum, dict):
        return {key: _without_names(value) for key, value in datum.items()}
    if isinstance(datum, list):
        return [_without_names(element) for element in datum]
    return datum


def _reduced(schema: Any) -> tuple[Any, dict[str, Any]]:
    reducer = _Reducer()
    return reducer.reduce(schema, "", 0), reducer.names


class _Reducer:
    """Copies only the names and types of a schema; raises ValueError for a type not allowed."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._open: set[str] = set()
        self._count = 0
        self._deepest = 0
        self._heights: dict[str, int] = {}

    def reduce(self, kind: Any, namespace: str, depth: int) -> Any:
        """Return a type without attributes that do not affect its values."""
        self._count += 1
        self._descend(depth)
        if isinstance(kind, list):
            return self._union(kind, namespace, depth)
        if isinstance(kind, str):
            return kind if kind in _PRIMITIVES else self._known(kind, namespace, depth)
        if not isinstance(kind, dict):
            raise ValueError(f"invalid Avro type: {type(kind).__name__}")
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
            raise ValueError(
                f"Avro schema too large: over {_MAX_DEPTH} levels or {_MAX_TYPES} types"
            )
        self._deepest = max(self._deepest, depth)

    def _union(self, kinds: list[Any], namespace: str, depth: int) -> list[Any]:
        if not kinds or any(isinstance(branch, list) for branch in kinds):
            raise ValueError("invalid Avro union: must not be empty or contain unions")
        return [
            branch if branch == "null" else self.reduce(branch, namespace, depth + 1)
            for branch in kinds
        ]

    def _known(self, name: str, namespace: str, depth: int) -> str:
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        if full in self._open:
            raise ValueError(f"recursive Avro type {full!r:.200}")
        if full not in self.names:
            reason = "is allowed only in a union" if name == "null" else "is unknown"
            raise ValueError(f"the Avro type {name!r:.200} {reason}")
        self._descend(depth + self._heights[full])
        return full

    def _record(self, kind: dict[str, Any], namespace: str, depth: int) -> dict[str, Any]:
        full = self._new_name(kind, namespace)
        below = full.rpartition(".")[0]
        fields = kind.get("fields")
        if not isinstance(fields, list) or not fields:
            raise ValueError(f"Avro record {full!r} has no fields")
        self._open.add(full)
        outside, self._deepest = self._deepest, depth
        record: dict[str, Any] = {"type": "record", "name": full, "fields": []}
        for entry in fields:
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME:
                raise ValueError(f"Avro record {full!r} has a field without a name")
            field = {"name": name, "type": self.reduce(entry.get("type"), below, depth + 1)}
            record["fields"].append(field | ({"optional": True} if "default" in entry else {}))
        self._open.discard(full)
        self._heights[full] = self._deepest - depth
        self._deepest = max(outside, self._deepest)
        self.names[full] = record
        return record

    def _plain_named(self, kind: dict[str, Any], namespace: str) -> dict[str, Any]:
        full = self._new_name(kind, namespace)
        reduced = {"type": kind["type"], "name": full}
        size, symbols = kind.get("size"), kind.get("symbols")
        if kind["type"] == "fixed" and isinstance(size, int) and 0 < size <= MAX_BLOCK_BYTES:
            reduced["size"] = size
        elif kind["type"] == "enum" and isinstance(symbols, list) and symbols:
            reduced["symbols"] = symbols
        else:
            raise ValueError(f"Avro type {full!r} has no size or no symbols")
        self.names[full], self._heights[full] = reduced, 0
        return reduced

    def _new_name(self, kind: dict[str, Any], namespace: str) -> str:
        name, own = kind.get("name"), kind.get("namespace", namespace)
        if not isinstance(name, str) or not isinstance(own, str) or not name:
            raise ValueError("Avro type without a name")
        full = name if "." in name or not own else f"{own}.{name}"
        if full in {*self.names, *self._open, *_RESERVED} or len(full) > _MAX_NAME:
            raise ValueError(f"duplicate or too long name of an Avro type: {full!r:.200}")
        return full


def _agree(
    own: Any, foreign: Any, own_names: Mapping[str, Any], names: Mapping[str, Any], where: str
) -> None:
    """Raise ValueError if a known type differs from that in a schema.

    A union may have fewer branches, and additional records: wrappers of later versions.
    """
    own = own_names[own] if isinstance(own, str) and own in own_names else own
    foreign = names[foreign] if isinstance(foreign, str) and foreign in names else foreign
    if isinstance(own, list) or isinstance(foreign, list):
        known = {_key(item, own_names): item for item in (own if isinstance(own, list) else [own])}
        for item in foreign if isinstance(foreign, list) else [foreign]:
            key = _key(item, names)
            if key in known:
                _agree(known[key], item, own_names, names, where)
            elif any(key in _WIDENED.get(kind, ()) for kind in known):
                continue
            elif names.get(key, {}).get("type") != "record":
                raise ValueError(f"unexpected Avro type of {where}: union with {key}")
        return
    if _key(own, own_names) != _key(foreign, names):
        if _key(foreign, names) in _WIDENED.get(_key(own, own_names), ()):
            return
        raise ValueError(f"unexpected Avro type of {where}: {_key(foreign, names)}")
    if not isinstance(own, dict):
        return
    for part in own.keys() & {"items", "values"}:
        _agree(own[part], foreign[part], own_names, names, where)
    fields = {item["name"]: item for item in foreign.get("fields", ())}
    for item in own.get("fields", ()):
        at = f"{where}.{item['name']}"
        if item["name"] in fields:
            _agree(item["type"], fields[item["name"]]["type"], own_names, names, at)
        elif "optional" not in item:
            raise ValueError(f"missing in the Avro schema: {at}")


def _key(kind: Any, names: Mapping[str, Any]) -> str:
    """Return the key of a branch of a union."""
    if isinstance(kind, str):
        return kind
    if "name" in kind:
        return str(kind["name"])
    return f"decimal({kind['scale']})" if "scale" in kind else str(kind["type"])
