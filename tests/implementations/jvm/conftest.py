"""Fixtures: filesystems, and Java objects to read them. All tests of a process share one JVM."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.bridge import java_filesystem
from fscontract.implementations.jvm.jvm import hadoop_jars
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY, EmbeddedServer
from tests.limits import DEADLOCK

_KEYS = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY, "region": REGION}


@pytest.fixture(scope="session", autouse=True)
def machine_of_hadoop() -> None:
    """The JVM, which runs until the process ends."""
    jvm.start(hadoop_jars(), short_lived=True)


@pytest.fixture(scope="session")
def java(machine_of_hadoop: None) -> Callable[[str], Any]:
    """A lookup of Java classes by name; "fs." and "io." are Hadoop's packages."""

    def find(name: str) -> Any:
        own = name.startswith(("java.", "org."))
        return jvm.java_class(name if own else f"org.apache.hadoop.{name}")

    return find


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """An S3 server, shared by all tests."""
    with EmbeddedServer() as running:
        yield running


def _s3(request: pytest.FixtureRequest) -> Iterator[FileSystem]:
    url = request.getfixturevalue("server").url
    bucket = f"test-{uuid.uuid4().hex}"
    urlopen(Request(f"{url}/{bucket}", method="PUT"), timeout=DEADLOCK).close()
    config = S3Config.of(bucket, {"endpoint": url, **_KEYS}, {})
    with S3FileSystem.of(config) as made:
        yield made


@pytest.fixture(params=["memory", "local", "s3"])
def fs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileSystem]:
    """Each filesystem of this package, empty."""
    if request.param == "s3":
        yield from _s3(request)
    elif request.param == "local":
        yield LocalFileSystem(str(tmp_path / "root"))
    else:
        yield MemoryFileSystem()


@pytest.fixture
def memory() -> MemoryFileSystem:
    """The filesystem in memory, empty."""
    return MemoryFileSystem()


@pytest.fixture
def bridged(fs: FileSystem) -> Iterator[Any]:
    """The filesystem as a Java object."""
    made = java_filesystem(fs)
    yield made
    made.close()
