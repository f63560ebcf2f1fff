"""The checks of answers, which no transport has of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fscontract.implementations.s3.answers import Extent, Misfit, check_head, extent_of, required
from fscontract.implementations.s3.errors import ObjectLocation, WrongAnswerException
from fscontract.implementations.s3.etags import header, plain, same


@pytest.mark.parametrize(
    ("status", "headers", "extent"),
    [
        (200, {"content-length": "10"}, Extent(0, 10, 10)),
        (200, {"content-length": " 0 "}, Extent(0, 0, 0)),
        (206, {"content-length": "5", "content-range": "bytes 5-9/10"}, Extent(5, 5, 10)),
        (206, {"content-range": "bytes 5-9/10"}, Extent(5, 5, 10)),
        (206, {"content-range": " Bytes  5 - 9 / * "}, Extent(5, 5, None)),
        (200, {"content-length": "5", "content-range": "bytes 5-9/10"}, Extent(5, 5, 10)),
        (206, {"content-length": "1", "content-range": "bytes 0-0/0"}, Extent(0, 0, 0)),
    ],
)
def test_a_head_says_which_bytes_come(
    status: int, headers: Mapping[str, str], extent: Extent
) -> None:
    assert extent_of(status, headers) == extent


@pytest.mark.parametrize(
    ("status", "headers", "what"),
    [
        (200, {}, "lacks Content-Length"),
        (206, {"content-length": "10"}, "lacks Content-Range"),
        (206, {}, "lacks Content-Range"),
        (201, {"content-length": "10"}, "status is 201"),
        (200, {"content-length": "10, 10"}, "invalid Content-Length '10, 10'"),
        (200, {"content-length": "1_0"}, "invalid Content-Length"),
        (200, {"content-length": "9" * 5000}, "invalid Content-Length '9{80}'"),
        (206, {"content-range": "bytes 5-9"}, "invalid Content-Range"),
        (206, {"content-range": "bytes */10"}, "invalid Content-Range"),
        (206, {"content-range": "bytes 5-9/10, bytes 5-9/10"}, "invalid Content-Range"),
        (206, {"content-range": "bytes \u0665-9/10"}, "invalid Content-Range"),
        (206, {"content-range": "bytes 9-5/10"}, "impossible Content-Range"),
        (206, {"content-range": "bytes 5-10/10"}, "impossible Content-Range"),
        (206, {"content-length": "4", "content-range": "bytes 5-9/10"}, "is not the Content-Le"),
    ],
)
def test_a_head_that_contradicts_itself_is_refused(
    status: int, headers: Mapping[str, str], what: str
) -> None:
    with pytest.raises(Misfit, match=what):
        extent_of(status, headers)


def test_a_body_is_as_long_as_announced() -> None:
    check_head("PutObject", 200, {"content-length": "0"}, b"")
    check_head("ListObjectsV2", 200, {}, b"<ListBucketResult/>")
    check_head("AbortMultipartUpload", 204, {"content-length": "5"}, b"")
    with pytest.raises(Misfit, match="3 of 4 bytes"):
        check_head("ListObjectsV2", 200, {"content-length": "4"}, b"<a>")


def test_a_deletion_is_known_by_its_result() -> None:
    """All keys would count as deleted without errors."""
    check_head("DeleteObjects", 200, {}, b'<x:DeleteResult xmlns:x="s3"/>')
    with pytest.raises(Misfit, match="not the result"):
        check_head("DeleteObjects", 200, {}, b"")


def test_what_is_missing_in_an_answer_is_named() -> None:
    place = ObjectLocation("bucket", "key")
    assert required(place, {"A": {"B": False}}, "A", "B") is False
    broken: list[Any] = [{}, {"A": ""}, {"A": {}}, {"A": {"B": None}}, {"A": "text"}]
    for found in broken:
        with pytest.raises(WrongAnswerException, match=r"lacks [AB] in bucket 'bucket': '/key'"):
            required(place, found, "A", "B")


def test_etags_keep_their_weakness_and_lose_their_quotes() -> None:
    assert [plain(e) for e in ('"a"', "a", 'W/"a"', '""', "", None)] == [
        *("a", "a", "W/a", "", None, None)
    ]
    assert [header(e) for e in ("a", "", "W/a", None)] == ['"a"', '""', None, None]
    assert same("W/a", "a")
    assert not same("W/a", "b")
