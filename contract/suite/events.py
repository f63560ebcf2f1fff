"""What a run tells while it runs. Reports and the progress line only consume these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fscontract.contract.suite.result import Counterexample, RunResult


@dataclass(frozen=True)
class RunStarted:
    """A target is about to be checked."""

    target: str
    binding: str
    profile: str
    effort: str
    seed: int


@dataclass(frozen=True)
class PhaseStarted:
    """A source of programs begins; `total` programs if it is known."""

    phase: str
    total: int | None


@dataclass(frozen=True)
class Progress:
    """Programs done in this phase, and operations done in the run."""

    phase: str
    done: int
    total: int | None
    operations: int


@dataclass(frozen=True)
class ViolationFound:
    """The first violation of a clause, shrunk."""

    clause: str
    counterexample: Counterexample


@dataclass(frozen=True)
class Judged:
    """The verdicts are there; what the run has made is still to be removed."""

    result: RunResult


@dataclass(frozen=True)
class RunFinished:
    """The target was checked."""

    result: RunResult


Event: TypeAlias = RunStarted | PhaseStarted | Progress | ViolationFound | Judged | RunFinished
Listener: TypeAlias = Callable[[Event], None]
