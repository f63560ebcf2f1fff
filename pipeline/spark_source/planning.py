"""From files to the partitions of a batch, as Spark plans its own files."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.spark_source.input_files import PlanningSplitter, find_files
from fscontract.pipeline.spark_source.partition import BlockRun
from fscontract.pipeline.spark_source.request import Request
from fscontract.pipeline.splitter.scanner import ScannedFileInfo

MIB = 1 << 20


@dataclass(frozen=True)
class Packing:
    """What the size of partitions goes by; the settings of Spark that have these names."""

    max_partition_bytes: int = 128 * MIB
    open_cost: int = 4 * MIB
    min_partitions: int = 1

    def with_options(self, request: Request) -> Packing:
        """The same, but for what options say."""
        values = request.values
        cost = values["openCostInBytes"]
        return Packing(
            values["maxPartitionBytes"] or self.max_partition_bytes,
            self.open_cost if cost is None else cost,
            values["minPartitionNum"] or self.min_partitions,
        )

    def split_size(self, lengths: Sequence[int]) -> int:
        """How many bytes of files of these lengths a partition has at most."""
        total = sum(lengths) + len(lengths) * self.open_cost
        share = total // self.min_partitions
        return max(1, min(self.max_partition_bytes, max(self.open_cost, share)))


def plan_files(fs: FileSystem, request: Request, packing: Packing) -> tuple[list[BlockRun], int]:
    """All blocks of the files that a listing finds; otherwise as `plan_infos`."""
    return plan_infos(find_files(fs, request), request, packing)


def plan_infos(
    infos: Sequence[ScannedFileInfo], request: Request, packing: Packing
) -> tuple[list[BlockRun], int]:
    """All blocks of these files, and how many bytes a partition has at most."""
    most = packing.split_size([info.status.length for info in infos])
    files = PlanningSplitter(request, _block_size(request, most)).split(infos)
    return [BlockRun(f, 0, f.number_of_blocks) for f in files if f.number_of_blocks], most


def _block_size(request: Request, most: int) -> int:
    """That of the options, else what fills a partition; whole slices, so that none is cut."""
    given: int | None = request.values["blockSize"]
    if given is not None:
        return given
    unit: int = request.values["sliceSize"] if request.values["reader"] == "slices" else 1
    return -(-most // unit) * unit


def pack(runs: Iterable[BlockRun], most: int, open_cost: int) -> list[list[BlockRun]]:
    """The blocks in partitions of at most `most` bytes, unless one block has more.

    Large pieces come first; a partition is full when the next piece does not fit.
    """
    pieces = [piece for run in runs for piece in run.cut(max(1, most // run.file.block_size))]
    pieces.sort(key=lambda piece: -piece.size)
    partitions: list[list[BlockRun]] = []
    room = -1
    for piece in pieces:
        if not partitions or piece.size > room:
            partitions.append([])
            room = most
        partitions[-1].append(piece)
        room -= piece.size + open_cost
    return partitions


def spread(runs: Sequence[BlockRun], count: int) -> list[list[BlockRun]]:
    """The blocks in `count` partitions of about the same size; in fewer if there are fewer blocks.

    The same blocks and count give the same partitions.
    """
    if not runs:
        return []
    share = -(-sum(run.size for run in runs) // count)
    pieces = [p for run in runs for p in run.cut(max(1, -(-share // run.file.block_size)))]
    wanted = min(count, sum(map(len, runs)))
    while len(pieces) < wanted:
        index = max(range(len(pieces)), key=lambda i: len(pieces[i]))
        pieces[index : index + 1] = pieces[index].cut(-(-len(pieces[index]) // 2))
    loads = [(0, index) for index in range(wanted)]
    partitions: list[list[BlockRun]] = [[] for _ in loads]
    for piece in sorted(pieces, key=lambda piece: -piece.size):
        load, index = heapq.heappop(loads)
        partitions[index].append(piece)
        heapq.heappush(loads, (load + piece.size, index))
    return partitions
