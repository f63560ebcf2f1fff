"""Data source of the rows of a Hudi table: `format("fscontract-hudi")`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceReader, InputPartition

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.filesystem_base import normalize
from fscontract.implementations.options import boolean, choice, text
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.hudi.data_files import write_timeline
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.slice_merge import KEY
from fscontract.pipeline.hudi.snapshot import PARTITION, Mode, QueriedTable, Query, open_table
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.spark_source.catalog import CatalogSource
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.filters import NOTHING, sort_filters, values_of
from fscontract.pipeline.spark_source.options import BY_NAME, SourceOption, parse_options
from fscontract.pipeline.spark_source.parquet.row_groups import kept_rows
from fscontract.pipeline.spark_source.parquet.types import arrow_type, converted, spark_type
from fscontract.pipeline.spark_source.request import locations_of, path_of
from fscontract.pipeline.spark_source.where import check_decided, filters_in

#: Format name in Spark.
NAME = "fscontract-hudi"
SNAPSHOT, OPTIMIZED, INCREMENTAL = "snapshot", "read_optimized", "incremental"
_MODES: dict[str, Mode] = {
    SNAPSHOT: "snapshot",
    OPTIMIZED: "read-optimised",
    INCREMENTAL: "snapshot",
}
OPTIONS = (
    SourceOption(
        "query",
        choice,
        "Kind of query: merged rows, rows of base files only, or rows of commits in an interval.",
        SNAPSHOT,
        choices=(SNAPSHOT, OPTIMIZED, INCREMENTAL),
    ),
    SourceOption("asOf", text, "Instant of a snapshot or read-optimized query: ignore later ones."),
    SourceOption("begin", text, "Start of an incremental query: commits that completed later."),
    SourceOption("end", text, "End of an incremental query, included.", default_note="now"),
    replace(BY_NAME["columns"], meaning="Columns, in this order.", default_note="all"),
    replace(BY_NAME["where"], meaning="Conditions on these columns, as of format `fscontract`."),
    SourceOption(
        "recordIndex",
        boolean,
        f"Find rows of conditions `{KEY} = ...` and `in (...)` by Hudi's `record_index`, if there "
        "is one. It knows one of several rows with the same key.",
        False,
    ),
)


class HudiTableSource(CatalogSource):
    """Rows of a Hudi table; `docs/how-to/metadata-table.md` describes the queries."""

    @classmethod
    def name(cls) -> str:
        """Return the format name."""
        return NAME

    def _understand(self, options: Mapping[str, str]) -> None:
        self.values = parse_options(options, OPTIONS)
        self.root = path_of(options, "table")
        self.location, _ = locations_of([self.root], None, options)
        self.query = _query(self.values)

    def _columns(self) -> Any:
        """Return the schema; raise SourceException for a path without a Hudi table."""
        with one_line(), FILESYSTEMS.lease(self.location) as fs:
            return schema_of(self.table(fs), self.values["columns"])

    def table(self, fs: FileSystem) -> QueriedTable:
        """Return the table for the query; raise SourceException if there is none."""
        try:
            return open_table(fs, normalize(bare_path(self.root)), self.query)
        except FileNotFoundError:
            raise SourceException(f"{self.root!r} is not a Hudi table") from None

    def reader(self, schema: Any) -> HudiTableReader:
        """Return the reader."""
        return (PushdownHudiReader if self.pushdown else HudiTableReader)(self, self.plain(schema))


def _query(values: Mapping[str, Any]) -> Query:
    """Return the query of the options; raise SourceException."""
    kind, begin, end = values["query"], values["begin"], values["end"]
    if kind == INCREMENTAL and begin is None:
        raise SourceException(f"option 'query' {INCREMENTAL!r} requires option 'begin'")
    if kind != INCREMENTAL and (begin, end) != (None, None):
        name = "end" if begin is None else "begin"
        raise SourceException(f"option {name!r} requires option 'query' {INCREMENTAL!r}")
    try:
        return Query(_MODES[kind], values["asOf"], begin, end)
    except ValueError as error:
        raise SourceException(str(error)) from None


def schema_of(table: QueriedTable, columns: Sequence[str] | None) -> Any:
    """Return Spark's schema of some columns, or of all; raise SourceException."""
    try:
        selected = table.selected(columns)
    except ValueError as error:
        raise SourceException(str(error)) from None
    fields = [spark.StructField(field.name, spark_type(field.type)) for field in selected]
    return spark.StructType(fields)


@dataclass
class SlicePartition(InputPartition):  # type: ignore[misc]
    """A file slice, which one task reads."""

    item: FileSlice


class HudiTableReader(DataSourceReader):  # type: ignore[misc]
    """Reads a table with one task for each file slice.

    The constructor prepares everything that tasks need, because Spark sends it to them before it
    requests the partitions.
    """

    def __init__(self, source: HudiTableSource, schema: Any) -> None:
        self.root, self.location = source.root, source.location
        self.indexed = source.values["recordIndex"] and source.query == Query()
        self.schema = schema
        self.pushed = NOTHING
        with one_line(), FILESYSTEMS.lease(self.location) as fs:
            table = source.table(fs)
            known = schema_of(table, [field.name for field in schema.fields])
            if [field.dataType for field in schema.fields] != [f.dataType for f in known.fields]:
                raise SourceException(f"invalid schema; expected {known.simpleString()}")
            self.table = replace(table, fs=cast(FileSystem, None))  # tasks open their own
            if (where := source.values["where"]) is not None:
                check_decided(self.push(filters_in(where, schema)))

    def push(self, filters: Iterable[Any]) -> list[Any]:
        """Accept the filters that the source evaluates; return the others."""
        pushed, undecided = sort_filters(filters, self.schema, ())
        self.pushed = self.pushed.and_also(pushed)
        return undecided

    def partitions(self) -> list[Any]:
        """Return the file slices that may have matching rows."""
        with one_line(), FILESYSTEMS.lease(self.location) as fs:
            table = replace(self.table, fs=fs)
            groups = self._groups(fs)
            slices = table.slices(None)
            return [SlicePartition(item) for item in slices if self._keeps(item, groups)]

    def _groups(self, fs: FileSystem) -> set[tuple[str, str]] | None:
        """Return partition and file group of the selected records; None if they are unknown.

        The index must be of the same commits as the table: a record may have moved since.
        """
        keys = values_of(KEY, self.pushed.rows) if self.indexed else None
        if keys is None:
            return None
        try:
            with MetadataTable(fs, self.table.path) as metadata:
                commits = write_timeline(metadata.data_timeline.instants.values())
                if commits.completed != self.table.rules.timeline.completed:
                    return None
                return {location[:2] for location in metadata.lookup(keys).values()}
        except (MetadataException, FileNotFoundError):
            return None

    def _keeps(self, item: FileSlice, groups: set[tuple[str, str]] | None) -> bool:
        partition = self.table.partition_of(item)
        if groups is not None and (partition, item.group) not in groups:
            return False
        return all(rule.holds(partition) for rule in self.pushed.rows if rule.column == PARTITION)

    def read(self, partition: Any) -> Iterator[Any]:
        """Yield the rows of a file slice as Arrow batches."""
        if not isinstance(partition, SlicePartition):
            return
        fields = self.schema.fields
        with one_line(), FILESYSTEMS.lease(self.location) as fs:
            table = replace(self.table, fs=fs)
            rows = table.rows(partition.item, table.selected([field.name for field in fields]))
            target = pa.schema([pa.field(f.name, arrow_type(f.dataType)) for f in fields])
            for batch in _converted(rows, target, self.root).to_batches():
                yield kept_rows(batch, self.pushed.rows)


def _converted(rows: Any, target: Any, root: str) -> Any:
    """Return rows with Spark's types; raise SourceException for a value that has no equal."""
    try:
        columns = [converted(rows[field.name], field.type) for field in target]
    except pa.ArrowException as error:
        raise SourceException(f"can't convert rows of {root!r}: {error}") from None
    return pa.table(columns, schema=target)


class PushdownHudiReader(HudiTableReader):
    """Reader that accepts Spark filters."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Accept the filters that the source evaluates; return the others."""
        return self.push(filters)
