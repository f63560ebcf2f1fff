"""The metadata table in a bucket: the same, and each instant made once by the store itself."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest

from fscontract.contract.errors import FileAlreadyExistsException
from fscontract.implementations.s3 import embedded
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.timeline import Instant, TimelineWriter
from fscontract.pipeline.metadata.write import Change
from tests.pipeline.metadata.support import PATH, dataset, name, seen


@pytest.fixture
def bucket() -> Iterator[S3FileSystem]:
    """An empty bucket."""
    keys = {"access_key": embedded.ACCESS_KEY, "secret_key": embedded.SECRET_KEY}
    with embedded.EmbeddedServer() as server:
        boto3.client(
            "s3",
            endpoint_url=server.url,
            region_name=embedded.REGION,
            aws_access_key_id=embedded.ACCESS_KEY,
            aws_secret_access_key=embedded.SECRET_KEY,
        ).create_bucket(Bucket="metadata")
        with S3FileSystem(
            "metadata", endpoint=server.url, region=embedded.REGION, **keys
        ) as filesystem:
            yield filesystem


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


def test_an_instant_is_made_once_in_a_bucket(bucket: S3FileSystem) -> None:
    instants = TimelineWriter(bucket, PATH)
    instant = instants.put(Instant("20260101000000000", "commit", "requested"))
    with pytest.raises(FileAlreadyExistsException):
        instants.put(instant)
