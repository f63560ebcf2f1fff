"""Kinds of faults: the requests that each can strike, and the parameters that it takes.

Each is described by its constructor in `Fault`: `@constructor` adds what the signature lacks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from fscontract.contract.program.arguments import ProgramError

Number: TypeAlias = int | float
_Constructor = TypeVar("_Constructor", bound=Callable[..., Any])

#: The operations of a store. `get` reads bytes, `head` a status; `part` and `complete` belong to
#: uploads in parts.
OPERATIONS = (
    *("open", "get", "head", "list", "put", "part", "complete", "delete"),
    *("rename", "mkdirs", "permission", "access"),
)
#: Places to attach a plan: the fake, a local directory, the proxy before an HTTP store.
PLACES = ("fake", "local", "http")
#: The largest number of a request; also what `times="all"` means.
MOST_REQUESTS = 10**9
MOST_BYTES = 1 << 40
MOST_SECONDS = 86400
MOST_RATE = 10**6
#: Ways in which bytes are wrong: flipped bits, reverse order, those of the version before, zeros,
#: the second half missing.
DAMAGES = ("bytes", "order", "version", "zeros", "tail")
#: Distributions of random delays.
DISTRIBUTIONS = ("uniform", "exponential", "pareto")
#: Parameters that kinds have at all places; only the fake has others.
COMMON_PARAMETERS = ("amount", "seconds")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kind: `default`, and one of `choices` or numbers from `least` to `most`.

    `values` are those of random plans.
    """

    name: str
    default: Any
    least: Number = 0
    most: Number = 0
    values: tuple[Any, ...] = ()
    choices: tuple[Any, ...] = ()

    def check(self, value: Any) -> None:
        """Raise ProgramError for a value that is not allowed."""
        if not self.choices:
            check_number(self.name, value, self.least, self.most)
        elif type(value) is not type(self.default) or value not in self.choices:
            allowed = ", ".join(map(str, self.choices))
            raise ProgramError(f"{self.name} must be one of {allowed}, got {value!r:.40}")


@dataclass(frozen=True)
class FaultKind:
    """One way to fail: its name, its meaning, and what it can strike."""

    name: str
    meaning: str
    #: The operations that it can strike, a subset of OPERATIONS.
    operations: frozenset[str]
    #: The places where it can happen, a subset of PLACES.
    places: frozenset[str]
    parameters: dict[str, Parameter]
    #: True if the suite draws it. The others strike no reads, or are variants of these.
    checked: bool
    #: How many requests it strikes by default.
    times: int


#: The largest value of each number, and the least one if it is not 0.
_MOST: dict[str, Number] = {
    "amount": MOST_BYTES,
    "seconds": MOST_SECONDS,
    "rate": MOST_RATE,
    "burst": MOST_REQUESTS,
}
_LEAST: dict[str, Number] = {"rate": 0.001, "burst": 1}
_CHOICES: dict[str, tuple[Any, ...]] = {
    "how": DAMAGES,
    "silent": (False, True),
    "distribution": DISTRIBUTIONS,
}


def constructor(
    operations: Iterable[str],
    places: Iterable[str] = PLACES,
    *,
    least: Number = 0,
    values: tuple[Any, ...] = (),
    checked: bool = True,
    always: bool = False,
) -> Callable[[_Constructor], _Constructor]:
    """Describe the kind of a constructor of `Fault`; `kinds_of` returns it.

    Its name, meaning, parameters and their defaults are those of the constructor; `least` and
    `values` belong to its first parameter. With `always`, it strikes all requests by default.
    """

    def add(function: _Constructor) -> _Constructor:
        name = function.__name__.replace("_", "-")
        meaning = (inspect.getdoc(function) or "").replace("\n", " ")
        parameters: dict[str, Parameter] = {}
        for p in inspect.signature(function).parameters.values():
            if p.default is not p.empty:
                first = not parameters
                parameters[p.name] = Parameter(
                    p.name,
                    p.default,
                    least if first and least else _LEAST.get(p.name, 0),
                    _MOST.get(p.name, 0),
                    values if first else (),
                    _CHOICES.get(p.name, ()),
                )
        function.fault_kind = FaultKind(  # type: ignore[attr-defined]
            name,
            meaning,
            frozenset(operations),
            frozenset(places),
            parameters,
            checked,
            MOST_REQUESTS if always else 1,
        )
        return function

    return add


def kinds_of(constructors: type) -> dict[str, FaultKind]:
    """Return the kinds of the constructors of a class, in their order."""
    functions = (f.__func__ for f in vars(constructors).values() if isinstance(f, classmethod))
    kinds = (getattr(function, "fault_kind", None) for function in functions)
    return {kind.name: kind for kind in kinds if kind is not None}


def check_number(name: str, value: Any, minimum: Number, maximum: Number) -> None:
    """Raise ProgramError unless the value is a number in the range, whole except for seconds."""
    fraction = name in ("seconds", "probability", "rate")
    types = (int, float) if fraction else (int,)
    if type(value) not in types or not minimum <= value <= maximum:
        type_name = "a number" if fraction else "a whole number"
        raise ProgramError(
            f"{name} must be {type_name} from {minimum} to {maximum}, got {value!r:.40}"
        )
