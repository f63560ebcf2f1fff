"""What importing the reference implementations brings in."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("fsspec", "hypothesis", "pytest", "yaml", "jsonschema", "click", "pyarrow", "asyncio")


@pytest.mark.parametrize("module", ["memory", "local"])
def test_importing_a_filesystem_imports_no_library(module: str) -> None:
    """The filesystems work, and load fast, where nothing else is installed."""
    code = f"import sys, fscontract.implementations.{module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(HEAVY) & {name.split(".")[0] for name in run.stdout.split()} == set()
