"""Data source `fscontract`, as Spark calls it, and its registration in a session."""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.accumulators import AccumulatorParam
from pyspark.sql.datasource import DataSourceReader

from fscontract.implementations.options import parse_size
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.implementations.spark.tasks import tasks_of
from fscontract.pipeline.blockreader.readers import Counters
from fscontract.pipeline.blockreader.scaling import ScalingPartitioner
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.listed_filesystem import dump_listing, listing_of
from fscontract.pipeline.spark_source.catalog import CatalogSource
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.filters import condition_of
from fscontract.pipeline.spark_source.input_files import InputFiles, may_hold
from fscontract.pipeline.spark_source.planning import (
    Packing,
    check_inputs,
    files_of,
    kept_runs,
    pack,
    partitions_of,
    plan_infos,
)
from fscontract.pipeline.spark_source.read_task import (
    ReadPlan,
    check_schema,
    read_partition,
    schema_of,
)
from fscontract.pipeline.spark_source.request import ReadRequest, absolute_locations, expand
from fscontract.pipeline.spark_source.where import check_decided, filters_in
from fscontract.pipeline.splitter.scanner import ScannedFileInfo

if TYPE_CHECKING:
    from fscontract.pipeline.spark_source.streaming import (
        MakePartitioner,
        RefusedStreamReader,
        WindowStreamReader,
    )


#: Format name in Spark.
NAME = "fscontract"


class FsContractDataSource(CatalogSource):
    """Records of files, read by the block reader. Options: `docs/how-to/spark-source.md`.

    `register` creates a subclass with the session's settings: how to pack partitions, whether
    filters may be pushed, where tasks report their counters, the master, and the partitioner.
    """

    packing: ClassVar[Packing] = Packing()
    master: ClassVar[str] = "local"
    partitioner: ClassVar[MakePartitioner | None] = None

    @classmethod
    def name(cls) -> str:
        """Return the format name."""
        return NAME

    def _understand(self, options: Mapping[str, str]) -> None:
        self.request = ReadRequest.of(options)

    def _columns(self) -> Any:
        """Return the schema for the options; raise SourceException if an input is missing."""
        request = self.request
        if request.parquet:
            from fscontract.pipeline.spark_source.parquet.batch_reader import schema_of_files

            return schema_of_files(request)
        if not request.streaming:
            with one_line(), FILESYSTEMS.lease(request.location) as fs:
                check_inputs(fs, request)
        return schema_of(request.values["columns"], request.binary)

    def reader(self, schema: Any) -> DataSourceReader:
        """Return the reader of a batch."""
        schema = self.plain(schema)
        with one_line():
            request = self.request.for_mode(False)
        if request.parquet:
            from fscontract.pipeline.spark_source.parquet.batch_reader import reader_of

            return reader_of(request, schema, self.packing, type(self).report, self.pushdown)
        with one_line():
            plan = _plan(request, schema)
            if (where := request.values["where"]) is not None:
                plan, undecided = with_filters(plan, filters_in(where, schema))
                check_decided(undecided)
        kind = PushdownReader if self.pushdown else BlockSourceReader
        return kind(request, plan, self.packing, type(self).report)

    def streamReader(  # noqa: N802 - Spark's name
        self, schema: Any
    ) -> WindowStreamReader | RefusedStreamReader:
        """Return the reader of a stream."""
        from fscontract.pipeline.spark_source.streaming import (
            RefusedStreamReader,
            WindowStreamReader,
        )

        kind = type(self)
        try:
            schema = self.plain(schema)
            request = self.request.for_mode(True)
            request.check_windows(kind.master)
            make = kind.partitioner or ScalingPartitioner
            return WindowStreamReader(request, _plan(request, schema), kind.report, make)
        except SourceException as error:
            return RefusedStreamReader(error)


def _plan(request: ReadRequest, schema: Any) -> ReadPlan:
    columns, binary = check_schema(schema)
    nullable = [field.nullable for field in schema.fields]
    return ReadPlan.of(request, columns, nullable, request.binary if binary is None else binary)


class BlockSourceReader(DataSourceReader):  # type: ignore[misc]
    """Plans the blocks of a batch, and reads those of one partition."""

    def __init__(self, request: ReadRequest, plan: ReadPlan, packing: Packing, report: Any) -> None:
        self.request = request
        self.plan = plan
        self.packing = packing
        self.report = report

    def partitions(self) -> list[Any]:
        """Return the blocks, packed; raise SourceException if an input is missing."""
        request, plan = self.request, self.plan
        with one_line(), FILESYSTEMS.lease(request.location) as fs:
            packing = self.packing.with_options(request)
            with closing(files_of(fs, request)) as files:
                runs, max_bytes = plan_infos(find_infos(files, plan), request, packing)
            remaining = kept_runs(runs, plan.conditions)
            return partitions_of(pack(remaining, max_bytes, packing.open_cost), files.metrics)

    def read(self, partition: Any) -> Iterator[Any]:
        """Return the rows of a partition as Arrow batches."""
        return read_partition(self.plan, partition, self.report)


def find_infos(files: InputFiles, plan: ReadPlan) -> list[ScannedFileInfo]:
    """Return the input files, only from directories that the conditions allow.

    Return all files if the order of all blocks is visible in a column.
    """
    numbered = "block_id" in (*plan.columns, *(c.column for c in plan.conditions))
    if numbered or not plan.conditions:
        return files.find()
    keeps = may_hold(plan.conditions)
    return files.find([directory for directory in files.directories() if keeps(directory)])


class PushdownReader(BlockSourceReader):
    """Reader that accepts Spark filters; Spark checks whether the method exists."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Accept the filters that the source can evaluate; return the others."""
        self.plan, undecided = with_filters(self.plan, filters)
        return undecided


def with_filters(plan: ReadPlan, filters: Iterable[Any]) -> tuple[ReadPlan, list[Any]]:
    """Return the plan with the filters that the source can evaluate, and the other filters."""
    types = {"path": str, "block_id": int, "offset": int}
    types["value"] = bytes if plan.binary else str
    undecided, taken = [], []
    for pushed in filters:
        condition = condition_of(pushed, types)
        if condition is None:
            undecided.append(pushed)
        elif not (condition.operation == "null" and condition.negated):  # always holds
            taken.append(condition)
    return replace(plan, conditions=(*plan.conditions, *taken)), undecided


class Totals:
    """Sums of the counters of block readers, and of the metrics of metadata tables."""

    def __init__(self) -> None:
        self.counters, self.metrics = Counters(), Metrics()

    def add(self, other: Totals | Counters | Metrics) -> None:
        """Add what a task reports, or the sums of several tasks."""
        if isinstance(other, Counters):
            self.counters.add(other)
        elif isinstance(other, Metrics):
            self.metrics.add(other)
        else:
            self.counters.add(other.counters)
            self.metrics.add(other.metrics)


class TotalsParam(AccumulatorParam):  # type: ignore[misc]
    """Accumulates totals in Spark."""

    def zero(self, value: Totals) -> Totals:
        """Return totals of zero."""
        return Totals()

    def addInPlace(self, value1: Totals, value2: Any) -> Totals:  # noqa: N802 - Spark's
        """Return the sum of both."""
        value1.add(value2)
        return value1


class TaskTotals:
    """Totals of all completed tasks of one registration.

    A task that failed, was cancelled, or whose rows were not all read (`limit`) reports nothing;
    one that Spark runs twice counts twice.
    """

    def __init__(self, context: Any) -> None:
        self._accumulator = context.accumulator(Totals(), TotalsParam())

    @property
    def so_far(self) -> Totals:
        """A copy of the totals."""
        copy = Totals()
        copy.add(self._accumulator.value)
        return copy

    @property
    def add(self) -> Any:
        """Function that tasks call to report; it can be sent to them."""
        return self._accumulator.add


_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_FILES = "spark.sql.files."
#: The counters of an application, shared by all its registrations.
_tallies: dict[str, TaskTotals] = {}


class Registration:
    """The source in one session; with Spark Connect without `counters` and `metadata`."""

    def __init__(self, tally: TaskTotals | None, spark: Any = None) -> None:
        self._tally = tally
        self._spark = spark

    def load(self, paths: str | Sequence[str], **options: Any) -> Any:
        """Return a frame of files that executors list now, as `spark.read...load(paths)` does.

        The source's own planning has no session, so it lists directories in its process. Use this
        for directories that take long to list, and that have no metadata table.
        """
        texts = {name: str(value) for name, value in options.items()}
        several = [paths] if isinstance(paths, str) else list(paths)
        given = absolute_locations({**texts, "paths": json.dumps(several)})
        request = ReadRequest.of(given)
        with closing(tasks_of(self._spark)) as tasks, FILESYSTEMS.lease(request.location) as fs:
            listing = listing_of(tasks, fs, expand(fs, request.paths))
        handle, file = tempfile.mkstemp(".json", "fscontract-listing-")
        os.close(handle)
        atexit.register(Path(file).unlink, missing_ok=True)
        dump_listing(listing, Path(file))
        reader = self._spark.read.format(NAME).options(**texts).option("listing", file)
        return reader.load(several)

    @property
    def counters(self) -> Counters | None:
        """Blocks, records and bytes of the completed tasks."""
        return None if self._tally is None else self._tally.so_far.counters

    @property
    def metadata(self) -> Metrics | None:
        """Metrics of the metadata tables that were used to plan and to read."""
        return None if self._tally is None else self._tally.so_far.metrics


def register(
    spark: Any, pushdown: bool = False, partitioner: MakePartitioner | None = None
) -> Registration:
    """Register `spark.read.format("fscontract")` and `spark.readStream.format("fscontract")`.

    The source uses the session's current settings `spark.sql.files.*` and parallelism. The last
    registration applies. A session created by `newSession` does not have the source, and Spark
    rejects its registration there.

    With `pushdown` the session pushes filters to Python data sources. Spark 4.3 mixes them up in a
    frame that is used with several filters, so rows are missing: load a new frame for each.

    `partitioner` creates the partitioner of each stream, by default a ScalingPartitioner. Spark
    sends it to another process by value, with cloudpickle.
    """
    context = None if ".connect." in type(spark).__module__ else spark.sparkContext
    tally = None if context is None else _tally(context)
    known = {
        "packing": _packing(spark, context),
        "pushdown": pushdown,
        "master": spark.conf.get("spark.master", "local") or "local",
        "report": None if tally is None else staticmethod(tally.add),
        "partitioner": None if partitioner is None else staticmethod(partitioner),
        "__module__": __name__,
        "__doc__": FsContractDataSource.__doc__,
    }
    # Classes outside any module are sent by value.
    spark.dataSource.register(type("FsContractOfSession", (FsContractDataSource,), known))
    for source in _tables(pushdown, known["report"]):
        spark.dataSource.register(source)
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")
    return Registration(tally, spark)


def _tables(pushdown: bool, report: Any) -> list[type]:
    """Return the sources of Hudi and metadata tables, which require the extra `metadata`."""
    from fscontract.pipeline.spark_source.hudi_source import HudiTableSource
    from fscontract.pipeline.spark_source.metadata_source import MetadataTableSource

    known = {"pushdown": pushdown, "report": report, "__module__": __name__}
    return [
        type(f"{source.__name__}OfSession", (source,), {**known, "__doc__": source.__doc__})
        for source in (MetadataTableSource, HudiTableSource)
    ]


def _tally(context: Any) -> TaskTotals:
    application = context.applicationId
    if application not in _tallies:
        _tallies.clear()  # counters of stopped contexts
        _tallies[application] = TaskTotals(context)
    return _tallies[application]


def _packing(spark: Any, context: Any) -> Packing:
    parallelism = spark.conf.get(f"{_FILES}minPartitionNum", None)
    parallelism = parallelism or spark.conf.get("spark.sql.leafNodeDefaultParallelism", None)
    if parallelism is None:
        parallelism = os.cpu_count() or 1 if context is None else context.defaultParallelism
    return Packing(
        _size(spark, "maxPartitionBytes", Packing.max_partition_bytes),
        _size(spark, "openCostInBytes", Packing.open_cost),
        max(1, int(parallelism)),
    )


def _size(spark: Any, name: str, default: int) -> int:
    """Return a setting of Spark's own source, with sizes such as `134217728b` or `128m`."""
    text = spark.conf.get(f"{_FILES}{name}", None)
    return default if text is None else parse_size(text)
