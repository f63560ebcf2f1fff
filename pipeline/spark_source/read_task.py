"""Reading of records in a task, as Arrow batches in the requested schema."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.spark.executor_reads import FILESYSTEMS, settle_down
from fscontract.implementations.spark.locations import FileLocation
from fscontract.pipeline.blockreader.batches import PiecesBatch, RecordBatch, RegionBatch
from fscontract.pipeline.blockreader.contexts import FileReaderContext, PiecesReaderContext
from fscontract.pipeline.blockreader.lines import RegionReaderContext
from fscontract.pipeline.blockreader.readers import Counters, FSBlockReader, as_bytes
from fscontract.pipeline.blockreader.source import BlockReadException, RecordTooLongException
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.filters import Condition
from fscontract.pipeline.spark_source.options import COLUMNS
from fscontract.pipeline.spark_source.planning import (
    BlockRun,
    BlocksPartition,
    report_planning,
)
from fscontract.pipeline.spark_source.request import ReadRequest

#: Batches are combined up to this number of rows, or bytes.
MAX_ROWS = 1 << 16
MAX_BYTES = 1 << 18
#: Maximum bytes of a value.
LONGEST = (1 << 31) - 1


class RecordColumns:
    """Converts records to Arrow batches with these columns; conditions exclude rows."""

    def __init__(
        self, names: Sequence[str], binary: bool, nullable: Sequence[bool], conditions: Any = ()
    ) -> None:
        value = pa.binary() if binary else pa.string()
        types = {"value": value, "path": pa.string(), "block_id": pa.int64(), "offset": pa.int64()}
        fields = [pa.field(n, types[n], null) for n, null in zip(names, nullable, strict=True)]
        self.schema = pa.schema(fields)
        self._value = value
        self._names = tuple(names)
        self._rows: list[Condition] = [c for c in conditions if c.column in ("value", "offset")]

    def of(self, batch: RecordBatch, block: FileBlockMetadata) -> Any:
        """Return the columns of records of a block."""
        arrays_by_name: dict[str, Any] = {}
        if "value" in self._names or "offset" in self._names:
            _check_length(batch, block)
            arrays_by_name["value"] = values = _values(batch, self._value)
        count = len(batch)
        if not self._names:
            return without_columns(count)
        if "offset" in self._names:
            arrays_by_name["offset"] = _offsets(batch, values)
        if "path" in self._names:
            arrays_by_name["path"] = pa.repeat(pa.scalar(block.file_path, pa.string()), count)
        if "block_id" in self._names:
            arrays_by_name["block_id"] = pa.repeat(pa.scalar(block.block_id, pa.int64()), count)
        arrays = [arrays_by_name[name] for name in self._names]
        rows = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        for condition in self._rows:
            rows = rows.filter(condition.mask(rows.column(condition.column)))
        return rows


def together(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Yield the same rows in larger batches, none of them empty."""
    waiting: list[Any] = []
    rows = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= MAX_ROWS or size >= MAX_BYTES:
            yield _joined(waiting, schema)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield _joined(waiting, schema)


def without_columns(count: int) -> Any:
    """Return a batch of `count` rows without columns."""
    return pa.RecordBatch.from_arrays([pa.nulls(count)], ["none"]).select([])


def _joined(batches: list[Any], schema: Any) -> Any:
    if len(batches) == 1:
        return batches[0]
    if not schema.names:
        return without_columns(sum(batch.num_rows for batch in batches))
    parts = zip(*(batch.columns for batch in batches), strict=True)
    arrays = [pa.concat_arrays(list(part)) for part in parts]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _check_length(batch: RecordBatch, block: FileBlockMetadata) -> None:
    """Raise RecordTooLongException for a record over Arrow's limit, alone in its batch."""
    if batch.used_bytes > LONGEST and len(batch.records[0]) > LONGEST:
        reason = f"record exceeds {LONGEST} bytes; truncate it with option 'maxRecordLength'"
        raise RecordTooLongException(block.file_path, block.block_id, batch.start, reason)


def _values(batch: RecordBatch, kind: Any) -> Any:
    """Return the records as an array; the bytes are not validated, whatever the type."""
    if isinstance(batch, RegionBatch):
        return _split(batch, kind)
    if isinstance(batch, PiecesBatch):
        size = len(batch.data)
        return _array([*range(0, size, batch.length), size], batch.data, kind)
    if len(batch.records) == 1:
        return _array([0, len(batch.records[0])], batch.records[0], kind)
    values = pa.array(batch.records, pa.binary())
    return pa.Array.from_buffers(kind, len(values), values.buffers(), offset=values.offset)


def _split(batch: RegionBatch, kind: Any) -> Any:
    """Split the whole region at once; nothing follows the last delimiter."""
    bounds = [batch.first, batch.stop - len(batch.delimiter)]
    values = pc.split_pattern(_array(bounds, batch.data, kind), pattern=batch.delimiter).values
    batch.count = len(values)
    return values


def _array(offsets: Sequence[int], data: bytes, kind: Any) -> Any:
    """Return the values in `data` between these offsets, without copying."""
    bounds = pa.py_buffer(array("i", offsets))
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, bounds, pa.py_buffer(data)])


def _offsets(batch: RecordBatch, values: Any) -> Any:
    """Return the start of each record in the file."""
    count = len(batch)
    if not isinstance(batch, RegionBatch):
        return pa.array(batch.offsets, pa.int64())
    starts = pa.Array.from_buffers(pa.int32(), count, [None, values.buffers()[1]])
    before = pc.cumulative_sum(pa.repeat(pa.scalar(len(batch.delimiter), pa.int64()), count))
    base = batch.start - len(batch.delimiter)
    return pc.add(pc.add(starts.cast(pa.int64()), before), pa.scalar(base, pa.int64()))


@dataclass(frozen=True)
class ReadPlan:
    """Settings of a task, without its blocks; sent to each task."""

    location: FileLocation
    values: Mapping[str, Any]
    delimiter: bytes | None
    compression: str | None
    columns: tuple[str, ...]
    nullable: tuple[bool, ...]
    binary: bool
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(
        cls, request: ReadRequest, columns: Sequence[str], nullable: Sequence[bool], binary: bool
    ) -> ReadPlan:
        """Return the plan for these columns."""
        return cls(
            request.location,
            request.values,
            request.delimiter,
            request.compression,
            tuple(columns),
            tuple(nullable),
            binary,
        )

    def context(self) -> FileReaderContext:
        """Return the context that finds the records."""
        values = self.values
        common = {"buffer_size": values["bufferSize"], "compression": self.compression}
        if values["reader"] == "slices":
            return PiecesReaderContext(values["sliceSize"], **common)
        common["data_offset"] = values["dataOffset"]
        if values["recordLength"] is not None:
            return PiecesReaderContext(values["recordLength"], aligned=True, **common)
        return RegionReaderContext(
            self.delimiter,
            max_record_length=values["maxRecordLength"],
            on_too_long=values["onTooLong"],
            drop_blank=values["dropBlank"],
            strip_bom=values["stripBom"],
            **common,
        )


def read_partition(plan: ReadPlan, partition: Any, report: Any) -> Iterator[Any]:
    """Yield the rows of a partition; none for the placeholder of an empty plan."""
    if isinstance(partition, BlocksPartition):
        report_planning(partition, report)
        yield from read_runs(plan, partition.runs, report)
        settle_down()


def read_runs(plan: ReadPlan, runs: Sequence[BlockRun], report: Any = None) -> Iterator[Any]:
    """Yield the rows of blocks as Arrow batches; finally call `report` with the counters."""

    columns = RecordColumns(plan.columns, plan.binary, plan.nullable, plan.conditions)
    counters = Counters()
    with one_line(), FILESYSTEMS.lease(plan.location) as fs:
        yield from together(_batches(plan, fs, runs, columns, counters), columns.schema)
    if report is not None:
        report(counters)


def _batches(
    plan: ReadPlan, fs: FileSystem, runs: Sequence[BlockRun], columns: Any, counters: Counters
) -> Iterator[Any]:
    ids = [c for c in plan.conditions if c.column == "block_id"]
    with FSBlockReader(fs, plan.context(), as_bytes) as reader:
        reader.counters = counters
        for run in runs:
            try:
                for block in run.blocks():
                    if all(c.holds(block.block_id) for c in ids):
                        planned = as_planned(plan.values, block)
                        for batch in reader.process_batches(planned):
                            yield columns.of(batch, block)
            except BlockReadException as error:
                missing = isinstance(error.__cause__, FileNotFoundError)
                if not (missing and plan.values["ignoreMissingFiles"]):
                    raise


def as_planned(values: Mapping[str, Any], block: FileBlockMetadata) -> FileBlockMetadata:
    """Return the block; if changed files are accepted, without properties that detect changes."""
    if values["changedFiles"] == "error":
        return block
    return replace(block, etag=None, modification_time=None)


_TYPES = {"path": StringType, "block_id": LongType, "offset": LongType}


def schema_of(columns: Sequence[str], binary: bool) -> Any:
    """Return the schema with these columns; `binary` applies to the value."""
    value = BinaryType if binary else StringType
    fields = [StructField(name, _TYPES.get(name, value)(), nullable=False) for name in columns]
    return StructType(fields)


def check_schema(schema: Any) -> tuple[tuple[str, ...], bool | None]:
    """Return the columns of a schema, and True if the value is binary, None without one.

    Raise SourceException for an unknown column, or one of another type.
    """
    names = tuple(field.name for field in schema.fields)
    if len(set(names)) != len(names) or not set(names) <= set(COLUMNS):
        raise SourceException(
            f"invalid columns: {', '.join(names)}; expected some of {', '.join(COLUMNS)}"
        )
    binary: bool | None = None
    for field in schema.fields:
        if field.name == "value":
            binary = isinstance(field.dataType, BinaryType)
        expected = _TYPES.get(field.name, BinaryType if binary else StringType)
        if field.dataType != expected():
            types = f"{field.dataType.simpleString()}, expected {expected().simpleString()}"
            raise SourceException(f"invalid type of column {field.name!r}: {types}")
    return names, binary
