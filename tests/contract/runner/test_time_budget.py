"""A run ends within its budget, with a verdict on what it has done."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract import clock
from fscontract.contract.generate import open_programs
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner import runner
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.execution import Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.phases import Phase
from fscontract.contract.runner.program_check import check_program
from fscontract.contract.runner.result import OUT_OF_TIME, VIOLATED, RunResult, RunVerdict, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.runner.time_budget import WEIGHTS, HangTime, PhaseTimes, TimeBudget
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.fsspec_adapter import MemoryFsspec
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import MakeExecutor, binding_of, settings_for


class Time:
    """The time of a run, which passes only when a call of the target says so."""

    def __init__(self) -> None:
        self.now = 0.0


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The clock of budgets; that of the watchdog is another one."""
    made = Time()
    monkeypatch.setattr(clock, "monotonic", lambda: made.now)
    return made


def slow(time: Time, seconds: float, beyond: int = -1) -> type[MemoryInputStream]:
    """Return streams whose calls take some time each; seek(-1) is accepted if `beyond` is 0."""

    def slowly(name: str) -> Any:
        call = getattr(MemoryInputStream, name)

        def slow_call(self: MemoryInputStream, *args: Any) -> Any:
            time.now += seconds
            return call(self, *args)

        return slow_call

    class Slow(MemoryInputStream):
        read_byte = slowly("read_byte")
        read_into = slowly("read_into")
        pread = slowly("pread")
        get_pos = slowly("get_pos")

        def seek(self, position: int) -> None:
            time.now += seconds
            super().seek(max(position, beyond))

    return Slow


def run(kind: type[MemoryInputStream], budget: float, *chosen: str, **more: Any) -> RunResult:
    """Check without Python's protocol, one call of which makes thousands of the stream's."""
    settings = settings_for(*chosen, budget=budget, **more)
    features = settings.profile.features - {"python-file"}
    return check(
        binding_of(kind), replace(settings, profile=replace(settings.profile, features=features))
    )


# Budgets -------------------------------------------------------------------------------------


def test_a_budget_is_over_when_its_seconds_have_passed(time: Time) -> None:
    budget = TimeBudget(10.0)
    time.now = 9.0
    assert (budget.left, budget.is_over) == (1.0, False)
    time.now = 11.0
    assert (budget.left, budget.is_over, budget.spent) == (0.0, True, 11.0)


def test_a_budget_without_seconds_is_never_over(time: Time) -> None:
    budget = TimeBudget()
    time.now = 1e9
    assert (budget.left, budget.is_over) == (math.inf, False)
    assert budget.part(0.1).left == math.inf


def test_phases_share_the_time_by_their_weights(time: Time) -> None:
    times, whole = PhaseTimes(100.0, 10.0), sum(WEIGHTS.values())
    times.begin("vectors")
    assert times.phase.left == pytest.approx(100.0 * WEIGHTS["vectors"] / whole)


def test_no_time_is_kept_for_phases_that_do_not_come(time: Time) -> None:
    times = PhaseTimes(100.0, 10.0)
    times.leave_out(WEIGHTS.keys() - {"sizes", "ranges", "concurrency"})
    assert WEIGHTS["sizes"] == WEIGHTS["ranges"]
    times.begin("sizes")
    part = WEIGHTS["sizes"] / (2 * WEIGHTS["sizes"] + WEIGHTS["concurrency"])
    assert times.phase.left == pytest.approx(100.0 * part)
    times.begin("ranges")
    times.begin("concurrency")
    assert times.phase.left == pytest.approx(100.0)


def test_time_that_a_phase_leaves_is_for_the_others(time: Time) -> None:
    times = PhaseTimes(100.0, 10.0)
    for phase in list(WEIGHTS)[:-1]:
        times.begin(phase)
    times.begin(list(WEIGHTS)[-1])
    assert times.phase.left == pytest.approx(100.0)


def test_no_phase_but_that_of_known_failures_may_take_all_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(PhaseTimes, "begin", lambda self, phase: begun.append(phase))
    check(binding_of(), settings_for("seek.pos", "open.missing", "consistency.either"))
    assert {"exhaustive", "buffers", "filesystem", "ranges", "changes", "paths"} <= set(begun)
    assert set(begun) - {"observe"} <= WEIGHTS.keys()


def test_shrinking_takes_no_time_of_its_phase(time: Time) -> None:
    times = PhaseTimes(100.0, 10.0)
    times.begin("vectors")
    before = times.phase.left
    shrinking = times.begin_shrinking()
    assert shrinking.left == pytest.approx(10.0)
    time.now += 8.0
    times.end_shrinking(shrinking)
    assert times.phase.left == pytest.approx(before)


def test_shrinking_takes_time_of_a_phase_that_was_cut_short(time: Time) -> None:
    """The next ones, of which the threads are the last, would have nothing left."""
    times = PhaseTimes(100.0, 10.0)
    times.begin("sizes")
    times.resume(["sizes", "concurrency"])
    before = times.phase.left
    shrinking = times.begin_shrinking()
    time.now += 8.0
    times.end_shrinking(shrinking)
    assert times.phase.left == pytest.approx(before - 8.0)


def test_clauses_that_have_failed_are_not_shrunk_for_after_half_of_the_time(time: Time) -> None:
    times = PhaseTimes(100.0, 10.0)
    shrinking = times.begin_shrinking()
    time.now += 51.0
    assert times.may_shrink
    times.end_shrinking(shrinking)
    assert not times.may_shrink


def test_calls_that_hang_get_less_time_each() -> None:
    hangs = HangTime(60.0, 10.0)
    limits = []
    while not hangs.is_spent:
        limits.append(hangs.limit())
        hangs.spend(hangs.limit())
    assert limits[0] == 3.75
    assert limits == sorted(limits, reverse=True)
    assert sum(limits) < 17.0


def test_calls_that_hang_take_at_most_half_of_a_short_run() -> None:
    hangs = HangTime(8.0, 10.0)
    while not hangs.is_spent:
        assert hangs.limit() == 1.0
        hangs.spend(hangs.limit())
    assert hangs.limit(again=True) == 3.75  # a slow call is none


def test_a_call_hangs_only_if_it_takes_much_longer_than_the_slowest_so_far() -> None:
    hangs = HangTime(60.0, 10.0)
    for _ in range(2):
        hangs.note(seconds=0.8, calls=2)
    assert hangs.limit() == 8.0
    for _ in range(2):
        hangs.note(seconds=4.0, calls=2)
    assert hangs.limit() == 10.0


def test_a_call_that_is_slow_once_gives_later_ones_no_more_time() -> None:
    """As the first one that needs a library, which is imported then."""
    hangs = HangTime(60.0, 10.0)
    hangs.note(seconds=2.4, calls=2)
    assert hangs.limit() == 3.75
    hangs.note(seconds=0.2, calls=2)
    assert hangs.limit() == 3.75


def test_a_call_where_others_hang_gets_less_time_unless_all_calls_are_slow() -> None:
    hangs = HangTime(60.0, 10.0)
    limit = partial(hangs.limit, where_others_hang=True)
    assert limit() == limit(again=True) == 0.25
    assert limit(3 << 20) == 0.25 + 6
    for _ in range(2):
        hangs.note(seconds=0.4, calls=2)
    assert limit() == 1.0
    for _ in range(2):
        hangs.note(seconds=8.0, calls=2)
    assert limit() == 8.0


def test_a_call_where_others_hang_gets_the_least_when_the_time_for_hangs_is_spent() -> None:
    hangs = HangTime(60.0, 10.0)
    hangs.spend(15.0)
    assert hangs.limit(3 << 20, where_others_hang=True) == 0.25
    for _ in range(2):
        hangs.note(seconds=0.8, calls=2)
    assert hangs.limit(3 << 20, where_others_hang=True) == 0.4


def test_a_call_on_a_large_file_may_take_longer() -> None:
    hangs = HangTime(60.0, 10.0)
    assert hangs.limit(3 << 20) == 3.75 + 6
    assert hangs.limit(1 << 30) == 10.0


def test_a_call_on_a_file_of_slow_requests_may_make_one_for_each_byte() -> None:
    hangs = HangTime(60.0, 10.0)
    hangs.note(0.1, 100)
    assert hangs.limit(1000) == pytest.approx(3.75 + 1)
    assert hangs.limit(10_000) == 10.0


def test_a_request_for_each_byte_of_a_file_fits_half_of_the_timeout() -> None:
    hangs = HangTime(60.0, 10.0)
    assert hangs.bytes_in_time == math.inf
    hangs.note(0.1, 100)
    assert hangs.bytes_in_time == pytest.approx(5_000)


# Runs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0.001, 0.005, 0.05, 0.5])
def test_a_target_gets_a_verdict_in_time_however_long_a_call_takes(
    time: Time, seconds: float
) -> None:
    result = run(slow(time, seconds), 60.0)
    assert time.now <= 66.0
    assert result.verdict is RunVerdict.CONFORMS


def test_the_time_to_remove_the_files_is_kept(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    binding, files = binding_of(slow(time, 0.01)), count()
    create = binding.create

    def slowly(content: bytes) -> str:
        next(files)
        time.now += 2.0
        return create(content)

    monkeypatch.setattr(binding, "create", slowly)
    check(binding, settings_for("seek.pos", "read-into.data", budget=30.0))
    assert time.now + 2.0 * (next(files)) <= 33.0


@pytest.mark.parametrize("seconds", [0.001, 0.05, 0.5])
def test_a_violation_of_a_slow_target_is_found_in_time(time: Time, seconds: float) -> None:
    result = run(
        slow(time, seconds, beyond=0), 60.0, "seek.negative", "seek.pos", "read-byte.value"
    )
    assert time.now <= 66.0
    assert {c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL} == {"seek.negative"}


@pytest.fixture
def behind(time: Time, executor: MakeExecutor) -> tuple[Executor, Violation]:
    """Slow streams that seek too far, and the failure of a read after a seek."""

    class Behind(MemoryInputStream):
        def seek(self, position: int) -> None:
            time.now += 2.0
            super().seek(position + 1)

    running = executor(Behind)
    program = Program(300, (Step("get_pos"), Step("seek", (2,)), Step("read_byte")))
    violation = running.run(program).violation
    assert violation is not None
    return running, violation


@pytest.mark.parametrize("seconds", [0.0, math.inf])
def test_a_failure_without_time_is_charged_to_the_call_that_shows_it(
    seconds: float, behind: tuple[Executor, Violation]
) -> None:
    """With time, to the seek before."""
    running, violation = behind
    found = ShrinkingCounterexamples(running, frozenset(clauses()), PhaseTimes(seconds))
    expected = "seek.pos" if seconds else "read-byte.value"
    assert found.violation(violation) == expected
    (failures,) = found.failed.values()
    assert [failure.unshrunk for failure in failures.values()] == [not seconds]


def test_a_later_failure_or_a_missed_should_without_time_is_none(
    behind: tuple[Executor, Violation],
) -> None:
    """The first failure of its program may be the cause of it."""
    running, violation = behind
    found = ShrinkingCounterexamples(running, frozenset(clauses()), PhaseTimes(0.0))
    assert found.violation(violation, later=True) is None
    assert found.miss(replace(violation, missed=True)) is None
    assert not found.broken


#: The methods of Python's files that a slow file has, with a wrong result of each.
_WRONG: dict[str, Callable[[Any], Any]] = {
    "read": lambda data: data[:-1] + b"?" if data else data,
    "read1": lambda data: data[:-1] + b"?" if data else data,
    "readline": lambda data: data[:-1] + b"?" if data else data,
    "readlines": lambda lines: lines[:-1],
    "__next__": lambda data: data + b"?",
    "tell": lambda position: position + 1 if position > 2 else position,
    "seek": lambda position: position + 1 if position > 2 else position,
}


@pytest.mark.parametrize("wrong", _WRONG)
def test_wrong_results_of_any_call_of_a_slow_file_are_found_in_time(
    time: Time, wrong: str, tmp_path: Path
) -> None:
    """Each call takes half a second of the minute, and to find the one at fault takes many."""

    def slowly(name: str) -> Any:
        call = getattr(io.BytesIO, name)

        def slow_call(self: io.BytesIO, *args: Any) -> Any:
            time.now += 0.5
            result = call(self, *args)
            return _WRONG[wrong](result) if name == wrong else result

        return slow_call

    methods = {name: slowly(name) for name in (*_WRONG, "readinto")}
    file = type("Slow", (io.BytesIO,), methods)
    binding = PythonFileBinding(lambda path: file(Path(path).read_bytes()), str(tmp_path))
    chosen = with_checks([*clauses().values()])
    result = check(binding, Settings(load_profile("python-file"), chosen, budget=60.0))
    assert time.now <= 66.0
    assert [c.clause.id for c in result.clauses if c.outcome in VIOLATED]


def test_a_run_that_is_out_of_time_says_which_programs_it_left_out(time: Time) -> None:
    result = run(slow(time, 0.5), 60.0)
    shares = {share.phase: share for share in result.cut_short}
    vectors = shares["vectors"]
    assert vectors.total is not None
    assert 0 < vectors.done < vectors.total
    unreached = {c.reason for c in result.clauses if c.outcome is Verdict.UNEXERCISED}
    assert OUT_OF_TIME in unreached


def test_a_lost_call_leaves_clauses_of_other_calls_out_of_time(time: Time) -> None:
    class Loses(slow(time, 0.5)):  # type: ignore[misc]
        """Never answers a skip."""

        def skip(self, count: int) -> int:
            raise ConnectionError("gone")

    result = run(Loses, 60.0)
    outcomes = {c.clause.id: (c.outcome, c.reason) for c in result.clauses}
    assert outcomes["skip.advance"] == (Verdict.ERROR, "calls failed with connection errors")
    assert outcomes["unbuffer.release"] == (Verdict.UNEXERCISED, OUT_OF_TIME)
    assert result.verdict is RunVerdict.INCOMPLETE


@pytest.mark.parametrize("seconds", [0.005, 0.05])
def test_no_phase_of_a_slow_store_runs_nothing(time: Time, seconds: float) -> None:
    binding = binding_of(slow(time, seconds))
    binding.remote = True
    result = check(binding, settings_for(budget=60.0))
    assert [share.phase for share in result.cut_short if not share.done] == []


def test_a_run_with_enough_time_leaves_nothing_out(time: Time) -> None:
    result = run(slow(time, 1e-6), 60.0, "seek.pos")
    assert result.cut_short == ()
    assert "cut_short" not in result.to_dict()


def test_a_run_in_less_time_than_it_needs_runs_the_same_programs_first(time: Time) -> None:
    """What is cut short continues in the time that other phases leave."""
    enough, counts = run(slow(time, 0.001), math.inf, "seek.pos"), []
    needed = time.now
    for part in (1.05, 0.5):
        time.now = 0.0
        counts.append(run(slow(time, 0.001), needed * part, "seek.pos").counts["programs"])
    assert counts[0] == enough.counts["programs"]
    assert counts[1] < counts[0]


def test_a_known_failure_is_not_fixed_in_a_run_that_is_out_of_time(time: Time) -> None:
    known = Known(clause="seek.pos", reason="as ever", signature="seek: returned too early")
    cut = run(slow(time, 0.5), 20.0, "seek.pos", known=(known,))
    (of_cut,) = cut.clauses
    assert of_cut.outcome is Verdict.PASS
    time.now = 0.0
    (of_whole,) = run(slow(time, 0.0), 20.0, "seek.pos", known=(known,)).clauses
    assert of_whole.outcome is Verdict.FIXED


class SlowOpens(MemoryInputStream):
    """Reads at the end of a large file take very long."""

    time: Time

    def read_into(self, buffer: Any, offset: int = 0, length: int | None = None) -> int:
        self.time.now += 0.5 if self._size > 100_000 else 1e-4
        return super().read_into(buffer, offset, length)


@pytest.mark.all_programs
def test_a_phase_of_slower_calls_than_before_ends_in_time(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pace of all calls so far would be that of thousands of reads of small files."""
    monkeypatch.setattr(SlowOpens, "time", time, raising=False)
    result = run(SlowOpens, 60.0, "read-into.data")
    assert result.seconds < 75
    assert "sizes" in {share.phase for share in result.cut_short}


@pytest.mark.all_programs
def test_a_call_that_stalls_once_leaves_time_for_all_phases(time: Time) -> None:
    """A pause of the machine in one phase says nothing about the calls of the others."""
    stalled: list[MemoryInputStream] = []

    class Stalls(MemoryInputStream):
        def read_into(self, buffer: Any, offset: int = 0, length: int | None = None) -> int:
            if self._size > 100_000 and not stalled:
                stalled.append(self)
                time.now += 45.0
            return super().read_into(buffer, offset, length)

    result = run(Stalls, 60.0, "read-into.data")
    assert stalled
    assert result.cut_short == ()


@pytest.mark.parametrize("effort", ["normal", "deep"])
def test_a_run_of_a_higher_effort_ends_in_time(time: Time, effort: str) -> None:
    """Its search by Hypothesis, too, which reports how many programs it tried."""
    result = run(slow(time, 0.05), 20.0, "seek.pos", effort=effort)
    assert time.now <= 22.0
    assert result.verdict is RunVerdict.CONFORMS
    (search,) = (share for share in result.cut_short if share.phase == "search")
    assert search.done > 0


def test_openings_are_made_as_they_are_run(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    """To make all of deep takes longer than many a budget."""
    source = open_programs.programs

    def slowly(*given: Any) -> Iterator[Program]:
        for program in source(*given):
            time.now += 0.001
            yield program

    monkeypatch.setattr(open_programs, "programs", slowly)
    result = run(slow(time, 0.01), 60.0, "open.status-null", effort="deep")
    assert time.now <= 66.0
    assert "openings" in [share.phase for share in result.cut_short]


def test_a_slow_first_call_leaves_no_cost_unmeasured(time: Time) -> None:
    """Such as one that starts a server: the costs are measured in the time that is left."""
    called = [False]

    class Starts(MemoryInputStream):
        def pread(self, *args: Any) -> int:
            if not called[0]:
                time.now += 5.0
            called[0] = True
            return super().pread(*args)

    result = run(Starts, 60.0, "open.cost-pread", "open.cost-buffered")
    assert [c.outcome for c in result.clauses] == [Verdict.PASS, Verdict.PASS]
    assert result.cut_short == ()


def test_costs_without_time_say_how_many_were_measured(time: Time) -> None:
    result = run(slow(time, 2.0), 5.0, "open.cost-pread", "open.cost-buffered")
    (share,) = (share for share in result.cut_short if share.phase == "costs")
    assert (share.done, share.total) == (0, 2)


def test_threads_are_left_behind_at_the_end_of_the_run(time: Time) -> None:
    """Those of a slow target may have many calls left, each of which takes long."""
    never = threading.Event()

    class Slow(MemoryInputStream):
        def pread(self, *args: Any) -> int:
            if threading.current_thread().name == "fscontract-schedule":
                time.now += 1000.0
                never.wait()
            return super().pread(*args)

    result = check(binding_of(Slow), settings_for("pread.isolation", budget=60.0))
    never.set()
    assert [c.outcome for c in result.clauses] == [Verdict.UNEXERCISED]
    assert [share.phase for share in result.cut_short] == ["concurrency"]


def test_a_slow_set_up_leaves_threads_to_be_checked(time: Time) -> None:
    """Calls are as fast as before: an import that takes seconds says nothing about them."""

    class SlowSetUp(StreamBinding):
        def prepare(self) -> None:
            time.now += 30.0
            super().prepare()

    binding = SlowSetUp(MemoryFileSystem(), "test")
    result = check(binding, settings_for("pread.isolation", budget=60.0))
    assert [c.outcome for c in result.clauses] == [Verdict.PASS]
    assert result.cut_short == ()


def test_a_slow_call_without_a_stream_leaves_the_next_phase_its_programs(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that starts a process, which imports a library."""
    fits = []

    class Imports(MemoryFsspec):
        def cat_file(self, *args: Any, **kwargs: Any) -> bytes:
            time.now += 5.0
            content: bytes = super().cat_file(*args, **kwargs)
            return content

    def imports(context: RunContext) -> bool:
        for _ in range(100):
            check_program(context, Program(5, (Step("read_byte"),)))
        check_program(context, Program(5, (Step("fs_cat_file", (0, 1)),)))
        return True

    def next_one(context: RunContext) -> bool:
        fits.append(context.has_time_for(40))
        return True

    phases = [Phase("filesystem", 1, imports), Phase("seeded", 1, next_one)]
    monkeypatch.setattr(runner, "program_phases", lambda _: phases)
    monkeypatch.setattr(runner, "check_phases", lambda _: [])
    binding = FsspecBinding(Imports(MemoryFileSystem()), "/", "imports")
    settings = settings_for("filesystem.cat-file.data", budget=60.0)
    check(binding, replace(settings, profile=load_profile("fsspec")))
    assert fits == [True]


@pytest.mark.parametrize(("hang", "left"), [(True, False), (False, True), (False, False)])
def test_phases_are_not_resumed_after_threads_broke_the_target(
    monkeypatch: pytest.MonkeyPatch, hang: bool, left: bool
) -> None:
    order = []

    def seeded(context: RunContext) -> bool:
        order.append("seeded")
        return order.count("seeded") > 2

    def threads(context: RunContext) -> bool:
        order.append("threads")
        context.counts["hangs"] += hang
        context.threads_left = left
        return True

    monkeypatch.setattr(runner, "program_phases", lambda _: [Phase("seeded", 1, seeded)])
    monkeypatch.setattr(runner, "check_phases", lambda _: [Phase("concurrency", None, threads)])
    result = run(MemoryInputStream, 60.0, "seek.pos")
    broken = hang or left
    assert order == ["seeded", "seeded", "threads", *["seeded"] * (not broken)]
    assert [share.phase for share in result.cut_short] == ["seeded"] * broken
