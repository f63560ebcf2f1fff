"""Tests of `fscontract serve`."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from fscontract.contract.program.server_faults import HTTP, S3, kinds_at
from fscontract.fakes.servers.command import serve
from tests.limits import DEADLOCK


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_serves_a_directory_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    command = [sys.executable, "-m", "fscontract", "serve", "http", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "--ignore-ranges", "--stall-bodies", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        match = re.fullmatch(r"serving (.+) at (http://127\.0\.0\.1:\d+/)\n", first)
        assert match is not None
        request = Request(f"{match[2]}file", headers={"Range": "bytes=2-3"})
        with urlopen(request, timeout=DEADLOCK) as answer:
            assert (answer.status, answer.headers["Content-Length"]) == (200, "10")
        process.send_signal(number)
        assert process.stderr is not None
        process.wait(DEADLOCK)
        rest, errors = process.stdout.read(), process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    assert "strikes ignore-ranges: The answer to a range is the whole file" in rest
    assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize(("name", "place"), [("http", HTTP), ("s3", S3)])
def test_each_kind_is_an_option(name: str, place: str) -> None:
    options = {o for p in serve.commands[name].params for o in p.opts}
    assert {f"--{kind}" for kind in kinds_at(place)} <= options


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    for args, says in (
        (("http", "none"), "Directory 'none' does not exist"),
        (("http", str(tmp_path), "--port", "70000"), "70000 is not in the range"),
        (("http", str(tmp_path), "--wrong-etags"), "No such option"),
        (("http", str(tmp_path), "--drip-bodies", "-1"), "-1"),
        (("s3", str(tmp_path), "--bucket", "A"), "InvalidBucketName"),
    ):
        result = CliRunner().invoke(serve, list(args))
        assert result.exit_code == 2, result.output
        assert says in result.output


def test_port_in_use_is_one_line(tmp_path: Path, deaf_port: int) -> None:
    result = CliRunner().invoke(serve, ["http", str(tmp_path), "--port", str(deaf_port)])
    assert result.exit_code == 2
    assert "can't listen" in result.output
