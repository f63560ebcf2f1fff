"""One session of Spark for all tests of this folder: a machine of Java takes seconds to start."""

from __future__ import annotations

import json
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


@pytest.hookimpl(tryfirst=True)  # xdist looks at the groups then
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With xdist one process runs all of them, so that there is one machine of Java."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def tasks(spark: Any) -> Iterator[Tasks]:
    """Tasks of that session, whose workers run."""
    tasks = tasks_of(spark)
    tasks.warm_up()
    yield tasks
    tasks.close()


@pytest.fixture(params=["memory", "local"])
def fs(request: pytest.FixtureRequest, tasks: Tasks, tmp_path: Path) -> SparkFileSystem:
    """A filesystem over executors, empty."""
    inner = "memory:" if request.param == "memory" else (tmp_path / "root").as_uri()
    return SparkFileSystem(tasks, inner)


@pytest.fixture
def local(tasks: Tasks, tmp_path: Path) -> SparkFileSystem:
    """One whose files lie in a directory."""
    return SparkFileSystem(tasks, (tmp_path / "root").as_uri())


Program = Callable[..., Any]


@pytest.fixture(scope="session")
def run_program() -> Program:
    """Runs a program of this folder in a process of its own; what it printed, read as JSON."""

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
