"""A finding in JPype, by a program without other libraries in a separate process."""

from __future__ import annotations

import subprocess
import sys

import jpype

from tests.findings.conftest import mended
from tests.limits import DEADLOCK

PROGRAM = """
import gc, types, jpype
jpype.startJVM("-Xmx64m")
parse = jpype.JClass("java.lang.Integer").parseInt

def kept():
    gc.collect()
    return sum(isinstance(each, types.TracebackType) for each in gc.get_objects())

def fail(times):
    for _ in range(times):
        try:
            parse("x")
        except Exception:
            pass

fail(10)
before = kept()
fail(1000)
print(kept() - before)
"""


def test_caught_java_exception_leaks_tracebacks() -> None:
    """Finding J1: one for each element of its stack trace, with its frame; two or more here."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=True,
    )
    kept = int(done.stdout)
    if not kept:
        mended({"jpype1": jpype.__version__})
    assert kept >= 2000
