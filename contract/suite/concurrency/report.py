"""What the concurrency checks found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fscontract.contract.suite.concurrency.judging import Fault
from fscontract.contract.suite.concurrency.render import render
from fscontract.contract.suite.concurrency.trial import Trial
from fscontract.contract.suite.result import Counterexample


@dataclass
class ConcurrencyReport:
    """Clauses of concurrent use: how many schedules exercised each, which are violated (MUST) or
    missed (SHOULD), and the schedule that shows it, as JSON for `replay_schedule`."""

    exercised: Counter[str] = field(default_factory=Counter)
    violations: dict[str, Counterexample] = field(default_factory=dict)
    missed: dict[str, Counterexample] = field(default_factory=dict)
    schedules: int = 0
    operations: int = 0
    notes: list[str] = field(default_factory=list)
    #: Whether the check ended before it had tried everything.
    stopped: bool = False
    schedules_json: dict[str, dict[str, Any]] = field(default_factory=dict)

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)

    def keep(self, clause: str, trial: Trial, fault: Fault) -> None:
        """The trial violates the clause."""
        self.violations[clause] = counterexample(trial, fault)
        self.schedules_json[clause] = trial.schedule.to_json()
        self.exercised[clause] += 1

    def drop(self, clause: str) -> None:
        """Take back that a trial violates the clause."""
        del self.violations[clause], self.schedules_json[clause]
        self.exercised -= Counter((clause,))


def counterexample(trial: Trial, fault: Fault) -> Counterexample:
    """The trial as a counterexample."""
    return Counterexample(
        None,
        fault.expected,
        fault.actual,
        interleaving=render(trial, fault),
        schedule=trial.schedule.seed,
    )
