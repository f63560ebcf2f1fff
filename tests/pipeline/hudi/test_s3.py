"""Tests of the metadata table in a bucket, where the store creates each instant once."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from datetime import timedelta

import boto3
import pytest
from click.testing import CliRunner

from fscontract.contract.api.errors import FileAlreadyExistsException
from fscontract.contract.cli.main import main
from fscontract.contract.scenarios.metadata_table.failures import deaths
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.implementations.s3 import moto_target
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.io import LockedException
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Instant, TimelineWriter
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import PATH, dataset, name, seen


@pytest.fixture(scope="module")
def server() -> Iterator[moto_target.EmbeddedServer]:
    """A server for all tests of this module."""
    with moto_target.EmbeddedServer() as running:
        yield running


@pytest.fixture
def bucket(
    server: moto_target.EmbeddedServer, request: pytest.FixtureRequest
) -> Iterator[S3FileSystem]:
    """An empty bucket."""
    name = "b" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    with _bucket(server, name) as filesystem:
        yield filesystem


def _bucket(server: moto_target.EmbeddedServer, name: str) -> S3FileSystem:
    keys = {"access_key": moto_target.ACCESS_KEY, "secret_key": moto_target.SECRET_KEY}
    boto3.client(
        "s3",
        endpoint_url=server.url,
        region_name=moto_target.REGION,
        aws_access_key_id=moto_target.ACCESS_KEY,
        aws_secret_access_key=moto_target.SECRET_KEY,
    ).create_bucket(Bucket=name)
    return S3FileSystem(name, endpoint=server.url, region=moto_target.REGION, **keys)


def test_a_bucket_has_a_metadata_table(bucket: S3FileSystem) -> None:
    made = dataset(bucket)
    made.commit(Change({"city=c": {"new": 7}}, {"city=a": [name(0)]}))
    before = seen(bucket)
    assert before["city=c"] == {"new": 7}
    assert name(0) not in before["city=a"]
    made.compact()
    assert seen(bucket) == before
    with MetadataTable(bucket, PATH) as table:
        table.list_files("city=a")
        sent = bucket.io_statistics()["action_http_get_request"]
        heads = bucket.io_statistics()["action_http_head_request"]
        table.list_files("city=b")
        assert bucket.io_statistics()["action_http_get_request"] == sent + 1
        assert bucket.io_statistics()["action_http_head_request"] == heads


def test_commit_reads_none_of_its_files(bucket: S3FileSystem) -> None:
    """Its two timelines are listed, its properties are read, and seven files are written."""
    made = dataset(bucket)
    before = bucket.io_statistics()
    made.commit(Change({"city=c": {"new": 7}}))
    after = bucket.io_statistics()
    names = ("action_http_head_request", "object_put_request", "object_list_request")
    assert [after[each] - before[each] for each in names] == [0, 7, 2]


def test_file_is_opened_with_the_status_of_the_table(bucket: S3FileSystem) -> None:
    """Its length is known, so the read is the only request."""
    with bucket.create(f"{PATH}/city=a/f") as file:
        file.write(b"12345")
    MetadataWriter(bucket, PATH).initialize()
    with MetadataTable(bucket, PATH) as table:
        (status,) = table.list_files("city=a")
    before = bucket.io_statistics()
    with bucket.open_file(status.path).with_file_status(status).build().result() as stream:
        buffer = bytearray(5)
        stream.read_fully(0, buffer)
    after = bucket.io_statistics()
    assert buffer == b"12345"
    names = ("action_http_head_request", "action_http_get_request", "object_list_request")
    assert [after[each] - before[each] for each in names] == [0, 1, 0]


def test_the_command_makes_a_table_in_a_bucket(bucket: S3FileSystem) -> None:
    """With the options of `check`."""
    with bucket.create("/trips/day=1/a") as file:
        file.write(b"12345")
    config = bucket.config
    url = f"s3://{config.bucket}"
    given = {
        "endpoint": config.endpoint,
        "region": config.region,
        "access_key": moto_target.ACCESS_KEY,
        "secret_key": moto_target.SECRET_KEY,
    }
    options = [text for key, value in given.items() for text in ("-o", f"{key}={value}")]
    for command, said in (
        (["create"], f"Created Metadata Table in {url}/trips/.hoodie/metadata"),
        (["stats"], "partitionCount: 1"),
        (["list-files", "--partition", "day=1"], "           5 a"),
        (["validate"], "the table is correct: 1 partitions, 1 files"),
        (["create"], "already has a metadata table"),
        (["delete"], "Deleted Metadata Table"),
    ):
        arguments = ["metadata", *command, f"{url}/trips", *options]
        assert said in CliRunner().invoke(main, arguments).output


def test_a_bucket_holds_a_lock(bucket: S3FileSystem) -> None:
    """The store lets one writer create the file."""

    def lock() -> FileLock:
        return FileLock(bucket, f"{PATH}/{LOCKS}", wait=timedelta(0), sleep=lambda seconds: None)

    one, two = lock(), lock()
    one.acquire()
    with pytest.raises(LockedException):
        two.acquire()
    one.check()
    one.release()
    two.acquire()
    two.release()


@pytest.mark.deep
def test_every_action_dies_at_every_write_in_a_bucket(server: moto_target.EmbeddedServer) -> None:
    """And the next writer succeeds."""
    numbers = itertools.count()
    harness = TableHarness(TableBinding("s3", lambda: _bucket(server, f"dead-{next(numbers)}")))
    for when in deaths(harness):
        harness.expect_dataset(when, settles=False)
        writer = harness.next_writer()
        harness.commit(writer, {"day=1": {"next": 1}})
        harness.expect_dataset(when)
        assert isinstance(harness.fs.inner, S3FileSystem)
        harness.fs.inner.close()


def test_an_instant_is_made_once_in_a_bucket(bucket: S3FileSystem) -> None:
    instants = TimelineWriter(bucket, PATH)
    instant = instants.put(Instant("20260101000000000", "commit", "requested"))
    with pytest.raises(FileAlreadyExistsException):
        instants.put(instant)
