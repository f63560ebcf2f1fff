"""Encoder and decoder of HFile blocks: header, data and checksums."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fscontract.pipeline.hudi.io import FileRegion

Compression: TypeAlias = Literal["none", "gzip"]

DATA = b"DATABLK*"
META = b"METABLKc"
ROOT_INDEX = b"IDXROOT2"
INTERMEDIATE_INDEX = b"IDXINTE2"
LEAF_INDEX = b"IDXLEAF2"
FILE_INFO = b"FILEINF2"

#: Magic, size on disk after the header, uncompressed size, offset of the previous block of the
#: type, checksum type, bytes per checksum, size of header and data on disk.
HEADER = struct.Struct(">8siiqBii")
BYTES_PER_CHECKSUM = 16 * 1024
#: Checksum types; blocks without checksums have zeros.
_NONE, _CRC32, _CRC32C = 0, 1, 2
#: Default limit for the uncompressed bytes of one block.
MAX_BLOCK_BYTES = 64 * 1024 * 1024
#: Compressed bytes may expand to this size, or by this factor. Bloom filters of few keys shrink to
#: a thousandth, but are small; listings of long names to an eightieth.
_ALWAYS_ALLOWED = 4 * 1024 * 1024
MAX_RATIO = 128
#: With fewer bytes per checksum, the file would consist mainly of checksums.
_MIN_UNIT = 256


@dataclass(frozen=True)
class HFileBlock:
    """A decoded block: its magic, its uncompressed data, and its size on disk."""

    magic: bytes
    data: bytes
    size: int


def encode_block(magic: bytes, data: bytes, previous: int, compression: Compression) -> bytes:
    """Return the bytes of a block with a CRC32C per 16 KiB; `previous` is an offset, or -1."""
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


def expanded_bound(stored: int) -> int:
    """Return the maximum decompressed size of a number of bytes."""
    return max(_ALWAYS_ALLOWED, MAX_RATIO * stored)


def size_on_disk(source: FileRegion, offset: int, header: bytes) -> int:
    """Return the size of a block with header and checksums, from its header."""
    if len(header) < HEADER.size:
        raise source.corrupt(offset, "truncated block header")
    size = HEADER.size + int(HEADER.unpack_from(header)[1])
    if not HEADER.size <= size <= source.length:
        raise source.corrupt(
            offset, f"invalid block size: {size} bytes in a file of {source.length}"
        )
    return size


def decode_block(
    source: FileRegion,
    offset: int,
    raw: bytes,
    compression: Compression,
    *expected: bytes,
    max_bytes: int = MAX_BLOCK_BYTES,
) -> HFileBlock:
    """Decode the block in `raw`, which must have at most `max_bytes` uncompressed.

    Raise CorruptFileException for a wrong checksum, and for a larger size before decompressing.
    """
    if len(raw) != size_on_disk(source, offset, raw):
        raise source.corrupt(offset, f"block size does not match {len(raw)} bytes")
    magic, _, plain, _, kind, unit, with_header = HEADER.unpack_from(raw)
    if kind not in (_NONE, _CRC32, _CRC32C) or unit < _MIN_UNIT:
        raise source.corrupt(
            offset, f"unknown checksum type {kind}, or invalid checksum unit of {unit} bytes"
        )
    count = -(-with_header // unit)
    if not HEADER.size <= with_header or with_header + 4 * count != len(raw):
        raise source.corrupt(offset, f"{count} checksums don't fit a block of {len(raw)} bytes")
    body, sums = raw[:with_header], raw[with_header:]
    if sums != (_checksums(body, kind, unit) if kind != _NONE else bytes(len(sums))):
        raise source.corrupt(offset, "checksum mismatch in a block")
    if magic not in expected:
        raise source.corrupt(offset, f"unexpected block type {magic!r}, expected {expected}")
    stored = body[HEADER.size :]
    if not 0 <= plain <= max_bytes:
        message = f"block too large: {plain} bytes uncompressed; max_block_bytes is {max_bytes}"
        raise source.corrupt(offset, message)
    if plain > expanded_bound(len(stored)):
        message = f"invalid uncompressed size of a block: {plain} bytes from {len(stored)}"
        raise source.corrupt(offset, message)
    return HFileBlock(magic, _plain(source, offset, stored, plain, compression), len(raw))


def _plain(source: FileRegion, offset: int, stored: bytes, size: int, how: Compression) -> bytes:
    if how == "none":
        data = stored
    else:
        unpacker = zlib.decompressobj(31)
        try:
            data = unpacker.decompress(stored, size + 1)
        except zlib.error as error:
            raise source.corrupt(offset, f"can't decompress a block: {error}") from error
        if not unpacker.eof or unpacker.unused_data:
            raise source.corrupt(
                offset, f"decompressed block does not have the declared {size} bytes"
            )
    if len(data) != size:
        raise source.corrupt(offset, f"uncompressed block has {len(data)} bytes, expected {size}")
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
