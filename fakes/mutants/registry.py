"""Register streams and filesystems that break one clause each, and run the suite on them."""

from __future__ import annotations

import inspect
import pkgutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import ClassVar, TypeVar

from fscontract.contract.runner.result import FAILING, RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import Clause, clauses
from fscontract.contract.spec.profiles import Profile, load_profile
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions

#: Packages that hold one module for each theme of one document.
_PACKAGES = ("stream", "python_file", "openfile")


class MutantFileSystem(MemoryFileSystem):
    """Files in memory, opened as streams of the class `stream`."""

    def __init__(self, stream: type[MemoryInputStream]) -> None:
        super().__init__()
        self._stream = stream

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        right = super()._open(path, options)
        stream = self._stream(right._data, path)
        if isinstance(stream, LiveStream):
            stream.look = lambda: self._now(path, options)
        return stream

    def _now(self, path: str, options: OpenOptions) -> bytes | None:
        try:
            return super()._open(path, options)._data
        except FileNotFoundError:
            return None


class LiveStream(MemoryInputStream):
    """A stream that can look at what its file holds now; itself it never does."""

    #: The file's present content, None once it is deleted.
    look: Callable[[], bytes | None]

    @property
    def is_changed(self) -> bool:
        """Whether the file is another than the one that was opened."""
        return self.look() != self._data


@dataclass(frozen=True)
class Mutant:
    """What breaks `clause`: `filesystem` makes a new one that does, or whose streams do.

    `features` are what it differs in from the profile "reference", the keys are those that its
    `open_file` has beside the standard ones, and `says` is what it does wrong, in one sentence.
    """

    clause: str
    name: str
    features: tuple[str, ...]
    says: str
    filesystem: Callable[[], MemoryFileSystem]
    own_keys: frozenset[str] = frozenset()
    unsupported_keys: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"


_REGISTERED: list[Mutant] = []
_Stream = TypeVar("_Stream", bound=type[MemoryInputStream])


def mutant(
    clause: str, filesystem: type[MutantFileSystem] = MutantFileSystem
) -> Callable[[_Stream], _Stream]:
    """Register a class of streams as a mutant of `clause`.

    What it does wrong is its docstring; its features are those of the variant it derives from.
    """

    def register(stream: _Stream) -> _Stream:
        make = partial(filesystem, stream)
        add(Mutant(clause, stream.__name__, features_of(stream), says(stream), make))
        return stream

    return register


def add(mutated: Mutant) -> None:
    """Put a mutant behind the others of its document."""
    _REGISTERED.append(mutated)


def says(broken: type) -> str:
    """What a class does wrong: its docstring, on one line."""
    return inspect.cleandoc(broken.__doc__ or "").replace("\n", " ")


class Variant(MemoryInputStream):
    """A correct stream with other features than those of the profile "reference"."""

    #: The features, with "!" before those it lacks.
    features: ClassVar[tuple[str, ...]] = ()


def features_of(stream: type[MemoryInputStream]) -> tuple[str, ...]:
    """What a class of streams differs in from the profile "reference"."""
    return stream.features if issubclass(stream, Variant) else ()


@lru_cache(maxsize=1)
def mutants() -> tuple[Mutant, ...]:
    """Every mutant, in the order of its document's modules."""
    for package in _PACKAGES:
        load_modules(package)
    return tuple(_REGISTERED)


def load_modules(package: str) -> None:
    """Import the modules of a package of mutants, which register themselves when imported."""
    parent = import_module(f"fscontract.fakes.mutants.{package}")
    for module in pkgutil.iter_modules(parent.__path__, parent.__name__ + "."):
        import_module(module.name)


def binding(mutated: Mutant) -> StreamBinding:
    """A binding, to be used once, to a new filesystem that opens the mutant."""
    return StreamBinding(mutated.filesystem(), name=str(mutated))


def profile(mutated: Mutant) -> Profile:
    """The profile under which the mutant breaks its clause and should break no other.

    The Python file over a stream inherits the stream's faults, so it is left out unless the
    mutant is one of files.
    """
    of_files = clauses()[mutated.clause].document == "python-file"
    found = profile_of(mutated.features, *(() if of_files else ("!python-file",)))
    return replace(found, own_keys=mutated.own_keys, unsupported_keys=mutated.unsupported_keys)


def profile_of(features: tuple[str, ...], *more: str) -> Profile:
    """The profile "reference" with features added or, after "!", removed."""
    return replace(load_profile("reference"), name="mutant").with_features((*features, *more))


#: Verdicts that say a clause is broken.
BROKEN = FAILING | {Verdict.LAX}
#: The efforts that are tried, one after the other.
_EFFORTS = ("quick", "normal")


@dataclass(frozen=True)
class Row:
    """One mutant against the whole suite.

    `effort` is the least one at which the run names the mutant's clause, "" if none does;
    `seconds` is how long that run took; `others` are further clauses that it found broken.
    """

    mutant: Mutant
    effort: str
    seconds: float
    others: tuple[str, ...]

    @property
    def named(self) -> bool:
        """Whether the mutant's own clause is among those found broken."""
        return bool(self.effort)


def document_clauses(mutated: Mutant) -> tuple[Clause, ...]:
    """The testable clauses of the document that the mutant's clause stands in."""
    document = clauses()[mutated.clause].document
    return tuple(c for c in with_checks(clauses().values()) if c.document == document)


def run_one_clause(mutated: Mutant, effort: str = "quick") -> Verdict:
    """What the suite says of the mutant's clause if it looks for nothing else."""
    only = (clauses()[mutated.clause],)
    settings = Settings(profile(mutated), only, effort=effort, stop_at_first=True)
    return check(binding(mutated), settings).clauses[0].outcome


def run_all_clauses(mutated: Mutant, effort: str = "quick") -> RunResult:
    """The run of the whole suite against a mutant."""
    settings = Settings(profile(mutated), document_clauses(mutated), effort=effort)
    return check(binding(mutated), settings)


def kill_table(
    chosen: Iterable[Mutant] | None = None, efforts: Iterable[str] = _EFFORTS
) -> Iterator[Row]:
    """One row for each mutant, all of them by default, as soon as it is known."""
    for mutated in mutants() if chosen is None else chosen:
        yield _row(mutated, tuple(efforts))


def _row(mutated: Mutant, efforts: tuple[str, ...]) -> Row:
    for effort in efforts:
        start = time.perf_counter()
        found = run_all_clauses(mutated, effort)
        seconds = time.perf_counter() - start
        broken = [c.clause.id for c in found.clauses if c.outcome in BROKEN]
        others = tuple(clause for clause in broken if clause != mutated.clause)
        if len(others) < len(broken):
            return Row(mutated, effort, seconds, others)
    return Row(mutated, "", seconds, others)
