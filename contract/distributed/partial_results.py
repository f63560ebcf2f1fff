"""Record the result of a shard, send it, and merge shards into one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial as bind

from fscontract.contract.distributed.shard import Order, Shard
from fscontract.contract.runner import crashes, resource_checks
from fscontract.contract.runner.counterexamples import (
    Counterexamples,
    Examined,
    Repeats,
    ShrinkingCounterexamples,
    looks,
)
from fscontract.contract.runner.execution import Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import LEFT_OUT, Boundary, Counterexample, PhaseShare
from fscontract.contract.runner.time_budget import PhaseTimes
from fscontract.contract.runner.verdicts import Evidence

VIOLATION, MISS, FAILED, MISSED, HANG = "violation", "miss", "failed", "missed", "hang"
#: An example fails by a clause that is not judged: `found` contains that clause in `shadowed`.
UNHELD = "unheld"


@dataclass(frozen=True)
class Record:
    """A finding, its place in the run, and the cost of shrinking it."""

    kind: str
    order: Order
    #: The looks of its violations; empty if it counts however many look alike.
    signature: tuple[str, ...]
    #: None if it led to no result.
    examined: Examined | None
    #: What the shrinking runs exercised, and the calls that they could not make.
    exercised: Counter[str]
    unsaid: frozenset[str]
    programs: int = 0
    operations: int = 0


class Recorder(ShrinkingCounterexamples):
    """Counterexamples with a record of how each was found, for merging in the driver.

    `examiner` runs only the programs for shrinking, so that their exercised clauses are counted
    separately.
    """

    def __init__(
        self,
        examiner: Executor,
        selected: frozenset[str],
        shard: Shard,
        times: PhaseTimes | None = None,
    ) -> None:
        super().__init__(examiner, selected, times)
        self.records: list[Record] = []
        self._shard = shard
        self._examining: tuple[str, ...] = ()

    def violation(self, violation: Violation, later: bool = False) -> str | None:
        """Shrink, attribute and record a failing program; return the clause if it is new."""
        examine = bind(self._examined, later=later)
        return self._recorded(VIOLATION, violation, looks(violation, later), examine)

    def miss(self, violation: Violation) -> str | None:
        """Shrink and record a program that misses a SHOULD; return the clause if it is new."""
        if violation.failure.clause not in self.selected:
            return None
        return self._recorded(MISS, violation, violation.signature, self._examined_miss)

    def add(self, clause: str, counterexample: Counterexample, missed: bool = False) -> str | None:
        """Add and record a counterexample of another check."""
        self._note(MISSED if missed else FAILED, Examined(clause, counterexample))
        return super().add(clause, counterexample, missed)

    def hang(self, clause: str, counterexample: Counterexample) -> str | None:
        """Add and record a program that hung, possibly while another one was shrunk."""
        signature, self._examining = self._examining, ()
        self._note(HANG, Examined(clause, counterexample), signature)
        return super().hang(clause, counterexample)

    def unhold(self, clause: str, by: str, counterexample: Counterexample) -> None:
        """Add and record that an example fails by a clause that the run does not judge."""
        self._note(UNHELD, Examined(clause, counterexample, by))
        super().unhold(clause, by, counterexample)

    def abandon(self) -> None:
        """Drop the program that is being shrunk; the program that led to it will run again."""
        self._examining = ()

    def _recorded(
        self,
        kind: str,
        violation: Violation,
        signature: tuple[str, ...],
        examine: Callable[[Violation], Examined | None],
    ) -> str | None:
        if not self.shrinks:
            signature = ()
        elif self._repeats.often(signature):
            return None
        executor = self.executor
        before = executor.exercised, executor.programs, executor.operations
        unsaid, executor.unsaid = executor.unsaid, set()
        self._examining = signature
        examined = self._in_time(examine, violation)
        self._examining = ()
        self.records.append(
            Record(
                kind,
                self._shard.order,
                signature,
                examined,
                executor.exercised - before[0],
                frozenset(executor.unsaid),
                executor.programs - before[1],
                executor.operations - before[2],
            )
        )
        executor.unsaid |= unsaid
        return None if examined is None else self.take(examined, missed=kind == MISS)

    def _note(self, kind: str, examined: Examined, signature: tuple[str, ...] = ()) -> None:
        order = self._shard.order
        self.records.append(Record(kind, order, signature, examined, Counter(), frozenset()))


@dataclass
class Family:
    """The results of the threads of one family, and whether other families follow it."""

    order: Order
    exercised: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    stopped: bool = False


@dataclass
class Partial:
    """The results of a shard."""

    records: list[Record]
    exercised: Counter[str]
    unsaid: set[str]
    counts: Counter[str]
    #: Clauses that lost calls could have exercised.
    unanswered: set[str]
    families: list[Family] = field(default_factory=list)
    #: The scenes that the target can make, as far as they were tried.
    scenes: frozenset[str] = frozenset()
    #: The increase of open descriptors, or threads, from the start to the end.
    growth: int = 0
    warnings: tuple[str, ...] = ()
    cut_short: tuple[PhaseShare, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    #: The features that the profile leaves open, as observed.
    observed: dict[str, bool] = field(default_factory=dict)
    boundaries: tuple[Boundary, ...] = ()


@dataclass
class Merged:
    """The merged results of all shards."""

    counterexamples: Counterexamples
    exercised: Counter[str] = field(default_factory=Counter)
    unsaid: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    unanswered: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    #: Phases that did not run all of their programs, by name.
    cut_short: dict[str, PhaseShare] = field(default_factory=dict)
    boundaries: dict[Boundary, None] = field(default_factory=dict)
    #: True if a single process would have ended early.
    ends_early: bool = False
    #: The looks of the failures that were examined.
    seen: frozenset[tuple[str, ...]] = frozenset()

    def evidence(self, lost: str = "", reasons: Mapping[str, str] | None = None) -> Evidence:
        """Return the evidence for verdicts.

        `lost` names missing shards, if any; `reasons` are those of clauses that were not exercised.
        """
        return Evidence(
            self.counterexamples,
            self.exercised,
            frozenset(self.unsaid),
            self.unanswered,
            "; ".join(self.notes),
            lost,
            reasons or {},
            bool(self.cut_short or self.counts[LEFT_OUT]),
        )


def merge(parts: Sequence[Partial], selected: frozenset[str], remote: bool = False) -> Merged:
    """Merge shards in any order; `remote` means that calls are round trips."""
    merged = Merged(Counterexamples(selected))
    families = sorted((f for part in parts for f in part.families), key=lambda f: f.order)
    after = _taken(families, merged)
    for part in parts:
        merged.exercised += part.exercised
        merged.unsaid |= part.unsaid
        merged.unanswered |= part.unanswered
        merged.counts.update(part.counts)
        merged.warnings |= dict.fromkeys(part.warnings)
        merged.boundaries |= dict.fromkeys(part.boundaries)
        for share in part.cut_short:
            merged.cut_short[share.phase] = share.plus(merged.cut_short.get(share.phase))
    records = (record for part in parts for record in part.records)
    _replay((r for r in records if r.order not in after), merged, Repeats(remote))
    growth = sum(part.growth for part in parts)
    leaking = growth > resource_checks.MAX_GROWTH and not resource_checks.CLAUSES.isdisjoint(
        merged.counterexamples.failed
    )
    full = any(name.startswith(resource_checks.OUT_OF) for name in merged.counts)
    merged.ends_early = leaking or full or merged.counts["hangs"] >= crashes.MOST_HANGS
    return merged


def _taken(families: Iterable[Family], merged: Merged) -> set[tuple[int, int]]:
    """Take families up to the one at which a run would have ended; return orders of the others."""
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


def _replay(records: Iterable[Record], merged: Merged, repeats: Repeats) -> None:
    """Take records in the order of the run, up to its limit for those with the same looks."""
    counterexamples = merged.counterexamples
    for record in sorted(records, key=lambda r: r.order):
        if record.signature and _passed_over(record, counterexamples, repeats):
            continue
        merged.exercised += record.exercised
        merged.unsaid |= record.unsaid
        merged.counts["programs"] += record.programs
        merged.counts["operations"] += record.operations
        examined = record.examined
        if examined is None:
            continue
        clause, counterexample = examined.clause, examined.counterexample
        if record.kind == HANG:
            merged.counts["hangs"] += 1
            counterexamples.hang(clause, counterexample)
        elif record.kind == UNHELD:
            counterexamples.unhold(clause, examined.shadowed, counterexample)
        elif record.kind in (VIOLATION, MISS):
            counterexamples.take(examined, record.kind == MISS)
        elif clause not in resource_checks.CLAUSES or clause not in counterexamples.failed:
            counterexamples.add(clause, counterexample, record.kind == MISSED)
    merged.seen = repeats.seen


def _passed_over(record: Record, counterexamples: Counterexamples, repeats: Repeats) -> bool:
    """Return whether a run would have skipped the record, because of others with the same looks."""
    clause, *_ = record.signature  # the looks of the violation's own failure come first
    if record.kind == MISS and clause in counterexamples.missed:
        return True
    return repeats.often(record.signature)
