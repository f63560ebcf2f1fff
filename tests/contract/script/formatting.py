"""Check that scripts are formatted."""

from __future__ import annotations

import subprocess
import sys

#: The command that formats scripts.
RUFF = (
    *(sys.executable, "-m", "ruff", "format"),
    *("--isolated", "--no-cache", "--line-length=100"),
)


def is_formatted(script: str) -> bool:
    """Return whether `ruff format` leaves a script unchanged."""
    done = subprocess.run([*RUFF, "-"], input=script, capture_output=True, text=True, check=True)
    return done.stdout == script
