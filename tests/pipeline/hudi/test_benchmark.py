"""Tests that the listing benchmark finds the right files in every way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.limits import DEADLOCK

ROOT = Path(__file__).resolve().parents[3]


def test_all_ways_find_the_same_files(tmp_path: Path) -> None:
    """Of twelve files: all, three of one partition, six of a range."""
    shape = ["--partitions", "4", "--files", "3", "--rounds", "1"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.listing", *shape, "--only", "local"),
            *("--no-spark", "--dir", str(tmp_path), "--json", str(tmp_path / "times.json")),
        ],
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((tmp_path / "times.json").read_text(encoding="utf-8"))["local"]
    for question in ("all", "one", "range"):
        names = {row["name"]: row for row in told[question]}
        assert names["fscontract, metadata table"]["seconds"]
        assert not any(row["failed"] for row in names.values())
    assert "### A range of ids, on this machine" in done.stdout
