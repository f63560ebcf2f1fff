"""A run from its programs to its verdicts."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from http.client import IncompleteRead
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import Opened, TargetError
from fscontract.contract.concurrency.check import ConcurrencyReport
from fscontract.contract.models.acceptor import Acceptor
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner import phases
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.events import Event, PhaseStarted, RunFinished, RunStarted
from fscontract.contract.runner.execution import Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.replay_files import ReplayFiles
from fscontract.contract.runner.result import ClauseResult, RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.known_failures import Known
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import Clock, binding_of, settings_for


class SeeksBack(MemoryInputStream):
    """Accepts a seek to before the start."""

    def seek(self, position: int) -> None:
        """Clamp what is out of range instead of refusing it."""
        super().seek(max(position, 0))


class SeeksOn(MemoryInputStream):
    """Accepts a seek after close."""

    def seek(self, position: int) -> None:
        """Look at nothing if it is closed."""
        if not self.closed:
            super().seek(position)


def sticking(clock: Clock) -> type[MemoryInputStream]:
    """Streams that never return from skip."""

    class Sticks(MemoryInputStream):
        def skip(self, count: int) -> int:
            clock.wait_for_ever()

    return Sticks


class Leaks(MemoryInputStream):
    """Keeps a descriptor when it is closed."""

    left: ClassVar[list[int]] = []

    def close(self) -> None:
        """Open one more."""
        if not self.closed:
            self.left.append(os.open(os.devnull, os.O_RDONLY))
        super().close()


def clause(result: RunResult, name: str) -> ClauseResult:
    """The result of one clause."""
    return next(c for c in result.clauses if c.clause.id == name)


def test_the_memory_stream_conforms() -> None:
    result = check(binding_of(), settings_for())
    bad = [(c.clause.id, c.counterexample) for c in result.clauses if c.outcome is Verdict.FAIL]
    assert not bad
    assert result.conforms


def test_a_violation_is_reported_with_a_program_that_can_be_shorter_by_nothing() -> None:
    found = clause(check(binding_of(SeeksBack), settings_for("seek.negative")), "seek.negative")
    assert found.outcome is Verdict.FAIL
    assert found.counterexample is not None
    assert found.counterexample.program is not None
    assert found.counterexample.program.steps == (Step("seek", (-1,)),)
    assert found.counterexample.program.length == 0


def test_a_run_gives_the_same_result_for_the_same_seed() -> None:
    settings = settings_for("seek.negative", "read-byte.value", seed=7)
    first, second = (check(binding_of(SeeksBack), settings) for _ in range(2))
    assert first.clauses == second.clauses


def test_a_clause_that_needs_an_undeclared_feature_is_not_verified() -> None:
    found = clause(check(binding_of(), settings_for("new-source.moved")), "new-source.moved")
    assert found.outcome is Verdict.UNDECLARED
    assert "supports-new-source" in found.reason


def test_a_run_that_verifies_nothing_does_not_conform() -> None:
    assert not check(binding_of(), settings_for("new-source.moved")).conforms


def test_a_known_violation_does_not_fail_the_run() -> None:
    known = (Known("seek.negative", "as ever", "seek: returned"),)
    result = check(binding_of(SeeksBack), settings_for("seek.negative", "seek.pos", known=known))
    assert clause(result, "seek.negative").outcome is Verdict.KNOWN
    assert result.conforms


@pytest.mark.parametrize(
    ("signature", "outcome", "issue"),
    [("seek: returned", Verdict.LAX, "STORE-12"), ("seek: OTHER", Verdict.FIXED, "")],
)
def test_a_known_should_that_is_missed_stays_lax(
    signature: str, outcome: Verdict, issue: str
) -> None:
    """The entry only explains it, if it is missed in that way; else the entry is out of date."""
    known = (Known("seek.open", "as ever", signature, issue),)
    found = clause(check(binding_of(SeeksOn), settings_for("seek.open", known=known)), "seek.open")
    assert (found.outcome, found.issue) == (outcome, issue)
    assert "as ever" in found.reason


def test_a_known_violation_that_fails_in_another_way_is_a_new_one() -> None:
    known = (Known("seek.negative", "as ever", "seek: OTHER"),)
    result = check(binding_of(SeeksBack), settings_for("seek.negative", known=known))
    assert clause(result, "seek.negative").outcome is Verdict.FAIL


def test_a_known_violation_that_is_gone_fails_the_run() -> None:
    known = (Known("seek.negative", "as ever", "seek: returned"),)
    result = check(binding_of(), settings_for("seek.negative", known=known))
    assert clause(result, "seek.negative").outcome is Verdict.FIXED
    assert not result.conforms


class FarFromAnyProgram(MemoryInputStream):
    """A stream that fails at a position that no program of a run reads."""

    def read_byte(self) -> int:
        at = self.get_pos()
        value = super().read_byte()
        return value ^ 255 if at == FAR else value


#: A position, and a program that reads it.
FAR = 54_321
READS_FAR = Program(FAR + 10, (Step("seek", (FAR,)), Step("read_byte")))


@pytest.mark.parametrize(
    ("stream", "outcome"), [(FarFromAnyProgram, Verdict.KNOWN), (MemoryInputStream, Verdict.FIXED)]
)
def test_the_program_of_a_known_failure_shows_whether_it_is_there(
    stream: type[MemoryInputStream], outcome: Verdict
) -> None:
    signature = "read_byte: returned wrong byte; beyond the first buffer; away from the start"
    known = (Known("read-byte.value", "as ever", signature, program=READS_FAR),)
    result = check(binding_of(stream), settings_for("read-byte.value", known=known))
    assert clause(result, "read-byte.value").outcome is outcome


def test_the_program_of_a_known_failure_that_was_seen_is_not_run() -> None:
    known = (Known("seek.negative", "as ever", "seek: returned", program=READS_FAR),)
    events: list[Event] = []
    check(binding_of(SeeksBack), settings_for("seek.negative", known=known), events.append)
    phases_run = [event.phase for event in events if isinstance(event, PhaseStarted)]
    assert "known failures" not in phases_run


def test_failure_is_shown_on_the_files_of_a_new_run_after_files_are_renewed() -> None:
    mutant = mutant_named("python.readline.line-LineCut")
    line = Program(1024, (Step("py_readline", (-1,)),))

    def failing(program: Program, is_renewed: bool) -> tuple[Executor, Violation]:
        executor = Executor(mutant.binding(), mutant.profile().features, 4096)
        executor.binding.prepare()
        for length in (39, 1024):  # it shrinks to the shorter one
            executor.run(Program(length, ()))
        if is_renewed:
            executor.renew_files()
        violation = executor.run(program).violation
        assert violation is not None
        return executor, violation

    renewed, violation = failing(line, is_renewed=True)
    collected = ShrinkingCounterexamples(renewed, frozenset({"python.readline.line"}))
    collected.violation(violation)
    (kept,) = collected.failed["python.readline.line"].values()
    assert kept.program is not None
    _, replayed = failing(kept.program, is_renewed=False)
    here = renewed.run(kept.program).violation
    assert here is not None
    assert kept.expected == replayed.failure.expected != here.failure.expected
    again = renewed.run(line).violation
    assert again is not None
    assert again.failure.expected == violation.failure.expected


def test_file_that_was_written_while_a_failure_was_shrunk_is_not_read_again() -> None:
    binding = FsspecBinding.from_url("memory://written", {})
    executor = Executor(binding, settings_for().profile.features, 64)
    binding.prepare()
    writes, reads = (Program(0, (Step(op, ()),)) for op in ("py_write", "read_byte"))
    try:
        executor.run(reads)
        executor.renew_files()
        for program in (reads, writes, reads):
            with executor.first_files():
                executor.run(reads)
                executor.run(program)
                assert executor.run(reads).violation is None
            assert executor.run(reads).violation is None
    finally:
        binding.dispose()


def test_programs_run_on_the_files_of_a_new_run_after_the_model_changed() -> None:
    executor = Executor(binding_of(SeeksBack), settings_for().profile.features, 64)
    executor.binding.prepare()
    seeks = Program(5, (Step("seek", (-1,)),))
    executor.run(seeks)
    executor.renew_files()
    with executor.first_files():
        executor.run(seeks)
    executor.judge_by(Acceptor(settings_for().profile.features))
    with executor.first_files():
        assert executor.run(seeks).violation is not None
    executor.binding.dispose()


def test_programs_of_known_failures_are_kept_unshrunk_however_many_look_alike() -> None:
    executor = Executor(binding_of(SeeksBack), settings_for().profile.features, 64)
    executor.binding.prepare()
    try:
        long = executor.run(Program(5, (Step("get_pos"), Step("seek", (-1,))))).violation
        assert long is not None
        collected = ShrinkingCounterexamples(executor, frozenset({"seek.negative"}))
        for _ in range(5):
            collected.violation(long)
        collected.failed.clear()
        collected.violation(long)
        assert collected.failed == {}
        with collected.taken_unshrunk():
            collected.violation(long)
    finally:
        executor.binding.dispose()
    (kept,) = collected.failed["seek.negative"].values()
    assert (kept.program, kept.unshrunk) == (long.program, True)


@pytest.mark.parametrize(
    ("stream", "outcome"), [(SeeksBack, Verdict.KNOWN), (MemoryInputStream, Verdict.PASS)]
)
def test_an_intermittent_violation_may_occur_or_not(
    stream: type[MemoryInputStream], outcome: Verdict
) -> None:
    known = (Known("seek.negative", "as ever", "seek: returned", intermittent=True),)
    result = check(binding_of(stream), settings_for("seek.negative", known=known))
    assert clause(result, "seek.negative").outcome is outcome
    assert result.conforms


def test_an_entry_that_has_to_occur_is_not_excused_by_one_that_need_not() -> None:
    other = Known("seek.negative", "seldom", "seek: OTHER", intermittent=True)
    known = (other, Known("seek.negative", "as ever", "seek: returned"))
    found = clause(check(binding_of(), settings_for("seek.negative", known=known)), "seek.negative")
    assert found.outcome is Verdict.FIXED
    assert "as ever" in found.reason


def test_a_hang_is_reported_with_its_program_and_the_run_goes_on(clock: Clock) -> None:
    settings = settings_for("skip.progress", "read-byte.value", timeout=1.0)
    result = check(binding_of(sticking(clock)), settings)
    hung = clause(result, "skip.progress")
    assert hung.outcome is Verdict.HANG
    assert hung.counterexample is not None
    assert hung.counterexample.program is not None
    assert hung.counterexample.program.steps[-1].op == "skip"
    assert clause(result, "read-byte.value").outcome is Verdict.PASS


@pytest.mark.all_programs
def test_calls_that_hang_by_clauses_not_selected_are_warned_of(clock: Clock) -> None:
    """A line for each clause says which it would be; the others are judged."""
    result = check(binding_of(sticking(clock)), settings_for("getpos.value", timeout=1.0))
    assert clause(result, "getpos.value").outcome is Verdict.PASS
    assert result.conforms
    lines = [line.split(" (still running), ") for line in result.warnings]
    assert {start for start, _ in lines} == {"neither selected nor declared: skip: hang"}
    assert sorted(end for _, end in lines) == [
        "which breaks skip.closed",
        "which breaks skip.negative",
        "which breaks skip.progress",
        "which breaks skip.zero",
    ]


def test_a_descriptor_that_close_leaves_is_found() -> None:
    try:
        found = clause(check(binding_of(Leaks), settings_for("close.release")), "close.release")
    finally:
        for descriptor in Leaks.left:
            os.close(descriptor)
        Leaks.left.clear()
    assert found.outcome is Verdict.FAIL
    assert found.counterexample is not None
    assert found.counterexample.actual == "left a descriptor"


def test_a_replay_file_holds_the_program_and_the_features(tmp_path: Path) -> None:
    settings = settings_for("seek.negative", replays=ReplayFiles(tmp_path))
    found = clause(check(binding_of(SeeksBack), settings), "seek.negative")
    assert found.counterexample is not None
    assert found.counterexample.replay is not None
    data = json.loads(Path(found.counterexample.replay).read_text())
    assert data["clause"] == "seek.negative"
    assert data["program"]["steps"] == [["seek", -1]]
    assert "rejects-seek-past-eof" in data["features"]


def test_the_events_begin_and_end_with_the_run() -> None:
    events: list[Event] = []
    check(binding_of(), settings_for("seek.negative"), events.append)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert isinstance(events[1], PhaseStarted)


def test_a_selection_of_clauses_runs_only_the_programs_that_can_tell_of_them() -> None:
    few = check(binding_of(), settings_for("skip.zero"))
    many = check(binding_of(), settings_for("skip.zero", "open.state"))
    assert 0 < few.counts["programs"] < many.counts["programs"] / 3
    assert clause(few, "skip.zero").outcome is Verdict.PASS


class Offline(StreamBinding):
    """A binding whose every call fails on its way to the store."""

    disposed = 0

    def bind(self, step: Step) -> object:  # type: ignore[override]
        """A call that does not arrive."""

        def lost(opened: Opened) -> Outcome:
            return Outcome(Kind.ENVIRONMENT, None, None, "ConnectionError: gone")

        return lost

    def dispose(self) -> None:
        """Count it."""
        self.disposed += 1
        super().dispose()


def test_a_store_that_stops_answering_ends_the_run_without_a_verdict() -> None:
    binding = Offline(MemoryFileSystem(), "offline")
    with pytest.raises(TargetError, match=r"offline: stopped answering: .*gone"):
        check(binding, settings_for())
    assert binding.disposed == 1


def test_a_run_says_how_the_last_lost_call_failed() -> None:
    class Restarts(StreamBinding):
        """A store that does not answer 20 calls of 200."""

        calls = 0

        def bind(self, step: Step) -> Any:
            action = super().bind(step)

            def call(opened: Opened) -> Outcome:
                self.calls += 1
                gone = Outcome(Kind.ENVIRONMENT, None, None, "ConnectionError: gone")
                return action(opened) if self.calls % 200 >= 20 else gone

            return call

    result = check(Restarts(MemoryFileSystem(), "test"), settings_for("seek.pos"))
    warning = result.warnings[0]
    lost = result.counts["errors"]
    expected = f"lost {lost} calls to the environment, the last by ENVIRONMENT (ConnectionError"
    assert warning.startswith(expected)


def test_a_write_that_the_network_fails_once_is_made_again() -> None:
    class Loses(StreamBinding):
        """A store that does not answer every fifth write of a file, and of a change."""

        writes = 0

        def _lose_some(self) -> None:
            self.writes += 1
            if self.writes % 5 == 0:
                raise ConnectionResetError("gone")

        def create(self, content: bytes) -> str:
            self._lose_some()
            return super().create(content)

        def change(self, path: str, content: bytes | None) -> None:
            self._lose_some()
            super().change(path, content)

    settings = settings_for("consistency.either", "read-byte.value")
    result = check(Loses(MemoryFileSystem(), "test"), settings)
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}
    assert not result.warnings


class _Answer(Exception):
    """An error of a client that quotes the answer of the server, as no OSError."""


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("reset by peer"),
        _Answer("503, message='Service Unavailable', url='a'"),
        _Answer("An error occurred (SlowDown) when calling the GetObject operation"),
        OSError("429 Client Error: Too Many Requests for url: a"),
        OSError("502 Server Error: Bad Gateway for url: a"),
        OSError("Unexpected (temporary) at read, context: { url: a }"),
        IncompleteRead(b"abc", 5),
        type("ClientPayloadError", (Exception,), {})("Response payload is not completed"),
    ],
    ids=lambda error: str(error)[:12],
)
def test_a_store_that_fails_now_and_then_conforms(error: Exception) -> None:
    number = itertools.count()

    class Busy(MemoryInputStream):
        def read_byte(self) -> int:
            if next(number) % 499 == 3:
                raise error
            return super().read_byte()

        def pread(self, *args: Any) -> int:
            if next(number) % 499 == 3:
                raise error
            return super().pread(*args)

    settings = settings_for("read-byte.value", "read-vectored.data")
    result = check(binding_of(Busy), settings)
    assert result.conforms
    assert "errors" not in result.counts
    (warning,) = result.warnings
    assert warning.endswith("programs failed with connection errors, and not when run again")


def test_a_call_that_is_interrupted_three_times_in_a_row_is_not_judged() -> None:
    """A network that interrupts 1 of 200 answers does so twice in one of some thousand programs."""
    number = itertools.count()

    class Cut(MemoryInputStream):
        def read_byte(self) -> int:
            if next(number) % 499 < 3:
                raise IncompleteRead(b"abc", 5)
            return super().read_byte()

    result = check(binding_of(Cut), settings_for("read-byte.value"))
    assert result.conforms
    assert "errors" not in result.counts


def test_a_file_that_is_missing_by_a_lost_answer_is_opened_again() -> None:
    """Clients raise FileNotFoundError for any failed request."""
    number = itertools.count()

    class Loses(StreamBinding):
        def open(self, path: str) -> Any:
            if next(number) % 97 == 3:
                raise FileNotFoundError(path) from _Answer("502, message='Bad Gateway'")
            return super().open(path)

    settings = settings_for("read-byte.value", "open.state")
    result = check(Loses(MemoryFileSystem(), "test"), settings)
    assert result.conforms
    assert "errors" not in result.counts


def test_an_answer_that_is_interrupted_each_time_is_judged() -> None:
    """The client makes a wrong request, or takes a whole answer for one that ended too early."""

    class Cut(MemoryInputStream):
        def read_byte(self) -> int:
            if self.get_pos() == 5:
                raise IncompleteRead(b"abc", 5)
            return super().read_byte()

    result = check(binding_of(Cut), settings_for("read-byte.value"))
    (failure,) = clause(result, "read-byte.value").counterexamples
    assert "IncompleteRead" in failure.actual
    assert result.warnings == ()


def test_everything_that_the_run_made_is_removed() -> None:
    filesystem = MemoryFileSystem()
    check(StreamBinding(filesystem, "test"), settings_for("seek.negative"))
    assert list(filesystem.list_status("/")) == []


def test_stopping_at_the_first_violation_spares_the_rest() -> None:
    settings: Settings = settings_for("seek.negative", stop_at_first=True)
    result = check(binding_of(SeeksBack), settings)
    assert clause(result, "seek.negative").outcome is Verdict.FAIL
    assert result.counts["programs"] < 200


def test_fail_fast_ends_the_run_with_the_first_failure() -> None:
    """Clauses that did not fail until then are not verified, even if calls exercised them."""
    chosen = ("seek.pos", "seek.negative", "getpos.initial")
    result = check(binding_of(SeeksBack), settings_for(*chosen, fail_fast=True))
    assert [c.outcome for c in result.clauses if c.counterexamples] == [Verdict.FAIL]
    rest = {(c.outcome, c.reason) for c in result.clauses if not c.counterexamples}
    assert rest == {(Verdict.UNEXERCISED, "stopped at the first failure")}
    whole = check(binding_of(SeeksBack), settings_for(*chosen))
    assert result.counts["programs"] < whole.counts["programs"]


def test_fail_fast_does_not_end_a_run_for_a_known_failure() -> None:
    known = (Known("seek.negative", "as ever", "seek: returned"),)
    settings = settings_for("seek.negative", "seek.pos", known=known, fail_fast=True)
    result = check(binding_of(SeeksBack), settings)
    assert [c.outcome for c in result.clauses] == [Verdict.KNOWN, Verdict.PASS]


def test_what_kept_the_threads_from_showing_more_is_the_reason_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(*_: object, report: ConcurrencyReport, **__: object) -> None:
        report.note("stopped because threads hang")

    monkeypatch.setattr(phases, "check_concurrency", stopped)
    found = clause(check(binding_of(), settings_for("pread.isolation")), "pread.isolation")
    assert found.outcome is Verdict.UNEXERCISED
    assert found.reason == snapshot("stopped because threads hang")


class Stays(StreamBinding):
    """A binding whose files can't be removed."""

    def dispose(self) -> None:
        """Fail to."""
        raise TargetError("stays: can't remove /it")


def test_files_that_can_not_be_removed_are_told_beside_the_verdicts() -> None:
    result = check(Stays(MemoryFileSystem(), "stays"), settings_for("seek.negative"))
    assert result.warnings == ("stays: can't remove /it",)
    assert clause(result, "seek.negative").outcome is Verdict.PASS


def test_an_exception_that_a_target_keeps_does_not_keep_what_the_run_judged() -> None:
    """Its traceback has the frames of the run."""
    kept: list[Exception] = []

    class Keeps(MemoryInputStream):
        def seek(self, position: int) -> None:
            try:
                super().seek(position)
            except Exception as error:
                kept.append(error)
                raise

    assert check(binding_of(Keeps), settings_for("seek.negative")).conforms
    (executor, *_) = {id(found): found for found in _executors_of(kept)}.values()
    assert executor.operations
    assert not executor.acceptor.counts


def _executors_of(errors: list[Exception]) -> Iterator[Executor]:
    """Yield the executors in the frames that called what raised."""
    for error in errors:
        assert error.__traceback__ is not None
        frame: FrameType | None = error.__traceback__.tb_frame
        while frame is not None:
            if isinstance(frame.f_locals.get("self"), Executor):
                yield frame.f_locals["self"]
            frame = frame.f_back
