"""Tests of queries of Hudi tables on Spark: without a session, but for the last ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import datasource as api

from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.io import MetadataException, write_file
from fscontract.pipeline.hudi.snapshot import read
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant
from fscontract.pipeline.hudi.writer import MetadataWriter
from fscontract.pipeline.spark_source import hudi_source
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.hudi_source import HudiTableSource
from fscontract.pipeline.spark_source.source import Registration
from tests.pipeline.hudi.row_tables import GROUP, PATH, RowTable, avro_block, delete_block, time
from tests.pipeline.hudi.test_record_index import put_index, record
from tests.pipeline.hudi.test_snapshot import FIRST, completed
from tests.pipeline.hudi.test_tables_of_hudi import ARCHIVES, extracted, instants_of, needs_tables

OTHER = GROUP.replace("0", "1", 1)

INDEXED = {"recordIndex": "true"}


class PushingSource(HudiTableSource):
    """The source as `register` creates it."""

    pushdown = True


@pytest.fixture
def table(tmp_path: Path) -> RowTable:
    """A table with a base file, another one with a log, and a slice of logs alone."""
    made = RowTable(fs=LocalFileSystem(str(tmp_path), durable=False))
    first, second = made.complete(1), made.complete(2)
    made.base(first, [("a", 1, "a1"), ("b", 1, "b1")])
    made.base(first, [("c", 1, "c1")], OTHER)
    made.log(second, avro_block(second, [("a", 2, "a2")]), delete_block(second, {"b": None}))
    made.log(second, avro_block(second, [("d", 2, "d2")]), group=GROUP.replace("0", "2", 1))
    return made


def reader_of(path: object, filters: Any = (), **options: str) -> Any:
    """Return a reader as Spark sends it to tasks, and the filters that Spark applies again."""
    source = PushingSource({"path": str(path), **options})
    reader: Any = source.reader(source.schema())
    assert list(reader.pushFilters(list(filters))) == []
    return pickle.loads(pickle.dumps(reader))


def rows_of(path: object, filters: Any = (), **options: str) -> list[dict[str, Any]]:
    """Return the rows of all partitions."""
    reader = reader_of(path, filters, **options)
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    return [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]


def expected(path: object, **options: Any) -> list[dict[str, Any]]:
    """Return the rows that `read` returns."""
    tables = list(read(LocalFileSystem(), str(path), **options))
    return [row for each in tables for row in each.to_pylist()]


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({}, {}),
        ({"query": "read_optimized"}, {"mode": "read-optimised"}),
        ({"asOf": time(1)}, {"as_of": time(1)}),
        ({"query": "incremental", "begin": FIRST}, {"begin": FIRST}),
        (
            {"query": "incremental", "begin": FIRST, "end": completed(1)},
            {"begin": FIRST, "end": completed(1)},
        ),
        ({"query": "incremental", "begin": completed(1)}, {"begin": completed(1)}),
        ({"columns": "value,id"}, {"columns": ["value", "id"]}),
    ],
    ids=str,
)
def test_queries_have_the_rows_of_read(
    table: RowTable, tmp_path: Path, options: dict[str, str], own: dict[str, Any]
) -> None:
    rows = rows_of(f"{tmp_path}{PATH}", **options)
    assert rows
    assert rows == expected(f"{tmp_path}{PATH}", **own)


def test_each_file_slice_is_a_task(table: RowTable, tmp_path: Path) -> None:
    assert len(reader_of(f"{tmp_path}{PATH}").partitions()) == 3
    later = {"query": "incremental", "begin": completed(1)}
    assert len(reader_of(f"{tmp_path}{PATH}", **later).partitions()) == 2
    assert list(reader_of(f"{tmp_path}{PATH}").read(None)) == []


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("id = 'a'", "a"),
        ("ts > 1", "ad"),
        ("value in ('c1', 'd2') and ts = 1", "c"),
        ("id > 'x'", ""),
    ],
)
def test_conditions_select_merged_rows(
    table: RowTable, tmp_path: Path, where: str, keys: str
) -> None:
    assert "".join(row["id"] for row in rows_of(f"{tmp_path}{PATH}", where=where)) == keys


def test_pushed_filters_select_rows(table: RowTable, tmp_path: Path) -> None:
    rows = rows_of(f"{tmp_path}{PATH}", [api.EqualTo(("value",), "a2")])
    assert [row["id"] for row in rows] == ["a"]


def test_conditions_on_the_partition_skip_file_slices(table: RowTable, tmp_path: Path) -> None:
    where = "_hoodie_partition_path = 'day=1'"
    assert reader_of(f"{tmp_path}{PATH}", where=where).partitions() == []
    where = "_hoodie_partition_path = '' and _hoodie_partition_path is not null"
    assert len(reader_of(f"{tmp_path}{PATH}", where=where).partitions()) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": "latest"}, "option 'query' can't be 'latest': expected one of snapshot"),
        ({"query": "incremental"}, "option 'query' 'incremental' requires option 'begin'"),
        ({"begin": time(1)}, "option 'begin' requires option 'query' 'incremental'"),
        ({"end": time(1)}, "option 'end' requires option 'query' 'incremental'"),
        ({"asOf": "today"}, "invalid instant 'today'; must be 17 digits"),
        ({"query": "incremental", "begin": time(1), "asOf": time(1)}, "as_of is for snapshots"),
        ({"columns": "id,name"}, "unknown column 'name'; must be one of _hoodie_commit_time"),
        ({"columns": ""}, "columns must have at least one name"),
        ({"reader": "parquet"}, "unknown option 'reader'"),
        ({"path": "/nowhere"}, "'/nowhere' is not a Hudi table"),
        ({"path": "", "paths": '["/a", "/b"]'}, "expected the path of one table"),
    ],
    ids=str,
)
def test_invalid_options_are_one_line(
    table: RowTable, tmp_path: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(SourceException, match=message) as error:
        PushingSource({"path": f"{tmp_path}{PATH}", **options}).schema()
    assert "\n" not in str(error.value)


def test_conditions_that_the_source_cannot_evaluate_are_refused(
    table: RowTable, tmp_path: Path
) -> None:
    with pytest.raises(SourceException, match="unknown column in option 'where': 'value'"):
        reader_of(f"{tmp_path}{PATH}", columns="id", where="value = 'a'")


def test_a_condition_on_the_key_reads_the_file_group_in_the_record_index(
    table: RowTable, tmp_path: Path
) -> None:
    """Shown by an index that has a wrong file group."""
    path = f"{tmp_path}{PATH}"
    made = MetadataWriter(table.fs, PATH)
    made.initialize()
    put_index(table.fs, made, [record("a", GROUP, ""), record("c", GROUP, "")])

    def found(key: str, **options: str) -> list[str]:
        where = f"_hoodie_record_key = '{key}'"
        return [row["id"] for row in rows_of(path, where=where, **{**INDEXED, **options})]

    assert (found("a"), found("c"), found("d")) == (["a"], [], [])
    where = "_hoodie_record_key in ('a', 'x')"
    assert len(reader_of(path, where=where, **INDEXED).partitions()) == 1
    assert len(reader_of(path, where="_hoodie_record_key != 'a'", **INDEXED).partitions()) == 3
    assert [row["id"] for row in rows_of(path, where="_hoodie_record_key = 'c'")] == ["c"]
    assert found("c", asOf=time(2)) == ["c"]
    assert found("c", query="incremental", begin=FIRST) == ["c"]
    late = Instant("20990101000000000", "deltacommit", COMPLETED, "20990101000000001")
    write_file(table.fs, f"{PATH}/{late.path}", b"{}")  # which the index does not have
    assert found("c") == ["c"]


def test_conditions_on_the_key_use_an_index_of_the_writer(table: RowTable, tmp_path: Path) -> None:
    """It locates a row that a log inserts."""
    made = MetadataWriter(table.fs, PATH)
    made.initialize()
    made.create_partition("record_index")
    for key in ("a", "c", "d"):
        reader = reader_of(f"{tmp_path}{PATH}", where=f"_hoodie_record_key = '{key}'", **INDEXED)
        assert len(reader.partitions()) == 1
        rows = rows_of(f"{tmp_path}{PATH}", where=f"_hoodie_record_key = '{key}'", **INDEXED)
        assert [row["id"] for row in rows] == [key]


def test_an_unreadable_table_is_one_line(table: RowTable, tmp_path: Path) -> None:
    table.base(table.complete(3), [], OTHER)
    (tmp_path / PATH[1:] / f"{OTHER}_0-1-0_{time(3)}.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceException, match=OTHER):
        rows_of(f"{tmp_path}{PATH}")


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_tables_of_hudi_have_the_rows_of_read(archive: Path, tmp_path: Path) -> None:
    root = extracted(archive, tmp_path)
    times = ["0" * 17, *instants_of(root)]
    middle = times[len(times) // 2]
    queries: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({}, {}),
        ({"query": "read_optimized"}, {"mode": "read-optimised"}),
        ({"query": "incremental", "begin": middle}, {"begin": middle}),
    ]
    if len(times) > 1:
        queries.append(({"asOf": times[-2]}, {"as_of": times[-2]}))
    for options, own in queries:
        try:
            rows = expected(root, **own)
        except MetadataException as error:
            with pytest.raises(SourceException, match=str(error)[:40]):
                rows_of(root, **options)
        else:
            assert rows_of(root, **options) == rows
            keys = {row["_hoodie_record_key"] for row in rows} if rows and not own else set()
            for key in keys:
                where = f"_hoodie_record_key = '{key}'"
                same = [row for row in rows if row["_hoodie_record_key"] == key]
                assert rows_of(root, where=where) == same
                (found,) = rows_of(root, where=where, **INDEXED)
                assert found in same


@pytest.mark.usefixtures("source")
def test_spark_reads_the_rows_of_queries(
    spark: Any, source: Registration, table: RowTable, tmp_path: Path
) -> None:
    reader = spark.read.format(hudi_source.NAME)
    frame = reader.load(f"{tmp_path}{PATH}")
    assert frame.rdd.getNumPartitions() == 3 if hasattr(frame, "rdd") else True
    state = {row.id: (row.ts, row.value) for row in frame.collect()}
    assert state == {"a": (2, "a2"), "c": (1, "c1"), "d": (2, "d2")}
    later = reader.option("query", "incremental").option("begin", completed(1))
    assert sorted(row.id for row in later.load(f"{tmp_path}{PATH}").collect()) == ["a", "d"]
