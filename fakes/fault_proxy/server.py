"""Serve the fault proxy: its port, its requests, and its shutdown."""

from __future__ import annotations

import os
import re
import socket
import struct
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.fault_kinds import MOST_SECONDS
from fscontract.contract.program.faults import Fault
from fscontract.fakes.fault_proxy import relay
from fscontract.fakes.fault_proxy.relay import (
    ERRORS,
    DroppedError,
    ProxyInjector,
    answer,
    is_object,
)
from fscontract.fakes.frozen_settings import Settled
from fscontract.fakes.tracked_connections import LoopbackServer, TrackedConnections

#: Delays of a slow body are combined to about this many seconds.
_WAIT = 0.005
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(.+)")
#: SO_LINGER option: close with a reset, and discard unsent data.
_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


class ProxyHandler(BaseHTTPRequestHandler):
    """Forwards requests to the store unless a fault strikes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ProxyServer

    def handle_one_request(self) -> None:
        """Handle one request; end the connection if it can't be answered."""
        try:
            super().handle_one_request()
        except (DroppedError, OSError):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Print nothing: tests read `requests` instead."""

    def _serve(self) -> None:
        target = relay.target_of(self)
        turn = self.server.turn(self.command, target, self.headers)
        injector = self.server.injector
        if self.command in ("PUT", "POST"):
            injector.written(relay.path_of(target))
        if turn.fault is not None and self._fails(turn, turn.fault, target):
            return
        if turn.number and (kind := injector.barred(relay.path_of(target))) is not None:
            self._answer(kind, None)
            return
        self._pass_on(turn)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_PATCH = _serve  # noqa: N815

    def _fails(self, turn: Turn, fault: Fault, target: str) -> bool:
        """Let the fault strike, unless it affects bodies; return whether the request is done."""
        if fault.kind in ("delete", "revoke"):
            self.server.injector.bar(turn, relay.path_of(target))
            return False
        if fault.kind in ERRORS:
            turn.took_effect()
            self._answer(fault.kind, fault)
            return True
        if fault.kind == "reset":
            turn.took_effect()
            self._reset()
            return True
        if fault.kind in ("timeout", "hang"):
            turn.took_effect()
            turn.wait(min(fault.delay, self.server.longest))
            if fault.kind == "timeout":
                raise DroppedError
        return False

    def _answer(self, kind: str, fault: Fault | None) -> None:
        if relay.has_body(self):  # unread data would cause a reset
            self.close_connection = True
        answer(self, kind, fault)

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        # Close here: the server would shut the connection down cleanly before.
        socket.close(self.connection.detach())

    def _pass_on(self, turn: Turn) -> None:
        with self.server.store() as store:
            if store is None:
                self.close_connection = True
                self.send_error(502, explain="The store can't be reached.")
                return
            response = relay.send(self, store)
            with response:
                self._pass_back(turn, response)

    def _pass_back(self, turn: Turn, response: HTTPResponse) -> None:
        spoil = None
        changed: dict[str, str | None] = {}
        if turn.fault is not None and response.status in (200, 206) and response.length != 0:
            spoil = _SPOILERS.get(turn.fault.kind)
            if turn.fault.kind == "short":
                changed = _shorten(response, turn)
        chunked = relay.head(self, response, changed)
        body = relay.pieces(response)
        if spoil is not None:
            body = spoil(body, turn, response.length, self.server.longest)
        relay.write(self, body, chunked)


def _shorten(response: HTTPResponse, turn: Turn) -> dict[str, str | None]:
    """Shorten the answer to a range to its first bytes; return the changed headers.

    Return nothing if the answer names no range: then HTTP has no way to express a part.
    """
    assert turn.fault is not None
    match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    limit = turn.fault.limit
    if match is None or (response.length or 0) <= limit:
        return {}
    turn.took_effect()
    response.length = limit
    last = int(match[1]) + limit - 1
    changed: dict[str, str | None] = {
        name.lower(): None
        for name in response.headers
        if name.lower().startswith(("x-amz-checksum-", "content-md5", "content-digest"))
    }
    changed["content-range"] = f"bytes {match[1]}-{last}/{match[3]}"
    changed["content-length"] = str(limit)
    return changed


def _cut(body: Iterator[bytes], turn: Turn, _: int | None, __: float) -> Iterator[bytes]:
    assert turn.fault is not None
    remaining = turn.fault.limit
    for piece in body:
        if remaining:
            yield piece[:remaining]
        if len(piece) > remaining:
            turn.took_effect()
            raise DroppedError
        remaining -= len(piece)


def _corrupt(body: Iterator[bytes], turn: Turn, _: int | None, __: float) -> Iterator[bytes]:
    for piece in body:
        yield bytes((piece[0] ^ 0xFF,)) + piece[1:]
        turn.took_effect()
        break
    yield from body


def _slow(body: Iterator[bytes], turn: Turn, length: int | None, longest: float) -> Iterator[bytes]:
    assert turn.fault is not None
    pause = min(turn.fault.delay, longest / (length or 1))
    if pause == 0:
        yield from body
        return
    turn.took_effect()
    size = max(1, int(_WAIT / pause))
    for piece in body:
        for start in range(0, len(piece), size):
            part = piece[start : start + size]
            turn.wait(pause * len(part))
            yield part


_SPOILERS: dict[str, Callable[[Iterator[bytes], Turn, int | None, float], Iterator[bytes]]] = {
    "cut-body": _cut,
    "corrupt": _corrupt,
    "slow": _slow,
}


_RANGE_HEADER = re.compile(r"bytes=(\d{1,18})-(\d{1,18})?")
#: Timeout for a connection to the store, in seconds.
_PATIENCE = 10


@dataclass(frozen=True)
class LoggedRequest:
    """A received request.

    `number` is 0 if faults do not apply to it; names of headers are in lower case.
    """

    number: int
    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    fault: Fault | None = None


class FaultProxy(LoopbackServer, Settled):
    """A proxy between clients and the store at `upstream`, an `http` URL.

    `url` is that URL with the address of the proxy. The proxy listens on this machine only, from
    `with` or `start` until `close`, which ends all threads and connections. `injector` decides the
    result of the requests for which `matches` is true by method and target; all others pass. It
    supports all kinds of faults of HTTP stores except `without`. No fault waits for more than
    `longest` seconds.

    Requests keep their Host header, because signatures include it.
    """

    def __init__(
        self,
        upstream: str,
        matches: Callable[[str, str], bool] = is_object,
        longest: float = MOST_SECONDS,
        without: Collection[str] = (),
    ) -> None:
        parts = urlsplit(upstream)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"upstream must be an http:// URL with a host, not {upstream!r}")
        self.injector = ProxyInjector(without)
        self._parts = parts
        self._server = ProxyServer(
            (parts.hostname, parts.port or 80), self.injector, matches, longest
        )
        self._settle(FaultProxy)

    @property
    def url(self) -> str:
        """The URL for clients, in place of the store's."""
        netloc = f"127.0.0.1:{self._server.server_port}"
        return urlunsplit(self._parts._replace(netloc=netloc))

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The requests so far, in order."""
        return tuple(self._server.log)


class ProxyServer(TrackedConnections, ThreadingHTTPServer):
    """The server of a proxy: lets faults strike, and connects to the store."""

    thread_name = "fault-proxy"

    def __init__(
        self,
        upstream: tuple[str, int],
        injector: ProxyInjector,
        matches: Callable[[str, str], bool],
        longest: float,
    ) -> None:
        self.injector = injector
        self.longest = longest
        self.log: list[LoggedRequest] = []
        self._upstream = upstream
        self._matches = matches
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), ProxyHandler)

    def turn(self, method: str, target: str, headers: Any) -> Turn:
        """Log a request, and count it if faults apply to it."""
        with self._lock:
            turn = Turn()
            named = {name.lower(): value for name, value in headers.items()}
            if self._matches(method, target):
                operation = "head" if method == "HEAD" else "get"
                path = unquote(target.partition("?")[0])
                turn = self.injector.request(
                    operation, path, *requested_range(named.get("range", ""))
                )
            self.log.append(LoggedRequest(turn.number, method, target, named, turn.fault))
            return turn

    @contextmanager
    def store(self) -> Iterator[socket.socket | None]:
        """Return a new connection to the store; None if that fails."""
        try:
            store = socket.create_connection(self._upstream, _PATIENCE)
        except OSError:
            yield None
            return
        with store:
            store.settimeout(None)
            store.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.keep(store)
            try:
                yield store
            finally:
                self.forget(store)


def requested_range(header: str) -> tuple[int | None, int | None]:
    """Return the first byte and the number of bytes of a Range header, if it names them."""
    match = _RANGE_HEADER.fullmatch(header)
    if match is None:
        return None, None
    first = int(match[1])
    return first, int(match[2]) + 1 - first if match[2] else None
