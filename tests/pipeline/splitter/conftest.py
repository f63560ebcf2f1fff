"""Fixtures: filesystems for the tests of the splitter."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY, EmbeddedServer
from tests.limits import DEADLOCK

#: Creates an empty filesystem.
Factory = Callable[[], FileSystem]


@pytest.fixture(scope="session")
def s3() -> Iterator[EmbeddedServer]:
    """An S3 server."""
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Factory:
    """A factory of new filesystems of each kind."""
    made: dict[str, Factory] = {
        "memory": MemoryFileSystem,
        "local": lambda: LocalFileSystem(tempfile.mkdtemp(dir=tmp_path)),
        "fake": FakeFileSystem,
        "s3": lambda: _bucket(request.getfixturevalue("s3")),
    }
    return made[request.param]


_BUCKETS = itertools.count()


def _bucket(server: EmbeddedServer) -> S3FileSystem:
    name = f"splitter-{next(_BUCKETS)}"
    urlopen(Request(f"{server.url}/{name}", method="PUT"), timeout=DEADLOCK).close()
    options: dict[str, Any] = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    return S3FileSystem(name, endpoint=server.url, region=REGION, **options)
