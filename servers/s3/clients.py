"""boto3 client and buckets, with which tests inspect the servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config

from servers.s3.signed import Server


@contextmanager
def boto3_client(server: Server) -> Iterator[Any]:
    """Yield a boto3 client, closed afterwards."""
    client = boto3.client(
        "s3",
        endpoint_url=server.url,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name=server.region,
        config=Config(s3={"addressing_style": "path"}),
    )
    try:
        yield client
    finally:
        client.close()


def new_bucket(client: Any) -> str:
    """Create a new, empty bucket; return its name."""
    name = f"test-{uuid4().hex}"
    client.create_bucket(Bucket=name)
    return name
