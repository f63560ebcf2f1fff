"""Tests of retried tasks, killed workers, and executors in separate processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.implementations.spark.conftest import Program


@pytest.mark.parametrize(
    ("master", "whom"),
    [
        pytest.param("local[2,4]", "worker", marks=pytest.mark.deep),
        ("local-cluster[2,1,1024]", "worker"),
        pytest.param("local-cluster[2,1,1024]", "executor", marks=pytest.mark.deep),
    ],
)
def test_killed_tasks_cause_no_wrong_or_duplicate_results(
    master: str, whom: str, run_program: Program, tmp_path: Path
) -> None:
    """Tasks are killed during reads and in the middle of a shard, or fail after a first result."""
    (tmp_path / "files").mkdir()
    found = run_program("cluster.py", str(tmp_path / "files"), master, whom)
    assert found == {
        "killed": True,
        "failed": True,
        "vectored": True,
        "missing": "no such file or directory: '/none'",
        "driver": False,
        "spread": True,
        "held": 0,
        "temporary": ["a"],
        "stderr": found["stderr"],
    }


@pytest.mark.deep
def test_speculative_task_returns_its_bytes_once(run_program: Program, tmp_path: Path) -> None:
    """The second copy answers while the first one hangs. Such a cluster can run checks, too."""
    found = run_program("standalone.py", str(tmp_path))
    found.pop("stderr")
    assert found == {
        "data": True,
        "counted": 8 << 20,
        "copies": ["0", "1"],
        "held": 0,
        "conforms": True,
    }
