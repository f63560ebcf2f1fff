"""The store behind the fake filesystem: every request to it goes through one function.

Faults strike a request, or change the store just before it, according to a plan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.filesystem.fault_effects import (
    FakeInjector,
    Stored,
    deliver,
    happen,
    lose_answer,
    refuse,
    shape,
    store,
    stored,
)
from fscontract.fakes.filesystem.handles import Handles
from fscontract.fakes.filesystem.requests import (
    Answer,
    Exchange,
    Latency,
    RangeNotSatisfiable,
    ReplicaLost,
    Request,
    Requests,
    RequestTimedOut,
    Target,
    changed,
    outcome_of,
)
from fscontract.fakes.filesystem.tree import Clock, Tree, Version

T = TypeVar("T")
#: The size of the log of requests.
LOG = 100_000


class Store:
    """Files and directories behind requests; thread-safe.

    A request takes the time of `latency`, on the clock only; one without an answer within
    `deadline` seconds times out. Requests at the same moment are handled one after the other.
    Faults strike through `injector`.
    """

    def __init__(self, tree: Tree, clock: Clock, latency: Latency, deadline: float) -> None:
        self.tree = tree
        self.clock = clock
        self.latency = latency
        self.deadline = deadline
        self.injector = FakeInjector(clock)
        self.handles = Handles()
        self._log: deque[Request] = deque(maxlen=LOG)

    @property
    def requests(self) -> Requests:
        """The latest 100,000 requests, the oldest first."""
        return Requests(self._log)

    def view(self, tree: Tree, latency: Latency, deadline: float) -> Store:
        """Return a store with the same clock, faults, handles and log, and other settings."""
        other = Store(tree, self.clock, latency, deadline)
        other.injector, other.handles, other._log = self.injector, self.handles, self._log
        return other

    def forget(self) -> None:
        """Clear the log of requests."""
        self._log.clear()

    def open(self, path: str) -> Version:
        """Return the version of a file that reads use. Raise FileNotFoundException and others."""
        return self._request("open", path, lambda _: self.tree.readable(path))

    def status(self, path: str) -> FileStatus:
        """Return the status of a path. Raise FileNotFoundException."""
        return self._request("head", path, lambda _: self.tree.status(path))

    def list(self, path: str) -> list[FileStatus]:
        """Return the children of a directory. Raise FileNotFoundException."""
        return self._request("list", path, lambda _: self.tree.children(path))

    def read(self, path: str, version: Version, offset: int, length: int, replica: int) -> Answer:
        """Return bytes of one replica, if the file still has this version.

        The answer is shorter at the end of the file. Raise FileNotFoundException,
        AccessControlException, RemoteFileChangedException, and RangeNotSatisfiable at the end or
        beyond it.
        """
        return self._request(
            "get",
            path,
            lambda exchange: self._answer(exchange, version, offset, length, replica),
            Target(offset, length, version.etag, replica),
        )

    def put(self, path: str, data: bytes, overwrite: bool) -> None:
        """Make or replace a file. Raise PathIOException."""
        self._request(
            "put", path, lambda e: self._store(e, data, overwrite), Target(length=len(data))
        )

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents. Raise PathIOException."""
        self._request("mkdirs", path, lambda _: self.tree.mkdirs(path))

    def delete(self, path: str, recursive: bool) -> bool:
        """Delete a path; return False if it did not exist. Raise PathIOException."""
        return self._request("delete", path, lambda _: self.tree.delete(path, recursive))

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory. Raise FileNotFoundException, PathIOException."""
        self._request("rename", source, lambda _: self.tree.rename(source, target))

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path. Raise FileNotFoundException."""
        self._request("permission", path, lambda _: self.tree.set_permission(path, mode))

    def access(self, path: str, mode: str) -> None:
        """Check the permissions of the owner. Raise AccessControlException."""
        self._request("access", path, lambda _: self.tree.access(path, mode))

    def _request(
        self,
        operation: str,
        path: str,
        act: Callable[[Exchange], T],
        target: Target = Target(),  # noqa: B008 - it never changes
    ) -> T:
        """Make one request: count it, let a fault strike it, advance the clock, and log it."""
        turn = self.injector.request(operation, path, target.offset, target.length)
        size = target.length or 0 if operation == "put" else 0
        seconds = self.latency.request + self.latency.byte * size
        exchange = Exchange(path, turn, seconds, size)
        at = self.clock.now
        try:
            happen(self.tree, exchange, self.injector)
            refuse(exchange, self.injector)
            value = act(exchange)
            lose_answer(exchange)
            if exchange.seconds > self.deadline:
                raise RequestTimedOut(path, f"no answer after {self.deadline:g} s")
            return value
        except Exception as error:
            exchange.outcome = outcome_of(error)
            raise
        finally:
            exchange.seconds = min(exchange.seconds, self.deadline)
            self.clock.advance(exchange.seconds)
            self._log.append(
                Request(operation, path, *target, at, exchange.seconds, exchange.outcome)
            )

    def _store(self, exchange: Exchange, data: bytes, overwrite: bool) -> None:
        present = self.tree.version(exchange.path)
        content = store(exchange, data, b"" if present is None else present.data)
        version = self.tree.put(exchange.path, content.data, overwrite)
        if content != Stored(data):
            if content.copies is not None:
                version.damage(content.copies)
            stored(exchange)

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
        answer = deliver(exchange, answer, version, offset)
        exchange.seconds += self.latency.byte * len(answer.body)
        return answer
