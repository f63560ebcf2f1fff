"""Tests of `fscontract read --spark`: the same records in the same order, read by tasks.

Each test uses a new process, which can have only one session.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.pipeline.cli import read
from tests.limits import DEADLOCK
from tests.pipeline.cli.support import error, output, process

pytestmark = pytest.mark.xdist_group("spark")

LINES = b"".join(b"%05d %s\r\n" % (i, b"x" * (i % 70)) for i in range(4000))
#: Script that prints the results of several reads in one session as JSON; its arguments are a valid
#: and an invalid file.
PROGRAM = """
import json, sys
from fscontract.pipeline.blockreader.source import BlockReadException
from fscontract.pipeline.cli.options import inputs
from fscontract.pipeline.cli.read import read_on_spark, spark_tasks
from fscontract.pipeline.cli.plan import BlockPlan, SplitSettings
from fscontract.pipeline.cli.plan import ReadSettings, read_plan

def plan(*paths, size=5000):
    return BlockPlan(inputs(paths, {}), SplitSettings(block_size=size))

def flat(found):
    return [(f.block.block_id, r, o) for f in found if f.batch
            for r, o in zip(f.batch.records, f.batch.offsets)]

good, bad = sys.argv[1:]
reading, told = ReadSettings(), {}
with spark_tasks("local[2]", ()) as tasks:
    wanted = flat(read_plan(plan(good), reading))
    told["same"] = flat(read_on_spark(tasks, plan(good), reading, offsets=True)) == wanted
    counting = plan(good)
    counted = list(read_on_spark(tasks, counting, reading, records=False))
    told["metrics"] = counting.reader.records, counting.reader.bytes
    told["counted"] = sum(f.records for f in counted), sum(f.bytes for f in counted)
    told["nothing sent"] = all(f.batch is None for f in counted)
    before = 0
    try:
        for found in read_on_spark(tasks, plan(bad), ReadSettings(max_length=100)):
            before += found.records
    except BlockReadException as error:
        told["failed"] = before, str(error)
    first = next(iter(read_on_spark(tasks, plan(good, size=10), reading)))
    told["first"] = first.batch.records[0].decode()
print(json.dumps(told))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of lines, one of them with a line that is too long."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b", "a", "c"):
        (folder / name).write_bytes(name.encode() + LINES)
    (folder / "empty").touch()
    return folder


def test_the_records_are_those_of_one_process(folder: Path) -> None:
    """Of several files, with all fields, byte by byte."""
    args = ["read", folder, "--block-size", "10000", "--json"]
    done = process(*args, "--spark", "local[2]")
    assert done.returncode == 0, done.stderr
    assert done.stdout == output(*args)
    assert b"12000 records, " in done.stderr


def test_tasks_return_wanted_parts_and_errors(folder: Path, tmp_path: Path) -> None:
    """Records before an error are returned; a limit ends the read early."""
    bad = tmp_path / "bad"
    bad.write_bytes(LINES + b"y" * 101 + b"\n" + LINES)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "a"), str(bad)],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    block = len(LINES) // 5000
    assert told == {
        "same": True,
        "counted": [4000, len(LINES) + 1],
        "metrics": [4000, len(LINES) + 1],
        "nothing sent": True,
        "failed": [
            4000,
            f"block {block} at offset {len(LINES)}: record exceeds 100 bytes: '{bad}'",
        ],
        "first": f"a{LINES[:6].decode()}",
    }


def test_failed_session_start_error_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, without Java."""

    def no_session(*_: object) -> None:
        raise TargetError("Spark needs Java 17")

    monkeypatch.setattr(read, "session_of", no_session)
    assert error(3, "read", folder, "--spark", "local[2]") == "Spark needs Java 17"
