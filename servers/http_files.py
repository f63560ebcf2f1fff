"""Web servers with one file, at `/d/file`, with or without support of ranges."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fscontract.contract.program.content import content

DATA = content(9000)


class WithoutRanges(BaseHTTPRequestHandler):
    """Answers every GET with the whole file, as the protocol permits."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        if self.path != "/d/file":
            self.send_error(404)
            return
        part = self._begin()
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if body:
            self.wfile.write(part)

    def _begin(self) -> bytes:
        self.send_response(200)
        return DATA

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class NoRanges(WithoutRanges):
    """Announces that it does not support ranges."""

    def _begin(self) -> bytes:
        part = super()._begin()
        self.send_header("Accept-Ranges", "none")
        return part


class WithRanges(WithoutRanges):
    """Answers a range request with that range, and one past EOF with 416."""

    def _begin(self) -> bytes:
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match is None:
            part = super()._begin()
        else:
            first, last = int(match[1]), int(match[2] or len(DATA) - 1)
            part = DATA[first : last + 1]
            self.send_response(206 if part else 416)
            place = f"{first}-{first + len(part) - 1}" if part else "*"
            self.send_header("Content-Range", f"bytes {place}/{len(DATA)}")
        self.send_header("Accept-Ranges", "bytes")
        return part


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Yield the URL of the directory `/d/` of a running server."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True  # a client may keep its connection open

        def handle_error(self, *_: object) -> None:
            """Ignore disconnected clients."""

    with Server(("127.0.0.1", 0), handler) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_port}/d/"
        finally:
            made.shutdown()
            thread.join()
