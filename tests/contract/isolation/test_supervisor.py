"""Isolated runs: the result of another process, and targets that can't be set up.

Targets that end their process are in `tests/end_to_end/test_ends.py`.
"""

from __future__ import annotations

import json
import math
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.isolation import supervisor
from fscontract.contract.isolation.process import Process, Quiet
from fscontract.contract.isolation.supervisor import Isolated
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner import crashes
from fscontract.contract.runner.events import Event, RunFinished, RunStarted, ViolationFound
from fscontract.contract.runner.replay import replay
from fscontract.contract.runner.result import VIOLATED, RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.time_budget import TimeBudget
from fscontract.contract.spec import known_failures
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import UsageError, resolve_target
from tests.contract.isolation.seeking_targets import TARGETS

_DEADLY_PART = """\
import os
from fscontract.pipeline.splitter.binding import LocalSplitterBinding


def deadly():
    binding = LocalSplitterBinding()
    binding.finding = lambda *arguments: os._exit(7)
    return binding
"""
#: On Python 3.12 and later, if other tests left threads that Python does not know.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
RUN = RunOptions(None, (), ("seek.negative",), "all", "quick", None, 0, 10.0, {}, None, None)


@pytest.fixture
def targets(tmp_path: Path) -> str:
    """Return the path of a file of targets."""
    path = tmp_path / "targets.py"
    path.write_text(TARGETS)
    return str(path)


def run(
    target: str, *known: Known, events: list[Event] | None = None, forks: bool = True
) -> RunResult:
    """Return the result of an isolated run.

    Processes are forked if possible, as for the command: each takes a tenth of the CPU time.
    """
    with closing(Isolated(target, replace(RUN), known, forks)) as isolated:
        return isolated.check((events if events is not None else []).append)


def test_traceback_of_a_target_comes_from_its_process(targets: str) -> None:
    """With the frames of the target and the line of its source."""
    example = run(f"{targets}:raising").counterexamples["seek.negative"]
    assert example.traceback[-2:] == (
        '  return super().seek(position) if position >= 0 else {}["position"]',
        "KeyError: 'position'",
    )


@pytest.mark.parametrize("forks", [False, True])
def test_conforming_target_passes_in_another_process(forks: bool) -> None:
    events: list[Event] = []
    result = run("memory", events=events, forks=forks)
    assert [c.outcome for c in result.clauses] == [Verdict.PASS]
    assert (result.conforms, result.target) == (True, "memory")
    assert isinstance(events[0], RunStarted)
    assert events[-1] == RunFinished(result)


def test_violation_is_reported_as_an_event_and_as_a_verdict(targets: str) -> None:
    events: list[Event] = []
    (clause,) = run(f"{targets}:lenient", events=events).clauses
    assert clause.outcome is Verdict.FAIL
    assert [e.clause for e in events if isinstance(e, ViolationFound)] == ["seek.negative"]


def test_known_failure_is_known_in_another_process(targets: str) -> None:
    (clause,) = run(f"{targets}:lenient").clauses
    assert clause.counterexample is not None
    known = Known("seek.negative", "as in Java", clause.counterexample.signature)
    assert run(f"{targets}:lenient", known).clauses[0].outcome is Verdict.KNOWN


def test_call_that_ends_the_process_is_a_crash_with_its_shortest_program(targets: str) -> None:
    (clause,) = run(f"{targets}:deadly").clauses
    assert clause.outcome is Verdict.CRASH
    assert clause.counterexample is not None
    assert clause.counterexample.program is not None
    assert [step.op for step in clause.counterexample.program.steps] == ["seek"]


def run_both(target: str, timeout: float = 10.0) -> RunResult:
    """Check seek() and unbuffer(), of which one may change what the other does."""
    options = replace(RUN, clauses=("seek.negative", "unbuffer.pos"), timeout=timeout)
    with closing(Isolated(target, options, (), forks=True)) as isolated:
        return isolated.check(lambda event: None)


@pytest.mark.parametrize("target", ["blocking", "swallowing"])
def test_process_whose_target_a_call_blocks_is_replaced_by_one_without_the_call(
    targets: str, target: str
) -> None:
    """All reads wait for its lock, or for the processor."""
    clauses = ("seek.negative", "skip.progress", "skip.count", "read-byte.*")
    options = replace(RUN, clauses=clauses, timeout=1.0, budget=30.0)
    started: list[int] = []
    with closing(Isolated(f"{targets}:{target}", options, (), forks=True)) as isolated:
        start = isolated._go_on_without
        isolated._go_on_without = lambda: (started.append(len(isolated._blocked_by)), start())  # type: ignore
        result = isolated.check(lambda event: None)
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    failing = {clause: outcome for clause, outcome in outcomes.items() if outcome in VIOLATED}
    assert failing == {"seek.negative": Verdict.FAIL, "skip.progress": Verdict.HANG}
    assert outcomes["read-byte.value"] is Verdict.PASS
    assert started == [1]
    assert result.counts["hangs"] == 1


@pytest.fixture
def ended(targets: str, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """The result of a run whose process ends outside any program."""
    monkeypatch.setattr(Isolated, "_crash", lambda *args: None)
    return run(f"{targets}:deadly_if_long")


def test_violations_are_kept_when_a_process_ends_outside_any_program(ended: RunResult) -> None:
    assert ended.incomplete.endswith(", outside any program")
    assert ended.counterexamples.keys() == {"seek.negative"}


def test_the_seconds_of_a_process_that_ended_count(ended: RunResult) -> None:
    assert ended.seconds > 0


@pytest.mark.all_programs
def test_results_of_a_process_that_crashed_are_kept_if_the_next_one_has_no_time(
    targets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(RUN, clauses=("seek.negative", "unbuffer.*"), budget=math.inf)
    monkeypatch.setattr(
        Isolated, "_options", lambda one: replace(options, budget=0.0 if one._crashes else math.inf)
    )
    with closing(Isolated(f"{targets}:deadly_if_long", options, ())) as isolated:
        result = isolated.check(lambda event: None)
    assert result.cut_short
    judged = {judged.clause.id: judged for judged in result.clauses}
    assert judged["unbuffer.pos"].outcome is Verdict.PASS
    assert judged["seek.negative"].outcome is Verdict.CRASH
    assert {failure.how for failure in judged["seek.negative"].counterexamples} == {
        "seek: crash",
        "seek: returned",
    }


@pytest.mark.parametrize(("seconds", "left"), [(5.0, 55.0), (50.0, 45.0)])
def test_set_up_is_part_of_the_budget_up_to_a_quarter(
    seconds: float, left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[float] = []

    def budget(seconds: float = math.inf) -> TimeBudget:
        budgets.append(seconds)
        return TimeBudget(seconds)

    with closing(Isolated("memory", replace(RUN, budget=60.0), ())) as target:
        target.set_up()
        monkeypatch.setattr(target, "_setting_up", seconds)
        monkeypatch.setattr(supervisor, "TimeBudget", budget)
        result = target.check(lambda event: None)
    assert budgets[0] == left
    assert result.conforms


def test_process_may_be_silent_until_shortly_after_the_end_of_its_budget() -> None:
    """A hang outside of calls has no other limit than that of a run without budget."""
    with closing(Isolated("memory", replace(RUN, timeout=100.0), ())) as isolated:
        unlimited = isolated._silence()
        for seconds, grace in ((0.0, 5.0), (60.0, 6.0), (600.0, 20.0)):
            isolated._time = TimeBudget(seconds)
            isolated._time.extend(-seconds)
            assert isolated._silence() == grace
        isolated._time = TimeBudget(math.inf)
        assert isolated._silence() == unlimited == 730.0


@pytest.mark.parametrize(("to", "again"), [(-1, True), (1, False)])
def test_program_hangs_again_also_if_its_process_continues(
    targets: str, to: int, again: bool
) -> None:
    """The process interrupts the call, and ends as usual."""
    program = Program(5, (Step("seek", (to,)),))
    crash = crashes.Crash(
        "seek.negative", crashes.ended(program, 0, "ends", "silent", "hang"), hung=True
    )
    with closing(Isolated(f"{targets}:stuck", replace(RUN, timeout=0.2), ())) as isolated:
        isolated.set_up()
        isolated._process.end()
        assert isolated._hangs_again(crash) is again


def test_process_that_removes_nothing_is_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It hangs: a time to end normally would be lost."""
    waited: list[tuple[float, ...]] = []
    with closing(Isolated("memory", RUN, ())) as isolated:
        isolated.set_up()
        isolated._process.end()
        isolated._prefixes = ["left"]
        end = Process.end

        def noted(process: Process, *patience: float) -> str:
            waited.append(patience)
            return end(process, 0)

        def listen(*_: object) -> str:
            raise Quiet

        monkeypatch.setattr(isolated, "_listen_to_end", listen)
        monkeypatch.setattr(Process, "end", noted)
        isolated._clear_away()
        assert waited == [(0,)]


def test_programs_after_one_that_hangs_have_no_verdict(targets: str) -> None:
    with closing(Isolated(f"{targets}:stuck", replace(RUN, timeout=0.2), ())) as isolated:
        isolated.set_up()
        isolated._process.end()
        hangs, returns = (Program(5, (Step("seek", (to,)),)) for to in (-1, 1))
        assert isolated._judged_apart([returns, hangs, returns]) == [
            [],
            ["no verdict"],
            ["no verdict"],
        ]


def test_scenario_that_ends_its_process_has_a_replay_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.py").write_text(_DEADLY_PART)
    options = replace(RUN, clauses=("split.scan-first",))
    with closing(Isolated("parts.py:deadly", options, ())) as isolated:
        (clause,) = isolated.check(lambda event: None).clauses
    assert clause.outcome is Verdict.CRASH
    assert clause.counterexample is not None
    assert clause.counterexample.replay is not None
    written = json.loads(Path(clause.counterexample.replay).read_text())
    assert (written["clause"], written["scenario"]) == ("split.scan-first", "first")


def test_failure_of_shared_state_has_the_programs_that_it_needs_before_its_own(
    targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So its replay file fails in a process that runs nothing else."""
    monkeypatch.chdir(tmp_path)
    failure = run_both(f"{targets}:sharing").counterexamples["seek.negative"]
    assert "unbuffer" in {step.op for program in failure.before for step in program.steps}
    assert "f.unbuffer()" in failure.script
    assert failure.replay is not None
    written = json.loads(Path(failure.replay).read_text())
    assert written["before"] == [program.to_json() for program in failure.before]


def test_failure_that_comes_and_goes_is_intermittent_and_needs_no_other_program(
    targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So its script and its replay repeat it until it fails."""
    monkeypatch.chdir(tmp_path)
    result = run_both(f"{targets}:alternating")
    failure = result.counterexamples["seek.negative"]
    assert failure.intermittent
    assert not failure.before
    assert "while right and next(runs, False):" in failure.script
    assert failure.replay is not None
    data = json.loads(Path(failure.replay).read_text())
    assert data["intermittent"]
    again = replay(resolve_target(f"{targets}:alternating", {}), data, load_profile("default"))
    assert again.outcome == "still fails"
    assert known_failures.failures(result, "")[0].intermittent


def test_further_failures_of_shared_state_have_the_programs_that_they_need(
    targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So have those beyond the few of a clause that are always tried."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(supervisor, "_MAX_TRIED", 1)
    result = run_both(f"{targets}:sharing_two_ways")
    (failures,) = (c.counterexamples for c in result.clauses if c.clause.id == "seek.negative")
    assert len(failures) > 1
    assert all("f.unbuffer()" in failure.script for failure in failures)


@pytest.mark.parametrize(
    ("trying", "reason"), [(0.0, "no time was left"), (math.inf, "did not fail again")]
)
def test_failure_that_does_not_come_again_has_the_reason_instead_of_a_script(
    targets: str, trying: float, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`trying` are the seconds that are left after the search for the programs that it needs."""
    monkeypatch.chdir(tmp_path)
    budgets: list[TimeBudget] = []

    def budget(seconds: float) -> TimeBudget:
        budgets.append(TimeBudget(seconds))
        return budgets[-1]

    def search(*about: object) -> None:
        budgets[-1].extend(trying - budgets[-1].left)
        if not trying:  # another run in this directory removes them
            shutil.rmtree(".fscontract", ignore_errors=True)

    monkeypatch.setattr(supervisor, "TimeBudget", budget)
    monkeypatch.setattr(supervisor, "needed_before", search)
    result = run_both(f"{targets}:sharing")
    failure = result.counterexamples["seek.negative"]
    assert not failure.script
    assert reason in failure.no_script
    assert [entry.intermittent for entry in known_failures.failures(result, "")] == [True]
    assert any("failed in the run only" in warning for warning in result.warnings)


def test_hang_of_shared_state_has_the_programs_that_it_needs_before_its_own(
    targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_both(f"{targets}:stuck_once_shared", timeout=0.2)
    failure = result.counterexamples["seek.negative"]
    assert failure.hangs
    assert "unbuffer" in {step.op for program in failure.before for step in program.steps}


def test_hang_that_does_not_come_again_in_a_new_process_is_intermittent(
    targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(supervisor, "needed_before", lambda *about: None)
    result = run_both(f"{targets}:stuck_once_shared", timeout=0.2)
    failure = result.counterexamples["seek.negative"]
    assert (failure.hangs, failure.intermittent) == (True, True)
    assert any("failed in the run only" in warning for warning in result.warnings)


@pytest.mark.parametrize(("left", "is_tried"), [(0.0, True), (-2.0, False)])
def test_hang_that_passes_alone_after_the_end_of_the_budget_is_intermittent(
    left: float, is_tried: bool, targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not tried long after that: a call may hang, and removal."""
    monkeypatch.chdir(tmp_path)
    try_again = Isolated._with_earlier_programs

    def late(isolated: Isolated, result: RunResult) -> RunResult:
        isolated._time = TimeBudget(left)
        return try_again(isolated, result)

    monkeypatch.setattr(Isolated, "_with_earlier_programs", late)
    result = run_both(f"{targets}:stuck_once_shared", timeout=0.2)
    failure = result.counterexamples["seek.negative"]
    assert (failure.hangs, failure.intermittent) == (True, is_tried)
    assert any("no time was left to find" in w for w in result.warnings) is is_tried


def test_unknown_target_raises_usage_error() -> None:
    with closing(Isolated("nosuch", RUN, ())) as isolated, pytest.raises(UsageError):
        isolated.set_up()


def test_target_that_ends_the_process_during_set_up_raises_target_error(targets: str) -> None:
    with (
        closing(Isolated(f"{targets}:nothing", RUN, ())) as isolated,
        pytest.raises(TargetError, match="during set-up"),
    ):
        isolated.set_up()


def test_kind_of_target_is_known_after_set_up() -> None:
    with closing(Isolated("splitter", RUN, ())) as isolated:
        isolated.set_up()
        assert isolated.apis == {"splitter"}
