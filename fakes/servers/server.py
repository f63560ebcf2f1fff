"""Serve a WSGI application on loopback, with answers that faults change."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.fault_kinds import MOST_REQUESTS
from fscontract.contract.program.faults import Fault
from fscontract.contract.program.server_faults import SERVER_FAULTS, kinds_at
from fscontract.fakes.fault_proxy.server import LoggedRequest, requested_range
from fscontract.fakes.servers.exchange import Body, Exchange
from fscontract.fakes.servers.misbehaviour import respond
from fscontract.fakes.tracked_connections import LoopbackServer, TrackedConnections

#: The pieces of a body that drips.
_PIECES = 20
_HANDLER = "fscontract.handler"


class MisbehavingServer(LoopbackServer):
    """A server on loopback, from `with` or `start` until `close`.

    `misbehaviour` maps names of SERVER_FAULTS, with underscores, to True, or to the seconds of a
    delay: `cut_bodies=True`, `stall_bodies=5`. They strike every request that they can. `injector`
    applies plans of the same kinds besides. Raise ValueError for an unknown name or value.
    """

    #: The place of its kinds of faults.
    place: str

    def __init__(
        self, application: Any, misbehaviour: Mapping[str, bool | float], port: int = 0
    ) -> None:
        #: The faults that strike every request.
        self.misbehaviour = tuple(_faults_of(self.place, misbehaviour))
        self.injector = PlanInjector(kinds_at(self.place))
        self._application = application
        self._log: list[LoggedRequest] = []
        self._ending = threading.Event()
        with socket.create_server(("127.0.0.1", port)) as listening:  # of a port in use: OSError
            where, fd = listening.getsockname(), listening.fileno()
            self._server = _Listener(*where, self._serve, handler=_Handler, fd=fd)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that lead clients to the server."""
        return {}

    @property
    def address(self) -> str:
        """The host and the port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://{self.address}"

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The requests so far, in order."""
        return tuple(self._log)

    def operation(self, method: str, target: str, headers: Mapping[str, str]) -> str:
        """Return the operation of a request, one of OPERATIONS; "" if faults do not strike it."""
        raise NotImplementedError

    def close(self) -> None:
        """End every connection, every wait and every thread; may be called again."""
        self._ending.set()
        super().close()

    def _serve(self, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        """Answer a request, as WSGI describes it."""
        handler: _Handler = environ.pop(_HANDLER)
        named = {name.lower(): value for name, value in handler.headers.items()}
        method, target = environ["REQUEST_METHOD"], handler.path
        operation = self.operation(method, target, named)
        exchange = Exchange(environ, self._application, operation)
        if operation:
            path = environ["PATH_INFO"]
            length = requested_range(named.get("range", ""))
            exchange.turn = self.injector.request(operation, path, *length)
        turn = exchange.turn
        self._log.append(LoggedRequest(turn.number, method, target, named, turn.fault))
        respond(exchange, (*self.misbehaviour, *([] if turn.fault is None else [turn.fault])))
        return self._send(exchange, handler, start_response)

    def _send(self, exchange: Exchange, handler: _Handler, start_response: Any) -> Iterator[bytes]:
        body = exchange.body
        if body.framing == "connection":
            handler.protocol_version = "HTTP/1.0"
        phrase = HTTPStatus(exchange.status).phrase
        start_response(f"{exchange.status} {phrase}", list(exchange.headers))
        yield from self._pieces(exchange.content, body)
        if body.end is not None:
            self._ending.wait(body.stall)
            raise ConnectionAbortedError("the body ends here")

    def _pieces(self, content: bytes, body: Body) -> Iterator[bytes]:
        sent = content[: body.end]
        if not body.drip:
            yield sent
            return
        size = max(1, -(-len(sent) // _PIECES))
        for start in range(0, len(sent), size):
            self._ending.wait(body.drip / _PIECES)
            yield sent[start : start + size]


def _faults_of(place: str, misbehaviour: Mapping[str, bool | float]) -> Iterator[Fault]:
    """Yield the faults of the options of a server. ValueError."""
    possible = kinds_at(place)
    for option, value in misbehaviour.items():
        name = option.replace("_", "-")
        if name not in possible:
            known = ", ".join(kind for kind in SERVER_FAULTS if kind in possible)
            raise ValueError(f"unknown misbehaviour {option!r:.40} of an {place}; known: {known}")
        if value is False:
            continue
        timed = "seconds" in SERVER_FAULTS[name].parameters
        if value is not True and not (timed and type(value) in (int, float)):
            allowed = "True, False or seconds" if timed else "True or False"
            raise ValueError(f"{option} must be {allowed}, got {value!r:.40}")
        seconds = None if value is True else value
        yield Fault(name, times=MOST_REQUESTS, seconds=seconds)


class _Listener(TrackedConnections, ThreadedWSGIServer):
    """A threaded WSGI server that can end its connections, and prints nothing."""

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002
        """Print nothing: tests read `requests` instead."""


class _Handler(WSGIRequestHandler):
    """Gives its application the connection, which some faults end."""

    disable_nagle_algorithm = True

    def make_environ(self) -> dict[str, Any]:
        """Return the environment of WSGI, with this handler."""
        return {**super().make_environ(), _HANDLER: self}

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""
