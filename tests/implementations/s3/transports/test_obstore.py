"""Tests of obstore bodies, which prefetch the next chunk while one is read."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import ObjectLocation
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.object_reader import ByteRange, Cancellation
from fscontract.implementations.s3.transports import cancellable_loop
from fscontract.implementations.s3.transports.cancellable_loop import Failed, HelperThreads
from fscontract.implementations.s3.transports.obstore import ObstoreBody, ObstoreSource
from tests.implementations.s3.awaitables import Library
from tests.limits import DEADLOCK

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


@pytest.fixture
def fs_obstore(bucket: str, options: dict[str, Any]) -> Iterator[S3FileSystem]:
    """A bucket through obstore."""
    with S3FileSystem(bucket, **options, transport="obstore") as fs:
        yield fs


def body_of(answer: Answer, cancel: Cancellation | None = None, data: object = None) -> ObstoreBody:
    """Return the body of a response."""
    place = ObjectLocation("bucket", "key", ByteRange(0, None))
    source = ObstoreSource(S3Config(bucket="bucket"))
    return ObstoreBody(source, place, answer, cancel or Cancellation(), data)


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


def test_close_interrupts_a_short_read_before_the_response() -> None:
    """The reader leaves at once, although obstore's call can't be cancelled."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with S3FileSystem("bucket", endpoint=url, anonymous=True, transport="obstore") as fs:
            stream = fs.open_file("/key").build().result()
            reading = pool.submit(stream.pread, 5, bytearray(10))
            connection, _ = listener.accept()
            stream.close()
            assert isinstance(reading.exception(DEADLOCK), InterruptedIOException)
        assert not all(call.left for call in cancellable_loop._UNDER_WAY._calls)
        connection.close()
    cancellable_loop._UNDER_WAY._wait()


def test_short_read_without_a_free_thread_is_awaited(
    fs_obstore: S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object, *__: object) -> None:
        raise RuntimeError("can't start new thread")

    with fs_obstore.create("/a") as file:
        file.write(b"abc")
    monkeypatch.setattr(HelperThreads, "start", fail)
    buffer = bytearray(2)
    with fs_obstore.open_file("/a").build().result() as stream:
        assert stream.pread(1, buffer) == 2
    assert buffer == b"bc"


def test_error_of_the_bytes_is_raised_by_the_first_chunk(library: Library) -> None:
    """So that the version of the response is checked first."""
    answer = Answer(library)
    body = body_of(answer, data=Failed(ConnectionError()))
    assert body.etag == "a"
    with pytest.raises(OSError, match="ConnectionError in obstore"):
        body.chunk()
