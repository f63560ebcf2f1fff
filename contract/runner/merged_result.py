"""Merge the results of runs on several files of one read-only target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fscontract.contract.runner.result import (
    ClauseResult,
    Counterexample,
    Entry,
    NotSetUp,
    PhaseShare,
    RunResult,
    Verdict,
)

#: Outcomes of a clause on several files: the first of these is that of all. A known failure is not
#: fixed as long as one file shows it, and a clause is verified if one file could verify it.
_WORST = (
    Verdict.CRASH,
    Verdict.HANG,
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.INHERITED,
    Verdict.KNOWN,
    Verdict.LAX,
    Verdict.FIXED,
    Verdict.PASS,
    Verdict.UNEXERCISED,
    Verdict.INEXPRESSIBLE,
    Verdict.UNDECLARED,
)


def merged(entries: Sequence[Entry]) -> Entry:
    """Return one entry for the runs on several files, which judged the same clauses.

    Each clause has its worst outcome, and all its distinct failures. If the target could not be set
    up with one of the files, the result is incomplete.
    """
    if len(entries) == 1:
        return entries[0]
    results = [entry for entry in entries if isinstance(entry, RunResult)]
    broken = [entry for entry in entries if isinstance(entry, NotSetUp)]
    if not results:
        return broken[0]
    reasons = [result.incomplete for result in results] + [entry.message for entry in broken]
    columns = zip(*(result.clauses for result in results), strict=True)
    return replace(
        results[0],
        seconds=sum(result.seconds for result in results),
        clauses=tuple(map(_merged_clause, columns)),
        counts=dict(sum((Counter(result.counts) for result in results), Counter())),
        sizes=tuple(size for result in results for size in result.sizes),
        warnings=tuple(dict.fromkeys(line for result in results for line in result.warnings)),
        incomplete=next(filter(None, reasons), ""),
        cut_short=_merged_shares(results),
    )


def _merged_clause(results: Sequence[ClauseResult]) -> ClauseResult:
    worst = min(results, key=lambda result: _WORST.index(result.outcome))
    distinct: dict[str, Counterexample] = {}
    for result in (worst, *results):
        for failure in result.counterexamples:
            distinct.setdefault(failure.signature, failure)
    failures = list(distinct.values())
    return replace(
        worst,
        exercised=sum(result.exercised for result in results),
        counterexample=next(iter(failures), None),
        others=tuple(sorted(failures[1:], key=lambda f: bool(f.known or f.inherited))),
    )


def _merged_shares(results: Sequence[RunResult]) -> tuple[PhaseShare, ...]:
    shares: dict[str, PhaseShare] = {}
    for share in (share for result in results for share in result.cut_short):
        shares[share.phase] = share.plus(shares.get(share.phase))
    return tuple(shares.values())
