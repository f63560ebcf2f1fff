"""Run scripts of failures in a separate process, one after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[1]
#: Runs the scripts that it reads as lines of JSON, and answers with their exit codes.
_LOOP = """
import contextlib, io, json, sys, traceback
blocked = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(blocked))  # as if they were not installed
answers, sys.stdout = sys.stdout, sys.stderr
for line in sys.stdin:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(json.loads(line), "script", "exec"), {"__name__": "__main__"})
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:
            code = 70
            traceback.print_exc(file=said)
    print(json.dumps([code, said.getvalue()]), file=answers, flush=True)
"""


class Ran(NamedTuple):
    """The exit code of a script, 70 after an exception, and what it printed."""

    code: int
    output: str


class ScriptRunner:
    """Runs scripts in one process, in which `blocked` packages can't be imported."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, script: str) -> Ran:
        """Run a script to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(script) + "\n")
        self._process.stdin.flush()
        return Ran(*json.loads(self._process.stdout.readline()))


@contextmanager
def running(*blocked: str) -> Iterator[ScriptRunner]:
    """Yield a runner, which ends with the block."""
    command = [sys.executable, "-c", _LOOP, json.dumps(blocked)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT
    )
    try:
        yield ScriptRunner(process)
    finally:
        process.communicate()
