"""Servers start, fail and end as tests need it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from servers.s3.process import Process
from servers.s3.servers import serving
from servers.s3.signed import ask
from tests.limits import DEADLOCK

_ROOT = Path(__file__).resolve().parents[2]
_KILLED = """
import sys
from servers.s3.servers import serving
with serving(sys.argv[1]) as server:
    print(server.url, flush=True)
    input()
"""


@pytest.mark.parametrize("name", ["seaweedfs", "rclone", "s3rver"])
def test_a_server_is_gone_with_its_directory_after_whoever_started_it_is_killed(
    name: str, tmp_path: Path
) -> None:
    """Even if that process had no chance to say so."""
    child = subprocess.Popen(
        [sys.executable, "-c", _KILLED, name],
        cwd=_ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    url = child.stdout.readline()
    assert url.startswith("http://127.0.0.1:")
    assert list(tmp_path.iterdir())
    child.kill()
    child.communicate(
        timeout=DEADLOCK
    )  # its end comes when the last process that it started is gone
    assert not list(tmp_path.iterdir())


def test_a_server_is_gone_in_the_end() -> None:
    """After the block, no server answers."""
    with serving("rclone") as server:
        assert ask(server, "GET", "/").status == 200
    assert ask(server, "GET", "/").status == 0


def test_a_server_that_ends_at_once_says_why() -> None:
    """The error holds the end of what it wrote."""
    command = [sys.executable, "-c", "raise SystemExit('no port left')"]
    with Process(command) as process, pytest.raises(OSError, match="no port left"):
        process.logged("never written")
