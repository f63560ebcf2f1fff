"""A program in a fork of a warm process meets what it would meet in a new interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm import WarmPython

#: Prints what a program can see of how it was started.
_SHOW = """
import os, sys, tempfile
print(sys.argv[1:], __name__, sys.path[0], os.getcwd(), tempfile.gettempdir())
print(os.environ.get("ONLY_HERE"), sys.stdin.read(), sys.stdout.write_through)
print("said", file=sys.stderr)
"""


@pytest.mark.parametrize("kind", ["-c", "file", "-m"])
def test_program_has_its_arguments_path_and_environment(
    kind: str, warm_commands: WarmPython, tmp_path: Path
) -> None:
    script = tmp_path / "below" / "shows.py"
    script.parent.mkdir()
    for path in (script, tmp_path / "shows.py"):
        path.write_text(_SHOW)
    start = {"-c": ["-c", _SHOW], "file": [str(script)], "-m": ["-m", "shows"]}[kind]
    environment = {**os.environ, "ONLY_HERE": "yes", "TMPDIR": str(script.parent)}
    forked = warm_commands.run([*start, "one", "two"], tmp_path, environment)
    anew = subprocess.run(
        [sys.executable, *start, "one", "two"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (0, anew.stdout, "said\n")


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("raise ValueError", 1),
        ("import os; os._exit(4)", 4),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import atexit, os; atexit.register(lambda: os._exit(5))", 5),
    ],
)
def test_end_of_a_program_is_its_own(
    program: str, code: int, warm_commands: WarmPython, tmp_path: Path
) -> None:
    assert warm_commands.run(["-c", program], tmp_path, os.environ).returncode == code


def test_program_runs_few_programs_only_by_its_own_environment(
    warm_commands: WarmPython, tmp_path: Path
) -> None:
    show = "from fscontract.contract.generate import sizes; print(sizes.LARGE)"
    few = os.pathsep.join([str(Path(__file__).parents[1] / "few_commands"), *sys.path])
    shown = [
        warm_commands.run(["-c", show], tmp_path, {**os.environ, "PYTHONPATH": path}).stdout
        for path in (few, os.pathsep.join(sys.path))
    ]
    assert shown[0] == "200003\n"
    assert shown[1] > shown[0]


def test_command_passes_signals_on(warm_commands: WarmPython, tmp_path: Path) -> None:
    script = tmp_path / "waits"
    script.write_text("import time\nprint('waits', flush=True)\ntime.sleep(600)\n")
    directory = tmp_path / "scripts"
    directory.mkdir()
    warm_commands.write_command(directory, script)
    with subprocess.Popen([directory / "waits"], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "waits\n"
        running.terminate()
    assert running.returncode == -signal.SIGTERM
