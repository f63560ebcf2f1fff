"""Reader of HFiles: the index in one read, then one read per block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from fscontract.pipeline.hudi.hfile.blocks import (
    DATA,
    FILE_INFO,
    HEADER,
    INTERMEDIATE_INDEX,
    LEAF_INDEX,
    MAX_BLOCK_BYTES,
    META,
    ROOT_INDEX,
    Compression,
    HFileBlock,
    decode_block,
    size_on_disk,
)
from fscontract.pipeline.hudi.hfile.keys import (
    IndexEntry,
    decode_message,
    delimited,
    encode_message,
    encode_varint,
    unpack_branch,
    unpack_entries,
    unpack_index,
    unpack_root,
)
from fscontract.pipeline.hudi.io import FileRegion

SIZE = 4096
_MAGIC = b'TRABLK"$'
#: Minor version 3 of major version 3.
_VERSION = b"\x03\x00\x00\x03"
_INFO_MAGIC = b"PBUF"
_COMPARATOR = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"
_CODECS: dict[Compression, int] = {"gzip": 1, "none": 2}
#: Numbers of the trailer's fields that a reader requires.
_NEEDED = {1, 2, 5, 6, 7, 8, 12}


@dataclass(frozen=True)
class Trailer:
    """Offsets of the parts of a file in bytes, and their numbers of entries."""

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
        """Return the trailer's bytes."""
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


def decode_trailer(source: FileRegion, raw: bytes) -> Trailer:
    """Return the trailer of a file that ends with `raw`; raise CorruptFileException."""
    offset = source.length - SIZE
    if len(raw) < SIZE or raw[-SIZE : len(_MAGIC) - SIZE] != _MAGIC:
        raise source.corrupt(max(0, offset), "not an HFile: wrong magic bytes at the end")
    if raw[-3:] != _VERSION[-3:]:
        version = int.from_bytes(raw[-3:], "big")
        raise source.corrupt(source.length - 3, f"unsupported HFile version {version}, expected 3")
    try:
        fields = dict(decode_message(delimited(raw[-SIZE:-4], len(_MAGIC))))
    except ValueError as error:
        raise source.corrupt(offset, f"can't read the trailer: {error}") from error
    numbers = {number: value for number, value in fields.items() if isinstance(value, int)}
    if _NEEDED - numbers.keys():
        raise source.corrupt(offset, "missing field in the trailer")
    codecs = {number: name for name, number in _CODECS.items()}
    if numbers[12] not in codecs:
        raise source.corrupt(offset, f"unknown compression {numbers[12]}")
    rest = (numbers.get(number, 0) for number in range(1, 11))
    return Trailer(codecs[numbers[12]], *rest)


def encode_info(info: Mapping[bytes, bytes]) -> bytes:
    """Return the data of a file info block."""
    pairs = [(1, encode_message([(1, key), (2, info[key])])) for key in sorted(info)]
    message = encode_message(pairs)
    return _INFO_MAGIC + encode_varint(len(message)) + message


def decode_info(data: bytes) -> dict[bytes, bytes]:
    """Return the entries of a file info block by key; raise ValueError."""
    if not data.startswith(_INFO_MAGIC):
        raise ValueError("unknown format of the file info")
    info = {}
    for number, pair in decode_message(delimited(data, len(_INFO_MAGIC))):
        if number == 1 and isinstance(pair, bytes):
            fields = dict(decode_message(pair))
            key, value = fields.get(1), fields.get(2)
            if not isinstance(key, bytes) or not isinstance(value, bytes):
                raise ValueError("missing key or value in an entry of the file info")
            info[key] = value
    return info


#: Number of bytes at a file's end that are read on open.
TAIL = 64 * 1024
#: Maximum bytes of blocks that a scan holds, unless a block is larger.
BATCH = 1024 * 1024
_MAX_LEVELS = 8
#: Maximum bytes of a file info block, which contains the schema.
_MAX_INFO_BYTES = 1024 * 1024
#: Size of the file's midpoint, which HBase stores after the root of a multi-level index.
_MIDDLE = 16

T = TypeVar("T")


class HFileReader:
    """A sorted file of keys and values; opening it takes one positioned read, a lookup another.

    An index larger than `tail` bytes takes a second read, and a multi-level index one read per
    level, once. Every block is checked against its checksums. Raise CorruptFileException for
    damage, and for a block of more than `max_block_bytes` uncompressed bytes before decompressing
    it. Thread-safe.
    """

    def __init__(
        self, source: FileRegion, tail: int = TAIL, max_block_bytes: int = MAX_BLOCK_BYTES
    ) -> None:
        self._source = source
        self._max_bytes = max_block_bytes
        self._end = b""
        self._end_offset = source.length
        self._load(source.length - min(source.length, max(tail, SIZE)))
        self._trailer = decode_trailer(source, self._end)
        self._check_opening()
        self._load(self._trailer.load_on_open_offset)
        entries, meta = self._read_opening()
        self._check_places(sorted((offset, size) for _, offset, size in meta))
        self._meta = {key: (offset, size) for key, offset, size in meta}
        self._index = self._data_index(entries)
        self._keys = [entry.key for entry in self._index]
        self._versioned = self._info.get(b"KEY_VALUE_VERSION", b"")[-1:] == b"\x01"
        if self._info.get(b"MAX_MEMSTORE_TS_KEY", b"").strip(b"\x00"):
            raise source.corrupt(self._trailer.file_info_offset, "unexpected versions of entries")
        self._end = b""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._source.path!r}, entries={self.entry_count})"

    @property
    def info(self) -> Mapping[bytes, bytes]:
        """Info entries of the file, such as its Avro schema at b"schema"."""
        return self._info

    def expanded_size(self) -> int:
        """Return the uncompressed bytes of the data blocks, from their headers.

        This reads the whole file; use it for files in memory.
        """
        places = [(entry.offset, HEADER.size) for entry in self._index]
        headers = self._source.read_many(places)
        return sum(max(0, HEADER.unpack(header)[2]) for header in headers)

    @property
    def entry_count(self) -> int:
        """Number of entries according to the trailer."""
        return self._trailer.entry_count

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of existing keys, with one vectored read."""
        key_set = set(keys)
        places = sorted({bisect_right(self._keys, key) - 1 for key in key_set} - {-1})
        values: dict[bytes, bytes] = {}
        for batch in self._batches([self._index[index] for index in places]):
            for data in batch:
                values.update((key, value) for key, value in data if key in key_set)
        return values

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries whose key begins with `prefix`, in order; holds a batch of blocks."""
        first = max(0, bisect_right(self._keys, prefix) - 1) if prefix else 0
        last = len(self._keys)
        if prefix and (after := _after(prefix)) is not None:
            last = bisect_right(self._keys, after)
        count = 0
        for batch in self._batches(self._index[first:last]):
            for data in batch:
                for key, value in data:
                    count += 1
                    if key.startswith(prefix):
                        yield key, value
        if not prefix and count != self.entry_count:
            message = f"got {count} entries, expected {self.entry_count}"
            raise self._source.corrupt(self._source.length - SIZE, message)

    def meta(self, name: bytes) -> bytes | None:
        """Return the content of a meta block, or None."""
        if name not in self._meta:
            return None
        offset, size = self._meta[name]
        return self._block(offset, self._source.read(offset, size), META).data

    def metas(self, prefix: bytes, parse: Callable[[bytes], T]) -> Iterator[T]:
        """Yield the parsed meta blocks whose name begins with `prefix`, in order of names.

        One vectored read fetches them; a block for which `parse` raises ValueError is damaged.
        """
        places = [self._meta[name] for name in sorted(self._meta) if name.startswith(prefix)]
        for (offset, _), raw in zip(places, self._source.read_many(places), strict=True):
            yield self._parsed(offset, parse, self._block(offset, raw, META).data)

    def _check_opening(self) -> None:
        """Raise CorruptFileException if the parts read on open do not fit the file's length."""
        trailer, length = self._trailer, self._source.length
        offset, size = trailer.load_on_open_offset, length - trailer.load_on_open_offset
        if size > SIZE + 3 * self._max_bytes:
            message = f"too many bytes to load: {size}; max_block_bytes is {self._max_bytes}"
            raise self._source.corrupt(offset, message)
        if max(trailer.index_count, trailer.meta_count) > length // HEADER.size:
            count = max(trailer.index_count, trailer.meta_count)
            raise self._source.corrupt(
                length - SIZE, f"too many blocks: {count} in a file of {length} bytes"
            )

    def _check_places(self, places: Iterable[tuple[int, int]]) -> None:
        """Raise CorruptFileException unless blocks (offset, size) follow each other in the file.

        This limits the size of all blocks of an index to that of the file.
        """
        end = 0
        for offset, size in places:
            if offset < end or size < HEADER.size:
                where = max(0, min(offset, self._source.length))
                message = f"block of {size} bytes overlaps another one that ends at {end}"
                raise self._source.corrupt(where, message)
            end = offset + size
        self._source.check(0, end)

    def _load(self, start: int) -> None:
        """Load the file from `start` on into memory."""
        if start < self._end_offset:
            missing = self._source.read(start, self._end_offset - start)
            self._end, self._end_offset = missing + self._end, start

    def _read_opening(self) -> tuple[list[IndexEntry], list[tuple[bytes, int, int]]]:
        """Read the indexes of data blocks and meta blocks, and the file info after them."""
        trailer = self._trailer
        offset = trailer.load_on_open_offset
        blocks: list[HFileBlock] = []
        for magic in (ROOT_INDEX, ROOT_INDEX, FILE_INFO):
            begin = offset - self._end_offset
            size = size_on_disk(self._source, offset, self._end[begin : begin + HEADER.size])
            if magic == FILE_INFO and offset != trailer.file_info_offset:
                raise self._source.corrupt(offset, "unexpected position of the file info")
            if offset + size > self._source.length - SIZE:
                raise self._source.corrupt(offset, "a block overlaps the trailer")
            blocks.append(self._block(offset, self._end[begin : begin + size], magic))
            offset += size
        start = trailer.load_on_open_offset
        self._info = self._parsed(trailer.file_info_offset, decode_info, blocks[2].data)
        rest = _MIDDLE if trailer.levels > 1 else 0
        root = self._parsed(
            start, lambda data: unpack_index(data, trailer.index_count, rest), blocks[0].data
        )
        meta = self._parsed(
            start, lambda data: unpack_root(data, trailer.meta_count), blocks[1].data
        )
        return root, meta

    def _data_index(self, entries: list[IndexEntry]) -> list[IndexEntry]:
        """Return the entries of data blocks, read level by level."""
        levels = self._trailer.levels
        if not 1 <= levels <= _MAX_LEVELS:
            raise self._source.corrupt(
                self._source.length - SIZE, f"too many index levels: {levels}"
            )
        max_count = self._source.length // HEADER.size
        self._check_places((e.offset, e.size) for e in entries)
        for _ in range(levels - 1):
            below: list[IndexEntry] = []
            raws = self._source.read_many([(e.offset, e.size) for e in entries])
            for entry, raw in zip(entries, raws, strict=True):
                block = self._block(entry.offset, raw, LEAF_INDEX, INTERMEDIATE_INDEX)
                unpacked = partial(unpack_branch, max_count=max_count - len(below))
                below += self._parsed(entry.offset, unpacked, block.data)
            entries = below
            self._check_places((e.offset, e.size) for e in entries)
        return entries

    def _batches(
        self, entries: list[IndexEntry]
    ) -> Iterator[Iterator[Iterator[tuple[bytes, bytes]]]]:
        position = 0
        while position < len(entries):
            end, size = position, 0
            while end < len(entries) and (end == position or size + entries[end].size <= BATCH):
                size += entries[end].size
                end += 1
            yield self._decoded(entries[position:end])
            position = end

    def _decoded(self, entries: list[IndexEntry]) -> Iterator[Iterator[tuple[bytes, bytes]]]:
        raws = self._source.read_many([(e.offset, e.size) for e in entries])
        for entry, raw in zip(entries, raws, strict=True):
            yield self._entries(entry.offset, self._block(entry.offset, raw, DATA).data)

    def _entries(self, offset: int, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        try:
            yield from unpack_entries(data, self._versioned)
        except ValueError as error:
            raise self._source.corrupt(offset, str(error)) from error

    def _block(self, offset: int, raw: bytes, *expected: bytes) -> HFileBlock:
        how = self._trailer.compression
        bound = min(self._max_bytes, _MAX_INFO_BYTES if FILE_INFO in expected else self._max_bytes)
        return decode_block(self._source, offset, raw, how, *expected, max_bytes=bound)

    def _parsed(self, offset: int, parse: Callable[[bytes], T], data: bytes) -> T:
        try:
            return parse(data)
        except ValueError as error:
            raise self._source.corrupt(offset, str(error)) from error


def _after(prefix: bytes) -> bytes | None:
    """Return the smallest key above all keys with `prefix`; None if there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
