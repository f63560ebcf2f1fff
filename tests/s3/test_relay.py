"""The relays of the benchmarks: one that counts, and one with latency."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from benchmarks.s3.counting import counted
from benchmarks.s3.latency import delayed
from benchmarks.s3.relaying import Requests
from fscontract.contract.program.content import content
from servers.s3.signed import Server, ask, opened

_LARGE = 24 << 20
_CHUNKED = b"3;x=y\r\nGET\r\n5\r\n\r\n\r\n \r\n0\r\nTrailer: /\r\n\r\n"


@pytest.fixture
def rclone(running: Callable[[str], Server]) -> Server:
    """A quick server."""
    return running("rclone")


@pytest.fixture
def path(rclone: Server) -> Iterator[str]:
    """A large object on it."""
    ask(rclone, "PUT", "/relayed")
    ask(rclone, "PUT", "/relayed/large", body=content(_LARGE))
    yield "/relayed/large"
    ask(rclone, "DELETE", "/relayed/large")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_requests_are_found_however_they_are_cut(size: int) -> None:
    """Bodies that look like requests are not taken for such."""
    sent = b"PUT /a HTTP/1.1\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    sent += b"PUT /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + _CHUNKED
    sent += b"GET /a HTTP/1.1\r\nHost: a:1\r\n\r\n" * 2 + b"HEAD /a HTTP/1.0\r\n\r\n"
    seen: Counter[str] = Counter()
    requests = Requests(seen)
    for begin in range(0, len(sent), size):
        requests.feed(sent[begin : begin + size])
    assert seen == {"PUT": 2, "GET": 2, "HEAD": 1}


def test_requests_connections_and_bytes_are_counted(rclone: Server, path: str) -> None:
    """And not a byte is changed."""
    with counted(rclone.url) as relay:
        through = replace(rclone, url=relay.url)
        assert ask(through, "HEAD", path).status == 200
        before = relay.counts()
        assert ask(through, "GET", path).body == content(_LARGE)
        assert ask(through, "GET", path, {"Range": "bytes=0-9"}).body == content(_LARGE)[:10]
        passed = relay.counts() - before
    assert (passed.requests, passed.connections) == ({"GET": 2}, 2)
    assert 0 < passed.received - _LARGE < 4096


def test_what_nobody_reads_is_hardly_counted(rclone: Server, path: str) -> None:
    """A client that goes after the first bytes has moved less than a tenth of the object."""
    with counted(rclone.url) as relay:
        with opened(replace(rclone, url=relay.url), "GET", path) as response:
            assert response.read(1024) == content(_LARGE)[:1024]
        assert relay.counts().received < _LARGE / 10


def test_a_request_takes_as_much_longer_as_was_asked(rclone: Server) -> None:
    """Half of it on the way there, half on the way back."""
    with delayed(rclone.url, 0.2) as url:
        begin = time.monotonic()
        assert ask(replace(rclone, url=url), "GET", "/").status == 200
        assert time.monotonic() - begin >= 0.199
