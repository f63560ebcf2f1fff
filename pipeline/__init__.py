"""Splitter, block reader, Hudi metadata table and Spark data source, built on input streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fscontract.contract.api.errors import UnsupportedOperationException

if TYPE_CHECKING:
    from fscontract.pipeline.spark_source.source import Registration

__all__ = ["register"]
#: Spark has had streams of Python sources that say what may be read since then.
_OLDEST = (4, 2)


def register(spark: Any, pushdown: bool = False) -> Registration:
    """Make the data source `fscontract` known to a session of Spark: docs/spark-pipeline.md.

    UnsupportedOperationException if Spark, or PySpark here, is older than 4.2.
    """
    import pyspark

    for version in (pyspark.__version__, spark.version):
        if tuple(map(int, version.split(".")[:2])) < _OLDEST:
            oldest = ".".join(map(str, _OLDEST))
            raise UnsupportedOperationException(
                f"the data source needs Spark {oldest} or newer, not {version}: "
                f"pip install 'pyspark>={oldest}'"
            )
    from fscontract.pipeline.spark_source.source import register as in_session

    return in_session(spark, pushdown)
