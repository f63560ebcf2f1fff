"""Complete-header check for responses to boto3.

Python's http.client accepts the end of a connection as the end of the headers. A truncated response
then looks valid, with fewer headers or a truncated value. Here it is a failed connection, as in
obstore.
"""

from __future__ import annotations

from collections.abc import Callable
from email.errors import FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
    HeadersDict,
)

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.implementations.s3.answers import check_head

#: After a line that is not a header, http.client drops all further headers.
_DEFECTS = (FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect)
#: Headers that determine how a GET is read; other headers may be malformed.
_OF_OBJECTS = ("content-length", "content-range", "etag", "x-amz-version-id")


class _Lines:
    """Header lines of a file; raises RemoteDisconnected if the file ends within the headers."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.close: Callable[[], None] = file.close

    def readline(self, limit: int) -> bytes:
        """Return a line of up to `limit` bytes."""
        line: bytes = self._file.readline(limit)
        if len(line) < limit and not line.endswith(b"\n"):
            raise RemoteDisconnected("connection lost within the response headers")
        return line


class WholeHead(HTTPResponse):
    """A response whose headers are well-formed and end with an empty line."""

    def begin(self) -> None:
        """Read the headers; raise HTTPException."""
        if self.headers is not None:
            return
        file, lines = self.fp, _Lines(self.fp)
        self.fp = lines
        try:
            super().begin()
        finally:
            if self.fp is lines:
                self.fp = file
        if any(isinstance(defect, _DEFECTS) for defect in self.headers.defects):
            raise HTTPException("invalid line in the response headers")


class _Connection(AWSHTTPConnection):  # type: ignore[misc]
    response_class = WholeHead


class _TLSConnection(AWSHTTPSConnection):  # type: ignore[misc]
    response_class = WholeHead


class _Pool(AWSHTTPConnectionPool):  # type: ignore[misc]
    ConnectionCls = _Connection


class _TLSPool(AWSHTTPSConnectionPool):  # type: ignore[misc]
    ConnectionCls = _TLSConnection


def checked(client: Any) -> Any:
    """Make an S3 client reject invalid responses; return the client.

    Raise UnsupportedOperationException if this version of botocore does not allow it.
    """
    events = client.meta.events
    events.register_first("before-parse.s3", _check)
    # botocore waits forever for the rest of a truncated 100 Continue, and parses later headers
    # without this check.
    events.register_last("before-call.s3", _expect_nothing)
    try:
        client._endpoint.http_session._pool_classes_by_scheme.update(http=_Pool, https=_TLSPool)
    except AttributeError:
        raise UnsupportedOperationException("this version of botocore is not supported") from None
    return client


def _check(operation_model: Any, response_dict: dict[str, Any], **_: Any) -> None:
    status, headers = response_dict["status_code"], response_dict["headers"]
    if not 200 <= status < 300:
        return
    body, named = response_dict["body"], {name.lower(): headers[name] for name in headers}
    if operation_model.name != "GetObject":
        check_head(operation_model.name, status, named, body)
        return
    try:
        check_head(operation_model.name, status, named, b"")
    except BaseException:
        body.close()
        raise
    response_dict["headers"] = HeadersDict({n: named[n] for n in _OF_OBJECTS if n in named})


def _expect_nothing(params: dict[str, Any], **_: Any) -> None:
    params["headers"].pop("Expect", None)
