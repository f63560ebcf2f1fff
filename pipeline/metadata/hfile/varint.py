"""Numbers of variable length: Hadoop's in indexes, Protobuf's in file info and trailer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def encode_vint(value: int) -> bytes:
    """A number from 0 as Hadoop writes it: a byte up to 127, else its length and its bytes."""
    if value <= 127:
        return bytes([value])
    size = (value.bit_length() + 7) // 8
    return bytes([(-112 - size) & 0xFF]) + value.to_bytes(size, "big")


def decode_vint(data: bytes, position: int) -> tuple[int, int]:
    """The number at a position as Hadoop writes it, and where it ends; ValueError."""
    if position >= len(data):
        raise ValueError("a number is cut off")
    first = data[position] - 256 if data[position] > 127 else data[position]
    if first >= -112:
        return first, position + 1
    if first < -120:
        raise ValueError("a negative number")
    end = position + 1 - 112 - first
    if end > len(data):
        raise ValueError("a number is cut off")
    return int.from_bytes(data[position + 1 : end], "big"), end


def encode_varint(value: int) -> bytes:
    """A number from 0 as Protobuf writes it."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """The number at a position as Protobuf writes it, and where it ends; ValueError."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ValueError("a number is cut off")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise ValueError("a number has no end")


def encode_message(fields: Iterable[tuple[int, int | bytes]]) -> bytes:
    """A Protobuf message of fields (number, value)."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += encode_varint(number << 3) + encode_varint(value)
        else:
            out += encode_varint(number << 3 | 2) + encode_varint(len(value)) + value
    return bytes(out)


def decode_message(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields (number, value) of a Protobuf message of numbers and bytes; ValueError."""
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
            raise ValueError(f"field {tag >> 3} is not a number, nor bytes")


def delimited(data: bytes, position: int) -> bytes:
    """The message at a position that begins with its length; ValueError."""
    length, position = decode_varint(data, position)
    if position + length > len(data):
        raise ValueError("a message is cut off")
    return data[position : position + length]
