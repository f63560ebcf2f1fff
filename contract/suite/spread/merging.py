"""The parts of a run put together: what one process would have found that ran everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fscontract.contract.suite import ending, leaks
from fscontract.contract.suite.findings import Kept, Repeats
from fscontract.contract.suite.spread.partial import Family, Partial
from fscontract.contract.suite.spread.recording import (
    HANG,
    MISS,
    MISSED,
    UNHELD,
    VIOLATION,
    Record,
)
from fscontract.contract.suite.summary import Evidence


@dataclass
class Merged:
    """What the parts came to."""

    kept: Kept
    exercised: Counter[str] = field(default_factory=Counter)
    unsaid: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    #: Whether one process would have ended before it had run everything.
    ends_early: bool = False

    def evidence(self, lost: str = "", reasons: Mapping[str, str] | None = None) -> Evidence:
        """What the verdicts are made of; `lost` says which parts are missing, if any are, and
        `reasons` why clauses were not exercised."""
        return Evidence(
            self.kept,
            self.exercised,
            frozenset(self.unsaid),
            bool(self.counts["errors"]),
            "; ".join(self.notes),
            lost,
            reasons or {},
        )


def merge(parts: Sequence[Partial], wanted: frozenset[str]) -> Merged:
    """Put parts together, in whatever order they came."""
    merged = Merged(Kept(wanted))
    families = sorted((f for part in parts for f in part.families), key=lambda f: f.order)
    after = _taken(families, merged)
    for part in parts:
        merged.exercised += part.exercised
        merged.unsaid |= part.unsaid
        merged.counts.update(part.counts)
        merged.warnings |= dict.fromkeys(part.warnings)
    records = (record for part in parts for record in part.records)
    _replay((r for r in records if r.order not in after), merged)
    growth = sum(part.growth for part in parts)
    leaking = growth > leaks.MOST and not leaks.CLAUSES.isdisjoint(merged.kept.failed)
    full = any(name.startswith(leaks.OUT_OF) for name in merged.counts)
    merged.ends_early = leaking or full or merged.counts["hangs"] >= ending.MOST_HANGS
    return merged


def _taken(families: Iterable[Family], merged: Merged) -> set[tuple[int, int]]:
    """Take families up to one after which a run would not have gone on; the orders of others."""
    stopped, after = False, set()
    for family in families:
        if stopped:
            after.add(family.order)
            continue
        merged.exercised += family.exercised
        merged.counts.update(family.counts)
        merged.notes |= dict.fromkeys(family.notes)
        stopped = family.stopped
    return after


def _replay(records: Iterable[Record], merged: Merged) -> None:
    """Take records in the order of the run, as many of those that look alike as it would."""
    kept, repeats = merged.kept, Repeats()
    for record in sorted(records, key=lambda r: r.order):
        if record.signature and _passed_over(record, kept, repeats):
            continue
        merged.exercised += record.exercised
        merged.unsaid |= record.unsaid
        merged.counts["programs"] += record.programs
        merged.counts["operations"] += record.operations
        found = record.found
        if found is None:
            continue
        if record.kind == HANG:
            merged.counts["hangs"] += 1
            kept.hang(found.clause, found.shown)
        elif record.kind == UNHELD:
            kept.unhold(found.clause, found.shadowed, found.shown)
        elif record.kind in (VIOLATION, MISS):
            kept.take(found, record.kind == MISS)
        elif found.clause not in leaks.CLAUSES or found.clause not in kept.failed:
            kept.add(found.clause, found.shown, record.kind == MISSED)


def _passed_over(record: Record, kept: Kept, repeats: Repeats) -> bool:
    """Whether a run would not have looked into it, because it has seen its like."""
    clause, *_ = record.signature  # that of the violation's failure comes first
    if record.kind == MISS and clause in kept.missed:
        return True
    return repeats.often(record.signature)
