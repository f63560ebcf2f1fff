"""A relay before a server, in a process of its own: bytes go on later, and requests are counted.

In a process of its own, so that it shares no interpreter with what is measured. It ends with the
process that started it.
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
    """What has passed: requests by method, connections, and the bytes that the client was sent."""

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
    """Stands before the server at `upstream`; `url` is where it listens, on this machine.

    Each way takes half of `seconds`, so a request and its answer take `seconds` more; to connect
    takes no longer. Of a connection at most about `most` bytes are on their way in one direction:
    so much a server sends that no client takes, and so much passes in half of `seconds`. If it
    delays, it serves some 500 connections at a time.
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
        """What has passed since the relay began; take the difference of two."""
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
