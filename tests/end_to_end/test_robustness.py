"""Targets that do what no target should: the report is complete, the exit code right, nothing left.

The fixture `check` sees that no directory of the run and no temporary file is left.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

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
    """A check of the target that misbehaves in the way `how`."""
    chosen = ("--clauses", clauses, "--timeout", "0.5")
    return check(HOSTILE, "-o", f"root={target}", "-o", f"how={how}", *chosen, *more)


def is_complete(ended: Ended, code: int, outcome: str, clause: str = CLAUSE) -> None:
    """The command ended with this code, and all its reports tell of this outcome."""
    assert ended.code == code, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert ended.outcomes()[clause] == outcome
    assert "conform" in ended.stdout.rstrip("\n").splitlines()[-1]
    assert ended.report["conforms"] is (code == 0)


@pytest.mark.parametrize(
    ("how", "actual"),
    [
        ("raises-panic", "OTHER (Panic: called `Option::unwrap()` on a `None` value)"),
        ("raises-interrupt", "OTHER (KeyboardInterrupt)"),
        ("raises-exit", "OTHER (SystemExit: 0)"),
        ("raises-nasty", "OTHER (NastyError)"),
        ("raises-long", "IO (OSError: \udcff\x1b[2Jxxx"),
        ("returns-none", "returned"),
        ("returns-text", "returned 'xxx"),
        ("returns-huge", "returned a number of 16610 bits"),
        ("returns-nasty", "returned <Nasty object>"),
        ("returns-nested", "returned [((<Nasty object>,),)]"),
        ("returns-number", "returned 0"),
    ],
)
def test_whatever_a_call_raises_or_returns_is_an_outcome(
    how: str, actual: str, check: Command, target: Path
) -> None:
    """Be it no Exception, no value that can be touched, or one without end."""
    ended = hostile(check, target, how)
    is_complete(ended, 1, "fail")
    (shown,) = (c["counterexample"] for c in ended.report["clauses"] if c["id"] == CLAUSE)
    assert shown["actual"].startswith(actual)
    assert len(shown["actual"]) < 300


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
def test_what_a_call_does_besides_changes_no_verdict(
    how: str, more: tuple[str, ...], check: Command, target: Path
) -> None:
    """The answer is right, and the report gets to where it should."""
    is_complete(hostile(check, target, how, *more), 0, "pass")


def test_a_call_that_removes_every_file_leaves_its_clause_unverified(
    check: Command, target: Path
) -> None:
    """Its second example can't be opened any more, so the clause was not verified."""
    is_complete(hostile(check, target, "removes-everything"), 5, "unexercised")


def test_threads_that_never_end_do_not_hold_up_the_end(check: Command, target: Path) -> None:
    """They are a violation, and there are not thousands of them."""
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
def test_every_call_may_fail_or_hang(
    how: str, clauses: str, code: int, outcome: str, check: Command, target: Path
) -> None:
    """Opening and closing like any other."""
    is_complete(hostile(check, target, how, clauses=clauses), code, outcome, clauses)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("panics-in-make", "Panic: make (hostile.py:"),
        ("panics-in-prepare", "can't be used: Panic: mkdirs"),
        ("hangs-in-prepare", "hangs while it is set up"),
    ],
)
def test_a_target_that_can_not_be_set_up_exits_3(
    how: str, text: str, check: Command, target: Path
) -> None:
    """With a line, whether it fails or hangs."""
    ended = hostile(check, target, how)
    assert ended.code == 3
    assert text in ended.mistake().replace(f"{Path(__file__).parent}/", "")
    assert ended.report["conforms"] is False


@pytest.mark.parametrize("how", ["panics-in-dispose", "hangs-in-dispose"])
def test_verdicts_stand_if_cleaning_up_fails(how: str, check: Command, target: Path) -> None:
    """It is told as a warning."""
    ended = hostile(check, target, how)
    is_complete(ended, 0, "pass")
    (warning,) = ended.report["warnings"]
    assert "fscontract-" in warning or "Panic" in warning


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
def test_options_stay_secret_whatever_a_call_says(
    more: tuple[str, ...], check: Command, target: Path
) -> None:
    """A message that repeats a password is shown without it."""
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
def test_any_name_of_a_target_will_do(
    name: str, more: tuple[str, ...], check: Command, place: Path, tmp_path: Path
) -> None:
    """All reports are well-formed."""
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


@pytest.mark.parametrize(
    ("how", "actual"),
    [
        ("segfaults", "the process was ended by SIGSEGV"),
        ("exits", "the process exited with status 7"),
    ],
)
def test_a_program_that_ends_the_process_is_reported(
    how: str, actual: str, check: Command, place: Path, target: Path
) -> None:
    """As a crash, with its shortest program and a replay; all else is judged."""
    features = ("--features", "supports-available", "--isolate")
    ended = hostile(check, target, how, *features, clauses="capabilities.unknown,available.bounds")
    is_complete(ended, 1, "crash")
    assert ended.outcomes()["available.bounds"] == "pass"
    (shown,) = (c["counterexample"] for c in ended.report["clauses"] if c["id"] == CLAUSE)
    assert shown["actual"] == actual
    assert [step[0] for step in shown["program"]["steps"]] == ["has_capability"]
    replay = json.loads((place / shown["replay"]).read_text())
    assert replay["program"] == shown["program"]
    assert "CRASH  capabilities.unknown" in ended.stdout
    assert 0 < ended.report["counts"]["crashes"] <= 5


def test_an_isolated_run_says_the_same(check: Command, target: Path) -> None:
    """Lines, verdicts, counts and programs are those of a run in one process."""
    args = ("--clauses", "python.writable.false,python.readable", "--seed", "3")
    plain = check("memory://x", *args, "--no-isolate")
    apart = check("memory://x", *args)
    assert (apart.code, apart.outcomes()) == (plain.code, plain.outcomes())
    assert plain.code == 1
    assert apart.report["clauses"] == plain.report["clauses"]
    assert apart.report["counts"] == plain.report["counts"]
    assert _timeless(apart.stdout) == _timeless(plain.stdout)


def test_a_known_crash_is_no_failure(check: Command, place: Path, target: Path) -> None:
    """By the signature that names the call."""
    entry = {"clause": CLAUSE, "reason": "as ever", "signature": "has_capability: crash"}
    (place / "known.yaml").write_text(json.dumps({"known": [entry]}))
    ended = hostile(check, target, "is-killed", "--isolate", "--known", "known.yaml")
    is_complete(ended, 0, "known")


def test_a_target_that_blocks_all_of_python_hangs(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No watchdog in its process can end it, so the process is ended."""
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


def test_an_interrupted_run_leaves_nothing(place: Path, target: Path) -> None:
    """Ctrl-C reaches the process of the target, which clears away what it has made."""
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
