"""`fscontract clean`: what killed runs have left goes, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from fscontract.contract.targets import made_at, new_name
from tests.limits import DEADLOCK

HOSTILE = f"{Path(__file__).with_name('hostile.py')}:make"
OLD = "fscontract-20201121T203400Z-ab12cd34"
#: Names that are nearly those of a run.
OTHERS = (
    "fscontract-ab12cd34",
    "fscontract-20201141T203400Z-ab12cd34",
    "fscontract-20201121T203400Z-ab12cd34-mine",
    "my-fscontract-20201121T203400Z-ab12cd34",
    "mine",
)


def clean(place: Path, *args: str) -> tuple[int, str, str]:
    """Exit code, standard output and errors of `fscontract clean`."""
    done = subprocess.run(
        [sys.executable, "-m", "fscontract", "clean", *args],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(params=["fsspec", "stream", "python-file"])
def arguments(request: pytest.FixtureRequest, place: Path, target: Path) -> tuple[str, ...]:
    """The directory `target` through each binding."""
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


def test_only_old_directories_with_such_names_are_removed(
    arguments: tuple[str, ...], place: Path, target: Path
) -> None:
    """A younger one is left alone and listed, as is one whose name tells no time."""
    young = new_name()
    for name in (OLD, young, *OTHERS):
        (target / name).mkdir()
        (target / name / "000001").touch()
    (target / OLD.replace("ab", "cd")).touch()  # a file is no directory
    code, said, _ = clean(place, *arguments)
    assert code == 0
    left = {path.name for path in target.iterdir()}
    assert left == {young, OLD.replace("ab", "cd"), *OTHERS}
    assert [line for line in said.splitlines() if line.startswith("removed: ")] == [
        line for line in said.splitlines() if OLD in line and "mine" not in line
    ]
    assert f"{young}: made at " in said
    assert "fscontract-ab12cd34: its name does not tell when it was made" in said


def test_a_dry_run_removes_nothing(place: Path, target: Path) -> None:
    """It says what would go."""
    (target / OLD).mkdir()
    code, said, _ = clean(place, f"file://{target}", "--dry-run")
    assert (code, said) == (0, f"would remove: {target}/{OLD}\n")
    assert (target / OLD).is_dir()


def test_the_age_can_be_chosen(place: Path, target: Path) -> None:
    """In seconds, minutes, hours or days."""
    name = new_name(datetime.now(timezone.utc) - timedelta(hours=30))
    (target / name).mkdir()
    assert clean(place, f"file://{target}", "--older-than", "2d")[1].startswith("left alone: ")
    assert clean(place, f"file://{target}", "--older-than", "29h")[1].startswith("removed: ")
    assert not list(target.iterdir())


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("memory", "--older-than", "soon"), 2, "a number with s, m, h or d, such as 90m"),
        (("nosuch",), 2, "no target 'nosuch'"),
        (("file:///dev/null/x",), 3, "can't be listed"),
    ],
)
def test_a_mistake_is_one_line(args: tuple[str, ...], code: int, text: str, place: Path) -> None:
    """With the exit codes of check."""
    found, _, errors = clean(place, *args)
    assert found == code
    assert text in errors
    assert len(errors.splitlines()) == 1


def test_a_killed_run_leaves_its_directory_only(place: Path, target: Path, tmp_path: Path) -> None:
    """Which `clean` removes when it is old enough; in one process nobody else removes it."""
    command = [sys.executable, "-m", "fscontract", "check", "--no-isolate", f"file://{target}"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert any("phase exhaustive" in line for line in running.stdout)
        running.kill()
    (left,) = target.iterdir()
    assert made_at(left.name) is not None
    assert not list(place.iterdir())
    assert clean(place, f"file://{target}")[1].startswith(f"left alone: {left}: made at ")
    assert clean(place, f"file://{target}", "--older-than", "0s")[:2] == (0, f"removed: {left}\n")
    assert not list(target.iterdir())
