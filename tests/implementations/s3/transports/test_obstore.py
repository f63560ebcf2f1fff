"""The body of an answer through obstore: its next bytes are on their way while others are read."""

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
    """What obstore has of an answer of three MiB, which come one at a time.

    What comes after the first `quick` of them waits until the library may complete it.
    """

    def __init__(self, library: Library, quick: int = 3) -> None:
        self.range = (0, 3 * MIB)
        self.meta = {"size": 3 * MIB, "e_tag": "a", "version": None}
        self._library = library
        self._sent = 0
        self._quick = quick
        library.may_complete.set()

    def stream(self, min_chunk_size: int) -> Answer:
        """The iterator, which it is itself."""
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
    """The body of an answer."""
    place = ObjectLocation("bucket", "key", ByteRange(0, None))
    source = ObstoreSource(S3Config(bucket="bucket"))
    return ObstoreBody(source, place, answer, cancel or Cancellation())


def test_the_next_bytes_are_asked_for_before_they_are_wanted(library: Library) -> None:
    """Once one chunk is there, and no more than one ahead."""
    body = body_of(Answer(library))
    assert bytes(body.chunk()) == b"\1" * MIB
    assert len(library.threads) == 2
    assert bytes(body.chunk()) == b"\2" * MIB
    assert len(library.threads) == 3


def test_nothing_is_asked_for_after_the_last_bytes(library: Library) -> None:
    """And the end is an empty chunk."""
    body = body_of(Answer(library))
    assert [bytes(body.chunk())[:1] for _ in range(4)] == [b"\1", b"\2", b"\3", b""]
    assert len(library.threads) == 3


def test_closing_cancels_what_is_on_its_way(library: Library) -> None:
    """The library is told, and there is no more to read."""
    body = body_of(Answer(library, quick=1))
    body.chunk()
    assert not library.told.is_set()
    body.close()
    assert library.told.is_set()
    assert bytes(body.chunk()) == b""


def test_cancelling_ends_the_wait_for_what_was_begun_before(library: Library) -> None:
    """As it ends every other."""
    cancel = Cancellation()
    body = body_of(Answer(library, quick=1), cancel)
    body.chunk()
    cancel.cancel()
    with pytest.raises(InterruptedIOException):
        body.chunk()
    assert library.told.is_set()
