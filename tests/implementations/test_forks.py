"""Tests that counters and version pins of streams work in a forked child."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.limits import DEADLOCK

HOLDING = """
import os, sys, threading
from importlib import import_module
module, name, *arguments = sys.argv[1:]
owner = getattr(import_module(module), name)(*([()] if arguments else []))
held = threading.Event()
def hold():
    with owner._lock:
        held.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
process = os.fork()
if process == 0:
    os._exit(0 if owner._lock.acquire(timeout=5) else 3)
code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
print(code, owner._lock.acquire(blocking=False))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not available")
@pytest.mark.parametrize(
    "owner",
    [
        ("fscontract.implementations.s3.object_reader", "RequestCounters"),
        ("fscontract.implementations.s3.range_download", "VersionPin"),
        ("fscontract.implementations.s3.object_store", "Requests"),
        ("fscontract.implementations.filesystem_base", "Statistics", "names"),
    ],
    ids=lambda owner: owner[1],
)
def test_a_lock_that_a_thread_holds_is_free_in_a_child_alone(owner: tuple[str, ...]) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HOLDING, *owner],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
    assert run.stdout.split() == ["0", "False"], run.stderr
