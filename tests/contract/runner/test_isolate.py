"""The parts of isolated runs: the wire, what is blamed, what is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.isolation import protocol
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.crashes import Crash, Journal, LeftOut, clause_of, ended, smaller
from fscontract.contract.runner.events import (
    Event,
    Judged,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.result import ClauseResult, Counterexample, RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.runner import check
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.spec.profiles import Profile, load_profile
from tests.contract.runner.conftest import binding_of, settings_for

SEEK, READ, PREAD = Step("seek", (-1,)), Step("read_byte"), Step("pread", ("len-1", 4, 0, 4))
PLAIN = Program(5, (SEEK, READ, Step("read_byte", stream=1)), streams=2)
OPENED = Program(5, (READ,), opening=Opening("file", (("opt", "a.b", "\udcff"),)))
FAULTY = Program(5, (READ,), faults=FaultPlan((Fault("reset", 2),)))
SCHEDULE = Schedule(42, ((SEEK, READ), (PREAD,)), seed=7)
SHOWN = Counterexample(
    OPENED, ("returns", "raises"), "ended\n\x1b", 1, ("0: seek",), 7, {"threads": []}, "x.json", "h"
)
RESULT = RunResult(
    "t",
    "stream",
    "default",
    "quick",
    3,
    datetime(2026, 5, 4, 3, 2, 1, 5, tzinfo=timezone.utc),
    1.5,
    (ClauseResult(clauses()["seek.negative"], Verdict.CRASH, 2, SHOWN, "why"),),
    {"crashes": 1},
    {"python": "3.14"},
    ("careful",),
)


@pytest.mark.parametrize(
    "event",
    [
        RunStarted("t", "stream", "default", "quick", 3),
        PhaseStarted("seeded", None),
        Progress("seeded", 1, 2, 3),
        ViolationFound("seek.negative", SHOWN),
        Judged(RESULT),
        RunFinished(RESULT),
    ],
)
def test_events_survive_the_way(event: Event) -> None:
    """As one line of text."""
    text = json.dumps(protocol.event_to_json(event))
    assert protocol.event_from_json(json.loads(text)) == event
    assert "\n" not in text


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Crash, Crash("seek.pos", SHOWN, hung=True)),
        (
            tuple[Known, ...],
            (
                Known("seek.pos", "why", "seek: IO"),
                Known("seek.pos", "b", "c", until=date(2027, 6, 1)),
            ),
        ),
        (
            RunOptions,
            RunOptions(
                *("reference", ("a",), ("seek", "x.*"), "all", "deep", "quick"),
                *(3, 0.5, {"key": "hunter2"}, "u://f", Path("c")),
            ),
        ),
        (Profile, replace(load_profile("s3"), known=())),
    ],
)
def test_values_survive_the_way(kind: Any, value: object) -> None:
    """Options of the run, known failures, profiles and crashes."""
    assert protocol.from_json(kind, json.loads(json.dumps(protocol.to_json(value)))) == value


EVERY = frozenset(clauses())


@pytest.mark.parametrize(
    ("program", "index", "wanted", "clause"),
    [
        (PLAIN, 1, EVERY, "read-byte.value"),
        (PLAIN, 1, frozenset({"read-byte.eof"}), "read-byte.value"),
        (PLAIN, -1, EVERY, "open.state"),
        (PLAIN, 3, EVERY, "close.no-raise"),
        (OPENED, -1, EVERY, "open.build-future"),
        (FAULTY, 0, EVERY, "fault.clean"),
    ],
)
def test_the_call_that_does_not_end_is_to_blame(
    program: Program, index: int, wanted: frozenset[str], clause: str
) -> None:
    """For the clause of its circumstances: one that is asked for, if there is one of those."""
    assert clause_of(program, index, "fault.clean", wanted) == clause


@pytest.mark.parametrize(
    ("index", "steps", "how"),
    [
        (-1, (), "open: crash"),
        (0, (SEEK,), "seek: crash"),
        (3, (*PLAIN.steps, Step("close")), "close: crash"),
    ],
)
def test_what_came_after_that_call_is_cut_away(
    index: int, steps: tuple[Step, ...], how: str
) -> None:
    """A close without a journal entry is added, and a stream without calls is removed."""
    shown = ended(PLAIN, index, "returns", "crashed", "crash")
    assert shown.program is not None
    assert shown.program.steps == steps
    needed = 1 if steps and all(step.stream == 0 for step in steps) else PLAIN.streams
    assert shown.program.streams == needed
    assert (shown.step, shown.signature) == (len(steps), how)


def _crash(*steps: Step, length: int = 5) -> Crash:
    program = Program(length, steps)
    return Crash("seek.pos", ended(program, len(steps) - 1, "returns", "crashed", "crash"))


def test_programs_with_the_calls_of_a_crash_are_left_out() -> None:
    """In their order, whatever else there is between them."""
    left_out = LeftOut([_crash(SEEK, READ)])
    assert Program(9, (SEEK, PREAD, READ)) in left_out
    assert Program(9, (READ, SEEK)) not in left_out
    assert Program(9, (READ,)) not in left_out
    assert OPENED not in left_out


def test_an_operation_that_crashes_twice_is_left_out() -> None:
    """Else one that always does would use up the processes of a run."""
    other = Step("pread", (0, 1, 0, 1))
    assert Program(5, (other,)) not in LeftOut([_crash(PREAD)])
    assert Program(5, (other,)) in LeftOut([_crash(PREAD), _crash(SEEK, PREAD)])
    assert Program(5, (READ,)) not in LeftOut([_crash(PREAD), _crash(SEEK, PREAD)])


def test_an_open_that_crashes_leaves_out_its_file_and_then_all() -> None:
    """Every program opens something."""
    assert Program(5, (READ,)) in LeftOut([_crash()])
    assert Program(6, (READ,)) not in LeftOut([_crash()])
    assert Program(6, (READ,)) in LeftOut([_crash(), _crash(length=7)])


def test_a_smaller_program_ends_with_the_same_call() -> None:
    """Alone comes first."""
    found = list(smaller(Program(5, (SEEK, READ, PREAD))))
    assert found[0] == Program(5, (PREAD,))
    assert all(program.steps[-1] == PREAD for program in found)
    assert {program.length for program in found} == {5, 0, 1}


def test_a_run_reports_the_crashes_it_is_told_of_and_avoids_them() -> None:
    """A clause whose calls are left out says why it was not exercised."""
    told = [replace(_crash(Step("skip", (n,))), clause="skip.progress") for n in (0, 1)]
    clauses = ("skip.progress", "skip.zero", "capabilities.unknown")
    result = check(binding_of(), settings_for(*clauses, crashes=tuple(told)))
    found = {c.clause.id: c for c in result.clauses}
    assert found["skip.progress"].outcome is Verdict.CRASH
    assert found["capabilities.unknown"].outcome is Verdict.PASS
    assert found["skip.zero"].reason == snapshot("its calls fail by skip.progress already")
    assert result.counts["crashes"] == 2


def test_nothing_runs_any_more_when_a_run_is_summed_up() -> None:
    """Else a hang in there, such as in a finalizer, would be charged to the last schedule."""
    begun: list[object] = []

    class Items(Journal):
        """Keeps what was begun."""

        def begin(self, item: object) -> None:
            begun.append(item)

    check(binding_of(), settings_for("pread.serializable"), journal=Items())
    assert begun[-1] is None
    assert any(isinstance(item, Schedule) for item in begun)


def test_a_run_ends_where_it_is_told_to() -> None:
    """Before the program of that number in the phase."""
    result = check(binding_of(), settings_for("seek.negative", until=("exhaustive", 10)))
    assert result.counts["programs"] < 100


def test_a_crash_in_a_clause_that_is_not_selected_makes_the_run_incomplete() -> None:
    """No verdict of the run shows it, so the run can't conform; it names clause and program."""
    told = replace(_crash(Step("skip", (0,))), clause="skip.progress")
    result = check(binding_of(), settings_for("capabilities.unknown", crashes=(told,)))
    assert [c.outcome for c in result.clauses] == [Verdict.PASS]
    assert not result.conforms
    assert "f.skip(0) (skip: crash, crashed), which breaks skip.progress" in result.incomplete


def test_a_program_of_many_calls_is_looked_through_once() -> None:
    """Each of its calls is one that hung in another state."""
    left_out = LeftOut()
    left_out.add(Program(5, (Step("seek", (-1,)),)), 0, everywhere=False)
    many = (Step("seek", (2,)), READ, Step("seek", (1,))) * 4_000
    assert Program(5, many) not in left_out
    assert Program(5, (*many, Step("seek", (-7,)))) in left_out
