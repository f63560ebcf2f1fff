"""N16: a program that leaves a file of sshfs open does not end. Argument: server URL."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
from sftp import asyncssh_client

fs = asyncssh_client()
fs.pipe_file("/it", b"0123456789")
f = fs.open("/it", "rb")
print(f.read(), flush=True)
"""
left_open = subprocess.Popen(
    [sys.executable, "-c", PROGRAM, sys.argv[1]],
    cwd=Path(__file__).parent,
    stdout=subprocess.PIPE,
)
try:
    assert left_open.stdout.readline() == b"b'0123456789'\n"
    left_open.wait(timeout=3)  # expected 0
except subprocess.TimeoutExpired:
    pass
else:
    raise SystemExit("fixed")
finally:
    left_open.kill()
