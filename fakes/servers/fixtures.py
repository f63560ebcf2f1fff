"""pytest fixtures of the servers on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fscontract.fakes.servers.http_server import HttpServer
    from fscontract.fakes.servers.s3_server import S3Server


@pytest.fixture
def http_server() -> Iterator[Callable[..., HttpServer]]:
    """Return a function that starts HttpServers, which are closed after the test.

    Its arguments are a directory, and misbehaviour such as `ignore_ranges=True`.
    """
    from fscontract.fakes.servers.http_server import HttpServer

    with ExitStack() as stack:
        yield lambda *args, **named: stack.enter_context(HttpServer(*args, **named))


@pytest.fixture
def s3_server() -> Iterator[Callable[..., S3Server]]:
    """Return a function that starts S3Servers, which are closed after the test.

    Its arguments are a directory or nothing, and misbehaviour such as `slow_down=True`.
    """
    from fscontract.fakes.servers.s3_server import S3Server

    def start(*args: Any, **named: Any) -> S3Server:
        return stack.enter_context(S3Server(*args, **named))

    with ExitStack() as stack:
        yield start
