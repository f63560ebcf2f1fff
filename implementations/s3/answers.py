"""Validation of S3 responses, shared by all transports, and ETags.

A transport only reports the response. A response that fails a check raises WrongAnswerException,
and callers retry the request. ETags are formatted and compared as S3 and HTTP do (RFC 9110, 8.8.3
and 13.1.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from fscontract.implementations.s3.errors import ObjectLocation, WrongAnswerException

_WEAK = "W/"


def plain_etag(etag: str | None) -> str | None:
    """Return an ETag without quotes, or None; a weak ETag keeps its `W/`."""
    if not etag:
        return None
    mark = _WEAK if etag.startswith(_WEAK) else ""
    return mark + etag.removeprefix(_WEAK).strip('"')


def if_match(etag: str | None) -> str | None:
    """Return the `If-Match` value for an ETag; None if it is missing or weak.

    A weak ETag never matches in `If-Match`.
    """
    return None if etag is None or etag.startswith(_WEAK) else f'"{etag}"'


def same_etag(one: str, other: str) -> bool:
    """Return True if two ETags without quotes identify the same content, ignoring weakness."""
    return one.removeprefix(_WEAK) == other.removeprefix(_WEAK)


_LENGTH = re.compile(r"[0-9]{1,19}")
_RANGE = re.compile(r"bytes\s+([0-9]{1,19})\s*-\s*([0-9]{1,19})\s*/\s*([0-9]{1,19}|\*)", re.I)
#: Content that a body must have; without it, an empty or foreign response would look like success.
_ROOTS = {"DeleteObjects": b"DeleteResult"}
#: Maximum characters of a header in a message.
_MAX_TEXT = 80


class Misfit(Exception):
    """An invalid response. The transport converts it to WrongAnswerException."""


class Extent(NamedTuple):
    """Byte range of an object in a body; `total` is the object's length, or None if unknown."""

    offset: int
    length: int
    total: int | None


def check_head(operation: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Raise Misfit if a successful response is incomplete; `operation` is its S3 name.

    Header names must be lower case. For GetObject, `body` is empty, because it arrives later.
    """
    if operation == "GetObject":
        extent_of(status, headers)
        return
    length = _length(headers)
    if operation == "HeadObject":
        if status != 200 or length is None:
            raise Misfit(
                f"invalid HEAD response: status {status}, Content-Length {length}; expected "
                "status 200 and a length"
            )
        return
    if length is not None and status != 204 and length != len(body):
        raise Misfit(f"incomplete response: got {len(body)} of {length} bytes")
    if _ROOTS.get(operation, b"") not in body:
        raise Misfit(f"unexpected response body: not a result of {operation}")


def extent_of(status: int, headers: Mapping[str, str]) -> Extent:
    """Return the byte range that a GET response holds. Header names must be lower case.

    Raise Misfit if the status or the headers are invalid.
    """
    if status not in (200, 206):
        raise Misfit(f"unexpected status {status}, expected 200 or 206")
    length = _length(headers)
    header = headers.get("content-range")
    if header is None:
        if status == 206:
            raise Misfit("missing Content-Range in a partial response")
        if length is None:
            raise Misfit("missing Content-Length")
        return Extent(0, length, length)
    match = _RANGE.fullmatch(header.strip())
    if match is None:
        raise Misfit(f"invalid Content-Range {header[:_MAX_TEXT]!r}")
    offset, stop = int(match[1]), int(match[2]) + 1
    total = None if match[3] == "*" else int(match[3])
    if total == 0:  # s3rver sends "bytes 0-0/0" for an empty object, where S3 sends 416
        return Extent(0, 0, 0)
    if stop <= offset or (total is not None and stop > total):
        raise Misfit(f"impossible Content-Range {header[:_MAX_TEXT]!r}")
    if length not in (None, stop - offset):
        raise Misfit(f"Content-Range {header[:_MAX_TEXT]!r} does not match Content-Length {length}")
    return Extent(offset, stop - offset, total)


def required(location: ObjectLocation, answer: Any, *names: str) -> Any:
    """Return a nested field of a parsed response; `names` run from the outside in.

    Raise WrongAnswerException if the field is missing or empty.
    """
    for name in names:
        answer = answer.get(name) if isinstance(answer, Mapping) else None
        if answer in (None, ""):
            raise WrongAnswerException(location, f"missing {name} in the response")
    return answer


def listed(location: ObjectLocation, answer: Mapping[str, Any]) -> str | None:
    """Check a listing page below the key of `location`; return the token of the next page.

    Return None for the last page. Raise WrongAnswerException if a field is missing, including
    IsTruncated, or if a key lacks the prefix.
    """
    truncated = required(location, answer, "IsTruncated")
    names = [required(location, one, "Key") for one in answer.get("Contents", ())]
    names += [required(location, one, "Prefix") for one in answer.get("CommonPrefixes", ())]
    if not all(name.startswith(location.key) for name in names):
        raise WrongAnswerException(location, "listing has keys without the requested prefix")
    return str(required(location, answer, "NextContinuationToken")) if truncated else None


def _length(headers: Mapping[str, str]) -> int | None:
    """Return the Content-Length, or None if missing. Raise Misfit if it is invalid."""
    header = headers.get("content-length")
    if header is None:
        return None
    if _LENGTH.fullmatch(header.strip()) is None:
        raise Misfit(f"invalid Content-Length {header[:_MAX_TEXT]!r}")
    return int(header)
