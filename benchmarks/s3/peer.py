"""Base class of the compared libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.s3.cases import PIECE, Run, Take, Work
from servers.s3.signed import Server

THREADS = 16


class Peer:
    """One library at one endpoint. `runs` returns its ways of running a case, by name."""

    def __init__(self, server: Server, url: str, bucket: str, work: Work) -> None:
        self.server = server
        self.url = url
        self.bucket = bucket
        self.work = work
        self.pool = ThreadPoolExecutor(THREADS)
        self.connect()

    def connect(self) -> None:
        """Create the clients that all cases share."""

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        raise NotImplementedError

    def close(self) -> None:
        """Close threads and connections."""
        self.pool.shutdown()

    def each(self, read: Callable[[int], Any], places: Iterable[int], take: Take) -> None:
        """Read at each position, sequentially."""
        for place in places:
            take(read(place))

    def threaded(self, read: Callable[[int], Any], places: Iterable[int], take: Take) -> None:
        """Read at all positions, from threads."""
        for data in self.pool.map(read, places):
            take(data)

    def places(self, case: str) -> list[int]:
        """Return the read positions of a case."""
        work = self.work
        return {"near": work.near, "spread": work.spread}.get(case, work.preads)


def pieces(file: Any, take: Take) -> None:
    """Read a file to EOF."""
    while piece := file.read(PIECE):
        take(piece)
