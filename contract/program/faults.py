"""Faults of a store and plans of faults, as data.

A fault has a kind and an aim. The aim selects requests by operation, path, offset, attempt, thread
and more; the fault strikes the `nth` of the selected requests and `times - 1` after it. Requests
are counted from 1 when a plan is attached.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.fault_kinds import (
    COMMON_PARAMETERS,
    MOST_BYTES,
    MOST_REQUESTS,
    MOST_SECONDS,
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
MOST_TEXT = 1000
_LARGEST_SEED = 1 << 63
#: A character beyond 16 bits in JSON.
_PAIR = re.compile(r"\\ud[89ab]..\\ud[c-f]..")

_GET = ("get",)
#: Operations on one path that has to exist.
_OF_FILE = ("open", "get", "head")
#: Operations that change the store, and those that write bytes.
_CHANGES = ("put", "part", "complete", "delete", "rename", "mkdirs", "permission")
_WRITES = ("put", "part")
_FAKE = ("fake",)
_STORES = ("fake", "http")
_FILES = ("fake", "local")
_AMOUNTS = (1, 2, 3, 7, 100, 1000, 4095, 4096, 4097)


class SeenRequest(NamedTuple):
    """A request under a plan, as faults see it.

    `number` counts all requests, `attempt` those of this operation, path and offset in a row that
    were struck, plus one. `offset` and `length` are the range in bytes, if known. `at` is the time
    in seconds since the plan was attached, on the fake's clock or a real one.
    """

    number: int
    operation: str
    path: str = ""
    offset: int | None = None
    length: int | None = None
    attempt: int = 1
    thread: str = ""
    at: float = 0.0
    #: The name of the asyncio task, "" outside of one.
    task: str = ""

    def __str__(self) -> str:
        count = "" if self.length is None else f" {self.length} bytes"
        start = "" if self.offset is None else f" from {self.offset}"
        return f"{self.number} {self.operation} {self.path}{count}{start}".rstrip()


#: Offsets in bytes: one, a slice, or a pair of the first and the end, which is None if open.
Offsets: TypeAlias = int | slice | tuple[int, int | None]
#: A period in seconds: a slice, or a pair of the first and the end, which is None if open.
Period: TypeAlias = slice | tuple[Number, Number | None]
Damage: TypeAlias = Literal["bytes", "order", "version", "zeros", "tail"]
Distribution: TypeAlias = Literal["uniform", "exponential", "pareto"]


class Aim(TypedDict, total=False):
    """The parameters that all constructors of `Fault` take. They select requests.

    `operation` is one of OPERATIONS, or several. `path` is a glob, in which `*` also matches
    slashes; without a slash it is compared with the last part of the path. `offset` is where a
    request of bytes starts. `attempt` is 1 for the first try. `thread` is a glob of the name of
    the thread, `task` one of the name of the asyncio task that makes the request. `during` is a
    period in seconds since the plan was attached. `where` is a function of a SeenRequest.

    Of the selected requests the fault strikes the `nth` and `times - 1` more, or all after it
    ("all"). With `probability`, each is struck with that probability, which depends on `seed` and
    on its number alone. `times` is "all" by default with `probability` or `during`, and for the
    kinds jitter, rate-limit, quota and expired.
    """

    operation: str | tuple[str, ...]
    path: str
    offset: Offsets
    attempt: int
    thread: str
    task: str
    during: Period
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
    how: str | None = None
    silent: bool | None = None
    distribution: str | None = None
    rate: Number | None = None
    burst: int | None = None
    operation: str | tuple[str, ...] | None = None
    path: str | None = None
    offset: Offsets | None = None
    attempt: int | None = None
    thread: str | None = None
    task: str | None = None
    during: Period | None = None
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
    @constructor(("get", "put"), _STORES)
    def corrupt(cls, how: Damage = "bytes", silent: bool = False, **aim: Unpack[Aim]) -> Fault:
        """Bytes that are read or written are wrong; their checksums show it unless `silent`."""
        return cls("corrupt", how=how, silent=silent, **aim)

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

    @classmethod
    @constructor(_GET, _FAKE, values=(0, 1, 100), checked=False)
    def stall(cls, amount: int = 0, seconds: Number = 3600, **aim: Unpack[Aim]) -> Fault:
        """The body stops after `amount` bytes for `seconds`."""
        return cls("stall", amount=amount, seconds=seconds, **aim)

    @classmethod
    @constructor(OPERATIONS, _FAKE, values=(0.1, 5), checked=False, always=True)
    def jitter(
        cls, seconds: Number = 0.1, distribution: Distribution = "exponential", **aim: Unpack[Aim]
    ) -> Fault:
        """Each answer is delayed by a random time of mean `seconds`, which depends on `seed`."""
        return cls("jitter", seconds=seconds, distribution=distribution, **aim)

    @classmethod
    @constructor(OPERATIONS, _FAKE, values=(1, 10, 1000), checked=False, always=True)
    def rate_limit(cls, rate: Number = 10, burst: int = 1, **aim: Unpack[Aim]) -> Fault:
        """More than `rate` requests a second, after `burst` at once, get 503 with a delay."""
        return cls("rate-limit", rate=rate, burst=burst, **aim)

    @classmethod
    @constructor(OPERATIONS, _FAKE, checked=False, always=True)
    def expired(cls, **aim: Unpack[Aim]) -> Fault:
        """The credentials have expired (403)."""
        return cls("expired", **aim)

    @classmethod
    @constructor(_WRITES, _FAKE, values=(0, 1000), checked=False, always=True)
    def quota(cls, amount: int = 0, **aim: Unpack[Aim]) -> Fault:
        """Writes of more than `amount` bytes in total are refused (EDQUOT)."""
        return cls("quota", amount=amount, **aim)

    @classmethod
    @constructor(_WRITES, _FAKE, values=(0, 1, 100), checked=False)
    def partial_write(cls, amount: int = 0, **aim: Unpack[Aim]) -> Fault:
        """The first `amount` bytes are written; then the connection is reset."""
        return cls("partial-write", amount=amount, **aim)

    @classmethod
    @constructor(_CHANGES, _FAKE, checked=False)
    def lost_ack(cls, **aim: Unpack[Aim]) -> Fault:
        """The request takes effect, and the connection is reset before its answer."""
        return cls("lost-ack", **aim)

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
        for name in ("path", "thread", "task"):
            text = getattr(self, name)
            if text is not None and (not isinstance(text, str) or not 0 < len(text) <= MOST_TEXT):
                raise ProgramError(f"{name} must be a glob, got {text!r:.40}")
        if self.offset is not None:
            self._set("offset", _offsets(self.offset))
        if self.during is not None:
            self._set("during", _period(self.during))
        if self.where is not None and not callable(self.where):
            raise ProgramError(f"where must be a function of a request, got {self.where!r:.40}")
        if self.probability is not None:
            check_number("probability", self.probability, 0, 1)
        if self.seed is not None and self.probability is None and self.distribution is None:
            raise ProgramError("seed needs a probability or a distribution")
        if self.times is None:
            self._set("times", self._usual_times())
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

    def _usual_times(self) -> int:
        by_time = self.probability is not None or self.during is not None
        return MOST_REQUESTS if by_time else _KINDS[self.kind].times

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
    def uncommon(self) -> tuple[str, ...]:
        """The parameters that are set, and that only the fake filesystem has."""
        parameters = _KINDS[self.kind].parameters.values()
        uncommon = (p for p in parameters if p.name not in COMMON_PARAMETERS)
        return tuple(p.name for p in uncommon if getattr(self, p.name) != p.default)

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
        if self.task is not None:
            task = self.task
            yield f"of a task {task}", lambda r: fnmatchcase(r.task, task)
        if self.during is not None:
            first, last = _period(self.during)
            until = "on" if last is None else f"to {last:g} s"
            yield f"from {first:g} s {until}", lambda r: first <= r.at < (last or math.inf)
        if self.where is not None:
            yield "for which `where` is true", self.where

    # Text and JSON -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Return the call of the constructor that makes the fault, without default values."""
        parameters = _KINDS[self.kind].parameters
        given = {n: v for n, p in parameters.items() if (v := getattr(self, n)) != p.default}
        given.update((n, v) for n in AIMS if (v := getattr(self, n)) is not None)
        if self.nth == 1:
            del given["nth"]
        if self.times == self._usual_times():
            del given["times"]
        elif self.times == MOST_REQUESTS:
            given["times"] = "all"
        listed = ", ".join(f"{name}={value!r}" for name, value in given.items())
        if self.kind in SERVER_FAULTS:
            return f"Fault({', '.join(filter(None, (repr(self.kind), listed)))})"
        return f"Fault.{self.kind.replace('-', '_')}({listed})"

    def __str__(self) -> str:
        parameters = _KINDS[self.kind].parameters.values()
        values = [(p, v) for p in parameters if (v := getattr(self, p.name)) != p.default]
        texts = [_plain(v) if p.name in COMMON_PARAMETERS else f"{p.name}={v}" for p, v in values]
        listed = f"({', '.join(texts)})" if values else ""
        last = f"-{self.last}" if self.last < MOST_REQUESTS else " and after"
        text = f"{self.kind}{listed} at {self.nth}" + (last if self.times != 1 else "")
        if self.operation is not None:
            text += f" {' or '.join(self.operation)}"
        aims = [words for words, _ in self.conditions()][1:]
        if self.probability is not None:
            aims.append(f"with probability {self.probability:g}, seed {self.seed or 0}")
        elif self.distribution is not None:
            aims.append(f"with seed {self.seed or 0}")
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
        if self.times != self._usual_times():
            data["times"] = "all" if self.times == MOST_REQUESTS else self.times
        for name in AIMS:
            value = None if name in ("nth", "times") else getattr(self, name)
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
#: Those that the suite draws.
CHECKED = frozenset(name for name, kind in FAULTS.items() if kind.checked)
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


def _period(value: Any) -> tuple[Number, Number | None]:
    """Return a period as the first second and the end; None if it is open."""
    if isinstance(value, slice) and value.step is None:
        value = (value.start or 0, value.stop)
    if isinstance(value, tuple) and len(value) == 2 and value[0] is not None:
        start, end = value
        if _is_time(start) and (end is None or (_is_time(end) and start < end)):
            return start, end
    raise ProgramError(
        f"during must be a slice of seconds, such as slice(10, 40), got {value!r:.40}"
    )


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MOST_SECONDS


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

    def dump(self, path: str | Path) -> None:
        """Write the plan as YAML, or as JSON to a path that ends with .json.

        Raise OSError, and ProgramError for what can't be written: `where`, and in YAML paths with
        bytes that are not UTF-8.
        """
        path = Path(path)
        if path.suffix == ".json":
            text = json.dumps(self.to_json(), indent=2) + "\n"
        else:
            lines = (f"- {_yaml(fault.to_json())}\n" for fault in self.faults)
            text = f"faults:\n{''.join(lines)}" if self.faults else "faults: []\n"
        path.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> FaultPlan:
        """Read a plan from a YAML or JSON file. Raise ProgramError, which names the place."""
        from fscontract.contract.untrusted import UntrustedError, load_json, load_yaml

        path = Path(path)
        try:
            data = load_json(path) if path.suffix == ".json" else load_yaml(path)
        except UntrustedError as error:
            raise ProgramError(str(error)) from None
        return cls.from_json(data, str(path))


def _yaml(fault: dict[str, Any]) -> str:
    """Return a fault as one line of YAML: JSON, but for characters beyond 16 bits."""
    try:
        json.dumps(fault, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ProgramError(
            "YAML has no name for a path with bytes that are not UTF-8; write to a .json file"
        ) from None

    def character(pair: re.Match[str]) -> str:
        text = json.loads('"' + pair[0] + '"')
        return f"\\U{ord(text):08x}"

    return _PAIR.sub(character, json.dumps(fault))


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
            simpler = [parameter.default]
            if not parameter.choices:
                simpler += _below(value, math.ceil(parameter.least))
            for changed in dict.fromkeys(simpler):
                arguments: dict[str, Any] = {name: changed}
                yield replace(fault, **arguments)


def _below(value: Number, minimum: int) -> list[int]:
    """Return simpler numbers, all of them whole: the least, the half, the preceding one."""
    ceiling = math.ceil(value)
    values = [minimum, (ceiling + minimum) // 2, ceiling - 1]
    return [v for v in dict.fromkeys(values) if minimum <= v < value]
