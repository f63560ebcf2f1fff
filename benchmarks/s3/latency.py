"""A server made far away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.s3.relay import Relay


@contextmanager
def delayed(url: str, seconds: float) -> Iterator[str]:
    """A URL for the server at `url` at which each request and its answer take `seconds` more."""
    with Relay(url, seconds) as relay:
        yield relay.url
