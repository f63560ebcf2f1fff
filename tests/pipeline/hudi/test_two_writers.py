"""Tests of two processes that commit to one table, and are killed at any call."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from fscontract.implementations.s3 import moto_target
from tests.limits import DEADLOCK

_DEEP = pytest.mark.deep


@pytest.fixture(params=["local", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A directory, or a bucket of a server with conditional writes."""
    if request.param == "local":
        yield str(tmp_path)
        return
    with moto_target.EmbeddedServer() as server:
        keys = (moto_target.ACCESS_KEY, moto_target.SECRET_KEY)
        names = ("aws_access_key_id", "aws_secret_access_key")
        region = moto_target.REGION
        client = boto3.client(
            "s3", endpoint_url=server.url, region_name=region, **dict(zip(names, keys, strict=True))
        )
        client.create_bucket(Bucket="writers")
        client.close()
        yield json.dumps(
            {
                "bucket": "writers",
                "endpoint": server.url,
                "region": region,
                "access_key": keys[0],
                "secret_key": keys[1],
            }
        )


@pytest.mark.parametrize(
    ("rounds", "seed"), [(2, 0), *(pytest.param(6, seed, marks=_DEEP) for seed in (1, 2, 3))]
)
def test_killed_writers_lose_no_acknowledged_commit(root: str, rounds: int, seed: int) -> None:
    """Each killed writer may leave one commit that was completed and not acknowledged."""
    command = [
        sys.executable,
        "-m",
        "tests.pipeline.hudi.two_writers",
        root,
        str(rounds),
        str(seed),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLOCK, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    acknowledged, listed = set(result["acknowledged"]), set(result["listed"])
    assert len(acknowledged) > 1
    assert acknowledged <= listed
    assert len(listed - acknowledged) <= result["killed"] == 2 * rounds
    assert result["files"] == result["listed"]
