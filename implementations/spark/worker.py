"""What runs in an executor's Python worker: tasks, and the filesystems that they share.

A worker is a process that Spark uses for many tasks. It keeps a few filesystems, with their
connections, but never an open stream.
"""

from __future__ import annotations

import gc
import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fscontract.implementations.filesystem import ReferenceFileSystem
from fscontract.implementations.spark.failures import failure_of
from fscontract.implementations.spark.places import Place

#: How many filesystems a worker keeps.
MOST = 8
_warm = False


class FileSystems:
    """The filesystems of this process, by place: those used last, and those in use."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Place, list[Any]] = OrderedDict()  # a filesystem, and its users

    def __len__(self) -> int:
        return len(self._kept)

    @contextmanager
    def lease(self, place: Place) -> Iterator[ReferenceFileSystem]:
        """The filesystem of a place, which is not closed meanwhile."""
        filesystem = self.take(place)
        try:
            yield filesystem
        finally:
            self.give_back(place)

    def take(self, place: Place) -> ReferenceFileSystem:
        """The filesystem of a place, for as long as it is not given back."""
        if not place.kept:
            return place.make()
        with self._lock:
            entry = self._kept.setdefault(place, [None, 0])
            entry[1] += 1
            self._kept.move_to_end(place)
            try:
                if entry[0] is None:
                    entry[0] = place.make()
            except BaseException:
                self._kept.pop(place)
                raise
            filesystem: ReferenceFileSystem = entry[0]
        return filesystem

    def give_back(self, place: Place) -> None:
        """One user less; those that nobody uses go, the oldest first, if they are too many."""
        with self._lock:
            entry = self._kept.get(place)
            if entry is None:
                return
            entry[1] -= 1
            idle = [p for p, (_, users) in self._kept.items() if users <= 0]
            surplus = idle[: max(0, len(self._kept) - self._most)]
            evicted = [self._kept.pop(p)[0] for p in surplus]
        for filesystem in evicted:
            close = getattr(filesystem, "close", None)
            if close is not None:
                close()


#: Those of this process.
FILESYSTEMS = FileSystems()


def run(data: bytes) -> bytes:
    """Call a function with each of some items; what it returned, or how it failed, for each."""
    function, items = pickle.loads(data)  # noqa: S301 - from the driver, by way of Spark
    results: list[tuple[bool, Any]] = []
    for item in items:
        try:
            results.append((True, function(item)))
        except Exception as error:  # comes home as data: Spark would make a text of it
            results.append((False, failure_of(error)))
    settle_down()
    return pickle.dumps(results, protocol=5)


def settle_down() -> None:
    """Leave alone what was loaded by now.

    A worker collects garbage after each task, and would look at all modules each time: that takes
    longer than everything else that a small task does.
    """
    global _warm  # noqa: PLW0603 - of this process
    if not _warm:
        _warm = True
        gc.collect()
        gc.freeze()
