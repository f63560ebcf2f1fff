"""What a download survives, and what it must not believe."""

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
    """Retries follow at once."""
    monkeypatch.setattr(range_download, "BACKOFF", 0.0)


@pytest.fixture
def source() -> MemorySource:
    """A store that holds one object, given away in pieces of 100 bytes."""
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
    """What a download gives."""
    download = Download(target(source, pin, retries), start, stop, Cancellation())
    return b"".join(iter(lambda: bytes(download.chunk()), b""))


def once(error: Callable[[], Exception]) -> Callable[[str, ByteRange | None], None]:
    """A request that fails the first time."""
    left = [1]

    def before(_key: str, _want: ByteRange | None) -> None:
        if left:
            left.pop()
            raise error()

    return before


def spoiling(*changes: Callable[[MemoryBody], None]) -> Callable[[MemoryBody], Body]:
    """Answers that are changed, the first by the first change and so on; later ones are good."""
    left = list(changes)

    def spoil(body: MemoryBody) -> Body:
        if left:
            left.pop(0)(body)
        return body

    return spoil


def cut_to(count: int) -> Callable[[MemoryBody], None]:
    """The body ends after so many bytes."""

    def change(body: MemoryBody) -> None:
        body._rest = body._rest[:count]

    return change


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1000), (0, None), (10, 20), (990, 5000), (999, 1000)]
)
def test_it_gives_the_bytes_of_its_range(
    source: MemorySource, start: int, stop: int | None
) -> None:
    assert read(source, start, stop) == DATA[start:stop]


def test_a_range_is_one_request(source: MemorySource) -> None:
    read(source, 10, 500)
    assert source.requests == [ByteRange(10, 500)]


def test_nothing_is_asked_for_beyond_a_known_end(source: MemorySource) -> None:
    pin = VersionPin(declared=700)
    assert read(source, 0, 1000, pin) == DATA[:700]
    assert read(source, 700, 800, pin) == b""
    assert source.requests == [ByteRange(0, 700)]


def test_a_range_beyond_the_end_of_an_unknown_object_is_empty(source: MemorySource) -> None:
    assert read(source, 1000, 1010) == b""


def test_an_empty_object_is_empty(source: MemorySource) -> None:
    source.objects["key"] = b""
    assert read(source, 0, 10) == b""


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_a_failure_that_passes_is_tried_again(source: MemorySource, status: int) -> None:
    source.before = once(lambda: of_status(PLACE, status))
    assert read(source, 0, 300) == DATA[:300]
    assert len(source.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 412, 405])
def test_a_failure_that_stays_is_not_tried_again(source: MemorySource, status: int) -> None:
    source.before = once(lambda: of_status(PLACE, status))
    with pytest.raises(OSError, match=str(status)):
        read(source, 0, 300)
    assert len(source.requests) == 1


def test_the_budget_of_retries_is_kept(source: MemorySource) -> None:
    def always(_key: str, _want: ByteRange | None) -> None:
        raise of_status(PLACE, 503, "SlowDown")

    source.before = always
    with pytest.raises(S3Exception, match="503 SlowDown"):
        read(source, 0, 10, retries=4)
    assert len(source.requests) == 5


def test_a_store_that_wants_to_be_left_alone_for_long_is(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 503, wait=3600))
    with pytest.raises(S3Exception):
        read(source, 0, 10)
    assert len(source.requests) == 1


def test_a_body_that_is_cut_is_resumed_at_its_byte(source: MemorySource) -> None:
    source.spoil = spoiling(cut_to(250))
    assert read(source, 0, 600) == DATA[:600]
    assert source.requests == [ByteRange(0, 600), ByteRange(250, 600)]


def test_a_body_that_is_always_cut_is_an_error_that_says_so(source: MemorySource) -> None:
    source.spoil = spoiling(*[cut_to(0)] * 9)
    with pytest.raises(BodyCutException, match="600 bytes too early"):
        read(source, 0, 600)


def test_bytes_that_come_one_an_answer_use_up_the_retries(source: MemorySource) -> None:
    """A store that does so is not asked for each byte of a large buffer; a later call goes on."""
    source.spoil = spoiling(*[cut_to(1)] * 9)
    download = Download(target(source, retries=2), 0, 600, Cancellation())
    with pytest.raises(BodyCutException):
        download.fill(memoryview(bytearray(600)))
    assert (download.position, len(source.requests)) == (3, 3)
    assert len(download.chunk()) == 1


def test_retries_begin_anew_after_some_progress(source: MemorySource) -> None:
    """A long read survives any number of failures that are far between."""
    source.objects["key"] = data = DATA * 200
    source.spoil = spoiling(*[cut_to(1 << 16)] * 2)
    assert read(source, 0, 200_000, retries=1) == data
    assert len(source.requests) == 3


def test_a_shorter_answer_than_asked_for_is_gone_on_with(source: MemorySource) -> None:
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


def test_the_etag_counts_whatever_the_store_made_of_if_match(source: MemorySource) -> None:
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
def test_etags_are_compared_without_quotes_and_weakness(
    source: MemorySource, etag: str, told: str
) -> None:
    def named(body: MemoryBody) -> None:
        body.etag = told

    source.spoil = spoiling(named)
    assert read(source, 0, 10, VersionPin(etag=etag)) == DATA[:10]


def test_a_weak_etag_is_not_asked_to_match() -> None:
    """It would match nothing (RFC 9110, 13.1.1)."""
    assert VersionPin(etag='"abc"').if_match == VersionPin(etag="abc").if_match == '"abc"'
    assert VersionPin(etag='W/"abc"').if_match is None


def test_the_whole_object_instead_of_a_range_is_skipped_to_the_range(source: MemorySource) -> None:
    def all_of_it(body: MemoryBody) -> None:
        body.offset, body.length, body._rest = 0, len(DATA), memoryview(DATA)

    source.spoil = spoiling(all_of_it)
    assert read(source, 350, 360) == DATA[350:360]
    assert source.bodies[0].closed


def test_bytes_of_another_range_are_refused_and_asked_for_again(source: MemorySource) -> None:
    def elsewhere(body: MemoryBody) -> None:
        body.offset += 1

    source.spoil = spoiling(elsewhere)
    assert read(source, 0, 10) == DATA[:10]
    assert source.bodies[0].closed
    source.spoil = spoiling(*[elsewhere] * 9)
    with pytest.raises(WrongAnswerException, match="10 bytes from 1 on"):
        read(source, 0, 10)


def test_an_answer_of_another_version_is_refused(source: MemorySource) -> None:
    def other(body: MemoryBody) -> None:
        body.version = "2"

    source.spoil = spoiling(*[other] * 9)
    with pytest.raises(WrongAnswerException, match="of version '2'"):
        read(source, 0, 10, VersionPin(version="1"))


def test_a_store_that_ignores_ranges_far_into_an_object_is_not_asked_again(
    source: MemorySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fscontract.implementations.s3.range_download._MOST_SKIPPED", 100)

    def all_of_it(body: MemoryBody) -> None:
        body.offset, body.length, body._rest = 0, len(DATA), memoryview(DATA)

    source.spoil = spoiling(all_of_it)
    with pytest.raises(S3Exception, match="takes no notice of ranges"):
        read(source, 101, 110)
    assert len(source.requests) == 1


def test_more_bytes_than_asked_for_are_left_out(source: MemorySource) -> None:
    def longer(body: MemoryBody) -> None:
        body.length, body._rest = 900, memoryview(DATA)[:900]

    source.spoil = spoiling(longer)
    assert read(source, 0, 10) == DATA[:10]


def test_a_416_before_the_end_is_an_error_and_no_end(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 416, total=1000))
    with pytest.raises(RangeNotSatisfiableException):
        read(source, 0, 10)


def test_a_416_that_does_not_tell_the_length_is_looked_into(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 416))
    assert read(source, 5000, 5010) == b""
    assert source.requests == [ByteRange(5000, 5010), None]
    assert source.bodies[-1].closed


def test_a_missing_object_is_named_with_bucket_key_and_range(source: MemorySource) -> None:
    del source.objects["key"]
    with pytest.raises(FileNotFoundException) as caught:
        read(source, 0, 10)
    assert str(caught.value) == f"404 NoSuchKey for bytes 0 to 9 in bucket {BUCKET!r}: '/key'"


def test_a_cancelled_download_asks_for_nothing(source: MemorySource) -> None:
    cancel = Cancellation()
    download = Download(target(source), 0, 10, cancel)
    cancel.cancel()
    with pytest.raises(InterruptedIOException):
        download.chunk()
    assert source.requests == []


def test_waiting_for_a_retry_ends_when_it_is_cancelled(
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


def test_a_store_that_refuses_long_tails_is_asked_for_the_length(source: MemorySource) -> None:
    source.before = once(lambda: of_status(PLACE, 416))
    start, tail = read_tail(target(source), 5000, Cancellation())
    assert (start, bytes(tail)) == (0, DATA)


def test_a_store_that_takes_a_tail_for_the_beginning_gives_no_wrong_byte(
    source: MemorySource,
) -> None:
    def beginning(body: MemoryBody) -> None:
        body.offset, body.length, body._rest = 0, 64, memoryview(DATA)[:64]

    source.spoil = spoiling(beginning)
    start, tail = read_tail(target(source), 64, Cancellation())
    assert (start, bytes(tail)) == (936, DATA[-64:])


def test_a_tail_that_is_cut_is_resumed(source: MemorySource) -> None:
    source.spoil = spoiling(cut_to(10))
    assert bytes(read_tail(target(source), 64, Cancellation())[1]) == DATA[-64:]
    assert source.requests == [ByteRange(-64), ByteRange(946, 1000)]
