"""Checks that every answer of a store passes before any of it counts, over each transport.

A transport only reports what an answer says. Anything that does not fit is a
WrongAnswerException, which the callers try again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from fscontract.implementations.s3.errors import ObjectLocation, WrongAnswerException

_LENGTH = re.compile(r"[0-9]{1,19}")
_RANGE = re.compile(r"bytes\s+([0-9]{1,19})\s*-\s*([0-9]{1,19})\s*/\s*([0-9]{1,19}|\*)", re.I)
#: Content after which an empty body, or an answer of somebody else, would look like success.
_ROOTS = {"DeleteObjects": b"DeleteResult"}
#: The most characters of a header in a message.
_MAX_TEXT = 80


class Misfit(Exception):
    """An answer that can't be right; the transport turns it into a WrongAnswerException."""


class Extent(NamedTuple):
    """The bytes of an object in a body; `total` is the length of the object, None if unknown."""

    offset: int
    length: int
    total: int | None


def check_head(operation: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Raise Misfit unless a successful answer is complete; `operation` is the name S3 gives it.

    Header names are in lower case. `body` is empty for GetObject, whose body comes later.
    """
    if operation == "GetObject":
        extent_of(status, headers)
        return
    length = _length(headers)
    if operation == "HeadObject":
        if status != 200 or length is None:
            raise Misfit(f"the answer is {status} with Content-Length {length}")
        return
    if length is not None and status != 204 and length != len(body):
        raise Misfit(f"the answer has {len(body)} of {length} bytes")
    if _ROOTS.get(operation, b"") not in body:
        raise Misfit("the answer is not the result of the operation")


def extent_of(status: int, headers: Mapping[str, str]) -> Extent:
    """Return the bytes that the answer to a GET holds; Misfit. Header names are in lower case."""
    if status not in (200, 206):
        raise Misfit(f"the status is {status}, not 200 or 206")
    length = _length(headers)
    header = headers.get("content-range")
    if header is None:
        if status == 206:
            raise Misfit("the answer is a part of the object, but lacks Content-Range")
        if length is None:
            raise Misfit("the answer lacks Content-Length")
        return Extent(0, length, length)
    match = _RANGE.fullmatch(header.strip())
    if match is None:
        raise Misfit(f"invalid Content-Range {header[:_MAX_TEXT]!r}")
    offset, stop = int(match[1]), int(match[2]) + 1
    total = None if match[3] == "*" else int(match[3])
    if total == 0:  # s3rver says "bytes 0-0/0" of an empty object, where S3 says 416
        return Extent(0, 0, 0)
    if stop <= offset or (total is not None and stop > total):
        raise Misfit(f"impossible Content-Range {header[:_MAX_TEXT]!r}")
    if length not in (None, stop - offset):
        raise Misfit(f"Content-Range {header[:_MAX_TEXT]!r} is not the Content-Length {length}")
    return Extent(offset, stop - offset, total)


def required(location: ObjectLocation, answer: Any, *names: str) -> Any:
    """Return a part of a parsed answer, by its names from the outside in; WrongAnswerException."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, Mapping) else None
        if answer in (None, ""):
            raise WrongAnswerException(location, f"the answer lacks {name}")
    return answer


def listed(location: ObjectLocation, answer: Mapping[str, Any]) -> str | None:
    """Check a page of a listing below the key of `location`; return the token of the next page.

    WrongAnswerException, also for an answer that does not say whether there is more.
    """
    truncated = required(location, answer, "IsTruncated")
    names = [required(location, one, "Key") for one in answer.get("Contents", ())]
    names += [required(location, one, "Prefix") for one in answer.get("CommonPrefixes", ())]
    if not all(name.startswith(location.key) for name in names):
        raise WrongAnswerException(location, "the listing has keys without the prefix")
    return str(required(location, answer, "NextContinuationToken")) if truncated else None


def _length(headers: Mapping[str, str]) -> int | None:
    """Return the Content-Length, None if there is none; Misfit."""
    header = headers.get("content-length")
    if header is None:
        return None
    if _LENGTH.fullmatch(header.strip()) is None:
        raise Misfit(f"invalid Content-Length {header[:_MAX_TEXT]!r}")
    return int(header)
