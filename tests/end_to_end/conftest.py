"""Run the command in a separate process, a fork, and check that it leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from servers.http_files import DATA, WithoutRanges, WithRanges, serving
from tests.few_programs import run_few_in_commands
from tests.samples import is_sampled
from tests.warm import WarmPython

#: Modules with many ways in which a target misbehaves: the ordinary run takes half of them.
_SAMPLED = ("test_robustness.py", "test_ends.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the other half to the deep environment."""
    for item in items:
        if item.path.name in _SAMPLED and "[" in item.name and not is_sampled(2, item.name):
            item.add_marker(pytest.mark.deep)


@dataclass(frozen=True)
class Ended:
    """The end of a command; `report` is its JSON report, None if it wrote none."""

    code: int
    stdout: str
    stderr: str
    report: Any

    def outcomes(self) -> dict[str, str]:
        """Return the outcome of each clause."""
        return {c["id"]: c["outcome"] for c in self.report["clauses"]}

    def programs(self) -> dict[str, Any]:
        """Return the steps of the counterexample of each clause that has one."""
        shown = {c["id"]: c["counterexample"] for c in self.report["clauses"]}
        return {name: c["program"]["steps"] for name, c in shown.items() if c and c["program"]}

    def mistake(self) -> str:
        """Return the one line that a mistake prints."""
        assert "Traceback" not in self.stdout + self.stderr
        (line,) = self.stderr.splitlines()
        assert line.startswith("fscontract: error: ")
        return line.removeprefix("fscontract: error: ")


Command: TypeAlias = Callable[..., Ended]
#: Runs any subcommand.
Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _few_programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands run few programs, except in tests with the mark `all_programs`."""
    if not request.node.get_closest_marker("all_programs"):
        run_few_in_commands(monkeypatch)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the directory in which the command runs."""
    made = tmp_path / "place"
    made.mkdir()
    return made


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return an empty directory to check, which must be empty again at the end."""
    made = tmp_path / "target"
    made.mkdir()
    return made


@pytest.fixture
def check(tmp_path: Path, place: Path, warm_commands: WarmPython) -> Command:
    """Return a function that runs `fscontract check`.

    It asserts that no temporary file is left, and in the directory of the command only replay
    files.
    """
    temporary, report = tmp_path / "temporary", tmp_path / "report.json"
    temporary.mkdir()
    target = tmp_path / "target"
    environment = {**os.environ, "TMPDIR": str(temporary)}
    # What is printed waits in a buffer, as it mostly does.
    environment.pop("PYTHONUNBUFFERED", None)

    def run(*args: str) -> Ended:
        before = {*place.iterdir()}
        arguments = ["-m", "fscontract", "check", *args, "--json", str(report)]
        done = warm_commands.run(arguments, place, environment)
        assert not list(temporary.iterdir())
        assert not target.exists() or not list(target.iterdir())
        assert {*place.iterdir()} - before <= {place / ".fscontract", place / "__pycache__"}
        data = json.loads(report.read_text()) if report.exists() else None
        return Ended(done.returncode, done.stdout, done.stderr, data)

    return run


@pytest.fixture
def command(place: Path, warm_commands: WarmPython) -> Run:
    """Return a function that runs `fscontract` with arguments."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return warm_commands.run(["-m", "fscontract", *args], place, os.environ)

    return run


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a local copy of the file of read-only targets."""
    path = tmp_path / "copy"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a zip file that holds the file as `in/it`."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("in/it", DATA)
    return path


@pytest.fixture
def ranges() -> Iterator[str]:
    """Return the URL of a web server with range requests."""
    with serving(WithRanges) as url:
        yield url


@pytest.fixture
def no_ranges() -> Iterator[str]:
    """Return the URL of a web server without range requests."""
    with serving(WithoutRanges) as url:
        yield url
