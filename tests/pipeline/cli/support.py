"""Helpers that run the commands as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from fscontract.contract.cli.main import main
from tests.limits import DEADLOCK

COMMAND = (sys.executable, "-m", "fscontract")


def run(*args: object) -> Result:
    """Run the command in this process; its output is not a terminal."""
    # click before 8.2 mixes stderr into stdout unless disabled
    apart = "mix_stderr" in signature(CliRunner).parameters
    options: dict[str, Any] = {"mix_stderr": False} if apart else {}
    return CliRunner(**options).invoke(main, [str(arg) for arg in args])


def output(*args: object) -> bytes:
    """Return the bytes on standard output of a command that succeeds."""
    result = run(*args)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout_bytes


def error(code: int, *args: object) -> str:
    """Return the single line on standard error of a command that fails with this exit code."""
    result = run(*args)
    assert result.exit_code == code, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("fscontract: error: ")
    return line.removeprefix("fscontract: error: ")


def process(
    *args: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a new process."""
    return subprocess.run(
        [*COMMAND, *(str(arg) for arg in args)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=DEADLOCK,
    )
