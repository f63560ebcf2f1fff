"""The fault proxy: where it listens, what it passes requests to, and how it ends."""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from fscontract.contract.faults import MOST_SECONDS, Fault, Turn
from fscontract.fakes.proxy.handler import ProxyHandler
from fscontract.fakes.proxy.injector import ProxyInjector, is_object
from fscontract.fakes.settled import Settled

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})?")
#: How long the store may take to accept a connection, in seconds.
_PATIENCE = 10
#: How often the server looks whether it has to end, in seconds.
_TICK = 0.02


@dataclass(frozen=True)
class LoggedRequest:
    """A request that came. `number` is 0 if faults don't concern it; names of headers are small."""

    number: int
    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    fault: Fault | None = None


class FaultProxy(Settled):
    """Stands between clients and the store at `upstream`, an `http` URL.

    `url` is that URL with the address of the proxy, which listens on this machine alone from
    `with` or `start` on until `close`, after which neither a thread nor a connection is left.
    `injector` decides what becomes of the requests for which `matches` says yes by method and
    target; all others pass. It knows all kinds of faults of HTTP stores but those `without`. No
    fault waits for more than `longest` seconds.

    Requests go on with the Host that they came with, since signatures hold it.
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
        self._thread: threading.Thread | None = None
        self._settle(FaultProxy)

    @property
    def url(self) -> str:
        """Where clients have to go instead of to the store."""
        netloc = f"127.0.0.1:{self._server.server_port}"
        return urlunsplit(self._parts._replace(netloc=netloc))

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The requests that have come so far, in order."""
        return tuple(self._server.log)

    def start(self) -> FaultProxy:
        """Begin to answer."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_TICK,), daemon=True, name="fault-proxy"
        )
        self._thread.start()
        return self

    def close(self) -> None:
        """End every connection and every wait, and then every thread; may be called again."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self.injector.detach()
        self._server.end()
        self._server.server_close()

    def __enter__(self) -> FaultProxy:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


class ProxyServer(ThreadingHTTPServer):
    """Knows every connection and every thread that it has, so that it can end them."""

    daemon_threads = True

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
        self._ended = False
        self._sockets: set[socket.socket] = set()
        self._workers: list[threading.Thread] = []  # of the thread that accepts
        super().__init__(("127.0.0.1", 0), ProxyHandler)

    def turn(self, method: str, target: str, headers: Any) -> Turn:
        """Count a request, if faults concern it, and write it down."""
        with self._lock:
            turn = Turn()
            named = {name.lower(): value for name, value in headers.items()}
            if self._matches(method, target):
                kind = "status" if method == "HEAD" else "read"
                turn = self.injector.request(kind, target, *_asked(named.get("range", "")))
            self.log.append(LoggedRequest(turn.number, method, target, named, turn.fault))
            return turn

    @contextmanager
    def store(self) -> Iterator[socket.socket | None]:
        """A new connection to the store; None if there is none to be had."""
        try:
            store = socket.create_connection(self._upstream, _PATIENCE)
        except OSError:
            yield None
            return
        with store:
            store.settimeout(None)
            store.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._keep(store)
            try:
                yield store
            finally:
                self._forget(store)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a client in a thread of its own."""
        thread = threading.Thread(
            target=self._answer, args=(request, client_address), daemon=True, name="fault-proxy"
        )
        self._keep(request)
        thread.start()
        self._workers = [t for t in self._workers if t.is_alive()] + [thread]

    def _answer(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            self._forget(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go at any time; everything else is a fault of the proxy, and shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """End all connections, and wait for the threads; no client is accepted any more."""
        with self._lock:
            self._ended = True
            sockets = list(self._sockets)
        for connection in sockets:
            _shut(connection)
        for thread in self._workers:
            thread.join()

    def _keep(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.add(connection)
            ended = self._ended
        if ended:
            _shut(connection)

    def _forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(connection)


def _asked(header: str) -> tuple[int | None, int | None]:
    """Return the first byte and the number of bytes that a Range header asks for, if it says."""
    match = _RANGE.fullmatch(header)
    if match is None:
        return None, None
    first = int(match[1])
    return first, int(match[2]) + 1 - first if match[2] else None


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended by itself
        connection.shutdown(socket.SHUT_RDWR)
