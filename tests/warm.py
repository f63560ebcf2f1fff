"""Python programs that need not import what most of them need: forks of a process that has it.

A program in a new interpreter takes half a second to import a run of the suite, or PyArrow. Tests
of what an interpreter does from its start, and runs in `tox -e deep`, start one.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.warm_client import status_of

_ROOT = Path(__file__).resolve().parents[1]
_CLIENT, _SERVER = (_ROOT / "tests" / f"warm_{part}.py" for part in ("client", "server"))
#: That of the first test: later ones change it.
_ENVIRONMENT = {**os.environ}
#: What the command imports in a check.
OF_COMMANDS = (
    "fscontract.contract.cli.main",
    "fscontract.contract.check",
    "fscontract.contract.runner.runner",
    "fscontract.contract.runner.baseline",
    "fscontract.contract.runner.merged_result",
    "fscontract.contract.report.console",
    "fscontract.contract.report.json",
    "fscontract.implementations.memory",
    "fscontract.implementations.local",
    "fscontract.implementations.bindings.native",
    "fscontract.implementations.bindings.fsspec",
    "fscontract.implementations.bindings.python_file",
    "fsspec.implementations.local",
)
#: What programs import that read files through other libraries.
OF_PROGRAMS = ("fscontract", "fsspec", "pyarrow.dataset", "pyarrow.fs", "pyarrow.parquet", "s3fs")


class WarmPython:
    """Runs programs by the server that answers on a socket."""

    def __init__(self, socket: Path) -> None:
        self._socket = str(socket)

    def run(
        self,
        arguments: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        *,
        joined: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Return the end of a program and its output; `joined` has what it prints in one text."""
        with (
            open(os.devnull, "rb") as nothing,
            tempfile.TemporaryFile("w+") as shown,
            tempfile.TemporaryFile("w+") as said,
        ):
            streams = (nothing, shown, shown if joined else said)
            descriptors = [stream.fileno() for stream in streams]
            code = status_of(self._socket, arguments, environment, str(directory), descriptors)
            shown.seek(0)
            said.seek(0)
            return subprocess.CompletedProcess([*arguments], code, shown.read(), said.read())

    def write_command(self, directory: Path, script: Path) -> None:
        """Write a command with the name of a script that runs it in a fork."""
        words = [sys.executable, "-IS", str(_CLIENT), self._socket, str(script)]
        command = directory / script.name
        command.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        command.chmod(0o755)


@contextmanager
def warm_python(*modules: str) -> Iterator[WarmPython]:
    """Yield the runner of a new server that has imported modules; it ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder, "socket")
        command = [sys.executable, str(_SERVER), str(socket), *modules]
        with subprocess.Popen(
            command,
            cwd=_ROOT,
            env=_ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as server:
            assert server.stdout is not None
            assert server.stdin is not None
            assert server.stdout.readline() == b"ready\n"
            try:
                yield WarmPython(socket)
            finally:
                server.terminate()  # even if a process that a test left has its descriptors
