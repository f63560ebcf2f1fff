"""Tests of a process forked from one that has used the store."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.transports import selection
from tests.limits import DEADLOCK

#: Script that uses the filesystem, forks, uses it again in the child, and prints the results.
FORKING = """
import os, signal, sys
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.transports.selection import choose
bucket, url, parent, child = sys.argv[1:]
def made(transport):
    return S3FileSystem(
        bucket, endpoint=url, access_key="a", secret_key="b", transport=transport, retries=0
    )
def read(fs):
    with fs.open("/a") as stream:
        return chr(stream.read_byte())
fs = made(parent)
with fs.create("/a") as file:
    file.write(b"x")
print("parent", choose(fs.config), read(fs), flush=True)
process = os.fork()
if process == 0:
    signal.alarm(800)  # ends a child that hangs
    try:
        other = made(child) if child else fs
        with other.create("/b") as file:
            file.write(b"y")
        print("child", choose(other.config), read(other), other.get_file_status("/b").length)
    except Exception as error:
        print("child", type(error).__name__, error)
    sys.stdout.flush()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
print("parent", read(fs), fs.get_file_status("/a").length)
fs.close()
"""


def forked(bucket: str, url: str, parent: str, child: str = "") -> list[str]:
    """Return the lines that parent and child print; fail if the child hangs."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING, bucket, url, parent, child],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not available")
class TestForks:
    def test_forked_child_uses_boto3(self, bucket: str, options: dict[str, Any]) -> None:
        """The child uses the same filesystem object, but no connection of the parent."""
        assert forked(bucket, options["endpoint"], "auto") == [
            "parent obstore x",
            "child boto3 x 1",
            "parent x 1",
        ]

    def test_obstore_in_a_forked_child_raises(self, bucket: str, options: dict[str, Any]) -> None:
        lines = forked(bucket, options["endpoint"], "auto", "obstore")
        assert "child UnsupportedOperationException obstore was loaded before" in lines[1]
        assert "boto3" in lines[1]

    def test_boto3_in_a_forked_child_makes_new_connections(
        self, bucket: str, options: dict[str, Any]
    ) -> None:
        assert forked(bucket, options["endpoint"], "boto3")[1] == "child boto3 x 1"


class TestChoice:
    @pytest.fixture
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> set[str]:
        """Libraries that are treated as installed."""
        names = {"obstore", "boto3"}
        monkeypatch.setattr(selection, "find_spec", lambda name: name if name in names else None)
        return names

    @pytest.mark.parametrize("wanted", ["auto", "obstore", "boto3"])
    def test_missing_library_error_has_an_install_hint(
        self, installed: set[str], wanted: str
    ) -> None:
        installed.clear()
        with pytest.raises(IllegalArgumentException, match=r"pip install 'fscontract\[s3\]'"):
            selection.choose(S3Config("data", transport=wanted))

    def test_auto_prefers_obstore(self, installed: set[str]) -> None:
        assert selection.choose(S3Config("data")) == "obstore"
        installed.remove("obstore")
        assert selection.choose(S3Config("data")) == "boto3"

    def test_explicit_transport_is_not_replaced(self, installed: set[str]) -> None:
        assert selection.choose(S3Config("data", transport="boto3")) == "boto3"
        installed.remove("boto3")
        with pytest.raises(IllegalArgumentException, match="boto3"):
            selection.choose(S3Config("data", transport="boto3"))

    def test_each_process_creates_its_own_object(self, monkeypatch: pytest.MonkeyPatch) -> None:
        each = selection.PerProcess(object)
        first = each.get()
        assert each.get() is first
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert each.get() is not first
        assert each.take() is not first
        assert each.take() is None
