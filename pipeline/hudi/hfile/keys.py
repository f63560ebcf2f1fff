"""Keys and index entries of HFiles, and variable-length integers of Hadoop and Protobuf."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


def encode_vint(value: int) -> bytes:
    """Encode a number from 0 as Hadoop does: a byte up to 127, else its length and bytes."""
    if value <= 127:
        return bytes([value])
    size = (value.bit_length() + 7) // 8
    return bytes([(-112 - size) & 0xFF]) + value.to_bytes(size, "big")


def decode_vint(data: bytes, position: int) -> tuple[int, int]:
    """Decode Hadoop's number at a position; return it and its end; raise ValueError."""
    if position >= len(data):
        raise ValueError("truncated number")
    first = data[position] - 256 if data[position] > 127 else data[position]
    if first >= -112:
        return first, position + 1
    if first < -120:
        raise ValueError("negative number")
    end = position + 1 - 112 - first
    if end > len(data):
        raise ValueError("truncated number")
    return int.from_bytes(data[position + 1 : end], "big"), end


def encode_varint(value: int) -> bytes:
    """Encode a number from 0 as Protobuf does."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """Decode Protobuf's number at a position; return it and its end; raise ValueError."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ValueError("truncated number")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise ValueError("unterminated number")


def encode_message(fields: Iterable[tuple[int, int | bytes]]) -> bytes:
    """Return a Protobuf message of fields (number, value)."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += encode_varint(number << 3) + encode_varint(value)
        else:
            out += encode_varint(number << 3 | 2) + encode_varint(len(value)) + value
    return bytes(out)


def decode_message(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields (number, value) of a Protobuf message; raise ValueError.

    Only fields with numbers and bytes are supported.
    """
    position = 0
    while position < len(data):
        tag, position = decode_varint(data, position)
        value, position = decode_varint(data, position)
        if tag & 7 == 0:
            yield tag >> 3, value
        elif tag & 7 == 2 and position + value <= len(data):
            yield tag >> 3, data[position : position + value]
            position += value
        else:
            raise ValueError(f"field {tag >> 3} must be a number or bytes")


def delimited(data: bytes, position: int) -> bytes:
    """Return the length-prefixed message at a position; raise ValueError."""
    length, position = decode_varint(data, position)
    if position + length > len(data):
        raise ValueError("truncated message")
    return data[position : position + length]


MAX_KEY_BYTES = 0x7FFF
#: Suffix of a key in HBase: no column family, the latest time, the type Put.
_SUFFIX = b"\x00" + struct.pack(">q", (1 << 63) - 1) + b"\x04"
_LENGTH = struct.Struct(">H")
_SIZES = struct.Struct(">ii")
_WHERE = struct.Struct(">qi")


class IndexEntry(NamedTuple):
    """Location of a block. Keys before it are smaller than `key`, and none in it is."""

    key: bytes
    offset: int
    size: int


def pack_key(text: bytes) -> bytes:
    """Return the encoded key."""
    return _LENGTH.pack(len(text)) + text + _SUFFIX


def unpack_key(packed: bytes) -> bytes:
    """Return the text of an encoded key; raise ValueError."""
    if len(packed) < 2 or len(packed) < 2 + _LENGTH.unpack_from(packed)[0]:
        raise ValueError("truncated key")
    return packed[2 : 2 + _LENGTH.unpack_from(packed)[0]]


def pack_entry(key: bytes, value: bytes) -> bytes:
    """Return one key and its value in a data block."""
    packed = pack_key(key)
    return _SIZES.pack(len(packed), len(value)) + packed + value + b"\x00"


def unpack_entries(data: bytes, versioned: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a data block, each followed by a version, if `versioned`.

    Raise ValueError if they don't fit the block.
    """
    position = 0
    while position < len(data):
        if position + _SIZES.size > len(data):
            raise ValueError("truncated entry")
        key_size, value_size = _SIZES.unpack_from(data, position)
        start = position + _SIZES.size
        middle = start + key_size
        end = middle + value_size
        if key_size < 0 or value_size < 0 or end > len(data):
            raise ValueError("truncated entry")
        yield unpack_key(data[start:middle]), data[middle:end]
        position = end
        if versioned:
            version, position = decode_vint(data, end)
            if version:
                raise ValueError("unexpected version of an entry")


def pack_root(entries: Sequence[tuple[bytes, int, int]]) -> bytes:
    """Return a root index of entries (encoded key, offset, size)."""
    return b"".join(
        _WHERE.pack(offset, size) + encode_vint(len(key)) + key for key, offset, size in entries
    )


def unpack_root(data: bytes, count: int, rest: int = 0) -> list[tuple[bytes, int, int]]:
    """Return the `count` entries of a root index, followed by `rest` bytes; raise ValueError."""
    entries: list[tuple[bytes, int, int]] = []
    position = 0
    while len(entries) < count:
        if position + _WHERE.size > len(data):
            raise ValueError("truncated index entry")
        offset, size = _WHERE.unpack_from(data, position)
        length, start = decode_vint(data, position + _WHERE.size)
        position = start + length
        if length < 0 or position > len(data):
            raise ValueError("truncated index entry")
        entries.append((data[start:position], offset, size))
    if len(data) - position not in (0, rest):
        raise ValueError(f"wrong number of index entries, expected {count}")
    return entries


def unpack_index(data: bytes, count: int, rest: int = 0) -> list[IndexEntry]:
    """Return the entries as `unpack_root`, with decoded keys: the main cost of opening a file."""
    entries: list[IndexEntry] = []
    position, size = 0, len(data)
    for _ in range(count):
        start = position + _WHERE.size
        if start >= size:
            raise ValueError("truncated index entry")
        length, start = (data[start], start + 1) if data[start] < 128 else decode_vint(data, start)
        end = start + length
        text = start + 2 + (data[start] << 8 | data[start + 1]) if start + 2 <= size else end + 1
        if length < 0 or text > end or end > size:
            raise ValueError("truncated index entry")
        entries.append(IndexEntry(data[start + 2 : text], *_WHERE.unpack_from(data, position)))
        position = end
    if size - position not in (0, rest):
        raise ValueError(f"wrong number of index entries, expected {count}")
    return entries


def pack_branch(entries: Sequence[IndexEntry]) -> bytes:
    """Return an index below the root: number of entries, their positions, and the entries."""
    packed = [_WHERE.pack(e.offset, e.size) + pack_key(e.key) for e in entries]
    ends = [0]
    for entry in packed:
        ends.append(ends[-1] + len(entry))
    return struct.pack(f">i{len(ends)}i", len(entries), *ends) + b"".join(packed)


def unpack_branch(data: bytes, max_count: int) -> list[IndexEntry]:
    """Return up to `max_count` entries of an index below the root; raise ValueError."""
    count = int.from_bytes(data[:4], "big")
    start = 8 + 4 * count
    if count > max_count:
        raise ValueError(f"too many blocks in an index: {count}; the file has room for {max_count}")
    if start > len(data):
        raise ValueError("truncated index")
    bounds = struct.unpack_from(f">{count + 1}i", data, 4)
    if bounds[0] != 0 or start + bounds[-1] != len(data):
        raise ValueError("the index does not fit its block")
    entries = []
    for begin, end in pairwise(bounds):
        if end - begin < _WHERE.size:
            raise ValueError("truncated index entry")
        offset, size = _WHERE.unpack_from(data, start + begin)
        key = unpack_key(data[start + begin + _WHERE.size : start + end])
        entries.append(IndexEntry(key, offset, size))
    return entries
