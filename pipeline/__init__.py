"""Splitter, block reader, Hudi metadata table and Spark data source, built on input streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fscontract.contract.api.errors import UnsupportedOperationException

if TYPE_CHECKING:
    from fscontract.pipeline.spark_source.source import Registration
    from fscontract.pipeline.spark_source.streaming import MakePartitioner

__all__ = ["read_paths", "register"]
#: First version whose streams of Python data sources support limits of what to read.
_OLDEST = (4, 2)


def register(
    spark: Any, pushdown: bool = False, partitioner: MakePartitioner | None = None
) -> Registration:
    """Register the data source `fscontract` in a Spark session; see docs/how-to/spark-source.md.

    `partitioner` is called with the ScalingPolicy of each stream's options and returns its
    Partitioner; by default it is ScalingPartitioner.
    Raise UnsupportedOperationException if Spark, or PySpark in this process, is older than 4.2.
    """
    import pyspark

    for version in (pyspark.__version__, spark.version):
        if tuple(map(int, version.split(".")[:2])) < _OLDEST:
            oldest = ".".join(map(str, _OLDEST))
            raise UnsupportedOperationException(
                f"the data source requires Spark {oldest} or newer, got {version}: pip install "
                f"'pyspark>={oldest}'"
            )
    from fscontract.pipeline.spark_source.source import register as in_session

    return in_session(spark, pushdown, partitioner)


def read_paths(
    paths: Any,
    root: str = "/",
    *,
    column: str = "path",
    partitions: int | None = None,
    **options: Any,
) -> Any:
    """Return a frame or stream with the records of the files in a column of `paths`.

    Rows and `options` are those of `spark.read.format("fscontract")`; options for searches, batches
    or streams only, and Parquet are refused. All files are on the filesystem of `root`, a path or
    URL. The task that has a path also reads the file; with `partitions`, the blocks of all files
    are first distributed to this number of tasks. Without `blockSize`, the block size is that of
    the file's status. Ids of blocks are unique in a batch or micro-batch.

    Raise ValueError for invalid arguments. The query fails if a path is not an absolute path or URL
    of an existing file.
    """
    from fscontract.pipeline.spark_source.path_column import records_of

    return records_of(paths, root, column, partitions, options)
