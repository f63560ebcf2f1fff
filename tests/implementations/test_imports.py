"""Tests of the modules loaded by importing the reference implementations."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("fsspec", "hypothesis", "pytest", "yaml", "jsonschema", "click", "pyarrow", "asyncio")


@pytest.mark.parametrize("module", ["memory", "local"])
def test_importing_a_filesystem_imports_no_library(module: str) -> None:
    """The filesystems work, and load fast, without optional packages."""
    code = f"import sys, fscontract.implementations.{module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(HEAVY) & {name.split(".")[0] for name in run.stdout.split()} == set()


def test_an_open_without_options_does_not_read_their_table() -> None:
    """Only an open with options needs it, and with it YAML."""
    code = (
        "import sys\nfrom fscontract.implementations.memory import MemoryFileSystem\n"
        "fs = MemoryFileSystem()\nfs.create('/a').close()\n"
        "fs.open_file('/a').with_file_status(fs.get_file_status('/a')).build().result().close()\n"
        "print('yaml' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"]
