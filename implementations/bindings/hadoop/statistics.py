"""I/O statistics of Hadoop's own as counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fscontract.contract.iostatistics import STORE_IO_REQUEST
from fscontract.implementations.jvm.machine import java_class

#: What a stream counts for itself: all of these names, and those that start so.
_OF_STREAMS = ("stream_", STORE_IO_REQUEST)


def counters(filesystem: Any, stream: Any) -> Mapping[str, int]:
    """The counters of a filesystem but for those of streams, and those of a stream unless None."""
    own = {n: count for n, count in _of(filesystem).items() if not n.startswith(_OF_STREAMS)}
    return own if stream is None else {**own, **_of(stream)}


def _of(source: Any) -> dict[str, int]:
    """The counters of what may have some."""
    support = java_class("org.apache.hadoop.fs.statistics.IOStatisticsSupport")
    found = support.retrieveIOStatistics(source)
    if found is None:
        return {}
    return {str(entry.getKey()): int(entry.getValue()) for entry in found.counters().entrySet()}
