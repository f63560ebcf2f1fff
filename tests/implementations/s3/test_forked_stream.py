"""Tests of a stream that was read before a fork and is then read in both processes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.limits import DEADLOCK

READING = """
import faulthandler, os, random, sys
from fscontract.implementations.s3.filesystem import S3FileSystem
bucket, url, transport = sys.argv[1:]
fs = S3FileSystem(
    bucket, endpoint=url, access_key="a", secret_key="b", transport=transport, part_size="5M"
)
data = random.Random(5).randbytes(1 << 20) * 12
with fs.create("/a") as file:
    file.write(data)
def rest(stream, found):
    buffer = bytearray(1 << 20)
    while (count := stream.read_into(buffer)) > 0:
        found = found + buffer[:count]
    return found == data
stream = fs.open("/a")
first = bytearray(3_000_000)  # the next window is on its way by then
assert stream.read_into(first) == len(first)
process = os.fork()
if process == 0:
    faulthandler.dump_traceback_later(800, exit=True)  # ends a child that hangs
    try:
        print("child", rest(stream, bytes(first)), flush=True)
        stream.close()
    except Exception as error:
        print("child", type(error).__name__, flush=True)
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
assert code == 0, code
print("parent", rest(stream, bytes(first)))
stream.close()
fs.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not available")
@pytest.mark.parametrize(
    ("transport", "child"),
    [("auto", "True"), ("boto3", "True"), ("obstore", "UnsupportedOperationException")],
)
def test_open_stream_continues_in_child_and_parent(
    bucket: str, options: dict[str, Any], transport: str, child: str
) -> None:
    """Or raises in the child; it neither hangs nor takes bytes from the parent."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READING, bucket, options["endpoint"], transport],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
    assert run.stdout.splitlines() == [f"child {child}", "parent True"], run.stderr
