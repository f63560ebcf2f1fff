"""Fixtures for the examples of docs/s3.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.request import Request, urlopen

import pytest

from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY, EmbeddedServer
from tests.limits import DEADLOCK


@pytest.fixture(scope="session")
def bucket() -> Iterator[Mapping[str, str]]:
    """The variables that lead to a server with the bucket `warehouse`."""
    with EmbeddedServer() as server:
        request = Request(f"{server.url}/warehouse", method="PUT")
        urlopen(request, timeout=DEADLOCK).close()
        yield {
            "AWS_ENDPOINT_URL_S3": server.url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
        }
