"""Tests of obstore bodies, which prefetch the next chunk while one is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import ObjectLocation
from fscontract.implementations.s3.object_reader import ByteRange, Cancellation
from fscontract.implementations.s3.transports.obstore import ObstoreBody, ObstoreSource
from tests.implementations.s3.awaitables import Library

MIB = 1 << 20


class Answer:
    """An obstore response of three MiB that arrive one at a time.

    Chunks after the first `quick` wait until the library completes them.
    """

    def __init__(self, library: Library, quick: int = 3) -> None:
        self.range = (0, 3 * MIB)
        self.meta = {"size": 3 * MIB, "e_tag": "a", "version": None}
        self._library = library
        self._sent = 0
        self._quick = quick
        library.may_complete.set()

    def stream(self, min_chunk_size: int) -> Answer:
        """Return the iterator, which is this object."""
        return self

    @property
    def __anext__(self) -> Callable[[], Any]:
        def begin() -> Any:
            self._sent += 1
            if self._sent > self._quick:
                self._library.may_complete.clear()
            return self._library.awaitable(bytes([self._sent]) * MIB)()

        return begin


def body_of(answer: Answer, cancel: Cancellation | None = None) -> ObstoreBody:
    """Return the body of a response."""
    place = ObjectLocation("bucket", "key", ByteRange(0, None))
    source = ObstoreSource(S3Config(bucket="bucket"))
    return ObstoreBody(source, place, answer, cancel or Cancellation())


def test_next_chunk_is_prefetched(library: Library) -> None:
    """Prefetch starts with the first chunk and is one chunk ahead."""
    body = body_of(Answer(library))
    assert bytes(body.chunk()) == b"\1" * MIB
    assert len(library.threads) == 2
    assert bytes(body.chunk()) == b"\2" * MIB
    assert len(library.threads) == 3


def test_no_prefetch_after_the_last_chunk(library: Library) -> None:
    """EOF is an empty chunk."""
    body = body_of(Answer(library))
    assert [bytes(body.chunk())[:1] for _ in range(4)] == [b"\1", b"\2", b"\3", b""]
    assert len(library.threads) == 3


def test_close_cancels_the_prefetch(library: Library) -> None:
    """The library call is cancelled, and further reads raise."""
    body = body_of(Answer(library, quick=1))
    body.chunk()
    assert not library.told.is_set()
    body.close()
    assert library.told.is_set()
    assert bytes(body.chunk()) == b""


def test_cancel_ends_the_wait_for_a_prefetched_chunk(library: Library) -> None:
    """Like any other wait."""
    cancel = Cancellation()
    body = body_of(Answer(library, quick=1), cancel)
    body.chunk()
    cancel.cancel()
    with pytest.raises(InterruptedIOException):
        body.chunk()
    assert library.told.is_set()
