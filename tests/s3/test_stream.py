"""Our stream on every server, through both transports: right bytes, whatever the server does."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import FileRange
from fscontract.implementations.s3.filesystem import S3FileSystem
from servers.s3.signed import Server
from tests.limits import DEADLOCK
from tests.s3.threads import no_thread_left

DATA = random.Random(3).randbytes(1_000_000)
POLICIES = ("default", "sequential", "whole-file", "random", "parquet", "vector")


@pytest.fixture(params=["auto", "boto3"])
def transport(request: pytest.FixtureRequest) -> str:
    """Each way to send requests; obstore alone refuses what rclone and s3rver answer."""
    return str(request.param)


@pytest.fixture
def fs(server: Server, client: Any, bucket: str, transport: str) -> Any:
    """A filesystem over a new bucket with one object, and one of none."""
    client.put_object(Bucket=bucket, Key="key", Body=DATA)
    client.put_object(Bucket=bucket, Key="empty", Body=b"")
    with (
        no_thread_left(),
        S3FileSystem(
            bucket, **server.client_options, transport=transport, timeout=DEADLOCK
        ) as filesystem,
    ):
        yield filesystem


def read_all(fs: S3FileSystem, path: str, policy: str) -> bytes:
    """Everything, in pieces."""
    found, buffer = bytearray(), bytearray(100_000)
    builder = fs.open_file(path).opt("fs.option.openfile.read.policy", policy)
    with builder.build().result() as stream:
        while (count := stream.read_into(buffer)) > 0:
            found += buffer[:count]
    return bytes(found)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_object_reads_as_what_was_written(fs: S3FileSystem, policy: str) -> None:
    assert read_all(fs, "/key", policy) == DATA


@pytest.mark.parametrize("policy", POLICIES)
def test_an_empty_object_reads_as_empty(fs: S3FileSystem, policy: str) -> None:
    assert read_all(fs, "/empty", policy) == b""


def test_single_bytes_and_ends_are_right(fs: S3FileSystem) -> None:
    with fs.open("/key") as stream:
        for position in (0, 1, 999_998, 999_999):
            buffer = bytearray(3)
            count = stream.pread(position, buffer)
            assert bytes(buffer[:count]) == DATA[position : position + 3]
        assert stream.pread(1_000_000, bytearray(1)) == -1
        one = bytearray(1)
        assert stream.pread(0, one) == 1
        assert one == DATA[:1]
        stream.seek(1_000_000)
        assert stream.read_byte() == -1
        with pytest.raises(EOFException):
            stream.seek(1_000_001)


@pytest.mark.parametrize("position", [1_000_000, 2_000_000])
def test_nothing_is_at_the_end_of_an_object_of_unknown_length(
    fs: S3FileSystem, position: int
) -> None:
    with fs.open_file("/key").build().result() as stream:
        assert stream.pread(position, bytearray(10)) == -1


def test_vectored_reads_are_right(fs: S3FileSystem) -> None:
    ranges = [FileRange(n * 9_000, 500) for n in reversed(range(111))]
    with fs.open("/key") as stream:
        stream.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert bytes(item.data.result(DEADLOCK)) == DATA[item.offset :][:500]


def test_a_footer_is_right_though_the_length_is_not_known(fs: S3FileSystem) -> None:
    builder = fs.open_file("/key").opt("fs.option.openfile.read.policy", "parquet")
    with builder.build().result() as stream:
        assert stream.available() == 1_000_000
        buffer = bytearray(8)
        stream.read_fully(999_992, buffer)
        assert buffer == DATA[-8:]


def test_a_replaced_object_is_never_mixed_with_the_old_one(
    fs: S3FileSystem, client: Any, bucket: str
) -> None:
    with fs.open("/key") as stream:
        stream.read_byte()
        client.put_object(Bucket=bucket, Key="key", Body=DATA[::-1])
        with pytest.raises(RemoteFileChangedException):
            stream.pread(500_000, bytearray(10))


def test_a_missing_object_is_named(fs: S3FileSystem) -> None:
    with pytest.raises(FileNotFoundException, match="/nothing"):
        fs.open("/nothing")
    stream = fs.open_file("/nothing").build().result()
    with stream, pytest.raises(FileNotFoundException, match="/nothing"):
        stream.read_byte()
