"""Tests of all pipelines with executors in separate processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import DEADLOCK
from tests.pipeline.spark_source.programs import on_cluster
from tests.pipeline.spark_source.support import write

pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.parametrize(
    "master", ["local-cluster[2,1,1024]", pytest.param("standalone", marks=pytest.mark.deep)]
)
def test_pipelines_and_commands_run_on_a_cluster(master: str, tmp_path: Path) -> None:
    """Windows on one machine of a cluster are refused with the reason."""
    for number in range(20):
        write(tmp_path / "in", f"day={number}/f", b"".join(b"line %d\n" % n for n in range(50)))
    done = subprocess.run(
        [sys.executable, "-m", on_cluster.__name__, str(tmp_path), master],
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
        cwd=Path(on_cluster.__file__).parents[4],
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    refused = found.pop("refused")
    assert (refused is not None) == (master == "standalone")
    assert refused is None or "'windowLocation' is the local path" in refused
    assert found == {
        "rows": 1000,
        "counted": 1000,
        "windows": 1000,
        "parquet": 1000,
        "listed": 20,
        "submitted": "1000" if master == "standalone" else None,
        "commands": dict.fromkeys(("split", "read", "list-files", "create"), True),
    }
