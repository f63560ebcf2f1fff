"""`fscontract clean` removes the directories of killed runs and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TypeAlias

import pytest
from inline_snapshot import snapshot

from fscontract.contract.targets import made_at, new_name
from tests.end_to_end.conftest import Run

HOSTILE = f"{Path(__file__).with_name('hostile.py')}:make"
Clean: TypeAlias = Callable[..., tuple[int, str, str]]
OLD = "fscontract-20201121T203400Z-ab12cd34"
#: Names that are nearly those of a run.
OTHERS = (
    "fscontract-ab12cd34",
    "fscontract-20201141T203400Z-ab12cd34",
    "fscontract-20201121T203400Z-ab12cd34-mine",
    "my-fscontract-20201121T203400Z-ab12cd34",
    "mine",
)


@pytest.fixture
def clean(command: Run) -> Clean:
    """Return a function for exit code, standard output and error of `fscontract clean`."""

    def run(*args: str) -> tuple[int, str, str]:
        done = command("clean", *args)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(params=["fsspec", "stream", "python-file"])
def arguments(request: pytest.FixtureRequest, place: Path, target: Path) -> tuple[str, ...]:
    """Return the arguments for the directory `target` through each binding."""
    source = f"""
from fscontract.implementations.bindings.python_file import PythonFileBinding

def make():
    return PythonFileBinding(open, {str(target)!r}, "mine")
"""
    (place / "mine.py").write_text(source)
    return {
        "fsspec": (f"file://{target}",),
        "stream": (HOSTILE, "-o", f"root={target}", "-o", "how=nothing"),
        "python-file": ("./mine.py:make",),
    }[request.param]


def test_clean_removes_only_old_directories_of_runs(
    arguments: tuple[str, ...], clean: Clean, target: Path
) -> None:
    """It lists younger ones, and those whose name has no time."""
    young = new_name()
    for name in (OLD, young, *OTHERS):
        (target / name).mkdir()
        (target / name / "000001").touch()
    (target / OLD.replace("ab", "cd")).touch()  # a file, not a directory
    code, said, _ = clean(*arguments)
    assert code == 0
    left = {path.name for path in target.iterdir()}
    assert left == {young, OLD.replace("ab", "cd"), *OTHERS}
    assert [line for line in said.splitlines() if line.startswith("removed: ")] == [
        line for line in said.splitlines() if OLD in line and "mine" not in line
    ]
    assert f"{young}: created at " in said
    (unknown,) = (line for line in said.splitlines() if line.rpartition("/")[2][:19] == OTHERS[0])
    assert re.sub(r" \S*/", " ", unknown) == snapshot(
        "skipped: fscontract-ab12cd34: no creation time in its name"
    )


def test_dry_run_lists_and_removes_nothing(clean: Clean, target: Path) -> None:
    (target / OLD).mkdir()
    code, said, _ = clean(f"file://{target}", "--dry-run")
    assert (code, said) == (0, f"would remove: {target}/{OLD}\n")
    assert (target / OLD).is_dir()


def test_older_than_sets_the_age(clean: Clean, target: Path) -> None:
    name = new_name(datetime.now(timezone.utc) - timedelta(hours=30))
    (target / name).mkdir()
    assert clean(f"file://{target}", "--older-than", "2d")[1].startswith("skipped: ")
    assert clean(f"file://{target}", "--older-than", "29h")[1].startswith("removed: ")
    assert not list(target.iterdir())


MISTAKES: dict[str, str] = snapshot(
    {
        "memory --older-than soon": (
            "fscontract: error: Invalid value for '--older-than': expected a number "
            "with s, m, h or d, such as 90m; got 'soon'\n"
        ),
        "nosuch": "fscontract: error: unknown target 'nosuch'; known: ...\n",
        "file:///dev/null/x": (
            "fscontract: error: file:///dev/null/x: can't be listed: NotADirectoryError: "
            "[Errno 20] Not a directory: '/dev/null/x'\n"
        ),
    }
)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("memory", "--older-than", "soon"), 2),
        (("nosuch",), 2),
        (("file:///dev/null/x",), 3),
    ],
    ids=str,
)
def test_mistake_of_clean_is_one_line_with_the_exit_code_of_check(
    args: tuple[str, ...], code: int, clean: Clean
) -> None:
    found, _, errors = clean(*args)
    assert found == code
    assert len(errors.splitlines()) == 1
    assert re.sub(r"known: .*", "known: ...", errors) == MISTAKES[" ".join(args)]


def test_clean_removes_the_directory_of_a_killed_run(
    clean: Clean, place: Path, target: Path, tmp_path: Path
) -> None:
    """A run in one process has no other process to remove it."""
    command = [sys.executable, "-m", "fscontract", "check", "--no-isolate", f"file://{target}"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert any("phase exhaustive" in line for line in running.stdout)
        running.kill()
    (left,) = target.iterdir()
    assert made_at(left.name) is not None
    assert not list(place.iterdir())
    assert clean(f"file://{target}")[1].startswith(f"skipped: {left}: created at ")
    assert clean(f"file://{target}", "--older-than", "0s")[:2] == (0, f"removed: {left}\n")
    assert not list(target.iterdir())
