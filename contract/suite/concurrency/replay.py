"""Running a schedule again that a report or a replay file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.suite.concurrency import overlap
from fscontract.contract.suite.concurrency.judging import attribute, judge_trial
from fscontract.contract.suite.concurrency.render import render
from fscontract.contract.suite.concurrency.report import counterexample
from fscontract.contract.suite.concurrency.schedule import Schedule
from fscontract.contract.suite.concurrency.trial import Laboratory, NoVerdict, Trial
from fscontract.contract.suite.result import Counterexample

#: How often threads that run freely are tried.
FREE_ROUNDS = 100


@dataclass(frozen=True)
class ScheduleReplay:
    """What a schedule did now: the clause that it violates (or misses, a SHOULD) with its
    counterexample, both None if nothing was wrong; and the interleaving in any case."""

    clause: str | None
    counterexample: Counterexample | None
    interleaving: tuple[str, ...]


def replay_schedule(
    binding: Binding,
    features: frozenset[str],
    data: dict[str, Any],
    buffer: int = 4096,
    hang_after: float = 2.0,
) -> ScheduleReplay:
    """Run a schedule (as `Schedule.to_json` writes it) on a prepared target.

    ProgramError for data that is no schedule, TargetError if the target can't be used.
    """
    schedule = Schedule.from_json(data)
    lab = Laboratory(binding, lambda _: None, buffer, hang_after)
    try:
        for _ in range(FREE_ROUNDS if schedule.free else 1):
            trial = lab.run(schedule)
            result = _result(trial, features)
            if result.clause is not None:
                break
        return result
    except NoVerdict as stop:
        raise TargetError(f"{binding.name}: {stop}") from stop
    finally:
        lab.close()


def _result(trial: Trial, features: frozenset[str]) -> ScheduleReplay:
    if trial.environment is not None:
        raise NoVerdict(f"target out of reach: {trial.environment.detail}")
    fault = judge_trial(trial, features)
    if fault is not None:
        found = counterexample(trial, fault)
        return ScheduleReplay(attribute(trial, fault), found, found.interleaving)
    if overlap.waits(trial):
        found = counterexample(trial, overlap.waiting_fault())
        return ScheduleReplay(overlap.CLAUSE, found, found.interleaving)
    return ScheduleReplay(None, None, render(trial, None))
