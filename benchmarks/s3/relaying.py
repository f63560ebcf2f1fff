"""The process of a relay: passes bytes on after a while, and counts requests.

    python relaying.py HOST PORT SECONDS-EACH-WAY MOST-BYTES

It says on which port it listens, then for each line that it is sent what has passed, and ends with
its standard input. It changes no byte.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import socket
import sys
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field

#: Up to this the buffers of the system are made small too; above, they are its own affair.
_TIGHT = 1 << 17


@dataclass
class Relaying:
    """Where requests go, how, and what has passed."""

    address: tuple[str, int]
    delay: float
    most: int
    requests: Counter[str] = field(default_factory=Counter)
    connections: int = 0
    received: int = 0

    def shown(self) -> str:
        """What has passed, as a line of JSON."""
        passed = {"requests": dict(self.requests), "connections": self.connections}
        return json.dumps({**passed, "received": self.received})


class Requests:
    """Finds the requests in what a client sends on one connection."""

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted
        self._state = self._head
        self._begun = b""  # of a head, or of a line
        self._left = 0  # of a body, or of a chunk with the line break after it

    def feed(self, data: bytes) -> None:
        """Count the requests whose heads end in this piece."""
        while data:
            skipped = min(self._left, len(data))
            self._left -= skipped
            data = data[skipped:]
            if data:
                data = self._state(data)

    def _head(self, data: bytes) -> bytes:
        head, found, rest = self._until(b"\r\n\r\n", data)
        if found:
            first, *lines = head.lstrip(b"\r\n").split(b"\r\n")
            self._counted[first.split(b" ")[0].decode("latin-1")] += 1
            headers = dict(line.lower().split(b":", 1) for line in lines)
            if b"chunked" in headers.get(b"transfer-encoding", b""):
                self._state = self._chunk
            else:
                self._left = int(headers.get(b"content-length", 0))
        return rest

    def _chunk(self, data: bytes) -> bytes:
        line, found, rest = self._until(b"\r\n", data)
        if found:
            size = int(line.partition(b";")[0], 16)
            self._left = size + 2 if size else 0
            self._state = self._chunk if size else self._trailer
        return rest

    def _trailer(self, data: bytes) -> bytes:
        line, found, rest = self._until(b"\r\n", data)
        if found and not line:
            self._state = self._head
        return rest

    def _until(self, end: bytes, data: bytes) -> tuple[bytes, bytes, bytes]:
        text, found, rest = (self._begun + data).partition(end)
        self._begun = b"" if found else text
        return text, found, rest


class Flow:
    """One direction of a connection: what comes from `source` goes to `sink` a while later."""

    def __init__(self, relaying: Relaying) -> None:
        self._delay = relaying.delay
        self._most = relaying.most
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[float, bytes | None]] = deque()
        self._held = 0
        self._full = False
        self.source: asyncio.Transport | None = None
        self.sink: asyncio.Transport | None = None

    def take(self, data: bytes | None) -> None:
        """Pass these bytes on, or that there are no more."""
        if not self._delay:
            self._pass(data)
            return
        self._queue.append((self._loop.time() + self._delay, data))
        self._held += len(data or b"")
        if len(self._queue) == 1:
            self._loop.call_at(self._queue[0][0], self._due)
        self._balance()

    def fill(self, full: bool) -> None:
        """Note whether the sink takes no more for now."""
        self._full = full
        self._balance()

    def _due(self) -> None:
        now = self._loop.time()
        while self._queue and self._queue[0][0] <= now:
            _, data = self._queue.popleft()
            self._held -= len(data or b"")
            self._pass(data)
        if self._queue:
            self._loop.call_at(self._queue[0][0], self._due)
        self._balance()

    def _pass(self, data: bytes | None) -> None:
        if self.sink is None or self.sink.is_closing():
            return
        if data is None:
            self.sink.close()
        else:
            self.sink.write(data)

    def _balance(self) -> None:
        if self.source is None or self.source.is_closing():
            return
        if self._full or self._held > self._most:
            self.source.pause_reading()
        else:
            self.source.resume_reading()


class End(asyncio.Protocol):
    """One end of a connection: its bytes go out by one flow, and others come in by another."""

    def __init__(self, out: Flow, into: Flow) -> None:
        self._out = out
        self._into = into

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Where its bytes come from, and others go to, is known now."""
        assert isinstance(transport, asyncio.Transport)
        self._out.source = self._into.sink = transport

    def data_received(self, data: bytes) -> None:
        """Bytes go out."""
        self._out.take(data)

    def connection_lost(self, _: Exception | None) -> None:
        """No more bytes go out."""
        self._out.take(None)

    def pause_writing(self) -> None:
        """What comes in has to wait."""
        self._into.fill(True)

    def resume_writing(self) -> None:
        """What comes in need not wait any more."""
        self._into.fill(False)


class Store(End):
    """The end at the store, whose bytes are counted."""

    def __init__(self, relaying: Relaying, out: Flow, into: Flow) -> None:
        super().__init__(out, into)
        self._relaying = relaying

    def data_received(self, data: bytes) -> None:
        """Bytes are counted and go out."""
        self._relaying.received += len(data)
        super().data_received(data)


class Client(End):
    """The end at the client, whose requests are counted; it waits for the other end."""

    def __init__(self, relaying: Relaying) -> None:
        super().__init__(Flow(relaying), Flow(relaying))
        self._relaying = relaying
        self._requests = Requests(relaying.requests)
        self._connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The other end is looked for, and meanwhile nothing is read."""
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        if self._relaying.most <= _TIGHT:
            made = transport.get_extra_info("socket")
            made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._relaying.most)
        self._relaying.connections += 1
        self._connecting = asyncio.ensure_future(self._connect(transport))

    def data_received(self, data: bytes) -> None:
        """Requests are counted and go out."""
        self._requests.feed(data)
        super().data_received(data)

    async def _connect(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        store = socket.socket()
        store.setblocking(False)
        if self._relaying.most <= _TIGHT:
            store.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._relaying.most)
        try:
            await loop.sock_connect(store, self._relaying.address)
            await loop.create_connection(
                lambda: Store(self._relaying, self._into, self._out), sock=store
            )
            transport.resume_reading()
        except OSError:
            store.close()
            transport.abort()


async def main(host: str, port: str, delay: str, most: str) -> None:
    """Relay until the standard input ends."""
    relaying = Relaying((socket.gethostbyname(host), int(port)), float(delay), int(most))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Client(relaying), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(relaying.shown(), flush=True)


def _run(arguments: list[str]) -> None:
    delayed = float(arguments[2]) > 0
    # Waits to the microsecond, but knows 1,024 files at most; the default waits to the millisecond.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector() if delayed else None)
    with suppress(KeyboardInterrupt):
        loop.run_until_complete(main(*arguments))


if __name__ == "__main__":
    _run(sys.argv[1:])
