"""Making the source known to a session."""

from __future__ import annotations

import os
from typing import Any

from fscontract.pipeline.blockreader.reader import Counters
from fscontract.pipeline.datasource.metrics import Tally
from fscontract.pipeline.datasource.planning import Packing
from fscontract.pipeline.datasource.source import FsContractDataSource

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_FILES = "spark.sql.files."
#: The tally of an application, whatever the number of its registrations.
_tallies: dict[str, Tally] = {}


class Registration:
    """The source in one session. `counters` is what its tasks did; None with Spark Connect."""

    def __init__(self, tally: Tally | None) -> None:
        self._tally = tally

    @property
    def counters(self) -> Counters | None:
        """Blocks, records and bytes of the tasks that came to their end."""
        return None if self._tally is None else self._tally.counters


def register(spark: Any, pushdown: bool = False) -> Registration:
    """Make `spark.read.format("fscontract")` and `spark.readStream.format("fscontract")` known.

    The settings `spark.sql.files.*` and the parallelism are those that the session has now. The
    last registration counts. A session that `newSession` makes does not know the source, and Spark
    refuses to let it.

    With `pushdown` the session is told to push filters to Python data sources. Spark 4.3 mixes them
    up in a frame that is used with several, and rows are missing then: load a frame for each.
    """
    context = None if ".connect." in type(spark).__module__ else spark.sparkContext
    tally = None if context is None else _tally(context)
    known = {
        "packing": _packing(spark, context),
        "pushdown": pushdown,
        "told": None if tally is None else staticmethod(tally.add),
        "__module__": __name__,
        "__doc__": FsContractDataSource.__doc__,
    }
    # A class that no module has is sent as a value, and so are these.
    spark.dataSource.register(type("FsContractOfSession", (FsContractDataSource,), known))
    spark.dataSource.register(_tables(pushdown))
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")
    return Registration(tally)


def _tables(pushdown: bool) -> type:
    """The source of metadata tables, for which `metadata` has to be installed."""
    from fscontract.pipeline.datasource.tables import MetadataTableSource

    known = {"pushdown": pushdown, "__module__": __name__, "__doc__": MetadataTableSource.__doc__}
    return type("MetadataTableOfSession", (MetadataTableSource,), known)


def _tally(context: Any) -> Tally:
    application = context.applicationId
    if application not in _tallies:
        _tallies.clear()  # those of contexts that were stopped
        _tallies[application] = Tally(context)
    return _tallies[application]


def _packing(spark: Any, context: Any) -> Packing:
    parallelism = spark.conf.get(f"{_FILES}minPartitionNum", None)
    parallelism = parallelism or spark.conf.get("spark.sql.leafNodeDefaultParallelism", None)
    if parallelism is None:
        parallelism = os.cpu_count() or 1 if context is None else context.defaultParallelism
    return Packing(
        _bytes(spark.conf.get(f"{_FILES}maxPartitionBytes", None), Packing.max_partition_bytes),
        _bytes(spark.conf.get(f"{_FILES}openCostInBytes", None), Packing.open_cost),
        max(1, int(parallelism)),
    )


def _bytes(text: str | None, default: int) -> int:
    """A size as Spark shows it: `134217728b`, `128m`."""
    if text is None:
        return default
    units = {"b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
    shown = text.strip().lower().removesuffix("b") or "0"
    return int(shown.rstrip("kmgt")) << units.get(shown[-1], 0)
