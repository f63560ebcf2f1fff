"""Counts of requests to a server, and of the bytes that it sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.s3.relay import Counts, Relay

__all__ = ["Counts", "counted"]
#: Small, so that few bytes are counted that the client never read.
_MOST = 1 << 16


@contextmanager
def counted(url: str) -> Iterator[Relay]:
    """Run a counting relay before the server at `url`; its own `url` is for clients.

    Its small buffers make it slow, so it is not used for timing.
    """
    with Relay(url, most=_MOST) as relay:
        yield relay
