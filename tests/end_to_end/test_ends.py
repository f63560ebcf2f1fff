"""Targets that end the process, and signals: exit code 0 needs a verdict.

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

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.isolation import supervisor
from fscontract.contract.runner import run_options
from fscontract.contract.runner.run_options import RunOptions
from tests.end_to_end.conftest import Command, Ended, Run

ENDING = f"{Path(__file__).with_name('ending.py')}:make"
CLAUSE = "read-byte.value"


def ending(
    check: Command, target: Path, how: str, where: str, *more: str, clause: str = CLAUSE
) -> Ended:
    """Return the check of a target that ends in the way `how` at the place `where`."""
    options = ("-o", f"root={target}", "-o", f"how={how}", "-o", f"where={where}")
    return check(ENDING, *options, "--clauses", clause, "--timeout", "5", *more)


def normalised(line: str) -> str:
    """Return a message without the directory and the line numbers of the targets."""
    return re.sub(r"(\.py):\d+", r"\1:LINE", line.replace(f"{Path(__file__).parent}/", ""))


# Without a verdict --------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["read", "finalizer"])
@pytest.mark.parametrize("how", ["exits", "exits-in-thread", "execs", "is-killed"])
def test_call_that_ends_the_process_is_a_crash(
    how: str, where: str, check: Command, target: Path
) -> None:
    """Even with status 0, as after a successful run."""
    ended = ending(check, target, how, where)
    assert ended.code == 1, ended.stdout + ended.stderr
    assert ended.outcomes()[CLAUSE] == "crash"
    assert "CRASH  read-byte.value" in ended.stdout


FACTORIES: dict[str, str] = snapshot(
    {
        "exits": "ending.py:make: the process exited with status 0 during set-up",
        "exits-in-thread": "ending.py:make: the process exited with status 0 during set-up",
        "execs": "ending.py:make: the process exited with status 0 during set-up",
        "is-killed": "ending.py:make: the process was ended by SIGKILL during set-up",
        "says-exit": "ending.py:make: SystemExit: 0 (ending.py:LINE)",
        "closes-all": ("ending.py:make: the target closed descriptors of the suite during set-up"),
    }
)


@pytest.mark.parametrize(
    "how", ["exits", "exits-in-thread", "execs", "is-killed", "says-exit", "closes-all"]
)
def test_factory_that_ends_the_process_exits_3_with_one_line_and_a_report(
    how: str, check: Command, target: Path
) -> None:
    ended = ending(check, target, how, "factory")
    assert ended.code == 3
    assert ended.report["error"] in ended.mistake()
    assert normalised(ended.mistake()) == FACTORIES[how]


def test_import_that_ends_the_process_exits_3(check: Command, place: Path) -> None:
    (place / "gone.py").write_text("import os\nos._exit(0)\n")
    ended = check("gone.py:make")
    assert (ended.code, ended.report["conforms"]) == (3, False)
    assert ended.mistake() == snapshot(
        "gone.py:make: the process exited with status 0 during set-up"
    )


@pytest.mark.parametrize(("where", "code"), [("prepare", 3), ("dispose", 3)])
def test_process_that_ends_outside_of_programs_does_not_conform(
    where: str, code: int, check: Command, target: Path
) -> None:
    ended = ending(check, target, "exits", where)
    assert ended.code == code
    assert ended.report["conforms"] is False
    if where == "dispose":
        assert ended.outcomes() == {CLAUSE: "pass"}
        assert normalised(ended.report["incomplete"]) == snapshot(
            "ending.py:make: the process exited with status 0 after the last program"
        )
        assert ended.stdout.rstrip().endswith("incomplete: 1 clause holds")


def test_call_that_closes_foreign_descriptors_exits_3(check: Command, target: Path) -> None:
    """Later programs ran, so the call is unknown."""
    ended = ending(check, target, "closes-all", "read")
    assert ended.code == 3
    assert normalised(ended.mistake()) == snapshot(
        "ending.py:make: the target closed descriptors of the suite in phase vectors"
    )


@pytest.mark.parametrize("how", ["exits", "exits-in-thread", "execs", "says-exit", "forks"])
def test_exit_handler_that_ends_the_process_keeps_the_verdict(
    how: str, check: Command, target: Path
) -> None:
    ended = ending(check, target, how, "atexit")
    assert (ended.code, ended.outcomes()) == (0, {CLAUSE: "pass"})


def test_exit_handler_that_kills_the_process_exits_3_with_the_verdicts(
    check: Command, target: Path
) -> None:
    ended = ending(check, target, "is-killed", "atexit")
    assert (ended.code, ended.outcomes()) == (3, {CLAUSE: "pass"})
    assert "SIGKILL" in ended.report["incomplete"]
    assert normalised(ended.report["incomplete"]) == snapshot(
        "ending.py:make: the process was ended by SIGKILL after the last program"
    )


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
def test_fork_of_the_target_prints_no_second_verdict(
    more: tuple[str, ...], check: Command, target: Path
) -> None:
    ended = ending(check, target, "forks", "factory", *more, clause="seek.zero")
    assert ended.code == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("conforms: ") == 1


@pytest.mark.all_programs
def test_crash_in_an_unselected_clause_exits_3_and_names_clause_and_program(
    check: Command, target: Path
) -> None:
    ended = ending(check, target, "exits", "capability")
    assert (ended.code, ended.outcomes()) == (3, {CLAUSE: "pass"})
    incomplete = normalised(ended.report["incomplete"])
    assert "f.has_capability" in incomplete
    program = re.sub(r"has_capability\('.*?'\)", "has_capability(NAME)", incomplete)
    assert re.sub(r"capabilities\.[\w-]+", "capabilities.NAME", program) == snapshot(
        "a process of the run ended in f = open(0 bytes); f.has_capability(NAME) "
        "(has_capability: crash, the process exited with status 0), which breaks "
        "capabilities.NAME, neither selected nor declared"
    )


def test_part_of_a_pipeline_that_ends_the_process_breaks_the_clause_of_the_scenario(
    check: Command, place: Path
) -> None:
    """Once in each scenario with records of a fixed length; other scenarios are judged."""
    (place / "part.py").write_text(
        "import os\n"
        "from fscontract.pipeline.blockreader.binding import ReaderBinding\n"
        "class Part(ReaderBinding):\n"
        "    def reader(self, filesystem, settings):\n"
        "        return os._exit(0) if settings.length else super().reader(filesystem, settings)\n"
        "def make():\n"
        "    return Part()\n"
    )
    ended = check("part.py:make", "--clauses", "record.fixed-length,record.final")
    assert (ended.code, ended.outcomes()) == (
        1,
        {"record.final": "pass", "record.fixed-length": "crash"},
    )


def test_set_up_that_exceeds_its_limit_is_ended(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit grows with that of a program."""
    assert run_options.set_up_limit(1.0) == 60.0
    assert run_options.set_up_limit(100.0) == 600.0
    monkeypatch.setattr(run_options, "_SET_UP", 3.0)
    options = {"root": str(target), "how": "hangs", "where": "factory"}
    run = RunOptions(None, (), (CLAUSE,), "all", "quick", None, 0, 0.1, options, None, None)
    with (
        closing(supervisor.Isolated(ENDING, run, ())) as isolated,
        pytest.raises(TargetError) as caught,
    ):
        isolated.set_up()
    assert normalised(str(caught.value)) == snapshot(
        "ending.py:make: set-up did not finish within 3 s"
    )


# Other commands -----------------------------------------------------------------------------------


@pytest.fixture
def replay(place: Path) -> str:
    """Return a replay file of one read."""
    program = {"length": 1, "streams": 1, "steps": [["read_byte"]]}
    data = {"fscontract-replay": 1, "clause": CLAUSE, "program": program}
    (place / "r.json").write_text(json.dumps(data))
    return "r.json"


@pytest.mark.parametrize(
    "args",
    [
        ("replay", "r.json", ENDING),
        ("profile", "infer", ENDING),
        ("clean", ENDING),
    ],
)
def test_command_whose_target_ends_the_process_exits_3_with_one_line(
    args: tuple[str, ...], command: Run, target: Path, replay: str
) -> None:
    options = ("-o", f"root={target}", "-o", "where=factory")
    done = command(*args, *options)
    assert done.returncode == 3
    assert done.stderr == snapshot(
        "fscontract: error: the process exited with status 0 before there was a result\n"
    )


def test_known_failures_of_a_target_that_ends_in_its_set_up_are_an_error(
    command: Run, place: Path, target: Path
) -> None:
    options = (ENDING, "-o", f"root={target}", "-o", "where=factory")
    done = command("known", "--write", "k.yaml", *options, "--reason", "r")
    assert (done.returncode, (place / "k.yaml").exists()) == (3, False)
    assert done.stderr.endswith("make: the process exited with status 0 during set-up\n")


def test_check_passes_by_the_known_failures_of_a_target_whose_call_ends_the_process(
    command: Run, target: Path
) -> None:
    ends = ("-o", f"root={target}", "-o", "how=is-killed", "-o", "where=read")
    options = (ENDING, *ends, "--clauses", CLAUSE, "--timeout", "5")
    written = command("known", "--write", "k.yaml", *options, "--reason", "r")
    assert written.stdout.startswith(f"added: {CLAUSE}: "), written.stderr
    assert command("check", "--known", "k.yaml", *options).returncode == 0


REPLAYS: dict[str, str] = snapshot(
    {
        "exits": """\
read-byte.value: ends the process
  actual     the process exited with status 0
""",
        "is-killed": """\
read-byte.value: ends the process
  actual     the process was ended by SIGKILL
""",
    }
)


@pytest.mark.parametrize("how", ["exits", "is-killed"])
def test_replay_of_a_program_that_ends_the_process_fails(
    how: str, command: Run, target: Path, replay: str
) -> None:
    options = ("-o", f"root={target}", "-o", f"how={how}", "-o", "where=read")
    done = command("replay", replay, ENDING, *options)
    assert done.returncode == 1
    assert done.stdout == REPLAYS[how]


def test_replay_in_another_process_has_the_usual_output_and_exit_code(
    command: Run, replay: str
) -> None:
    done = command("replay", replay, "memory")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{CLAUSE}: passes now\n")


# Signals ------------------------------------------------------------------------------------------

CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
@pytest.mark.parametrize("name", CODES)
def test_signal_ends_a_run_with_an_incomplete_report(
    name: str, more: tuple[str, ...], place: Path, target: Path
) -> None:
    """The directory of the run is removed."""
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
def test_signal_ends_a_replay_that_hangs_and_its_fork(
    name: str, place: Path, target: Path, replay: str
) -> None:
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
