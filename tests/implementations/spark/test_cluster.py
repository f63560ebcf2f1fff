"""Tasks that are tried again, workers that are killed, and executors that are processes."""

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
def test_nothing_is_wrong_twice_or_left_when_tasks_die(
    master: str, whom: str, run_program: Program, tmp_path: Path
) -> None:
    """They are killed while they read, for themselves or for the driver, and in the middle of a
    part of a run; or they fail after they gave something."""
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
def test_a_task_that_is_run_twice_gives_its_bytes_once(
    run_program: Program, tmp_path: Path
) -> None:
    """The second copy answers while the first one hangs. Such a cluster can be checked, too."""
    found = run_program("standalone.py", str(tmp_path))
    found.pop("stderr")
    assert found == {
        "data": True,
        "counted": 8 << 20,
        "copies": ["0", "1"],
        "held": 0,
        "conforms": True,
    }
