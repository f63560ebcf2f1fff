"""Tests of the response checks that all transports share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fscontract.implementations.s3.answers import (
    Extent,
    Misfit,
    check_head,
    extent_of,
    if_match,
    plain_etag,
    required,
    same_etag,
)
from fscontract.implementations.s3.errors import ObjectLocation, WrongAnswerException


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
def test_extent_of_valid_headers(status: int, headers: Mapping[str, str], extent: Extent) -> None:
    assert extent_of(status, headers) == extent


@pytest.mark.parametrize(
    ("status", "headers", "what"),
    [
        (200, {}, "missing Content-Length"),
        (206, {"content-length": "10"}, "missing Content-Range"),
        (206, {}, "missing Content-Range"),
        (201, {"content-length": "10"}, "unexpected status 201"),
        (200, {"content-length": "10, 10"}, "invalid Content-Length '10, 10'"),
        (200, {"content-length": "1_0"}, "invalid Content-Length"),
        (200, {"content-length": "9" * 5000}, "invalid Content-Length '9{80}'"),
        (206, {"content-range": "bytes 5-9"}, "invalid Content-Range"),
        (206, {"content-range": "bytes */10"}, "invalid Content-Range"),
        (206, {"content-range": "bytes 5-9/10, bytes 5-9/10"}, "invalid Content-Range"),
        (206, {"content-range": "bytes \u0665-9/10"}, "invalid Content-Range"),
        (206, {"content-range": "bytes 9-5/10"}, "impossible Content-Range"),
        (206, {"content-range": "bytes 5-10/10"}, "impossible Content-Range"),
        (
            206,
            {"content-length": "4", "content-range": "bytes 5-9/10"},
            "does not match Content-Le",
        ),
    ],
)
def test_contradictory_headers_are_rejected(
    status: int, headers: Mapping[str, str], what: str
) -> None:
    with pytest.raises(Misfit, match=what):
        extent_of(status, headers)


def test_body_shorter_than_content_length_is_rejected() -> None:
    check_head("PutObject", 200, {"content-length": "0"}, b"")
    check_head("ListObjectsV2", 200, {}, b"<ListBucketResult/>")
    check_head("AbortMultipartUpload", 204, {"content-length": "5"}, b"")
    with pytest.raises(Misfit, match="3 of 4 bytes"):
        check_head("ListObjectsV2", 200, {"content-length": "4"}, b"<a>")


def test_deletion_without_result_element_is_rejected() -> None:
    """Otherwise all keys would count as deleted without errors."""
    check_head("DeleteObjects", 200, {}, b'<x:DeleteResult xmlns:x="s3"/>')
    with pytest.raises(Misfit, match="not a result of DeleteObjects"):
        check_head("DeleteObjects", 200, {}, b"")


def test_missing_field_is_named_in_the_error() -> None:
    place = ObjectLocation("bucket", "key")
    assert required(place, {"A": {"B": False}}, "A", "B") is False
    broken: list[Any] = [{}, {"A": ""}, {"A": {}}, {"A": {"B": None}}, {"A": "text"}]
    for found in broken:
        with pytest.raises(
            WrongAnswerException, match=r"missing [AB] in the response in bucket 'bucket': '/key'"
        ):
            required(place, found, "A", "B")


def test_plain_etag_keeps_weakness_without_quotes() -> None:
    assert [plain_etag(e) for e in ('"a"', "a", 'W/"a"', '""', "", None)] == [
        *("a", "a", "W/a", "", None, None)
    ]
    assert [if_match(e) for e in ("a", "", "W/a", None)] == ['"a"', '""', None, None]
    assert same_etag("W/a", "a")
    assert not same_etag("W/a", "b")
