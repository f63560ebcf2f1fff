"""The line that says how far a run has come."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from inline_snapshot import snapshot
from rich.console import Console as RichConsole

from fscontract.contract.report.console import Console, lines, shown_on
from fscontract.contract.report.progress import ProgressLine, ProgressLines, State
from fscontract.contract.runner.events import (
    Event,
    Interrupted,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.result import ClauseResult, RunResult, Verdict
from fscontract.contract.spec.clauses import Level, clauses
from tests.contract.conftest import example
from tests.contract.report.test_console import Terminal

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]
STARTED = RunStarted("memory", "stream", "default", "quick", 7, 200)


class Clock:
    """A clock that advances only when the test calls it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def heard(*events: Event, seconds: float = 12.0) -> State:
    """Return the state after these events, with a delay of some seconds before the last one."""
    clock = Clock()
    state = State(clock)
    for event in events[:-1]:
        state.hear(event)
    clock.now = seconds
    state.hear(events[-1])
    return state


def line(state: State, width: int = 200) -> str:
    """The line's text."""
    return " · ".join(part.text for part in state.parts(width))


def test_it_has_programs_clauses_violations_and_what_is_left() -> None:
    """By the pace so far, where it is known how many programs there are."""
    state = heard(
        STARTED,
        PhaseStarted("seeded", 4000),
        ViolationFound("a", example()),
        Progress("seeded", 1000, 4000, 9000, clauses=118),
    )
    assert line(state) == (
        snapshot(
            "memory · seeded · ━━━───────── · 1,000 of 4,000 programs · 118 of 200 clauses · "
            "1 violation · 0:12 · 0:36 left in this phase"
        )
    )


def test_where_the_number_is_not_known_nothing_is_guessed() -> None:
    """Neither a bar nor what is left."""
    state = heard(
        STARTED, PhaseStarted("exhaustive", None), Progress("exhaustive", 12345, None, 9, clauses=5)
    )
    assert line(state) == (
        snapshot("memory · exhaustive · 12,345 programs · 5 of 200 clauses · 0 violations · 0:12")
    )


def test_tasks_that_run_elsewhere_are_counted_as_such() -> None:
    """With how many are under way."""
    progress = Progress("programs", 3, 40, 9, unit="task", running=2)
    assert "3 of 40 tasks, 2 running" in line(heard(STARTED, progress))


def test_what_was_reached_once_stays_reached() -> None:
    """An event that does not tell how many clauses were exercised takes nothing back."""
    state = heard(STARTED, Progress("a", 1, None, 1, clauses=7), Progress("b", 1, None, 1))
    assert "7 of 200 clauses" in line(state)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_it_is_one_line_of_any_width(width: int) -> None:
    """The most important parts stay longest: the phase, then violations, then programs."""
    state = heard(
        STARTED, PhaseStarted("openings", 4000), Progress("openings", 1000, 4000, 9, clauses=9)
    )
    text = line(state, width)
    assert len(text) <= width
    assert text.startswith(("openings", "memory"))
    assert ("0 violations" in text) is (width >= 40)
    assert ("programs" in text) is (width >= 60)
    assert ("left in this phase" in text) is (width >= 100)


def test_a_recommendation_that_is_not_kept_is_no_violation() -> None:
    """Nor is it one in the report."""
    assert clauses()["seek.open"].level is Level.SHOULD
    assert "0 violations" in line(heard(STARTED, ViolationFound("seek.open", example())))
    assert "1 violation" in line(heard(STARTED, ViolationFound("seek.zero", example())))


def test_a_new_run_starts_anew() -> None:
    """Violations of the target before are not counted again."""
    state = heard(STARTED, ViolationFound("a", example()), STARTED)
    assert "0 violations" in line(state)


def test_names_can_not_drive_the_terminal() -> None:
    """Those of targets and phases."""
    started = RunStarted("a\x1b[2J", "stream", "default", "quick", 7, 200)
    assert "\x1b" not in line(heard(started, PhaseStarted("b\x1b", None)))


def test_the_line_is_drawn_and_taken_away(make_run: MakeRun) -> None:
    """Over itself, with the cursor hidden only meanwhile."""
    stream = Terminal()
    shown = ProgressLine(RichConsole(file=stream, width=80, force_terminal=True))
    shown.say("setting up memory")
    shown(STARTED)
    shown(Progress("seeded", 10, 40, 100))
    shown(RunFinished(make_run()))
    text = stream.getvalue()
    assert "setting up memory" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert text.rstrip("\n").endswith(("\x1b[2K", "\x1b[?25h"))


def test_violations_are_counted_once_there_is_a_target() -> None:
    """While it is set up there are none to speak of."""
    state = State()
    state.begin("setting up memory")
    assert not any("violation" in part.text for part in state.parts(80))
    state.hear(STARTED)
    assert any(part.text == "0 violations" for part in state.parts(80))


def test_runs_of_other_commands_show_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is shown on a terminal, and removed in any case."""
    for name, value in (("CI", ""), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with suppress(ZeroDivisionError), shown_on(stream) as listener:
            listener(STARTED)
            raise ZeroDivisionError
    assert "setting up" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")
    assert pipe.getvalue() == ""


def test_a_log_gets_a_line_a_minute() -> None:
    """With what the line at a terminal says, but the target and the bar."""
    clock, said = Clock(), list[str]()
    show = ProgressLines(said.append, clock)
    for event in (STARTED, PhaseStarted("seeded", 400)):
        show(event)
    for seconds in range(10, 200, 10):
        clock.now = seconds
        show(Progress("seeded", seconds, 400, 9, clauses=7))
    rest = "of 400 programs, 7 of 200 clauses, 0 violations"
    assert said == [
        f"seeded, 60 {rest}, 1:00, 5:40 left in this phase",
        f"seeded, 120 {rest}, 2:00, 4:40 left in this phase",
        f"seeded, 180 {rest}, 3:00, 3:40 left in this phase",
    ]


def test_the_minute_of_a_log_begins_with_its_run() -> None:
    clock, said = Clock(), list[str]()
    show = ProgressLines(said.append, clock)
    clock.now = 100.0
    for event in (STARTED, Progress("seeded", 1, 40, 9)):
        show(event)
    assert said == []


@pytest.mark.parametrize("quiet", [False, True])
def test_a_console_without_a_terminal_prints_how_far_a_long_run_is(
    quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fscontract.contract.report.progress._PAUSE", 0.0)
    stream = io.StringIO()
    console = Console(stream, plain=True, quiet=quiet)
    for event in (STARTED, PhaseStarted("seeded", 40), Progress("seeded", 10, 40, 9)):
        console(event)
    last = stream.getvalue().splitlines()[-1:]
    assert last == ([] if quiet else ["seeded, 10 of 40 programs, 0 violations, 0:00"])


def test_other_commands_print_it_to_a_log_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fscontract.contract.report.progress._PAUSE", 0.0)
    pipe = io.StringIO()
    with shown_on(pipe) as listener:
        for event in (STARTED, PhaseStarted("seeded", 40), Progress("seeded", 10, 40, 9)):
            listener(event)
    assert pipe.getvalue() == snapshot("seeded, 10 of 40 programs, 0 violations, 0:00\n")


def drive(make_run: MakeRun, *found: ClauseResult, columns: int, **options: Any) -> list[str]:
    """Return the output of a run on a terminal of this width, without colours."""
    stream = Terminal()
    console = Console(stream, plain=False, **options)
    assert console._rich is not None
    console._rich.width = columns
    for event in (STARTED, PhaseStarted("seeded", 40)):
        console(event)
    console.finish(make_run(*found))
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", stream.getvalue()).splitlines()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_reports_fit_the_terminal(columns: int, make_result: Make, make_run: MakeRun) -> None:
    """Of a wide one no more is used than can be read; a table that is too wide is turned."""
    found = [
        make_result(v, name=f"demo.{v.value}", actual="returned " * 40, reason="why")
        for v in Verdict
    ]
    text = drive(make_run, *found, columns=columns)
    report = [t for t in text if t.startswith(("  ", "MUST", "pass"))]
    assert max(map(len, report)) <= min(columns, 120)
    assert max(map(len, report)) > min(columns, 120) * 0.8
    assert ("MUST" in " ".join(t[:4] for t in text)) is (columns == 200)


def test_a_report_in_a_file_has_a_width_of_its_own(make_result: Make, make_run: MakeRun) -> None:
    """Whatever the terminal is."""
    result = make_run(make_result(Verdict.FAIL, actual="returned " * 40))
    assert max(map(len, lines(result))) <= 98


@pytest.mark.parametrize("plain", [True, False])
def test_quiet_prints_the_verdict_alone(plain: bool, make_result: Make, make_run: MakeRun) -> None:
    """With the name of the target."""
    stream = Terminal()
    console = Console(stream, plain=plain, quiet=True)
    console.set_up("memory")
    for event in (STARTED, PhaseStarted("seeded", 40)):
        console(event)
    console.finish(make_run(make_result()))
    assert stream.getvalue() == snapshot("memory: conforms: 1 clause holds\n")


def test_a_console_remembers_what_an_interrupted_run_had_found(make_run: MakeRun) -> None:
    """Until the next one begins."""
    console, result = Console(io.StringIO()), make_run()
    console(Interrupted(result))
    assert console.so_far is result
    console(STARTED)
    assert console.so_far is None
