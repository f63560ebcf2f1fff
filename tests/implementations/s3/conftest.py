"""Fixtures: one S3 server for all tests of this folder, and a new bucket for each test."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from fscontract.implementations.s3 import range_download
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY, EmbeddedServer
from fscontract.implementations.s3.transports import cancellable_loop
from fscontract.implementations.s3.transports.clients import boto3_client
from tests.implementations.s3.awaitables import Library
from tests.implementations.s3.rawserver import DATA, RawServer
from tests.limits import DEADLOCK

#: Environment variables that S3 clients read; tests remove them.
PREFIXES = ("AWS_", "FSCONTRACT_S3_")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Hide environment variables and AWS files; disable the lookup of roles."""
    import os

    for variable in list(os.environ):
        if variable.startswith(PREFIXES):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """The server, shared by all tests."""
    with EmbeddedServer() as running:
        yield running


@pytest.fixture
def options(server: EmbeddedServer) -> dict[str, Any]:
    """Client options for the server."""
    return {
        "endpoint": server.url,
        "region": REGION,
        "access_key": ACCESS_KEY,
        "secret_key": SECRET_KEY,
    }


@pytest.fixture(scope="session")
def client(server: EmbeddedServer) -> Iterator[Any]:
    """A client that inspects the server."""
    keys = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY, "region": REGION}
    made = boto3_client(S3Config.of("any", {"endpoint": server.url, **keys}, {}))
    yield made
    made.close()


@pytest.fixture
def bucket(client: Any) -> str:
    """The name of a new bucket."""
    name = f"test-{uuid.uuid4().hex}"
    client.create_bucket(Bucket=name)
    return name


@pytest.fixture(params=["obstore", "boto3"])
def transport(request: pytest.FixtureRequest) -> str:
    """Each transport in turn."""
    return str(request.param)


@pytest.fixture
def config(bucket: str, options: dict[str, Any], transport: str) -> S3Config:
    """A configuration for the bucket."""
    return S3Config.of(bucket, {**options, "transport": transport})


@pytest.fixture
def fs(config: S3Config) -> Iterator[S3FileSystem]:
    """The bucket as a filesystem."""
    with S3FileSystem.of(config) as made:
        yield made


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> Iterator[RawServer]:
    """A server whose answers can be spoilt, with one object; retries follow at once."""
    monkeypatch.setattr(range_download, "BACKOFF", 0.0)
    with RawServer() as running:
        running.store("key", DATA)
        yield running


@pytest.fixture
def unused(deaf_port: int) -> str:
    """A URL on which no server listens."""
    return f"http://127.0.0.1:{deaf_port}"


@pytest.fixture
def silent() -> Iterator[str]:
    """A URL of a server that accepts connections and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def library() -> Iterator[Library]:
    """A library whose threads must have ended after the test."""
    made = Library()
    yield made
    made.may_complete.set()
    for thread in made.threads:
        thread.join(DEADLOCK)
    assert all(call.left for call in cancellable_loop._UNDER_WAY._calls)
