"""Tests of the data source with Spark Connect, whose driver is a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import DEADLOCK
from tests.pipeline.spark_source.programs import connect
from tests.pipeline.spark_source.support import write

ROOT = Path(__file__).parents[3]


@pytest.mark.deep
def test_a_batch_and_a_stream_have_every_record_once(tmp_path: Path) -> None:
    """Through a server on this machine."""
    wanted = []
    for number in range(3):
        path = write(tmp_path / "in", f"{number}", b"".join(b"%d\n" % i for i in range(50)))
        wanted += [[str(i), path] for i in range(50)]
    done = subprocess.run(
        [sys.executable, connect.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
        env={"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    batch, copied, (module, active) = json.loads(done.stdout)
    assert batch == copied == sorted(wanted)
    assert module.startswith("pyspark.sql.connect")
    assert not active
