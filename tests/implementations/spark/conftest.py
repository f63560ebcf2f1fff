"""Fixtures: one Spark session for all tests of this folder, because a JVM starts slowly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.tasks import Tasks, tasks_of
from tests.limits import DEADLOCK

HERE = Path(__file__).parent
#: The beginning of the paths of these tests.
_INSIDE = f"{HERE}{os.sep}"


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups later
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run these tests in one xdist worker, so that they share one JVM."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if str(item.path).startswith(_INSIDE):
                item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def tasks(spark: Any) -> Iterator[Tasks]:
    """Tasks of the shared session, with started workers."""
    tasks = tasks_of(spark)
    tasks.warm_up()
    yield tasks
    tasks.close()


@pytest.fixture(params=["memory", "local"])
def fs(request: pytest.FixtureRequest, tasks: Tasks, tmp_path: Path) -> SparkFileSystem:
    """An empty filesystem over executors."""
    inner = "memory:" if request.param == "memory" else (tmp_path / "root").as_uri()
    return SparkFileSystem(tasks, inner)


@pytest.fixture
def local(tasks: Tasks, tmp_path: Path) -> SparkFileSystem:
    """A filesystem over executors, whose files lie in a local directory."""
    return SparkFileSystem(tasks, (tmp_path / "root").as_uri())


Program = Callable[..., Any]


@pytest.fixture(scope="session")
def run_program() -> Program:
    """A function that runs a program of this folder in a new process and parses its JSON output."""

    def run(name: str, *arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, str(HERE / "programs" / name), *arguments],
            capture_output=True,
            text=True,
            timeout=DEADLOCK,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return {"stderr": done.stderr, **json.loads(done.stdout)}

    return run
