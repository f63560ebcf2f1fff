"""Effects of each kind of fault on a request to the fake store.

A fault changes the store before the request, refuses the request, makes it take time, changes the
bytes that are read or written, or loses the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from typing import NamedTuple, NoReturn, TypeVar
from zlib import crc32

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.content import replacement
from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.fault_kinds import MOST_SECONDS
from fscontract.contract.program.faults import FAULTS, Fault
from fscontract.fakes.filesystem.requests import (
    AcknowledgementLost,
    Answer,
    ConnectionReset,
    CredentialsExpired,
    Exchange,
    QuotaExceeded,
    RangeNotSatisfiable,
    RequestTimedOut,
    SlowDown,
    TooManyOpenFiles,
    WriteCut,
    changed,
)
from fscontract.fakes.filesystem.tree import Check, Clock, Tree, Version, flipped

_T = TypeVar("_T")


class TokenBucket:
    """Admits `rate` requests a second, and up to `burst` at once."""

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def wait(self, now: float) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens >= 1 - 1e-9:  # sums of delays are inexact
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self._rate


class _Written:
    """The bytes that were written under a quota."""

    amount = 0


class FakeInjector(PlanInjector):
    """Applies plans of faults to a fake store; supports every kind and parameter."""

    every_parameter = True

    def __init__(self, clock: Clock) -> None:
        super().__init__(frozenset(n for n, kind in FAULTS.items() if "fake" in kind.places))
        self._clock = clock
        self._lock = threading.Lock()
        self._happened: set[tuple[str, str]] = set()  # kinds of events and their files
        self._states: dict[int, object] = {}  # of faults, by index

    def detach(self) -> None:
        """Implement `Injector.detach`."""
        super().detach()
        with self._lock:
            self._happened.clear()
            self._states.clear()

    def now(self) -> float:
        """Return the time of the fake's clock."""
        return self._clock.now

    def happens(self, kind: str, path: str) -> bool:
        """Return whether an event of a file happens now: it does once in a plan."""
        with self._lock:
            if (kind, path) in self._happened:
                return False
            self._happened.add((kind, path))
            return True

    def wait(self, turn: Turn, fault: Fault) -> float:
        """Return the seconds until a fault that limits the rate admits a request; 0 for now."""
        now = self.now()
        with self._lock:
            bucket = self._state(turn, lambda: TokenBucket(fault.rate or 1, fault.burst or 1, now))
            return bucket.wait(now)

    def fits(self, turn: Turn, fault: Fault, size: int) -> bool:
        """Return whether a write fits in the quota of a fault, and count it if it does."""
        with self._lock:
            written = self._state(turn, _Written)
            fits = written.amount + size <= fault.limit
            written.amount += size if fits else 0
            return fits

    def _state(self, turn: Turn, make: Callable[[], _T]) -> _T:
        return self._states.setdefault(turn.index, make())  # type: ignore[return-value]


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


# Instead of an answer, or before it -----------------------------------------------------------


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


def _expired(exchange: Exchange, fault: Fault) -> NoReturn:
    raise CredentialsExpired(exchange.path, "the credentials have expired")


def _hang(exchange: Exchange, fault: Fault) -> None:
    exchange.seconds += fault.delay


def _jitter(exchange: Exchange, fault: Fault) -> None:
    draw = Random(f"{fault.seed or 0}:{exchange.turn.number}:{fault.distribution}")
    mean = fault.delay
    if fault.distribution == "uniform":
        seconds = draw.uniform(0, 2 * mean)
    elif fault.distribution == "pareto":  # with shape 2, whose mean is twice its minimum
        seconds = mean / 2 * draw.paretovariate(2)
    else:
        seconds = draw.expovariate(1) * mean
    exchange.seconds += min(seconds, MOST_SECONDS)


_REFUSALS: dict[str, Callable[[Exchange, Fault], None]] = {
    "reset": _reset,
    "timeout": _time_out,
    "throttle": _throttle,
    "precondition": _precondition,
    "descriptors": _descriptors,
    "expired": _expired,
    "hang": _hang,
    "jitter": _jitter,
}


def refuse(exchange: Exchange, injector: FakeInjector) -> None:
    """Raise the answer of the fault, if any, or let the answer take its time."""
    fault = exchange.turn.fault
    if fault is None:
        return
    if fault.kind == "rate-limit":
        if wait := injector.wait(exchange.turn, fault):
            exchange.take_effect()
            raise SlowDown(exchange.path, wait)
    elif fault.kind == "quota":
        if not injector.fits(exchange.turn, fault, exchange.size):
            exchange.take_effect()
            raise QuotaExceeded(exchange.path, fault.limit)
    elif (action := _REFUSALS.get(fault.kind)) is not None:
        exchange.take_effect()
        action(exchange, fault)


# The bytes that are read ----------------------------------------------------------------------


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


def deliver(exchange: Exchange, answer: Answer, version: Version, offset: int) -> Answer:
    """Return the part of the answer that arrives, and let it take its time."""
    fault = exchange.turn.fault
    if fault is None:
        return answer
    body = answer.body
    if fault.kind == "corrupt":
        before = version.before[offset : offset + len(body)]
        wrong = damaged(body, fault.how, before)
        if wrong not in (b"", body):
            exchange.take_effect()
            checks = (Check(len(wrong), crc32(wrong)),) if fault.silent else answer.checks
            return Answer(wrong, checks)
    elif fault.kind == "slow":
        exchange.take_effect()
        exchange.seconds += fault.delay * len(body)
    elif fault.kind == "stall" and fault.limit < len(body):
        exchange.take_effect()
        exchange.seconds += fault.delay
    elif fault.kind == "cut-body" and fault.limit < len(body):
        exchange.take_effect()
        return Answer(body[: fault.limit], answer.checks)
    return answer


def damaged(data: bytes, how: str | None, before: bytes) -> bytes:
    """Return wrong bytes in the place of `data`; `before` are those of the version before."""
    if how == "order":
        return data[::-1]
    if how == "version":
        return before
    if how == "zeros":
        return bytes(len(data))
    if how == "tail":
        return data[: len(data) // 2]
    return flipped(data)


# The bytes that are written -------------------------------------------------------------------


class Stored(NamedTuple):
    """The content of a written file, and its damaged copies, which its checksums contradict."""

    data: bytes
    copies: bytes | None = None


def store(exchange: Exchange, data: bytes, before: bytes) -> Stored:
    """Return what a write stores; `before` are the bytes of the version before."""
    fault = exchange.turn.fault
    if fault is None:
        return Stored(data)
    if fault.kind == "partial-write" and fault.limit < len(data):
        return Stored(data[: fault.limit])
    if fault.kind == "corrupt":
        wrong = damaged(data, fault.how, before)
        if wrong != data:
            return Stored(wrong) if fault.silent else Stored(data, wrong)
    return Stored(data)


def stored(exchange: Exchange) -> None:
    """Count the fault of a write that has taken place, and raise its error."""
    exchange.take_effect()
    fault = exchange.turn.fault
    if fault is not None and fault.kind == "partial-write":
        raise WriteCut(exchange.path, f"the connection was reset after {fault.limit} bytes")


def lose_answer(exchange: Exchange) -> None:
    """Raise AcknowledgementLost after a request if the fault loses its answer."""
    if exchange.fault == "lost-ack":
        exchange.take_effect()
        raise AcknowledgementLost(exchange.path, "the connection was reset before the answer")
