"""What each kind of fault does to a request, or to the store just before it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NoReturn

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import FAULTS, Fault
from fscontract.fakes.filesystem.requests import (
    Answer,
    ConnectionReset,
    Exchange,
    RangeNotSatisfiable,
    RequestTimedOut,
    SlowDown,
    TooManyOpenFiles,
    changed,
)
from fscontract.fakes.filesystem.tree import Tree, Version, flipped


class FakeInjector(PlanInjector):
    """Lets plans of faults happen in a fake store; it can bring about every kind."""

    def __init__(self) -> None:
        super().__init__(frozenset(n for n, kind in FAULTS.items() if "fake" in kind.attaches))
        self._lock = threading.Lock()
        self._happened: set[tuple[str, str]] = set()  # kinds of events and what they befell

    def detach(self) -> None:
        """As the port has it."""
        super().detach()
        with self._lock:
            self._happened.clear()

    def happens(self, kind: str, path: str) -> bool:
        """Whether an event befalls a file now: it does once in a plan."""
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
    """Do to the file what happens to it just before the request, if there is a file."""
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
    """Raise what is answered instead, if anything is, or let the answer take its time."""
    fault = exchange.turn.fault
    action = None if fault is None else _REFUSALS.get(fault.kind)
    if fault is not None and action is not None:
        exchange.take_effect()
        action(exchange, fault)


# The answer -----------------------------------------------------------------------------------


def shape(exchange: Exchange, version: Version, offset: int, length: int) -> int:
    """How many of the `length` bytes that there are the request gives; RangeNotSatisfiable."""
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
    """What arrives of the answer."""
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
