"""What is built on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fscontract.pipeline.datasource.register import Registration

__all__ = ["register"]


def register(spark: Any, pushdown: bool = True) -> Registration:
    """Make the data source `fscontract` known to a session of Spark: docs/spark-pipeline.md."""
    from fscontract.pipeline.datasource.register import register as in_session

    return in_session(spark, pushdown)
