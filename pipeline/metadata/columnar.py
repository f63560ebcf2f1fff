"""Statistics of one column of many files, as columns: what pruning looks through at once.

A base file of the column statistics has them a second time, as Arrow in meta blocks: read so, they
take a tenth of the time that its records take, each of which is an Avro datum of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import groupby, islice
from typing import Any

from fscontract.pipeline.metadata.arrow_stream import read_table
from fscontract.pipeline.metadata.avro import are_bounds
from fscontract.pipeline.metadata.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.metadata.keys import key_partition
from fscontract.pipeline.metadata.payload import ColumnStatistics, Record, Value

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
