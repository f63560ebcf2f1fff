"""What a run tells while it runs. Reports and the progress line only consume these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fscontract.contract.runner.result import Counterexample, RunResult


@dataclass(frozen=True)
class RunStarted:
    """A target is about to be checked."""

    target: str
    binding: str
    profile: str
    effort: str
    seed: int
    #: How many clauses are to be judged, 0 if that is not told.
    clauses: int = 0


@dataclass(frozen=True)
class PhaseStarted:
    """A source of programs begins; `total` programs if it is known."""

    phase: str
    total: int | None


@dataclass(frozen=True)
class Progress:
    """Programs, or what else is the `unit`, done in this phase, and operations done in the run.

    `running` is how many of them are under way, if that is known; `clauses` how many of the clauses
    some call has exercised by then.
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
    """The user has interrupted the run; the result is what it has found so far."""

    result: RunResult


@dataclass(frozen=True)
class Judged:
    """The verdicts are there; what the run has made is still to be removed."""

    result: RunResult


@dataclass(frozen=True)
class RunFinished:
    """The target was checked."""

    result: RunResult


Event: TypeAlias = (
    RunStarted | PhaseStarted | Progress | ViolationFound | Interrupted | Judged | RunFinished
)
Listener: TypeAlias = Callable[[Event], None]
