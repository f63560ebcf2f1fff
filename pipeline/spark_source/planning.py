"""Plan of a batch's partitions, made as Spark does for its own files.

The input files become runs of blocks; filters on paths, block ids and offsets narrow the runs, and
`pack` fills partitions with them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import InputPartition

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.listed_filesystem import load_listing, with_listing
from fscontract.pipeline.spark_source.filters import Condition
from fscontract.pipeline.spark_source.input_files import (
    InputFiles,
    ListedFiles,
    PlanningSplitter,
)
from fscontract.pipeline.spark_source.request import ReadRequest, expand
from fscontract.pipeline.splitter.scanner import ScannedFileInfo
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator

#: Greater than all offsets and ids.
_FAR = 1 << 63


@dataclass(frozen=True, slots=True)
class BlockRun:
    """Consecutive blocks of a file, from number `first` to `stop` (exclusive), counted from 0."""

    file: FileMetadata
    first: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.first

    @property
    def start(self) -> int:
        """Offset of the first byte."""
        return self._edge(self.first) if self.first else self.file.data_offset

    @property
    def size(self) -> int:
        """Number of bytes in the blocks."""
        return min(self._edge(self.stop), self.file.file_length) - self.start

    def blocks(self) -> Iterator[FileBlockMetadata]:
        """Yield the blocks, created one at a time."""
        blocks = BlockMetadataIterator(self.file, self.first)
        while blocks.emitted < self.stop:
            yield next(blocks)

    def cut(self, max_blocks: int) -> Iterator[BlockRun]:
        """Yield the blocks in runs of at most `max_blocks`."""
        for first in range(self.first, self.stop, max_blocks):
            yield replace(self, first=first, stop=min(first + max_blocks, self.stop))

    def _edge(self, number: int) -> int:
        """Return the start of a block in the grid that starts at byte 0."""
        return (self.file.data_offset // self.file.block_size + number) * self.file.block_size


class BlocksPartition(InputPartition):  # type: ignore[misc]
    """The work of one task, and the metrics of planning that it reports."""

    def __init__(self, runs: Sequence[BlockRun], metrics: Metrics | None = None) -> None:
        super().__init__(tuple(runs))
        self.metrics = metrics

    @property
    def runs(self) -> tuple[BlockRun, ...]:
        """Blocks, in reading order."""
        runs: tuple[BlockRun, ...] = self.value
        return runs


def partitions_of(parts: Sequence[Sequence[BlockRun]], metrics: Metrics) -> list[BlocksPartition]:
    """Return the partitions; the first has the metrics of planning, which only tasks can report."""
    if not metrics.snapshot():
        return [BlocksPartition(part) for part in parts]
    first, *others = parts or [()]
    return [BlocksPartition(first, metrics), *map(BlocksPartition, others)]


def report_planning(partition: BlocksPartition, report: Any) -> None:
    """Call `report` with the metrics of planning, if the partition has them."""
    if report is not None and partition.metrics is not None:
        report(partition.metrics)


def files_of(fs: FileSystem, request: ReadRequest) -> InputFiles:
    """Return the files for the options; raise SourceException if an input is missing."""
    fs = _listed(fs, request)
    if not request.values["metadata"]:
        return ListedFiles(fs, request)
    from fscontract.pipeline.spark_source.metadata_files import IndexedFiles

    return IndexedFiles(fs, request)


def _listed(fs: FileSystem, request: ReadRequest) -> FileSystem:
    """Return the filesystem with the listing of option `listing`, if there is one."""
    file: str | None = request.values["listing"]
    if file is None:
        return fs
    listed: FileSystem = with_listing(fs, load_listing(Path(file)))
    return listed


def check_inputs(fs: FileSystem, request: ReadRequest) -> None:
    """Raise SourceException if an input is missing."""
    fs = _listed(fs, request)
    if not request.values["metadata"]:
        expand(fs, request.paths)
        return
    from fscontract.pipeline.spark_source.metadata_files import check_datasets

    check_datasets(fs, request.paths, request.values["metadataDir"])


MIB = 1 << 20


@dataclass(frozen=True)
class Packing:
    """Spark settings that determine the size of partitions."""

    max_partition_bytes: int = 128 * MIB
    open_cost: int = 4 * MIB
    min_partitions: int = 1

    def with_options(self, request: ReadRequest) -> Packing:
        """Return the settings with the options applied."""
        values = request.values
        cost = values["openCostInBytes"]
        return Packing(
            values["maxPartitionBytes"] or self.max_partition_bytes,
            self.open_cost if cost is None else cost,
            values["minPartitionNum"] or self.min_partitions,
        )

    def split_size(self, lengths: Sequence[int]) -> int:
        """Return the maximum partition size in bytes for files of these lengths."""
        total = sum(lengths) + len(lengths) * self.open_cost
        share = total // self.min_partitions
        return max(1, min(self.max_partition_bytes, max(self.open_cost, share)))


def plan_infos(
    infos: Sequence[ScannedFileInfo], request: ReadRequest, packing: Packing
) -> tuple[list[BlockRun], int]:
    """Return all blocks of these files, and the maximum partition size in bytes."""
    max_bytes = packing.split_size([info.status.length for info in infos])
    files = PlanningSplitter(request, _block_size(request, max_bytes)).split(infos)
    return [BlockRun(f, 0, f.number_of_blocks) for f in files if f.number_of_blocks], max_bytes


def _block_size(request: ReadRequest, max_bytes: int) -> int:
    """Return the option's block size, else one that fills a partition with whole slices."""
    size: int | None = request.values["blockSize"]
    if size is not None:
        return size
    unit: int = request.values["sliceSize"] if request.values["reader"] == "slices" else 1
    return -(-max_bytes // unit) * unit


def pack(runs: Iterable[BlockRun], max_bytes: int, open_cost: int) -> list[list[BlockRun]]:
    """Distribute blocks to partitions of at most `max_bytes`, unless one block is larger.

    Large pieces come first; a partition is full when the next piece does not fit.
    """
    pieces = [piece for run in runs for piece in run.cut(max(1, max_bytes // run.file.block_size))]
    pieces.sort(key=lambda piece: -piece.size)
    partitions: list[list[BlockRun]] = []
    room = -1
    for piece in pieces:
        if not partitions or piece.size > room:
            partitions.append([])
            room = max_bytes
        partitions[-1].append(piece)
        room -= piece.size + open_cost
    return partitions


def spread(runs: Sequence[BlockRun], count: int) -> list[list[BlockRun]]:
    """Divide blocks into `count` partitions of about equal size; fewer for fewer blocks.

    The same blocks and count give the same partitions.
    """
    if not runs:
        return []
    share = -(-sum(run.size for run in runs) // count)
    pieces = [p for run in runs for p in run.cut(max(1, -(-share // run.file.block_size)))]
    number = min(count, sum(map(len, runs)))
    while len(pieces) < number:
        index = max(range(len(pieces)), key=lambda i: len(pieces[i]))
        pieces[index : index + 1] = pieces[index].cut(-(-len(pieces[index]) // 2))
    loads = [(0, index) for index in range(number)]
    partitions: list[list[BlockRun]] = [[] for _ in loads]
    for piece in sorted(pieces, key=lambda piece: -piece.size):
        load, index = heapq.heappop(loads)
        partitions[index].append(piece)
        heapq.heappush(loads, (load + piece.size, index))
    return partitions


def kept_runs(runs: Iterable[BlockRun], conditions: Sequence[Condition]) -> list[BlockRun]:
    """Return the runs of blocks whose path and rows may meet the conditions."""
    if any(c.operation == "null" and not c.negated for c in conditions):
        return []
    paths = [c for c in conditions if c.column == "path"]
    ids, offsets = _bounds(conditions, "block_id"), _bounds(conditions, "offset")
    remaining = []
    for run in runs:
        if all(c.holds(run.file.file_path) for c in paths):
            narrowed = _narrowed(run, ids, offsets)
            if len(narrowed):
                remaining.append(narrowed)
    return remaining


def _narrowed(run: BlockRun, ids: tuple[int, int], offsets: tuple[int, int]) -> BlockRun:
    """Return the blocks with ids in bounds, and with rows that may start within bounds."""
    file = run.file
    first = max(run.first, ids[0] - file.first_block_id)
    stop = min(run.stop, ids[1] - file.first_block_id + 1)
    if not _compressed_into_one(run):
        grid = file.data_offset // file.block_size
        # A row starts in its block, or exactly at its end.
        first = max(first, (offsets[0] - 1) // file.block_size - grid)
        stop = min(stop, max(offsets[1] // file.block_size - grid, 0) + 1)
        if offsets[1] < file.data_offset:
            stop = first
    return BlockRun(file, first, max(first, stop))


def _compressed_into_one(run: BlockRun) -> bool:
    """Return True if the file is one compressed block, whose offsets may be decompressed ones."""
    return run.file.number_of_blocks == 1


def _bounds(conditions: Iterable[Condition], column: str) -> tuple[int, int]:
    """Return the inclusive bounds of a column's values."""
    low, high = -_FAR, _FAR
    for c in conditions:
        if c.column != column or c.negated or c.operation == "null":
            continue
        if c.operation == "in":
            low, high = max(low, min(c.value, default=_FAR)), min(high, max(c.value, default=-_FAR))
        if c.operation in ("eq", "ge", "gt"):
            low = max(low, c.value + (c.operation == "gt"))
        if c.operation in ("eq", "le", "lt"):
            high = min(high, c.value - (c.operation == "lt"))
    return low, high
