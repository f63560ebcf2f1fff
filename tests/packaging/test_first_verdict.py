"""A new user gets a first verdict within two minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.deep
def test_first_verdict_takes_less_than_two_minutes() -> None:
    """Includes `pip install` of the wheel in a new environment."""
    script = str(ROOT / "benchmarks" / "first_verdict.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL  open.independent" in done.stdout
    assert "does not conform" in done.stdout
