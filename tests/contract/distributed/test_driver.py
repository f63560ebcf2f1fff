"""Runs in shards: the same verdicts as in one process, their events, and lost tasks."""

from __future__ import annotations

import json
import re
import socket
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed import driver
from fscontract.contract.distributed.backend import Work
from fscontract.contract.generate import hypothesis_search
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner import crashes
from fscontract.contract.runner.events import (
    Event,
    Interrupted,
    Judged,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.internal_errors import InternalError
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.spec.profiles import load_profile
from tests.contract.distributed.conftest import Bench, Here, MakeBench, options


class Losing(Here):
    """Lose the tasks of these numbers; the others end once the driver knows."""

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
        """Let the others end now that the driver asks."""
        while self._late:
            shown, future = self._late.pop()
            shown.set_result(future.result())
        return 0


def test_run_has_more_tasks_than_run_in_parallel(bench: MakeBench) -> None:
    """A slow task then delays the run less."""
    made, here = bench(clauses=("capabilities.unknown",)), Here(2)
    result = made.parts(0, here)
    assert result.counts["tasks"] == len(here.descriptions) == 8
    assert here.descriptions[2] == snapshot("fscontract check memory: part 3 of 8")


def test_events_are_those_of_a_run_with_tasks_as_progress(bench: MakeBench) -> None:
    made = bench(clauses=("capabilities.unknown",))
    result = made.parts(3)
    kinds = [type(event) for event in made.events]
    assert kinds[:2] == [RunStarted, PhaseStarted]
    assert kinds[-2:] == [Judged, RunFinished]
    progress = [event for event in made.events if isinstance(event, Progress)]
    assert (progress[-1].done, progress[-1].total, progress[-1].unit) == (3, 3, "task")
    assert progress[-1].operations == result.counts["operations"] > 0


@pytest.mark.parametrize(
    ("target", "outcome"), [("mutated.py:Far", Verdict.KNOWN), ("memory", Verdict.FIXED)]
)
def test_program_of_a_known_failure_that_no_shard_saw_is_run(
    bench: MakeBench, target: str, outcome: Verdict
) -> None:
    made = bench(target=target, clauses=("read-byte.value",))
    reads_far = Program(54_331, (Step("seek", (54_321,)), Step("read_byte")))
    signature = "read_byte: returned wrong byte; beyond the first buffer; away from the start"
    known = (Known("read-byte.value", "as ever", signature, program=reads_far),)
    made.settings = replace(made.settings, known=known)
    result = made.parts(2)
    (found,) = (c for c in result.clauses if c.clause.id == "read-byte.value")
    assert (found.outcome, result.counts["tasks"]) == (outcome, 3)


def test_program_of_a_known_failure_that_a_shard_saw_is_not_run(bench: MakeBench) -> None:
    made = bench("seek.negative-NegativeIsZero", clauses=("seek.negative",))
    entry = Known("seek.negative", "as ever", "seek: returned", program=Program(5, ()))
    made.settings = replace(made.settings, known=(entry,))
    result = made.parts(2)
    assert (result.clauses[0].outcome, result.counts["tasks"]) == (Verdict.KNOWN, 2)


def test_lost_task_ends_a_run_without_violations(bench: MakeBench) -> None:
    there = Losing(range(1, 2))
    with pytest.raises(TargetError) as caught:
        bench(clauses=("capabilities.unknown",)).parts(3, there)
    assert there.cancelled
    assert str(caught.value) == snapshot("memory: part 2 of 3: the worker was killed")


def test_violations_count_without_the_lost_tasks(bench: MakeBench) -> None:
    """The other clauses have no verdict."""
    made = bench("seek.negative-NegativeIsZero", clauses=("seek",))
    result = made.parts(7, Losing(range(6, 7)))
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes.pop("seek.negative") is Verdict.FAIL
    assert set(outcomes.values()) <= {Verdict.ERROR, Verdict.UNDECLARED}
    assert any("part 7 of 7" in warning for warning in result.warnings)


def test_interrupted_run_reports_its_violations_and_cancels_its_tasks(bench: MakeBench) -> None:

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


def test_target_that_a_task_can_not_make_is_one_line_without_secrets(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(target="mutated.py:token", options={"token": "hunter22"})
    resolver = "tests.contract.distributed.conftest.resolve_target"
    monkeypatch.setattr(resolver, lambda *_: bench_binding())
    with pytest.raises(TargetError) as caught:
        made.parts(2)
    text = str(caught.value)
    assert "\n" not in text
    assert "hunter22" not in text
    folder = made.target.rpartition("/")[0]
    message = text.replace(socket.gethostname(), "HOST").replace(folder, "DIR")
    assert re.sub(r":\d+\)", ":LINE)", message) == snapshot(
        "DIR/mutated.py:token: OSError: no way in with *** (DIR/mutated.py:LINE) (in a "
        "task of this process on HOST)"
    )


def bench_binding() -> object:
    """Return a binding that can be made here."""
    from fscontract.contract.targets import resolve_target as resolve

    return resolve("memory", {})


def test_internal_error_of_a_task_has_its_traceback(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fscontract.contract.runner import runner

    monkeypatch.setattr(runner, "gather", lambda *_: 1 // 0)
    with pytest.raises(InternalError, match="ZeroDivisionError") as raised:
        bench(clauses=("capabilities.unknown",)).parts(1)
    assert "Traceback" in raised.value.fault.trace


def test_search_is_a_last_task_that_gets_the_failed_clauses(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_target_that_hangs_often_is_run_again_in_one_task(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process ends phases after a number of hangs, and shards would show more."""
    monkeypatch.setattr(crashes, "MOST_HANGS", 2)
    made = bench(target="mutated.py:Hanging", clauses=("skip",), timeout=0.5)
    here = Here()
    whole, parts = made.whole(), made.parts(2, here)
    descriptions = [text.replace(made.target, "TARGET") for text in here.descriptions[2:]]
    assert descriptions == snapshot(["fscontract check TARGET: part 1 of 1"])
    assert [c.outcome for c in parts.clauses] == [c.outcome for c in whole.clauses]
    assert Verdict.HANG in {c.outcome for c in parts.clauses}


# verdicts --------------------------------------------------------------------------------

#: Names of files, which are other ones in each run.
_PATHS = re.compile(r"/fscontract-[\w-]+/\w+")
#: Mutants, and the clauses that are looked at: threads, misses, files that change, opens, Python.
MUTANTS = [
    ("seek.negative-NegativeIsZero", ("seek", "read-byte")),
    ("pread.full-PreadHalf", ("pread.full", "read-fully")),
    ("pread.isolation-SeekReadSeek", ("pread.isolation", "pread.serializable", "pread.buffers")),
    ("consistency.length-EndsWhenChanged", ("consistency", "read-into.eof")),
    ("open.std-must-ok-DemandsFailLater", ("open.std-must-ok", "open.failure-stage")),
    ("python.tell.stays-TellMoves", ("python.tell", "python.seek")),
    ("open.cost-unread-ReadsAtOnce", ("open.cost-*",)),
]


def verdicts(result: RunResult) -> dict[str, tuple[Any, ...]]:
    """Return the verdict of each clause, with counterexample and reason."""
    return {
        c.clause.id: (
            c.outcome,
            _PATHS.sub("...", str(c.counterexample)),
            c.reason,
            c.exercised > 0,
        )
        for c in result.clauses
    }


@pytest.mark.parametrize(
    ("mutant", "clauses", "counts"),
    [(*mutant, (3,) if number else (1, 3, 7)) for number, mutant in enumerate(MUTANTS)],
    ids=[name for name, _ in MUTANTS],
)
def test_mutant_has_the_same_counterexamples_in_any_number_of_shards(
    mutant: str, clauses: tuple[str, ...], counts: tuple[int, ...], bench: MakeBench
) -> None:
    made = bench(mutant, clauses=clauses)
    whole = made.whole()
    assert {c.outcome for c in whole.clauses} & {Verdict.FAIL, Verdict.LAX}
    bad = {c.clause.id for c in whole.clauses if c.outcome is Verdict.FAIL}
    for count in counts:
        assert verdicts(made.parts(count)) == verdicts(whole)
        assert {e.clause for e in made.events if isinstance(e, ViolationFound)} >= bad
        made.events.clear()


def test_conforming_target_conforms_in_shards(bench: MakeBench) -> None:
    made = bench()
    whole = made.whole()
    assert whole.conforms
    assert verdicts(made.parts(3)) == verdicts(whole)


@pytest.mark.deep
@pytest.mark.parametrize("count", [1, 3, 7])
def test_run_of_all_programs_has_the_same_verdicts_in_shards(count: int) -> None:
    made = Bench("memory", options(), load_profile("reference"))
    assert verdicts(made.parts(count)) == verdicts(made.whole())
