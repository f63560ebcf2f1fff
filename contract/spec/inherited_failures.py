"""Known failures of widely used base classes, which targets inherit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.program.program import OPERATIONS
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.signature import AT_END
from fscontract.contract.spec.clauses import Clause, read_id
from fscontract.contract.untrusted import parse_yaml

#: The modules under which a class of the standard library is known.
_PUBLIC = {"_io": "io"}
#: The packages with known failures whose classes inherit from fsspec's.
_BUILT_ON_FSSPEC = frozenset({"s3fs"})
_MODEL = "model."
#: Not an operation: the classes that a target extends, whatever it calls.
BASES = "bases"
#: The circumstance that shrinking adds, because it makes files shorter.
_AT_END = f"; {AT_END}"


@dataclass(frozen=True)
class InheritedFailure:
    """A failure that classes show together: the clause, its signature, and the finding on it.

    `raises` is the exception of a later call, of which the signature says none; "" for any.
    `fixed` is a package and the first release measured without the failure; "" if all have it.
    """

    classes: frozenset[str]
    clause: str
    signature: str
    finding: str
    raises: str = ""
    fixed: str = ""

    @property
    def reason(self) -> str:
        """Where the failure comes from."""
        origin = f"inherited from {' and '.join(sorted(self.classes))}, finding {self.finding}"
        return f"{origin}, fixed in {self.fixed}" if self.fixed else origin

    @property
    def is_present(self) -> bool:
        """True if the installed release may have the failure."""
        package, _, release = self.fixed.partition(" ")
        return not release or _installed(package) < _numbers(release)


@lru_cache(maxsize=1)
def inherited_failures() -> Mapping[str, tuple[InheritedFailure, ...]]:
    """Return the known failures of base classes by clause, from `specs/bases.yaml`."""
    by_clause: dict[str, list[InheritedFailure]] = {}
    for failure in read_bases(files("fscontract.specs").joinpath("bases.yaml").read_text("utf-8")):
        by_clause.setdefault(failure.clause, []).append(failure)
    return {clause: tuple(failures) for clause, failures in by_clause.items()}


def read_bases(text: str) -> Iterator[InheritedFailure]:
    """Yield the known failures in text with the form of `specs/bases.yaml`."""
    for base in parse_yaml(text)["bases"]:
        for entry in base["failures"]:
            named = {**entry, "clause": read_id(entry["clause"])}
            yield InheritedFailure(frozenset(base["classes"]), **named)


def inherits(
    clause: Clause, failure: Counterexample, sources: Mapping[str, frozenset[str]]
) -> InheritedFailure | None:
    """Return the known failure of base classes that a failure of a target is, if it is one.

    It may have more circumstances than the known one, and other reads before it: which ones are
    found depends on the target.
    Only a program that was shrunk fails at the end of its file, if reads fail at any position.
    `sources` are the classes that define what an operation calls, by operation. One that the target
    defines itself has none.
    """
    at_fault = frozenset().union(*(sources.get(op, ()) for op in operations_of(clause, sources)))
    every = frozenset().union(*sources.values())
    for known in inherited_failures().get(clause.id, ()):
        signature = known.signature
        if failure.unshrunk:
            signature = signature.replace(_AT_END, "")
        matches = _parts(failure.signature) >= _parts(signature) and known.classes <= every
        matches = matches and failure.actual.startswith(known.raises) and known.is_present
        if matches and not at_fault.isdisjoint(known.classes):
            return known
    return None


@lru_cache(maxsize=16)
def _installed(package: str) -> tuple[int, ...]:
    """Return the numbers of the installed release of a package, none if it is unknown."""
    try:
        return _numbers(version(package))
    except PackageNotFoundError:
        return ()


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)))


def _parts(signature: str) -> frozenset[str]:
    """Return the parts of a signature, with one word for all reads before the failure."""
    parts = signature.split("; ")
    return frozenset(
        "after a read" if p.removeprefix("after ") in READ_OPERATIONS else p for p in parts
    )


def operations_of(clause: Clause, sources: Iterable[str]) -> list[str]:
    """Return the operations that a clause is about, or all of `sources`."""
    names = [c.removeprefix(_MODEL) for c in clause.checks if c.startswith(_MODEL)]
    about = [name for name in names if name in OPERATIONS]
    return about or [name for name in sources if name != BASES]


def class_name(cls: type[Any]) -> str:
    """Return the name of a class as in `specs/bases.yaml`: its module and its name."""
    return f"{_PUBLIC.get(cls.__module__, cls.__module__)}.{cls.__qualname__}"


@lru_cache(maxsize=1)
def base_packages() -> frozenset[str]:
    """Return the packages with base classes whose failures are known.

    Those whose classes inherit from fsspec's are not among them: they also inherit its failures.
    """
    known = (failure for failures in inherited_failures().values() for failure in failures)
    packages = frozenset(package_of(name) for failure in known for name in failure.classes)
    return packages - _BUILT_ON_FSSPEC


def package_of(name: str) -> str:
    """Return the top package of a class name."""
    return name.partition(".")[0]
