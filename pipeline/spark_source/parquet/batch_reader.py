"""Schema inference of Parquet files, and plans of the blocks whose row groups are read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceReader

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.hudi.io import FileRegion, MetadataWarning
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.filters import sort_filters
from fscontract.pipeline.spark_source.input_files import Directory, InputFiles
from fscontract.pipeline.spark_source.parquet.row_groups import (
    ParquetPlan,
    SparseFile,
    opened,
    parquet_file,
    read_parquet,
    schema_in,
    values_of,
)
from fscontract.pipeline.spark_source.parquet.types import (
    arrow_type,
    columns_of,
    keeps,
    spark_type,
    texts_of,
    type_of,
)
from fscontract.pipeline.spark_source.planning import (
    BlocksPartition,
    Packing,
    files_of,
    pack,
    partitions_of,
    plan_infos,
    report_planning,
)
from fscontract.pipeline.spark_source.request import ReadRequest
from fscontract.pipeline.spark_source.where import check_decided, filters_in
from fscontract.pipeline.splitter.scanner import ScannedFileInfo


def schema_of_files(request: ReadRequest) -> Any:
    """Return the columns of a Parquet file and of directories; raise SourceException without one.

    The planning, not this function, warns of an unusable metadata table.
    """
    with (
        _without_warnings(),
        one_line(),
        FILESYSTEMS.lease(request.location) as fs,
        closing(files_of(fs, request)) as files,
    ):
        directories = _directories(files)
        texts = [texts_of(item.below(files.roots)) for item in directories]
        types = {name: type_of(item[name] for item in texts) for name in columns_of(texts)}
        known = _first_schema(fs, request, files, directories)
        kinds = {field.name: field.type for field in known}
        names = list(dict.fromkeys([*kinds, *types]))
        if len(kinds) < len(known):
            raise SourceException("duplicate column names in a Parquet file")
        chosen = names if request.values["columns"] is None else request.values["columns"]
        if unknown := [name for name in chosen if name not in names]:
            raise SourceException(
                f"unknown column {unknown[0]!r:.80}; known: {', '.join(names):.400}"
            )
        fields = [
            spark.StructField(name, types[name] if name in types else spark_type(kinds[name]))
            for name in chosen
        ]
        return spark.StructType(fields)


@contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetadataWarning)
        yield


def _first_schema(
    fs: FileSystem, request: ReadRequest, files: InputFiles, directories: Sequence[Directory]
) -> Any:
    """Return the columns in the footer of the first file."""
    for directory in directories:
        for info in files.find([directory]):
            if info.status.length:
                return _schema(fs, request, info)
    raise SourceException("no Parquet file to infer the columns from; set them with .schema(...)")


def _schema(fs: FileSystem, request: ReadRequest, info: ScannedFileInfo) -> Any:
    runs, _ = plan_infos([info], request, Packing())
    block: FileBlockMetadata = next(runs[0].blocks())
    try:
        with opened(fs, block, runs[0]) as stream:
            file = SparseFile(FileRegion(stream, info.file_path, info.status.length))
            with closing(parquet_file(file)) as parquet:
                return schema_in(parquet)
    except pa.ArrowException as error:
        raise SourceException(f"{info.file_path!r} is not a Parquet file: {error}") from None


def _directories(files: InputFiles) -> list[Directory]:
    """Return the directories; drop those without files if their columns differ."""
    directories = files.directories()
    kinds = {tuple(texts_of(directory.below(files.roots))) for directory in directories}
    if len(kinds) < 2:
        return directories
    return list(dict.fromkeys(Directory.of(info) for info in files.find()))


class ParquetReader(DataSourceReader):  # type: ignore[misc]
    """Plans the blocks of Parquet files, and reads those of one partition.

    The constructor prepares everything that tasks need, because Spark sends it to them before it
    requests the partitions.
    """

    def __init__(self, request: ReadRequest, schema: Any, packing: Packing, report: Any) -> None:
        self.request = request
        self.packing = packing
        self.report = report
        with one_line(), FILESYSTEMS.lease(request.location) as fs:
            self._files: InputFiles | None = files_of(fs, request)
            self._directories = _directories(self._files)
            roots = self._files.roots
            texts = [texts_of(directory.below(roots)) for directory in self._directories]
            known = {name.lower() for name in columns_of(texts)}
            names = tuple(field.name for field in schema.fields)
            if len(set(names)) < len(names):
                raise SourceException("duplicate column in the schema")
            for field in schema.fields:
                arrow_type(field.dataType)
            by = tuple(name for name in names if name.lower() in known)
            self.plan = ParquetPlan(request.location, request.values, schema, roots, by)
            if (where := request.values["where"]) is not None:
                check_decided(self.push(filters_in(where, schema)))

    def push(self, filters: Iterable[Any]) -> list[Any]:
        """Accept the filters that the source evaluates; return others, which may skip files."""
        pushed, undecided = sort_filters(filters, self.plan.schema, self.plan.partitioned_by)
        self.plan = replace(self.plan, pushed=self.plan.pushed.and_also(pushed))
        return undecided

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without parts of the planning process."""
        return {**self.__dict__, "_files": None, "_found": []}

    def partitions(self) -> list[Any]:
        """Return the blocks of the files that may have matching rows, packed."""
        files, plan = self._files, self.plan
        assert files is not None
        with one_line(), FILESYSTEMS.lease(self.request.location), closing(files):
            chosen = [directory for directory in self._directories if self._keeps(directory)]
            every = len(chosen) == len(self._directories)
            infos = files.find(None if every else chosen, plan.pushed.ranges)
            packing = self.packing.with_options(self.request)
            runs, max_bytes = plan_infos(infos, self.request, packing)
            return partitions_of(pack(runs, max_bytes, packing.open_cost), files.metrics)

    def _keeps(self, directory: Directory) -> bool:
        values = values_of(directory.below(self.plan.roots), self.plan)
        return keeps(self.plan.pushed.directories, values)

    def read(self, partition: Any) -> Iterator[Any]:
        """Return the rows of a partition as Arrow batches."""
        if not isinstance(partition, BlocksPartition):
            return iter(())
        report_planning(partition, self.report)
        return read_parquet(self.plan, partition.runs, self.report)


class ParquetPushdownReader(ParquetReader):
    """Reader that accepts Spark filters."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Accept the filters that the source evaluates; return others, which may skip files."""
        return self.push(filters)


def reader_of(
    request: ReadRequest, schema: Any, packing: Packing, report: Any, pushdown: bool
) -> ParquetReader:
    """Return the reader of a batch; Spark checks whether it has a method for filters."""
    kind = ParquetPushdownReader if pushdown else ParquetReader
    return kind(request, schema, packing, report)
