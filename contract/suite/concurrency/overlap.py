"""Whether positioned reads run at the same time, or wait for one another (pread.concurrent)."""

from __future__ import annotations

from fscontract.contract.program import Step
from fscontract.contract.suite.concurrency.generate import SMALL
from fscontract.contract.suite.concurrency.judging import Fault, judge_trial
from fscontract.contract.suite.concurrency.report import ConcurrencyReport, counterexample
from fscontract.contract.suite.concurrency.schedule import Schedule, Switch
from fscontract.contract.suite.concurrency.trial import Laboratory, Trial

CLAUSE = "pread.concurrent"
_READ = Step("pread", (6, 8, 0, 8))
_OTHER = Step("pread", (30, 8, 0, 8))
_MOST_POINTS = 12


def waits(trial: Trial) -> bool:
    """Whether the second thread blocked while the first was paused in its call."""
    return any(e.what == "blocked" and e.thread == 1 for e in trial.log)


def check_overlap(
    lab: Laboratory, features: frozenset[str], length: int, report: ConcurrencyReport
) -> None:
    """Pause a positioned read at several of its events, each time letting another one run.

    The clause is missed if the other has to wait at half of these points or more: argument checks
    before a lock and bookkeeping after it are never under it, and a lock held briefly, say to
    look into a cache, is no lock around the read.
    """
    schedule = Schedule(max(length, SMALL), ((_READ,), (_OTHER,)))
    base = lab.run(schedule)
    if base.environment or judge_trial(base, features) is not None:
        return
    events = base.counts[0][0]
    step = max(1, -(-events // _MOST_POINTS))
    waiting: Trial | None = None
    waited = points = 0
    for event in range(1, events + 1, step):
        switched = Schedule(schedule.length, schedule.threads, (Switch(0, 0, event, 1),))
        trial = lab.run(switched)
        if trial.environment or judge_trial(trial, features) is not None:
            return
        points += 1
        if waits(trial):
            waited += 1
            waiting = waiting or trial
    report.exercised[CLAUSE] += points
    if waiting is not None and waited * 2 >= points:
        report.missed[CLAUSE] = counterexample(waiting, waiting_fault())
        report.schedules_json[CLAUSE] = waiting.schedule.to_json()


def waiting_fault() -> Fault:
    """The fault of the second thread's call: it waits."""
    expected = ("a read that goes on while another is paused",)
    return Fault(1, 0, expected, "waits for another read", "it waited")
