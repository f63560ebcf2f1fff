"""How the suite does against the mutants of faults: which it kills, and whom it blames."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fscontract.contract.clauses import FAULTS, Clause, clauses
from fscontract.contract.suite.result import RunResult
from fscontract.contract.suite.runner import check
from fscontract.contract.suite.settings import Settings, with_checks
from fscontract.fakes.mutants.faults.registry import (
    FaultMutant,
    binding,
    fault_mutants,
    profile,
)
from fscontract.fakes.mutants.table import BROKEN

#: Seconds after which a program counts as hanging, and where that is what is tried.
TIMEOUT, SHORT_TIMEOUT = 10.0, 0.5


class Row(NamedTuple):
    """One mutant against all clauses of faults, with the faults that it mishandles.

    `others` are the clauses that were found broken beside its own.
    """

    mutant: FaultMutant
    named: bool
    seconds: float
    others: tuple[str, ...]


def fault_clauses() -> tuple[Clause, ...]:
    """The testable clauses of the document."""
    return tuple(c for c in with_checks(clauses().values()) if c.document == FAULTS)


def run(
    mutant: FaultMutant, judged: Iterable[Clause], kinds: Iterable[str], first: bool = False
) -> RunResult:
    """The run of the suite for some clauses, with some kinds of faults."""
    filesystem = mutant.filesystem()
    timeout = SHORT_TIMEOUT if mutant.clause == "fault.hang" else TIMEOUT
    settings = Settings(
        profile(), tuple(judged), faults="quick", timeout=timeout, stop_at_first=first
    )
    try:
        return check(binding(filesystem, kinds), settings)
    finally:
        filesystem.injector.detach()  # whoever still waits for an answer


def is_named(mutant: FaultMutant, kinds: Iterable[str]) -> bool:
    """Whether the suite, told to look for one clause, finds that the mutant breaks it."""
    found = run(mutant, [clauses()[mutant.clause]], kinds, first=True)
    return found.clauses[0].outcome in BROKEN


def kill_table(chosen: Iterable[FaultMutant] | None = None) -> Iterator[Row]:
    """One row for each mutant, all of them by default, as soon as it is known."""
    for mutant in fault_mutants() if chosen is None else chosen:
        start = time.perf_counter()
        found = run(mutant, fault_clauses(), mutant.kinds)
        seconds = time.perf_counter() - start
        broken = [c.clause.id for c in found.clauses if c.outcome in BROKEN]
        others = tuple(clause for clause in broken if clause != mutant.clause)
        yield Row(mutant, mutant.clause in broken, seconds, others)
