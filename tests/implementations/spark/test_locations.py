"""Tests of locations, the values that describe what executors read."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.spark.locations import (
    LocalLocation,
    MemoryLocation,
    S3Location,
    location_of,
)

SECRET = "correct-horse-battery"


def test_urls_and_own_filesystems_are_locations(tmp_path: Path) -> None:
    local = LocalFileSystem(str(tmp_path), "portable")
    assert location_of("file:///a%20b") == LocalLocation("/a b")
    assert location_of(local) == LocalLocation(os.path.realpath(tmp_path), "portable")
    assert isinstance(location_of("memory:"), MemoryLocation)
    assert location_of("s3://bucket", {"region": "x"}) == location_of(
        S3FileSystem("bucket", region="x")
    )


@pytest.mark.parametrize(
    "inner",
    ["", "/data", "file://host/data", "file:data", "http://h/", "s3://", "s3://b/dir", "s3://u@b",
     "s3://b?x", "memory://x", 7, None],
)  # fmt: skip
def test_other_values_are_rejected_with_one_line(inner: object) -> None:
    with pytest.raises(IllegalArgumentException) as caught:
        location_of(inner)
    assert "\n" not in str(caught.value)


def test_a_user_in_a_url_is_not_shown() -> None:
    with pytest.raises(IllegalArgumentException) as caught:
        location_of(f"s3://key:{SECRET}@bucket")
    assert SECRET not in str(caught.value)


def test_keys_are_neither_shown_nor_sent() -> None:
    location = location_of("s3://bucket", {"access_key": "key", "secret_key": SECRET})
    assert SECRET not in repr(location)
    assert SECRET.encode() not in pickle.dumps(location)
    assert isinstance(pickle.loads(pickle.dumps(location)), S3Location)


def test_streams_that_follow_changes_are_not_pinned() -> None:
    assert location_of("s3://bucket").pins
    assert not location_of("s3://bucket", {"on_change": "follow"}).pins


def test_memory_files_are_sent_individually() -> None:
    """The executor finds the content as of the submission of the task."""
    memory = MemoryFileSystem()
    with memory.create("/dir/a") as file:
        file.write(b"0123")
    status = memory.get_file_status("/dir/a")
    location = MemoryLocation(memory)
    sent = pickle.loads(pickle.dumps(location.for_path("/dir/a"))).make()
    with sent.open_with("/dir/a", OpenOptions(status=status)) as stream:
        assert stream.as_file().read() == b"0123"
        assert stream.etag == status.etag
    with pytest.raises(RemoteFileChangedException):
        sent.open_with("/dir/a", OpenOptions(status=replace(status, etag="another")))
    with pytest.raises(UnsupportedOperationException):
        sent.delete("/dir/a")
    with pytest.raises(UnsupportedOperationException, match="pickle a stream"):
        pickle.dumps(location)


@pytest.mark.parametrize(
    ("path", "error"),
    [("/none", FileNotFoundException), ("/dir", FileNotFoundException),
     ("/dir/closed", AccessControlException)],
)  # fmt: skip
def test_missing_files_and_directories_are_missing_in_executors(
    path: str, error: type[Exception]
) -> None:
    memory = MemoryFileSystem()
    memory.create("/dir/closed").close()
    memory.set_permission("/dir/closed", 0)
    with pytest.raises(error):
        MemoryLocation(memory).for_path(path).make().open(path)
