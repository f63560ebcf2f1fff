"""Tests of responses truncated at each byte: the retry gives the right result, or an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import permutations
from typing import Any, NamedTuple

import pytest

from fscontract.implementations.s3.errors import S3Exception
from fscontract.implementations.s3.filesystem import S3FileSystem
from tests.implementations.s3.rawserver import (
    DATA,
    Answer,
    Asked,
    RawServer,
    Sent,
    cut,
    whole,
)

#: Truncate bodies at every n-th byte.
_STEP = 9


class Call(NamedTuple):
    """A filesystem call, the kind of request to truncate, and the headers to permute."""

    kind: str
    make: Callable[[S3FileSystem], Any]
    headers: tuple[str, ...] = ("Content-Length", "Content-Type")


def _pread(fs: S3FileSystem) -> tuple[int, bytes]:
    with fs.open_file("/key").build().result() as stream:
        buffer = bytearray(10)
        return stream.pread(500, buffer), bytes(buffer)


def _parts(fs: S3FileSystem) -> Any:
    upload = fs._store.begin("parts")
    etag = fs._store.part("parts", upload, 1, b"a part")
    return etag, fs._store.complete("parts", upload, [etag])


def _delete(fs: S3FileSystem) -> Any:
    fs._store.put("new", b"")
    return fs._store.delete(["new"])


_NAMED = ("Content-Length", "ETag")
CALLS = {
    "get": Call("get", _pread, ("Content-Length", "Content-Range", "ETag")),
    "head": Call("head", lambda fs: fs._store.head("key"), (*_NAMED, "Last-Modified")),
    "put": Call("put", lambda fs: fs._store.put("new", b"hello"), _NAMED),
    "list": Call("list", lambda fs: list(fs._store.list("k"))),
    "begin": Call("begin", _parts),
    "part": Call("part", _parts, _NAMED),
    "complete": Call("complete", _parts),
    "delete": Call("delete", _delete),
}
#: Kinds of requests that obstore sends; boto3 always sends the others.
_BOTH = ("get", "head", "put")


def _orders(call: Call) -> list[tuple[str, ...]]:
    """Return all orders of a GET's headers; for other requests one order and its reverse."""
    if call.kind == "get":
        return list(permutations(call.headers))
    return [call.headers, call.headers[::-1]]


CASES = [
    pytest.param(transport, call, order, id="-".join([transport, name, *order]))
    for transport in ("boto3", "obstore")
    for name, call in CALLS.items()
    if transport == "boto3" or name in _BOTH
    for order in _orders(call)
]


class Cutting:
    """Truncates the first response to a kind of request, or all of them if `always`."""

    def __init__(self, kind: str, order: Sequence[str], count: int, always: bool = False) -> None:
        self.cut = 0
        self.length = self.head = 0
        self._kind, self._order, self._count, self._always = kind, order, count, always

    def __call__(self, asked: Asked, answer: Answer) -> Sent:
        """Decide what is sent."""
        answer = answer.sorted(self._order)
        if asked.kind != self._kind or (self.cut and not self._always):
            return whole(asked, answer)
        self.cut += 1
        self.head, self.length = len(answer.head), len(answer.head + answer.body)
        return cut(self._count)(asked, answer)


@pytest.mark.parametrize(("transport", "call", "order"), CASES)
def test_response_truncated_at_any_byte_is_retried(
    raw: RawServer, transport: str, call: Call, order: tuple[str, ...]
) -> None:
    with raw.filesystem(transport) as fs:
        right = call.make(fs)
        count = 0
        while True:
            raw.spoil = spoil = Cutting(call.kind, order, count)
            before = len(raw.asked)
            assert call.make(fs) == right, f"truncated after {count} bytes"
            sent = [asked.kind for asked in raw.asked[before:]].count(call.kind)
            if count >= spoil.length:
                assert sent == 1
                break
            assert sent == 2, f"accepted a response truncated after {count} bytes"
            count += 1 if count < spoil.head else _STEP
            count = min(count, spoil.length)


@pytest.mark.parametrize("transport", ["boto3", "obstore"])
@pytest.mark.parametrize("name", CALLS)
def test_responses_that_are_always_truncated_raise(
    raw: RawServer, transport: str, name: str
) -> None:
    call = CALLS[name]
    with raw.filesystem(transport) as fs:
        right = call.make(fs)
        for share in range(10):
            probe = Cutting(call.kind, call.headers, 1 << 20)
            raw.spoil = probe
            call.make(fs)
            count = share * probe.length // 10
            raw.spoil = Cutting(call.kind, call.headers, count, always=True)
            if name == "complete" and count:  # a status request may show that the object exists
                with suppress(S3Exception):
                    assert call.make(fs) == right
                continue
            with pytest.raises(S3Exception):
                call.make(fs)


def test_bodies_are_sent_without_expect_100_continue(raw: RawServer) -> None:
    """botocore would loop forever over the truncated headers of a 100 response."""
    with raw.filesystem("boto3") as fs:
        fs._store.put("new", b"hello")
        _parts(fs)
    assert [a.kind for a in raw.asked if "expect" in a.headers] == []


def test_unrequested_100_response_is_skipped(raw: RawServer) -> None:
    def greet(asked: Asked, answer: Answer) -> Sent:
        return [b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n", answer.head + answer.body], True

    with raw.filesystem("boto3", retries=0) as fs:
        raw.spoil = greet
        assert _pread(fs) == (10, DATA[500:510])
        raw.spoil = lambda _, answer: ([b"HTTP/1.1 100 Continue\r\nA: b"], False)
        with pytest.raises(S3Exception):
            _pread(fs)
