"""Tests of option `where`, compared with filters that Spark pushes."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import datasource as api
from pyspark.sql import types as spark

from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.source import FsContractDataSource
from fscontract.pipeline.spark_source.where import filters_in
from tests.pipeline.spark_source.parquet_support import index, put, read, struct
from tests.pipeline.spark_source.support import write

SCHEMA = struct(
    id=spark.LongType(),
    n=spark.ByteType(),
    text=spark.StringType(),
    **{"day": spark.DateType(), "flag": spark.BooleanType(), "a b": spark.StringType()},
    real=spark.DoubleType(),
)


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("id = 5", [api.EqualTo(("id",), 5)]),
        ("ID>=-5 AND n<7", [api.GreaterThanOrEqual(("id",), -5), api.LessThan(("n",), 7)]),
        ("id <> 1", [api.Not(api.EqualTo(("id",), 1))]),
        ("text = 'it''s and = 1'", [api.EqualTo(("text",), "it's and = 1")]),
        ("`a b` > ''", [api.GreaterThan(("a b",), "")]),
        ("id in (1, 2)", [api.In(("id",), (1, 2))]),
        ("text not in ('a')", [api.Not(api.In(("text",), ("a",)))]),
        (
            "day between '2026-01-01' and date '2026-01-02' and id = 1",
            [
                api.GreaterThanOrEqual(("day",), date(2026, 1, 1)),
                api.LessThanOrEqual(("day",), date(2026, 1, 2)),
                api.EqualTo(("id",), 1),
            ],
        ),
        ("text like 'a%'", [api.StringStartsWith(("text",), "a")]),
        ("text like '%a'", [api.StringEndsWith(("text",), "a")]),
        ("text not like '%a%'", [api.Not(api.StringContains(("text",), "a"))]),
        ("text like 'a'", [api.EqualTo(("text",), "a")]),
        ("id is null and n is not null", [api.IsNull(("id",)), api.IsNotNull(("n",))]),
        ("flag = TRUE", [api.EqualTo(("flag",), True)]),
    ],
)
def test_text_is_parsed_to_filters(text: str, filters: list[Any]) -> None:
    assert filters_in(text, SCHEMA) == filters


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("none = 1", "unknown column in option 'where': 'none'"),
        ("id = 'x'", "'x' is not a valid bigint for 'id'"),
        ("n = 128", "'128' is not a valid tinyint for 'n'"),
        ("day = 'today'", "'today' is not a valid date for 'day'"),
        ("real > 1", "'1' is not a valid double for 'real'"),
        ("id = 1.5", "syntax error in option 'where' at '1.5'"),
        ("id = 1 or id = 2", "expected 'and', got 'or id = 2'"),
        ("id = ", "expected a value, got 'the end'"),
        ("= 1", "expected a column, got '= 1'"),
        ("id not 1", "expected 'in' or 'like', got '1'"),
        ("id between 1", "expected 'and', got 'the end'"),
        ("text like 'a_'", "unsupported pattern in option 'where': 'a_'"),
        ("id; drop", "syntax error in option 'where' at '; drop'"),
        ("id in 1", "expected '(', got '1'"),
    ],
)
def test_syntax_error_is_one_line(text: str, said: str) -> None:
    with pytest.raises(SourceException) as error:
        filters_in(text, SCHEMA)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_parquet_rows_match_the_conditions(tmp_path: Path) -> None:
    """Other files are not planned; Spark may push additional filters."""
    tables = {f"day={day}/f.parquet": {"id": range(10 * day, 10 * day + 10)} for day in range(5)}
    path = index(put(tmp_path, tables))
    found = read(path, metadata=True, where="id between 15 and 22")
    assert found.column("id") == [*range(15, 23)]
    assert found.files == ["day=1/f.parquet", "day=2/f.parquet"]
    both = read(path, [api.EqualTo(("day",), 1)], metadata=True, where="id between 15 and 22")
    assert both.files == ["day=1/f.parquet"]
    assert both.column("id") == [15, 16, 17, 18, 19]


def test_lines_match_the_conditions(tmp_path: Path) -> None:
    """If the required columns are selected."""
    write(tmp_path, "a", b"one\ntwo\n")
    path = write(tmp_path, "b", b"three\nfour\ntwo\n")

    def lines(**options: str) -> list[str]:
        source = FsContractDataSource({"path": str(tmp_path), **options})
        reader: Any = source.reader(source.schema())
        batches = (batch for part in reader.partitions() for batch in reader.read(part))
        return sorted(row["value"] for batch in batches for row in batch.to_pylist())

    assert lines(where="value like 't%'") == ["three", "two", "two"]
    assert lines(where=f"path = '{path}' and offset > 0") == ["four", "two"]
    with pytest.raises(SourceException, match="unknown column in option 'where': 'offset'"):
        lines(where="offset > 0", columns="value")
