"""Requests, the time that they take, and what else a test can look at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
)
from fscontract.contract.program.content import content
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.requests import Latency, Request
from fscontract.fakes.filesystem.tree import EPOCH, Clock

from .support import outcomes, pread, read

DATA = content(10_000)


@pytest.fixture
def fs() -> FakeFileSystem:
    """A filesystem with DATA at /a, in blocks of 4096 bytes, whose requests take no time."""
    fs = FakeFileSystem(block_size=4096, latency=Latency(0, 0))
    fs.write("/a", DATA)
    return fs


class TestRequests:
    def test_each_is_in_the_log(self, fs: FakeFileSystem) -> None:
        """With what it asked for, so that a test can count what its reader costs."""
        etag = fs.get_file_status("/a").etag
        with fs.open("/a") as stream:
            pread(stream, 100, 5000)
        assert fs.store.requests == (
            Request("head", "/a", None, None, None, None, 0.0, 0.0, "ok"),
            Request("open", "/a", None, None, None, None, 0.0, 0.0, "ok"),
            Request("get", "/a", 100, 5000, etag, 0, 0.0, 0.0, "ok"),
        )

    def test_every_method_makes_one(self, fs: FakeFileSystem) -> None:
        fs.mkdirs("/d")
        fs.create("/d/f").close()
        list(fs.list_status("/d"))
        fs.set_permission("/d/f", 0o600)
        fs.access("/d/f", "rw")
        fs.rename("/d/f", "/d/g")
        fs.delete("/d/g")
        assert [request.operation for request in fs.store.requests] == [
            *("mkdirs", "put", "list", "permission", "access", "rename", "delete")
        ]

    def test_setting_up_a_test_makes_none(self, fs: FakeFileSystem) -> None:
        """So that the log holds what the code under test did."""
        fs.write("/b", b"x")
        fs.corrupt("/b")
        fs.lose("/a", block=2, replica=1)
        assert fs.remove("/b")
        assert not fs.remove("/b")
        assert fs.store.requests == ()

    def test_the_log_can_be_emptied(self, fs: FakeFileSystem) -> None:
        fs.get_file_status("/a")
        fs.store.forget()
        assert fs.store.requests == ()

    def test_failures_are_told_apart(self, fs: FakeFileSystem) -> None:
        fs.mkdirs("/d")
        fs.set_permission("/a", 0)
        for path in ("/missing", "/d", "/a"):
            with pytest.raises(OSError, match=path):
                fs.open(path)
        assert outcomes(fs, "open") == ["missing", "missing", "denied"]

    def test_small_reads_share_one(self, fs: FakeFileSystem) -> None:
        """The streams have the read-ahead of those of local files."""
        with fs.open("/a", buffer_size=1000) as stream:
            assert bytes(stream.read_byte() for _ in range(1500)) == DATA[:1500]
            assert stream.io_statistics()["store_io_request"] == 2
        assert outcomes(fs) == ["ok", "ok"]


class TestTime:
    def test_a_request_takes_its_latency(self) -> None:
        fs = FakeFileSystem(latency=Latency(request=0.5, byte=0.001))
        fs.write("/a", DATA)
        with fs.open("/a") as stream:
            pread(stream, 0, 5000)
        assert fs.clock.now == pytest.approx(0.5 + 0.5 + 5.0)
        assert [r.seconds for r in fs.store.requests] == pytest.approx([0.5, 5.5])
        assert [r.at for r in fs.store.requests] == pytest.approx([0, 0.5])

    def test_a_file_is_as_old_as_the_clock_says(self, fs: FakeFileSystem) -> None:
        fs.clock.advance(7)
        fs.write("/b", b"")
        assert fs.get_file_status("/b").modification_time == EPOCH + 7

    @pytest.mark.parametrize("seconds", [-1, float("nan")])
    def test_it_goes_forward(self, seconds: float) -> None:
        with pytest.raises(IllegalArgumentException):
            Clock().advance(seconds)

    def test_an_answer_that_takes_too_long_is_none(self) -> None:
        """A deadline counts the seconds that the body takes, too."""
        fs = FakeFileSystem(latency=Latency(1, 1), retries=0, deadline=10)
        fs.write("/a", DATA)
        with fs.open("/a") as stream:
            assert pread(stream, 0, 5) == DATA[:5]
            with pytest.raises(TimeoutError, match="no answer after 10 s: '/a'"):
                pread(stream, 0, 50)
        assert fs.clock.now == 1 + 6 + 10


class TestVersions:
    def test_a_changed_file_is_not_read(self, fs: FakeFileSystem) -> None:
        """No bytes of the new version, and those of the old one are gone."""
        with fs.open("/a") as stream:
            pread(stream, 0, 10)
            fs.write("/a", DATA)
            with pytest.raises(RemoteFileChangedException):
                pread(stream, 0, 10)

    @pytest.mark.parametrize("unbuffered", [False, True])
    def test_a_deleted_or_denied_file_is_not_read(
        self, fs: FakeFileSystem, unbuffered: bool
    ) -> None:
        with fs.open("/a") as stream:
            stream.seek(5)
            if unbuffered:
                stream.unbuffer()
            fs.set_permission("/a", 0o200)
            with pytest.raises(AccessControlException):
                stream.read_byte()
            fs.remove("/a")
            with pytest.raises(FileNotFoundException):
                stream.read_byte()
            assert stream.get_pos() == 5

    def test_a_renamed_file_keeps_its_version(self, fs: FakeFileSystem) -> None:
        before = fs.get_file_status("/a")
        fs.rename("/a", "/d/b")
        after = fs.get_file_status("/d/b")
        assert (after.etag, after.modification_time) == (before.etag, before.modification_time)
        assert read(fs, "/d/b") == DATA

    def test_a_status_tells_the_block_size(self, fs: FakeFileSystem) -> None:
        assert fs.get_file_status("/a").block_size == 4096
        assert [s.block_size for s in fs.list_status("/")] == [4096]
        fs = FakeFileSystem()
        fs.write("/a", b"")
        assert fs.get_file_status("/a").block_size == 128 * 1024 * 1024


@pytest.mark.parametrize(
    "options",
    [
        *({"block_size": 0}, {"replicas": 0}, {"retries": -1}, {"deadline": 0}),
        {"deadline": float("nan")},
    ],
    ids=json.dumps,
)
def test_sizes_make_sense(options: dict[str, Any]) -> None:
    """Invalid values are rejected at the call that contains them."""
    with pytest.raises(IllegalArgumentException):
        FakeFileSystem(**options)


def test_a_latency_is_not_negative() -> None:
    """Time would go backwards."""
    with pytest.raises(IllegalArgumentException):
        Latency(byte=-1)
