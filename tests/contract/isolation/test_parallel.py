"""Runs that several processes share."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.isolation import parallel
from fscontract.contract.isolation.parallel import Parallel
from fscontract.contract.isolation.supervisor import Isolated
from fscontract.contract.runner.events import Event, RunFinished, RunStarted, ViolationFound
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions
from tests.contract.isolation.seeking_targets import TARGETS

#: On Python 3.12 and later, if other tests left threads that Python does not know.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def check(place: Path, name: str, jobs: int) -> tuple[RunResult, list[Event]]:
    """Return the result of a run with this number of processes, and its events."""
    (place / "targets.py").write_text(TARGETS)
    events: list[Event] = []
    run = RunOptions(clauses=("seek.negative", "seek.zero"), jobs=jobs)
    with closing(Parallel(f"{place}/targets.py:{name}", run, (), forks=True)) as target:
        target.set_up()
        return target.check(events.append), events


def failures(result: RunResult) -> dict[str, str]:
    """Return the failures, with their programs, as in a report."""
    return {
        one.clause.id: json.dumps([str(f.program) for f in one.counterexamples])
        for one in result.clauses
        if one.outcome is not Verdict.PASS
    }


def test_verdict_is_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    one, two, three = (check(tmp_path, "lenient", jobs)[0] for jobs in (1, 2, 3))
    assert failures(one) == failures(two) == failures(three)
    assert failures(one).keys() == {"seek.negative"}


def test_call_that_ends_a_process_is_a_crash_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that checks again starts as the first one did."""
    forks: list[bool] = []

    class Noting(Isolated):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            forks.append(self._forks)

    monkeypatch.setattr(parallel, "Isolated", Noting)
    result, events = check(tmp_path, "deadly", 2)
    assert forks == [True, True]
    outcomes = {one.clause.id: one.outcome for one in result.clauses}
    assert outcomes["seek.negative"] is Verdict.CRASH
    for kind in (RunStarted, RunFinished, ViolationFound):
        assert sum(isinstance(event, kind) for event in events) == 1
