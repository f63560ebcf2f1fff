"""Writer of HFiles from keys in ascending order."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.hudi.hfile.blocks import (
    DATA,
    FILE_INFO,
    INTERMEDIATE_INDEX,
    LEAF_INDEX,
    MAX_BLOCK_BYTES,
    META,
    ROOT_INDEX,
    Compression,
    encode_block,
)
from fscontract.pipeline.hudi.hfile.keys import (
    MAX_KEY_BYTES,
    IndexEntry,
    pack_branch,
    pack_entry,
    pack_key,
    pack_root,
)
from fscontract.pipeline.hudi.hfile.reader import Trailer, encode_info

BLOCK_SIZE = 16 * 1024
INDEX_SIZE = 128 * 1024


class Sink(Protocol):
    """A destination of bytes."""

    def write(self, data: bytes, /) -> object:
        """Write all of `data`."""


class HFileWriter:
    """Appends keys in ascending order to `sink`, which stays open.

    A data block ends with the entry that reaches `block_size` bytes; an index above `index_size`
    bytes gets another level. `info` is stored unchanged as the file's info.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        compression: Compression = "gzip",
        block_size: int = BLOCK_SIZE,
        index_size: int = INDEX_SIZE,
        info: Mapping[bytes, bytes] | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
    ) -> None:
        self._sink = sink
        self._max_bytes = max_block_bytes
        self._compression = compression
        self._block_size = block_size
        self._index_size = index_size
        self._info = dict(info or {})
        self._position = 0
        self._previous: dict[bytes, int] = {}
        self._plain_size = 0
        self._first: bytes | None = None
        self._last: bytes | None = None
        self._waiting = bytearray()
        self._index: list[IndexEntry] = []
        self._metas: list[tuple[bytes, bytes]] = []
        self._count = self._key_bytes = self._value_bytes = 0

    def append(self, key: bytes, value: bytes) -> None:
        """Add a key larger than all before; raise IllegalArgumentException for any other.

        Also raise it for a value that exceeds the readers' maximum block size.
        """
        if len(key) > MAX_KEY_BYTES:
            raise IllegalArgumentException(
                f"key too long: {len(key)} bytes; must be at most {MAX_KEY_BYTES}"
            )
        if self._last is not None and key <= self._last:
            raise IllegalArgumentException(
                f"keys out of order: {key!r} must be greater than {self._last!r}"
            )
        entry = pack_entry(key, value)
        if len(self._waiting) + len(entry) > self._max_bytes:
            self._end_block()
        if len(entry) > self._max_bytes:
            message = (
                f"value of {key!r:.80} too large: {len(value)} bytes; max_block_bytes is "
                f"{self._max_bytes}"
            )
            raise IllegalArgumentException(message)
        if self._first is None:
            self._first = key
        self._last = key
        self._waiting += entry
        self._count += 1
        self._key_bytes += len(entry) - len(value) - 9
        self._value_bytes += len(value)
        if len(self._waiting) >= self._block_size:
            self._end_block()

    def append_meta(self, name: bytes, content: bytes) -> None:
        """Add a named meta block."""
        self._metas.append((name, content))

    def close(self) -> int:
        """Write the index and the trailer; return the file's size. Does not close the sink."""
        self._end_block()
        metas = sorted((name, *self._write(META, data)) for name, data in self._metas)
        last_block = self._index[-1].offset if self._index else 0
        entries, levels, index_size = self._branches()
        opening = self._position
        root = pack_root([(pack_key(e.key), e.offset, e.size) for e in entries])
        self._write(ROOT_INDEX, root)
        self._write(ROOT_INDEX, pack_root(metas))
        info_offset, _ = self._write(FILE_INFO, encode_info(self._notes()))
        trailer = Trailer(
            self._compression,
            info_offset,
            opening,
            index_size + len(root),
            self._plain_size,
            len(entries),
            len(metas),
            self._count,
            levels,
            0,
            last_block,
        )
        end = trailer.encode()
        self._sink.write(end)
        return self._position + len(end)

    def _end_block(self) -> None:
        if self._first is not None:
            where = self._write(DATA, bytes(self._waiting))
            self._index.append(IndexEntry(self._first, *where))
            self._waiting.clear()
            self._first = None

    def _branches(self) -> tuple[list[IndexEntry], int, int]:
        """Return the root's entries, the number of levels, and the bytes below the root."""
        entries, levels, size, magic = self._index, 1, 0, LEAF_INDEX
        while sum(len(e.key) + 26 for e in entries) > self._index_size and len(entries) > 2:
            above = []
            for group in _groups(entries, self._index_size):
                data = pack_branch(group)
                size += len(data)
                above.append(IndexEntry(group[0].key, *self._write(magic, data)))
            entries, levels, magic = above, levels + 1, INTERMEDIATE_INDEX
        return entries, levels, size

    def _notes(self) -> dict[bytes, bytes]:
        notes = {
            b"KEY_VALUE_VERSION": struct.pack(">i", 1),
            b"MAX_MEMSTORE_TS_KEY": struct.pack(">q", 0),
            b"hfile.AVG_KEY_LEN": struct.pack(">i", self._key_bytes // max(1, self._count)),
            b"hfile.AVG_VALUE_LEN": struct.pack(">i", self._value_bytes // max(1, self._count)),
        }
        if self._last is not None:
            notes[b"hfile.LASTKEY"] = pack_key(self._last)
        return {**notes, **self._info}

    def _write(self, magic: bytes, data: bytes) -> tuple[int, int]:
        """Write a block; return its offset and size."""
        offset = self._position
        block = encode_block(magic, data, self._previous.get(magic, -1), self._compression)
        self._previous[magic] = offset
        self._sink.write(block)
        self._position += len(block)
        self._plain_size += len(data) + 33
        return offset, len(block)


def write_hfile(
    sink: Sink,
    entries: Iterable[tuple[bytes, bytes]],
    *,
    compression: Compression = "gzip",
    info: Mapping[bytes, bytes] | None = None,
    metas: Callable[[], Iterable[tuple[bytes, bytes]]] = tuple,
    max_block_bytes: int = MAX_BLOCK_BYTES,
) -> int:
    """Write a whole file of entries in ascending order of their keys; return its size.

    `metas` is called for names and contents of meta blocks after the last entry.
    """
    writer = HFileWriter(sink, compression=compression, info=info, max_block_bytes=max_block_bytes)
    for key, value in entries:
        writer.append(key, value)
    for name, content in metas():
        writer.append_meta(name, content)
    return writer.close()


def _groups(entries: list[IndexEntry], max_bytes: int) -> list[list[IndexEntry]]:
    """Group entries into runs of at least two, and about `max_bytes` bytes."""
    groups: list[list[IndexEntry]] = [[]]
    size = 0
    for entry in entries:
        if size > max_bytes and len(groups[-1]) > 1:
            groups.append([])
            size = 0
        groups[-1].append(entry)
        size += len(entry.key) + 30
    return groups
