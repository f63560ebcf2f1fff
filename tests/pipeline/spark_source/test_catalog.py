"""Tests of the source as a table of Spark's catalog, and of relative paths."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.writer import MetadataWriter
from fscontract.pipeline.spark_source.catalog import (
    OPTIONS_KEY,
    is_table,
    options_of_table,
    take_options,
    with_options,
)
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.metadata_source import MetadataTableSource
from fscontract.pipeline.spark_source.source import FsContractDataSource
from tests.pipeline.spark_source.parquet_support import index, put
from tests.pipeline.spark_source.programs.stream import start
from tests.pipeline.spark_source.support import write

#: Properties that Spark 4.3 passes for `create table ... using fscontract options (path,
#: blockSize)` with a comment and a user property.
PROPERTIES = {
    "provider": "fscontract",
    "owner": "root",
    "location": "file:/in",
    "path": "file:/in",
    "option.blocksize": "3",
    "blocksize": "3",
    "comment": "text",
    "external": "true",
    "my.prop": "1",
}


@pytest.fixture
def name(spark: Any, source: Any, tmp_path: Path) -> Iterator[str]:
    """The name of a table, which is dropped afterwards."""
    made = tmp_path.name
    yield made
    spark.sql(f"drop table if exists {made}")


@pytest.fixture
def here(spark: Any, tmp_path: Path) -> str:
    """The test's directory, relative to the JVM's working directory."""
    driver = spark.sparkContext._jvm.java.lang.System.getProperty("user.dir")
    return os.path.relpath(tmp_path, driver)


# Properties and schemas ---------------------------------------------------------------------------


def test_only_explicit_options_are_options_of_a_table() -> None:
    assert is_table(PROPERTIES)
    assert options_of_table(PROPERTIES) == {"path": "file:/in", "blocksize": "3"}


@pytest.mark.parametrize("name", ["owner", "provider", "comment", "location"])
def test_table_property_is_an_unknown_option(name: str) -> None:
    """It does not come from Spark."""
    with pytest.raises(SourceException, match=f"unknown option '{name}'"):
        FsContractDataSource({"path": "/in", name: "x"})


def test_invalid_option_of_a_table_is_rejected() -> None:
    with pytest.raises(SourceException, match="unknown option 'blocksze'; did you mean blockSize"):
        FsContractDataSource({**PROPERTIES, "option.blocksze": "3"})


def test_a_schema_keeps_options_beside_other_metadata() -> None:
    fields = [StructField("a", StringType(), False, {"x": 1}), StructField("b", LongType())]
    schema, options = StructType(fields), {"path": "/in", "columns": "a"}
    kept = with_options(schema, options)
    assert kept.fields[0].metadata == {"x": 1, OPTIONS_KEY: options}
    assert take_options(StructType.fromJson(kept.jsonValue())) == (schema, options)
    assert take_options(schema) == (schema, {})


def test_a_table_without_columns_is_rejected() -> None:
    with pytest.raises(SourceException, match="a table has at least one column"):
        with_options(StructType([]), {})


def test_an_input_replaces_the_options_of_a_schema(tmp_path: Path) -> None:
    """The schema of a table does not affect a read of another input."""
    write(tmp_path, "a", b"x")
    schema = FsContractDataSource({"path": str(tmp_path)}).schema()
    other = FsContractDataSource({"path": "/other"})
    other.reader(with_options(schema, {"path": str(tmp_path), "blocksize": "3"}))
    assert (other.request.paths, other.request.values["blockSize"]) == (("/other",), None)


@pytest.mark.parametrize("source", [FsContractDataSource, MetadataTableSource])
@pytest.mark.parametrize("options", [{"path": "/in"}, {}], ids=["table", "view"])
def test_nothing_is_written(source: Any, options: dict[str, str]) -> None:
    made = source(options)
    for write_to in (made.writer, made.streamWriter):
        with pytest.raises(SourceException, match=r"format 'fscontract.*' is read-only"):
            write_to(StructType([]), False)


def test_writing_a_stream_is_rejected() -> None:
    """Spark creates the source with the writer's options, one of which readers lack."""
    with pytest.raises(SourceException, match=r"format 'fscontract' is read-only"):
        FsContractDataSource({"path": "/out", "checkpointlocation": "/c"})


# Tables and views ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clause", ["options (path '{path}', blockSize '3')", "location '{path}'"], ids=str
)
def test_a_table_that_was_created_is_read(
    spark: Any, tmp_path: Path, name: str, clause: str
) -> None:
    write(tmp_path, "in/x", b"a\nb\n")
    options = clause.format(path=tmp_path / "in")
    told = "comment 'text' tblproperties ('my.prop' = '1')"
    spark.sql(f"create table {name} using fscontract {options} {told}")
    rows = spark.sql(f"select value, block_id from {name} where offset > 0").collect()
    assert [tuple(row) for row in rows] == [("b", 0)]
    assert spark.table(name).count() == 2
    fewer = spark.sql(f"select value from {name} with (path = '{tmp_path}/in/x', blockSize = 1)")
    assert [row.value for row in fewer.collect()] == ["a", "b"]


@pytest.mark.parametrize("location", ["{path}", "{here}"], ids=["absolute", "relative"])
def test_a_view_is_read(spark: Any, tmp_path: Path, here: str, name: str, location: str) -> None:
    write(tmp_path, "in/x", b"a\nb\n")
    path = location.format(path=tmp_path, here=here)
    spark.sql(f"create temporary view {name} using fscontract options (path '{path}/in')")
    try:
        rows = spark.sql(f"select value, path from {name}").collect()
    finally:
        spark.catalog.dropTempView(name)
    assert [tuple(row) for row in rows] == [(v, f"{tmp_path}/in/x") for v in "ab"]


def test_a_view_has_options_and_its_own_columns(spark: Any, tmp_path: Path, name: str) -> None:
    """A view is a snapshot: create it again for new files."""
    write(tmp_path, "in/x", b"a\nb\n")
    view = f"temporary view {name} (value binary, offset bigint) using fscontract"
    options = f"options (path '{tmp_path}/in', blockSize '2', where 'offset > 0')"
    try:
        for found in ([b"b"], [b"b", b"d"]):
            spark.sql(f"create or replace {view} {options}")
            assert sorted(row.value for row in spark.table(name).collect()) == found
            write(tmp_path, "in/y", b"c\nd\n")
    finally:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("select * from fscontract.`{path}`", "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"),
        ("insert into {name} values ('x', 'y', 0, 0)", "read-only: write with another format"),
        ("create temporary view {name}2 using fscontract", r"in SQL: options \(path"),
    ],
    ids=["path", "insert", "no path"],
)
def test_statement_that_spark_does_not_allow_on_a_view_is_refused(
    spark: Any, tmp_path: Path, name: str, statement: str, said: str
) -> None:
    from pyspark.errors import AnalysisException

    write(tmp_path, "x", b"a")
    spark.sql(f"create temporary view {name} using fscontract options (path '{tmp_path}')")
    try:
        with pytest.raises(AnalysisException, match=said) as caught:
            spark.sql(statement.format(name=name, path=tmp_path))
    finally:
        spark.catalog.dropTempView(name)
    assert "Traceback" not in str(caught.value)


def test_a_metadata_table_is_read_as_a_table_of_the_catalog(
    spark: Any, tmp_path: Path, name: str
) -> None:
    write(tmp_path, "day=1/a", b"12345")
    index(str(tmp_path))
    spark.sql(f"create table {name} using `fscontract-metadata` options (path '{tmp_path}')")
    rows = spark.sql(f"select partition, size from {name}").collect()
    assert [tuple(row) for row in rows] == [("day=1", 5)]


def test_a_stream_reads_a_table(spark: Any, tmp_path: Path, here: str, name: str) -> None:
    """The table was created with a relative path, and relative windows."""
    write(tmp_path, "in/x", b"a\nb\n")
    spark.sql(f"create table {name} using fscontract options (path '{here}/in')")
    frame = spark.readStream.option("windowLocation", f"{here}/windows").table(name)
    writer = frame.select("value").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(tmp_path / "spark"))
    writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
    assert sorted(r.value for r in spark.read.parquet(str(tmp_path / "out")).collect()) == [
        "a",
        "b",
    ]
    assert (tmp_path / "windows" / "stream").is_file()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "create table {name} using fscontract options (path '{path}', x '1')",
            "unknown option 'x'",
        ),
        ("create table {name} using fscontract options (blockSize '3')", "missing path"),
        ("create table {name} using fscontract as select 1 as value", "is read-only"),
        ("select * from {name}2", "omit its columns"),
        ("insert into {name}2 values ('x')", "format 'fscontract' is read-only"),
    ],
    ids=["option", "path", "select", "columns", "insert"],
)
def test_unsupported_table_operation_is_one_line(
    spark: Any, tmp_path: Path, name: str, statement: str, said: str
) -> None:
    """Spark passes no options of a table to a source with explicit columns."""
    from pyspark.errors import AnalysisException

    write(tmp_path, "x", b"a")
    options = f"options (path '{tmp_path}')"
    spark.sql(f"create table {name}2 (value string) using fscontract {options}")
    try:
        with pytest.raises(AnalysisException, match=said) as caught:
            spark.sql(statement.format(name=name, path=tmp_path)).collect()
    finally:
        spark.sql(f"drop table {name}2")
    assert "Traceback" not in str(caught.value)


def test_a_stream_without_a_path_is_one_line(spark: Any, tmp_path: Path, source: Any) -> None:
    """Also with explicit columns, where the reader is created first."""
    from pyspark.errors import StreamingQueryException

    reader = spark.readStream.format("fscontract").schema("value string")
    frame = reader.option("windowLocation", str(tmp_path / "windows")).load()
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "c"))
    query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
    with pytest.raises(StreamingQueryException, match="SourceException: missing path"):
        query.awaitTermination()


# Relative paths -----------------------------------------------------------------------------------


def test_a_batch_reads_relative_paths(spark: Any, tmp_path: Path, here: str, source: Any) -> None:
    """One, several, and patterns; rows have the absolute path."""
    paths = [write(tmp_path, f"in/{name}", name.encode()) for name in "ab"]
    reader = spark.read.format("fscontract").option("columns", "path")
    for given in (f"{here}/in", [f"{here}/in/a", paths[1]], f"{here}/i?/[ab]"):
        assert sorted(row.path for row in reader.load(given).collect()) == paths


def test_parquet_and_its_metadata_are_at_relative_paths(
    spark: Any, tmp_path: Path, here: str, source: Any
) -> None:
    put(tmp_path / "data", {"day=1/a.parquet": {"n": [1, 2]}})
    aside = str(tmp_path / "aside")
    MetadataWriter(LocalFileSystem("/"), str(tmp_path / "data"), directory=aside).initialize()
    reader = spark.read.format("fscontract").option("reader", "parquet").option("metadata", True)
    frame = reader.option("metadataDir", f"{here}/aside").load(f"{here}/data")
    assert sorted(row.n for row in frame.collect()) == [1, 2]
    reader = spark.read.format("fscontract-metadata").option("metadataDir", f"{here}/aside")
    assert [row.partition for row in reader.load(f"{here}/data").collect()] == ["day=1"]


def test_a_stream_reads_relative_paths(spark: Any, tmp_path: Path, here: str, source: Any) -> None:
    """Runs with relative and absolute paths belong to one stream."""
    write(tmp_path, "in/a", b"1")
    start(spark, Path(here)).awaitTermination()
    write(tmp_path, "in/b", b"2")
    start(spark, tmp_path).awaitTermination()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((r.value, r.path) for r in rows) == [
        (str(n), str(tmp_path / "in" / name)) for n, name in ((1, "a"), (2, "b"))
    ]
