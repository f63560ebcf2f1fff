"""Answers of S3 servers as data: the usual answer to a question, and the exceptions.

`206 0-9/1000` is the status and Content-Range of an answer whose body is exactly those bytes of the
object. Without Content-Range it describes the body, for HEAD its length, and for errors the code.
`no ETag`, and `broken` if the connection ended too early, are added where they apply. For PUT the
answer is followed by the state after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fscontract.contract.program.content import content, replacement

#: The objects are `whole` with this content, `empty`, and `missing`, which is not there.
DATA = content(1000)
#: What is put in place of it.
OTHER = replacement(DATA)
_ANOTHER_ETAG = '"00000000000000000000000000000000"'


@dataclass(frozen=True)
class Fact:
    """A request as `METHOD key`, its headers as `name: value; ...`, and the answers to it.

    In headers ETAG stands for the ETag of the object, its quotes included, BARE for it without
    them, and ANOTHER for that of no object.
    """

    request: str
    headers: str
    usual: str
    others: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.request}, {self.headers}" if self.headers else self.request

    def expected(self, server: str) -> str:
        """Return the answer of that server."""
        return self.others.get(server, self.usual)

    def sent(self, etag: str) -> dict[str, str]:
        """The headers of the request, if the object has that ETag."""
        text = self.headers.replace("ANOTHER", _ANOTHER_ETAG)
        text = text.replace("ETAG", etag).replace("BARE", etag.strip('"'))
        return dict(header.split(": ", 1) for header in text.split("; ") if header)


def _fact(request: str, headers: str, usual: str, **others: str) -> Fact:
    return Fact(request, headers, usual, others)


_INVALID = "416 InvalidRange"
_FAILED = "412 PreconditionFailed"
_PLACED = "416 InvalidRange */1000"  # this error says how long the object is
_ALL = "206 0-999/1000"

RANGES = (
    _fact("GET whole", "", "200 all"),
    _fact("GET empty", "", "200 nothing"),
    _fact("GET whole", "Range: bytes=0-9", "206 0-9/1000", rclone="200 0-9/1000"),
    _fact("GET whole", "Range: bytes=0-0", "206 0-0/1000", rclone="200 0-0/1000", s3rver=_ALL),
    _fact("GET whole", "Range: bytes=0-", _ALL, rclone="200 0-999/1000"),
    _fact("GET whole", "Range: bytes=990-2000", "206 990-999/1000", rclone="200 990-999/1000"),
    _fact("GET whole", "Range: bytes=1000-", _INVALID, seaweedfs=_PLACED),
    _fact("GET whole", "Range: bytes=1000-1005", _INVALID, seaweedfs=_PLACED),
    _fact("GET whole", "Range: bytes=5000-", _INVALID, seaweedfs=_PLACED),
    _fact(
        *("GET whole", "Range: bytes=-10", "206 990-999/1000"),
        rclone="200 990-999/1000",
        s3rver="206 0-10/1000",
    ),
    _fact("GET whole", "Range: bytes=-2000", _ALL, rclone=_INVALID),
    _fact("GET whole", "Range: bytes=-0", _INVALID, seaweedfs=_PLACED, s3rver=_ALL),
    _fact(
        *("GET whole", "Range: bytes=9-0", "200 all"),
        seaweedfs=_PLACED,
        rclone=_INVALID,
        s3rver="206 9-999/1000",
    ),
    _fact("GET whole", "Range: bytes=abc", "200 all", rclone=_INVALID, s3rver=_ALL),
    _fact("GET whole", "Range: items=0-5", "200 all", moto="206 0-5/1000", rclone=_INVALID),
    _fact(
        *("GET whole", "Range: bytes=0-0,9-9", "200 all"), rclone="501 NotImplemented", s3rver=_ALL
    ),
    _fact(
        *("GET empty", "Range: bytes=0-0", _INVALID),
        seaweedfs="416 InvalidRange */0",
        s3rver="206 0-0/0 broken",
    ),
    _fact(
        *("GET empty", "Range: bytes=-10", _INVALID),
        moto="200 nothing",
        seaweedfs="416 InvalidRange */0",
        s3rver="206 0-0/0 broken",
    ),
    _fact("HEAD whole", "", "200 of 1000"),
    _fact(
        *("HEAD whole", "Range: bytes=0-9", "200 of 1000"),
        moto="206 0-9/1000 of 10",
        s3rver="206 0-9/1000 of 10",
    ),
    _fact("HEAD whole", "Range: bytes=1000-", "200 of 1000", moto="416", s3rver="416"),
)

ETAGS = (
    _fact("GET whole", "If-Match: ETAG", "200 all"),
    _fact("GET whole", "If-Match: BARE", "200 all"),
    _fact("GET whole", "If-Match: *", "200 all", moto=_FAILED),
    _fact("GET whole", "If-Match: ANOTHER, ETAG", "200 all", moto=_FAILED),
    _fact("GET whole", "If-Match: ANOTHER", _FAILED, rclone="200 all", s3rver="200 all"),
    _fact("HEAD whole", "If-Match: ANOTHER", "412", rclone="200 of 1000", s3rver="200 of 1000"),
    _fact(
        *("GET whole", "If-Match: ANOTHER; Range: bytes=0-9", _FAILED),
        rclone="200 0-9/1000",
        s3rver="206 0-9/1000",
    ),
    _fact(
        *("GET whole", "If-Match: ANOTHER; Range: bytes=1000-", _FAILED),
        rclone=_INVALID,
        s3rver=_INVALID,
    ),
    _fact("GET whole", "If-Match: ETAG; Range: bytes=1000-", _INVALID, seaweedfs=_PLACED),
    _fact("GET whole", "If-None-Match: ETAG", "304 nothing", s3rver="304 nothing no ETag"),
)

MISSING = (
    _fact("GET missing", "", "404 NoSuchKey"),
    _fact("GET missing", "Range: bytes=0-9", "404 NoSuchKey"),
    _fact("GET missing", "If-Match: ETAG", "404 NoSuchKey"),
    _fact("HEAD missing", "", "404"),
    _fact(
        *("GET whole?versionId=3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY", "", "200 all"),
        moto="404 NoSuchVersion",
        rclone="501 NotImplemented",
    ),
    _fact("GET whole?versionId=null", "", "200 all"),
)

WRITES = (
    _fact("PUT whole", "", "200; the other"),
    _fact("PUT missing", "If-None-Match: *", "200; the other"),
    _fact(
        *("PUT whole", "If-None-Match: *", f"{_FAILED}; all"),
        rclone="200; the other",
        s3rver="200; the other",
    ),
    _fact(
        *("PUT whole", "If-Match: ANOTHER", f"{_FAILED}; all"),
        rclone="200; the other",
        s3rver="200; the other",
    ),
    _fact("PUT whole", "If-Match: ETAG", "200; the other"),
)
FACTS = (*RANGES, *ETAGS, *MISSING, *WRITES)
