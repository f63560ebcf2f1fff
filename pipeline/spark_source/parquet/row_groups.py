"""Reading of row groups in Parquet blocks as Arrow batches, with filters applied."""

from __future__ import annotations

import io
import os
import time
from bisect import bisect_right
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fscontract.contract.api.filesystem import FileSystem, FSDataInputStream
from fscontract.contract.api.openfile_options import READ_POLICY, SPLIT_END, SPLIT_START
from fscontract.implementations.openfile_builder import await_future
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.implementations.spark.locations import FileLocation
from fscontract.pipeline.blockreader.readers import Counters
from fscontract.pipeline.blockreader.source import BlockReadException
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.hudi.io import FileRegion
from fscontract.pipeline.hudi.parquet_stats import TAIL, column_range
from fscontract.pipeline.hudi.pruning import Filter, may_match
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.filters import NOTHING, Condition, PushedFilters
from fscontract.pipeline.spark_source.input_files import directory_of
from fscontract.pipeline.spark_source.parquet.types import (
    arrow_type,
    converted,
    fits,
    texts_of,
    value_of,
)
from fscontract.pipeline.spark_source.planning import BlockRun
from fscontract.pipeline.spark_source.read_task import as_planned, together, without_columns


def groups_in(metadata: Any, start: int, stop: int, length: int) -> Iterator[int]:
    """Yield the row groups that begin in [start, stop) of a file: each in exactly one block."""
    for number in range(metadata.num_row_groups):
        begin = max(0, min(_begin(metadata.row_group(number)), length - 1))
        if start <= begin < stop:
            yield number


def may_have_rows(
    metadata: Any, number: int, names: Collection[str], filters: Sequence[Filter]
) -> bool:
    """Return False only if no row of a row group meets all filters; `names` has the columns."""
    conditions = [condition for condition in filters if condition.column in names]
    if not conditions:
        return True
    leaves = [metadata.schema.column(index) for index in range(metadata.num_columns)]
    paths = [leaf.path for leaf in leaves]
    for condition in conditions:
        if paths.count(condition.column) == 1:
            index = paths.index(condition.column)
            if leaves[index].max_repetition_level == 0:
                chunk = metadata.row_group(number).column(index)
                if not may_match(column_range("", leaves[index], [chunk]), condition):
                    return False
    return True


def ranges_of(metadata: Any, number: int, leaves: Collection[int]) -> list[tuple[int, int]]:
    """Return the byte ranges (offset, length) of columns in a row group."""
    group = metadata.row_group(number)
    chunks = [group.column(index) for index in leaves]
    return [(_start(chunk), chunk.total_compressed_size) for chunk in chunks]


def leaves_of(schema: Any, names: Collection[str]) -> list[int]:
    """Return the indexes of the leaf columns that make up some columns of an Arrow schema."""
    indexes: list[int] = []
    index = 0
    for field in schema:
        count = _leaves(field.type)
        if field.name in names:
            indexes += range(index, index + count)
        index += count
    return indexes


def _leaves(kind: Any) -> int:
    kind = getattr(kind, "storage_type", kind)  # storage of an extension type
    if not pa.types.is_nested(kind):
        return 1
    return sum(_leaves(kind.field(index).type) for index in range(kind.num_fields))


def _begin(group: Any) -> int:
    """Return the start of a row group, as computed or as stored in the file."""
    return _start(group.column(0)) if group.num_columns else 0


def _start(chunk: Any) -> int:
    """Return the offset of a column chunk, including its dictionary page, if any."""
    data: int = chunk.data_page_offset
    first: int | None = chunk.dictionary_page_offset
    return first if first is not None and 0 < first < data else data


class SparseFile(io.RawIOBase):
    """A file for PyArrow: `load` reads parts of it; other parts are read on demand.

    The last loaded parts, and the end of the file, are kept. `bytes_read` counts bytes of the
    stream.
    """

    def __init__(self, source: FileRegion) -> None:
        self._source = source
        self._position = 0
        start = max(0, source.length - TAIL)
        self.bytes_read = source.length - start
        self._tail = (start, source.read(start, source.length - start))
        self._loaded: list[tuple[int, bytes]] = [self._tail]

    def load(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Read ranges (offset, length) with one vectored read; they replace the loaded parts."""
        self._loaded = [self._tail]
        missing = [r for r in _joined(ranges) if self._held(*r) is None]
        self.bytes_read += sum(length for _, length in missing)
        contents = self._source.read_many(missing)
        starts = (offset for offset, _ in missing)
        self._loaded = sorted([self._tail, *zip(starts, contents, strict=True)])

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position; return it."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.length}
        self._position = base[whence] + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Return `size` bytes, fewer at EOF."""
        remaining = max(0, self._source.length - self._position)
        count = remaining if size is None or size < 0 else min(size, remaining)
        data = self._held(self._position, count)
        if data is None:
            data = self._source.read(self._position, count)
            self.bytes_read += count
        self._position += count
        return data

    def _held(self, offset: int, length: int) -> bytes | None:
        """Return the bytes of a range, or None if not all of them are loaded."""
        at = bisect_right(self._loaded, offset, key=lambda part: part[0]) - 1
        if at < 0:
            return None
        start, data = self._loaded[at]
        if offset + length > start + len(data):
            return None
        return data[offset - start : offset - start + length]


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the same bytes as sorted ranges that neither overlap nor touch."""
    joined: list[tuple[int, int]] = []
    for offset, length in sorted(ranges):
        if joined and offset <= sum(joined[-1]):
            start, before = joined[-1]
            joined[-1] = (start, max(before, offset + length - start))
        else:
            joined.append((offset, length))
    return joined


#: Number of rows created at once.
_ROWS = 1 << 14
#: Former storage type of times; PyArrow reads them without a zone.
_INT96 = "INT96"


@dataclass(frozen=True)
class ParquetPlan:
    """Settings of a task, without its blocks; `schema` is Spark's."""

    location: FileLocation
    values: Mapping[str, Any]
    schema: Any
    #: Inputs; the path between one of them and a file may contain values of columns.
    roots: tuple[str, ...]
    partitioned_by: tuple[str, ...] = ()
    pushed: PushedFilters = NOTHING


def read_parquet(plan: ParquetPlan, runs: Sequence[BlockRun], report: Any = None) -> Iterator[Any]:
    """Yield the rows of blocks as Arrow batches; finally call `report` with the counters."""
    counters = Counters()
    with one_line(), FILESYSTEMS.lease(plan.location) as fs:
        rows = ParquetRows(plan)
        with closing(_all_batches(rows, fs, runs, counters)) as batches:
            yield from together(batches, rows.schema)
    if report is not None:
        report(counters)


def _all_batches(
    rows: ParquetRows, fs: FileSystem, runs: Sequence[BlockRun], counters: Counters
) -> Generator[Any, None, None]:
    for run in runs:
        with closing(_batches(rows, fs, run, counters)) as batches:
            yield from batches


def _batches(
    rows: ParquetRows, fs: FileSystem, run: BlockRun, counters: Counters
) -> Generator[Any, None, None]:
    block = next(run.blocks())
    began = time.monotonic()
    try:
        with opened(fs, as_planned(rows.plan.values, block), run) as stream:
            file = SparseFile(FileRegion(stream, block.file_path, block.file_length))
            with closing(parquet_file(file)) as parquet:
                for batch in rows.of(parquet, file, run):
                    counters.records += batch.num_rows
                    yield batch
            counters.bytes += file.bytes_read
        counters.blocks += len(run)
    except FileNotFoundError as error:
        if not rows.plan.values["ignoreMissingFiles"]:
            raise _unread(block, error) from error
    except (OSError, pa.ArrowException) as error:
        raise _unread(block, error) from error
    finally:
        counters.time += time.monotonic() - began


def opened(fs: FileSystem, block: FileBlockMetadata, run: BlockRun) -> FSDataInputStream:
    """Open the file with its status at the time of planning, for the columns of some blocks."""
    builder = fs.open_file(block.path).with_file_status(block.status())
    builder.opt(READ_POLICY, "parquet")
    builder.opt_long(SPLIT_START, run.start).opt_long(SPLIT_END, run.start + run.size)
    return await_future(builder.build())


def parquet_file(file: SparseFile) -> Any:
    """Return PyArrow's reader of a file; INT96 times become microseconds."""
    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us", pre_buffer=False)


def schema_in(parquet: Any) -> Any:
    """Return the Arrow schema of a file, with a zone for times stored as INT96."""
    leaves = parquet.metadata.schema
    old = {
        leaves.column(index).path
        for index in range(parquet.metadata.num_columns)
        if leaves.column(index).physical_type == _INT96
    }
    zoned = pa.timestamp("us", "UTC")
    fields = [f.with_type(zoned) if f.name in old else f for f in parquet.schema_arrow]
    return pa.schema(fields)


class ParquetRows:
    """Converts row groups to Arrow batches with a plan's columns and conditions."""

    def __init__(self, plan: ParquetPlan) -> None:
        self.plan = plan
        self.schema = pa.schema(
            [pa.field(f.name, arrow_type(f.dataType), f.nullable) for f in plan.schema.fields]
        )

    def of(self, parquet: Any, file: SparseFile, run: BlockRun) -> Iterator[Any]:
        """Yield the rows of the row groups that begin in some blocks."""
        path, metadata = run.file.file_path, parquet.metadata
        known = schema_in(parquet)
        sources = {name: column_for(name, known.names, path) for name in self._columns()}
        for name, source in sources.items():
            self._check(name, source, known, path)
        chosen = {source for source in sources.values() if source is not None}
        leaves = leaves_of(known, chosen)
        fixed = self._fixed(run)
        stop, length = run.start + run.size, run.file.file_length
        for number in groups_in(metadata, run.start, stop, length):
            if not may_have_rows(metadata, number, known.names, self.plan.pushed.ranges):
                continue
            file.load(ranges_of(metadata, number, leaves))
            for batch in _rows_of(parquet, number, sorted(chosen)):
                yield self._batch(batch, sources, known, fixed, path)

    def _columns(self) -> list[str]:
        """Return the columns that the file must have."""
        return [name for name in self.schema.names if name not in self.plan.partitioned_by]

    def _check(self, name: str, source: str | None, known: Any, path: str) -> None:
        expected = self.schema.field(name).type
        if source is not None and not fits(actual := known.field(source).type, expected):
            raise SourceException(
                f"column {name!r} of {path!r} has type {actual}, expected {expected}"
            )

    def _fixed(self, run: BlockRun) -> dict[str, Any]:
        """Return the partition columns of a file as scalars."""
        values = values_of(directory_of(run.file.file_path, self.plan.roots), self.plan)
        return {
            name: pa.scalar(value, self.schema.field(name).type) for name, value in values.items()
        }

    def _batch(
        self, batch: Any, sources: Mapping[str, str | None], known: Any, fixed: Any, path: str
    ) -> Any:
        count = batch.num_rows
        if not self.schema.names:
            return without_columns(count)
        arrays = []
        for field in self.schema:
            source = sources.get(field.name)
            if field.name in fixed:
                array = pa.repeat(fixed[field.name], count)
            elif source is None:
                array = pa.nulls(count, field.type)
            else:
                array = converted(batch.column(source), known.field(source).type)
                array = converted(array, field.type)
            if array.null_count and not field.nullable:
                raise SourceException(f"unexpected nulls in column {field.name!r} of {path!r}")
            arrays.append(array)
        converted_batch = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        return kept_rows(converted_batch, self.plan.pushed.rows)


def values_of(directory: str, plan: ParquetPlan) -> dict[str, Any]:
    """Return the values of columns in a path."""
    texts = {name.lower(): text for name, text in texts_of(directory).items()}
    types = {field.name: field.dataType for field in plan.schema.fields}
    return {
        name: value_of(name, texts.get(name.lower()), types[name]) for name in plan.partitioned_by
    }


def kept_rows(batch: Any, conditions: Iterable[Condition]) -> Any:
    """Return the rows that meet all conditions; a null meets only the test for nulls."""
    for condition in conditions:
        array = batch.column(condition.column)
        mask = condition.mask(array)
        if condition.operation != "null":
            mask = pc.and_(mask, pc.is_valid(array))
        batch = batch.filter(mask)
    return batch


def column_for(name: str, names: Sequence[str], path: str) -> str | None:
    """Return the file's column with this name, ignoring case if needed; None without one."""
    matches = [column for column in names if column == name]
    matches = matches or [column for column in names if column.lower() == name.lower()]
    if len(matches) > 1:
        raise SourceException(f"ambiguous column {name!r} in {path!r}: several names match")
    return matches[0] if matches else None


def _rows_of(parquet: Any, number: int, columns: Sequence[str]) -> Iterator[Any]:
    if not columns:
        remaining = parquet.metadata.row_group(number).num_rows
        while remaining > 0:
            yield without_columns(min(remaining, _ROWS))
            remaining -= _ROWS
        return
    yield from parquet.iter_batches(_ROWS, [number], columns, use_threads=False)


def _unread(block: FileBlockMetadata, error: Exception) -> BlockReadException:
    reason = " ".join(str(error).split()).removesuffix(f": {block.path!r}")
    return BlockReadException(block.file_path, block.block_id, block.offset, reason)
