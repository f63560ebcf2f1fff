"""The report at a terminal and in CI."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.report import console
from fscontract.contract.report.console import Console, is_plain, lines
from fscontract.contract.report.text import failure_block, known_line, short_block, table
from fscontract.contract.runner.events import PhaseStarted, Progress, RunStarted, ViolationFound
from fscontract.contract.runner.result import ClauseResult, NotSetUp, RunResult, Verdict
from fscontract.contract.spec.clauses import Level

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_failure_block_has_all_a_reader_needs(make_result: Make) -> None:
    """Clause, level, place, statement, program, expected, actual, because, what to run."""
    result = make_result(Verdict.FAIL, replay=".fscontract/9f.json")
    assert failure_block(result) == snapshot(
        [
            "FAIL  demo.one  MUST  demo § Demo.one()",
            "  What demo.one says.",
            "  program    f = open(3 bytes); f.seek(2); f.seek(-1)",
            "  at step    2: seek(-1)",
            "  expected   EOF or IO",
            "  actual     returned",
            "  again      fscontract replay .fscontract/9f.json",
            "  because    Readers stop.",
            "  explain    fscontract explain demo.one",
        ]
    )


def test_because_of_a_hang_says_what_waits(make_result: Make) -> None:
    """The clause says what a wrong result does, which nothing returned."""
    (line,) = [
        line
        for line in failure_block(make_result(Verdict.FAIL, how="read_fully: hang"))
        if line.startswith("  because")
    ]
    assert (
        line
        == "  because    The call does not return: the job that makes it waits until it is killed."
    )


def test_a_concurrent_failure_shows_its_interleaving(make_result: Make) -> None:
    """Every numbered line of the schedule, and its seed, are printed."""
    steps = ("1 A: pread(0)", "2 B: pread(4)")
    block = failure_block(make_result(Verdict.FAIL, interleaving=steps, schedule=99))
    assert "  order      1 A: pread(0)" in block
    assert "             2 B: pread(4)" in block
    assert "  schedule   99" in block


TRACE = ('File "my.py", line 3, in seek', "  raise KeyError(1)", "KeyError: 1")


def test_traceback_is_printed_on_request(make_result: Make, make_run: MakeRun) -> None:
    """Below the outcome; by default it is in the other reports only."""
    run = make_run(make_result(Verdict.FAIL, traceback=TRACE))
    assert not any("KeyError" in line for line in lines(run))
    shown = [
        line for line in lines(run, tracebacks=True) if line.startswith(" " * 13) or "trace" in line
    ]
    assert shown[:3] == [
        '  traceback  File "my.py", line 3, in seek',
        "               raise KeyError(1)",
        "             KeyError: 1",
    ]


def test_a_hang_shows_the_function_it_is_in(make_result: Make) -> None:
    waits = (f'File "{threading.__file__}", line 327, in wait', "  waiter.acquire()")
    trace = (*TRACE[:2], *waits)
    block = failure_block(make_result(Verdict.HANG, how="seek: hang", traceback=trace))
    place = block.index("  actual     returned")
    assert block[place + 1] == '  hangs in   File "my.py", line 3, in seek'


def test_a_difference_is_shown_below_the_outcome(make_result: Make) -> None:
    """Where the outcome is cut before it."""
    block = failure_block(make_result(Verdict.FAIL, difference="byte 18: expected [01], got [02]"))
    place = block.index("  actual     returned")
    assert block[place + 1] == "  differs    byte 18: expected [01], got [02]"


def test_an_intermittent_failure_says_so_below_the_program(make_result: Make) -> None:
    block = failure_block(make_result(Verdict.FAIL, intermittent=True))
    place = block.index("  program    f = open(3 bytes); f.seek(2); f.seek(-1)")
    assert block[place + 1] == "  runs       fails in some of them only"


def test_calls_of_the_api_are_shown_below_the_program(make_result: Make) -> None:
    """For a failure and for a SHOULD, if they are another form."""
    calls = "in = fs.open(path); in.seek(-1)"
    for block in (failure_block, short_block):
        shown = block(make_result(Verdict.FAIL, calls=calls))
        place = shown.index("  program    f = open(3 bytes); f.seek(2); f.seek(-1)")
        assert shown[place + 1] == f"  calls      {calls}"


def test_a_fixed_failure_says_to_take_the_entry_out(make_result: Make) -> None:
    """A known failure that passes names the reason it was listed for."""
    block = failure_block(make_result(Verdict.FIXED, reason="kept for callers"))
    assert block[0].startswith("FIXED  demo.one")
    assert "  reason     kept for callers" in block
    assert any("take the entry out" in line for line in block)


def test_a_lax_clause_is_shown_shortly(make_result: Make) -> None:
    """A SHOULD has no reasons, and the labels of a failure."""
    block = short_block(make_result(Verdict.LAX, level=Level.SHOULD))
    assert block[0].startswith("LAX  demo.one  SHOULD  ")
    assert block[1] == "  What demo.one says."
    labels = [line.split()[0] for line in block[2:]]
    assert labels == ["program", "expected", "actual", "explain"]


def test_a_lax_clause_can_be_replayed(make_result: Make) -> None:
    """By the command of a failure."""
    result = make_result(Verdict.LAX, level=Level.SHOULD)
    assert result.counterexample is not None
    replayed = replace(result.counterexample, replay="lax.json")
    block = short_block(replace(result, counterexample=replayed))
    assert "  again      fscontract replay lax.json" in block


def test_a_known_failure_is_one_line(make_result: Make) -> None:
    """Line breaks in the reason do not break it."""
    assert known_line(make_result(Verdict.KNOWN, reason="a\n b")) == "KNOWN  demo.one  a b"


def test_control_characters_are_escaped(make_result: Make) -> None:
    """Messages of a target can't control the terminal."""
    block = failure_block(make_result(Verdict.FAIL, actual="IO (\x1b[2J\x07)"))
    assert "  actual     IO (\\x1b[2J\\x07)" in block


def test_the_command_to_run_a_failure_again_names_code_and_is_one_line(make_result: Make) -> None:
    """However long it is: it is copied."""
    code = f"./{'long/' * 40}my store.py:make"
    block = failure_block(make_result(Verdict.FAIL, replay=".fscontract/9f.json", code=code))
    assert f"  again      fscontract replay .fscontract/9f.json '{code}'" in block


@pytest.mark.parametrize(
    ("outcomes", "line"),
    [
        ("pass pass", "conforms: 2 clauses hold"),
        ("pass known lax undeclared", "conforms: 1 clause holds, 1 lax, 1 known, 1 not verified"),
        ("pass fail hang error", "does not conform: 2 of 3 verified clauses fail, 1 not verified"),
        ("pass error", "incomplete: 1 clause holds, 1 not verified"),
        ("pass fixed", "does not conform: 1 known failure no longer there"),
        ("undeclared", "does not conform: no clause was verified, 1 not verified"),
    ],
)
def test_the_verdict_is_one_line(
    outcomes: str, line: str, make_result: Make, make_run: MakeRun
) -> None:
    """It counts what holds, fails, is known, and was not verified."""
    results = (make_result(Verdict(o), name=f"demo.{o}") for o in outcomes.split())
    assert make_run(*results).verdict_line == line


def test_the_table_counts_by_level_and_outcome(make_result: Make, make_run: MakeRun) -> None:
    """Outcomes and levels that do not occur are left out."""
    run = make_run(
        make_result(), make_result(Verdict.FAIL), make_result(level=Level.SHOULD, name="demo.two")
    )
    assert table(run) == [
        ["", "pass", "fail", "all"],
        ["MUST", "1", "1", "2"],
        ["SHOULD", "1", "0", "1"],
        ["all", "2", "1", "3"],
    ]


def test_what_was_not_verified_is_grouped_by_reason(make_result: Make, make_run: MakeRun) -> None:
    """One group for each outcome and reason, with all its clauses."""
    run = make_run(
        make_result(Verdict.UNEXERCISED, name="c"),
        make_result(Verdict.UNDECLARED, name="a", reason="supports-skip"),
        make_result(Verdict.UNDECLARED, name="b", reason="supports-skip"),
        make_result(name="d"),
    )
    assert run.unverified == [
        (Verdict.UNDECLARED, "supports-skip", ("a", "b")),
        (Verdict.UNEXERCISED, "", ("c",)),
    ]
    text = "\n".join(lines(run, skipped=True))
    assert "not verified: 3 clauses\n  undeclared: supports-skip\n    a b\n  unexercised\n" in text


def test_clauses_that_were_not_verified_are_counted(make_result: Make, make_run: MakeRun) -> None:
    """By reason; their ids would fill the screen."""
    run = make_run(
        make_result(Verdict.UNEXERCISED, name="c"),
        make_result(Verdict.UNDECLARED, name="a", reason="supports-skip"),
        make_result(Verdict.UNDECLARED, name="b", reason="supports-skip"),
    )
    text = "\n".join(lines(run))
    assert "    2  undeclared: supports-skip\n    1  unexercised\n" in text
    assert "--show-skipped lists them" in text


def test_the_ids_that_failed_come_before_the_verdict_by_consequence(
    make_result: Make, make_run: MakeRun
) -> None:
    """So that the end of the report says what to look at."""
    run = make_run(make_result(Verdict.FAIL, name="a"), make_result(Verdict.FIXED, name="b"))
    *_, ids, verdict = lines(run)
    assert verdict == run.verdict_line
    assert ids.endswith(": a b")


def test_the_last_line_is_the_verdict(make_result: Make, make_run: MakeRun) -> None:
    """Counts, versions, seed and seconds precede it."""
    *_, facts, verdict = lines(make_run(make_result()))
    assert facts == snapshot("12 programs, 40 operations, demo 1.0, seed 7, 1.2 s")
    assert verdict == "conforms: 1 clause holds"


def test_a_target_that_was_not_set_up_has_no_verdict() -> None:
    """Only the reason is printed."""
    assert list(lines(NotSetUp("s3://b", "no way in"))) == snapshot(["not set up: no way in"])


@pytest.mark.parametrize("environment", [{"CI": "true"}, {"TERM": "dumb"}])
def test_ci_and_dumb_terminals_get_plain_lines(environment: dict[str, str]) -> None:
    """Even if the stream is a terminal; a pipe always does."""
    assert is_plain(Terminal(), environment)
    assert is_plain(io.StringIO(), {})
    assert not is_plain(Terminal(), {"TERM": "xterm"})


def _drive(console: Console, run: RunResult) -> None:
    console(RunStarted("memory", "stream", "default", "quick", 7))
    console(PhaseStarted("exhaustive", 2))
    console(Progress("exhaustive", 1, 2, 5))
    console.finish(run)


def test_plain_output_has_a_line_for_each_phase(make_result: Make, make_run: MakeRun) -> None:
    """No escape sequences, no progress; target, binding, profile, effort and seed on top."""
    stream = io.StringIO()
    _drive(Console(stream, plain=True), make_run(make_result(Verdict.FAIL)))
    first, second, *_ = stream.getvalue().splitlines()
    assert first.endswith(": memory through stream, profile default, effort quick, seed 7")
    assert second == "phase exhaustive: 2 programs"
    assert "\x1b" not in stream.getvalue()
    assert "5 operations" not in stream.getvalue()


def test_a_terminal_gets_colours_unless_no_color(
    make_result: Make, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NO_COLOR takes the colours away, and the words stay."""
    monkeypatch.setenv("TERM", "xterm")
    run = make_run(make_result(Verdict.FAIL))
    shown: dict[str, str] = {}
    for value in ("", "1"):
        monkeypatch.setenv("NO_COLOR", value)
        stream = Terminal()
        _drive(Console(stream, plain=False), run)
        shown[value] = stream.getvalue()
    assert "\x1b[1;31mFAIL\x1b[0m" in shown[""]
    assert "\x1b[1;31m" not in shown["1"]
    assert "demo.one  MUST" in shown["1"]


def test_a_stream_that_can_not_encode_gets_escapes(make_result: Make, make_run: Any) -> None:
    """The section sign does not break a run under an ASCII locale."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream, plain=True).finish(make_run(make_result(Verdict.FAIL)))
    assert b"demo \\xa7 Demo.one()" in raw.getvalue()


@pytest.mark.parametrize("seconds", [0.0, 11.0])
def test_a_long_run_prints_violations_when_they_are_found(
    make_result: Make, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """A short one has its report soon."""
    now = [0.0]
    monkeypatch.setattr(console, "monotonic", lambda: now[0])
    stream = io.StringIO()
    shown = Console(stream, plain=True)
    shown(RunStarted("demo", "stream", "none", "quick", 0))
    failure = make_result(Verdict.FAIL).counterexample
    assert failure is not None
    shown(ViolationFound("demo.one", failure))
    now[0] = seconds
    shown(PhaseStarted("seeded", None))
    line = "found demo.one: f = open(3 bytes); f.seek(2); f.seek(-1): returned"
    assert (line in stream.getvalue().splitlines()) == (seconds > 0)
