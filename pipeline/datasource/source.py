"""The data source itself: what Spark calls, in processes of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql.datasource import DataSourceReader

from fscontract.contract.ports import FileSystem
from fscontract.implementations.spark.worker import FILESYSTEMS
from fscontract.pipeline.datasource.catalog import CatalogSource
from fscontract.pipeline.datasource.dataset import check_inputs, files_of, may_hold
from fscontract.pipeline.datasource.errors import SourceException, one_line
from fscontract.pipeline.datasource.partition import BlocksPartition
from fscontract.pipeline.datasource.planning import Packing, pack, plan_infos
from fscontract.pipeline.datasource.pushdown import condition_of, kept_runs
from fscontract.pipeline.datasource.reading import ReadPlan, read_partition
from fscontract.pipeline.datasource.request import Request
from fscontract.pipeline.datasource.schema import check_schema, schema_of
from fscontract.pipeline.datasource.where import check_taken, filters_in
from fscontract.pipeline.splitter.references import ScannedFileInfo

if TYPE_CHECKING:
    from fscontract.pipeline.datasource.streaming import RefusedStreamReader, WindowStreamReader

#: The name by which Spark knows the source.
NAME = "fscontract"


class FsContractDataSource(CatalogSource):
    """Records of files, read by the block reader. `docs/spark-pipeline.md` has the options.

    `register` makes a class of this one that knows the session: how to pack partitions, whether
    filters may be pushed, and whom tasks tell what they did.
    """

    packing: ClassVar[Packing] = Packing()
    pushdown: ClassVar[bool] = False
    told: ClassVar[Callable[[Any], None] | None] = None

    @classmethod
    def name(cls) -> str:
        """The name for `format`."""
        return NAME

    def _understand(self, options: Mapping[str, str]) -> None:
        self.request = Request.of(options)

    def _columns(self) -> Any:
        """As the base has it; SourceException, too, if there is no input."""
        request = self.request
        if request.parquet:
            from fscontract.pipeline.datasource.parquet.planning import schema_of_files

            return schema_of_files(request)
        if not request.streaming:
            with one_line(), FILESYSTEMS.lease(request.place) as fs:
                check_inputs(fs, request)
        return schema_of(request.values["columns"], request.binary)

    def reader(self, schema: Any) -> DataSourceReader:
        """The reader of a batch."""
        schema = self.plain(schema)
        with one_line():
            request = self.request.for_mode(False)
        if request.parquet:
            from fscontract.pipeline.datasource.parquet.planning import reader_of

            return reader_of(request, schema, self.packing, type(self).told, self.pushdown)
        with one_line():
            plan = _plan(request, schema)
            if (where := request.values["where"]) is not None:
                plan, left = with_filters(plan, filters_in(where, schema))
                check_taken(left)
        kind = PushdownReader if self.pushdown else BlockSourceReader
        return kind(request, plan, self.packing, type(self).told)

    def streamReader(  # noqa: N802 - Spark's name
        self, schema: Any
    ) -> WindowStreamReader | RefusedStreamReader:
        """The reader of a stream."""
        from fscontract.pipeline.datasource.streaming import RefusedStreamReader, WindowStreamReader

        try:
            schema = self.plain(schema)
            request = self.request.for_mode(True)
            return WindowStreamReader(request, _plan(request, schema), type(self).told)
        except SourceException as error:
            return RefusedStreamReader(error)


def _plan(request: Request, schema: Any) -> ReadPlan:
    columns, binary = check_schema(schema)
    nullable = [field.nullable for field in schema.fields]
    return ReadPlan.of(request, columns, nullable, request.binary if binary is None else binary)


class BlockSourceReader(DataSourceReader):  # type: ignore[misc]
    """Plans the blocks of a batch, and reads those of one partition."""

    def __init__(self, request: Request, plan: ReadPlan, packing: Packing, told: Any) -> None:
        self.request = request
        self.plan = plan
        self.packing = packing
        self.told = told

    def partitions(self) -> list[Any]:
        """The blocks, packed; SourceException if an input is missing."""
        request, plan = self.request, self.plan
        with one_line(), FILESYSTEMS.lease(request.place) as fs:
            packing = self.packing.with_options(request)
            runs, most = plan_infos(find_infos(fs, request, plan), request, packing)
            kept = kept_runs(runs, plan.conditions)
            return [BlocksPartition(part) for part in pack(kept, most, packing.open_cost)]

    def read(self, partition: Any) -> Iterator[Any]:
        """The rows of a partition as Arrow batches."""
        return read_partition(self.plan, partition, self.told)


def find_infos(fs: FileSystem, request: Request, plan: ReadPlan) -> list[ScannedFileInfo]:
    """The files of the inputs; those in directories alone that the conditions leave.

    All of them if it shows which number a block has among those of all files.
    """
    numbered = "block_id" in (*plan.columns, *(c.column for c in plan.conditions))
    with closing(files_of(fs, request)) as files:
        if numbered or not plan.conditions:
            return files.find()
        keeps = may_hold(plan.conditions)
        return files.find([each for each in files.directories() if keeps(each)])


class PushdownReader(BlockSourceReader):
    """One to which Spark leaves filters: a method of its own, as Spark minds that it is there."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Take those that the source can decide; the others go back."""
        self.plan, left = with_filters(self.plan, filters)
        return left


def with_filters(plan: ReadPlan, filters: Iterable[Any]) -> tuple[ReadPlan, list[Any]]:
    """The plan with the filters that the source can decide, and the others."""
    types = {"path": str, "block_id": int, "offset": int}
    types["value"] = bytes if plan.binary else str
    left, taken = [], []
    for pushed in filters:
        found = condition_of(pushed, types)
        if found is None:
            left.append(pushed)
        elif not (found.operation == "null" and found.negated):  # which always holds
            taken.append(found)
    return replace(plan, conditions=(*plan.conditions, *taken)), left
