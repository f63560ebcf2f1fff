"""A server with added latency."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.s3.relay import Relay


@contextmanager
def delayed(url: str, seconds: float) -> Iterator[str]:
    """Yield a URL for the server at `url` that adds `seconds` to each request and its response."""
    with Relay(url, seconds) as relay:
        yield relay.url
