"""The store behind the fake filesystem: every request to it goes through one function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.program.faults import REQUESTS, Turn
from fscontract.fakes.filesystem.faults import FakeInjector, deliver, happen, refuse, shape
from fscontract.fakes.filesystem.requests import (
    Answer,
    Exchange,
    Latency,
    RangeNotSatisfiable,
    ReplicaLost,
    Request,
    RequestTimedOut,
    Target,
    changed,
    outcome_of,
)
from fscontract.fakes.filesystem.tree import Clock, Tree, Version

T = TypeVar("T")
#: How many requests the log keeps.
LOG = 100_000


class Store:
    """Files and directories behind requests; safe to use from several threads.

    A request takes what `latency` says, on the clock only, and one to which there is no answer
    before the `deadline` (in seconds) has timed out. Requests made at the same moment take their
    time one after the other. Faults strike through `injector`.
    """

    def __init__(self, tree: Tree, clock: Clock, latency: Latency, deadline: float) -> None:
        self.tree = tree
        self.clock = clock
        self.latency = latency
        self.deadline = deadline
        self.injector = FakeInjector()
        self._log: deque[Request] = deque(maxlen=LOG)

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, the oldest first; the last 100,000 of them."""
        return tuple(self._log)

    def forget(self) -> None:
        """Empty the log of requests."""
        self._log.clear()

    def open(self, path: str) -> Version:
        """The version of a file that reads will be of; FileNotFoundException and others."""
        return self._request("open", path, lambda _: self.tree.readable(path))

    def status(self, path: str) -> FileStatus:
        """The status of a path; FileNotFoundException."""
        return self._request("status", path, lambda _: self.tree.status(path))

    def list(self, path: str) -> list[FileStatus]:
        """The children of a directory; FileNotFoundException."""
        return self._request("list", path, lambda _: self.tree.children(path))

    def read(self, path: str, version: Version, offset: int, length: int, replica: int) -> Answer:
        """Bytes of one replica, if the file is still of this version.

        FileNotFoundException, AccessControlException, RemoteFileChangedException; the answer is
        shorter at the end of the file, and RangeNotSatisfiable there or beyond it.
        """
        return self._request(
            "read",
            path,
            lambda exchange: self._answer(exchange, version, offset, length, replica),
            Target(offset, length, version.etag, replica),
        )

    def put(self, path: str, data: bytes, overwrite: bool) -> None:
        """Make or replace a file; PathIOException."""
        size = len(data)
        self._request("put", path, lambda _: self.tree.put(path, data, overwrite), size=size)

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents; PathIOException."""
        self._request("mkdirs", path, lambda _: self.tree.mkdirs(path))

    def delete(self, path: str, recursive: bool) -> bool:
        """Delete a path; False if it was not there. PathIOException."""
        return self._request("delete", path, lambda _: self.tree.delete(path, recursive))

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; FileNotFoundException, PathIOException."""
        self._request("rename", source, lambda _: self.tree.rename(source, target))

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path; FileNotFoundException."""
        self._request("permission", path, lambda _: self.tree.set_permission(path, mode))

    def access(self, path: str, mode: str) -> None:
        """Check what the owner may do; AccessControlException."""
        self._request("access", path, lambda _: self.tree.access(path, mode))

    def _request(
        self,
        kind: str,
        path: str,
        act: Callable[[Exchange], T],
        target: Target = Target(),  # noqa: B008 - it never changes
        size: int = 0,
    ) -> T:
        """Make one request: count it, let a fault strike it, take its time, and log it."""
        turn = Turn()
        if kind in REQUESTS:
            turn = self.injector.request(kind, path, target.offset, target.length)
        exchange = Exchange(path, turn, self.latency.request + self.latency.byte * size)
        at = self.clock.now
        try:
            happen(self.tree, exchange, self.injector)
            refuse(exchange)
            value = act(exchange)
            if kind in REQUESTS and exchange.seconds > self.deadline:
                raise RequestTimedOut(path, f"no answer after {self.deadline:g} s")
            return value
        except Exception as error:
            exchange.outcome = outcome_of(error)
            raise
        finally:
            if kind in REQUESTS:
                exchange.seconds = min(exchange.seconds, self.deadline)
            self.clock.advance(exchange.seconds)
            self._log.append(Request(kind, path, *target, at, exchange.seconds, exchange.outcome))

    def _answer(
        self, exchange: Exchange, version: Version, offset: int, length: int, replica: int
    ) -> Answer:
        if self.tree.readable(exchange.path).etag != version.etag:
            raise changed(exchange.path)
        if offset >= version.length:
            raise RangeNotSatisfiable(exchange.path, offset, version.length)
        there = min(length, version.length - offset)
        there = shape(exchange, version, offset, there)
        answer = Answer(*version.read(offset, there, replica))
        if not answer.checks:
            raise ReplicaLost(exchange.path, f"replica {replica} has no bytes from {offset} on")
        answer = deliver(exchange, answer)
        exchange.seconds += self.latency.byte * len(answer.body)
        return answer
