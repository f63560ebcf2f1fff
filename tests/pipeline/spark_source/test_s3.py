"""Tests of objects, without Spark, with the keys in the environment."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY, EmbeddedServer
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.source import FsContractDataSource
from tests.limits import DEADLOCK


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    """A server with the bucket `lake`."""
    with EmbeddedServer() as started:
        urlopen(Request(f"{started.url}/lake", method="PUT"), timeout=DEADLOCK).close()
        yield started


@pytest.fixture
def options(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The options for it; the keys are where executors would find them."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    fs = S3FileSystem("lake", endpoint=server.url, region=REGION)
    for name in ("a", "b"):
        with fs.create(f"/in/{name}.txt") as file:
            file.write(f"{name}1\n{name}2\n".encode())
    return {"s3.endpoint": server.url, "fs.s3a.endpoint.region": REGION}


def _read(reader: Any, parts: Any) -> list[dict[str, Any]]:
    """Read a pickled plan, as tasks do."""
    sent = pickle.loads(pickle.dumps(reader))
    return [row for part in parts for batch in sent.read(part) for row in batch.to_pylist()]


def test_objects_are_read(options: dict[str, str]) -> None:
    """Their paths include the bucket."""
    source = FsContractDataSource(
        {"path": "s3a://lake/in/*.txt", "columns": "value,path", "blockSize": "3", **options}
    )
    reader = source.reader(source.schema())
    found = _read(reader, reader.partitions())
    assert sorted((row["value"], row["path"]) for row in found) == [
        (f"{name}{n}", f"s3a://lake/in/{name}.txt") for name in "ab" for n in (1, 2)
    ]


def test_missing_object_raises(options: dict[str, str]) -> None:
    """With the bucket."""
    source = FsContractDataSource({"path": "s3://lake/none", **options})
    with pytest.raises(SourceException, match="input not found: 's3://lake/none'"):
        source.schema()


def test_a_stream_keeps_its_windows_in_a_bucket(options: dict[str, str]) -> None:
    """Another process finds them there."""
    given = {"path": "s3://lake/in", "windowLocation": "s3://lake/windows", **options}
    source = FsContractDataSource({**given, "columns": "value"})
    one = source.streamReader(source.schema())
    start = one.initialOffset()
    end = one.latestOffset(start, ReadAllAvailable())
    one.stop()
    two = source.streamReader(source.schema())
    try:
        found = _read(two, two.partitions(start, end))
        assert sorted(row["value"] for row in found) == ["a1", "a2", "b1", "b2"]
    finally:
        two.stop()
