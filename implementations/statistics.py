"""What a filesystem and its streams did, added up under Hadoop's names (IOStatistics)."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterable, Mapping

from fscontract.contract.ports import FSDataInputStream
from fscontract.implementations.forks import free_in_children

#: How many streams may be gone before somebody adds their counts to the others.
_MOST = 100


class Statistics:
    """The counters of one filesystem, called `names`: its own, and the sums over its streams.

    Streams count for themselves; the sums are taken when somebody asks for them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._lock = free_in_children(threading.Lock())
        self._counts = dict.fromkeys(names, 0)
        self._open: dict[int, weakref.ref[FSDataInputStream]] = {}
        self._gone: deque[Mapping[str, int]] = deque()  # the last counts of streams

    def count(self, name: str) -> None:
        """Add 1 to one of the filesystem's own counters."""
        with self._lock:
            self._counts[name] += 1

    def watch(self, stream: FSDataInputStream) -> None:
        """Count what `stream` does, until it is given to `retire`."""
        self._open[id(stream)] = weakref.ref(stream)
        if len(self._gone) > _MOST:
            with self._lock:
                self._add_gone()

    def retire(self, stream: FSDataInputStream) -> None:
        """Keep the counts of a stream that does nothing more."""
        # No lock: a stream may be lost, and end here, in a thread that holds it.
        self._open.pop(id(stream), None)
        self._gone.append(stream.io_statistics())

    def snapshot(self) -> dict[str, int]:
        """All counters as they are now; approximate while streams are in use."""
        with self._lock:
            self._add_gone()
            total = self._counts.copy()
        streams = [reference() for reference in list(self._open.values())]
        _add(total, (s.io_statistics() for s in streams if s is not None))
        return total

    def _add_gone(self) -> None:
        _add(self._counts, (self._gone.popleft() for _ in range(len(self._gone))))


def _add(total: dict[str, int], counts: Iterable[Mapping[str, int]]) -> None:
    for one in counts:
        for name, count in one.items():
            if count:
                total[name] = total.get(name, 0) + count
