"""Blocks, which all of an HFile but its trailer consists of: header, data, checksums."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fscontract.pipeline.metadata.source import Source

Compression: TypeAlias = Literal["none", "gzip"]

DATA = b"DATABLK*"
META = b"METABLKc"
ROOT_INDEX = b"IDXROOT2"
INTERMEDIATE_INDEX = b"IDXINTE2"
LEAF_INDEX = b"IDXLEAF2"
FILE_INFO = b"FILEINF2"

#: Magic, size on disk after the header, size uncompressed, offset of the previous block of the
#: type, type of checksum, bytes of each checksum, size of header and data on disk.
HEADER = struct.Struct(">8siiqBii")
BYTES_PER_CHECKSUM = 16 * 1024
#: Types of checksum; where there is none, zeros stand for it.
_NONE, _CRC32, _CRC32C = 0, 1, 2
#: No block of a file that is of use comes near it; a size above is damage.
MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Block:
    """A block that was read: its magic, its data uncompressed, and its size on disk."""

    magic: bytes
    data: bytes
    size: int


def encode_block(magic: bytes, data: bytes, previous: int, compression: Compression) -> bytes:
    """The bytes of a block with a CRC32C for each 16 KiB; `previous` is an offset, or -1."""
    stored = _compress(data) if compression == "gzip" else data
    size = HEADER.size + len(stored)
    count = -(-size // BYTES_PER_CHECKSUM)
    header = HEADER.pack(
        magic,
        len(stored) + 4 * count,
        len(data),
        previous,
        _CRC32C,
        BYTES_PER_CHECKSUM,
        size,
    )
    body = header + stored
    return body + _checksums(body, _CRC32C, BYTES_PER_CHECKSUM)


def size_on_disk(source: Source, offset: int, header: bytes) -> int:
    """The size of a block with its header and checksums, by its header."""
    if len(header) < HEADER.size:
        raise source.corrupt(offset, "a block's header is cut off")
    size = HEADER.size + int(HEADER.unpack_from(header)[1])
    if not HEADER.size <= size <= MOST_BYTES:
        raise source.corrupt(offset, f"a block of {size} bytes")
    return size


def decode_block(
    source: Source, offset: int, raw: bytes, compression: Compression, *expected: bytes
) -> Block:
    """The block that `raw` consists of; CorruptFileException unless its checksums are right."""
    if len(raw) != size_on_disk(source, offset, raw):
        raise source.corrupt(offset, f"a block of another size than {len(raw)} bytes")
    magic, _, plain, _, kind, unit, with_header = HEADER.unpack_from(raw)
    if kind not in (_NONE, _CRC32, _CRC32C) or unit <= 0:
        raise source.corrupt(offset, f"a checksum of unknown type {kind} for each {unit} bytes")
    count = -(-with_header // unit)
    if not HEADER.size <= with_header or with_header + 4 * count != len(raw):
        raise source.corrupt(offset, f"{count} checksums don't fit a block of {len(raw)} bytes")
    body, sums = raw[:with_header], raw[with_header:]
    if sums != (_checksums(body, kind, unit) if kind != _NONE else bytes(len(sums))):
        raise source.corrupt(offset, "a block's checksum is wrong")
    if magic not in expected:
        raise source.corrupt(offset, f"a block of type {magic!r} where {expected} belongs")
    return Block(magic, _plain(source, offset, body[HEADER.size :], plain, compression), len(raw))


def _plain(source: Source, offset: int, stored: bytes, size: int, how: Compression) -> bytes:
    if how == "none":
        data = stored
    elif not 0 <= size <= MOST_BYTES:
        raise source.corrupt(offset, f"a block of {size} bytes when uncompressed")
    else:
        unpacker = zlib.decompressobj(31)
        try:
            data = unpacker.decompress(stored, size + 1)
        except zlib.error as error:
            raise source.corrupt(offset, f"a block can't be uncompressed ({error})") from error
        if not unpacker.eof or unpacker.unused_data:
            raise source.corrupt(offset, f"a block is not the {size} bytes it says")
    if len(data) != size:
        raise source.corrupt(offset, f"a block of {len(data)} bytes says it has {size}")
    return data


def _compress(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _checksums(body: bytes, kind: int, unit: int) -> bytes:
    parts = [body[start : start + unit] for start in range(0, len(body), unit)]
    if kind == _CRC32:
        sums = [zlib.crc32(part) for part in parts]
    else:
        import google_crc32c

        sums = [google_crc32c.value(part) for part in parts]
    return struct.pack(f">{len(sums)}I", *sums)
