"""Fixtures: a bucket behind a proxy that counts requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from fscontract.fakes.fault_proxy.relay import is_object
from fscontract.fakes.fault_proxy.server import FaultProxy, LoggedRequest
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import (
    ACCESS_KEY,
    BUCKET,
    REGION,
    SECRET_KEY,
    EmbeddedServer,
    embedded_config,
    make_bucket,
)


@dataclass
class Bucket:
    """The bucket, and its requests since `forget`."""

    fs: S3FileSystem
    proxy: FaultProxy
    before: int = 0

    @property
    def url(self) -> str:
        """URL of the bucket."""
        return f"s3://{BUCKET}"

    @property
    def options(self) -> list[str]:
        """Command-line options of the bucket."""
        pairs = {
            "endpoint": self.proxy.url,
            "region": REGION,
            "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY,
        }
        return [part for pair in pairs.items() for part in ("-o", "=".join(pair))]

    def forget(self) -> None:
        """Start counting."""
        self.before = len(self.proxy.requests)

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Requests since then."""
        return self.proxy.requests[self.before :]

    @property
    def counts(self) -> dict[str, int]:
        """Number of requests by kind: GET and HEAD of objects, and LIST."""
        return dict(Counter(_kind(request) for request in self.requests))

    @property
    def asked(self) -> int:
        """Number of requested bytes, by the ranges of the requests."""
        ranges = [r.headers["range"] for r in self.requests if _kind(r) == "GET"]
        pairs = [text.removeprefix("bytes=").split("-") for text in ranges]
        return sum(int(last) + 1 - int(first) for first, last in pairs)

    def put(self, path: str, data: bytes) -> str:
        """Write a file."""
        with self.fs.create(path) as file:
            file.write(data)
        return path


def _kind(request: LoggedRequest) -> str:
    return request.method if is_object(request.method, request.target) else "LIST"


@pytest.fixture(scope="module")
def served() -> Iterator[Bucket]:
    """A bucket on a moto server."""
    with EmbeddedServer() as server, FaultProxy(server.url) as proxy:
        make_bucket(server.url)
        with S3FileSystem.of(embedded_config(proxy.url, {})) as fs:
            yield Bucket(fs, proxy)


@pytest.fixture
def bucket(served: Bucket) -> Bucket:
    """An empty bucket without requests."""
    for status in list(served.fs.list_status("/")):
        served.fs.delete(status.path, recursive=True)
    served.forget()
    return served
