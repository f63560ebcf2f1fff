"""Relay before a server, in a separate process: delays bytes, and counts requests.

A separate process shares no interpreter with the measured code. It ends with the process that
started it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_PROGRAM = Path(__file__).with_name("relaying.py")
_MIB = 1 << 20


@dataclass(frozen=True)
class Counts:
    """Relayed traffic: requests by method, connections, and bytes sent to the client."""

    requests: dict[str, int]
    connections: int
    received: int

    def __sub__(self, earlier: Counts) -> Counts:
        requests = Counter(self.requests)
        requests.subtract(earlier.requests)
        return Counts(
            {method: count for method, count in requests.items() if count},
            self.connections - earlier.connections,
            self.received - earlier.received,
        )


class Relay:
    """A relay before the server at `upstream`; `url` is its address on this machine.

    Each direction adds half of `seconds`, so a request and its response take `seconds` more;
    connecting takes no longer. At most about `most` bytes per connection and direction are in
    transit: this limits the bytes that a server sends without a reading client, and the throughput
    per half of `seconds`. With a delay, it serves about 500 concurrent connections.
    """

    def __init__(self, upstream: str, seconds: float = 0, most: int = 8 * _MIB) -> None:
        parts = urlsplit(upstream)
        arguments = [parts.hostname or "", str(parts.port or 80), str(seconds / 2), str(most)]
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://127.0.0.1:{int(self._line())}"

    def counts(self) -> Counts:
        """Return the traffic since the start; subtract two results for an interval."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Counts(**json.loads(self._line()))

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError("the relay has ended")
        return line

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()
