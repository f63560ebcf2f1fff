"""Tests of sending the package to executors, and of errors if it is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fscontract
from tests.implementations.spark.conftest import Program
from tests.limits import DEADLOCK

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w"]
    subprocess.run([*command, str(folder), str(ROOT)], check=True, timeout=DEADLOCK)
    return next(folder.glob("*.whl"))


@pytest.mark.parametrize(
    "how", [*(pytest.param(how, marks=pytest.mark.deep) for how in ("wheel", "connect")), "ship"]
)
def test_executors_report_a_missing_package_and_accept_an_upload(
    how: str, run_program: Program, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The archive is imported directly, and its data files are read from it."""
    more = [str(request.getfixturevalue("wheel"))] if how == "wheel" else []
    found = run_program("unfit.py", str(tmp_path), how, *more)
    for part in (f"fscontract {fscontract.__version__}", "No module named 'fscontract'", "python"):
        assert part in found["without"]
    assert "fscontract.spark.ship(spark)" in found["without"]
    assert found["with"] == "0123456789"
    assert ".zip/fscontract" in found["from"]


@pytest.mark.deep
def test_the_wheel_may_come_with_the_application(
    run_program: Program, tmp_path: Path, wheel: Path
) -> None:
    """As with `spark-submit --py-files`."""
    found = run_program("unfit.py", str(tmp_path), "py-files", str(wheel))
    assert found["with"] == "0123456789"
    assert "wheel.zip/fscontract" in found["from"]


@pytest.mark.deep
def test_spark_connect_client_reads_and_runs_checks(run_program: Program, tmp_path: Path) -> None:
    """It has no RDDs: its tasks are functions over rows."""
    found = run_program("connect.py", str(tmp_path))
    assert found["session"].startswith("pyspark.sql.connect")
    assert found["file"] == found["memory"] == [True, True, "/none"]
    assert found["checked"] == 8
