"""Column statistics of many files, as columns, and the keys under which they are stored.

A base file of the column statistics has them a second time, as Arrow in meta blocks: read so, they
take a tenth of the time that its records take, each of which is an Avro datum of its own.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby, islice
from typing import Any

from fscontract.pipeline.hudi.arrow_stream import read_table
from fscontract.pipeline.hudi.avro import are_bounds
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.records import NO_PARTITION, ColumnStatistics, Record, Value

_P1, _P2, _P3, _P4, _P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)
_MASK = (1 << 64) - 1


def xxh64(data: bytes, seed: int = 0) -> int:
    """The hash of `data`, of 64 bits, as the algorithm's specification has it."""
    position = 0
    if len(data) >= 32:
        lanes = [seed + _P1 + _P2, seed + _P2, seed, seed - _P1]
        while position + 32 <= len(data):
            for lane in range(4):
                lanes[lane] = _round(lanes[lane], _number(data, position + 8 * lane, 8))
            position += 32
        turns = zip(lanes, (1, 7, 12, 18), strict=True)
        value = sum(_turn(lane, turn) for lane, turn in turns) & _MASK
        for lane_value in lanes:
            value = ((value ^ _round(0, lane_value)) * _P1 + _P4) & _MASK
    else:
        value = (seed + _P5) & _MASK
    value = (value + len(data)) & _MASK
    return _mixed(_rest(value, data, position))


def _rest(value: int, data: bytes, position: int) -> int:
    """`value` with the last bytes of `data`, fewer than 32, put in."""
    while position + 8 <= len(data):
        value = _turn(value ^ _round(0, _number(data, position, 8)), 27) * _P1 + _P4
        position += 8
    if position + 4 <= len(data):
        value = _turn(value ^ _number(data, position, 4) * _P1, 23) * _P2 + _P3
        position += 4
    for byte in data[position:]:
        value = _turn(value ^ byte * _P5, 11) * _P1
    return value & _MASK


def _mixed(value: int) -> int:
    value = (value ^ value >> 33) * _P2 & _MASK
    value = (value ^ value >> 29) * _P3 & _MASK
    return value ^ value >> 32


def _round(lane: int, number: int) -> int:
    return _turn(lane + number * _P2, 31) * _P1 & _MASK


def _turn(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 64 - bits) & _MASK


def _number(data: bytes, position: int, size: int) -> int:
    return int.from_bytes(data[position : position + size], "little")


#: Hudi's seed, a negative number of 32 bits where one of 64 is wanted.
_SEED = 0xFFFFFFFFDABADABA
#: The characters of a hash of 64 bits.
_HASH = 12


def column_prefix(column: str) -> str:
    """What the keys of all statistics of a column begin with."""
    return _hash64(column)


def partition_key(column: str, partition: str) -> str:
    """The key of a partition's statistics, with which those of its files begin."""
    return _hash64(column) + partition_hash(partition)


def partition_hash(partition: str) -> str:
    """What stands for a partition in the keys of the statistics of any column."""
    return _hash64(partition or NO_PARTITION)


def key_partition(key: str) -> str:
    """That part of the key of a file's statistics."""
    return key[_HASH : 2 * _HASH]


def file_key(column: str, partition: str, name: str) -> str:
    """The key of a file's statistics."""
    digest = hashlib.md5(name.encode(), usedforsecurity=False).digest()
    return partition_key(column, partition) + b64encode(digest).decode()


@lru_cache(maxsize=1 << 14)  # of columns and partitions, which the keys of all files have
def _hash64(text: str) -> str:
    return b64encode(xxh64(text.encode(), _SEED).to_bytes(8, "big")).decode()


#: In the notes of a base file: that all its statistics are in its meta blocks, too.
MARK, VERSION = b"fscontract.columns", b"1"
#: How many files' statistics are held before they are packed, and are in a block at most.
MOST_ROWS = 1 << 16

_Count = int | None


@dataclass
class ColumnChunk:
    """Statistics of a column whose bounds all have one type, by column, a row for each file.

    `partitions` are those of the keys, which are hashes. `wrapper` is None, and so are the bounds,
    where nothing is known of them; a row of which nothing at all is known has no counts either.
    """

    wrapper: str | None
    partitions: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    lows: list[Value] = field(default_factory=list)
    highs: list[Value] = field(default_factory=list)
    value_counts: list[_Count] = field(default_factory=list)
    null_counts: list[_Count] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.files)

    def append(self, known: ColumnStatistics) -> None:
        """A file's statistics; what is deleted is not known."""
        bounded = self.wrapper is not None
        self.partitions.append(key_partition(known.key))
        self.files.append(known.file_name)
        self.lows.append(known.minimum if bounded else None)
        self.highs.append(known.maximum if bounded else None)
        self.value_counts.append(None if known.is_deleted else known.value_count or None)
        self.null_counts.append(None if known.is_deleted else known.null_count)


def chunks(records: Iterable[ColumnStatistics]) -> Iterator[ColumnChunk]:
    """Statistics of one column; those of each type in the order of the records."""
    rest = iter(records)
    while some := list(islice(rest, MOST_ROWS)):
        found: dict[str | None, ColumnChunk] = {}
        for known in some:
            wrapper = _wrapper(known)
            if wrapper not in found:
                found[wrapper] = ColumnChunk(wrapper)
            found[wrapper].append(known)
        yield from found.values()


def _wrapper(known: ColumnStatistics) -> str | None:
    """The type of the bounds, None without two bounds that are some."""
    bounded = not known.is_deleted and are_bounds(known.minimum, known.maximum)
    return known.wrapper if bounded else None


def can_pack() -> bool:
    """Whether PyArrow is there, without which there are records alone."""
    return find_spec("pyarrow") is not None


class Packer:
    """Packs the statistics of all columns into blocks, while their records pass by."""

    def __init__(self) -> None:
        self._waiting: list[ColumnStatistics] = []
        self._blocks: list[tuple[bytes, bytes]] = []

    def passing(self, records: Iterable[Record]) -> Iterator[Record]:
        """The same records, those of each column together."""
        for column, group in groupby(records, _column):
            for record in group:
                if isinstance(record, ColumnStatistics):
                    self._waiting.append(record)
                    if len(self._waiting) == MOST_ROWS:
                        self._pack(column)
                yield record
            self._pack(column)

    def blocks(self) -> list[tuple[bytes, bytes]]:
        """Names and contents of the blocks of all that has passed."""
        return self._blocks

    def _pack(self, column: str) -> None:
        for chunk in chunks(self._waiting):
            name = block_prefix(column) + b"%08d" % len(self._blocks)
            self._blocks.append((name, pack(chunk)))
        self._waiting = []


def block_prefix(column: str) -> bytes:
    """What the names of a column's blocks begin with, and those of no other column's."""
    name = column.encode()
    return b"%s:%d:%s:" % (MARK, len(name), name)


def _column(record: Record) -> str:
    return record.column if isinstance(record, ColumnStatistics) else ""


def pack(chunk: ColumnChunk) -> bytes:
    """A chunk as an Arrow stream."""
    import pyarrow as pa

    schema = _arrow_schema(chunk.wrapper)
    columns = [
        pa.array(chunk.partitions, pa.string()).dictionary_encode(),
        *(
            pa.array(values, schema.field(name).type)
            for name, values in (
                ("file", chunk.files),
                ("low", chunk.lows),
                ("high", chunk.highs),
                ("values", chunk.value_counts),
                ("nulls", chunk.null_counts),
            )
        ),
    ]
    marked = schema.with_metadata({"wrapper": chunk.wrapper or ""})
    table = pa.Table.from_arrays(columns, schema=marked)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd" if pa.Codec.is_available("zstd") else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpack(data: bytes, max_bytes: int = MAX_BLOCK_BYTES) -> ColumnChunk:
    """The chunk of an Arrow stream; ValueError for what is none, or has over `max_bytes`."""
    import pyarrow as pa

    try:
        schema = pa.ipc.open_stream(data).schema
        wrapper = (schema.metadata or {}).get(b"wrapper", b"").decode() or None
        table = read_table(data, _arrow_schema(wrapper), MOST_ROWS, max_bytes)
        partitions = table["partition"].combine_chunks()
        if not table.num_rows:
            return ColumnChunk(wrapper)
        names = partitions.dictionary.to_pylist()
        lists = [table[each].to_pylist() for each in ("file", "low", "high", "values", "nulls")]
    except (pa.ArrowException, OSError, ValueError, AttributeError) as error:
        raise ValueError(f"statistics by column can't be read ({error})") from error
    return ColumnChunk(wrapper, [names[each] for each in partitions.indices.to_pylist()], *lists)


def _arrow_schema(wrapper: str | None) -> Any:
    """The columns of a stream whose bounds have a type."""
    import pyarrow as pa

    kind = _arrow_type(wrapper)
    columns = {"partition": pa.dictionary(pa.int32(), pa.string()), "file": pa.string()}
    return pa.schema(
        {**columns, "low": kind, "high": kind, "values": pa.int64(), "nulls": pa.int64()}
    )


def _arrow_type(wrapper: str | None) -> Any:
    import pyarrow as pa

    kinds: dict[str, Callable[[], Any]] = {
        "BooleanWrapper": pa.bool_,
        "IntWrapper": pa.int32,
        "LongWrapper": pa.int64,
        "FloatWrapper": pa.float64,
        "DoubleWrapper": pa.float64,
        "BytesWrapper": pa.binary,
        "StringWrapper": pa.string,
        "DateWrapper": pa.int32,
        "DecimalWrapper": lambda: pa.decimal128(30, 15),
        "TimeMicrosWrapper": lambda: pa.time64("us"),
        "TimestampMicrosWrapper": pa.int64,
        "LocalDateWrapper": pa.int32,
    }
    if wrapper is None:
        return pa.null()
    if wrapper not in kinds:
        raise ValueError(f"bounds of no known type: {wrapper!r}")
    return kinds[wrapper]()
