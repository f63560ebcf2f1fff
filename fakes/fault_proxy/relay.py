"""Relay a request to the store, or answer it with an S3 error of the plan."""

from __future__ import annotations

import math
import socket
from collections.abc import Collection, Iterator
from http.client import HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from xml.sax.saxutils import escape

from fscontract.contract.program.faults import FAULTS, Fault
from fscontract.fakes.barring import BarringInjector

PIECE = 1 << 16
#: Headers of a single connection, and `Expect`, which the proxy has answered itself.
_HOP_BY_HOP = {
    *("connection", "expect", "keep-alive", "proxy-authenticate", "proxy-authorization"),
    *("proxy-connection", "te", "trailer", "upgrade"),
}
#: The exceptions for a peer that disconnects, or violates the protocol.
_BROKEN = (OSError, ValueError, HTTPException)


class DroppedError(Exception):
    """The connection to the client is closed without an answer."""


def send(handler: BaseHTTPRequestHandler, store: socket.socket) -> HTTPResponse:
    """Forward a request, and return the head of the answer.

    The Host header is unchanged, because signatures include it. Raise DroppedError if there is no
    answer.
    """
    lines = [f"{handler.command} {target_of(handler)} HTTP/1.1"]
    lines += [f"{k}: {v}" for k, v in handler.headers.items() if k.lower() not in _HOP_BY_HOP]
    lines += ["Connection: close", "", ""]
    try:
        store.sendall("\r\n".join(lines).encode("latin-1"))
        for piece in _body_of(handler):
            store.sendall(piece)
    except (BrokenPipeError, ConnectionResetError):  # the store may have answered before the end
        handler.close_connection = True
    try:
        response = HTTPResponse(store, method=handler.command)
        response.begin()
    except _BROKEN as error:
        raise DroppedError from error
    return response


def head(
    handler: BaseHTTPRequestHandler, response: HTTPResponse, changed: dict[str, str | None]
) -> bool:
    """Forward the answer's head, with some headers changed or removed (None).

    Return whether the body must be chunked.
    """
    handler.send_response_only(response.status, response.reason)
    for name, value in response.msg.items():
        if name.lower() not in _HOP_BY_HOP | {"transfer-encoding", *changed}:
            handler.send_header(name, value)
    for name, new in changed.items():
        if new is not None:
            handler.send_header(name.title(), new)
    open_ended = response.length is None
    chunked = open_ended and handler.request_version != "HTTP/1.0"
    if chunked:
        handler.send_header("Transfer-Encoding", "chunked")
    elif open_ended:
        handler.close_connection = True
    handler.end_headers()
    return chunked


def pieces(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the body in pieces; raise DroppedError if it ends too early."""
    remaining = response.length
    while remaining is None or remaining > 0:
        try:
            piece = response.read1(PIECE if remaining is None else min(PIECE, remaining))
        except _BROKEN as error:
            raise DroppedError from error
        if not piece:
            if remaining is not None:
                raise DroppedError
            return
        remaining = None if remaining is None else remaining - len(piece)
        yield piece


def write(handler: BaseHTTPRequestHandler, body: Iterator[bytes], chunked: bool) -> None:
    """Forward a body."""
    for piece in body:
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
    if chunked:
        handler.wfile.write(b"0\r\n\r\n")


def path_of(target: str) -> str:
    """Return a target without its query."""
    return target.partition("?")[0]


def target_of(handler: BaseHTTPRequestHandler) -> str:
    """Return the target as it was sent; the handler's `path` has lost doubled slashes."""
    return handler.requestline.split()[1]


def has_body(handler: BaseHTTPRequestHandler) -> bool:
    """Return whether the client sends a body."""
    length = handler.headers.get("Content-Length", "0")
    return "Transfer-Encoding" in handler.headers or length != "0"


def _body_of(handler: BaseHTTPRequestHandler) -> Iterator[bytes]:
    try:
        if "chunked" in handler.headers.get("Transfer-Encoding", "").lower():
            yield from _chunks(handler.rfile)
        else:
            yield from _exactly(handler.rfile, int(handler.headers.get("Content-Length", "0")))
    except _BROKEN as error:
        raise DroppedError from error


def _chunks(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the chunks of a body with their framing; raise ValueError if the framing is invalid."""
    size = 1
    while size:
        line = file.readline(PIECE)
        yield line
        size = int(line.partition(b";")[0], 16)
        if size:
            yield from _exactly(file, size + 2)
    while line.strip():
        line = file.readline(PIECE)
        yield line


def _exactly(file: BufferedIOBase, size: int) -> Iterator[bytes]:
    while size > 0:
        piece = file.read(min(size, PIECE))
        if not piece:
            raise ValueError("the client's body ends too early")
        size -= len(piece)
        yield piece


#: Status, code and message of each kind.
ERRORS = {
    "throttle": (503, "SlowDown", "Please reduce your request rate."),
    "range": (416, "InvalidRange", "The requested range is not satisfiable."),
    "precondition": (412, "PreconditionFailed", "A precondition does not hold."),
    "delete": (404, "NoSuchKey", "There is no such key."),
    "revoke": (403, "AccessDenied", "Access denied."),
}


def answer(handler: BaseHTTPRequestHandler, kind: str, fault: Fault | None) -> None:
    """Answer with the error of a kind; Retry-After has the seconds of a throttling fault."""
    status, code, message = ERRORS[kind]
    path = escape(handler.path.partition("?")[0])
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>{message}</Message>"
        f"<Resource>{path}</Resource></Error>"
    )
    body = text.encode("latin-1", "replace")
    handler.send_response_only(status)
    if kind == "throttle" and fault is not None:
        handler.send_header("Retry-After", str(math.ceil(fault.delay)))
    handler.send_header("Content-Type", "application/xml")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


#: Parameters of requests for something other than the bytes of an object.
_OTHER_QUESTIONS = {
    *("acl", "attributes", "delimiter", "legal-hold", "list-type", "location", "policy"),
    *("prefix", "retention", "tagging", "torrent", "uploadId", "uploads", "versions"),
}


def is_object(method: str, target: str) -> bool:
    """Return whether the request is a GET or HEAD of an object, `/bucket/key`, not a listing."""
    path, _, query = target.partition("?")
    parameters = {part.partition("=")[0] for part in query.split("&")}
    key = path.count("/") > 1 and not path.endswith("/")
    return method in ("GET", "HEAD") and key and not parameters & _OTHER_QUESTIONS


class ProxyInjector(BarringInjector):
    """Faults of an HTTP store.

    A deleted or forbidden object stays so until `detach` or the next write, for clients of the
    proxy only. `without` are kinds that are not suitable for the clients, such as "corrupt" without
    checksums.
    """

    def __init__(self, without: Collection[str] = ()) -> None:
        possible = (n for n, kind in FAULTS.items() if "http" in kind.places)
        super().__init__(frozenset(possible) - frozenset(without))
