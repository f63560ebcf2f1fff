"""What a run in parts tells meanwhile, and what becomes of it if parts are missing."""

from __future__ import annotations

import json
from concurrent.futures import Future

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed import driver
from fscontract.contract.distributed.backend import Work
from fscontract.contract.generate import hypothesis_search
from fscontract.contract.runner import crashes
from fscontract.contract.runner.events import (
    Event,
    Interrupted,
    Judged,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
)
from fscontract.contract.runner.internal_errors import InternalError
from fscontract.contract.runner.result import Verdict
from tests.contract.distributed.conftest import Here, MakeBench


class Losing(Here):
    """Loses the tasks of these numbers; the others end when the driver knows that."""

    def __init__(self, lost: range) -> None:
        super().__init__()
        self._lost = lost
        self._late: list[tuple[Future[str], Future[str]]] = []

    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Run the task, or lose it."""
        number = len(self.descriptions)
        future = super().submit(work, request, description)
        shown: Future[str] = Future()
        if number in self._lost:
            shown.set_exception(TargetError("the worker was killed"))
        else:
            self._late.append((shown, future))
        return shown

    def running(self) -> int:
        """Let the others end, now that the driver asks."""
        while self._late:
            shown, future = self._late.pop()
            shown.set_result(future.result())
        return 0


def test_there_are_more_tasks_than_run_side_by_side(bench: MakeBench) -> None:
    """So that one that takes long holds up little; each says what it is."""
    made, here = bench(clauses=("capabilities.unknown",)), Here(2)
    result = made.parts(0, here)
    assert result.counts["tasks"] == len(here.descriptions) == 8
    assert here.descriptions[2] == snapshot("fscontract check memory: part 3 of 8")


def test_it_tells_what_a_run_tells(bench: MakeBench) -> None:
    """From the start to the verdicts, and how many tasks have ended."""
    made = bench(clauses=("capabilities.unknown",))
    result = made.parts(3)
    kinds = [type(event) for event in made.events]
    assert kinds[:2] == [RunStarted, PhaseStarted]
    assert kinds[-2:] == [Judged, RunFinished]
    progress = [event for event in made.events if isinstance(event, Progress)]
    assert (progress[-1].done, progress[-1].total, progress[-1].unit) == (3, 3, "task")
    assert progress[-1].operations == result.counts["operations"] > 0


def test_a_lost_task_ends_a_run_that_has_found_nothing(bench: MakeBench) -> None:
    """In one line that says which it was; the others are cancelled."""
    there = Losing(range(1, 2))
    with pytest.raises(TargetError, match=r"^memory: part 2 of 3: the worker was killed$"):
        bench(clauses=("capabilities.unknown",)).parts(3, there)
    assert there.cancelled


def test_what_was_found_counts_without_the_lost_tasks(bench: MakeBench) -> None:
    """Of all other clauses nothing is said. They are lost before anything is found."""
    made = bench("seek.negative-NegativeIsZero", clauses=("seek",))
    result = made.parts(7, Losing(range(6, 7)))
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes.pop("seek.negative") is Verdict.FAIL
    assert set(outcomes.values()) <= {Verdict.ERROR, Verdict.UNDECLARED}
    assert any("part 7 of 7" in warning for warning in result.warnings)


def test_an_interrupted_run_tells_what_it_had_found(bench: MakeBench) -> None:
    """What was not found to fail may do so elsewhere; and its tasks are cancelled."""

    class Interrupting(list[Event]):
        def append(self, event: Event) -> None:
            super().append(event)
            if isinstance(event, Progress):
                raise KeyboardInterrupt

    made, there = bench("seek.negative-NegativeIsZero", clauses=("seek",)), Here()
    made.events = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        made.parts(2, there)
    assert there.cancelled
    (event,) = (event for event in made.events if isinstance(event, Interrupted))
    found = {c.clause.id: c for c in event.result.clauses}
    assert found["seek.negative"].outcome is Verdict.FAIL
    assert found["seek.zero"].outcome is Verdict.ERROR
    assert found["seek.zero"].reason.startswith("the run was interrupted: ")


def test_a_target_that_can_not_be_made_there_is_one_line(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says where, and no value of an option."""
    made = bench(target="mutated.py:token", options={"token": "hunter22"})
    resolver = "tests.contract.distributed.conftest.resolve_target"
    monkeypatch.setattr(resolver, lambda *_: bench_binding())
    with pytest.raises(TargetError) as caught:
        made.parts(2)
    text = str(caught.value)
    assert "no way in with ***" in text
    assert "in a task of this process on" in text
    assert "\n" not in text
    assert "hunter22" not in text


def bench_binding() -> object:
    """A binding that can be made here."""
    from fscontract.contract.targets import resolve_target as resolve

    return resolve("memory", {})


def test_a_defect_of_the_suite_shows_its_traceback(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is nobody's mistake but ours."""
    from fscontract.contract.runner import runner

    monkeypatch.setattr(runner, "gather", lambda *_: 1 // 0)
    with pytest.raises(InternalError, match="ZeroDivisionError") as raised:
        bench(clauses=("capabilities.unknown",)).parts(1)
    assert "Traceback" in raised.value.fault.trace


def test_the_search_knows_what_fails_elsewhere(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes last, in a task of its own, and looks for something else."""
    for module in (hypothesis_search, driver):
        monkeypatch.setitem(module.EXAMPLES, "quick", 20)
    sent: list[object] = []

    class Listening(Here):
        def submit(self, work: Work, request: str, description: str) -> Future[str]:
            sent.append(json.loads(request)["part"])
            return super().submit(work, request, description)

    made = bench("seek.negative-NegativeIsZero", clauses=("seek",))
    whole, parts = made.whole(), made.parts(2, Listening())
    last = sent[-1]
    assert isinstance(last, dict)
    assert (last["number"], last["of"]) == (0, 1)
    assert ["seek.negative", "", "accepted", "seek", "returned", "open", ""] in last["seen"]
    assert [c.outcome for c in parts.clauses] == [c.outcome for c in whole.clauses]


def test_a_target_that_hangs_often_is_left_to_one_task(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process ends phases after so many hangs, and parts would show more than it does."""
    monkeypatch.setattr(crashes, "MOST_HANGS", 2)
    made = bench(target="mutated.py:Hanging", clauses=("skip",), timeout=0.5)
    here = Here()
    whole, parts = made.whole(), made.parts(2, here)
    assert here.descriptions[2:] == [f"fscontract check {made.target}: part 1 of 1"]
    assert [c.outcome for c in parts.clauses] == [c.outcome for c in whole.clauses]
    assert Verdict.HANG in {c.outcome for c in parts.clauses}
