"""Heads of answers to boto3 that arrived as a whole.

Python's http.client takes the end of a connection for the end of a head: what came so far looks
like a right answer with fewer headers, or with a value cut short. Here that is a failed
connection, as it is in obstore.
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

#: After a line that is not a header http.client drops all others.
_DEFECTS = (FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect)
#: What a GET is judged and read by; nothing else of its head can fail to be parsed.
_OF_OBJECTS = ("content-length", "content-range", "etag", "x-amz-version-id")


class _Lines:
    """The lines of a head from a file; RemoteDisconnected where it ends before a line does."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.close: Callable[[], None] = file.close

    def readline(self, limit: int) -> bytes:
        """Return a line of up to `limit` bytes."""
        line: bytes = self._file.readline(limit)
        if len(line) < limit and not line.endswith(b"\n"):
            raise RemoteDisconnected("the connection ended within the head of an answer")
        return line


class WholeHead(HTTPResponse):
    """An answer whose head ends with an empty line, and has nothing but headers before."""

    def begin(self) -> None:
        """Read the head; HTTPException."""
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
            raise HTTPException("a line in the head of an answer is not a header")


class _Connection(AWSHTTPConnection):  # type: ignore[misc]
    response_class = WholeHead


class _TLSConnection(AWSHTTPSConnection):  # type: ignore[misc]
    response_class = WholeHead


class _Pool(AWSHTTPConnectionPool):  # type: ignore[misc]
    ConnectionCls = _Connection


class _TLSPool(AWSHTTPSConnectionPool):  # type: ignore[misc]
    ConnectionCls = _TLSConnection


def checked(client: Any) -> Any:
    """Return a client of S3 after it was made to refuse answers that do not fit.

    UnsupportedOperationException if this version of botocore can't be made to.
    """
    events = client.meta.events
    events.register_first("before-parse.s3", _check)
    # botocore waits for ever for the rest of a 100 that is cut, and reads later heads by itself.
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
