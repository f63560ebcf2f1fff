"""Splitter, block reader, Hudi metadata table and Spark data source, built on input streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fscontract.contract.api.errors import UnsupportedOperationException

if TYPE_CHECKING:
    from fscontract.pipeline.spark_source.source import Registration
    from fscontract.pipeline.spark_source.streaming import MakePartitioner

__all__ = ["register"]
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
