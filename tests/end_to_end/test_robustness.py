"""Targets that misbehave: the report is complete, the exit code right, and nothing is left.

The fixture `check` asserts that no directory of the run and no temporary file is left.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest
from inline_snapshot import snapshot

from fscontract.contract.isolation import supervisor
from fscontract.contract.runner.events import Event, RunFinished, RunStarted, ViolationFound
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.run_options import RunOptions
from tests.end_to_end.conftest import Command, Ended
from tests.end_to_end.hostile import SECRET

HOSTILE = f"{Path(__file__).with_name('hostile.py')}:make"
#: The clauses of `has_capability`, of which the profile declares one.
GROUP, CLAUSE = "capabilities", "capabilities.unknown"


def hostile(check: Command, target: Path, how: str, *more: str, clauses: str = GROUP) -> Ended:
    """Return the check of a target that misbehaves in the way `how`."""
    chosen = ("--clauses", clauses, "--timeout", "0.5")
    return check(HOSTILE, "-o", f"root={target}", "-o", f"how={how}", *chosen, *more)


def is_complete(ended: Ended, code: int, outcome: str, clause: str = CLAUSE) -> None:
    """Assert that the command ended with this code, and that all its reports have this outcome."""
    assert ended.code == code, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert ended.outcomes()[clause] == outcome
    assert "conform" in ended.stdout.rstrip("\n").splitlines()[-1]
    assert ended.report["conforms"] is (code == 0)


#: The actual outcomes in reports.
ACTUAL: dict[str, str] = snapshot(
    {
        "raises-panic": "OTHER (Panic: called `Option::unwrap()` on a `None` value)",
        "raises-interrupt": "OTHER (KeyboardInterrupt)",
        "raises-exit": "OTHER (SystemExit: 0)",
        "raises-nasty": "OTHER (NastyError)",
        "raises-long": "IO (OSError: \udcff\x1b[2Jxxx)",
        "returns-none": "returned",
        "returns-text": "returned 'xxx... (100002 characters)",
        "returns-huge": "returned a number of 16610 bits",
        "returns-nasty": "returned <Nasty object>",
        "returns-nested": "returned [[(<Nasty object>,)]]",
        "returns-number": "returned 0",
    }
)


@pytest.mark.parametrize(
    "how",
    [
        "raises-panic",
        "raises-interrupt",
        "raises-exit",
        "raises-nasty",
        "raises-long",
        "returns-none",
        "returns-text",
        "returns-huge",
        "returns-nasty",
        "returns-nested",
        "returns-number",
    ],
)
def test_hostile_exception_or_value_is_an_outcome(how: str, check: Command, target: Path) -> None:
    ended = hostile(check, target, how)
    is_complete(ended, 1, "fail")
    (shown,) = (c["counterexample"] for c in ended.report["clauses"] if c["id"] == CLAUSE)
    assert len(shown["actual"]) < 300
    assert re.sub("xxx+", "xxx", shown["actual"]) == ACTUAL[how]


@pytest.mark.parametrize(
    "how",
    [
        "forks",
        "prints",
        "closes-stdout",
        "closes-stderr",
        "closes-sys-stdout",
        "drops-stdout",
        "goes-elsewhere",
        "traces",
        "clears-environment",
    ],
)
@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
def test_side_effects_of_a_call_change_no_verdict(
    how: str, more: tuple[str, ...], check: Command, target: Path
) -> None:
    is_complete(hostile(check, target, how, *more), 0, "pass")


def test_clause_is_unverified_if_a_call_removes_all_files(check: Command, target: Path) -> None:
    """Its second example can't be opened any more."""
    is_complete(hostile(check, target, "removes-everything"), 5, "unexercised")


def test_threads_that_never_end_are_a_violation_and_do_not_delay_the_end(
    check: Command, target: Path
) -> None:
    ended = hostile(check, target, "leaks-threads", clauses="capabilities.unknown,close.release")
    is_complete(ended, 1, "fail", "close.release")


@pytest.mark.parametrize(
    ("how", "clauses", "code", "outcome"),
    [
        ("hangs", CLAUSE, 1, "hang"),
        ("hangs-in-open", "open.state", 1, "hang"),
        ("hangs-in-close", "close.no-raise", 1, "hang"),
        ("panics-in-open", "open.state", 1, "fail"),
        ("panics-in-status", "model.len-eq-status", 1, "fail"),
        ("nasty-status", "model.len-eq-status", 1, "fail"),
    ],
)
def test_open_close_and_status_may_fail_or_hang(
    how: str, clauses: str, code: int, outcome: str, check: Command, target: Path
) -> None:
    is_complete(hostile(check, target, how, clauses=clauses), code, outcome, clauses)


SET_UP: dict[str, str] = snapshot(
    {
        "panics-in-make": "hostile.py:make: Panic: make (hostile.py:LINE)",
        "panics-in-prepare": "hostile.py:make: can't be used: Panic: mkdirs (hostile.py:LINE)",
        "hangs-in-prepare": "hostile.py:make: hangs during set-up",
    }
)


@pytest.mark.parametrize("how", ["panics-in-make", "panics-in-prepare", "hangs-in-prepare"])
def test_target_that_fails_or_hangs_in_set_up_exits_3_with_one_line(
    how: str, check: Command, target: Path
) -> None:
    ended = hostile(check, target, how)
    assert ended.code == 3
    assert ended.report["conforms"] is False
    line = ended.mistake().replace(f"{Path(__file__).parent}/", "")
    assert re.sub(r"(\.py):\d+", r"\1:LINE", line) == SET_UP[how]


@pytest.mark.parametrize("how", ["panics-in-dispose", "hangs-in-dispose"])
def test_failed_clean_up_is_a_warning_and_keeps_the_verdicts(
    how: str, check: Command, target: Path
) -> None:
    ended = hostile(check, target, how)
    is_complete(ended, 0, "pass")
    (warning,) = ended.report["warnings"]
    assert "fscontract-" in warning or "Panic" in warning


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
def test_password_in_a_message_is_masked(
    more: tuple[str, ...], check: Command, target: Path
) -> None:
    ended = hostile(check, target, "raises-secret", "-o", f"secret={SECRET}", *more)
    is_complete(ended, 1, "fail")
    assert "wrong password ***" in ended.stdout
    assert SECRET not in ended.stdout + ended.stderr + json.dumps(ended.report)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("テスト", ()),
        ("x" * 200, ("--no-isolate",)),
        ("\udcff\udcfe", ()),
        ("\udcff\udcfe", ("--no-isolate",)),
    ],
)
def test_any_name_of_a_target_gives_well_formed_reports(
    name: str, more: tuple[str, ...], check: Command, place: Path, tmp_path: Path
) -> None:
    source = "from fscontract.implementations.memory import MemoryFileSystem as make\n"
    (place / f"{name}.py").write_text(source)
    junit, markdown = tmp_path / "junit.xml", tmp_path / "report.md"
    files = ("--junit", str(junit), "--markdown", str(markdown))
    ended = check(f"./{name}.py:make", "--clauses", GROUP, *files, *more)
    is_complete(ended, 0, "pass")
    assert ended.report["target"] == f"./{name}.py:make"
    assert ElementTree.parse(junit).getroot().find("testsuite") is not None
    assert CLAUSE not in markdown.read_text()  # it lists what fails


# Isolated ---------------------------------------------------------------------------------------


CRASHES: dict[str, str] = snapshot(
    {"segfaults": "the process was ended by SIGSEGV", "exits": "the process exited with status 7"}
)


@pytest.mark.parametrize("how", ["segfaults", "exits"])
def test_program_that_ends_the_process_is_a_crash_with_a_replay(
    how: str, check: Command, place: Path, target: Path
) -> None:
    features = ("--features", "supports-available", "--isolate")
    ended = hostile(check, target, how, *features, clauses="capabilities.unknown,available.bounds")
    is_complete(ended, 1, "crash")
    assert ended.outcomes()["available.bounds"] == "pass"
    (shown,) = (c["counterexample"] for c in ended.report["clauses"] if c["id"] == CLAUSE)
    assert shown["actual"] == CRASHES[how]
    assert [step[0] for step in shown["program"]["steps"]] == ["has_capability"]
    replay = json.loads((place / shown["replay"]).read_text())
    assert replay["program"] == shown["program"]
    assert "CRASH  capabilities.unknown" in ended.stdout
    assert 0 < ended.report["counts"]["crashes"] <= 5


def test_isolated_run_has_the_same_output_as_one_process(check: Command, target: Path) -> None:
    args = ("--clauses", "python.writable.false,python.readable", "--seed", "3")
    plain = check("memory://x", *args, "--no-isolate")
    apart = check("memory://x", *args)
    assert (apart.code, apart.outcomes()) == (plain.code, plain.outcomes())
    assert plain.code == 1
    assert apart.report["clauses"] == plain.report["clauses"]
    assert apart.report["counts"] == plain.report["counts"]
    assert _timeless(apart.stdout) == _timeless(plain.stdout)


def test_known_crash_passes_by_its_signature(check: Command, place: Path, target: Path) -> None:
    entry = {"clause": CLAUSE, "reason": "as ever", "signature": "has_capability: crash"}
    (place / "known.yaml").write_text(json.dumps({"known": [entry]}))
    features = "!supports-unbuffer,!supports-bytebuffer-read,!supports-bytebuffer-pread"
    options = "--isolate", "--known", "known.yaml", "--features", features
    ended = hostile(check, target, "is-killed", *options)
    is_complete(ended, 0, "known")


def test_crash_while_a_feature_is_observed_is_one_of_its_clause(
    check: Command, target: Path
) -> None:
    ended = hostile(check, target, "is-killed", "--isolate", clauses="unbuffer.declare")
    assert (ended.code, ended.outcomes()) == (1, {"unbuffer.declare": "crash"})


def test_target_that_holds_the_gil_is_a_hang(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No watchdog in its process can end the call."""
    monkeypatch.setattr(supervisor, "_QUIET", 3.0)
    monkeypatch.setattr(supervisor, "_QUIET_PROGRAMS", 0)
    options = {"root": str(target), "how": "waits-with-gil"}
    run = RunOptions(None, (), (CLAUSE,), "all", "quick", None, 0, 0.5, options, None, None)
    events: list[Event] = []
    with closing(supervisor.Isolated(HOSTILE, run, ())) as isolated:
        result = isolated.check(events.append)
    (found,) = result.clauses
    assert (found.clause.id, found.outcome) == (CLAUSE, Verdict.HANG)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert [e.clause for e in events if isinstance(e, ViolationFound)] == [CLAUSE]
    assert not list(target.iterdir())


def test_clean_up_that_holds_the_gil_is_a_warning_and_keeps_the_verdicts(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_QUIET", 3.0)
    monkeypatch.setattr(supervisor, "_QUIET_PROGRAMS", 0)
    options = {"root": str(target), "how": "waits-with-gil-in-dispose"}
    run = RunOptions(None, (), (CLAUSE,), "all", "quick", None, 0, 0.5, options, None, None)
    with closing(supervisor.Isolated(HOSTILE, run, ())) as isolated:
        result = isolated.check(lambda event: None)
    assert result.conforms
    expected = "it stopped responding while its files were removed"
    assert any(warning.endswith(expected) for warning in result.warnings)


def test_interrupted_run_removes_its_files(place: Path, target: Path) -> None:
    """Ctrl-C reaches the process of the target."""
    args = ("-o", f"root={target}", "-o", "how=nothing", "--isolate", "--effort", "deep")
    command = [sys.executable, "-m", "fscontract", "check", HOSTILE, *args]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert any("phase exhaustive" in line for line in running.stdout)
        assert list(target.iterdir())
        os.kill(running.pid, signal.SIGINT)
        running.stdout.read()
    assert running.returncode == 130
    assert not list(target.iterdir())


def _timeless(text: str) -> list[str]:
    return [line.rpartition(", ")[0] if line.endswith(" s") else line for line in text.splitlines()]
