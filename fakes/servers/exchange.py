"""One request to a server and its answer, which faults change before it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from werkzeug.datastructures import Headers
from werkzeug.test import run_wsgi_app

from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.faults import Fault

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})?")
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")


@dataclass
class Body:
    """How the body is sent: its framing, where it ends early, and its delays in seconds."""

    #: "length", "chunked", or "connection" if its end is the end of the connection.
    framing: str = "length"
    #: The bytes after which the connection ends; None to send all.
    end: int | None = None
    #: The delay before that end.
    stall: float = 0.0
    #: The time in which the body arrives piece by piece; 0 for at once.
    drip: float = 0.0


@dataclass
class Exchange:
    """A request, and the answer of the application unless a fault answers instead."""

    environ: dict[str, Any]
    application: Any
    #: The operation of the store, one of OPERATIONS; "" for other requests.
    operation: str
    turn: Turn = field(default_factory=Turn)
    status: int = 0
    headers: Headers = field(default_factory=Headers)
    content: bytes = b""
    body: Body = field(default_factory=Body)

    @property
    def method(self) -> str:
        """The method of the request."""
        return str(self.environ["REQUEST_METHOD"])

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer."""
        return self.status != 0

    @property
    def has_content(self) -> bool:
        """Whether the answer has bytes of a file."""
        return self.method == "GET" and self.status in (200, 206) and self.content != b""

    @property
    def requested(self) -> tuple[int, int | None] | None:
        """The first and the last byte of the requested range, None for no or another range."""
        match = _RANGE.fullmatch(self.environ.get("HTTP_RANGE", ""))
        return match and (int(match[1]), int(match[2]) if match[2] else None)

    @property
    def sent_range(self) -> tuple[int, int, int] | None:
        """The first and the last byte, and the file's length, that the answer tells."""
        match = _CONTENT_RANGE.fullmatch(self.headers.get("Content-Range", ""))
        return match and (int(match[1]), int(match[2]), int(match[3]))

    def ask(self) -> None:
        """Let the application answer."""
        self.status, self.headers, self.content = ask(self.application, self.environ)

    def answer(
        self, status: int, content: bytes = b"", headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Answer instead of the application."""
        self.status, self.headers = status, Headers([*headers])
        self.set_content(content)

    def set_content(self, content: bytes) -> None:
        """Replace the body and its length."""
        self.content = b"" if self.method == "HEAD" else content
        self.headers["Content-Length"] = str(len(content))

    def whole(self) -> bytes:
        """Return the content of the file."""
        environ = {**self.environ, "REQUEST_METHOD": "GET"}
        for name in ("HTTP_RANGE", "HTTP_IF_MATCH", "HTTP_IF_RANGE"):
            environ.pop(name, None)
        return ask(self.application, environ)[2]

    def strikes(self, fault: Fault) -> None:
        """Count a fault of the turn that has changed the answer."""
        if fault is self.turn.fault:
            self.turn.took_effect()


def ask(application: Any, environ: dict[str, Any]) -> tuple[int, Headers, bytes]:
    """Return the answer of a WSGI application: status, headers and body."""
    pieces, status, headers = run_wsgi_app(application, environ, buffered=True)
    return int(status.split()[0]), headers, b"".join(pieces)
