"""The answers of a store that has a fault, in S3's form."""

from __future__ import annotations

import math
from http.server import BaseHTTPRequestHandler
from xml.sax.saxutils import escape

from fscontract.contract.faults import Fault

#: The status, the code and the message for each kind.
ERRORS = {
    "throttle": (503, "SlowDown", "Please reduce your request rate."),
    "range": (416, "InvalidRange", "The requested range is not satisfiable."),
    "precondition": (412, "PreconditionFailed", "A precondition does not hold."),
    "delete": (404, "NoSuchKey", "There is no such key."),
    "revoke": (403, "AccessDenied", "Access denied."),
}


def answer(handler: BaseHTTPRequestHandler, kind: str, fault: Fault | None) -> None:
    """Answer with the error of a kind; a throttled client is told the seconds of the fault."""
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
