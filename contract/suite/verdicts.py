"""Give a clause its outcome: one function for streams and for the parts of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from fscontract.contract.clauses import Clause, Level
from fscontract.contract.known import Known, match, outdated
from fscontract.contract.suite.result import (
    SHOWN,
    ClauseResult,
    Counterexample,
    Verdict,
)

#: Levels whose violation is a failure. A MAY that is testable bounds what it permits.
_BINDING = frozenset({Level.MUST, Level.MAY, Level.UNSPECIFIED})


@dataclass(frozen=True)
class Seen:
    """What a run showed of one clause.

    `unverified` is the outcome, with its reason, of a clause that no program breaks and of which it
    can't be said that it holds; None if it holds. `lost` says which programs were not run, if any.
    """

    exercised: int = 0
    crashed: Counterexample | None = None
    hung: Counterexample | None = None
    failed: Counterexample | None = None
    missed: Counterexample | None = None
    unverified: tuple[Verdict, str] | None = None
    lost: str = ""

    def violation(self, level: Level) -> tuple[Verdict, Counterexample] | None:
        """Return the worst that was seen of a clause of this level, None if nothing was."""
        failing = Verdict.FAIL if level in _BINDING else Verdict.LAX
        found = (
            (Verdict.CRASH, self.crashed),
            (Verdict.HANG, self.hung),
            (failing, self.failed),
            (Verdict.LAX, self.missed),
        )
        return next(((verdict, shown) for verdict, shown in found if shown is not None), None)


def outcome_of(clause: Clause, seen: Seen, listed: Iterable[Known], today: date) -> ClauseResult:
    """Return the clause's result; `listed` are its entries among the known failures.

    An entry turns a failure into a known one. A SHOULD that is missed stays lax, and the entry
    explains it. An entry whose failure did not occur makes a clause that was judged "fixed", unless
    the clause fails in another way.
    """
    violation, listed = seen.violation(clause.level), tuple(listed)
    if violation is None:
        if seen.lost:
            return ClauseResult(clause, Verdict.ERROR, seen.exercised, reason=seen.lost)
        if seen.unverified is not None:
            outcome, reason = seen.unverified
            return ClauseResult(clause, outcome, reason=reason)
        return _unless_fixed(ClauseResult(clause, Verdict.PASS, seen.exercised), listed)
    outcome, shown = violation
    result = ClauseResult(clause, outcome, seen.exercised, shown)
    entry = match(listed, clause.id, shown, today)
    if entry is not None:
        outcome = Verdict.KNOWN if outcome in SHOWN else outcome
        return replace(result, outcome=outcome, reason=entry.reason, issue=entry.issue)
    if outcome is Verdict.LAX:
        others = [known for known in listed if known.signature != shown.signature]
        return _unless_fixed(result, others)
    return result


def _unless_fixed(result: ClauseResult, listed: Iterable[Known]) -> ClauseResult:
    """Return the result, or that one of these entries is out of date."""
    gone = outdated(listed)
    if not gone:
        return result
    return ClauseResult(result.clause, Verdict.FIXED, result.exercised, reason=gone)
