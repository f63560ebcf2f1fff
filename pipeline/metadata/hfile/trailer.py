"""The last 4096 bytes of an HFile, which say where the rest is; and the file's own notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fscontract.pipeline.metadata.hfile.blocks import Compression
from fscontract.pipeline.metadata.hfile.varint import (
    decode_message,
    delimited,
    encode_message,
    encode_varint,
)
from fscontract.pipeline.metadata.source import Source

SIZE = 4096
_MAGIC = b'TRABLK"$'
#: Minor version 3 of major version 3.
_VERSION = b"\x03\x00\x00\x03"
_INFO_MAGIC = b"PBUF"
_COMPARATOR = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"
_CODECS: dict[Compression, int] = {"gzip": 1, "none": 2}
#: The fields of the trailer that a reader goes by, by their number.
_NEEDED = {1, 2, 5, 6, 7, 8, 12}


@dataclass(frozen=True)
class Trailer:
    """Where the parts of a file are, in bytes from its start, and how many entries they have."""

    compression: Compression
    file_info_offset: int
    load_on_open_offset: int
    index_size: int
    total_size: int
    index_count: int
    meta_count: int
    entry_count: int
    levels: int
    first_block: int
    last_block: int

    def encode(self) -> bytes:
        """The trailer's bytes."""
        message = encode_message(
            [
                (1, self.file_info_offset),
                (2, self.load_on_open_offset),
                (3, self.index_size),
                (4, self.total_size),
                (5, self.index_count),
                (6, self.meta_count),
                (7, self.entry_count),
                (8, self.levels),
                (9, self.first_block),
                (10, self.last_block),
                (11, _COMPARATOR),
                (12, _CODECS[self.compression]),
            ]
        )
        content = _MAGIC + encode_varint(len(message)) + message
        return content.ljust(SIZE - len(_VERSION), b"\x00") + _VERSION


def decode_trailer(source: Source, raw: bytes) -> Trailer:
    """The trailer of a file that ends with `raw`; CorruptFileException."""
    offset = source.length - SIZE
    if len(raw) < SIZE or raw[-SIZE : len(_MAGIC) - SIZE] != _MAGIC:
        raise source.corrupt(max(0, offset), "no HFile ends here")
    if raw[-3:] != _VERSION[-3:]:
        version = int.from_bytes(raw[-3:], "big")
        raise source.corrupt(source.length - 3, f"an HFile of version {version}, not 3")
    try:
        fields = dict(decode_message(delimited(raw[-SIZE:-4], len(_MAGIC))))
    except ValueError as error:
        raise source.corrupt(offset, f"the trailer can't be read ({error})") from error
    numbers = {number: value for number, value in fields.items() if isinstance(value, int)}
    if _NEEDED - numbers.keys():
        raise source.corrupt(offset, "the trailer lacks a field")
    codecs = {number: name for name, number in _CODECS.items()}
    if numbers[12] not in codecs:
        raise source.corrupt(offset, f"compression {numbers[12]} is not known")
    rest = (numbers.get(number, 0) for number in range(1, 11))
    return Trailer(codecs[numbers[12]], *rest)


def encode_info(info: Mapping[bytes, bytes]) -> bytes:
    """The data of a file info block."""
    pairs = [(1, encode_message([(1, key), (2, info[key])])) for key in sorted(info)]
    message = encode_message(pairs)
    return _INFO_MAGIC + encode_varint(len(message)) + message


def decode_info(data: bytes) -> dict[bytes, bytes]:
    """What a file info block says, by key; ValueError."""
    if not data.startswith(_INFO_MAGIC):
        raise ValueError("the file info is of another kind")
    info = {}
    for number, pair in decode_message(delimited(data, len(_INFO_MAGIC))):
        if number == 1 and isinstance(pair, bytes):
            fields = dict(decode_message(pair))
            key, value = fields.get(1), fields.get(2)
            if not isinstance(key, bytes) or not isinstance(value, bytes):
                raise ValueError("an entry of the file info lacks its key or its value")
            info[key] = value
    return info
