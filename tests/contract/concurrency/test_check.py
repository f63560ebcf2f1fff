"""Each fault of a shared stream is found, under its clause; a right stream passes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.concurrency import (
    ConcurrencyReport,
    Schedule,
    check_concurrency,
    scheduler,
)
from fscontract.contract.concurrency.check import AMOUNTS, MAX_UNSOUND
from fscontract.contract.concurrency.programs import FAMILIES, SMALL, long_threads
from fscontract.contract.runner.timeouts import Abandoned, interrupt
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem

Check = Callable[..., ConcurrencyReport]
ALL = {
    "model.pread-thread-safe",
    "pread.buffers",
    "pread.concurrent",
    "pread.isolation",
    "pread.serializable",
    "read-vectored.concurrent",
    "read-vectored.multiple",
}


def test_the_memory_stream_passes_hundreds_of_schedules(check: Check) -> None:
    """Nothing is wrong, every clause was exercised, and nothing had to be said."""
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
def test_a_fault_is_found_under_its_clause(check: Check, kind: str, clause: str, seed: int) -> None:
    """Whatever the seed, the clause that the stream breaks is named."""
    assert clause in check(kind, clause, seed=seed).violations


def test_a_vectored_read_may_move_the_stream(check: Check) -> None:
    """A reader that lost its place to one sees no violation: the position is undefined."""
    assert check("wandering", "read-vectored.concurrent").violations == {}


def test_a_cursor_that_positioned_reads_share_is_not_blamed_on_vectored_ones(check: Check) -> None:
    """The vectored reads that happened to be there are minimised away."""
    assert check("seeking", "read-vectored.concurrent", "read-vectored.multiple").violations == {}


def test_threads_that_wait_for_each_other_are_a_hang(check: Check) -> None:
    """Two locks in two orders are found, and the check comes to an end."""
    report = check("deadlocking", "model.pread-thread-safe")
    found = report.violations["model.pread-thread-safe"]
    assert found.actual == "hang"
    assert found.interleaving[-1].endswith("no thread comes to an end")
    assert report.notes == snapshot(["stopped at threads that come to no end"])


def test_a_lock_around_everything_is_right_but_lax(check: Check) -> None:
    """Serialising misses the SHOULD, and nothing else."""
    report = check("locking", "pread.concurrent")
    assert report.violations == {}
    assert report.missed.keys() == {"pread.concurrent"}
    assert any("T1 blocked at " in line for line in report.missed["pread.concurrent"].interleaving)


def test_the_same_seed_gives_the_same_report(check: Check) -> None:
    """Counterexamples, counts and the number of schedules follow from the seed."""
    assert check("seeking", "pread.isolation") == check("seeking", "pread.isolation")


def test_a_failing_schedule_is_made_small(check: Check) -> None:
    """A reader and a positioned read, one call each, and one switch are enough."""
    data = check("seeking", "pread.isolation").schedules_json["pread.isolation"]
    schedule = Schedule.from_json(data)
    assert [len(steps) for steps in schedule.threads] == [1, 1]
    assert len(schedule.switches) == 1


def test_the_interleaving_tells_what_happened(check: Check) -> None:
    """Numbered lines: what starts, where it pauses, what came out and what was permitted."""
    lines = check("seeking", "pread.isolation").violations["pread.isolation"].interleaving
    assert [line.split("  ", 1)[0].strip() for line in lines] == [
        str(n) for n in range(1, len(lines) + 1)
    ]
    assert any(" paused at conftest.py:" in line for line in lines)
    assert "(no serial order fits)" in lines[-1]
    assert not any("/" in line for line in lines)


def test_what_is_wrong_one_by_one_is_not_blamed_on_threads(check: Check) -> None:
    """A sequential fault is left to the sequential checks, with a note."""
    report = check("wrongalone", "pread.buffers")
    assert report.violations == {}
    assert report.notes == snapshot(
        ["some calls go wrong even one after the other: they were left out"]
    )


def test_a_target_out_of_reach_has_no_verdict(check: Check) -> None:
    """An error of the network ends the check with a note."""
    report = check("unreachable")
    assert (report.violations, report.missed) == ({}, {})
    assert report.notes == snapshot(["stopped: target out of reach: ConnectionResetError: gone"])


def test_a_target_without_python_code_runs_freely(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing to step through: free threads only, and overlap can't be seen."""
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    report = check("memory")
    assert report.violations == {}
    assert "pread.concurrent" not in report.exercised
    assert report.notes == snapshot(
        ["no Python code of the target to step through: free threads only"]
    )


def test_a_remote_target_gets_few_schedules(
    make_binding: Callable[[str], Any], features: frozenset[str]
) -> None:
    """Each call costs a round trip there. No clause is left out by chance: in every one of them
    calls meet, however short they are."""
    binding = make_binding("memory")
    binding.remote = True
    reports = [check_concurrency(binding, features, "quick", 1, lambda _: None) for _ in range(5)]
    assert {report.schedules for report in reports} == {8}
    assert reports[0].exercised.keys() == ALL - {"pread.concurrent"}
    assert [report.exercised for report in reports[1:]] == [reports[0].exercised] * 4


def test_an_exception_sent_to_a_blocked_thread_does_not_stop_later_ones(check: Check) -> None:
    """Python 3.11 keeps traced threads from moving until it is delivered."""
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


def test_undeclared_positioned_reads_are_not_checked(check: Check) -> None:
    """Without the feature nothing is exercised."""
    report = check("memory", features=frozenset({"supports-seek"}))
    assert not report.exercised
    assert report.notes == snapshot(["positioned reads are not declared"])


def test_vectored_reads_are_checked_only_if_declared(
    check: Check, features: frozenset[str]
) -> None:
    """Their clauses stay unexercised."""
    report = check("memory", features=features - {"supports-vectored-io"})
    assert report.exercised.keys() == {c for c in ALL if not c.startswith("read-vectored.")}


def test_a_file_too_short_to_tell_reads_apart_is_not_checked(
    make_binding: Callable[[str], Any], features: frozenset[str]
) -> None:
    """A given file of a few bytes gives a note."""
    binding = make_binding("memory")
    binding.fixed_content = b"short"
    report = check_concurrency(binding, features, "quick", 1, lambda _: None)
    assert report.schedules == 0
    assert report.notes == snapshot(
        ["the file is too short for reads that differ: 5 bytes, 48 needed"]
    )


def test_the_beat_counts_every_schedule(check: Check) -> None:
    """It is told 1, 2, 3 and so on, to the number in the report."""
    beats: list[int] = []
    report = check("scratch", "pread.buffers", beat=beats.append)
    assert beats == list(range(1, report.schedules + 1))


def test_every_stream_is_closed(
    make_binding: Callable[[str], Any], features: frozenset[str]
) -> None:
    """However many schedules there are; a run of the calls one after the other has one, too."""
    binding = make_binding("memory")
    report = check_concurrency(
        binding, features, "quick", 1, lambda _: None, clauses=frozenset({"read-vectored.multiple"})
    )
    opened = binding.filesystem.opened
    assert len(opened) >= report.schedules > 0
    assert all(stream.closed for stream in opened)


def test_more_effort_is_more_work() -> None:
    """Each effort does more of everything than the one before."""
    for less, more in pairwise(AMOUNTS[e] for e in ("quick", "normal", "deep")):
        assert less.programs * less.schedules < more.programs * more.schedules
        assert less.rounds < more.rounds


def test_a_call_that_goes_wrong_alone_does_not_keep_others_from_meeting(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that run freely do without it, and show what the others do to each other."""
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    report = check("unfilled", *ALL)
    assert {"model.pread-thread-safe", "read-vectored.concurrent"} <= report.exercised.keys()
    assert report.violations == {}
    assert "some calls go wrong even one after the other: they were left out" in report.notes


def test_free_threads_are_left_alone_where_nothing_works(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    report = check("useless", *ALL)
    assert not report.exercised.keys() & {"model.pread-thread-safe", "pread.isolation"}
    assert "read-vectored.multiple" in report.exercised
    assert report.violations == {}


_THREADS = ("pread", "read_fully", "read_vectored", "seek", "read_byte", "read_into", "get_pos")


@pytest.mark.parametrize("operations", [(*_THREADS, "skip"), _THREADS], ids=["all", "fsspec"])
def test_whatever_goes_wrong_alone_threads_can_be_made_of_the_rest(
    operations: tuple[str, ...],
) -> None:
    """Or the family is left."""
    made, bind = 0, StreamBinding(MemoryFileSystem(), "memory").bind
    for count in range(1, MAX_UNSOUND + 1):
        for unsound in combinations(operations, count):
            sound = frozenset(operations) - {*unsound}
            for family in (f for f in FAMILIES if f.usable(sound)):
                for seed in range(8):
                    threads = long_threads(family, seed, sound, SMALL, 4096, 6)
                    steps = [step for thread in threads for step in thread]
                    assert {step.op for step in steps} <= sound
                    assert all(callable(bind(step)) for step in steps)
                    made += 1
    assert made > 500
