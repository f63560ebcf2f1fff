"""Exceptions for failed S3 requests; transient ones can be retried."""

from __future__ import annotations

import re
from typing import NamedTuple

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.implementations.s3.object_reader import ByteRange


class ObjectLocation(NamedTuple):
    """Location of a request: bucket, key and range, for error messages."""

    bucket: str
    key: str
    range: ByteRange | None = None

    @property
    def path(self) -> str:
        """Path of the object in the filesystem of its bucket."""
        return f"/{self.key}"

    def says(self, what: str) -> str:
        """Return a message with the range and the bucket; the exception adds the path."""
        part = f" for {self.range}" if self.range is not None else ""
        return f"{what}{part} in bucket {self.bucket!r}"


class S3Exception(PathIOException):
    """A failed S3 request.

    `transient` is True if a retry may help, `wait` is the delay in seconds that the store
    requested, `status` is the HTTP status, if any.
    """

    transient = False
    wait = 0.0
    status: int | None = None

    def __init__(self, location: ObjectLocation, what: str) -> None:
        super().__init__(location.path, location.says(what))


class ThrottledException(S3Exception):
    """The store is throttling (429, 503); retry after a delay."""

    transient = True


class ServerErrorException(S3Exception):
    """The store failed with an internal error (another 5xx)."""

    transient = True


class RequestTimeoutException(S3Exception, TimeoutError):
    """The response, or the rest of it, did not arrive in time."""

    transient = True


class ConnectionFailedException(S3Exception, ConnectionError):
    """The connection failed or was lost."""

    transient = True


class BodyCutException(ConnectionFailedException):
    """The body ended early."""


class WrongAnswerException(S3Exception):
    """The response is damaged or belongs to another request; see `answers.py`."""

    transient = True


class RangeNotSatisfiableException(S3Exception):
    """The range begins at or past EOF (416); `total` is the object's length, if known."""

    total: int | None = None


class UnfitTransportException(S3Exception):
    """The transport can't send the key or does not accept the store's response."""

    #: Number of requests sent.
    sent = 0


class UnreadAnswerException(UnfitTransportException):
    """The transport rejected a response that may be damaged; another transport may accept it."""

    sent = 1
    transient = True


class NotPartialException(UnfitTransportException):
    """The transport does not accept the store's responses to range requests."""

    sent = 1


class NoCredentialsException(AccessControlException):
    """No credentials are available to sign requests."""


_THROTTLING = frozenset({429, 503})
_TIMEOUTS = frozenset({408, 504})
_CONFLICTS = frozenset({409})
_TOTAL = re.compile(r"bytes \*/([0-9]{1,19})|<ActualObjectSize>([0-9]{1,19})</ActualObjectSize>")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")


def of_status(
    location: ObjectLocation,
    status: int,
    code: str = "",
    wait: float = 0.0,
    total: int | None = None,
) -> PathIOException:
    """Return the exception for an HTTP error status; `code` is the S3 error code."""
    what = f"{status} {code}".strip()
    if status == 404:
        return FileNotFoundException(location.path, location.says(what))
    if status in (401, 403):
        return AccessControlException(location.path, location.says(what))
    if status == 412:
        return RemoteFileChangedException(
            location.path, location.says(f"{what}: the object was changed or replaced")
        )
    error: S3Exception
    if status == 416:
        error = RangeNotSatisfiableException(location, what)
        error.total = total
    elif status in _THROTTLING:
        error = ThrottledException(location, what)
        error.wait = wait
    elif status in _TIMEOUTS:
        error = RequestTimeoutException(location, what)
    elif status >= 500:
        error = ServerErrorException(location, what)
    else:
        error = S3Exception(location, what)
        error.transient = status in _CONFLICTS
    error.status = status
    return error


def code_in(text: str) -> str:
    """Return the S3 error code of an XML error response, or "" if there is none."""
    match = _CODE.search(text)
    return match[1] if match else ""


def total_in(text: str) -> int | None:
    """Return the object's length from the XML or Content-Range of a 416, or None."""
    match = _TOTAL.search(text)
    return int(match[1] or match[2]) if match else None


def changed(
    location: ObjectLocation, was: str | None, now: str | None
) -> RemoteFileChangedException:
    """Return the error for a response with another version of the object."""
    return RemoteFileChangedException(
        location.path,
        location.says(f"the object was changed or replaced: expected etag {was}, got {now},"),
    )
