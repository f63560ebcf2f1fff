"""Tasks that are tried again, workers that are killed, and executors that are processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.implementations.spark.conftest import Program


@pytest.mark.parametrize(
    "master", [pytest.param("local[2,4]", marks=pytest.mark.deep), "local-cluster[2,1,1024]"]
)
def test_nothing_is_wrong_twice_or_left_when_tasks_die(
    master: str, run_program: Program, tmp_path: Path
) -> None:
    """A worker killed while it reads, a task that fails after it gave something."""
    found = run_program("cluster.py", str(tmp_path), master)
    assert found == {
        "killed": True,
        "failed": True,
        "vectored": True,
        "missing": "no such file or directory: '/none'",
        "driver": False,
        "held": 0,
        "temporary": ["a"],
        "stderr": found["stderr"],
    }
