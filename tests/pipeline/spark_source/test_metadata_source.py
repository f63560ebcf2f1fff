"""Tests of the metadata table as a Spark table, without Spark."""

from __future__ import annotations

from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import datasource as api

from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.metadata_source import MetadataTableSource
from tests.pipeline.spark_source.parquet_support import index, put
from tests.pipeline.spark_source.support import write


class PushingTables(MetadataTableSource):
    """The source as `register` creates it."""

    pushdown = True


def _read(path: str, filters: Any = (), **options: str) -> list[dict[str, Any]]:
    source = PushingTables({"path": path, **options})
    reader: Any = source.reader(source.schema())
    assert list(reader.pushFilters(list(filters))) == []
    (part,) = reader.partitions()
    return [row for batch in reader.read(part) for row in batch.to_pylist()]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A dataset of two partitions, with an instant after the creation of its table."""
    write(tmp_path, "day=1/a", b"12345")
    write(tmp_path, "day=2/b", b"1")
    index(str(tmp_path))
    writer = MetadataWriter(LocalFileSystem("/"), str(tmp_path))
    instant = writer.begin()
    name = f"c_{instant.time}.txt"
    write(tmp_path, f"day=2/{name}", b"123")
    writer.finish(instant, Change({"day=2": {name: 3}}))
    return str(tmp_path)


def test_there_is_a_row_for_each_file(path: str) -> None:
    """With the instant in its name, if there is one."""
    rows = _read(path)
    assert [(row["partition"], row["size"]) for row in rows] == [
        *(("day=1", 5), ("day=2", 1), ("day=2", 3))
    ]
    assert [row["path"] for row in rows[:2]] == [f"{path}/day=1/a", f"{path}/day=2/b"]
    assert rows[2]["path"] == f"{path}/day=2/c_{rows[2]['instant']}.txt"
    assert rows[0]["instant"] is None


def test_filters_are_those_of_sql(path: str) -> None:
    """A null is neither equal nor unequal to anything."""
    for pushed, sizes in (
        (api.EqualTo(("partition",), "day=2"), [1, 3]),
        (api.In(("partition",), ("day=1", "day=9")), [5]),
        (api.Not(api.EqualTo(("partition",), "day=2")), [5]),
        (api.Not(api.In(("instant",), ("x",))), [3]),
        (api.IsNull(("instant",)), [5, 1]),
        (api.GreaterThan(("size",), 2), [5, 3]),
    ):
        assert [row["size"] for row in _read(path, [pushed])] == sizes


def test_an_instant_of_the_past_is_shown(path: str) -> None:
    """The dataset at that time."""
    writer = MetadataWriter(LocalFileSystem("/"), path)
    first = writer.commit(Change({"day=3": {"x": 7}}))
    writer.commit(Change({"day=3": {"y": 8}}))
    assert [row["size"] for row in _read(path)] == [5, 1, 3, 7, 8]
    assert [row["size"] for row in _read(path, asOf=first.completed or "")] == [5, 1, 3, 7]


def test_statistics_are_texts_with_their_type(tmp_path: Path) -> None:
    """Of all types."""
    columns = {
        "n": pa.array([1, None]),
        "flag": pa.array([True, False]),
        "raw": pa.array([b"a", b"\xff"]),
        "day": pa.array([date(2026, 1, 1), date(1969, 12, 31)]),
        "at": pa.array([datetime(2026, 1, 1, tzinfo=timezone.utc)] * 2, pa.timestamp("us", "UTC")),
        "list": pa.array([[1], [2]]),
    }
    path = index(put(tmp_path, {"f.parquet": columns}))
    rows = {row.pop("column"): row for row in _read(path, content="column_stats")}
    shown = {name: (row["type"], row["minimum"], row["maximum"]) for name, row in rows.items()}
    at = "2026-01-01 00:00:00+00:00"
    assert shown == {
        "n": ("Long", "1", "1"),
        "flag": ("Boolean", "false", "true"),
        "raw": ("Bytes", "61", "ff"),
        "day": ("Date", "1969-12-31", "2026-01-01"),
        "at": ("TimestampMicros", at, at),
    }
    assert (rows["n"]["value_count"], rows["n"]["null_count"]) == (2, 1)
    assert (rows["n"]["partition"], rows["n"]["path"]) == ("", f"{path}/f.parquet")
    (one,) = _read(path, [api.EqualTo(("column",), "n")], content="column_stats")
    assert one["column"] == "n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "{folder}"}, "'{folder}' has no metadata table"),
        ({"path": "{folder}", "reader": "lines"}, "unknown option 'reader'"),
        (
            {"path": "{folder}", "content": "x"},
            "option 'content' can't be 'x': expected one of files",
        ),
        ({"paths": '["/a", "/b"]'}, "expected the path of one dataset"),
    ],
    ids=str,
)
def test_invalid_options_are_one_line(tmp_path: Path, options: dict[str, str], said: str) -> None:
    """The error occurs on load."""
    with pytest.raises(SourceException) as error:
        PushingTables({k: v.format(folder=tmp_path) for k, v in options.items()}).schema()
    assert said.format(folder=tmp_path) in str(error.value)
    assert "\n" not in str(error.value)
