"""Clients of an HTTP store that see what is on the wire."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.fault_proxy import FaultProxy
from tests.fakes.stores import FILE
from tests.limits import DEADLOCK


@dataclass(frozen=True)
class Answer:
    """The answer; names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def plan(proxy: FaultProxy, *faults: Fault) -> None:
    """Attach a plan of these faults."""
    proxy.injector.attach(FaultPlan(faults))


def connect(proxy: FaultProxy) -> http.client.HTTPConnection:
    """A connection for several requests."""
    return http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=DEADLOCK)


def ask(proxy: FaultProxy, target: str = FILE, method: str = "GET", **headers: str) -> Answer:
    """Make one request on a separate connection."""
    with closing(connect(proxy)) as connection:
        return ask_on(connection, target, method, **headers)


def ask_on(
    connection: http.client.HTTPConnection, target: str, method: str, **headers: str
) -> Answer:
    """One of several requests on a connection."""
    connection.request(method, target, headers=headers)
    with connection.getresponse() as response:
        named = {name.lower(): response.headers[name] for name in response.headers}
        twice = response.headers.get_all("X-Twice", [])
        assert twice in ([], ["one", "two"]), "a header that comes twice is passed on twice"
        return Answer(response.status, named, response.read())


def raw(proxy: FaultProxy, request: bytes) -> bytes:
    """Return all bytes up to the end of the connection."""
    with socket.create_connection(address(proxy), 20) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


def address(proxy: FaultProxy) -> tuple[str, int]:
    """Return the address of a proxy."""
    parts = urlsplit(proxy.url)
    assert parts.hostname == "127.0.0.1"
    assert parts.port is not None
    return parts.hostname, parts.port
