"""Tests of `read_paths`: records of files whose paths are in a column of a frame or stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.path_column import _request, _split
from fscontract.spark import read_paths
from tests.pipeline.spark_source.support import random_files, unsplit, write

pytestmark = pytest.mark.usefixtures("source")


def _frame(spark: Any, *paths: str | None) -> Any:
    return spark.createDataFrame([(path,) for path in paths], "path string").coalesce(1)


@pytest.mark.parametrize("partitions", [None, 3])
def test_records_are_those_of_the_files_in_any_blocks(
    spark: Any, tmp_path: Path, partitions: int | None
) -> None:
    """Blocks of several files are in one task, in any order."""
    files = random_files(tmp_path / "in", 20)
    options: dict[str, Any] = {
        "blockSize": 7,
        "valueType": "binary",
        "columns": "path,offset,value",
    }
    rows = read_paths(_frame(spark, *files), partitions=partitions, **options).collect()
    expected = [(path, o, bytes(v)) for path in files for v, o in unsplit(path)]
    assert sorted((r.path, r.offset, bytes(r.value)) for r in rows) == sorted(expected)


def test_blocks_are_distributed_to_partitions(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql.functions import spark_partition_id

    path = write(tmp_path, "log", b"line\n" * 40)
    frame = _frame(spark, path)
    for partitions, expected in ((None, 1), (4, 4)):
        rows = read_paths(frame, blockSize=20, partitions=partitions)
        found = rows.select("block_id", spark_partition_id().alias("task")).collect()
        assert (len(found), len({row.task for row in found})) == (40, expected)
        assert len({row.block_id for row in found}) == 10


def test_block_ids_are_unique_in_a_batch(spark: Any, tmp_path: Path) -> None:
    """Also of files in different tasks."""
    paths = [(write(tmp_path, name, b"a\nb\n"),) for name in "xyz"]
    frame = spark.createDataFrame(spark.sparkContext.parallelize(paths, 2), "path string")
    found = read_paths(frame, blockSize=1).collect()
    assert len({row.block_id for row in found}) == len({(r.path, r.block_id) for r in found}) == 6
    assert len({row.block_id >> 32 for row in found}) == 2


def test_stream_of_paths_becomes_a_stream_of_records(spark: Any, tmp_path: Path) -> None:
    """Here the lines of files are the paths, as messages of a queue would be."""
    logs = [write(tmp_path / "logs", f"{n}", b"%d a\n%d b\n" % (n, n)) for n in range(3)]
    queue = tmp_path / "queue"
    write(queue, "first", "\n".join(logs[:2]).encode())
    paths = spark.readStream.text(str(queue))
    records = read_paths(paths, column="value", blockSize=2, partitions=2)

    def run() -> None:
        writer = records.writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(tmp_path / "spark"))
        query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()

    run()
    write(queue, "second", logs[2].encode())
    run()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row.value for row in rows) == ["0 a", "0 b", "1 a", "1 b", "2 a", "2 b"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (None, "invalid path: None; must be an absolute path or a URL"),
        ("relative", "invalid path: 'relative'; must be"),
        ("s3://bucket/file", "'s3://bucket/file' is not on the filesystem of '/'"),
        ("/", "expected a file, got a directory: '/'"),
    ],
    ids=["null", "relative", "other filesystem", "directory"],
)
def test_wrong_path_is_an_error(path: str | None, said: str) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([path], pa.string())], ["path"])
    with pytest.raises(SourceException, match=said):
        list(_split(_request("/", {}), [batch]))


def test_missing_file_ends_the_query_with_its_path(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match=f"{tmp_path}/none") as caught:
        read_paths(_frame(spark, f"{tmp_path}/none")).collect()
    assert "Traceback" not in str(caught.value)


def test_missing_file_is_skipped_if_allowed(spark: Any, tmp_path: Path) -> None:
    frame = _frame(spark, str(tmp_path / "none"), write(tmp_path, "log", b"one\n"))
    (row,) = read_paths(frame, ignoreMissingFiles=True).collect()
    assert row.value == "one"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"filePattern": "x"}, "option 'filePattern' is not supported for a column of paths"),
        ({"where": "offset = 0"}, "option 'where' is not supported for a column of paths"),
        ({"path": "/x"}, "option 'path' is not supported for a column of paths"),
        ({"windowLocation": "/w"}, "option 'windowLocation' is not supported for a column"),
        ({"reader": "parquet"}, "option 'reader' can't be 'parquet' for a column of paths"),
        ({"columns": ""}, "option 'columns' must not be empty for a column of paths"),
        ({"partitions": 0}, "invalid partitions: 0; must be at least 1"),
        ({"column": "file"}, "expected a string column 'file', got columns: path string"),
        ({"nope": "1"}, "nope"),
    ],
    ids=str,
)
def test_invalid_arguments_are_refused(spark: Any, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(SourceException, match=said):
        read_paths(_frame(spark, "/x"), **arguments)
