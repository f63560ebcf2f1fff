"""Encoder and decoder of log files: blocks of changes, each with its instant and an HFile."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES, MAX_RATIO, Compression
from fscontract.pipeline.hudi.hfile.reader import HFileReader
from fscontract.pipeline.hudi.hfile.writer import write_hfile
from fscontract.pipeline.hudi.io import CorruptFileException, FileRegion

MAGIC = b"#HUDI#"
_FORMAT_VERSION = 1
#: Block types.
COMMAND, DELETE, HFILE = 0, 1, 4
#: Keys of a block's header.
INSTANT, TARGET, SCHEMA, COMMAND_TYPE = 0, 1, 2, 3
_ROLLBACK = "0"
#: An empty list of deletions: its version, its size, and an empty array as Avro.
_NO_DELETIONS = struct.pack(">ii", 3, 1) + b"\x00"


@dataclass(frozen=True)
class LogBlock:
    """A block: its type, header, content and position in the file."""

    type: int
    header: Mapping[int, str]
    content: bytes
    offset: int = 0


@dataclass(frozen=True)
class Log:
    """The blocks of a log file, and the error of the first incomplete one."""

    path: str
    blocks: tuple[LogBlock, ...]
    torn: CorruptFileException | None


class BytesRegion(FileRegion):
    """Bytes of a file that are in memory."""

    def __init__(self, data: bytes, path: str, start: int = 0) -> None:
        self._data = data
        self.path = path
        self.length = len(data)
        self._start = start

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes of one range."""
        self.check(offset, length)
        return self._data[offset : offset + length]

    def read_many(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of ranges."""
        return [self.read(offset, length) for offset, length in ranges]


def data_block(
    instant: str,
    schema: str,
    entries: Iterable[tuple[bytes, bytes]],
    compression: Compression = "gzip",
    max_block_bytes: int = MAX_BLOCK_BYTES,
) -> LogBlock:
    """Return a block of records sorted by key, encoded by an Avro schema."""
    content = io.BytesIO()
    write_hfile(
        content,
        entries,
        compression=compression,
        info={b"schema": schema.encode()},
        max_block_bytes=max_block_bytes,
    )
    return LogBlock(HFILE, {INSTANT: instant, SCHEMA: schema}, content.getvalue())


def empty_block(instant: str) -> LogBlock:
    """Return a block without deletions, the first block of a file group."""
    return LogBlock(DELETE, {INSTANT: instant}, _NO_DELETIONS)


def rollback_block(instant: str, target: str) -> LogBlock:
    """Return a block that rolls back earlier blocks of the instant `target`."""
    header = {INSTANT: instant, TARGET: target, COMMAND_TYPE: _ROLLBACK}
    return LogBlock(COMMAND, header, b"")


def encode_log(blocks: Iterable[LogBlock]) -> bytes:
    """Return the bytes of a log file."""
    return b"".join(_encode(block) for block in blocks)


def _encode(block: LogBlock) -> bytes:
    header = [struct.pack(">i", len(block.header))]
    for key in sorted(block.header, reverse=True):
        value = block.header[key].encode()
        header.append(struct.pack(">ii", key, len(value)) + value)
    body = struct.pack(">ii", _FORMAT_VERSION, block.type) + b"".join(header)
    body += struct.pack(">q", len(block.content)) + block.content + struct.pack(">i", 0)
    size = len(body) + 8
    return MAGIC + struct.pack(">q", size) + body + struct.pack(">q", len(MAGIC) + size)


def read_log(stream: FSDataInputStream, path: str, length: int) -> Log:
    """Return the blocks of a log file of `length` bytes, with one read.

    An incomplete block ends the file, or is skipped if a complete one follows.
    """
    source = FileRegion(stream, path, length)
    data = source.read(0, length)
    blocks: list[LogBlock] = []
    torn: CorruptFileException | None = None
    position = 0
    while 0 <= position < len(data):
        end = position + 1
        try:
            end = _end_of_block(data, position)
            blocks.append(_decode(data, position, end))
            position = end
        except ValueError as error:
            torn = torn or source.corrupt(position, f"incomplete log block: {error}")
            position = data.find(MAGIC, end)  # the content of a block is read once
    return Log(path, tuple(blocks), torn)


def records_of(
    log: Log, block: LogBlock, max_block_bytes: int = MAX_BLOCK_BYTES
) -> tuple[bytes | None, Iterable[tuple[bytes, bytes]]]:
    """Return the schema and the entries of a block; raise CorruptFileException if it has none.

    All entries together must have at most `max_block_bytes`, because they are held in memory.
    """
    source = BytesRegion(block.content, log.path, block.offset)
    if block.type == HFILE:
        reader = HFileReader(source, max_block_bytes=max_block_bytes)
        size = reader.expanded_size()
        if size > min(max_block_bytes, MAX_RATIO * len(block.content)):
            message = f"log block too large: {size} bytes of entries in {len(block.content)} bytes"
            raise source.corrupt(0, f"{message}; max_block_bytes is {max_block_bytes}")
        schema = reader.info.get(b"schema")
        if schema is None and SCHEMA in block.header:
            schema = block.header[SCHEMA].encode()
        return schema, reader.scan()
    if block.type == DELETE and block.content == _NO_DELETIONS:
        return None, []
    raise source.corrupt(0, f"unexpected type of log block: {block.type}")


def rolled_back(log: Log, block: LogBlock) -> str | None:
    """Return the instant that a block rolls back; None for other blocks."""
    if block.type != COMMAND:
        return None
    target = block.header.get(TARGET)
    if target is None or block.header.get(COMMAND_TYPE) != _ROLLBACK or block.content:
        raise CorruptFileException(log.path, block.offset, "unknown command")
    return target


def _end_of_block(data: bytes, position: int) -> int:
    """Return the end of the block at a position, by both of its sizes; raise ValueError."""
    reader = _ByteReader(data, position, len(data))
    if reader.take(len(MAGIC)) != MAGIC:
        raise ValueError("expected the start of a block")
    size = reader.number(8)
    end = reader.position + size
    if size < 8 or end > len(data):
        raise ValueError(f"size of {size} bytes exceeds the file")
    if int.from_bytes(data[end - 8 : end], "big") != end - 8 - position:
        raise ValueError("its two sizes differ")
    return end


def _decode(data: bytes, position: int, end: int) -> LogBlock:
    """Return the block between two positions; raise ValueError if its parts don't fit."""
    reader = _ByteReader(data, position + len(MAGIC) + 8, end)
    if (version := reader.number(4)) != _FORMAT_VERSION:
        raise ValueError(f"unsupported version {version}")
    kind = reader.number(4)
    header = reader.pairs()
    length = reader.number(8)
    start = reader.position
    reader.skip(length)
    reader.pairs()
    if reader.position != end - 8:
        raise ValueError("the parts don't match the block size")
    return LogBlock(kind, header, data[start : start + length], start)


class _ByteReader:
    """Reads parts of bytes sequentially; raises ValueError at their end."""

    def __init__(self, data: bytes, position: int, end: int) -> None:
        self.data = data
        self.position = position
        self.end = end

    def take(self, count: int) -> bytes:
        self.skip(count)
        return self.data[self.position - count : self.position]

    def skip(self, count: int) -> None:
        if not 0 <= count <= self.end - self.position:
            raise ValueError(f"{count} bytes are missing")
        self.position += count

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def pairs(self) -> dict[int, str]:
        pairs: dict[int, str] = {}
        for _ in range(self.number(4)):
            key = self.number(4)
            pairs[key] = self.take(self.number(4)).decode()
        return pairs
