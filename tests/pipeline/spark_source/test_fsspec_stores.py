"""Tests of the source on URLs that fsspec opens, in the shared session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from fscontract.pipeline.spark_source.source import Registration
from tests.pipeline.spark_source.support import read, write
from tests.pipeline.stores import store

pytestmark = pytest.mark.usefixtures("source")


def test_batch_and_stream_read_a_web_server(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planning process and the workers open the filesystem; windows are on the local disk."""
    for name in ("a", "deep/b"):
        write(tmp_path / "in", name, b"".join(b"%d\n" % n for n in range(100)))
    with store("http", tmp_path, monkeypatch) as url:
        frame = read(spark, f"{url}/in", blockSize=50, **{"storage.block_size": 1000})
        rows = {(row.value, row.path) for row in frame.collect()}
        assert rows == {(str(n), f"{url}/in/{p}") for n in range(100) for p in ("a", "deep/b")}
        reader = spark.readStream.format("fscontract").option("windowLocation", f"{tmp_path}/w")
        writer = reader.load(f"{url}/in").writeStream.format("parquet")
        writer = writer.option("checkpointLocation", f"{tmp_path}/c").trigger(availableNow=True)
        writer.start(f"{tmp_path}/out").awaitTermination()
        assert spark.read.parquet(f"{tmp_path}/out").count() == 200


def test_load_reads_the_files_that_executors_list(
    spark: Any, tmp_path: Path, source: Registration
) -> None:
    """The same rows as the source's own listing; the frame does not list again."""
    for number in range(30):
        write(tmp_path, f"in/day={number}/f", b"one\ntwo\n")
    own = read(spark, f"{tmp_path}/in", metadata="true")
    frame = source.load(f"{tmp_path}/in", metadata="true")
    assert sorted(frame.collect()) == sorted(own.collect())
    (tmp_path / "in" / "day=7").rename(tmp_path / "gone")
    with pytest.raises(PySparkException, match="no such file or directory"):
        frame.collect()


def test_windows_are_refused_where_they_are_not_created_atomically(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import StreamingQueryException

    write(tmp_path / "in", "a", b"x")
    with store("http", tmp_path, monkeypatch) as url:
        reader = spark.readStream.format("fscontract").option("windowLocation", f"{url}/w")
        writer = reader.load(f"{tmp_path}/in").writeStream.format("parquet")
        writer = writer.option("checkpointLocation", f"{tmp_path}/c").trigger(availableNow=True)
        query = writer.start(f"{tmp_path}/out")
        with pytest.raises(StreamingQueryException, match="http: is read-only for pipelines"):
            query.awaitTermination()
