"""Data source of a dataset's metadata table: `format("fscontract-metadata")`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceReader, InputPartition

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.filesystem_base import normalize
from fscontract.implementations.options import choice, text
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.pipeline.blocks import bare_path, join_path
from fscontract.pipeline.hudi.changes import below
from fscontract.pipeline.hudi.column_stats import partition_key
from fscontract.pipeline.hudi.listing import instant_in
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.spark_source.catalog import CatalogSource
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.filters import NOTHING, Condition, sort_filters, values_of
from fscontract.pipeline.spark_source.options import SourceOption, location, parse_options
from fscontract.pipeline.spark_source.parquet.row_groups import kept_rows
from fscontract.pipeline.spark_source.parquet.types import arrow_type
from fscontract.pipeline.spark_source.request import locations_of, path_of

#: Format name in Spark.
NAME = "fscontract-metadata"
FILES, COLUMN_STATS = "files", "column_stats"
OPTIONS = (
    SourceOption(
        "content",
        choice,
        "Partition of the metadata table: a row for each file, or for each file and column with "
        "statistics.",
        FILES,
        choices=(FILES, COLUMN_STATS),
    ),
    SourceOption("asOf", text, "Instant: show the dataset at that time."),
    SourceOption(
        "metadataDir", location, "Directory of the metadata table, if not in the dataset."
    ),
)
#: Column names; those in `_NUMBERS` are numbers, the others strings.
_COLUMNS = {
    FILES: ("partition", "path", "size", "instant"),
    COLUMN_STATS: (
        *("column", "partition", "path", "type", "minimum", "maximum"),
        *("value_count", "null_count"),
    ),
}
_NUMBERS = {"size", "value_count", "null_count"}
_ROWS = 1 << 14
_DAY_0 = date(1970, 1, 1)
_TIME_0 = datetime(1970, 1, 1, tzinfo=timezone.utc)


class MetadataTableSource(CatalogSource):
    """Rows of a metadata table; `docs/how-to/metadata-table.md` describes the columns."""

    @classmethod
    def name(cls) -> str:
        """Return the format name."""
        return NAME

    def _understand(self, options: Mapping[str, str]) -> None:
        self.values = parse_options(options, OPTIONS)
        self.root = path_of(options, "dataset")
        where = self.values["metadataDir"]
        self.location, _ = locations_of((self.root, *([where] if where else [])), None, options)

    def _columns(self) -> Any:
        """Return the schema; raise SourceException without a metadata table."""
        with one_line(), FILESYSTEMS.lease(self.location) as fs, self.table(fs):
            return schema_of(self.values["content"])

    def table(self, fs: FileSystem) -> MetadataTable:
        """Return the table; raise SourceException if there is none."""
        where = self.values["metadataDir"]
        directory = None if where is None else normalize(bare_path(where))
        path = normalize(bare_path(self.root))
        try:
            return MetadataTable(fs, path, as_of=self.values["asOf"], directory=directory)
        except FileNotFoundError:
            raise SourceException(f"{self.root!r} has no metadata table") from None

    def reader(self, schema: Any) -> MetadataTableReader:
        """Return the reader."""
        schema = self.plain(schema)
        if schema != schema_of(self.values["content"]):
            expected = schema_of(self.values["content"]).simpleString()
            raise SourceException(f"invalid schema; expected the columns {expected}")
        return (PushdownTableReader if self.pushdown else MetadataTableReader)(self)


def schema_of(content: str) -> Any:
    """Return the columns of a partition of the table."""
    kinds = {name: spark.LongType() for name in _NUMBERS}
    text = spark.StringType()
    return spark.StructType([spark.StructField(n, kinds.get(n, text)) for n in _COLUMNS[content]])


class MetadataTableReader(DataSourceReader):  # type: ignore[misc]
    """Reads the table in one task, because it consists of one file and a few logs."""

    def __init__(self, source: MetadataTableSource) -> None:
        self.source = source
        self.report = type(source).report
        self.pushed = NOTHING

    def partitions(self) -> list[Any]:
        """Return a single partition."""
        return [InputPartition(0)]

    def read(self, partition: Any) -> Iterator[Any]:
        """Yield the rows as Arrow batches."""
        source = self.source
        content = source.values["content"]
        fields = schema_of(content).fields
        schema = pa.schema([pa.field(f.name, arrow_type(f.dataType)) for f in fields])
        rows = _files if content == FILES else _statistics
        with one_line(), FILESYSTEMS.lease(source.location) as fs, source.table(fs) as table:
            for batch in _batches(rows(table, source.root, self.pushed.rows), schema):
                yield kept_rows(batch, self.pushed.rows)
        if self.report is not None:
            self.report(table.metrics)


class PushdownTableReader(MetadataTableReader):
    """Reader that accepts Spark filters."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Accept the filters that select partitions and columns of the table."""
        schema = schema_of(self.source.values["content"])
        pushed, undecided = sort_filters(filters, schema, ())
        self.pushed = self.pushed.and_also(pushed)
        return undecided


def _files(
    table: MetadataTable, root: str, conditions: Iterable[Condition]
) -> Iterator[tuple[Any, ...]]:
    names = values_of("partition", conditions)
    listed = table.list_all() if names is None else table.list_many(sorted(names)).items()
    for partition, statuses in listed:
        for status in statuses:
            name = status.path.rpartition("/")[2]
            path = join_path(root, below(partition, name))
            yield partition, path, status.length, instant_in(name)


def _statistics(
    table: MetadataTable, root: str, conditions: Iterable[Condition]
) -> Iterator[tuple[Any, ...]]:
    partitions = table.list_partitions()
    chosen = values_of("column", conditions)
    for column in table.columns:
        if chosen is not None and column not in chosen:
            continue
        names = {partition_key(column, partition): partition for partition in partitions}
        for (key, name), known in table.column_statistics(column).items():
            if key in names:
                path = join_path(root, below(names[key], name))
                yield column, names[key], path, *_statistics_row(known)


def _statistics_row(known: ColumnStatistics) -> tuple[Any, ...]:
    wrapper = known.wrapper
    kind = None if wrapper is None else wrapper.removesuffix("Wrapper")
    low, high = (_text(wrapper, value) for value in (known.minimum, known.maximum))
    return kind, low, high, known.value_count, known.null_count


def _text(wrapper: str | None, value: Any) -> str | None:
    if value is None:
        return None
    return _TEXTS.get(wrapper or "", str)(value)


#: Converters of values that are neither texts nor numbers.
_TEXTS: dict[str, Callable[[Any], str]] = {
    "BooleanWrapper": lambda value: str(value).lower(),
    "BytesWrapper": lambda value: bytes(value).hex(),
    "DateWrapper": lambda value: str(_DAY_0 + timedelta(days=value)),
    "TimestampMicrosWrapper": lambda value: str(_TIME_0 + timedelta(microseconds=value)),
}


def _batches(rows: Iterator[tuple[Any, ...]], schema: Any) -> Iterator[Any]:
    waiting: list[tuple[Any, ...]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == _ROWS:
            yield _batch(waiting, schema)
            waiting = []
    if waiting:
        yield _batch(waiting, schema)


def _batch(rows: list[tuple[Any, ...]], schema: Any) -> Any:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
