"""Tests of Download: recovery from failures, and rejection of invalid responses."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fscontract.contract.api.errors import (
    FileNotFoundException,
    InterruptedIOException,
    RemoteFileChangedException,
)
from fscontract.implementations.s3 import range_download
from fscontract.implementations.s3.errors import (
    BodyCutException,
    ObjectLocation,
    RangeNotSatisfiableException,
    S3Exception,
    WrongAnswerException,
    of_status,
)
from fscontract.implementations.s3.input_stream import read_tail
from fscontract.implementations.s3.object_reader import (
    Body,
    ByteRange,
    Cancellation,
    RequestCounters,
)
from fscontract.implementations.s3.range_download import Download, Target, VersionPin
from tests.implementations.s3.memorysource import BUCKET, MemoryBody, MemorySource, etag_of

DATA = random.Random(1).randbytes(1000)
PLACE = ObjectLocation(BUCKET, "key")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without delay."""
    monkeypatch.setattr(range_download, "BACKOFF", 0.0)


@pytest.fixture
def source() -> MemorySource:
    """A store with one object, sent in pieces of 100 bytes."""
    source = MemorySource(piece=100)
    source.objects["key"] = DATA
    return source


def target(source: MemorySource, pin: VersionPin | None = None, retries: int = 2) -> Target:
    """The one object."""
    return Target(BUCKET, "key", source, pin or VersionPin(), RequestCounters(), retries)


def read(
    source: MemorySource,
    start: int,
    stop: int | None,
    pin: VersionPin | None = None,
    retries: int = 2,
) -> bytes:
    """Return the bytes of a download."""
    download = Download(target(source, pin, retries), start, stop, Cancellation())
    return b"".join(iter(lambda: bytes(download.chunk()), b""))


def once(error: Callable[[], Exception]) -> Callable[[str, ByteRange | None], None]:
    """Return a hook that fails the first request."""
    left = [1]

    def before(_key: str, _want: ByteRange | None) -> None:
        if left:
            left.pop()
            raise error()

    return before


def spoiling(*changes: Callable[[MemoryBody], None]) -> Callable[[MemoryBody], Body]:
    """Return a hook that applies each change to one response; later responses are unchanged."""
    left = list(changes)

    def spoil(body: MemoryBody) -> Body:
        if left:
            left.pop(0)(body)
        return body

    return spoil


def cut_to(count: int) -> Callable[[MemoryBody], None]:
    """Return a change that ends the body after `count` bytes."""

    def change(body: MemoryBody) -> None:
        body._rest = body._rest[:count]

    return change


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1000), (0, None), (10, 20), (990, 5000), (999, 1000)]
)
def test_download_returns_the_bytes_of_its_range(
    source: MemorySource, start: int, stop: int | None
) -> None:
    assert read(source, start, stop) == DATA[start:stop]


def test_a_range_is_one_request(source: MemorySource) -> None:
    read(source, 10, 500)
    assert source.requests == [ByteRange(10, 500)]


def test_no_request_past_a_known_eof(source: MemorySource) -> None:
    pin = VersionPin(declared=700)
    assert read(source, 0, 1000, pin) == DATA[:700]
    assert read(source, 700, 800, pin) == b""
    assert source.requests == [ByteRange(0, 700)]


def test_range_past_unknown_eof_is_empty(source: MemorySource) -> None:
    assert read(source, 1000, 1010) == b""


def test_an_empty_object_is_empty(source: MemorySource) -> None:
    source.objects["key"] = b""
    assert read(source, 0, 10) == b""


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_transient_failure_is_retried(source: MemorySource, status: int) -> None:
    source.before = once(lambda: of_status(PLACE, status))
    assert read(source, 0, 300) == DATA[:300]
    assert len(source.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 412, 405])
def test_permanent_failure_is_not_retried(source: MemorySource, status: int) -> None:
    source.before = once(lambda: of_status(PLACE, status))
    with pytest.raises(OSError, match=str(status)):
        read(source, 0, 300)
    assert len(source.requests) == 1


def test_number_of_retries_is_limited(source: MemorySource) -> None:
    def always(_key: str, _want: ByteRange | None) -> None:
        raise of_status(PLACE, 503, "SlowDown")

    source.before = always
    with pytest.raises(S3Exception, match="503 SlowDown"):
        read(source, 0, 10, retries=4)
    assert len(source.requests) == 5


def test_long_retry_after_is_not_waited_for(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 503, wait=3600))
    with pytest.raises(S3Exception):
        read(source, 0, 10)
    assert len(source.requests) == 1


def test_truncated_body_is_resumed_at_the_missing_byte(source: MemorySource) -> None:
    source.spoil = spoiling(cut_to(250))
    assert read(source, 0, 600) == DATA[:600]
    assert source.requests == [ByteRange(0, 600), ByteRange(250, 600)]


def test_always_truncated_body_raises(source: MemorySource) -> None:
    source.spoil = spoiling(*[cut_to(0)] * 9)
    with pytest.raises(BodyCutException, match="600 bytes early"):
        read(source, 0, 600)


def test_single_byte_responses_use_up_the_retries(source: MemorySource) -> None:
    """Such a store is not queried for each byte of a large buffer; a later call continues."""
    source.spoil = spoiling(*[cut_to(1)] * 9)
    download = Download(target(source, retries=2), 0, 600, Cancellation())
    with pytest.raises(BodyCutException):
        download.fill(memoryview(bytearray(600)))
    assert (download.position, len(source.requests)) == (3, 3)
    assert len(download.chunk()) == 1


def test_retries_are_reset_after_progress(source: MemorySource) -> None:
    """A long read survives any number of failures with progress between them."""
    source.objects["key"] = data = DATA * 200
    source.spoil = spoiling(*[cut_to(1 << 16)] * 2)
    assert read(source, 0, 200_000, retries=1) == data
    assert len(source.requests) == 3


def test_shorter_response_is_continued(source: MemorySource) -> None:
    def shorten(body: MemoryBody) -> None:
        body.length = 7
        body._rest = body._rest[:7]

    source.spoil = spoiling(shorten)
    assert read(source, 0, 600) == DATA[:600]


def test_an_object_replaced_during_a_retry_is_not_mixed(source: MemorySource) -> None:
    source.spoil = spoiling(cut_to(250))
    download = Download(target(source), 0, 600, Cancellation())
    assert bytes(download.chunk()) == DATA[:100]
    source.objects["key"] = DATA[::-1]
    assert bytes(download.chunk()) == DATA[100:200]
    assert bytes(download.chunk()) == DATA[200:250]
    with pytest.raises(RemoteFileChangedException):
        download.chunk()


def test_etag_is_checked_even_if_the_store_ignores_if_match(source: MemorySource) -> None:
    def other(body: MemoryBody) -> None:
        body.etag = '"another"'

    source.spoil = spoiling(other)
    with pytest.raises(RemoteFileChangedException, match="another"):
        read(source, 0, 10, VersionPin(etag=etag_of(DATA)))


def test_another_length_is_another_version(source: MemorySource) -> None:
    pin = VersionPin()
    read(source, 0, 10, pin)

    def grow(body: MemoryBody) -> None:
        body.total = 2000

    source.spoil = spoiling(grow)
    with pytest.raises(RemoteFileChangedException):
        read(source, 10, 20, pin)


@pytest.mark.parametrize("etag", ['W/"abc"', "W/abc", 'W/abc"'])
@pytest.mark.parametrize("told", ['"abc"', "abc", 'W/"abc"'])
def test_etags_are_compared_ignoring_quotes_and_weakness(
    source: MemorySource, etag: str, told: str
) -> None:
    def named(body: MemoryBody) -> None:
        body.etag = told

    source.spoil = spoiling(named)
    assert read(source, 0, 10, VersionPin(etag=etag)) == DATA[:10]


def test_weak_etag_is_not_sent_in_if_match() -> None:
    """It would never match (RFC 9110, 13.1.1)."""
    assert VersionPin(etag='"abc"').if_match == VersionPin(etag="abc").if_match == '"abc"'
    assert VersionPin(etag='W/"abc"').if_match is None


def test_whole_object_response_is_skipped_to_the_range(source: MemorySource) -> None:
    def all_of_it(body: MemoryBody) -> None:
        body.offset, body.length, body._rest = 0, len(DATA), memoryview(DATA)

    source.spoil = spoiling(all_of_it)
    assert read(source, 350, 360) == DATA[350:360]
    assert source.bodies[0].closed


def test_wrong_range_is_rejected_and_retried(source: MemorySource) -> None:
    def elsewhere(body: MemoryBody) -> None:
        body.offset += 1

    source.spoil = spoiling(elsewhere)
    assert read(source, 0, 10) == DATA[:10]
    assert source.bodies[0].closed
    source.spoil = spoiling(*[elsewhere] * 9)
    with pytest.raises(WrongAnswerException, match="10 bytes at offset 1"):
        read(source, 0, 10)


def test_response_with_another_version_is_rejected(source: MemorySource) -> None:
    def other(body: MemoryBody) -> None:
        body.version = "2"

    source.spoil = spoiling(*[other] * 9)
    with pytest.raises(WrongAnswerException, match="wrong version in the response: '2'"):
        read(source, 0, 10, VersionPin(version="1"))


def test_store_that_ignores_distant_ranges_is_not_retried(
    source: MemorySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fscontract.implementations.s3.range_download._MOST_SKIPPED", 100)

    def all_of_it(body: MemoryBody) -> None:
        body.offset, body.length, body._rest = 0, len(DATA), memoryview(DATA)

    source.spoil = spoiling(all_of_it)
    with pytest.raises(S3Exception, match="ignores range requests"):
        read(source, 101, 110)
    assert len(source.requests) == 1


def test_surplus_bytes_are_dropped(source: MemorySource) -> None:
    def longer(body: MemoryBody) -> None:
        body.length, body._rest = 900, memoryview(DATA)[:900]

    source.spoil = spoiling(longer)
    assert read(source, 0, 10) == DATA[:10]


def test_416_before_eof_raises(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 416, total=1000))
    with pytest.raises(RangeNotSatisfiableException):
        read(source, 0, 10)


def test_416_without_length_is_verified(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 416))
    assert read(source, 5000, 5010) == b""
    assert source.requests == [ByteRange(5000, 5010), None]
    assert source.bodies[-1].closed


def test_missing_object_error_names_bucket_key_and_range(source: MemorySource) -> None:
    del source.objects["key"]
    with pytest.raises(FileNotFoundException) as caught:
        read(source, 0, 10)
    assert str(caught.value) == f"404 NoSuchKey for bytes 0 to 9 in bucket {BUCKET!r}: '/key'"


def test_cancelled_download_sends_no_request(source: MemorySource) -> None:
    cancel = Cancellation()
    download = Download(target(source), 0, 10, cancel)
    cancel.cancel()
    with pytest.raises(InterruptedIOException):
        download.chunk()
    assert source.requests == []


def test_cancel_ends_the_wait_for_a_retry(
    source: MemorySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(range_download, "BACKOFF", 1000.0)
    monkeypatch.setattr(range_download, "LONGEST_BACKOFF", 1000.0)
    cancel = Cancellation()

    def fail(_key: str, _want: ByteRange | None) -> None:
        cancel.cancel()
        raise of_status(PLACE, 503)

    source.before = fail
    with pytest.raises(InterruptedIOException):
        Download(target(source), 0, 10, cancel).chunk()


# The tail ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 64, 1000, 5000])
def test_the_tail_of_an_unknown_object_is_one_request(source: MemorySource, count: int) -> None:
    start, tail = read_tail(target(source), count, Cancellation())
    assert (start, bytes(tail)) == (max(0, 1000 - count), DATA[-count:])
    assert source.requests == [ByteRange(-count)]


def test_the_tail_of_a_known_object_is_a_plain_range(source: MemorySource) -> None:
    start, tail = read_tail(target(source, VersionPin(declared=1000)), 64, Cancellation())
    assert (start, bytes(tail)) == (936, DATA[-64:])
    assert source.requests == [ByteRange(936, 1000)]


def test_the_tail_of_an_empty_object_is_empty(source: MemorySource) -> None:
    source.objects["key"] = b""
    assert bytes(read_tail(target(source), 64, Cancellation())[1]) == b""


def test_rejected_suffix_range_falls_back_to_the_length(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 416))
    start, tail = read_tail(target(source), 5000, Cancellation())
    assert (start, bytes(tail)) == (0, DATA)


def test_suffix_range_read_from_the_start_returns_no_wrong_byte(
    source: MemorySource,
) -> None:
    def beginning(body: MemoryBody) -> None:
        body.offset, body.length, body._rest = 0, 64, memoryview(DATA)[:64]

    source.spoil = spoiling(beginning)
    start, tail = read_tail(target(source), 64, Cancellation())
    assert (start, bytes(tail)) == (936, DATA[-64:])


def test_truncated_tail_is_resumed(source: MemorySource) -> None:
    source.spoil = spoiling(cut_to(10))
    assert bytes(read_tail(target(source), 64, Cancellation())[1]) == DATA[-64:]
    assert source.requests == [ByteRange(-64), ByteRange(946, 1000)]
