"""A program that takes too long fails a run only if it does so again."""

from __future__ import annotations

import gc
import io
import math
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, ClassVar, cast

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.models.acceptor import about
from fscontract.contract.models.stream_state import ANY, PAST, opened
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.runner import time_budget, timeout_policy
from fscontract.contract.runner.context import LateCall, RunContext
from fscontract.contract.runner.crashes import Blocked, Crash, Journal, clause_of
from fscontract.contract.runner.events import Event, RunFinished
from fscontract.contract.runner.result import (
    LEFT_OUT,
    VIOLATED,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.runner.time_budget import HangTime, TimeBudget
from fscontract.contract.runner.timeout_policy import MAX_LATE, _seconds, run_items
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import Clock, MakeExecutor, binding_of, settings_for
from tests.contract.runner.test_runner import SeeksBack
from tests.limits import DEADLOCK

_TIMEOUT = 4.0


class Numbers(Journal):
    """Keeps the number of the last program of each phase."""

    def __init__(self) -> None:
        self.last = [0]
        super().__init__()

    def begin(self, item: object) -> None:
        """A phase begins if nothing is about to be run."""
        if item is None:
            self.last.append(0)

    @property
    def done(self) -> int:
        """The number of the program that was run last."""
        return self.last[-1]

    @done.setter
    def done(self, number: int) -> None:
        self.last[-1] = max(number, self.last[-1])


def _late(clock: Clock, *streams: int, beyond: int = -1) -> type[MemoryInputStream]:
    """Streams of which these, among those that are to skip a byte, never return from it; all skip
    `beyond` bytes one too far."""
    number = count(1)

    class Late(MemoryInputStream):
        late: bool | None = None

        def skip(self, count: int) -> int:
            if count == 1 and self.late is None:
                self.late = next(number) in streams
            if count == 1 and self.late:
                clock.wait_for_ever()
            skipped = super().skip(count)
            return skipped + 1 if count == beyond else skipped

    return Late


def _checked(stream: type[MemoryInputStream]) -> RunResult:
    return check(binding_of(stream), settings_for("skip.count", "skip.progress", timeout=_TIMEOUT))


def _hung(result: RunResult) -> list[ClauseResult]:
    return [c for c in result.clauses if c.outcome is Verdict.HANG]


def test_a_program_that_is_late_once_is_run_again_and_told_of(clock: Clock) -> None:
    result = _checked(_late(clock, 1))
    assert result.conforms
    (told,) = result.warnings
    assert told == (
        f"late once, in time when run again: skip: late, over {_TIMEOUT:g} s, in "
        "f = open(5 bytes); f.skip(1)"
    )


@pytest.mark.parametrize("remote", [False, True])
def test_a_target_that_stalls_now_and_then_conforms(clock: Clock, remote: bool) -> None:
    """Such as a client that waits before it sends a request again that the server refused."""
    number = count(1)

    class Stalls(MemoryInputStream):
        def skip(self, count: int) -> int:
            if next(number) in (1, 4, 7, 10, 13, 16):
                clock.stall(6.0)
            return super().skip(count)

    binding = binding_of(Stalls)
    binding.remote = remote
    settings = settings_for("skip.count", "skip.progress", timeout=20.0, budget=60.0)
    result = check(binding, settings)
    assert result.conforms
    assert next(number) > 16
    assert [w.partition(":")[0] for w in result.warnings] == ["late once, in time when run again"]


def test_a_program_that_is_late_twice_hangs(clock: Clock) -> None:
    result = _checked(_late(clock, 1, 2))
    assert [c.clause.id for c in _hung(result)] == ["skip.progress"]
    assert result.warnings == ()
    assert result.counts["hangs"] == 1


def _blocking(clock: Clock) -> type[MemoryInputStream]:
    """Streams of which a call blocks all later ones: even open hangs when it is tried again."""
    blocked: list[bool] = []
    number = count(1)

    class Blocking(MemoryInputStream):
        def __init__(self, *args: Any) -> None:
            if blocked:
                clock.wait_for_ever()
            super().__init__(*args)
            self.is_early = next(number) <= 9

        def skip(self, count: int) -> int:
            if count == 1 and not self.is_early:
                blocked.append(True)
                clock.wait_for_ever()
            return super().skip(count)

    return Blocking


def test_a_call_that_blocks_all_later_ones_is_charged_and_not_those(clock: Clock) -> None:
    """As a coroutine does that blocks its event loop."""
    chosen = ("read-byte.value", "skip.count", "skip.progress", "open.state")
    result = check(binding_of(_blocking(clock)), settings_for(*chosen, timeout=_TIMEOUT))
    assert [c.clause.id for c in _hung(result)] == ["skip.progress"]
    assert not any("late once" in warning for warning in result.warnings)
    assert result.counts[LEFT_OUT] == 1


def test_a_run_whose_target_is_blocked_ends_for_another_process(clock: Clock) -> None:
    class Restarts(Journal):
        restarts = True

    chosen = ("read-byte.value", "skip.count", "skip.progress", "open.state")
    settings = settings_for(*chosen, timeout=_TIMEOUT)
    with pytest.raises(
        Blocked, match=r"calls hang after f = open\(5 bytes\); f.skip\(1\)"
    ) as ended:
        check(binding_of(_blocking(clock)), settings, journal=Restarts())
    assert [hang.clause for hang in ended.value.hangs] == ["skip.progress"]
    assert ended.value.left < 6 * _TIMEOUT - 2 * _TIMEOUT


def test_a_run_that_can_not_go_on_says_why(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here no longer file can be written."""
    binding = binding_of(_late(clock, 1, 2))
    create = binding.create

    def refuse(content: bytes) -> str:
        if len(content) > 5:
            raise TargetError("the disk is full")
        return create(content)

    monkeypatch.setattr(binding, "create", refuse)
    chosen = ("skip.progress", "read-into.data", "pread.isolation")
    result = check(binding, settings_for(*chosen, timeout=_TIMEOUT))
    reasons = {c.reason for c in result.clauses if c.outcome is Verdict.ERROR}
    assert reasons == {"ended early: the disk is full"}


def test_a_status_that_hangs_is_charged_and_ends_no_other_check(clock: Clock) -> None:
    class Hanging(StreamBinding):
        """Its files open, but have no status."""

        def status_length(self, path: str) -> int | None:
            """Never return."""
            clock.wait_for_ever()

    binding = Hanging(MemoryFileSystem(), "hanging")
    result = check(binding, settings_for("model.len-eq-status", "pread.serializable", timeout=1.0))
    status, threads = result.clauses
    assert (status.outcome, threads.outcome) == (Verdict.HANG, Verdict.PASS)
    assert result.warnings == ()


class _Raw(io.RawIOBase):
    """A raw file: Python reads its lines byte by byte."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._data = io.BytesIO(file.read())
        self._bytes = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._data.seek(offset, whence)

    def readinto(self, buffer: Any, /) -> int:
        self._bytes += len(buffer) == 1
        self._request()
        return self._data.readinto(buffer)

    def _request(self) -> None:
        """Wait as long as a request takes."""


def _slow_lines(clock: Clock, where: str) -> RunResult:
    """The result of a file of which long lines last too long, in a method."""

    def wait(self: Any, *args: Any) -> Any:
        is_long = len(self._data.getbuffer()) > 2_000
        if self._bytes > 2_000 or (is_long and where == "readline"):
            clock.wait_for_ever()
        return getattr(_Raw, where)(self, *args)

    wait.__code__ = wait.__code__.replace(co_name=where)
    opener = type("Slow", (_Raw,), {where: wait})
    clauses_of_lines = ("python.readlines.hint", "python.readline.line", "python.read.all")
    return check(PythonFileBinding(opener), settings_for(*clauses_of_lines, timeout=4.0))


def test_lines_that_are_read_by_a_slow_request_for_each_byte_do_not_hang(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HangTime, "bytes_in_time", 3_000)
    result = _slow_lines(clock, "_request")
    assert result.conforms
    assert [w.partition(":")[0] for w in result.warnings] == [
        "no lines were read from files of 3,000 bytes or more"
    ]
    passed = {c.clause.id for c in result.clauses if c.outcome is Verdict.PASS}
    assert {"python.readline.line", "python.read.all"} <= passed


@pytest.mark.parametrize(("where", "bytes_in_time"), [("readline", 3_000), ("_request", 9_999_999)])
def test_other_lines_that_are_late_hang(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, where: str, bytes_in_time: int
) -> None:
    monkeypatch.setattr(HangTime, "bytes_in_time", bytes_in_time)
    assert not _slow_lines(clock, where).conforms


def test_a_call_that_hangs_while_features_are_observed_breaks_a_clause_of_the_run(
    clock: Clock,
) -> None:
    """Before the observation, clauses about streams without the feature are declared, too."""

    class Stuck(io.BytesIO):
        def seek(self, offset: int, whence: int = 0, /) -> int:
            clock.wait_for_ever()
            raise AssertionError

    binding = PythonFileBinding(lambda path: cast(BinaryIO, Stuck(b"12345")))
    profile = load_profile("python-file")
    chosen = tuple(c for c in clauses().values() if c.id.startswith(("seek.", "python.seek.")))
    result = check(binding, Settings(profile, chosen, timeout=_TIMEOUT))
    assert result.exit_code == 1
    assert {c.outcome for c in result.clauses if c.clause.id == "seek.supported"} == {
        Verdict.UNDECLARED
    }
    assert _hung(result)
    assert [line for line in result.warnings if line.startswith("neither")] == []


@pytest.mark.parametrize(
    ("call", "clause"),
    [
        (["py_seek", 1, 0], "python.seek.returns"),
        (["py_seek", -1, 0], "python.seek.negative"),
        (["seek", 6], "seek.lax-eof"),
        (["seek", 1], "seek.pos"),
    ],
)
def test_a_seek_that_hangs_is_charged_to_a_clause_of_streams_that_seek(
    call: list[Any], clause: str
) -> None:
    declared = load_profile("python-file").as_observed({"supports-seek": True})
    selected = frozenset(c.id for c in clauses().values() if not declared.satisfies(c.needs))
    program = Program(5, (Step.from_json(call),))
    assert clause_of(program, 0, "fault.hang", selected) == clause


def test_a_target_that_hangs_is_asked_once_for_its_base_classes(clock: Clock) -> None:
    asked = []

    class Silent(StreamBinding):
        def sources(self, path: str) -> Mapping[str, frozenset[str]]:
            asked.append(path)
            clock.wait_for_ever()

    binding = Silent(MemoryFileSystem(SeeksBack), "silent")
    result = check(binding, settings_for("seek.negative", timeout=_TIMEOUT))
    assert result.counterexamples.keys() == {"seek.negative"}
    assert len(asked) == 1


@pytest.mark.parametrize(("step", "limit"), [("fs_other_process", 6.0), ("read_byte", 2.0)])
def test_a_call_that_starts_a_process_may_take_longer(step: str, limit: float) -> None:
    program = Program(1, (Step(step, ("filesystem",) * (limit > 2)),))
    context = SimpleNamespace(
        item=program,
        times=SimpleNamespace(hangs=SimpleNamespace(limit=lambda *about: 2.0)),
        executor=SimpleNamespace(length=1, programs=0, opened=0, index=0),
        journal=SimpleNamespace(begin=lambda item: None, beats=0, limit=0.0),
        settings=SimpleNamespace(timeout=10.0, profile=SimpleNamespace(one_thread=False)),
        binding=SimpleNamespace(busy_with="", remote=False),
        tick=lambda: None,
        late=[],
        late_call=None,
        hanging=frozenset(),
    )
    limits: list[float] = []
    seen = threading.Event()

    def work(item: Program) -> None:
        seen.wait(DEADLOCK)
        limits.append(context.journal.limit)

    context.tick = lambda: seen.set() if context.journal.limit == limit else None
    run_items(cast("RunContext", context), iter([program]), work)
    assert limits == [limit]


class Spins(MemoryInputStream):
    """A loop in Python, which can be interrupted: then the streams are closed."""

    def seek(self, position: int) -> None:
        while position < 0:
            pass
        super().seek(position)


class Blocks(MemoryInputStream):
    """A call of C, which can't be interrupted."""

    def seek(self, position: int) -> None:
        if position < 0:
            threading.Event().wait()
        super().seek(position)


@pytest.mark.all_programs
@pytest.mark.parametrize("stream", [Spins, Blocks], ids=lambda s: s.__name__)
def test_a_hang_is_charged_to_the_step_that_ran_when_the_time_was_up(
    stream: type[MemoryInputStream],
) -> None:
    """Circumstances decide: a seek to a negative position is not a seek to the current one."""
    chosen = [c.id for c in clauses().values() if c.id.startswith("seek.")]
    result = check(binding_of(stream), settings_for(*chosen, timeout=0.4))
    hung = {c.clause.id: c.counterexample for c in _hung(result)}
    assert {clause: str(found and found.program) for clause, found in hung.items()} == {
        "seek.negative": "f = open(5 bytes); f.seek(-1)",
        "seek.open": "f = open(5 bytes); f.close(); f.seek(-1)",
    }
    assert {found and found.how for found in hung.values()} == {"seek: hang"}
    assert not result.conforms


def test_calls_behind_one_that_hangs_are_judged() -> None:
    """Only programs that make the call in a state of the same clauses are left out."""
    result = check(binding_of(Spins), settings_for(timeout=0.4))
    others = [c for c in result.clauses if c.clause.id not in ("seek.negative", "seek.open")]
    reference = check(binding_of(), settings_for())
    expected = {c.clause.id: c.outcome for c in reference.clauses}
    assert {c.clause.id: c.outcome for c in others} == {
        c.clause.id: expected[c.clause.id] for c in others
    }


#: Held while no more bytes come.
_MORE_BYTES = threading.Lock()


class _WaitsAtTheEnd(io.RawIOBase):
    """A file that waits for more bytes at its end, in one function that all reads call."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._data = io.BytesIO(file.read())

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._data.seek(offset, whence)

    def tell(self) -> int:
        return self._data.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._data.close()
        super().close()

    def readinto(self, buffer: Any, /) -> int:
        return self._fill(buffer)

    def _fill(self, buffer: Any) -> int:
        count = self._data.readinto(buffer)
        if not count and len(buffer):
            with _MORE_BYTES:
                pass
        return count


def _checked_waiting(folder: Path, timeout: float, budget: float) -> RunResult:
    """Return the result of a file that waits at its end."""
    opener: Any = _WaitsAtTheEnd
    binding = PythonFileBinding(opener, str(folder))
    names = ("python.read.", "python.readline.", "read-byte.", "read-into.")
    chosen = tuple(c for c in clauses().values() if c.id.startswith(names))
    settings = Settings(load_profile("python-file"), chosen, timeout=timeout, budget=budget)
    with _MORE_BYTES:
        return check(binding, settings)


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """The result of a file that waits at its end."""
    return _checked_waiting(tmp_path_factory.mktemp("files"), timeout=0.8, budget=40.0)


def test_operations_that_hang_like_others_are_left_out_when_the_time_for_hangs_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_budget, "_HANG_SECONDS", 1.0)
    monkeypatch.setattr(time_budget, "_HANGS", 0.0)
    result = _checked_waiting(tmp_path, timeout=0.3, budget=20.0)
    assert result.counts[LEFT_OUT] > 0
    assert {c.outcome for c in result.clauses if c.outcome in VIOLATED} == {Verdict.HANG}


@pytest.mark.xdist_group("waiting")
def test_a_hang_shows_the_frames_of_the_target(waiting: RunResult) -> None:
    hung = [c.counterexample for c in _hung(waiting) if c.counterexample is not None]
    assert hung
    for example in hung:
        *_, place, line = example.traceback
        assert place.endswith("in _fill")
        assert line.strip() == "with _MORE_BYTES:"


@pytest.mark.xdist_group("waiting")
def test_calls_that_hang_in_one_function_are_of_one_cause(waiting: RunResult) -> None:
    assert len(_hung(waiting)) > 5
    assert len(waiting.causes) == 1


@pytest.mark.xdist_group("waiting")
def test_programs_run_up_to_the_call_that_hangs(waiting: RunResult) -> None:
    """Nearly each program reads at the end, and what comes before is judged and right."""
    assert waiting.counts["programs"] > 1000
    assert {c.outcome for c in waiting.clauses if c.outcome in VIOLATED} == {Verdict.HANG}
    passing = {c.clause.id for c in waiting.clauses if c.outcome is Verdict.PASS}
    assert {"python.read.bytes", "read-into.data", "read-byte.closed"} <= passing


@pytest.mark.parametrize(
    ("length", "steps", "clause"),
    [
        (5, [("seek", -1)], "seek.negative"),
        (5, [("seek", "len+1")], "seek.past-eof"),
        (5, [("seek", "len")], "seek.at-len"),
        (5, [("seek", 0)], "seek.zero"),
        (5, [("seek", 2), ("seek", 2)], "seek.noop"),
        (5, [("seek", 2)], "seek.pos"),
        (5, [("close",), ("seek", 2)], "seek.open"),
        (5, [("read_byte",)], "read-byte.value"),
        (0, [("read_byte",)], "read-byte.eof"),
        (5, [("seek", "len"), ("read_byte",)], "read-byte.eof"),
        (5, [("close",), ("read_byte",)], "read-byte.closed"),
        (5, [("read_into", 4, 0, 4)], "read-into.progress"),
        (0, [("read_into", 4, 0, 4)], "read-into.eof"),
        (5, [("read_into", 4, 0, 0)], "read-into.zero"),
        (5, [("read_into", 4, 0, -1)], "read-into.len-neg"),
        (5, [("pread", 0, 4, 0, 4)], "pread.data"),
        (5, [("pread", -1, 4, 0, 4)], "pread.neg-pos"),
        (5, [("skip", 2)], "skip.progress"),
        (5, [("skip", 0)], "skip.zero"),
        (5, [("skip", -1)], "skip.negative"),
        (5, [("unbuffer",)], "unbuffer.reacquire"),
        (5, [("has_capability", "in:readvectored")], "read-vectored.capability"),
        (5, [("has_capability", "fscontract:no-such-capability")], "capabilities.unknown"),
        (5, [("close",)], "close.no-raise"),
        (5, [("close",), ("close",)], "close.idempotent"),
        (5, [("py_read", 2)], "python.read.data"),
        (5, [("read_vectored", ((0, 2),), "heap", "absent")], "read-vectored.data"),
    ],
)
def test_a_call_that_does_not_come_back_breaks_the_clause_of_its_circumstances(
    length: int, steps: list[tuple[object, ...]], clause: str
) -> None:
    made = tuple(Step(str(op), tuple(args)) for op, *args in steps)
    declared = settings_for().declared | {"pread.data"}
    assert clause_of(Program(length, made), len(made) - 1, "fault.hang", declared) == clause


@pytest.mark.parametrize("place", [0, 3, 5, 9, ANY, PAST])
@pytest.mark.parametrize("is_open", [True, False])
def test_every_call_has_a_clause_to_charge_in_every_state(place: int, is_open: bool) -> None:
    state = opened(b"bytes")._replace(pos=place, is_open=is_open)
    steps = {step for program in _steps() for step in program}
    for step in steps:
        assert about(step.op, resolve_step(step, 5, 64).args, state), step


def _steps() -> Iterator[tuple[Step, ...]]:
    examples = (example for clause in clauses().values() for example in clause.examples)
    for example in examples:
        yield tuple(s for s in example.program.steps if s.op != "change")


def test_what_is_late_too_often_hangs(clock: Clock) -> None:
    """A call that is lost now and then is a fault as well."""
    result = _checked(_late(clock, *range(1, 200, 20)))
    assert [c.clause.id for c in _hung(result)] == ["skip.progress"]
    assert len([w for w in result.warnings if w.startswith("late once")]) == MAX_LATE


def test_the_programs_after_a_late_one_are_run(clock: Clock) -> None:
    result = _checked(_late(clock, 1, beyond=5))
    assert {c.clause.id for c in result.clauses if c.outcome is Verdict.LAX} == {"skip.count"}


def test_a_program_that_is_run_again_is_counted_once(clock: Clock) -> None:
    """By these numbers a run that follows a crash knows where to end."""
    settings = settings_for("skip.count", timeout=_TIMEOUT)
    seen = []
    for stream in (_late(clock), _late(clock, 1, 21, 41)):
        numbers = Numbers()
        assert check(binding_of(stream), settings, journal=numbers).conforms
        seen.append(numbers.last)
    assert seen[0] == seen[1]


def _accepting(clock: Clock, late: int) -> type[MemoryInputStream]:
    """Streams that accept seeks to before the start; that of this number never returns."""
    number = count(1)

    class Accepting(MemoryInputStream):
        def seek(self, position: int) -> None:
            if position < 0 and next(number) == late:
                clock.wait_for_ever()
            super().seek(max(position, 0))

    return Accepting


@pytest.mark.parametrize("late", [2, 3, 5])
def test_what_is_late_while_it_is_made_small_is_found_and_counted_once(
    clock: Clock, late: int
) -> None:
    settings = settings_for("seek.negative", timeout=_TIMEOUT)
    seen = []
    for number in (0, late):
        numbers = Numbers()
        result = check(binding_of(_accepting(clock, number)), settings, journal=numbers)
        (found,) = result.clauses
        assert found.outcome is Verdict.FAIL
        assert len(result.warnings) == (number > 0)
        seen.append(numbers.last)
    assert seen[0] == seen[1]


def test_a_write_that_hangs_is_charged_to_no_call(clock: Clock) -> None:
    class Full(MemoryFileSystem):
        def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
            clock.wait_for_ever()
            raise AssertionError

    binding = StreamBinding(Full(), name="full")
    with pytest.raises(TargetError, match="full: can't write a file: it hangs"):
        check(binding, settings_for("skip.count", timeout=_TIMEOUT))


def test_a_write_may_take_longer_than_a_call_of_the_stream(clock: Clock) -> None:
    budget, timeout = 20.0, 60.0
    end = HangTime(budget, timeout).limit() + 5

    class Slow(MemoryFileSystem):
        def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
            clock.pass_on()
            while clock.now < end:  # of the first write
                threading.Event().wait(0.01)
            clock.stop()
            return super().create(path, overwrite)

    settings = settings_for("skip.count", timeout=timeout, budget=budget)
    result = check(StreamBinding(Slow(), name="slow"), settings)
    assert (_hung(result), result.warnings) == ([], ())


class ClosedByFinalizer(MemoryInputStream):
    """close() blocks after a read, also in the finalizer of a stream that was left open."""

    def close(self) -> None:
        if not self._closed and self._pos > 0:
            threading.Event().wait()
        super().close()

    def __del__(self) -> None:
        self.close()


@pytest.mark.all_programs
def test_a_close_that_hangs_in_a_finalizer_is_charged_to_no_other_call() -> None:
    chosen = "close.no-raise", "read-byte.value", "seek.pos", "consistency.opened"
    result = check(binding_of(ClosedByFinalizer), settings_for(*chosen, timeout=0.4))
    assert [c.clause.id for c in _hung(result)] == ["close.no-raise"]


@pytest.mark.all_programs
@pytest.mark.parametrize("other", ["read-byte.value", "pread.serializable"])
def test_a_stream_whose_close_spins_is_not_finalized_during_the_run(other: str) -> None:
    """Its finalizer would spin, too, in any thread. Calls beside it are judged, also of threads."""
    finalized: list[int] = []
    during: list[int] = []

    class SpinsAtTheEnd(MemoryInputStream):
        def close(self) -> None:
            while self._pos > 0:
                pass
            super().close()

        def __del__(self) -> None:
            if self._pos > 0:
                finalized.append(self._pos)

    def listen(event: Event) -> None:
        if isinstance(event, RunFinished):
            gc.collect()
            during.extend(finalized)

    chosen = settings_for("close.no-raise", other, timeout=0.4)
    result = check(binding_of(SpinsAtTheEnd), chosen, listen)
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes == {"close.no-raise": Verdict.HANG, other: Verdict.PASS}
    assert during == []


class FileOfDescriptor(io.FileIO):
    """A file whose close waits, and so leaves its descriptor open."""

    #: Whether garbage was collected when each file was opened, and the descriptors of all.
    collects: ClassVar[list[bool]] = []
    descriptors: ClassVar[list[int]] = []

    def __init__(self, path: str) -> None:
        self.collects.append(gc.isenabled())
        super().__init__(path)
        self.descriptors.append(self.fileno())

    def close(self) -> None:
        threading.Event().wait()


def _outcomes_of_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Verdict]:
    monkeypatch.setattr(FileOfDescriptor, "collects", [])
    monkeypatch.setattr(FileOfDescriptor, "descriptors", [])
    opener: Any = FileOfDescriptor
    chosen = tuple(clauses()[name] for name in ("close.no-raise", "close.release", "seek.pos"))
    settings = Settings(load_profile("python-file"), with_checks(chosen), timeout=0.4)
    result = check(PythonFileBinding(opener, str(tmp_path)), settings)
    for descriptor in FileOfDescriptor.descriptors:
        os.close(descriptor)
    return {c.clause.id: c.outcome for c in result.clauses}


def test_run_ends_before_files_that_stay_open_take_all_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fscontract.contract.runner.resource_checks.most_descriptors", lambda: 20)
    outcomes = _outcomes_of_descriptors(tmp_path, monkeypatch)
    assert outcomes["close.no-raise"] is Verdict.HANG
    assert len(FileOfDescriptor.descriptors) < 100


def test_files_that_stay_open_because_close_hangs_are_no_leaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not collected, either: a finalizer that closes them would hang in any thread."""
    outcomes = _outcomes_of_descriptors(tmp_path, monkeypatch)
    assert outcomes["close.no-raise"] is Verdict.HANG
    assert outcomes["seek.pos"] is Verdict.PASS
    assert outcomes["close.release"] not in VIOLATED
    assert not FileOfDescriptor.collects[-1]
    assert gc.isenabled()


@pytest.mark.parametrize("is_open", [True, False])
def test_streams_that_are_noted_as_open_are_kept_until_they_are_closed(
    is_open: bool, executor: MakeExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[object] = []
    monkeypatch.setattr("fscontract.contract.runner.executor.never_finalize", kept.append)
    running = executor()
    streams = [running.binding.open(running.file(5)[0])]
    running.note_open(streams)
    if not is_open:
        running.close(Program(5, ()), streams)
    running.keep_open()
    assert kept == streams * is_open


@pytest.mark.parametrize(("hangs", "left", "limit"), [(1, 0.0, 1.0), (0, 0.0, 8.0), (1, 5.0, 8.0)])
def test_a_write_of_a_target_that_hangs_has_a_second_after_the_end(
    hangs: int, left: float, limit: float
) -> None:
    context = SimpleNamespace(
        settings=SimpleNamespace(timeout=8.0),
        binding=SimpleNamespace(busy_with="can't write a file"),
        counts=Counter(hangs=hangs),
        times=SimpleNamespace(run=TimeBudget(left)),
    )
    assert _seconds(cast("RunContext", context), None, False, False) == limit


def test_a_function_that_hung_in_an_earlier_process_has_less_time(clock: Clock) -> None:
    """As others in which a call has hung have in one process."""
    limits, place = {}, Clock.wait_for_ever.__code__.co_filename
    for traits in ((), (f"wait_for_ever of {place}",)):
        failure = Counterexample(Program(5, (Step("skip", (3,)),)), (), "", traits=traits)
        crash = Crash("skip.progress", failure, hung=True)
        settings = settings_for("skip.count", "skip.progress", timeout=20.0, budget=60.0)
        clock.now = 0.0
        check(binding_of(_late(clock, 1, 2)), replace(settings, crashes=(crash,)))
        limits[traits] = clock.now
    without, recalled = limits.values()
    assert recalled < without - 3


@pytest.mark.parametrize(("hangs", "limit"), [(math.inf, 3.75), (0.0, 1.0)])
def test_the_seconds_that_calls_hung_in_earlier_processes_count(hangs: float, limit: float) -> None:
    limits = []

    class Watches(Journal):
        def begin(self, item: object) -> None:
            limits.append(self.limit)

    settings = settings_for("seek.negative", budget=60.0, hangs=hangs)
    check(binding_of(), settings, journal=Watches())
    assert min(limits[1:]) == pytest.approx(limit, abs=0.2)


@pytest.mark.parametrize(
    ("step", "is_blocked", "is_other_item", "again"),
    [
        (-1, True, False, True),
        (-1, False, False, False),
        (-1, True, True, False),
    ],
)
def test_a_late_call_that_blocks_an_earlier_program_of_its_item_hangs(
    step: int,
    is_blocked: bool,
    is_other_item: bool,
    again: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call was late in a program that examined a failure of the item, which runs again."""
    program, late = Program(9, (Step("read_byte"),)), Program(0, (Step("skip", (1,)),))
    monkeypatch.setattr(timeout_policy, "_is_blocked", lambda *about: is_blocked)
    context = SimpleNamespace(
        given=None if is_other_item else program,
        late_call=LateCall(program, late, 0, []),
        interrupted_step=step,
        interrupted_frames=["others"],
        interrupted_in="can't write a file",
    )
    found = timeout_policy._late_again(cast("RunContext", context), program)
    assert found is (late if again else program)
    assert context.interrupted_step == (0 if again else step)
    assert context.interrupted_frames == ([] if again else ["others"])
    assert context.interrupted_in == ("" if again else "can't write a file")
