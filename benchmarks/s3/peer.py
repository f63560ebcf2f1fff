"""What the libraries that are compared have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.s3.cases import PIECE, Run, Take, Work
from servers.s3.signed import Server

THREADS = 16


class Peer:
    """One library at one endpoint. `runs` has the ways in which it does a case, by their names."""

    def __init__(self, server: Server, url: str, bucket: str, work: Work) -> None:
        self.server = server
        self.url = url
        self.bucket = bucket
        self.work = work
        self.pool = ThreadPoolExecutor(THREADS)
        self.connect()

    def connect(self) -> None:
        """Make the clients that all cases share."""

    def runs(self, case: str) -> dict[str, Run]:
        """How it does a case; nothing if it can't."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of threads and connections."""
        self.pool.shutdown()

    def each(self, read: Callable[[int], Any], places: Iterable[int], take: Take) -> None:
        """Read at each place, one after the other."""
        for place in places:
            take(read(place))

    def threaded(self, read: Callable[[int], Any], places: Iterable[int], take: Take) -> None:
        """Read at all places, from threads."""
        for data in self.pool.map(read, places):
            take(data)

    def places(self, case: str) -> list[int]:
        """Where a case reads."""
        work = self.work
        return {"near": work.near, "spread": work.spread}.get(case, work.preads)


def pieces(file: Any, take: Take) -> None:
    """Read a file to its end."""
    while piece := file.read(PIECE):
        take(piece)
