"""Tests of damaged, wrong and unusual responses: no transport returns a wrong byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FileRange
from fscontract.implementations.s3.errors import S3Exception, WrongAnswerException
from fscontract.implementations.s3.filesystem import S3FileSystem
from tests.implementations.s3.rawserver import DATA, Answer, Asked, RawServer, Sent, whole

Change = Callable[[Answer], Answer]


def pread(fs: S3FileSystem, position: int = 500) -> tuple[int, bytes]:
    """Return the outcome of a positioned read of 10 bytes on a new stream."""
    with fs.open_file("/key").build().result() as stream:
        buffer = bytearray(10)
        return stream.pread(position, buffer), bytes(buffer)


RIGHT = (10, DATA[500:510])


def having(**headers: str | None) -> Change:
    """Change headers; names have _ for -, and None removes a header."""

    def change(answer: Answer) -> Answer:
        changed: dict[str, str | None] = {**answer.headers}
        changed.update({name.replace("_", "-"): value for name, value in headers.items()})
        kept = {name: value for name, value in changed.items() if value is not None}
        return answer._replace(headers=kept)

    return change


def status(line: str) -> Change:
    """Change the status."""
    return lambda answer: answer._replace(status=line)


def instead(body: bytes, line: str = "200 OK", **headers: str | None) -> Change:
    """Change body, status and headers."""
    told: dict[str, str | None] = {"Content_Length": str(len(body)), **headers}
    return lambda answer: having(**told)(answer._replace(status=line, body=body))


def listing(inner: str, more: str = "<IsTruncated>false</IsTruncated>") -> Change:
    """Change the content of a listing."""
    return instead(f"<ListBucketResult>{more}{inner}</ListBucketResult>".encode())


def contents(inner: str) -> Change:
    """Change the one entry of a listing."""
    return listing(f"<Contents>{inner}</Contents>")


def lost(answer: Answer) -> Answer:
    """Send the headers and close the connection before the body."""
    return answer._replace(body=b"")


def sending(change: Change, kind: str, times: int = 1 << 30) -> Callable[[Asked, Answer], Sent]:
    """Change the first `times` responses to a kind of request; close the connection after each."""
    left = [times]

    def spoil(asked: Asked, answer: Answer) -> Sent:
        if asked.kind != kind or not left[0]:
            return whole(asked, answer)
        left[0] -= 1
        changed = having(Connection="close")(change(answer))
        return [changed.head + changed.body], False

    return spoil


# Invalid responses -------------------------------------------------------------------------------

GETS: dict[str, Change] = {
    "206 without Content-Range": having(Content_Range=None),
    "another range": having(Content_Range="bytes 600-609/1000"),
    "a range that begins later": having(Content_Range="bytes 501-510/1000"),
    "a range backwards": having(Content_Range="bytes 509-500/1000"),
    "a range beyond the end": having(Content_Range="bytes 500-509/505"),
    "a range cut short": having(Content_Range="bytes 500-50"),
    "a range of something else": having(Content_Range="items 500-509/1000"),
    "a range with too many digits": having(Content_Range=f"bytes 500-{'9' * 5000}/1000"),
    "a length that is not the range's": having(Content_Length="9"),
    "a length that is not a number": having(Content_Length="ten"),
    "a negative length": having(Content_Length="-10"),
    "a body that is lost": lost,
    "a status without a body": instead(b"", "204 No Content", Content_Range=None),
    "a status that is not of a GET": instead(b"", "202 Accepted", Content_Range=None),
    "several ranges": having(Content_Range=None, Content_Type="multipart/byteranges; boundary=x"),
    "a line that is not a header": having(X="y\r\nnot a header\r\nZ: y"),
}


@pytest.mark.parametrize("way", ["boto3", "auto"])
@pytest.mark.parametrize("change", GETS.values(), ids=GETS)
def test_invalid_get_response_is_retried(raw: RawServer, way: str, change: Change) -> None:
    with raw.filesystem(way) as fs:
        raw.spoil = sending(change, "get", times=1)
        assert pread(fs) == RIGHT
        assert len(raw.asked) == 2


@pytest.mark.parametrize("change", GETS.values(), ids=GETS)
def test_permanently_invalid_get_responses_raise(
    raw: RawServer, transport: str, change: Change
) -> None:
    with raw.filesystem(transport) as fs:
        raw.spoil = sending(change, "get")
        with pytest.raises(S3Exception):
            pread(fs)


def test_error_describes_the_invalid_part(raw: RawServer) -> None:
    with raw.filesystem("boto3") as fs:
        raw.spoil = sending(having(Content_Range=None), "get")
        with pytest.raises(WrongAnswerException) as caught:
            pread(fs)
    assert str(caught.value) == (
        snapshot(
            "missing Content-Range in a partial response for bytes 500 to 509 "
            "in bucket 'bucket': '/key'"
        )
    )


@pytest.mark.parametrize("etag", [None, '"another"'], ids=str)
def test_response_without_the_stream_etag_returns_no_bytes(
    raw: RawServer, transport: str, etag: str | None
) -> None:
    with raw.filesystem(transport) as fs, fs.open_file("/key").build().result() as stream:
        buffer = bytearray(10)
        assert stream.pread(0, buffer) == 10
        raw.spoil = sending(having(ETag=etag), "get")
        with pytest.raises(PathIOException):
            stream.pread(500, buffer)
        assert buffer == DATA[:10]
        raw.spoil = whole
        assert stream.pread(500, buffer) == 10
        assert buffer == DATA[500:510]


def test_stream_without_etag_rejects_response_with_etag(raw: RawServer, transport: str) -> None:
    """They may belong to two versions."""
    with raw.filesystem(transport) as fs, fs.open_file("/key").build().result() as stream:
        raw.spoil = sending(having(ETag=None), "get", times=1)
        assert stream.pread(0, bytearray(10)) == 10
        with pytest.raises(WrongAnswerException, match="unexpected ETag"):
            stream.pread(500, bytearray(10))


def parts(fs: S3FileSystem) -> Any:
    """Write an object in parts."""
    upload = fs._store.begin("parts")
    etag = fs._store.part("parts", upload, 1, b"a part")
    return fs._store.complete("parts", upload, [etag])


CALLS: dict[str, Callable[[S3FileSystem], Any]] = {
    "head": lambda fs: fs._store.head("key"),
    "list": lambda fs: list(fs._store.list("k", "/")),
    "put": lambda fs: fs._store.put("new", b"hello"),
    "delete": lambda fs: fs._store.delete(["new"]),
    "begin": parts,
    "part": parts,
    "complete": parts,
}
#: Kind of request, description, and change of its response.
OTHERS: list[tuple[str, str, Change]] = [
    ("head", "no length", having(Content_Length=None)),
    ("head", "a length that is not a number", having(Content_Length="1O")),
    ("head", "an impossible date", having(Last_Modified="yesterday")),
    ("list", "no body", instead(b"")),
    ("list", "a body that is lost", lost),
    ("list", "a page of HTML", instead(b"<html><body>Log in</body></html>")),
    ("list", "text", instead(b"Log in")),
    ("list", "not whether there is more", listing("<KeyCount>0</KeyCount>", "")),
    ("list", "no name of the next page", listing("", "<IsTruncated>true</IsTruncated>")),
    ("list", "keys without the requested prefix", contents("<Key>x</Key><Size>1</Size>")),
    (
        *("list", "directories without the prefix"),
        listing("<CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes>"),
    ),
    ("list", "no key", contents("<Size>1</Size>")),
    ("list", "no size", contents("<Key>key</Key>")),
    ("list", "a size that is not a number", contents("<Key>key</Key><Size>x</Size>")),
    (
        *("list", "an impossible date"),
        contents("<Key>key</Key><Size>1</Size><LastModified>x</LastModified>"),
    ),
    ("put", "no ETag", having(ETag=None)),
    ("put", "an empty ETag", having(ETag="")),
    ("delete", "no body", instead(b"")),
    ("delete", "a body that is lost", lost),
    ("delete", "a page of HTML", instead(b"<html><body>Log in</body></html>")),
    (
        *("delete", "an error of another key"),
        instead(b"<DeleteResult><Error><Key>x</Key></Error></DeleteResult>"),
    ),
    (
        *("delete", "an error without a key"),
        instead(b"<DeleteResult><Error><Code>AccessDenied</Code></Error></DeleteResult>"),
    ),
    ("begin", "no body", instead(b"")),
    ("begin", "no name", instead(b"<InitiateMultipartUploadResult/>")),
    (
        *("begin", "an empty name"),
        instead(b"<Initiate><UploadId></UploadId></Initiate>"),
    ),
    ("part", "no ETag", having(ETag=None)),
    ("complete", "no body", instead(b"")),
    ("complete", "no ETag", instead(b"<CompleteMultipartUploadResult/>")),
]


@pytest.mark.parametrize("way", ["boto3", "obstore"])
@pytest.mark.parametrize(
    ("kind", "change"),
    [pytest.param(kind, change, id=f"{kind}-{what}") for kind, what, change in OTHERS],
)
def test_invalid_response_to_other_requests_is_retried(
    raw: RawServer, way: str, kind: str, change: Change
) -> None:
    """Only exceptions of this library are raised, and no unconfirmed result is returned."""
    with raw.filesystem(way) as fs:
        fs._store.put("new", b"hello")
        right = CALLS[kind](fs)
        raw.asked.clear()
        raw.spoil = sending(change, kind, times=1)
        assert CALLS[kind](fs) == right
        assert [asked.kind for asked in raw.asked].count(kind) == 2


@pytest.mark.parametrize("what", ["source", "part of the source"])
def test_copy_response_without_etag_raises(raw: RawServer, what: str) -> None:
    with raw.filesystem("boto3", retries=0) as fs:
        store, info = fs._store, fs._store.head("key")
        raw.spoil = sending(instead(b"<Result/>"), "put" if what == "source" else "part")
        store.copy_limit = 1 << 30 if what == "source" else 0
        with pytest.raises(WrongAnswerException, match="missing ETag"):
            store.copy(info, "copy")


# Valid but unusual responses --------------------------------------------------------------------


def lower(answer: Answer) -> Answer:
    """Write header names in lower case, with optional whitespace."""
    return answer._replace(headers={n.lower(): f"  {v}\t " for n, v in answer.headers.items()})


def everything(line: str, **headers: str | None) -> Change:
    """Answer with the whole object for any range."""
    return instead(DATA, line, **headers)


def surrounding(answer: Answer) -> Answer:
    """Answer with a larger range than requested, as RFC 9110 allows."""
    return instead(DATA[100:900], answer.status, Content_Range="bytes 100-899/1000")(answer)


def chunked(answer: Answer) -> Answer:
    """Send a body without Content-Length."""
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in answer.body) + b"0\r\n\r\n"
    return having(Content_Length=None, Transfer_Encoding="chunked")(answer)._replace(body=body)


UNUSUAL: dict[str, Change] = {
    "as usual": lambda answer: answer,
    "lower case and spaces": lower,
    "no reason": lambda answer: answer._replace(status=answer.status[:3]),
    "200 with Content-Range": status("200 OK"),
    "the whole object": everything("200 OK", Content_Range=None),
    "the whole object as a range": everything("206 Whole", Content_Range="bytes 0-999/1000"),
    "more than was asked for": surrounding,
    "less than was asked for": lambda answer: instead(
        answer.body[:4], answer.status, Content_Range="bytes 500-503/1000"
    )(answer),
    "an unknown length": lambda answer: having(
        Content_Range=answer.headers["Content-Range"].replace("/1000", "/*")
    )(answer),
    "a weak ETag": having(ETag='W/"abc"'),
    "an ETag without quotes": having(ETag="abc"),
    "no ETag": having(ETag=None),
    "no Last-Modified": having(Last_Modified=None),
    "an odd Last-Modified": having(Last_Modified="yesterday"),
    "a body in chunks": chunked,
}


@pytest.mark.parametrize("way", ["boto3", "auto"])
@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_valid_get_response_is_accepted(raw: RawServer, way: str, name: str) -> None:
    times = 1 if name == "less than was asked for" else 1 << 30
    with raw.filesystem(way, retries=0) as fs:
        raw.spoil = sending(UNUSUAL[name], "get", times)
        assert pread(fs) == RIGHT


@pytest.mark.parametrize("way", ["boto3", "auto"])
def test_object_is_read_to_eof_if_ranges_lack_the_total_length(raw: RawServer, way: str) -> None:
    def change(answer: Answer) -> Answer:
        told = answer.headers.get("Content-Range", "")
        return having(Content_Range=told.replace("/1000", "/*") or None)(answer)

    raw.spoil = sending(change, "get")
    with raw.filesystem(way) as fs, fs.open_file("/key").build().result() as stream:
        stream.seek(990)
        assert stream.available() == 10
        assert stream.as_file().read() == DATA[990:]
        assert stream.pread(1000, bytearray(1)) == -1
        ranges = [FileRange(0, 10), FileRange(900, 100)]
        stream.read_vectored(ranges)
        assert [bytes(r.data.result(20)) for r in ranges if r.data] == [DATA[:10], DATA[900:]]


def test_weak_etags_are_not_sent_in_if_match(raw: RawServer, transport: str) -> None:
    """A weak ETag never matches in If-Match (RFC 9110, 13.1.1)."""
    raw.store("key", DATA, 'W/"abc"')
    with raw.filesystem(transport) as fs:
        status = fs.get_file_status("/key")
        with fs.open_file("/key").with_file_status(status).build().result() as stream:
            for position in (0, 500):
                buffer = bytearray(10)
                assert stream.pread(position, buffer) == 10
                assert buffer == DATA[position : position + 10]
            raw.store("key", DATA[::-1], 'W/"abd"')
            with pytest.raises(PathIOException, match="changed or replaced"):
                stream.pread(500, bytearray(10))


def test_empty_object_may_have_an_empty_range(raw: RawServer) -> None:
    """s3rver sends such responses."""
    raw.store("empty", b"")
    head = {"Content-Range": "bytes 0-0/0", "Content-Length": "1", "ETag": '"e"'}
    raw.spoil = lambda *_: ([Answer("206 Partial Content", head).head], False)
    with raw.filesystem("boto3") as fs, fs.open("/empty") as stream:
        assert stream.read_byte() == -1
