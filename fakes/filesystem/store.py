"""The store behind the fake filesystem: every request to it goes through one function.

Faults strike a request, or change the store just before it, according to a plan.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import NoReturn, TypeVar

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import FAULTS, Fault
from fscontract.fakes.filesystem.handles import Handles
from fscontract.fakes.filesystem.request_log import Requests
from fscontract.fakes.filesystem.requests import (
    Answer,
    ConnectionReset,
    Exchange,
    Latency,
    RangeNotSatisfiable,
    ReplicaLost,
    Request,
    RequestTimedOut,
    SlowDown,
    Target,
    TooManyOpenFiles,
    changed,
    outcome_of,
)
from fscontract.fakes.filesystem.tree import Clock, Tree, Version, flipped

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
        self.injector = FakeInjector()
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
        size = len(data)
        self._request("put", path, lambda _: self.tree.put(path, data, overwrite), size=size)

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
        size: int = 0,
    ) -> T:
        """Make one request: count it, let a fault strike it, advance the clock, and log it."""
        turn = self.injector.request(operation, path, target.offset, target.length)
        exchange = Exchange(path, turn, self.latency.request + self.latency.byte * size)
        at = self.clock.now
        try:
            happen(self.tree, exchange, self.injector)
            refuse(exchange)
            value = act(exchange)
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


class FakeInjector(PlanInjector):
    """Applies plans of faults to a fake store; supports every kind."""

    def __init__(self) -> None:
        super().__init__(frozenset(n for n, kind in FAULTS.items() if "fake" in kind.places))
        self._lock = threading.Lock()
        self._happened: set[tuple[str, str]] = set()  # kinds of events and their files

    def detach(self) -> None:
        """Implement `Injector.detach`."""
        super().detach()
        with self._lock:
            self._happened.clear()

    def happens(self, kind: str, path: str) -> bool:
        """Return whether an event of a file happens now: it does once in a plan."""
        with self._lock:
            if (kind, path) in self._happened:
                return False
            self._happened.add((kind, path))
            return True


# Before the request ---------------------------------------------------------------------------


def _change(tree: Tree, path: str, data: bytes) -> None:
    tree.put(path, replacement(data))


def _cut(tree: Tree, path: str, data: bytes) -> None:
    tree.put(path, data[: len(data) // 2])


def _delete(tree: Tree, path: str, data: bytes) -> None:
    tree.delete(path)


def _revoke(tree: Tree, path: str, data: bytes) -> None:
    tree.set_permission(path, 0o200)


_EVENTS: dict[str, Callable[[Tree, str, bytes], None]] = {
    "change": _change,
    "cut": _cut,
    "delete": _delete,
    "revoke": _revoke,
}


def happen(tree: Tree, exchange: Exchange, injector: FakeInjector) -> None:
    """Apply a file event before the request, if the file exists."""
    event = _EVENTS.get(exchange.fault)
    if event is None:
        return
    version = tree.version(exchange.path)
    if version is not None and injector.happens(exchange.fault, exchange.path):
        event(tree, exchange.path, version.data)
        exchange.take_effect()


# Instead of an answer -------------------------------------------------------------------------


def _reset(exchange: Exchange, fault: Fault) -> NoReturn:
    raise ConnectionReset(exchange.path, "the connection was reset")


def _time_out(exchange: Exchange, fault: Fault) -> NoReturn:
    exchange.seconds += fault.delay
    raise RequestTimedOut(exchange.path, f"no answer after {exchange.seconds:g} s")


def _throttle(exchange: Exchange, fault: Fault) -> NoReturn:
    raise SlowDown(exchange.path, fault.delay)


def _precondition(exchange: Exchange, fault: Fault) -> NoReturn:
    raise changed(exchange.path)


def _descriptors(exchange: Exchange, fault: Fault) -> NoReturn:
    raise TooManyOpenFiles(exchange.path)


def _hang(exchange: Exchange, fault: Fault) -> None:
    exchange.seconds += fault.delay


_REFUSALS: dict[str, Callable[[Exchange, Fault], None]] = {
    "reset": _reset,
    "timeout": _time_out,
    "throttle": _throttle,
    "precondition": _precondition,
    "descriptors": _descriptors,
    "hang": _hang,
}


def refuse(exchange: Exchange) -> None:
    """Raise the answer of the fault, if any, or let the answer take its time."""
    fault = exchange.turn.fault
    action = None if fault is None else _REFUSALS.get(fault.kind)
    if fault is not None and action is not None:
        exchange.take_effect()
        action(exchange, fault)


# The answer -----------------------------------------------------------------------------------


def shape(exchange: Exchange, version: Version, offset: int, length: int) -> int:
    """Return how many of the `length` bytes the request returns. Raise RangeNotSatisfiable."""
    fault = exchange.turn.fault
    if fault is None:
        return length
    if fault.kind == "range":
        exchange.take_effect()
        raise RangeNotSatisfiable(exchange.path, offset, version.length)
    if fault.kind == "short" and fault.limit < length:
        exchange.take_effect()
        return fault.limit
    return length


def deliver(exchange: Exchange, answer: Answer) -> Answer:
    """Return the part of the answer that arrives."""
    fault = exchange.turn.fault
    if fault is None:
        return answer
    if fault.kind == "corrupt":
        exchange.take_effect()
        return Answer(flipped(answer.body), answer.checks)
    if fault.kind == "slow":
        exchange.take_effect()
        exchange.seconds += fault.delay * len(answer.body)
    elif fault.kind == "cut-body" and fault.limit < len(answer.body):
        exchange.take_effect()
        return Answer(answer.body[: fault.limit], answer.checks)
    return answer
