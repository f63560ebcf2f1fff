"""A small HTTP store that keeps what is put, and remembers how it was asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fscontract.contract.program.content import content

#: The one file of the store of most tests.
FILE = "/bucket/file"
DATA = content(9000)
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class Handler(BaseHTTPRequestHandler):
    """Knows PUT, HEAD, GET with ranges, and DELETE."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Store

    def do_PUT(self) -> None:
        self.server.files[self._arrived()] = self._body()
        self._answer(200, b"")

    do_POST = do_PUT  # noqa: N815

    def do_DELETE(self) -> None:
        found = self.server.files.pop(self._arrived(), None)
        self._answer(404 if found is None else 204, b"")

    def do_GET(self) -> None:
        data = self.server.files.get(self._arrived())
        match = _RANGE.fullmatch(self.headers.get("Range", ""))
        if data is None:
            self._answer(404, b"nothing here")
        elif match is None:
            self._answer(200, data)
        else:
            first = int(match[1])
            part = data[first : int(match[2] or len(data)) + 1]
            place = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
            self._answer(206, part, ("Content-Range", place), ("x-amz-checksum-crc32", "abc="))

    do_HEAD = do_GET  # noqa: N815

    def _arrived(self) -> str:
        target = self.requestline.split()[1]
        self.server.seen.append((self.command, target, dict(self.headers)))
        return target.partition("?")[0]

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header("X-Twice", "one")
        self.send_header("X-Twice", "two")
        for name, value in headers:
            self.send_header(name, value)
        shown = self.command != "HEAD" and status != 204
        framed = "chunked" not in self.path and status != 204
        if framed:
            self.send_header("Content-Length", str(len(body)))
        elif shown:
            self.send_header("Transfer-Encoding", "chunked")
            body = b"".join(b"%x\r\n%b\r\n" % (1, body[i : i + 1]) for i in range(len(body)))
            body += b"0\r\n\r\n"
        self.end_headers()
        if shown:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


class Store(ThreadingHTTPServer):
    """Its `files` by target, and the requests it has `seen`."""

    daemon_threads = False  # so that closing waits for all threads

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.seen: list[tuple[str, str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        """The URL of the store."""
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def storing() -> Iterator[Store]:
    """A store that runs meanwhile."""
    with Store() as store:
        thread = threading.Thread(target=store.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield store
        finally:
            store.shutdown()
            thread.join()
