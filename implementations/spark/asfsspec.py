"""Files that executors read, as an fsspec filesystem."""

from __future__ import annotations

from typing import Any

from fscontract.implementations.asfsspec import _View
from fscontract.implementations.spark.filesystem import SparkFileSystem


class SparkFsspec(_View):
    """fsspec's methods over a SparkFileSystem. It has no URLs: it needs a session of Spark."""

    protocol = "fscontract-spark"

    def __init__(self, fs: SparkFileSystem, **options: Any) -> None:
        super().__init__(**options)
        self.fs = fs
