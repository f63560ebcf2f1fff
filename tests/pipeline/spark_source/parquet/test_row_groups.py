"""Tests of Parquet files: each row is read once for any blocks, with the requested columns."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import datasource as api
from pyspark.sql import types as spark

from fscontract.pipeline.blockreader.readers import Counters
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.parquet import row_groups
from fscontract.pipeline.spark_source.parquet.batch_reader import (
    ParquetPushdownReader,
    schema_of_files,
)
from fscontract.pipeline.spark_source.planning import Packing
from fscontract.pipeline.spark_source.request import ReadRequest
from fscontract.pipeline.spark_source.source import FsContractDataSource
from tests.pipeline.spark_source.parquet_support import parquet, put, read, struct
from tests.pipeline.spark_source.support import write

OVER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
IDS = pa.table({"id": range(1000), "text": [f"row {n}" * 5 for n in range(1000)]})


@OVER
@given(
    size=st.integers(500, 9000),
    rows=st.integers(25, 1200),
    offset=st.sampled_from(["none", "DELTA_BINARY_PACKED"]),
)
def test_each_row_is_read_once_wherever_blocks_end(
    tmp_path: Path, size: int, rows: int, offset: str
) -> None:
    """For row groups of any size, with and without dictionaries."""
    encoding: dict[str, Any] = (
        {} if offset == "none" else {"use_dictionary": False, "column_encoding": {"id": offset}}
    )
    path = put(tmp_path / "in", {"f.parquet": IDS.select(["id"])}, row_group_size=rows, **encoding)
    found = read(path, blockSize=size, openCostInBytes=0, maxPartitionBytes=size)
    assert found.column("id") == list(range(1000))


def test_row_group_with_an_invalid_offset_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to the first block, or to the last."""
    path = put(tmp_path, {"f.parquet": IDS}, row_group_size=300)
    for place in (-5, 1 << 40):
        monkeypatch.setattr(row_groups, "_begin", lambda group, place=place: place)
        found = read(path, blockSize=1000)
        assert found.column("id") == list(range(1000))


def test_requested_columns_are_returned(tmp_path: Path) -> None:
    """All by default, in the order of the file; none is enough to count."""
    path = put(tmp_path, {"f.parquet": IDS})
    assert read(path).schema == "struct<id:bigint,text:string>"
    assert read(path, columns="text,id").rows[3] == {"text": "row 3" * 5, "id": 3}
    assert read(path, columns="").rows == [{}] * 1000
    with pytest.raises(SourceException, match="unknown column 'none'; known: id, text"):
        read(path, columns="none")


def test_only_bytes_of_the_columns_are_read(tmp_path: Path) -> None:
    """The footer, and the columns of the row groups that may match."""
    noise = [f"{n * 7919 % 100_003}" for n in range(100_000)]
    table = {"id": range(100_000), "noise": noise}
    path = put(tmp_path, {"f.parquet": table}, row_group_size=50_000, use_dictionary=False)
    told: list[Counters] = []
    for columns in ("id", "id,noise"):
        request = ReadRequest.of({"path": path, "reader": "parquet", "columns": columns})
        reader = ParquetPushdownReader(request, schema_of_files(request), Packing(), told.append)
        assert list(reader.pushFilters([api.LessThan(("id",), 10)])) == []
        (part,) = reader.partitions()
        assert sum(batch.num_rows for batch in reader.read(part)) == 10
    assert [counters.records for counters in told] == [10, 10]
    assert told[0].bytes < told[1].bytes < Path(path, "f.parquet").stat().st_size


def test_directories_are_columns(tmp_path: Path) -> None:
    """With the types of their values, and nulls; escapes are decoded."""
    one = {"id": [1]}
    names = ["day=2026-01-02/n=1/city=a%3Ab", "day=2026-01-03/n=02/city=__HIVE_DEFAULT_PARTITION__"]
    path = put(tmp_path, {f"{name}/f.parquet": one for name in names})
    found = read(path)
    assert found.schema == "struct<id:bigint,day:date,n:int,city:string>"
    assert sorted(found.rows, key=str) == [
        {"id": 1, "day": date(2026, 1, 2), "n": 1, "city": "a:b"},
        {"id": 1, "day": date(2026, 1, 3), "n": 2, "city": None},
    ]
    assert [row["id"] for row in read(path, [api.EqualTo(("n",), 2)]).rows] == [1]
    chosen = struct(n=spark.StringType(), id=spark.LongType())
    assert [row["n"] for row in read(path, schema=chosen).rows] == ["1", "02"]


def test_directory_column_overrides_the_file_column(tmp_path: Path) -> None:
    """As in Spark, the directory overrides the file."""
    path = put(tmp_path, {"n=7/f.parquet": {"n": [1, 2], "id": [3, 4]}})
    found = read(path, [api.EqualTo(("n",), 7)])
    assert found.schema == "struct<n:int,id:bigint>"
    assert [(row["n"], row["id"]) for row in found.rows] == [(7, 3), (7, 4)]
    assert read(path, [api.EqualTo(("n",), 1)]).rows == []


def test_a_file_that_lacks_a_column_has_nulls(tmp_path: Path) -> None:
    """A narrower type gives the same values; names may differ in case."""
    path = put(
        tmp_path,
        {
            "a.parquet": {"id": [1], "more": ["x"]},
            "b.parquet": {"ID": pa.array([2], pa.int16())},
        },
    )
    found = read(path)
    assert sorted(found.rows, key=str) == [{"id": 1, "more": "x"}, {"id": 2, "more": None}]
    assert read(path, [api.IsNull(("more",))]).column("id") == [2]


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        (
            pa.array([1, 2]),
            spark.IntegerType(),
            "column 'id' of '.*' has type int64, expected int32",
        ),
        (pa.array(["1"]), spark.IntegerType(), "has type string, expected int32"),
        (
            pa.array([datetime(2026, 1, 1)]),
            spark.TimestampType(),
            r"has type timestamp\[us\], expected timestamp",
        ),
        (
            pa.array([1, 2]),
            spark.YearMonthIntervalType(0, 0),
            "unsupported type for Parquet files: interval year",
        ),
        (pa.array([b"\xff"]), spark.StringType(), r"block 0 at offset 0: .*UTF8"),
        (
            pa.array([1], pa.timestamp("ns")),
            spark.TimestampNTZType(),
            "block 0 at offset 0: .*lose data",
        ),
    ],
    ids=str,
)
def test_values_are_not_converted_lossily(
    tmp_path: Path, values: Any, kind: Any, said: str
) -> None:
    """A value that does not fit the column is an error of one line."""
    path = put(tmp_path, {"f.parquet": {"id": values}})
    with pytest.raises(SourceException, match=said) as error:
        read(path, schema=struct(id=kind))
    assert "\n" not in str(error.value)


def test_a_column_without_nulls_has_none(tmp_path: Path) -> None:
    """If the schema says so."""
    path = put(tmp_path, {"f.parquet": {"id": [1, None]}})
    schema = spark.StructType([spark.StructField("id", spark.LongType(), nullable=False)])
    with pytest.raises(SourceException, match=r"unexpected nulls in column 'id' of '.*'"):
        read(path, schema=schema)


def test_types_of_all_kinds_are_read(tmp_path: Path) -> None:
    """As in Spark: unsigned numbers are wider; lists, maps and structs are supported."""
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901)
    zoned = moment.replace(tzinfo=timezone.utc)
    columns = {
        "small": pa.array([255], pa.uint8()),
        "huge": pa.array([1 << 63], pa.uint64()),
        "money": pa.array([Decimal("1.50")], pa.decimal128(9, 2)),
        "zoned": pa.array([zoned], pa.timestamp("us", "Europe/Berlin")),
        "local": pa.array([moment], pa.timestamp("us")),
        "large": pa.array(["x"], pa.large_string()),
        "choice": pa.array(["y"]).dictionary_encode(),
        "fixed": pa.array([b"ab"], pa.binary(2)),
        "list": pa.array([[1, None]], pa.list_(pa.int32())),
        "map": pa.array([[("k", 1.5)]], pa.map_(pa.string(), pa.float64())),
        "struct": pa.array([{"a": 1, "b": [{"c": "d"}]}]),
        "nothing": pa.array([None], pa.null()),
        "after": pa.array([True]),
    }
    path = put(tmp_path, {"f.parquet": columns})
    (row,) = read(path).rows
    assert row == {
        "small": 255,
        "huge": Decimal(1 << 63),
        "money": Decimal("1.50"),
        "zoned": zoned,
        "local": moment,
        "large": "x",
        "choice": "y",
        "fixed": b"ab",
        "list": [1, None],
        "map": [("k", 1.5)],
        "struct": {"a": 1, "b": [{"c": "d"}]},
        "nothing": None,
        "after": True,
    }
    assert read(path, columns="after,struct").rows == [
        {"after": True, "struct": {"a": 1, "b": [{"c": "d"}]}}
    ]


def test_times_that_were_stored_as_int96_have_a_zone(tmp_path: Path) -> None:
    """As Spark writes them."""
    moment = datetime(2026, 1, 2, tzinfo=timezone.utc)
    table = {"at": pa.array([moment], pa.timestamp("us", "UTC"))}
    path = put(
        tmp_path, {"f.parquet": table}, use_deprecated_int96_timestamps=True, store_schema=False
    )
    found = read(path)
    assert found.schema == "struct<at:timestamp>"
    assert found.rows == [{"at": moment}]


def test_invalid_parquet_file_error_is_one_line(tmp_path: Path) -> None:
    """With block, offset and path; an empty file has no rows, and hidden ones are ignored."""
    path = put(tmp_path, {"a.parquet": {"id": [1]}})
    write(tmp_path, "empty", b"")
    write(tmp_path, "_temporary/x", b"no")
    write(tmp_path, ".hoodie/hoodie.properties", b"a=b")
    assert read(path).rows == [{"id": 1}]
    write(tmp_path, "b.parquet", parquet(pa.table({"id": [2]}))[:-20])
    with pytest.raises(SourceException, match=r"block 1 at offset 0: .*b.parquet'") as error:
        read(path)
    assert "\n" not in str(error.value)
    assert read(path, filePattern="a.*").rows == [{"id": 1}]


def test_without_a_file_schema_inference_fails(tmp_path: Path) -> None:
    """Unless it is given."""
    with pytest.raises(SourceException, match="no Parquet file to infer the columns from"):
        read(tmp_path)
    assert read(tmp_path, schema=struct(id=spark.LongType())).rows == []


def test_directories_of_different_columns_are_rejected(tmp_path: Path) -> None:
    """They are inconsistent."""
    path = put(tmp_path, {"a=1/f.parquet": {"id": [1]}, "b=1/f.parquet": {"id": [1]}})
    with pytest.raises(SourceException, match="some directories have a, others b"):
        read(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": "x"}, "option 'delimiter' is not supported for parquet"),
        ({"compression": "gzip"}, "option 'compression' is not supported for parquet"),
        ({"columns": "id,id"}, "option 'columns' can't be 'id,id': expected names, each once"),
        ({"metadataDir": "/x"}, "option 'metadataDir' requires option 'metadata'"),
    ],
    ids=str,
)
def test_options_of_records_are_rejected(
    tmp_path: Path, options: dict[str, str], said: str
) -> None:
    """With one line."""
    with pytest.raises(SourceException, match=said):
        read(put(tmp_path, {"f.parquet": {"id": [1]}}), **options)


def test_a_missing_file_may_be_ignored(tmp_path: Path) -> None:
    """If the options say so; a changed one is an error."""
    path = put(tmp_path, {"a.parquet": {"id": [1]}, "b.parquet": {"id": [2]}})
    for option, found in (("false", None), ("true", [1])):
        options = {"path": path, "reader": "parquet", "ignoreMissingFiles": option}
        source = FsContractDataSource(options)
        reader = source.reader(source.schema())
        parts = reader.partitions()
        Path(path, "b.parquet").unlink()
        rows = (r["id"] for p in parts for batch in reader.read(p) for r in batch.to_pylist())
        if found is None:
            with pytest.raises(SourceException, match="block 1 at offset 0"):
                list(rows)
            put(tmp_path, {"b.parquet": {"id": [2]}})
        else:
            assert list(rows) == found
