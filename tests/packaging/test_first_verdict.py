"""The way of somebody who has heard of the kit a minute ago."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.deep
def test_a_first_verdict_takes_less_than_two_minutes() -> None:
    """From `pip install` of the wheel, in a new environment, and by a file of five lines."""
    script = str(ROOT / "benchmarks" / "first_verdict.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL  open.independent" in done.stdout
    assert "does not conform" in done.stdout
