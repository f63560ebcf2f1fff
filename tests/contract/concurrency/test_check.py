"""The check of threads finds each bug under its clause; a correct stream passes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract import clock
from fscontract.contract.api.filesystem import Buffer
from fscontract.contract.concurrency import (
    ConcurrencyReport,
    Schedule,
    check_concurrency,
    replay_schedule,
    scheduler,
)
from fscontract.contract.concurrency import check as concurrency
from fscontract.contract.concurrency.check import AMOUNTS
from fscontract.contract.program.program import Step
from fscontract.contract.runner import phases
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check as run_check
from fscontract.contract.runner.time_budget import TimeBudget
from fscontract.contract.runner.timeouts import Abandoned, interrupt
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import settings_for
from tests.limits import DEADLOCK

Check = Callable[..., ConcurrencyReport]
MakeBinding = Callable[[str], Any]
READ = Step("pread", (6, 8, 0, 8))
ALL = {
    "open.independent",
    "model.pread-thread-safe",
    "pread.buffers",
    "pread.concurrent",
    "pread.isolation",
    "pread.serializable",
    "read-vectored.concurrent",
    "read-vectored.multiple",
}


@pytest.mark.all_programs
def test_memory_stream_passes_hundreds_of_schedules(check: Check) -> None:
    report = check("memory")
    assert (report.violations, report.missed, report.notes) == ({}, {}, [])
    assert report.exercised.keys() == ALL
    assert min(report.exercised.values()) >= 5
    assert report.schedules > 500
    assert report.operations > report.schedules


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        ("seeking", "pread.isolation"),
        ("seeking", "pread.serializable"),
        ("scratch", "pread.buffers"),
        ("counting", "model.pread-thread-safe"),
        ("endless", "model.pread-thread-safe"),
        ("forgetful", "read-vectored.multiple"),
        ("seekingvectored", "read-vectored.multiple"),
        ("seekingvectored", "read-vectored.concurrent"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_bug_of_a_shared_stream_violates_its_clause_for_any_seed(
    check: Check, kind: str, clause: str, seed: int
) -> None:
    assert clause in check(kind, clause, seed=seed).violations


@pytest.mark.parametrize("seed", [1, 2])
def test_bug_of_streams_that_share_a_cursor_is_found_in_threads_for_any_seed(
    check: Check, seed: int
) -> None:
    report = check("onecursor", "open.independent", seed=seed)
    lines = report.violations["open.independent"].interleaving
    assert any(" T1 f2." in line for line in lines)
    assert lines[-1].endswith("(another stream disturbs it)")
    replayed = report.schedules_json["open.independent"]
    assert replayed["streams"] == "each"
    assert sorted(len(calls) for calls in replayed["threads"]) == [1, 2]


@pytest.mark.parametrize("traceable", [True, False])
def test_streams_that_disturb_each_other_without_threads_have_no_race(
    check: Check, traceable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not traceable:
        monkeypatch.setattr(scheduler, "_OURS", ("",))
    assert check("oneposition", "open.independent").violations == {}


def test_hang_of_streams_in_threads_is_charged_to_their_independence(check: Check) -> None:
    report = check("crossed", "open.independent")
    assert report.violations["open.independent"].actual == "hang"


def test_vectored_read_may_move_the_stream(check: Check) -> None:
    """The position after a vectored read is undefined."""
    assert check("wandering", "read-vectored.concurrent").violations == {}


def test_shared_cursor_of_positioned_reads_is_not_charged_to_vectored_reads(check: Check) -> None:
    """Shrinking removes the vectored reads."""
    assert check("seeking", "read-vectored.concurrent", "read-vectored.multiple").violations == {}


def test_deadlock_of_two_threads_is_a_hang_and_ends_the_check(check: Check) -> None:
    report = check("deadlocking", "model.pread-thread-safe")
    found = report.violations["model.pread-thread-safe"]
    assert found.actual == "hang"
    assert found.interleaving[-1].split("  ")[-1] == snapshot("all threads hang")
    assert report.notes == snapshot(["stopped because threads hang"])


def test_stream_that_serialises_all_reads_misses_a_should(check: Check) -> None:
    report = check("locking", "pread.concurrent")
    assert report.violations == {}
    assert report.missed.keys() == {"pread.concurrent"}
    assert any("T1 blocked at " in line for line in report.missed["pread.concurrent"].interleaving)


def test_same_seed_gives_the_same_report(check: Check) -> None:
    assert check("seeking", "pread.isolation") == check("seeking", "pread.isolation")


def test_failing_schedule_is_shrunk_to_one_call_for_each_thread_and_one_switch(
    check: Check,
) -> None:
    data = check("seeking", "pread.isolation").schedules_json["pread.isolation"]
    schedule = Schedule.from_json(data)
    assert [len(steps) for steps in schedule.threads] == [1, 1]
    assert len(schedule.switches) == 1


@pytest.mark.all_programs
def test_interleaving_has_numbered_lines_with_places_and_outcomes(check: Check) -> None:
    lines = check("seeking", "pread.isolation").violations["pread.isolation"].interleaving
    assert [line.split("  ", 1)[0].strip() for line in lines] == [
        str(n) for n in range(1, len(lines) + 1)
    ]
    assert any(" paused at conftest.py:" in line for line in lines)
    assert "(no serial order fits)" in lines[-1]
    assert not any("/" in line for line in lines)


def test_bug_without_threads_violates_no_concurrency_clause(check: Check) -> None:
    report = check("wrongalone", "pread.buffers")
    assert report.violations == {}
    assert report.notes == snapshot(["some calls fail even one after the other: they were skipped"])


def test_unreachable_target_has_no_verdict(check: Check) -> None:
    report = check("unreachable")
    assert (report.violations, report.missed) == ({}, {})
    assert report.notes == snapshot(["stopped: target unreachable: ConnectionResetError: gone"])


def test_answer_that_is_interrupted_once_is_no_race(check: Check) -> None:
    report = check("interrupted", "model.pread-thread-safe")
    assert (report.violations, report.notes) == ({}, [])
    assert report.exercised["model.pread-thread-safe"]


def test_answers_that_are_interrupted_by_another_thread_each_time_are_a_race(check: Check) -> None:
    assert check("entangled", "model.pread-thread-safe").violations


def test_target_without_python_code_runs_with_free_threads_only(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overlap can't be observed there."""
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    report = check("memory")
    assert report.violations == {}
    assert "pread.concurrent" not in report.exercised
    assert report.notes == snapshot(
        ["no Python code of the target to step through: free threads only"]
    )


def test_remote_target_gets_few_schedules_that_still_exercise_every_clause(
    make_binding: Callable[[str], Any], features: frozenset[str]
) -> None:
    binding = make_binding("memory")
    binding.remote = True
    reports = [check_concurrency(binding, features, "quick", 1, lambda _: None) for _ in range(5)]
    assert {report.schedules for report in reports} == {10}
    assert reports[0].exercised.keys() == ALL - {"pread.concurrent"}
    assert [report.exercised for report in reports[1:]] == [reports[0].exercised] * 4


def test_pending_exception_of_a_blocked_thread_does_not_stop_the_check(check: Check) -> None:
    """Python 3.11 stops traced threads until the exception is delivered (C7)."""
    lock = threading.Lock()
    lock.acquire()

    def wait() -> None:
        with suppress(Abandoned):
            lock.acquire()

    blocked = threading.Thread(target=wait, daemon=True)
    blocked.start()
    interrupt(blocked.ident or 0)
    report = check("memory", "pread.concurrent")
    lock.release()
    blocked.join()
    assert report.exercised["pread.concurrent"] > 0


def test_without_positioned_reads_threads_share_the_file_alone(check: Check) -> None:
    report = check("memory", features=frozenset({"supports-seek"}))
    assert report.exercised.keys() == {"open.independent"}
    assert report.notes == snapshot(["positioned reads are not declared"])


def test_vectored_reads_are_checked_only_if_declared(
    check: Check, features: frozenset[str]
) -> None:
    report = check("memory", features=features - {"supports-vectored-io"})
    assert report.exercised.keys() == {c for c in ALL if not c.startswith("read-vectored.")}


def test_file_that_is_too_short_is_not_checked(
    make_binding: Callable[[str], Any], features: frozenset[str]
) -> None:
    binding = make_binding("memory")
    binding.fixed_content = b"short"
    report = check_concurrency(binding, features, "quick", 1, lambda _: None)
    assert report.schedules == 0
    assert report.notes == snapshot(
        ["the file is too short for reads that differ: 5 bytes, 48 needed"]
    )


def test_beat_counts_every_schedule(check: Check) -> None:
    beats: list[int] = []
    report = check("scratch", "pread.buffers", beat=beats.append)
    assert beats == list(range(1, report.schedules + 1))


def test_check_closes_every_stream(
    make_binding: Callable[[str], Any], features: frozenset[str]
) -> None:
    binding = make_binding("memory")
    report = check_concurrency(
        binding, features, "quick", 1, lambda _: None, clauses=frozenset({"read-vectored.multiple"})
    )
    opened = binding.filesystem.opened
    assert len(opened) >= report.schedules > 0
    assert all(stream.closed for stream in opened)


def test_higher_effort_runs_more_schedules() -> None:
    for less, more in pairwise(AMOUNTS[e] for e in ("quick", "normal", "deep")):
        assert less.programs * less.schedules < more.programs * more.schedules
        assert less.rounds < more.rounds


def test_free_threads_leave_out_a_call_that_is_wrong_without_threads(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    report = check("unfilled", *ALL)
    assert {"model.pread-thread-safe", "read-vectored.concurrent"} <= report.exercised.keys()
    assert report.violations == {}
    assert [note for note in report.notes if "left out" in note] == snapshot([])


def test_family_whose_calls_are_all_wrong_without_threads_is_left_out(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    report = check("useless", *ALL)
    assert not report.exercised.keys() & {"model.pread-thread-safe", "pread.isolation"}
    assert "read-vectored.multiple" in report.exercised
    assert report.violations == {}


def test_failure_that_there_is_no_time_to_shrink_is_not_charged_beside_others(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may need only a part of its threads, and then it violates another clause."""
    now = 0.0

    def shrink_too_late(
        schedule: Schedule, fails: Callable[[Schedule], bool], attempts: int
    ) -> Schedule:
        nonlocal now
        now += 600
        fails(schedule)
        return schedule

    monkeypatch.setattr(clock, "monotonic", lambda: now)
    assert len(check("seeking", *ALL, time=TimeBudget(60)).violations) > 1
    monkeypatch.setattr(concurrency, "shrink", shrink_too_late)
    assert len(check("seeking", *ALL, time=TimeBudget(60)).violations) == 1


# replays ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "clause"),
    [("seeking", "pread.isolation"), ("scratch", "pread.buffers"), ("locking", "pread.concurrent")],
)
def test_replay_of_a_schedule_finds_the_same_counterexample(
    check: Check, make_binding: MakeBinding, features: frozenset[str], kind: str, clause: str
) -> None:
    report = check(kind, clause)
    again = replay_schedule(make_binding(kind), features, report.schedules_json[clause])
    assert again.clause == clause
    assert again.counterexample == (report.violations | report.missed)[clause]


def test_replay_on_a_correct_stream_finds_nothing_and_shows_the_interleaving(
    check: Check, make_binding: MakeBinding, features: frozenset[str]
) -> None:
    data = check("seeking", "pread.isolation").schedules_json["pread.isolation"]
    again = replay_schedule(make_binding("memory"), features, data)
    assert (again.clause, again.counterexample) == (None, None)
    assert again.interleaving


def test_schedule_of_free_threads_can_be_replayed(
    make_binding: MakeBinding, features: frozenset[str]
) -> None:
    data = Schedule(48, ((READ,) * 3, (READ,) * 3), free=True).to_json()
    assert replay_schedule(make_binding("memory"), features, data).clause is None


# targets that threads leave unusable -----------------------------------------------------


class Connection:
    """A connection that answers no more once threads take turns on it."""

    def __init__(self) -> None:
        self.asking: list[int] = []
        self.mixed = False

    def ask(self) -> None:
        """Send a request, and wait for the answer."""
        me = threading.get_ident()
        if me not in self.asking[-1:]:
            self.asking.append(me)
        self.mixed = self.mixed or len(self.asking) > len(set(self.asking))
        if self.mixed:
            threading.Event().wait()
        time.sleep(0)  # another thread may go on


class Sharing(MemoryFileSystem):
    """A filesystem whose streams share a connection, which may be `broken` from the start."""

    def __init__(self, broken: bool = False) -> None:
        connection = self.connection = Connection()
        connection.mixed = broken

        class Stream(MemoryInputStream):
            def __init__(self, *args: Any) -> None:
                super().__init__(*args)
                if not broken:
                    connection.asking.clear()
                    connection.ask()

            def pread(
                self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
            ) -> int:
                connection.ask()
                return super().pread(position, buffer, offset, length)

        super().__init__(Stream)


@pytest.mark.all_programs  # threads that make two calls each in turn are among random programs
def test_target_that_hangs_after_threads_used_it_fails_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phases, "_SCHEDULE_PATIENCE", 6.0)  # longer than what threads get
    settings = settings_for("model.pread-thread-safe", "read-vectored.multiple", timeout=1.0)
    threads, others = run_check(StreamBinding(Sharing(), "sharing"), settings).clauses
    assert threads.outcome is Verdict.FAIL
    assert threads.counterexample is not None
    assert threads.counterexample.actual == "hang"
    assert others.reason.startswith("stopped: ")
    assert others.reason.partition(" (")[0] == snapshot(
        "stopped: a call hangs before or after the threads run"
    )


def _checked_freely(
    filesystem: Sharing, features: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> ConcurrencyReport:
    """Return the report of a check with free threads once it has a violation or has ended.

    The check itself may never return.
    """
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    binding, report = StreamBinding(filesystem, "sharing"), ConcurrencyReport()
    binding.prepare()

    def run() -> None:
        check_concurrency(
            binding, features, "quick", 1, lambda _: None, hang_after=0.1, report=report
        )

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    deadline = time.monotonic() + DEADLOCK
    while worker.is_alive() and not report.violations and time.monotonic() < deadline:
        worker.join(0.1)
    return report


def test_hang_of_free_threads_is_a_violation(
    features: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _checked_freely(Sharing(), features, monkeypatch)
    assert report.violations["model.pread-thread-safe"].actual == "hang"
    assert report.stopped


def test_calls_that_hang_without_threads_violate_no_concurrency_clause(
    features: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _checked_freely(Sharing(broken=True), features, monkeypatch)
    assert report.violations == {}
    assert report.notes[-1] == (
        snapshot("stopped: calls hang even one after the other: concurrency was not checked")
    )
