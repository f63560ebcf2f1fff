"""Faults of a store and plans of faults, as data.

A *request* is one request to the store: an open, a look at a status, a listing, or a read. Requests
are counted from 1 when a plan is attached, and a fault gives the numbers of the requests that it
strikes.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.program.arguments import ProgramError

Number: TypeAlias = int | float

#: The kinds of requests.
REQUESTS = ("open", "status", "list", "read")
#: Places to attach a plan: the fake, a local directory, the proxy before an HTTP store.
PLACES = ("fake", "local", "http")
#: The largest number of a fault.
MOST_REQUESTS = 10**9
MOST_BYTES = 1 << 40
MOST_SECONDS = 86400
#: The most requests under a plan that are kept for messages.
MOST_SEEN = 1000
#: The most faults of one plan.
MOST_FAULTS = 1000


@dataclass(frozen=True)
class FaultKind:
    """One way to fail.

    `parameter` is the number that it takes beside its time: "amount" (bytes), "seconds", or None.
    """

    name: str
    meaning: str
    #: The kinds of requests that it can strike, a subset of REQUESTS.
    requests: frozenset[str]
    #: The places where it can happen, a subset of PLACES.
    attaches: frozenset[str]
    parameter: str | None = None
    #: The default of the parameter, and its least value.
    default: Number = 0
    least: Number = 0
    #: Values of the parameter in random plans.
    values: tuple[Number, ...] = ()


_ANY = frozenset(REQUESTS)
_READ = frozenset({"read"})
_EVERYWHERE = frozenset(PLACES)
_STORES = frozenset({"fake", "http"})
_AMOUNTS = (1, 2, 3, 7, 100, 1000, 4095, 4096, 4097)

#: All kinds of faults, the mildest first.
FAULTS: dict[str, FaultKind] = {
    kind.name: kind
    for kind in (
        FaultKind(
            "short",
            "The request returns at most this number of bytes, and at least one.",
            _READ, _EVERYWHERE, "amount", default=1, least=1, values=_AMOUNTS,
        ),
        FaultKind(
            "slow",
            "Each byte of the answer takes this number of seconds.",
            _READ, _STORES, "seconds", default=0.001, values=(0.001, 0.01),
        ),
        FaultKind("reset", "The connection is reset, and there is no answer.", _ANY, _EVERYWHERE),
        FaultKind(
            "timeout",
            "There is no answer for this number of seconds; then the request fails.",
            _ANY, _EVERYWHERE, "seconds", default=1, values=(0.01, 1, 30),
        ),
        FaultKind(
            "throttle",
            "The store is busy (503) and requests a delay of this number of seconds.",
            _ANY, _STORES, "seconds", default=1, values=(0, 1, 5, 120),
        ),
        FaultKind(
            "cut-body",
            "The body ends after this number of bytes, although more were announced.",
            _READ, _STORES, "amount", default=0, values=(0, *_AMOUNTS),
        ),
        FaultKind(
            "corrupt",
            "Bytes of the replica that is read are flipped; its checksum shows it.",
            _READ, _STORES,
        ),
        FaultKind("range", "The store can't satisfy the range (416).", _READ, _STORES),
        FaultKind(
            "precondition", "The store reports that the file has changed (412).", _READ, _STORES
        ),
        FaultKind(
            "change",
            "The file is overwritten with the same length just before the request, once in a plan.",
            _ANY - {"list"}, frozenset({"fake", "local"}),
        ),
        FaultKind(
            "cut",
            "The file is truncated to its first half just before the request, once in a plan.",
            _ANY - {"list"}, frozenset({"fake", "local"}),
        ),
        FaultKind(
            "delete",
            "The file is deleted just before the request.",
            _ANY - {"list"}, _EVERYWHERE,
        ),
        FaultKind(
            "revoke",
            "The permission to read the file is revoked just before the request.",
            _ANY - {"list"}, _EVERYWHERE,
        ),
        FaultKind(
            "descriptors",
            "The process has no free descriptor for the file.",
            frozenset({"open"}), frozenset({"fake", "local"}),
        ),
        FaultKind(
            "hang",
            "The answer is delayed by this number of seconds.",
            _ANY, _EVERYWHERE, "seconds", default=3600, values=(3600,),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A kind of fault that strikes the requests from `at` to `at + times - 1`.

    It strikes only the kinds of requests that it can. `amount` is in bytes. Raise ProgramError for
    numbers that are out of range, or that the kind does not take.
    """

    kind: str
    at: int = 1
    times: int = 1
    amount: int | None = None
    seconds: Number | None = None

    def __post_init__(self) -> None:
        kind = FAULTS.get(self.kind) if isinstance(self.kind, str) else None
        if kind is None:
            raise ProgramError(f"unknown kind {self.kind!r:.80}; known: {', '.join(FAULTS)}")
        for name in ("at", "times"):
            _check(name, getattr(self, name), 1, MOST_REQUESTS)
        for name, maximum in (("amount", MOST_BYTES), ("seconds", MOST_SECONDS)):
            value = getattr(self, name)
            if value is not None and name != kind.parameter:
                allowed = ", ".join(("at", "times", *filter(None, [kind.parameter])))
                raise ProgramError(f"unknown parameter {name} of {kind.name}; allowed: {allowed}")
            if value is not None:
                _check(name, value, kind.least, maximum)

    def __str__(self) -> str:
        value = self.amount if self.seconds is None else self.seconds
        kind = self.kind if value is None else f"{self.kind}({value:g})"
        last = self.at + self.times - 1
        return f"{kind} at {self.at}" + (f"-{last}" if self.times > 1 else "")

    @property
    def limit(self) -> int:
        """The amount in bytes, or its default."""
        return int(FAULTS[self.kind].default) if self.amount is None else self.amount

    @property
    def delay(self) -> float:
        """The delay in seconds, or its default."""
        return float(FAULTS[self.kind].default if self.seconds is None else self.seconds)

    def strikes(self, number: int, request: str) -> bool:
        """Return whether the fault strikes the request of this number and kind."""
        due = self.at <= number < self.at + self.times
        return due and request in FAULTS[self.kind].requests

    def to_json(self) -> dict[str, Any]:
        """Return the fault as a JSON object, without default values."""
        values = {name: getattr(self, name) for name in ("times", "amount", "seconds")}
        usual = {"times": 1}
        chosen = {n: v for n, v in values.items() if v is not None and v != usual.get(n)}
        return {"kind": self.kind, "at": self.at, **chosen}

    @classmethod
    def from_json(cls, data: Any, where: str = "fault") -> Fault:
        """Parse a fault; ProgramError names the place and what is allowed there."""
        if not isinstance(data, dict) or "kind" not in data:
            raise ProgramError(f"{where}: expected an object with kind, got {data!r:.80}")
        fields = tuple(cls.__dataclass_fields__)
        for name in data:
            if name not in fields:
                raise ProgramError(
                    f"{where}: unknown field {name!r:.80}; known: {', '.join(fields)}"
                )
        try:
            return cls(**data)
        except ProgramError as error:
            raise ProgramError(f"{where}: {error}") from None


@dataclass(frozen=True)
class FaultPlan:
    """Faults of one run. If several strike the same request, the first one applies."""

    faults: tuple[Fault, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.faults, Fault) or not all(isinstance(f, Fault) for f in self.faults):
            raise ProgramError(f"faults must be a tuple, got {self.faults!r:.80}")
        object.__setattr__(self, "faults", tuple(self.faults))

    def __str__(self) -> str:
        return "; ".join(map(str, self.faults)) or "no faults"

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its faults."""
        return frozenset(fault.kind for fault in self.faults)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as a JSON object."""
        return {"faults": [fault.to_json() for fault in self.faults]}

    @classmethod
    def from_json(cls, data: Any, where: str = "plan") -> FaultPlan:
        """Parse a plan; ProgramError names the place and what is allowed there."""
        if not isinstance(data, dict) or not isinstance(data.get("faults"), list):
            raise ProgramError(f"{where}: expected an object with a list of faults")
        if len(data) > 1:
            raise ProgramError(f"{where}: unexpected keys besides faults")
        faults = data["faults"]
        if len(faults) > MOST_FAULTS:
            raise ProgramError(f"{where}: expected at most {MOST_FAULTS} faults, got {len(faults)}")
        return cls(
            tuple(Fault.from_json(f, f"{where}: fault {i}") for i, f in enumerate(faults, 1))
        )

    def dumps(self) -> str:
        """Return the plan as one line of JSON."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @classmethod
    def loads(cls, text: str | bytes, where: str = "plan") -> FaultPlan:
        """Parse a plan from JSON text; ProgramError as in `from_json`."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())
            raise ProgramError(f"{where}: not JSON: {reason:.120}") from None
        return cls.from_json(data, where)


@dataclass(frozen=True)
class Turn:
    """One request under a plan: its number (0 without a plan), and the fault that strikes it."""

    number: int = 0
    fault: Fault | None = None
    firing: Firing | None = None

    def took_effect(self) -> None:
        """Count the fault; call this once the fault has changed the request's result."""
        if self.firing is not None and self.fault is not None:
            self.firing.count(self.fault)

    def wait(self, seconds: float) -> bool:
        """Wait in real time; return False if the plan was detached before the time was over."""
        return self.firing is None or not self.firing.released.wait(seconds)


class CountedRequest(NamedTuple):
    """A request under a plan; `offset` and `length` are its range in bytes, if known."""

    number: int
    kind: str
    path: str
    offset: int | None
    length: int | None

    def __str__(self) -> str:
        count = "" if self.length is None else f" {self.length} bytes"
        start = "" if self.offset is None else f" from {self.offset}"
        return f"{self.number} {self.kind} {self.path}{count}{start}".rstrip()


class Firing:
    """An attached plan: counts requests, and selects the fault that strikes each. Thread-safe."""

    def __init__(self, plan: FaultPlan) -> None:
        self.plan = plan
        #: The requests so far.
        self.requests = 0
        #: The faults that have taken effect so far.
        self.fired = 0
        #: The first of the requests, for messages.
        self.seen: list[CountedRequest] = []
        #: Set once the plan is detached: all waits end.
        self.released = threading.Event()
        self._struck: set[Fault] = set()
        self._lock = threading.Lock()

    def request(
        self, kind: str, path: str = "", offset: int | None = None, length: int | None = None
    ) -> Turn:
        """Count a request of one of the kinds REQUESTS."""
        assert kind in REQUESTS
        with self._lock:
            self.requests += 1
            number = self.requests
            if number <= MOST_SEEN:
                self.seen.append(CountedRequest(number, kind, path, offset, length))
        return Turn(number, self._striking(number, kind), self)

    def count(self, fault: Fault) -> None:
        """Count a fault that has taken effect."""
        with self._lock:
            self.fired += 1
            self._struck.add(fault)

    @property
    def unstruck(self) -> tuple[Fault, ...]:
        """The faults of the plan that have not taken effect so far."""
        return tuple(fault for fault in self.plan.faults if fault not in self._struck)

    def why(self, fault: Fault) -> str:
        """Return why a fault has not taken effect."""
        if self.requests < fault.at:
            return f"there was no request {fault.at}"
        due = [r for r in self.seen if fault.at <= r.number < fault.at + fault.times]
        possible = [r for r in due if fault.strikes(r.number, r.kind)]
        if due and not possible:
            listed = ", ".join(f"{r.number} ({r.kind})" for r in due[:3])
            kinds = " or ".join(k for k in REQUESTS if k in FAULTS[fault.kind].requests)
            return f"it can only strike {kinds}, not {listed}{', ...' if len(due) > 3 else ''}"
        if possible and all(self._striking(s.number, s.kind) is not fault for s in possible):
            return "an earlier fault of the plan came first"
        return "it had no effect on its requests"

    def _striking(self, number: int, kind: str) -> Fault | None:
        return next((f for f in self.plan.faults if f.strikes(number, kind)), None)


def random_plan(rng: Random, kinds: Iterable[str], requests: int = 8) -> FaultPlan:
    """Return a plan of one to three faults of these kinds at the first `requests` requests."""
    names = set(kinds)
    known = [name for name in FAULTS if name in names]
    if not known:
        return FaultPlan()
    count = rng.choice((1, 1, 1, 2, 3))
    return FaultPlan(tuple(_random_fault(rng, rng.choice(known), requests) for _ in range(count)))


def _random_fault(rng: Random, name: str, requests: int) -> Fault:
    kind = FAULTS[name]
    arguments: Mapping[str, Any] = {}
    if kind.parameter is not None and rng.random() < 0.75:
        arguments = {kind.parameter: rng.choice(kind.values)}
    at = min(rng.randint(1, max(1, requests)), rng.randint(1, max(1, requests)))
    return Fault(name, at, rng.choice((1, 1, 1, 2, 3, 5)), **arguments)


def smaller(plan: FaultPlan) -> Iterator[FaultPlan]:
    """Yield plans that are one step simpler: without faults, then with smaller numbers.

    Repeatedly choosing any of them terminates.
    """
    faults = plan.faults
    if len(faults) > 2:
        yield from (FaultPlan((fault,)) for fault in faults)
    for i, fault in enumerate(faults):
        before, after = faults[:i], faults[i + 1 :]
        yield FaultPlan(before + after)
        yield from (FaultPlan((*before, other, *after)) for other in _smaller(fault))


def _smaller(fault: Fault) -> Iterator[Fault]:
    for times in _below(fault.times, 1):  # the first strikes, then the last ones
        yield replace(fault, times=times)
        if (at := fault.at + fault.times - times) <= MOST_REQUESTS:
            yield replace(fault, at=at, times=times)
    yield from (replace(fault, at=n) for n in _below(fault.at, 1))
    minimum = math.ceil(FAULTS[fault.kind].least)
    if fault.amount is not None:
        yield replace(fault, amount=None)
        yield from (replace(fault, amount=n) for n in _below(fault.amount, minimum))
    if fault.seconds is not None:
        yield replace(fault, seconds=None)
        yield from (replace(fault, seconds=n) for n in _below(fault.seconds, minimum))


def _below(value: Number, minimum: int) -> list[int]:
    """Return simpler numbers, all of them whole: the least, the half, the preceding one."""
    ceiling = math.ceil(value)
    values = [minimum, (ceiling + minimum) // 2, ceiling - 1]
    return [v for v in dict.fromkeys(values) if minimum <= v < value]


def _check(name: str, value: Any, minimum: Number, maximum: Number) -> None:
    types = (int, float) if name == "seconds" else (int,)
    if type(value) not in types or not minimum <= value <= maximum:
        type_name = "a number" if name == "seconds" else "a whole number"
        raise ProgramError(
            f"{name} must be {type_name} from {minimum} to {maximum}, got {value!r:.40}"
        )
