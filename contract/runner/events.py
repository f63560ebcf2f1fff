"""Events of a run. Reports and the progress line only consume them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fscontract.contract.runner.result import Counterexample, RunResult


@dataclass(frozen=True)
class RunStarted:
    """The check of a target begins."""

    target: str
    binding: str
    profile: str
    effort: str
    seed: int
    #: The number of selected clauses, 0 if unknown.
    clauses: int = 0


@dataclass(frozen=True)
class FeaturesObserved:
    """The features that the profile leaves open were observed, with what was seen."""

    features: dict[str, bool]


@dataclass(frozen=True)
class PhaseStarted:
    """A source of programs begins; `total` is their number if known.

    `holding` are the clauses that calls have judged, and that hold so far.
    """

    phase: str
    total: int | None
    holding: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Progress:
    """Completed programs, or other `unit`s, of this phase, and operations of the run.

    `running` is the number of programs in progress, if known; `clauses` the number of clauses
    exercised so far.
    """

    phase: str
    done: int
    total: int | None
    operations: int
    unit: str = "program"
    running: int | None = None
    clauses: int = 0


@dataclass(frozen=True)
class ViolationFound:
    """The first violation of a clause, shrunk."""

    clause: str
    counterexample: Counterexample


@dataclass(frozen=True)
class Interrupted:
    """The user has interrupted the run; the result contains the findings so far."""

    result: RunResult


@dataclass(frozen=True)
class Judged:
    """The verdicts are complete; the files of the run are still to be removed."""

    result: RunResult


@dataclass(frozen=True)
class RunFinished:
    """The check of the target is complete."""

    result: RunResult


Event: TypeAlias = (
    RunStarted
    | FeaturesObserved
    | PhaseStarted
    | Progress
    | ViolationFound
    | Interrupted
    | Judged
    | RunFinished
)
Listener: TypeAlias = Callable[[Event], None]
