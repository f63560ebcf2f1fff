"""A blob of Azure's on loopback that answers like Azurite 3.37.0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from servers.http_files import DATA, serving

_COMMON = {
    "x-ms-blob-type": "BlockBlob",
    "x-ms-version": "2025-11-05",
    "ETag": '"0x1"',
    "Last-Modified": "Sun, 22 Nov 2026 19:54:30 GMT",
    "Content-Type": "application/octet-stream",
}
_INVALID = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Error><Code>InvalidRange</Code>'
    b"<Message>The range specified is invalid for the current size of the resource.</Message>"
    b"</Error>"
)


class _Blob(BaseHTTPRequestHandler):
    """Serve DATA at every path; ignore a range that ends before it starts."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._answer(200, b"", **{"Content-Length": str(len(DATA))})

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("x-ms-range") or "")
        first, last = (int(asked[1]), int(asked[2])) if asked else (0, -1)
        if last < first:
            self._answer(200, DATA)
        elif first >= len(DATA):
            gone = {"x-ms-error-code": "InvalidRange", "Content-Range": f"bytes */{len(DATA)}"}
            self._answer(416, _INVALID, **gone, **{"Content-Type": "application/xml"})
        else:
            part = DATA[first : last + 1]
            end = first + len(part) - 1
            self._answer(206, part, **{"Content-Range": f"bytes {first}-{end}/{len(DATA)}"})

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**_COMMON, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def blob_server() -> Iterator[str]:
    """Yield the endpoint of an account."""
    with serving(_Blob) as url:
        yield url.rstrip("/")
