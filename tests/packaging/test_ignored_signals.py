"""Commands of the tests end by signals, however the tests were started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
#: Ignores a signal, imports what pytest does first, and prints whether a command ignores it, too.
_SESSION = """
import signal, subprocess, sys
signal.signal(int(sys.argv[1]), signal.SIG_IGN)
import tests.conftest
ask = "import signal, sys; print(signal.getsignal(int(sys.argv[1])) is signal.SIG_IGN)"
subprocess.run([sys.executable, "-c", ask, sys.argv[1]], check=True)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_signal_that_the_tests_ignore_is_not_ignored_by_commands(name: str) -> None:
    """As under nohup, and in the background of a shell."""
    number = str(int(getattr(signal, name)))
    done = subprocess.run(
        [sys.executable, "-c", _SESSION, number],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
