"""Records of the files whose paths are in a column of a frame or stream: `read_paths`.

One step makes blocks of paths, another one records of blocks. Both run in tasks, so the frame may
come from any source, such as Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import StringType

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.spark.executor_reads import FILESYSTEMS, settle_down
from fscontract.pipeline.blocks import FileMetadata, bare_path
from fscontract.pipeline.locations import filesystem_url
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.input_files import PlanningSplitter
from fscontract.pipeline.spark_source.options import BY_NAME
from fscontract.pipeline.spark_source.planning import BlockRun
from fscontract.pipeline.spark_source.read_task import ReadPlan, read_runs, schema_of
from fscontract.pipeline.spark_source.request import ReadRequest, absolute_locations
from fscontract.pipeline.splitter.scanner import ScannedFileInfo

#: Options of searches for files, which paths do not need.
_OF_SEARCHES = ("recursive", "filePattern", "ignorePattern")
_BLOCKS = "file string, number long"
#: Rows of blocks that are sent to Spark at once.
_ROWS = 1000


def records_of(
    paths: Any, root: str, column: str, partitions: int | None, options: Mapping[str, Any]
) -> Any:
    """Return the records of the files in a column; see `fscontract.spark.read_paths`."""
    request = _request(root, options)
    if partitions is not None and partitions < 1:
        raise SourceException(f"invalid partitions: {partitions}; must be at least 1")
    fields = {field.name: field for field in paths.schema.fields}
    if column not in fields or fields[column].dataType != StringType():
        known = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in fields.values())
        raise SourceException(f"expected a string column {column!r}, got columns: {known}")
    columns = request.values["columns"]
    plan = ReadPlan.of(request, columns, [False] * len(columns), request.binary)
    blocks = paths.select(column).mapInArrow(partial(_split, request), _BLOCKS)
    if partitions is not None:
        blocks = blocks.repartition(partitions)
    return blocks.mapInArrow(partial(_read, plan), schema_of(columns, request.binary))


def _request(root: str, options: Mapping[str, Any]) -> ReadRequest:
    """Return the request for the options; raise SourceException."""
    texts = {name: str(value) for name, value in options.items()}
    for name in texts:
        option = BY_NAME.get(name.lower())
        if name.lower() in ("path", "paths") or (
            option is not None and (option.mode or option.name in _OF_SEARCHES)
        ):
            raise SourceException(f"option {name!r} is not supported for a column of paths")
    request = ReadRequest.of(absolute_locations({**texts, "path": root}))
    if request.parquet:
        raise SourceException("option 'reader' can't be 'parquet' for a column of paths")
    if not request.values["columns"]:
        raise SourceException("option 'columns' must not be empty for a column of paths")
    return request


def _split(request: ReadRequest, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield rows of blocks for batches of one column of paths."""
    context = TaskContext.get()
    splitter = PlanningSplitter(request, 1, 0 if context is None else context.partitionId())
    with one_line(), FILESYSTEMS.lease(request.location) as fs:
        for batch in batches:
            for path in batch.column(0).to_pylist():
                yield from _blocks_of(fs, splitter, path)
    settle_down()


def _blocks_of(fs: FileSystem, splitter: PlanningSplitter, path: str | None) -> Iterator[Any]:
    request = splitter.request
    (root,) = request.paths
    if path is None or not bare_path(path).startswith("/"):
        raise SourceException(f"invalid path: {path!r:.200}; must be an absolute path or a URL")
    if filesystem_url(path) != filesystem_url(root):
        raise SourceException(f"{path!r:.200} is not on the filesystem of {root!r:.200}")
    try:
        status = fs.get_file_status(bare_path(path))
    except FileNotFoundError:
        if request.values["ignoreMissingFiles"]:
            return
        raise
    if status.is_directory:
        raise SourceException(f"expected a file, got a directory: {path!r:.200}")
    splitter.block_size = request.values["blockSize"] or max(1, status.block_size)
    (file,) = splitter.split([ScannedFileInfo(None, path, path, status)])
    text = file.to_json()
    for first in range(0, file.number_of_blocks, _ROWS):
        numbers = range(first, min(first + _ROWS, file.number_of_blocks))
        yield pa.RecordBatch.from_arrays(
            [pa.array([text] * len(numbers)), pa.array(numbers, pa.int64())], ["file", "number"]
        )


def _read(plan: ReadPlan, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of the blocks in batches of `_split`."""
    for batch in batches:
        runs = [
            BlockRun(FileMetadata.from_json(row["file"]), row["number"], row["number"] + 1)
            for row in batch.to_pylist()
        ]
        yield from read_runs(plan, runs)
    settle_down()
