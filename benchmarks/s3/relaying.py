"""Process of a relay: forwards bytes with a delay, and counts requests.

    python relaying.py HOST PORT SECONDS-EACH-WAY MOST-BYTES

It prints its port, then the traffic for each input line, and ends with its standard input. It does
not change the bytes.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

#: Up to this limit, system buffers are made small too; above it they keep their size.
_TIGHT = 1 << 17
#: Bytes per read.
_PIECE = 1 << 18


@dataclass
class Relaying:
    """Destination and delay of requests, and their counts."""

    address: tuple[str, int]
    delay: float
    most: int
    requests: Counter[str] = field(default_factory=Counter)
    connections: int = 0
    received: int = 0

    def shown(self) -> str:
        """Return the traffic as a line of JSON."""
        passed = {"requests": dict(self.requests), "connections": self.connections}
        return json.dumps({**passed, "received": self.received})


class Requests:
    """Finds the requests in a client's data on one connection."""

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted
        self._state = self._head
        self._begun = b""  # incomplete head or line
        self._left = 0  # remaining bytes of a body, or of a chunk with its line break

    def feed(self, data: bytes) -> None:
        """Count the requests whose heads end in this data."""
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
    """One direction of a connection: forwards data from `source` to `sink` with a delay.

    Bytes are copied in and out once, through reused buffers.
    """

    def __init__(
        self,
        relaying: Relaying,
        source: socket.socket,
        sink: socket.socket,
        seen: Callable[[memoryview], None],
        ended: Callable[[], None],
    ) -> None:
        self._delay = relaying.delay
        self._most = relaying.most if relaying.delay else _PIECE
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._sink = sink
        self._seen = seen
        self._ended = ended
        #: Due time, buffer and data; empty data is the end.
        self._queue: deque[tuple[float, bytearray, memoryview]] = deque()
        self._free: list[bytearray] = []
        self._held = 0
        self._reading = self._writing = self._over = False
        self._timer: asyncio.TimerHandle | None = None
        self._balance()

    def close(self) -> None:
        """Stop using both sockets, which the connection closes."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._source)
        self._loop.remove_writer(self._sink)

    def _read(self) -> None:
        buffer = self._free.pop() if self._free else bytearray(min(_PIECE, self._most))
        try:
            count = self._source.recv_into(buffer)
        except (BlockingIOError, InterruptedError):
            self._free.append(buffer)
            return
        except OSError:
            count = 0
        view = memoryview(buffer)[:count]
        self._seen(view)
        self._held += count
        self._queue.append((self._loop.time() + self._delay, buffer, view))
        if not count:
            self._most = -1  # stop reading
        if len(self._queue) == 1:
            self._pass()
        self._balance()

    def _pass(self) -> None:
        """Send due data, as far as the sink accepts it."""
        while self._queue and not self._over:
            due, buffer, view = self._queue[0]
            wait = due - self._loop.time()
            if wait > 0:
                self._timer = self._loop.call_at(due, self._pass)
                break
            if not view:
                self._ended()
                return
            sent = self._send(view)
            self._held -= sent
            if sent < len(view):
                self._queue[0] = due, buffer, view[sent:]
                break
            self._queue.popleft()
            self._free.append(buffer)
        self._balance()

    def _send(self, view: memoryview) -> int:
        """Return the number of bytes sent; the rest is sent when the sink accepts more."""
        sent = 0
        try:
            while sent < len(view):
                sent += self._sink.send(view[sent:])
        except (BlockingIOError, InterruptedError):
            if not self._writing:
                self._writing = True
                self._loop.add_writer(self._sink, self._pass)
            return sent
        except OSError:
            self._ended()
            return sent
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._sink)
        return sent

    def _balance(self) -> None:
        if self._over:
            return
        wanted = self._held < self._most
        if wanted and not self._reading:
            self._loop.add_reader(self._source, self._read)
        elif self._reading and not wanted:
            self._loop.remove_reader(self._source)
        self._reading = wanted


class Connection:
    """A client's connection, and the one to the server behind it."""

    def __init__(self, relaying: Relaying, client: socket.socket) -> None:
        self._relaying = relaying
        self._requests = Requests(relaying.requests)
        self._client = client
        self._store = socket.socket()
        self._flows: list[Flow] = []
        relaying.connections += 1

    async def begin(self) -> None:
        """Connect to the server; read nothing until then."""
        relaying, client, store = self._relaying, self._client, self._store
        for one in (client, store):
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if relaying.most <= _TIGHT:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, relaying.most)
            store.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, relaying.most)
        try:
            await asyncio.get_running_loop().sock_connect(store, relaying.address)
        except OSError:
            self._end()
            return
        self._flows.append(Flow(relaying, client, store, self._asked, self._end))
        self._flows.append(Flow(relaying, store, client, self._answered, self._end))

    def _asked(self, data: memoryview) -> None:
        self._requests.feed(bytes(data))

    def _answered(self, data: memoryview) -> None:
        self._relaying.received += len(data)

    def _end(self) -> None:
        for flow in self._flows:
            flow.close()
        self._flows.clear()
        self._client.close()
        self._store.close()


async def accept(relaying: Relaying, listener: socket.socket) -> None:
    """Begin a connection for each client."""
    loop = asyncio.get_running_loop()
    beginning: set[asyncio.Task[None]] = set()
    while True:
        client, _ = await loop.sock_accept(listener)
        task = asyncio.ensure_future(Connection(relaying, client).begin())
        beginning.add(task)
        task.add_done_callback(beginning.discard)


async def main(host: str, port: str, delay: str, most: str) -> None:
    """Relay until standard input ends."""
    relaying = Relaying((socket.gethostbyname(host), int(port)), float(delay), int(most))
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        listener.setblocking(False)
        accepting = asyncio.ensure_future(accept(relaying, listener))
        print(listener.getsockname()[1], flush=True)
        while await loop.run_in_executor(None, sys.stdin.readline):
            print(relaying.shown(), flush=True)
        accepting.cancel()
        await asyncio.wait([accepting])


def _run(arguments: list[str]) -> None:
    delayed = float(arguments[2]) > 0
    # Precise to the microsecond, but limited to 1,024 files; the default is precise to the
    # millisecond.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector() if delayed else None)
    with suppress(KeyboardInterrupt):
        loop.run_until_complete(main(*arguments))


if __name__ == "__main__":
    _run(sys.argv[1:])
