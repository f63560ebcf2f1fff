"""Findings of a part of a run, written down so that all parts come to what one run would say.

Of violations that look alike a run shrinks the first few. A part does not know what is first
elsewhere: it shrinks its own first few, and whoever has all records takes the first of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from fscontract.contract.suite.execute import Executor, Violation
from fscontract.contract.suite.findings import Examined, Findings
from fscontract.contract.suite.result import Counterexample
from fscontract.contract.suite.spread.part import Order, Part

VIOLATION, MISS, FAILED, MISSED, HANG = "violation", "miss", "failed", "missed", "hang"
#: An example fails by a clause that is not judged: `found` has that in `shadowed`.
UNHELD = "unheld"


@dataclass(frozen=True)
class Record:
    """Something that was found, where in the run, and what it took to make it small."""

    kind: str
    order: Order
    #: How violations look that look alike; empty for what other checks found.
    signature: tuple[str, ...]
    #: None if nothing came of it.
    found: Examined | None
    #: What the programs exercised that were run to make it small, and which calls they lacked.
    exercised: Counter[str]
    unsaid: frozenset[str]
    programs: int = 0
    operations: int = 0


class Recorder(Findings):
    """Findings that keep a record of each.

    `examiner` runs no programs but those that make others small, so that what they exercise is
    counted apart.
    """

    def __init__(self, examiner: Executor, wanted: frozenset[str], part: Part) -> None:
        super().__init__(examiner, wanted)
        self.records: list[Record] = []
        self._part = part
        self._examining: tuple[str, ...] = ()

    def violation(self, found: Violation) -> str | None:
        """Shrink, attribute and record a failing program; the clause if it is new here."""
        return self._recorded(VIOLATION, found, self._examined)

    def miss(self, found: Violation) -> str | None:
        """Shrink and record a program that misses a SHOULD; the clause if it is new here."""
        if found.failure.clause not in self.wanted:
            return None
        return self._recorded(MISS, found, self._examined_miss)

    def add(self, clause: str, shown: Counterexample, missed: bool = False) -> str | None:
        """Keep and record a counterexample that some other check made."""
        self._note(MISSED if missed else FAILED, Examined(clause, shown))
        return super().add(clause, shown, missed)

    def hang(self, clause: str, shown: Counterexample) -> str | None:
        """Keep and record a program that did not end, perhaps while another was made small."""
        signature, self._examining = self._examining, ()
        self._note(HANG, Examined(clause, shown), signature)
        return super().hang(clause, shown)

    def unhold(self, clause: str, by: str, shown: Counterexample) -> None:
        """Keep and record that an example fails by a clause that the run does not judge."""
        self._note(UNHELD, Examined(clause, shown, by))
        super().unhold(clause, by, shown)

    def abandon(self) -> None:
        """Forget what is being made small: the program that led to it will be run again."""
        self._examining = ()

    def _recorded(
        self, kind: str, found: Violation, examine: Callable[[Violation], Examined | None]
    ) -> str | None:
        if self._repeats.often(found.signature):
            return None
        executor = self.executor
        before = executor.exercised, executor.programs, executor.operations
        unsaid, executor.unsaid = executor.unsaid, set()
        self._examining = found.signature
        examined = examine(found)
        self._examining = ()
        self.records.append(
            Record(
                kind,
                self._part.order,
                found.signature,
                examined,
                executor.exercised - before[0],
                frozenset(executor.unsaid),
                executor.programs - before[1],
                executor.operations - before[2],
            )
        )
        executor.unsaid |= unsaid
        return examined and self.take(examined, missed=kind == MISS)

    def _note(self, kind: str, found: Examined, signature: tuple[str, ...] = ()) -> None:
        order = self._part.order
        self.records.append(Record(kind, order, signature, found, Counter(), frozenset()))
