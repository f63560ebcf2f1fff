"""Faults of a store and plans of faults, as data.

A fault has a kind and an aim. The aim selects requests by operation, path, offset, attempt, thread
and more; the fault strikes the `nth` of the selected requests and `times - 1` after it. Requests
are counted from 1 when a plan is attached.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.fault_kinds import (
    MOST_BYTES,
    MOST_REQUESTS,
    OPERATIONS,
    FaultKind,
    Number,
    check_number,
    constructor,
    kinds_of,
)
from fscontract.contract.program.server_faults import SERVER_FAULTS

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The most faults of one plan.
MOST_FAULTS = 1000
#: The most characters of a glob.
_MOST_TEXT = 1000
_LARGEST_SEED = 1 << 63

_GET = ("get",)
#: Operations on one path that has to exist.
_OF_FILE = ("open", "get", "head")
_STORES = ("fake", "http")
_FILES = ("fake", "local")
_AMOUNTS = (1, 2, 3, 7, 100, 1000, 4095, 4096, 4097)


class SeenRequest(NamedTuple):
    """A request under a plan, as faults see it.

    `number` counts all requests, `attempt` those of this operation, path and offset in a row that
    were struck, plus one. `offset` and `length` are the range in bytes, if known.
    """

    number: int
    operation: str
    path: str = ""
    offset: int | None = None
    length: int | None = None
    attempt: int = 1
    thread: str = ""

    def __str__(self) -> str:
        count = "" if self.length is None else f" {self.length} bytes"
        start = "" if self.offset is None else f" from {self.offset}"
        return f"{self.number} {self.operation} {self.path}{count}{start}".rstrip()


#: Offsets in bytes: one, a slice, or a pair of the first and the end, which is None if open.
Offsets: TypeAlias = int | slice | tuple[int, int | None]


class Aim(TypedDict, total=False):
    """The parameters that all constructors of `Fault` take. They select requests.

    `operation` is one of OPERATIONS, or several. `path` is a glob, in which `*` also matches
    slashes; without a slash it is compared with the last part of the path. `offset` is where a
    request of bytes starts. `attempt` is 1 for the first try. `thread` is a glob of the name of
    the thread. `where` is a function of a SeenRequest.

    Of the selected requests the fault strikes the `nth` and `times - 1` more, or all after it
    ("all"). With `probability`, each is struck with that probability, which depends on `seed` and
    on its number alone, and `times` is "all" unless given.
    """

    operation: str | tuple[str, ...]
    path: str
    offset: Offsets
    attempt: int
    thread: str
    where: Callable[[SeenRequest], bool]
    nth: int
    times: int | Literal["all"]
    probability: float
    seed: int


@dataclass(frozen=True)
class Fault:
    """A kind of fault and its aim: `Fault.short(path="*.parquet", offset=slice(4, None), nth=2)`.

    There is one constructor for each kind, with its parameters; all take those of `Aim`. A fault
    strikes only the operations that its kind can. `amount` is in bytes. Raise ProgramError, with
    what is allowed, for invalid values, and for parameters that the kind does not take.
    """

    kind: str
    nth: int = 1
    times: int | Literal["all"] | None = None
    amount: int | None = None
    seconds: Number | None = None
    operation: str | tuple[str, ...] | None = None
    path: str | None = None
    offset: Offsets | None = None
    attempt: int | None = None
    thread: str | None = None
    where: Callable[[SeenRequest], bool] | None = None
    probability: float | None = None
    seed: int | None = None

    # One constructor a kind, the mildest first -------------------------------------------------

    @classmethod
    @constructor(_GET, least=1, values=_AMOUNTS)
    def short(cls, amount: int = 1, **aim: Unpack[Aim]) -> Fault:
        """The request returns at most `amount` bytes, and at least one."""
        return cls("short", amount=amount, **aim)

    @classmethod
    @constructor(_GET, _STORES, values=(0.001, 0.01))
    def slow(cls, seconds: Number = 0.001, **aim: Unpack[Aim]) -> Fault:
        """Each byte of the answer takes `seconds`."""
        return cls("slow", seconds=seconds, **aim)

    @classmethod
    @constructor(OPERATIONS)
    def reset(cls, **aim: Unpack[Aim]) -> Fault:
        """The connection is reset, and there is no answer."""
        return cls("reset", **aim)

    @classmethod
    @constructor(OPERATIONS, values=(0.01, 1, 30))
    def timeout(cls, seconds: Number = 1, **aim: Unpack[Aim]) -> Fault:
        """There is no answer for `seconds`; then the request fails."""
        return cls("timeout", seconds=seconds, **aim)

    @classmethod
    @constructor(OPERATIONS, _STORES, values=(0, 1, 5, 120))
    def throttle(cls, seconds: Number = 1, **aim: Unpack[Aim]) -> Fault:
        """The store is busy (503) and requests a delay of `seconds`."""
        return cls("throttle", seconds=seconds, **aim)

    @classmethod
    @constructor(_GET, _STORES, values=(0, *_AMOUNTS))
    def cut_body(cls, amount: int = 0, **aim: Unpack[Aim]) -> Fault:
        """The body ends after `amount` bytes, although more were announced."""
        return cls("cut-body", amount=amount, **aim)

    @classmethod
    @constructor(_GET, _STORES)
    def corrupt(cls, **aim: Unpack[Aim]) -> Fault:
        """Bytes of the replica that is read are flipped; its checksum shows it."""
        return cls("corrupt", **aim)

    @classmethod
    @constructor(_GET, _STORES)
    def range(cls, **aim: Unpack[Aim]) -> Fault:
        """The store can't satisfy the range (416)."""
        return cls("range", **aim)

    @classmethod
    @constructor(_GET, _STORES)
    def precondition(cls, **aim: Unpack[Aim]) -> Fault:
        """The store reports that the file has changed (412)."""
        return cls("precondition", **aim)

    @classmethod
    @constructor(_OF_FILE, _FILES)
    def change(cls, **aim: Unpack[Aim]) -> Fault:
        """The file is overwritten with the same length just before the request, once in a plan."""
        return cls("change", **aim)

    @classmethod
    @constructor(_OF_FILE, _FILES)
    def cut(cls, **aim: Unpack[Aim]) -> Fault:
        """The file is truncated to its first half just before the request, once in a plan."""
        return cls("cut", **aim)

    @classmethod
    @constructor(_OF_FILE)
    def delete(cls, **aim: Unpack[Aim]) -> Fault:
        """The file is deleted just before the request."""
        return cls("delete", **aim)

    @classmethod
    @constructor(_OF_FILE)
    def revoke(cls, **aim: Unpack[Aim]) -> Fault:
        """The permission to read the file is revoked just before the request."""
        return cls("revoke", **aim)

    @classmethod
    @constructor(("open",), _FILES)
    def descriptors(cls, **aim: Unpack[Aim]) -> Fault:
        """The process has no free descriptor for the file."""
        return cls("descriptors", **aim)

    @classmethod
    @constructor(OPERATIONS, values=(3600,))
    def hang(cls, seconds: Number = 3600, **aim: Unpack[Aim]) -> Fault:
        """The answer is delayed by `seconds`."""
        return cls("hang", seconds=seconds, **aim)

    # What is valid -----------------------------------------------------------------------------

    def __post_init__(self) -> None:
        known = _KINDS.get(self.kind) if isinstance(self.kind, str) else None
        if known is None:
            raise ProgramError(f"unknown kind {self.kind!r:.80}; known: {', '.join(FAULTS)}")
        for name in PARAMETERS:
            parameter, value = known.parameters.get(name), getattr(self, name)
            if parameter is None and value is not None:
                allowed = ", ".join((*known.parameters, *AIMS))
                raise ProgramError(f"unknown parameter {name} of {self.kind}; allowed: {allowed}")
            if parameter is not None:
                self._set(name, parameter.default if value is None else value)
                parameter.check(getattr(self, name))
        self._check_aim(known.operations)

    def _check_aim(self, possible: frozenset[str]) -> None:
        if self.operation is not None:
            self._set("operation", _operations(self.kind, self.operation, possible))
        for name in ("path", "thread"):
            text = getattr(self, name)
            if text is not None and (not isinstance(text, str) or not 0 < len(text) <= _MOST_TEXT):
                raise ProgramError(f"{name} must be a glob, got {text!r:.40}")
        if self.offset is not None:
            self._set("offset", _offsets(self.offset))
        if self.where is not None and not callable(self.where):
            raise ProgramError(f"where must be a function of a request, got {self.where!r:.40}")
        if self.probability is not None:
            check_number("probability", self.probability, 0, 1)
        if self.seed is not None and self.probability is None:
            raise ProgramError("seed needs a probability")
        if self.times is None:
            self._set("times", 1 if self.probability is None else MOST_REQUESTS)
        elif self.times == "all":
            self._set("times", MOST_REQUESTS)
        for name, minimum, maximum in (
            ("nth", 1, MOST_REQUESTS),
            ("times", 1, MOST_REQUESTS),
            ("attempt", 1, MOST_REQUESTS),
            ("seed", -_LARGEST_SEED, _LARGEST_SEED),
        ):
            value = getattr(self, name)
            if value is not None or name in ("nth", "times"):
                check_number(name, value, minimum, maximum)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    # What it strikes ---------------------------------------------------------------------------

    @property
    def limit(self) -> int:
        """The amount in bytes; 0 if the kind has none."""
        return self.amount or 0

    @property
    def delay(self) -> float:
        """The delay in seconds; 0 if the kind has none."""
        return float(self.seconds or 0)

    @property
    def last(self) -> int:
        """The number of the last selected request that it strikes."""
        assert isinstance(self.times, int)
        return self.nth + self.times - 1

    @property
    def operations(self) -> frozenset[str]:
        """The operations that it strikes."""
        possible = _KINDS[self.kind].operations
        return possible if self.operation is None else possible.intersection(self.operation)

    def selects(self, request: SeenRequest) -> bool:
        """Return whether the aim selects a request, whatever its number."""
        return all(test(request) for _, test in self.conditions())

    def conditions(self) -> Iterator[tuple[str, Callable[[SeenRequest], bool]]]:
        """Yield each condition of the aim: its description, and a test of a request."""
        operations = self.operations
        names = " or ".join(o for o in OPERATIONS if o in operations)
        if len(operations) == len(OPERATIONS):
            names = "any request"
        yield names, lambda request: request.operation in operations
        if self.path is not None:
            path = self.path
            yield f"of {path}", lambda request: _fits(path, request.path)
        if self.offset is not None:
            start, end = _offsets(self.offset)
            until = "" if end is None else f" before {end}"
            yield (
                f"starting at {start} or later{until}",
                lambda r: r.offset is not None and start <= r.offset < (end or math.inf),
            )
        if self.attempt is not None:
            yield f"of attempt {self.attempt}", lambda r: r.attempt == self.attempt
        if self.thread is not None:
            thread = self.thread
            yield f"of a thread {thread}", lambda r: fnmatchcase(r.thread, thread)
        if self.where is not None:
            yield "for which `where` is true", self.where

    # Text and JSON -----------------------------------------------------------------------------

    def __str__(self) -> str:
        parameters = _KINDS[self.kind].parameters.values()
        values = [getattr(self, p.name) for p in parameters if getattr(self, p.name) != p.default]
        listed = f"({', '.join(map(_plain, values))})" if values else ""
        last = f"-{self.last}" if self.last < MOST_REQUESTS else " and after"
        text = f"{self.kind}{listed} at {self.nth}" + (last if self.times != 1 else "")
        if self.operation is not None:
            text += f" {' or '.join(self.operation)}"
        aims = [words for words, _ in self.conditions()][1:]
        if self.probability is not None:
            aims.append(f"with probability {self.probability:g}, seed {self.seed or 0}")
        return " ".join((text, *aims))

    def to_json(self) -> dict[str, Any]:
        """Return the fault as a JSON object, without default values.

        Raise ProgramError for one with `where`, because a function can't be written.
        """
        if self.where is not None:
            raise ProgramError("a fault with `where` can't be written")
        data: dict[str, Any] = {"kind": self.kind, "nth": self.nth}
        parameters = _KINDS[self.kind].parameters
        data.update((n, v) for n in parameters if (v := getattr(self, n)) != parameters[n].default)
        usual = 1 if self.probability is None else MOST_REQUESTS
        if self.times != usual:
            data["times"] = "all" if self.times == MOST_REQUESTS else self.times
        for name in ("operation", "path", "offset", "attempt", "thread", "probability", "seed"):
            value = getattr(self, name)
            if value is not None:
                data[name] = list(value) if isinstance(value, tuple) else value
        return data

    @classmethod
    def from_json(cls, data: Any, where: str = "fault") -> Fault:
        """Parse a fault; ProgramError names the place and what is allowed there."""
        if not isinstance(data, dict) or "kind" not in data:
            raise ProgramError(f"{where}: expected an object with kind, got {data!r:.80}")
        known = ("kind", *PARAMETERS, *(name for name in AIMS if name != "where"))
        for name in data:
            if name == "at":
                raise ProgramError(
                    f"{where}: `at` counted all requests; use nth, which counts the selected ones"
                )
            if name not in known:
                raise ProgramError(
                    f"{where}: unknown field {name!r:.80}; known: {', '.join(known)}"
                )
        for name, value in data.items():
            if value is None:
                raise ProgramError(f"{where}: {name} must not be null")
        lists = {n: tuple(v) for n, v in data.items() if isinstance(v, list) and n != "kind"}
        try:
            return cls(**{**data, **lists})
        except ProgramError as error:
            raise ProgramError(f"{where}: {error}") from None


#: All kinds of faults, the mildest first.
FAULTS: dict[str, FaultKind] = kinds_of(Fault)
#: With those of servers, which have no constructors.
_KINDS = FAULTS | SERVER_FAULTS
#: The names of the aims, and of the parameters that some kind takes.
AIMS = tuple(Aim.__annotations__)
PARAMETERS = tuple(f.name for f in fields(Fault) if f.name not in AIMS and f.name != "kind")


def _plain(value: Any) -> str:
    return f"{value:g}" if type(value) in (int, float) else str(value)


def _fits(glob: str, path: str) -> bool:
    return fnmatchcase(path if "/" in glob else path.rpartition("/")[2], glob)


def _operations(kind: str, value: Any, possible: frozenset[str]) -> tuple[str, ...]:
    """Return the operations of an aim, sorted; ProgramError if the kind can't strike one."""
    names = value if isinstance(value, tuple) else (value,)
    wrong = [name for name in names if not isinstance(name, str) or name not in possible]
    if wrong or not names:
        listed = ", ".join(o for o in OPERATIONS if o in possible)
        got = repr(wrong[0] if wrong else value)
        raise ProgramError(f"operation of {kind} must be of {listed}, got {got:.40}")
    return tuple(o for o in OPERATIONS if o in names)


def _offsets(value: Any) -> tuple[int, int | None]:
    """Return offsets as the first and the end; None if it is open."""
    if isinstance(value, slice) and value.step is None:
        value = (value.start or 0, value.stop)
    elif type(value) is int:
        value = (value, value + 1)
    numbers = [n for n in value if n is not None] if isinstance(value, tuple) else []
    if not (
        isinstance(value, tuple)
        and len(value) == 2
        and value[0] is not None
        and all(type(n) is int and 0 <= n <= MOST_BYTES for n in numbers)
        and sorted(set(numbers)) == numbers
    ):
        raise ProgramError(
            f"offset must be a number of bytes or a slice, slice(4, None), got {value!r:.40}"
        )
    return value[0], value[1]


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

    @classmethod
    def of(cls, *parts: Fault | FaultPlan) -> FaultPlan:
        """Return the plan of faults and the faults of plans."""
        faults: list[Fault] = []
        for part in parts:
            faults += part.faults if isinstance(part, FaultPlan) else [part]
        return cls(tuple(faults))

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


def random_plan(rng: Random, kinds: Iterable[str], requests: int = 8) -> FaultPlan:
    """Return a plan of one to three faults of these kinds at the first `requests` requests."""
    names = set(kinds)
    known = [name for name in _KINDS if name in names]
    if not known:
        return FaultPlan()
    count = rng.choice((1, 1, 1, 2, 3))
    return FaultPlan(tuple(_random_fault(rng, rng.choice(known), requests) for _ in range(count)))


def _random_fault(rng: Random, name: str, requests: int) -> Fault:
    arguments: Mapping[str, Any] = {
        parameter.name: rng.choice(parameter.values)
        for parameter in _KINDS[name].parameters.values()
        if parameter.values and rng.random() < 0.75
    }
    nth = min(rng.randint(1, max(1, requests)), rng.randint(1, max(1, requests)))
    return Fault(name, nth, rng.choice((1, 1, 1, 2, 3, 5)), **arguments)


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
    assert isinstance(fault.times, int)
    for times in _below(fault.times, 1):  # the first strikes, then the last ones
        yield replace(fault, times=times)
        if (nth := fault.nth + fault.times - times) <= MOST_REQUESTS:
            yield replace(fault, nth=nth, times=times)
    yield from (replace(fault, nth=n) for n in _below(fault.nth, 1))
    for name, parameter in _KINDS[fault.kind].parameters.items():
        value = getattr(fault, name)
        if value != parameter.default:
            simpler = [parameter.default, *_below(value, math.ceil(parameter.least))]
            for changed in dict.fromkeys(simpler):
                arguments: dict[str, Any] = {name: changed}
                yield replace(fault, **arguments)


def _below(value: Number, minimum: int) -> list[int]:
    """Return simpler numbers, all of them whole: the least, the half, the preceding one."""
    ceiling = math.ceil(value)
    values = [minimum, (ceiling + minimum) // 2, ceiling - 1]
    return [v for v in dict.fromkeys(values) if minimum <= v < value]
