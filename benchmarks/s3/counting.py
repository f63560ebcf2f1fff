"""What clients ask of a server, and how much it sends them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.s3.relay import Counts, Relay

__all__ = ["Counts", "counted"]
#: So that little is counted that a client never took.
_MOST = 1 << 16


@contextmanager
def counted(url: str) -> Iterator[Relay]:
    """A relay before the server at `url` that counts; its `url` is for clients.

    Its small buffers make it slow, so nothing is timed through it.
    """
    with Relay(url, most=_MOST) as relay:
        yield relay
