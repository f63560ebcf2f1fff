"""The command in a process of its own, which must leave nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from servers.http_files import DATA, WithoutRanges, WithRanges, serving
from tests.limits import DEADLOCK


@dataclass(frozen=True)
class Ended:
    """How a command ended; `report` is its JSON report, None if it wrote none."""

    code: int
    stdout: str
    stderr: str
    report: Any

    def outcomes(self) -> dict[str, str]:
        """The outcome of each clause."""
        return {c["id"]: c["outcome"] for c in self.report["clauses"]}

    def programs(self) -> dict[str, Any]:
        """The steps of the counterexample of each clause that has one."""
        shown = {c["id"]: c["counterexample"] for c in self.report["clauses"]}
        return {name: c["program"]["steps"] for name, c in shown.items() if c and c["program"]}

    def mistake(self) -> str:
        """The one line that a mistake gives."""
        assert "Traceback" not in self.stdout + self.stderr
        (line,) = self.stderr.splitlines()
        assert line.startswith("fscontract: error: ")
        return line.removeprefix("fscontract: error: ")


Command: TypeAlias = Callable[..., Ended]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The directory in which the command runs."""
    made = tmp_path / "place"
    made.mkdir()
    return made


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An empty directory to check, which is empty again in the end."""
    made = tmp_path / "target"
    made.mkdir()
    return made


@pytest.fixture
def check(tmp_path: Path, place: Path) -> Command:
    """Runs `fscontract check`; afterwards there are no temporary files, and in the directory
    where it ran only replay files and what was there before."""
    temporary, report = tmp_path / "temporary", tmp_path / "report.json"
    temporary.mkdir()
    target = tmp_path / "target"
    environment = {**os.environ, "TMPDIR": str(temporary)}
    environment.pop(
        "PYTHONUNBUFFERED", None
    )  # what is printed waits in a buffer, as it mostly does

    def run(*args: str) -> Ended:
        before = {*place.iterdir()}
        done = subprocess.run(
            [sys.executable, "-m", "fscontract", "check", *args, "--json", str(report)],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=DEADLOCK,
            check=False,
        )
        assert not list(temporary.iterdir())
        assert not target.exists() or not list(target.iterdir())
        assert {*place.iterdir()} - before <= {place / ".fscontract", place / "__pycache__"}
        data = json.loads(report.read_text()) if report.exists() else None
        return Ended(done.returncode, done.stdout, done.stderr, data)

    return run


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A local copy of the file that read-only targets hold."""
    path = tmp_path / "copy"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A zip file that holds the file as `in/it`."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("in/it", DATA)
    return path


@pytest.fixture
def ranges() -> Iterator[str]:
    """A web server that knows ranges."""
    with serving(WithRanges) as url:
        yield url


@pytest.fixture
def no_ranges() -> Iterator[str]:
    """A web server that does not."""
    with serving(WithoutRanges) as url:
        yield url
