"""What a task does: blocks are read, and become batches of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fscontract.contract.ports import FileSystem
from fscontract.implementations.spark.places import Place
from fscontract.implementations.spark.worker import FILESYSTEMS, settle_down
from fscontract.pipeline.blockreader.contexts import ReaderContext
from fscontract.pipeline.blockreader.errors import BlockReadException
from fscontract.pipeline.blockreader.reader import Counters
from fscontract.pipeline.blockreader.readers import FSBlockReader, as_bytes
from fscontract.pipeline.blockreader.regions import PiecesReaderContext, RegionReaderContext
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.datasource.errors import one_line
from fscontract.pipeline.datasource.partition import BlockRun, BlocksPartition
from fscontract.pipeline.datasource.pushdown import Condition
from fscontract.pipeline.datasource.request import Request


@dataclass(frozen=True)
class ReadPlan:
    """All that a task has to know beside its blocks; it is sent to each."""

    place: Place
    values: Mapping[str, Any]
    delimiter: bytes | None
    compression: str | None
    columns: tuple[str, ...]
    nullable: tuple[bool, ...]
    binary: bool
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(
        cls, request: Request, columns: Sequence[str], nullable: Sequence[bool], binary: bool
    ) -> ReadPlan:
        """The plan for these columns."""
        return cls(
            request.place,
            request.values,
            request.delimiter,
            request.compression,
            tuple(columns),
            tuple(nullable),
            binary,
        )

    def context(self) -> ReaderContext:
        """What finds the records."""
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


def read_partition(plan: ReadPlan, partition: Any, told: Any) -> Iterator[Any]:
    """The rows of a partition; none of the one that Spark makes where there are no partitions."""
    if isinstance(partition, BlocksPartition):
        yield from read_runs(plan, partition.runs, told)
        settle_down()


def read_runs(plan: ReadPlan, runs: Sequence[BlockRun], told: Any = None) -> Iterator[Any]:
    """The rows of blocks as Arrow batches; `told` is called with the counters in the end."""
    from fscontract.pipeline.datasource.columns import Columns

    columns = Columns(plan.columns, plan.binary, plan.nullable, plan.conditions)
    counters = Counters()
    with one_line(), FILESYSTEMS.lease(plan.place) as fs:
        yield from columns.together(_batches(plan, fs, runs, columns, counters))
    if told is not None:
        told(counters)


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
                        shown = as_planned(plan.values, block)
                        for batch in reader.process_batches(shown):
                            yield columns.of(batch, block)
            except BlockReadException as error:
                missing = isinstance(error.__cause__, FileNotFoundError)
                if not (missing and plan.values["ignoreMissingFiles"]):
                    raise


def as_planned(values: Mapping[str, Any], block: FileBlockMetadata) -> FileBlockMetadata:
    """The block; without what would tell a changed file, if such a one is to be read."""
    if values["changedFiles"] == "error":
        return block
    return replace(block, etag=None, modification_time=None)
