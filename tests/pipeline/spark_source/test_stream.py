"""Tests of `spark.readStream.format("fscontract")`, in the shared session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fscontract.pipeline import register
from fscontract.pipeline.spark_source.source import FsContractDataSource
from tests.pipeline.spark_source.programs.stream import start
from tests.pipeline.spark_source.support import write

pytestmark = pytest.mark.usefixtures("source")


def _values(spark: Any, place: Path) -> list[str]:
    return sorted(row.value for row in spark.read.parquet(str(place / "out")).collect())


def test_stream_continues_where_it_ended(spark: Any, tmp_path: Path) -> None:
    """Existing files come in limited batches; the next run reads new or changed ones."""
    for number in range(5):
        write(tmp_path / "in", f"{number}", f"{number}\n".encode() * 100)
    query = start(spark, tmp_path, maxFilesPerTrigger=2, maxPartitions=4)
    query.awaitTermination()
    told = [_source(progress)["endOffset"] for progress in query.recentProgress]
    assert [(t["window"], t["files"], t["blocks"], t["bytes"]) for t in told] == [
        (1, 2, 8, 400),
        (2, 2, 8, 400),
        (3, 1, 4, 200),
    ]
    assert [t["partitions"] for t in told] == [4, 4, 4]
    latest = _source(query.recentProgress[0])["latestOffset"]
    assert (latest["window"], latest["waitingFiles"], latest["waitingBlocks"]) == (1, 3, 12)
    assert _values(spark, tmp_path) == sorted(f"{n}" for n in range(5) for _ in range(100))

    write(tmp_path / "in", "0", b"changed\n")
    write(tmp_path / "in", "sub/5", b"new\nlines")
    start(spark, tmp_path).awaitTermination()
    assert _values(spark, tmp_path)[500:] == ["changed", "lines", "new"]
    start(spark, tmp_path).awaitTermination()
    assert len(_values(spark, tmp_path)) == 503


def test_continuous_stream_reads_existing_files(spark: Any, tmp_path: Path) -> None:
    """And ends when it is stopped."""
    write(tmp_path / "in", "a", b"one\ntwo\n")
    reader = spark.readStream.format("fscontract").option("columns", "value")
    frame = reader.option("windowLocation", str(tmp_path / "windows")).load(str(tmp_path / "in"))
    query = frame.writeStream.format("memory").queryName("lines_of_fscontract").start()
    try:
        query.processAllAvailable()
        rows = spark.table("lines_of_fscontract").collect()
        assert sorted(row.value for row in rows) == ["one", "two"]
    finally:
        query.stop()


def test_tasks_of_a_running_stream_grow_and_shrink_with_its_backlog(
    spark: Any, tmp_path: Path
) -> None:
    """Directories of files arrive at once while the query runs; it reads up to eight blocks."""
    from pyspark.sql.functions import spark_partition_id

    tasks: list[int] = []

    def count(rows: Any, batch: int) -> None:
        tasks.append(len(set(rows.select(spark_partition_id()).collect())))

    options = {
        "blocksThreshold": 8,
        "maxPartitions": 8,
        "scalingInterval": 0.001,
        "scanOnTrigger": "true",
        "windowLocation": str(tmp_path / "windows"),
    }
    (tmp_path / "in").mkdir()
    frame = spark.readStream.format("fscontract").options(**options).load(str(tmp_path / "in"))
    query = frame.writeStream.foreachBatch(count).trigger(processingTime="200 milliseconds").start()
    try:
        for directory, arriving in (("a", 3), ("b", 20), ("c", 3)):
            for number in range(arriving):
                write(tmp_path / directory, f"{number}", b"line\n")
            (tmp_path / directory).rename(tmp_path / "in" / directory)
            query.processAllAvailable()
    finally:
        query.stop()
    assert tasks == [2, 8, 8, 4, 2]


def test_registered_partitioner_decides_on_the_tasks_of_a_stream(
    spark: Any, tmp_path: Path
) -> None:
    """A class that only this process knows, as one of a notebook."""

    class OnePartitionPerBlock:
        def __init__(self, policy: Any) -> None:
            self._most = policy.max_readers

        def partitions(self, backlog: int) -> Any:
            return min(self._most, backlog)

    for name in "abc":
        write(tmp_path / "in", name, b"line\n")
    register(spark, pushdown=True, partitioner=OnePartitionPerBlock)
    try:
        query = start(spark, tmp_path, maxFilesPerTrigger=3)
        query.awaitTermination()
    finally:
        register(spark, pushdown=True)
    (progress,) = query.recentProgress
    assert _source(progress)["endOffset"]["partitions"] == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "a stream requires option 'windowLocation'"),
        ({"windowLocation": "{place}/in/windows"}, "would be found as input in"),
    ],
    ids=["no windows", "windows in the input"],
)
def test_stream_error_is_one_line(
    spark: Any, tmp_path: Path, options: dict[str, str], said: str
) -> None:
    """The error occurs when it starts."""
    from pyspark.errors import PySparkException

    write(tmp_path / "in", "a", b"x\n")
    reader = spark.readStream.format("fscontract")
    for name, value in options.items():
        reader = reader.option(name, value.format(place=tmp_path))
    writer = reader.load(str(tmp_path / "in")).writeStream.format("noop")
    with pytest.raises(PySparkException, match=said) as error:
        writer.option("checkpointLocation", str(tmp_path / "spark")).start().awaitTermination()
    assert "Traceback" not in str(error.value)


def test_a_batch_has_the_blocks_that_its_window_has(spark: Any, tmp_path: Path) -> None:
    """A file changed since is an error, or is read up to its planned length."""
    from pyspark.errors import StreamingQueryException

    path = write(tmp_path / "in", "a", b"one\ntwo\n")
    given = {"path": str(tmp_path / "in"), "windowLocation": str(tmp_path / "windows")}
    planning = FsContractDataSource(given)
    driver = planning.streamReader(planning.schema())
    driver.latestOffset(driver.initialOffset(), driver.getDefaultReadLimit())
    driver.stop()  # and dies, before Spark knows the window

    write(tmp_path / "in", "a", b"one\ntwo\nthree\n")
    with pytest.raises(StreamingQueryException, match=rf"block 0 at offset 0: .*{path}"):
        start(spark, tmp_path).awaitTermination()
    start(spark, tmp_path, changedFiles="read").awaitTermination()
    assert _values(spark, tmp_path) == ["one", "one", "three", "two", "two"]


def _source(progress: Any) -> Any:
    """Return the source's part of a progress."""
    return json.loads(progress.json)["sources"][0]
