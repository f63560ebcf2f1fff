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
assert left_open.stdout.readline() == b"b'0123456789'\n"
try:
    code = left_open.wait(timeout=5)
except subprocess.TimeoutExpired:
    code = "it does not end"
    left_open.kill()

assert code == 0, code
