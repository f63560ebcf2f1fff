"""Tests of the S3 server: its bucket, and what only S3 has of misbehaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.server_faults import S3, kinds_at
from fscontract.fakes.servers import S3Server

DATA = bytes(range(5, 105))
Start = Callable[..., S3Server]


def client_of(server: S3Server) -> Any:
    """Return a client that does not retry."""
    config = Config(retries={"max_attempts": 0, "mode": "standard"})
    return boto3.client("s3", config=config, **server.boto3_options)


@pytest.fixture(scope="module")
def shared() -> Iterator[S3Server]:
    """Return a server with the object `dir/file`."""
    with S3Server() as server:
        server.write("dir/file", DATA)
        yield server


@pytest.fixture(scope="module")
def client(shared: S3Server) -> Iterator[Any]:
    made = client_of(shared)
    yield made
    made.close()


def get(client: Any, server: S3Server, **given: str) -> Any:
    answer = client.get_object(Bucket=server.bucket, Key="dir/file", **given)
    return {**answer, "Body": answer["Body"].read()}


def test_files_of_a_directory_are_the_first_objects(tmp_path: Path, s3_server: Start) -> None:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "a b").write_bytes(b"1")
    (tmp_path / "root" / "sub" / "c").write_bytes(DATA)
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "root" / "out").symlink_to(tmp_path / "secret")
    server = s3_server(tmp_path / "root", bucket="files")
    client = client_of(server)
    listed = client.list_objects_v2(Bucket="files")["Contents"]
    assert [(o["Key"], o["Size"]) for o in listed] == [("a b", 1), ("sub/c", 100)]
    client.put_object(Bucket="files", Key="new", Body=b"new")
    assert not (tmp_path / "root" / "new").exists(), "writes stay in memory"
    client.close()


def test_objects_are_gone_after_close(s3_server: Start) -> None:
    with S3Server(bucket="again") as server:
        server.write("file", DATA)
    fresh = s3_server(bucket="again")
    client = client_of(fresh)
    assert "Contents" not in client.list_objects_v2(Bucket="again")
    client.close()


def test_directory_and_name_of_the_bucket_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="directory not found"):
        S3Server(tmp_path / "none")
    with pytest.raises(ValueError, match=r"PUT failed with 400.*InvalidBucketName"):
        S3Server(bucket="A")


def test_reads_without_faults_are_right(client: Any, shared: S3Server) -> None:
    found = get(client, shared, Range="bytes=3-7")
    assert (found["Body"], found["ContentRange"]) == (DATA[3:8], "bytes 3-7/100")
    with pytest.raises(ClientError, match="PreconditionFailed"):
        get(client, shared, IfMatch='"other"')


def test_plan_strikes_reads_of_objects_by_their_path(client: Any, shared: S3Server) -> None:
    plan = FaultPlan((Fault("slow-down", path="*/dir/file", operation="get"),))
    with shared.injector.attached(plan):
        client.list_objects_v2(Bucket=shared.bucket)
        client.head_object(Bucket=shared.bucket, Key="dir/file")
        with pytest.raises(ClientError, match="SlowDown"):
            get(client, shared)
        assert get(client, shared)["Body"] == DATA
        assert (shared.injector.requests, shared.injector.fired) == (4, 1)


def test_wrong_etag_is_one_that_the_server_accepts(client: Any, shared: S3Server) -> None:
    right = get(client, shared)["ETag"]
    with shared.injector.attached(FaultPlan((Fault("wrong-etags", times="all"),))):
        wrong = client.head_object(Bucket=shared.bucket, Key="dir/file")["ETag"]
        assert wrong != right
        found = get(client, shared, IfMatch=wrong)
        assert (found["ETag"], found["Body"]) == (wrong, DATA)


def test_ignored_precondition_returns_another_version(client: Any, shared: S3Server) -> None:
    etag = get(client, shared)["ETag"]
    with shared.injector.attached(FaultPlan((Fault("ignore-if-match"),))):
        found = get(client, shared, IfMatch=etag, Range="bytes=3-7")
    assert found["Body"] == replacement(DATA)[3:8]
    assert found["ETag"] != etag


def test_copy_and_end_of_an_upload_fail_with_status_200(client: Any, shared: S3Server) -> None:
    bucket = shared.bucket
    parts = client.create_multipart_upload(Bucket=bucket, Key="parts")
    named = {"Bucket": bucket, "Key": "parts", "UploadId": parts["UploadId"]}
    part = client.upload_part(PartNumber=1, Body=b"1", **named)
    whole = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    plan = FaultPlan((Fault("errors-in-200", times=2),))
    with shared.injector.attached(plan):
        with pytest.raises(ClientError, match="InternalError"):
            client.complete_multipart_upload(MultipartUpload=whole, **named)
        with pytest.raises(ClientError, match="InternalError"):
            client.copy_object(Bucket=bucket, Key="copy", CopySource=f"{bucket}/dir/file")
        client.put_object(Bucket=bucket, Key="put", Body=b"1")
        assert shared.injector.fired == 2
    keys = [o["Key"] for o in client.list_objects_v2(Bucket=bucket)["Contents"]]
    assert keys == ["dir/file", "put"]


def test_each_kind_of_an_http_server_is_one_of_an_s3_server_too() -> None:
    assert kinds_at(S3) - kinds_at("http server") == {"wrong-etags", "errors-in-200"}


def test_environment_leads_to_the_server(shared: S3Server) -> None:
    assert shared.environment["AWS_ENDPOINT_URL_S3"] == shared.storage_options["endpoint_url"]
    assert {r.method for r in shared.requests} <= {"GET", "HEAD", "PUT", "POST", "DELETE"}
