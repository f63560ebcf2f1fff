"""Workers of pytest-xdist share the runs of a suite: each part runs once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fscontract.contract.pytest_workers import (
    Shared,
    SharedRuns,
    part_with,
    parts_of,
    shared_runs,
)
from fscontract.contract.runner.result import RunResult
from fscontract.contract.spec.clauses import clauses
from tests.contract.conftest import MakeRun

RUNS = Callable[[int], RunResult]


@pytest.fixture
def shared(tmp_path: Path) -> SharedRuns:
    """Runs shared in a folder, which they make."""
    made = shared_runs(str(tmp_path / "runs"))
    assert made is not None
    return made


@pytest.fixture
def begun(make_run: MakeRun) -> list[int]:
    """The parts that were run, in order."""
    return []


@pytest.fixture
def run(begun: list[int], make_run: MakeRun) -> RUNS:
    """A run that notes its part."""

    def run(part: int) -> RunResult:
        begun.append(part)
        return make_run()

    return run


def test_a_part_runs_once_for_all_workers(shared: SharedRuns, run: RUNS, begun: list[int]) -> None:
    first = shared.result_of("s", 1, 3, run)
    assert first == shared.result_of("s", 1, 3, run)
    assert first.result == run(9)
    assert begun == [1, 9]


def test_suites_are_kept_apart(shared: SharedRuns, run: RUNS, begun: list[int]) -> None:
    shared.result_of("one", 0, 1, run)
    shared.result_of("two", 0, 1, run)
    assert begun == [0, 0]


def test_a_worker_that_waits_runs_other_parts(
    shared: SharedRuns, run: RUNS, begun: list[int], tmp_path: Path
) -> None:
    """The other worker finishes as soon as this one has run the rest."""
    other = SharedRuns(tmp_path / "runs")

    def others(part: int) -> RunResult:
        assert shared.result_of("s", 1, 3, run).result is not None
        return run(part)

    other.result_of("s", 0, 3, others)
    assert begun == [1, 0]


def test_the_part_of_a_worker_that_died_is_run_by_another_one(
    shared: SharedRuns, run: RUNS, begun: list[int], tmp_path: Path
) -> None:
    code = """
import os, sys
from pathlib import Path
from fscontract.contract.pytest_workers import SharedRuns
SharedRuns(Path(sys.argv[1])).result_of("s", 0, 1, lambda part: os._exit(0))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "runs")], check=True)
    assert begun == []
    assert shared.result_of("s", 0, 1, run).result is not None
    assert begun == [0]


def test_an_error_of_one_worker_is_that_of_all(shared: SharedRuns, run: RUNS) -> None:
    def fails(part: int) -> RunResult:
        raise ValueError("no such target")

    with pytest.raises(ValueError, match="no such target"):
        shared.result_of("s", 0, 1, fails)
    assert shared.result_of("s", 0, 1, run) == Shared(fault="ValueError: no such target")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs the owner of files")
def test_the_folder_is_private_and_a_link_is_refused(shared: SharedRuns, tmp_path: Path) -> None:
    assert (tmp_path / "runs").stat().st_mode & 0o077 == 0
    (tmp_path / "link").symlink_to(tmp_path / "runs")
    assert shared_runs(str(tmp_path / "link")) is None
    assert shared_runs(None) is None


def test_every_clause_is_in_one_part() -> None:
    chosen = [clause for clause in clauses().values() if clause.testable]
    parts = parts_of(chosen)
    assert sorted(c.id for part in parts for c in part) == sorted(c.id for c in chosen)
    assert part_with(parts, "python.read.data") != part_with(parts, "seek.zero")
    assert part_with(parts, "pread.isolation") == part_with(parts, "read-vectored.data")
