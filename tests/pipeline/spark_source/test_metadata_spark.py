"""Tests of Parquet files and metadata tables on Spark, in the shared session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
import pytest

from fscontract.fakes.fault_proxy.server import FaultProxy
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import (
    ACCESS_KEY,
    BUCKET,
    REGION,
    SECRET_KEY,
    EmbeddedServer,
    make_bucket,
)
from fscontract.pipeline.hudi.io import write_file
from fscontract.pipeline.hudi.writer import MetadataWriter
from fscontract.pipeline.spark_source.source import Registration
from tests.pipeline.spark_source.parquet_support import index, parquet, put

pytestmark = pytest.mark.usefixtures("source")

CONDITIONS = (
    "true",
    "n = 7 or n is null",
    "n > 40 and day = date'2026-01-02'",
    "real > 3 and not (text <=> 'b')",  # NaN is greater
    "real = double('NaN')",
    "not n in (1, 2, 3) and kind != 2 and text like 'c%'",
    "money >= 1.25 and at < timestamp'2026-01-01 00:00:10Z'",
)


def _rows(part: int) -> Any:
    numbers = [None if n % 10 == 9 else n + 20 * part for n in range(20)]
    start = 1767225600_000_000
    return pa.table(
        {
            "n": pa.array(numbers, pa.int32()),
            "text": pa.array([[None, "a", "b", "cd"][n % 4] for n in range(20)]),
            "real": pa.array([float("nan") if n == 3 * part else n / 5 for n in range(20)]),
            "money": pa.array(numbers, pa.int32()).cast(pa.decimal128(12, 2)),
            "at": pa.array([start + n * 10**6 for n in range(20)], pa.timestamp("us", "UTC")),
        }
    )


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four files in partitions of two columns, with a metadata table."""
    kinds = ("1", "2", "__HIVE_DEFAULT_PARTITION__", "3")
    tables = {
        f"day=2026-01-0{1 + part % 3}/kind={kind}/{part}.parquet": _rows(part)
        for part, kind in enumerate(kinds)
    }
    return index(put(tmp_path_factory.mktemp("in"), tables, row_group_size=6))


def _frame(spark: Any, path: str, schema: Any = None, **options: Any) -> Any:
    reader = spark.read.format("fscontract").option("reader", "parquet")
    if schema is not None:
        reader = reader.schema(schema)
    return reader.options(**options).load(path)


@pytest.fixture
def unpruned(spark: Any) -> Iterator[None]:
    """Disable pruning in Spark's own reader, which skips row groups with NaN."""
    name = "spark.sql.parquet.filterPushdown"
    spark.conf.set(name, "false")
    yield
    spark.conf.unset(name)


@pytest.mark.usefixtures("unpruned")
def test_rows_are_those_of_sparks_own_reader(spark: Any, dataset: str) -> None:
    """Under each condition, accepted, returned, or both."""
    theirs = spark.read.parquet(dataset)
    assert _frame(spark, dataset).schema == theirs.schema

    def ours() -> Any:  # a frame has one set of filters, or Spark mixes them up
        return _frame(spark, dataset, theirs.schema, metadata="true", blockSize=700)

    def counted(frame: Callable[[], Any]) -> dict[str, Any]:
        parts = [
            frame().where(each).selectExpr(f"{number} as condition", "hash(*) as row")
            for number, each in enumerate(CONDITIONS)
        ]
        union = parts[0]
        for part in parts[1:]:
            union = union.unionAll(part)
        sums = union.groupBy("condition").agg({"*": "count", "row": "sum"}).collect()
        return {CONDITIONS[row[0]]: (row[1], row[2]) for row in sums}

    found = counted(ours)
    assert found == counted(lambda: theirs)
    assert found["true"][0] == 80


def test_filters_open_only_matching_files(spark: Any, dataset: str, source: Registration) -> None:
    """By directory and by range; accepted filters are removed from Spark's plan."""
    for condition, rows, blocks in (
        ("kind = 2", 20, 1),
        ("n = 45", 1, 1),
        ("n = 45 and kind = 2", 0, 0),
        ("n < 25", 23, 2),
    ):
        assert source.counters is not None
        before = source.counters.blocks
        found = _frame(spark, dataset, metadata="true").where(condition)
        assert "Filter (" not in found._jdf.queryExecution().executedPlan().toString()
        assert found.count() == rows, condition
        assert source.counters.blocks - before == blocks, condition


def test_metrics_of_planning_reach_the_driver(
    spark: Any, dataset: str, source: Registration
) -> None:
    """Also if no file is left to read."""
    for condition in ("n = 45", "n = 45 and kind = 2"):
        assert source.metadata is not None
        before = source.metadata
        _frame(spark, dataset, metadata="true").where(condition).count()
        after = source.metadata
        assert after.snapshot()["HoodieMetadata.scan.count"] > before.snapshot().get(
            "HoodieMetadata.scan.count", 0
        )
        assert after.filters["n"] == before.filters["n"] + 1


def test_a_metadata_table_is_a_table(spark: Any, dataset: str) -> None:
    """Its files, and the statistics of their columns."""

    def files() -> Any:
        return spark.read.format("fscontract-metadata").load(dataset)

    assert files().columns == ["partition", "path", "size", "instant"]
    found = files().where("partition = 'day=2026-01-02/kind=2'").collect()
    path = f"{dataset}/day=2026-01-02/kind=2/1.parquet"
    assert [tuple(row) for row in found] == [
        ("day=2026-01-02/kind=2", path, Path(path).stat().st_size, None)
    ]
    assert files().count() == 4
    statistics = spark.read.format("fscontract-metadata").option("content", "column_stats")
    row = statistics.load(dataset).where(f"column = 'n' and path = '{path}'").first()
    assert (row.type, row.minimum, row.maximum) == ("Int", "20", "38")
    assert (row.value_count, row.null_count) == (20, 2)


@pytest.fixture(scope="module")
def proxy() -> Iterator[FaultProxy]:
    """A bucket behind a proxy that records requests."""
    with EmbeddedServer() as server, FaultProxy(server.url) as running:
        make_bucket(server.url)
        yield running


def _trips(proxy: FaultProxy, partitions: int) -> list[str]:
    """Create a dataset in the bucket with a file of ten ids per day; return the keys."""
    keys = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    keys_of_files = []
    with S3FileSystem(BUCKET, endpoint=proxy.url, region=REGION, **keys) as fs:
        for day in range(partitions):
            path = f"/trips-{partitions}/day={day}/f.parquet"
            rows = pa.table({"id": range(10 * day, 10 * day + 10), "text": ["x"] * 10})
            write_file(fs, path, parquet(rows))
            keys_of_files.append(path[1:])
        MetadataWriter(fs, f"/trips-{partitions}").initialize(columns=["id"])
    return keys_of_files


def _asked(proxy: FaultProxy, since: int) -> Counter[str]:
    """Return counts of GET and HEAD of files, by key, and of LIST; one sum for .hoodie."""
    found: Counter[str] = Counter()
    for request in proxy.requests[since:]:
        parts = urlsplit(request.target)
        prefix = parse_qs(parts.query).get("prefix")
        key = unquote(parts.path).removeprefix(f"/{BUCKET}").lstrip("/") or (prefix or [""])[0]
        if "/.hoodie/" in f"{key}/":
            found["metadata"] += 1
        elif request.method == "GET" and "list-type" in parts.query:
            found["LIST"] += 1
        else:
            found[f"{request.method} {key}"] += 1
    return found


@pytest.mark.parametrize("partitions", [30, pytest.param(1000, marks=pytest.mark.deep)])
def test_a_range_over_many_partitions_opens_only_the_files_that_match(
    spark: Any, proxy: FaultProxy, partitions: int
) -> None:
    """No HEAD and no LIST of data is sent; without the option each partition is listed."""
    files = _trips(proxy, partitions)
    options = {"s3.endpoint": proxy.url, "s3.region": REGION}
    url = f"s3://{BUCKET}/trips-{partitions}"

    def query(**chosen: str) -> tuple[list[Any], Counter[str]]:
        since = len(proxy.requests)
        frame = _frame(spark, url, "id long, day int", **chosen, **options)
        rows = frame.where("id >= 105 and id < 125").collect()
        return sorted(rows), _asked(proxy, since)

    for where in ({}, {"where": "id between 105 and 124"}):
        rows, asked = query(metadata="true", **where)
        assert [row.id for row in rows] == [*range(105, 125)]
        assert {row.day for row in rows} == {10, 11, 12}
        assert 0 < asked.pop("metadata") <= 12
        assert asked == {f"GET {files[day]}": 1 for day in (10, 11, 12)}
    listed, asked = query(metadata="false")
    assert listed == rows
    assert asked["LIST"] >= partitions
    assert sum(count for what, count in asked.items() if what.startswith("GET")) >= partitions
