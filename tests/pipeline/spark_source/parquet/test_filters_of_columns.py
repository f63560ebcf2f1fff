"""Tests of every filter on every column: no matching file is skipped, and rows equal SQL's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import datasource as api
from pyspark.sql import types as spark

from fscontract.pipeline.hudi.parquet_stats import column_range
from fscontract.pipeline.hudi.pruning import may_match
from fscontract.pipeline.spark_source.filters import filters_of, sort_filters
from fscontract.pipeline.spark_source.parquet.row_groups import kept_rows
from fscontract.pipeline.spark_source.parquet.types import spark_type
from tests.pipeline.spark_source.parquet_support import parquet
from tests.pipeline.spark_source.test_metadata_files import COMPARING, VALUES, meets


def _filters(column: str) -> Iterator[Any]:
    """Yield all filters that Spark may push with these values, and their negations."""
    name, known = (column,), [value for value in VALUES[column][1] if value is not None]
    textual = {api.StringStartsWith, api.StringEndsWith, api.StringContains}
    kinds = [kind for kind in COMPARING if column == "text" or kind not in textual]
    plain: list[Any] = [api.IsNull(name), api.IsNotNull(name), api.EqualNullSafe(name, None)]
    plain += [kind(name, value) for kind in (*kinds, api.EqualNullSafe) for value in known]
    plain += [api.In(name, pair) for pair in itertools.combinations([None, *known], 2)]
    plain.append(api.In(name, ()))
    return itertools.chain(plain, map(api.Not, plain))


def _statistics(column: str, values: tuple[Any, ...]) -> Any:
    table = pa.table({column: pa.array(values, VALUES[column][0])})
    metadata = pq.read_metadata(pa.BufferReader(parquet(table)))
    return column_range("", metadata.schema.column(0), [metadata.row_group(0).column(0)])


@pytest.mark.parametrize("column", [name for name in VALUES if "." not in name])
def test_no_file_is_left_out_that_has_a_row(column: str) -> None:
    """Files have one value, two, or one twice, including nulls and NaN."""
    values = VALUES[column][1]
    files = [(v,) for v in values] + list(itertools.combinations_with_replacement(values, 2))
    known = [(file, _statistics(column, file)) for file in files]
    left_out = 0
    for pushed in _filters(column):
        wanted = filters_of(pushed)
        for file, statistics in known:
            kept = all(may_match(statistics, each) for each in wanted)
            left_out += not kept
            assert kept or not any(meets({column: v}, pushed) for v in file), (pushed, file)
    assert left_out > len(files)


@pytest.mark.parametrize("column", list(VALUES))
def test_accepted_filters_agree_with_sql(column: str) -> None:
    """Row by row; unsupported filters are returned unchanged."""
    kind, values = VALUES[column]
    batch = pa.RecordBatch.from_arrays([pa.array(values, kind)], [column])
    schema = spark.StructType([spark.StructField(column, spark_type(kind))])
    taken = 0
    for pushed in _filters(column):
        found, left = sort_filters([pushed], schema, ())
        assert left in ([], [pushed])
        if not left:
            taken += 1
            wanted = [value for value in values if meets({column: value}, pushed)]
            assert kept_rows(batch, found.rows).column(0).to_pylist() == wanted, pushed
    assert (taken > 0) == (column not in ("real", "single", "at", "money"))


@pytest.mark.parametrize("column", ["whole", "text"])
def test_directory_filters_are_not_applied_to_columns(column: str) -> None:
    """The files may have another column with that name."""
    kind = spark_type(VALUES[column][0])
    schema = spark.StructType([spark.StructField(column, kind)])
    for pushed in _filters(column):
        found, left = sort_filters([pushed], schema, [column])
        assert (found.rows, found.ranges) == ((), ())
        assert bool(found.directories) == (left == [])
