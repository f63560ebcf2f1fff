"""Servers that run as long as the tests, each from the first test on that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest

from servers.s3.clients import boto3_client, new_bucket
from servers.s3.servers import NAMES, serving
from servers.s3.signed import Server


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[str], Server]]:
    """The server of a name."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(serving(name)))


@pytest.fixture(params=NAMES)
def server(request: pytest.FixtureRequest, running: Callable[[str], Server]) -> Server:
    """Each server in turn."""
    return running(request.param)


@pytest.fixture(scope="session")
def clients() -> Iterator[Callable[[Server], Any]]:
    """boto3's client of a server."""
    with ExitStack() as stack:
        yield cache(lambda server: stack.enter_context(boto3_client(server)))


@pytest.fixture
def client(server: Server, clients: Callable[[Server], Any]) -> Any:
    """boto3's client of the server."""
    return clients(server)


@pytest.fixture
def bucket(client: Any) -> str:
    """A new bucket on the server."""
    return new_bucket(client)
