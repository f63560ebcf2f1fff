"""How the suite does against the mutants: which it kills, whom it blames, how long it takes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fscontract.contract.clauses import Clause, clauses
from fscontract.contract.suite.result import FAILING, RunResult, Verdict
from fscontract.contract.suite.runner import check
from fscontract.contract.suite.settings import Settings, with_checks
from fscontract.fakes.mutants.registry import Mutant, binding, mutants, profile

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
