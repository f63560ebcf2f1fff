"""Register mutants, wrong parts that violate one clause each, and check that they are found."""

from __future__ import annotations

import inspect
import pkgutil
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from importlib import import_module
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, get_origin, overload

from fscontract.contract.program.faults import FAULTS
from fscontract.contract.program.server_faults import SERVER_FAULTS
from fscontract.contract.spec.clauses import Clause, clauses
from fscontract.contract.spec.profiles import Profile
from fscontract.fakes.mutants.kinds import Kind, Subject, kind_of

#: Modules and packages of mutants, one for each kind.
_PACKAGES = (
    "stream",
    "python_file",
    "fsspec_filesystem",
    "fsspec_listings",
    "fsspec_opened",
    "fsspec_async",
    "fsspec_chain",
    "pyarrow_filesystem",
    "obstore_store",
    "opendal_operator",
    "readers",
    "openfile",
    "faults",
    "server_faults",
    "executors",
    "splitter",
    "blockreader",
    "metadata_table",
)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Part = TypeVar("_Part", bound=type[Any])
_Self = TypeVar("_Self")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Mutant:
    """A part, such as a class of streams, that violates `clause`; `says` describes the bug.

    A mutant of faults mishandles those of the kinds `faults`.
    """

    clause: str
    name: str
    says: str
    part: type[Any]
    faults: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"

    @property
    def document(self) -> str:
        """The name of the document of its clause."""
        return clauses()[self.clause].document

    @property
    def kind(self) -> Kind:
        """The kind of the part."""
        return kind_of(self.part)

    @property
    def features(self) -> tuple[str, ...]:
        """The differences from the profile "reference", with "!" before missing features."""
        return self.kind.features(self.part)

    def binding(self) -> Any:
        """Return a binding, for one run, to a new target that has the part."""
        return self.kind.binding(self.part, str(self))

    def profile(self) -> Profile:
        """Return the profile under which the mutant violates its clause and should violate no
        other.
        """
        return self.kind.profile(self.part)

    def combined(self, other: Mutant) -> Mutant | None:
        """Return the mutant with the bug of `other`, too; None if they can't be combined.

        Both must be functions for methods of the same class. For the same method, that of `other`
        must call the one that it replaces.
        """
        bases = {base for part in (self.part, other.part) for base in part.__bases__}
        if len(bases) > 1 or not all("mutated" in vars(m.part) for m in (self, other)):
            return None
        function, method = vars(other.part)["mutated"]
        if _replaces(method) == _replaces(vars(self.part)["mutated"][1]):
            calls = isinstance(method, Operation) or right.__name__ in function.__code__.co_names
            if not calls:
                return None
        name = f"{self.name}{other.name}"
        return replace(self, name=name, part=_part(function, method, name, self.part))

    def broken(
        self,
        effort: str = "quick",
        judged: Collection[Clause] = (),
        faults: Collection[str] = (),
        statistics: bool = True,
    ) -> dict[str, str]:
        """Return the clauses that a check finds violated, by default its own, with the failures.

        Faults are of all the kinds that it mishandles, unless `faults` names others. Without
        `statistics`, a stream has no I/O statistics, and its profile declares none.
        """
        chosen = tuple(judged) or (clauses()[self.clause],)
        kinds = frozenset(faults) or self.faults
        return self.kind.broken(Subject(self.part, str(self), chosen, effort, kinds, statistics))


#: The mutants of each module.
_REGISTERED: dict[str, list[Mutant]] = {}


@dataclass(frozen=True)
class Operation(Generic[_Function]):
    """The method `name` of `base`, whose mutants are functions of another form.

    `adapt` makes a method from such a function.
    """

    base: type[Any]
    name: str
    adapt: Callable[[_Function], Callable[..., Any]]

    def on(self, base: type[Any]) -> Operation[_Function]:
        """Return the same method of another class."""
        return replace(self, base=base)


@overload
def mutant(clause: str, *, faults: Collection[str] = ()) -> Callable[[_Part], _Part]: ...
@overload
def mutant(
    clause: str, method: Operation[_Function], *, name: str = "", faults: Collection[str] = ()
) -> Callable[[_Function], _Function]: ...
@overload
def mutant(
    clause: str,
    method: Callable[Concatenate[Any, _Arguments], _Result],
    *,
    name: str = "",
    faults: Collection[str] = (),
) -> Callable[[Callable[Concatenate[_Self, _Arguments], _Result]], Callable[..., _Result]]: ...
def mutant(
    clause: str, method: Any = None, *, name: str = "", faults: Collection[str] = ()
) -> Callable[[Any], Any]:
    """Register a class as a mutant of `clause`, or a function as the bug of one method.

    Such a function replaces `method` in a subclass of the class that annotates its `self`; it calls
    the correct method through `right(self)`. The docstring describes the bug, and the name of the
    mutant is that of the class, or `name`, or that of the function in capitals.
    """
    assert FAULTS.keys() | SERVER_FAULTS.keys() >= set(faults)

    def register(broken: Any) -> Any:
        part = broken if method is None else _part(broken, method, name)
        says = inspect.cleandoc(broken.__doc__ or "").replace("\n", " ")
        kind_of(part)
        added = Mutant(clause, part.__name__, says, part, frozenset(faults))
        _REGISTERED.setdefault(broken.__module__, []).append(added)
        return broken

    return register


def _replaces(method: Any) -> str:
    """Return the name of the method that a mutant replaces."""
    return method.name if isinstance(method, Operation) else cast(str, method.__name__)


def _part(
    function: Callable[..., Any], method: Any, name: str, on: type[Any] | None = None
) -> type[Any]:
    """Return a class in which the function replaces the method; it derives from `on`.

    By default, that is the class that annotates the function's `self`.
    """
    if isinstance(method, Operation):
        base, changed = method.base, method.adapt(function)
    else:
        annotation = inspect.get_annotations(function, eval_str=True)["self"]
        base = cast(type[Any], get_origin(annotation) or annotation)
        changed = function
    attribute = _replaces(method)
    assert hasattr(base, attribute), f"{base.__name__} has no {attribute}"

    @wraps(changed)
    def wrong(self: Any, *args: Any, **options: Any) -> Any:
        result = _run(part, changed, self, *args, **options)
        return _steps(part, result) if isinstance(result, Generator) else result

    members = {
        attribute: wrong if inspect.isfunction(changed) else changed,
        "mutated": (function, method),
        "__doc__": function.__doc__,
    }
    part = type(name or function.__name__.title().replace("_", ""), (on or base,), members)
    return part


class _Running(threading.local):
    """The parts whose wrong methods run in this thread, the innermost last."""

    def __init__(self) -> None:
        self.parts: list[type[Any]] = []


_running = _Running()


def _run(part: type[Any], call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the result of a call by a wrong method of a part."""
    _running.parts.append(part)
    try:
        return call(*args, **options)
    finally:
        _running.parts.pop()


def _steps(part: type[Any], generator: Generator[Any, None, Any]) -> Generator[Any, None, Any]:
    """Yield what the generator of a wrong method yields, which runs as that method does."""
    try:
        while True:
            try:
                item = _run(part, next, generator)
            except StopIteration as end:
                return end.value
            yield item
    finally:
        _run(part, generator.close)


def right(self: _Self) -> _Self:
    """Return `self` with the methods that the mutant replaces, as super() does in a class."""
    wrong = next((part for part in _running.parts[-1:] if isinstance(self, part)), None)
    if wrong is None:  # a coroutine that the wrong method has returned
        wrong = next(base for base in type(self).__mro__ if "mutated" in vars(base))
    return cast(_Self, super(wrong, self))


@lru_cache(maxsize=1)
def _all() -> tuple[Mutant, ...]:
    found: list[Mutant] = []
    for package in _PACKAGES:
        parent = import_module(f"fscontract.fakes.mutants.{package}")
        names = pkgutil.iter_modules(getattr(parent, "__path__", ()), parent.__name__ + ".")
        for name in (parent.__name__, *(module.name for module in names)):
            import_module(name)
            found += _REGISTERED.get(name, ())
    return tuple(found)


def mutants(*documents: str) -> tuple[Mutant, ...]:
    """Return the mutants of these documents, by default of all, in the order of the modules."""
    return tuple(m for m in _all() if not documents or m.document in documents)


def mutant_named(name: str) -> Mutant:
    """Return the mutant of a name "clause-Mutant". Raise KeyError."""
    return {str(m): m for m in _all()}[name]


@dataclass(frozen=True)
class Row:
    """One mutant against all clauses of its document.

    `effort` is the smallest one at which the run names the mutant's clause, "" if none does;
    `seconds` is the duration of that run; `others` are further clauses that it found violated.
    """

    mutant: Mutant
    effort: str
    seconds: float
    others: tuple[str, ...]

    @property
    def named(self) -> bool:
        """True if the mutant's own clause is among those found violated."""
        return bool(self.effort)


def kill_table(
    chosen: Iterable[Mutant] | None = None, efforts: Collection[str] = ()
) -> Iterator[Row]:
    """Yield a row for each mutant, all of them by default, as soon as it is ready."""
    for mutated in mutants() if chosen is None else chosen:
        yield _row(mutated, efforts or mutated.kind.efforts)


def _row(mutated: Mutant, efforts: Collection[str]) -> Row:
    judged = [c for c in clauses().values() if c.document == mutated.document and c.testable]
    for effort in efforts:
        start = time.perf_counter()
        broken = mutated.broken(effort, judged)
        seconds = time.perf_counter() - start
        others = tuple(clause for clause in broken if clause != mutated.clause)
        if mutated.clause in broken:
            return Row(mutated, effort, seconds, others)
    return Row(mutated, "", seconds, others)
