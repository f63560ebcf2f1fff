"""The findings in Spark, with PySpark and PyArrow alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    Filter,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
)

pytestmark = pytest.mark.xdist_group("spark")


class _Reader(DataSourceReader):  # type: ignore[misc]
    """Push comparisons with a number, and leave other filters to Spark."""

    def __init__(self) -> None:
        self.below, self.least = 10, 0

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802 - PySpark's
        for each in filters:
            if isinstance(each, LessThan):
                self.below = each.value
            elif isinstance(each, GreaterThanOrEqual):
                self.least = each.value
            else:
                yield each

    def partitions(self) -> list[InputPartition]:
        return [InputPartition((self.least, self.below))]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        return ((n,) for n in range(*partition.value))


class _Numbers(DataSource):  # type: ignore[misc]
    """The numbers from 0 to 9."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "n int"

    def reader(self, schema: Any) -> DataSourceReader:
        return _Reader()


def test_scans_of_a_frame_share_the_filters_of_the_last_one(spark: Any) -> None:
    """Finding P1: of a union of two parts of a frame one comes twice, and the other not at all."""
    setting = "spark.sql.python.filterPushdown.enabled"
    spark.dataSource.register(_Numbers)
    spark.conf.set(setting, "true")
    try:
        frame = spark.read.format("numbers").load()
        low, high = frame.where("n < 3"), frame.where("n >= 8")
        assert [row.n for row in low.union(high).collect()] == [8, 9, 8, 9]
        other = spark.read.format("numbers").load().where("n >= 8")
        loaded = spark.read.format("numbers").load().where("n < 3")
        assert [row.n for row in loaded.union(other).collect()] == [0, 1, 2, 8, 9]
    finally:
        spark.conf.unset(setting)


def test_pushed_filter_on_parquet_loses_nan(spark: Any, tmp_path: Path) -> None:
    """Finding P2: the minimum and maximum of a row group ignore NaN."""
    pq.write_table(pa.table({"real": [1.0, float("nan")]}), str(tmp_path / "a.parquet"))
    setting = "spark.sql.parquet.filterPushdown"
    counts = []
    try:
        for pushed in ("true", "false"):
            spark.conf.set(setting, pushed)
            frame = spark.read.parquet(str(tmp_path))
            counts.append(frame.where("real = double('NaN')").count())
    finally:
        spark.conf.unset(setting)
    assert counts == [0, 1]
