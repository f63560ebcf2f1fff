"""Run a server on loopback in a thread, and end all its connections and threads."""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any, TypeVar

from fscontract.contract.binding import PlanInjector

_Server = TypeVar("_Server", bound="LoopbackServer")
#: Interval in seconds at which a server checks whether to stop.
_TICK = 0.02


class TrackedConnections(ThreadingMixIn):
    """A mixin of servers: `end` ends every connection and every thread."""

    daemon_threads = True
    #: The name of its threads.
    thread_name = "server"

    def __init__(self, *args: Any, **named: Any) -> None:
        self._tracking = threading.Lock()
        self._ended = False
        self._sockets: set[socket.socket] = set()
        self._workers: list[threading.Thread] = []  # of the accepting thread
        super().__init__(*args, **named)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a client in a new thread."""
        thread = threading.Thread(
            target=self._answer, args=(request, client_address), daemon=True, name=self.thread_name
        )
        self.keep(request)
        thread.start()
        self._workers = [t for t in self._workers if t.is_alive()] + [thread]

    def _answer(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            self.forget(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore disconnecting clients; print other errors, which are bugs of the server."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[misc] # of the server

    def end(self) -> None:
        """Stop accepting, end all connections, and wait for the threads."""
        with self._tracking:
            self._ended = True
            sockets = list(self._sockets)
        for connection in sockets:
            _shut(connection)
        for thread in self._workers:
            thread.join()

    def keep(self, connection: socket.socket) -> None:
        """End this connection, too."""
        with self._tracking:
            self._sockets.add(connection)
            ended = self._ended
        if ended:
            _shut(connection)

    def forget(self, connection: socket.socket) -> None:
        """Leave this connection to its owner."""
        with self._tracking:
            self._sockets.discard(connection)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended already
        connection.shutdown(socket.SHUT_RDWR)


class LoopbackServer:
    """Runs `_server` in a thread, from `with` or `start` until `close`."""

    injector: PlanInjector
    #: With TrackedConnections, of socketserver.
    _server: Any
    _thread: threading.Thread | None = None

    def start(self: _Server) -> _Server:
        """Start to answer requests."""
        name = self._server.thread_name
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_TICK,), daemon=True, name=name
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

    def __enter__(self: _Server) -> _Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()
