"""Tasks in processes of this machine, and runs that several of them share."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed.processes import ProcessBackend
from fscontract.contract.isolation.parallel import Parallel
from fscontract.contract.runner.events import Event, RunFinished, RunStarted, ViolationFound
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions
from tests.contract.isolation.seeking_targets import TARGETS
from tests.limits import DEADLOCK


def pid(request: str) -> str:
    """Return the number of this process."""
    return str(os.getpid())


def killed(request: str) -> str:
    """End this process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return request


def waiting(request: str) -> str:
    """Wait for the end of this process; `request` is a file that says that it waits."""
    Path(request).write_text(str(os.getpid()))
    threading.Event().wait()
    return request


@pytest.fixture
def two() -> Iterator[ProcessBackend]:
    """Return a backend of two processes."""
    with closing(ProcessBackend(2)) as backend:
        yield backend


def test_tasks_run_in_at_most_as_many_other_processes(two: ProcessBackend) -> None:
    pids = {two.submit(pid, "", "").result(DEADLOCK) for _ in range(5)}
    assert 1 <= len(pids) <= 2
    assert str(os.getpid()) not in pids


def test_task_whose_process_is_killed_says_so_and_others_run(two: ProcessBackend) -> None:
    with pytest.raises(TargetError, match="the process was ended by SIGKILL"):
        two.submit(killed, "", "").result(DEADLOCK)
    assert two.submit(pid, "", "").result(DEADLOCK)


def test_closed_backend_has_ended_its_tasks(two: ProcessBackend, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    task = two.submit(waiting, str(note), "")
    until(lambda: note.exists() and bool(note.read_text()))
    two.close()
    with pytest.raises(TargetError):
        task.result(DEADLOCK)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    tick = threading.Event()
    while not holds():
        tick.wait(0.01)


def check(place: Path, name: str, jobs: int) -> tuple[RunResult, list[Event]]:
    """Return the result of a run with this number of processes, and its events."""
    (place / "targets.py").write_text(TARGETS)
    events: list[Event] = []
    run = RunOptions(clauses=("seek.negative", "seek.zero"), jobs=jobs)
    with closing(Parallel(f"{place}/targets.py:{name}", run, ())) as target:
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


def test_call_that_ends_a_process_is_a_crash_of_the_run(tmp_path: Path) -> None:
    result, events = check(tmp_path, "deadly", 2)
    outcomes = {one.clause.id: one.outcome for one in result.clauses}
    assert outcomes["seek.negative"] is Verdict.CRASH
    for kind in (RunStarted, RunFinished, ViolationFound):
        assert sum(isinstance(event, kind) for event in events) == 1
