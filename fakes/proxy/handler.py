"""One connection of a client: each of its requests goes on to the store, or fails by the plan."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

from fscontract.contract.faults import Fault, Turn
from fscontract.fakes.proxy import relay
from fscontract.fakes.proxy.answers import ERRORS, answer
from fscontract.fakes.proxy.relay import DroppedError

if TYPE_CHECKING:
    from fscontract.fakes.proxy.server import ProxyServer

#: Waits of a slow body are gathered until they are about as long, in seconds.
_WAIT = 0.005
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(.+)")
#: On close: send nothing that is left, but a reset.
_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


class ProxyHandler(BaseHTTPRequestHandler):
    """Answers as the store does, until a fault strikes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ProxyServer

    def handle_one_request(self) -> None:
        """One request; one that can't be answered ends the connection."""
        try:
            super().handle_one_request()
        except (DroppedError, OSError):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """The proxy's log is for tests, not for a terminal."""

    def _serve(self) -> None:
        target = relay.target_of(self)
        turn = self.server.turn(self.command, target, self.headers)
        injector = self.server.injector
        if self.command in ("PUT", "POST"):
            injector.written(target)
        if turn.fault is not None and self._fails(turn, turn.fault, target):
            return
        if turn.number and (kind := injector.barred(target)) is not None:
            self._answer(kind, None)
            return
        self._pass_on(turn)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_PATCH = _serve  # noqa: N815

    def _fails(self, turn: Turn, fault: Fault, target: str) -> bool:
        """Let the fault strike, unless it is one of bodies; whether that was all."""
        if fault.kind in ("delete", "revoke"):
            self.server.injector.bar(turn, target)
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
        if relay.has_body(self):  # which nobody has read
            self.close_connection = True
        answer(self, kind, fault)

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        # Closed here and now: the server would say a polite farewell before.
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
    """Make the answer to a range one to its first bytes; the headers that this changes.

    Nothing, if it does not say which range it has: the protocol has no word for a part then.
    """
    assert turn.fault is not None
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    limit = turn.fault.limit
    if found is None or (response.length or 0) <= limit:
        return {}
    turn.took_effect()
    response.length = limit
    last = int(found[1]) + limit - 1
    changed: dict[str, str | None] = {
        name.lower(): None
        for name in response.headers
        if name.lower().startswith(("x-amz-checksum-", "content-md5", "content-digest"))
    }
    changed["content-range"] = f"bytes {found[1]}-{last}/{found[3]}"
    changed["content-length"] = str(limit)
    return changed


def _cut(body: Iterator[bytes], turn: Turn, _: int | None, __: float) -> Iterator[bytes]:
    assert turn.fault is not None
    left = turn.fault.limit
    for piece in body:
        if left:
            yield piece[:left]
        if len(piece) > left:
            turn.took_effect()
            raise DroppedError
        left -= len(piece)


def _corrupt(body: Iterator[bytes], turn: Turn, _: int | None, __: float) -> Iterator[bytes]:
    for piece in body:
        yield bytes((piece[0] ^ 0xFF,)) + piece[1:]
        turn.took_effect()
        break
    yield from body


def _slow(body: Iterator[bytes], turn: Turn, length: int | None, most: float) -> Iterator[bytes]:
    assert turn.fault is not None
    pause = min(turn.fault.delay, most / (length or 1))
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
