"""Targets that end the process, and signals that do: exit code 0 is for a verdict alone.

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

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.isolation import supervisor
from fscontract.contract.runner import run_options
from fscontract.contract.runner.run_options import RunOptions
from tests.end_to_end.conftest import Command, Ended

ENDING = f"{Path(__file__).with_name('ending.py')}:make"
CLAUSE = "read-byte.value"


def ending(
    check: Command, target: Path, how: str, where: str, *more: str, clause: str = CLAUSE
) -> Ended:
    """A check of the target that ends in the way `how` at the place `where`."""
    options = ("-o", f"root={target}", "-o", f"how={how}", "-o", f"where={where}")
    return check(ENDING, *options, "--clauses", clause, "--timeout", "5", *more)


# Without a verdict --------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["read", "finalizer"])
@pytest.mark.parametrize("how", ["exits", "exits-in-thread", "execs", "is-killed"])
def test_a_call_that_ends_the_process_is_a_crash(
    how: str, where: str, check: Command, target: Path
) -> None:
    """Also with status 0, as after a run that went well."""
    ended = ending(check, target, how, where)
    assert ended.code == 1, ended.stdout + ended.stderr
    assert ended.outcomes()[CLAUSE] == "crash"
    assert "CRASH  read-byte.value" in ended.stdout


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("exits", "the process exited with status 0 during set-up"),
        ("exits-in-thread", "the process exited with status 0 during set-up"),
        ("execs", "the process exited with status 0 during set-up"),
        ("is-killed", "the process was ended by SIGKILL during set-up"),
        ("says-exit", "SystemExit: 0 ("),
        ("closes-all", "closed descriptors that are not its own"),
    ],
)
def test_a_factory_that_ends_the_process_is_no_set_up(
    how: str, said: str, check: Command, target: Path
) -> None:
    """One line says how, with exit code 3; the report is written."""
    ended = ending(check, target, how, "factory")
    assert ended.code == 3
    assert said in ended.mistake()
    assert said in ended.report["error"]


def test_a_module_that_ends_the_process_when_it_is_imported_is_no_set_up(
    check: Command, place: Path
) -> None:
    """As a factory that does."""
    (place / "gone.py").write_text("import os\nos._exit(0)\n")
    ended = check("gone.py:make")
    assert (ended.code, ended.report["conforms"]) == (3, False)
    assert "gone.py:make: the process exited with status 0 during set-up" in ended.mistake()


@pytest.mark.parametrize(("where", "code"), [("prepare", 3), ("dispose", 3)])
def test_a_run_whose_process_ends_beside_its_programs_does_not_conform(
    where: str, code: int, check: Command, target: Path
) -> None:
    """What its clauses showed is in the report, which says that the run is incomplete."""
    ended = ending(check, target, "exits", where)
    assert ended.code == code
    assert ended.report["conforms"] is False
    if where == "dispose":
        assert ended.outcomes() == {CLAUSE: "pass"}
        assert "exited with status 0 after the last program" in ended.report["incomplete"]
        assert ended.stdout.rstrip().endswith("incomplete: 1 clause holds")


def test_descriptors_that_a_call_closes_blame_no_clause(check: Command, target: Path) -> None:
    """Programs went on after it, so it can't be told which call it was."""
    ended = ending(check, target, "closes-all", "read")
    assert ended.code == 3
    assert "the target closed descriptors that are not its own" in ended.mistake()


@pytest.mark.parametrize("how", ["exits", "exits-in-thread", "execs", "says-exit", "forks"])
def test_an_exit_handler_changes_no_verdict(how: str, check: Command, target: Path) -> None:
    """It was written before."""
    ended = ending(check, target, how, "atexit")
    assert (ended.code, ended.outcomes()) == (0, {CLAUSE: "pass"})


def test_an_exit_handler_that_kills_the_process_is_no_clean_end(
    check: Command, target: Path
) -> None:
    """The verdicts are in the report all the same."""
    ended = ending(check, target, "is-killed", "atexit")
    assert (ended.code, ended.outcomes()) == (3, {CLAUSE: "pass"})
    assert "was ended by SIGKILL" in ended.report["incomplete"]


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
def test_a_fork_of_the_target_writes_no_second_report(
    more: tuple[str, ...], check: Command, target: Path
) -> None:
    """One verdict is printed, by the process that was there before."""
    ended = ending(check, target, "forks", "factory", *more, clause="seek.zero")
    assert ended.code == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("conforms: ") == 1


def test_a_crash_in_a_clause_that_is_not_selected_is_no_success(
    check: Command, target: Path
) -> None:
    """It says which clause and which program it was; what holds is still said to hold."""
    ended = ending(check, target, "exits", "capability")
    assert (ended.code, ended.outcomes()) == (3, {CLAUSE: "pass"})
    assert "which breaks capabilities." in ended.report["incomplete"]
    assert "f = open(0 bytes); f.has_" in ended.report["incomplete"]


def test_a_part_of_a_pipeline_that_ends_the_process_is_no_success(
    check: Command, place: Path
) -> None:
    """Its scenarios are watched as well."""
    (place / "part.py").write_text(
        "import os\n"
        "from fscontract.pipeline.blockreader.binding import blockreader\n"
        "def make():\n"
        "    found = blockreader({})\n"
        "    type(found).reader = lambda *_: os._exit(0)\n"
        "    return found\n"
    )
    ended = check("part.py:make")
    assert ended.code == 3
    assert "exited with status 0 in phase scenarios" in ended.mistake()


def test_a_set_up_that_takes_too_long_is_ended(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the limit, which grows with that of a program."""
    assert run_options.set_up_limit(1.0) == 60.0
    assert run_options.set_up_limit(100.0) == 600.0
    monkeypatch.setattr(run_options, "_SET_UP", 3.0)
    options = {"root": str(target), "how": "hangs", "where": "factory"}
    run = RunOptions(None, (), (CLAUSE,), "all", "quick", None, 0, 0.1, options, None, None)
    with (
        closing(supervisor.Isolated(ENDING, run, ())) as isolated,
        pytest.raises(TargetError, match="set-up did not finish within 3 s"),
    ):
        isolated.set_up()


# Other commands -----------------------------------------------------------------------------------


def command(place: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Another command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "fscontract", *args],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def replay(place: Path) -> str:
    """A replay file of one read."""
    program = {"length": 1, "streams": 1, "steps": [["read_byte"]]}
    data = {"fscontract-replay": 1, "clause": CLAUSE, "program": program}
    (place / "r.json").write_text(json.dumps(data))
    return "r.json"


@pytest.mark.parametrize(
    "args",
    [
        ("replay", "r.json", ENDING),
        ("known", "--write", "k.yaml", ENDING, "--reason", "r"),
        ("profile", "infer", ENDING),
        ("clean", ENDING),
    ],
)
def test_no_command_succeeds_if_its_target_ends_it(
    args: tuple[str, ...], place: Path, target: Path, replay: str
) -> None:
    """One line says how it ended."""
    options = ("-o", f"root={target}", "-o", "where=factory")
    done = command(place, *args, *options)
    assert done.returncode == 3
    said = "fscontract: error: the process exited with status 0 before there was a result\n"
    assert done.stderr == said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("exits", "the process exited with status 0"),
        ("is-killed", "the process was ended by SIGKILL"),
    ],
)
def test_a_program_that_ends_the_process_when_it_is_replayed_fails(
    how: str, said: str, place: Path, target: Path, replay: str
) -> None:
    """Which is what the replay of a crash is for."""
    options = ("-o", f"root={target}", "-o", f"how={how}", "-o", "where=read")
    done = command(place, "replay", replay, ENDING, *options)
    assert done.returncode == 1
    assert done.stdout == f"{CLAUSE}: ends the process\n  actual     {said}\n"


def test_a_replay_tells_what_its_process_has_found(place: Path, replay: str) -> None:
    """In the usual form, with the usual exit code."""
    done = command(place, "replay", replay, "memory")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{CLAUSE}: passes now\n")


# Signals ------------------------------------------------------------------------------------------

CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
@pytest.mark.parametrize("name", CODES)
def test_a_signal_ends_a_run_with_the_report_so_far(
    name: str, more: tuple[str, ...], place: Path, target: Path
) -> None:
    """The directory of the run is removed; nothing says that the target does not conform."""
    args = ("-o", f"root={target}", "--effort", "deep", "--json", "r.json", *more)
    command = [sys.executable, "-m", "fscontract", "check", ENDING, *args]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert any("phase exhaustive" in line for line in running.stdout)
        assert list(target.iterdir())
        running.send_signal(getattr(signal, name))
        shown, said = running.stdout.read(), running.stderr.read()
    assert running.returncode == CODES[name], shown + said
    assert not list(target.iterdir())
    assert said.strip() == "fscontract: error: interrupted"
    assert shown.rstrip().splitlines()[-1].startswith("interrupted: ")
    assert "does not conform" not in shown
    report = json.loads((place / "r.json").read_text())
    assert (report["conforms"], report["incomplete"]) == (False, "the run was interrupted")


@pytest.mark.parametrize("name", CODES)
def test_a_signal_ends_a_replay_that_does_not_end(
    name: str, place: Path, target: Path, replay: str
) -> None:
    """The fork that it runs in ends, too."""
    (place / "slow.py").write_text(
        "import os, time\ndef make():\n    print(os.getpid(), flush=True)\n    time.sleep(600)\n"
    )
    args = [sys.executable, "-m", "fscontract", "replay", replay, "slow.py:make"]
    with subprocess.Popen(
        args, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        child = int(running.stdout.readline())
        running.send_signal(getattr(signal, name))
        said = running.stderr.read()
    assert running.returncode == CODES[name]
    assert said.split("\n")[-2:] == ["fscontract: error: interrupted", ""]
    assert child != running.pid
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
