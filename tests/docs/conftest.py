"""Fixtures for the examples of docs/how-to/s3.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from fscontract.fakes.servers import S3Server


@pytest.fixture(scope="session")
def bucket() -> Iterator[Mapping[str, str]]:
    """The variables that lead to a server with the bucket `warehouse`."""
    with S3Server(bucket="warehouse") as server:
        yield server.environment
