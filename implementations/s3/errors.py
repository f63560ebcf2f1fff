"""The ways in which a request to S3 fails, and which of them may pass."""

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
    """What a request was about: for messages."""

    bucket: str
    key: str
    range: ByteRange | None = None

    @property
    def path(self) -> str:
        """The path of the object in the filesystem of its bucket."""
        return f"/{self.key}"

    def says(self, what: str) -> str:
        """A message that names the range and the bucket; the path is added by the exception."""
        part = f" for {self.range}" if self.range is not None else ""
        return f"{what}{part} in bucket {self.bucket!r}"


class S3Exception(PathIOException):
    """A request that was not answered as it should be.

    `transient` says whether trying again may help, `wait` how many seconds the store asks to wait
    before, `status` what HTTP status it gave, if any.
    """

    transient = False
    wait = 0.0
    status: int | None = None

    def __init__(self, location: ObjectLocation, what: str) -> None:
        super().__init__(location.path, location.says(what))


class ThrottledException(S3Exception):
    """The store is busy (429, 503), and to be left alone for a while."""

    transient = True


class ServerErrorException(S3Exception):
    """The store has an error of its own (another 5xx)."""

    transient = True


class RequestTimeoutException(S3Exception, TimeoutError):
    """There was no answer, or no more of it, in time."""

    transient = True


class ConnectionFailedException(S3Exception, ConnectionError):
    """There was no connection, or it broke off."""

    transient = True


class BodyCutException(ConnectionFailedException):
    """The body ended before it should have."""


class WrongAnswerException(S3Exception):
    """The answer is damaged, or not the answer to the request (`answers.py`)."""

    transient = True


class RangeNotSatisfiableException(S3Exception):
    """The range begins at or after the end (416); `total` is the object's length, if told."""

    total: int | None = None


class UnfitTransportException(S3Exception):
    """The transport has no word for the key, or does not accept what the store answers."""

    #: How many requests were sent.
    sent = 0


class UnreadAnswerException(UnfitTransportException):
    """The transport does not accept an answer, which may be damaged; another one may accept it."""

    sent = 1
    transient = True


class NotPartialException(UnfitTransportException):
    """The store answers ranges in a way that the transport does not accept."""

    sent = 1


class NoCredentialsException(AccessControlException):
    """There is nothing to sign requests with."""


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
    """The exception for an HTTP status that is no success; `code` is S3's own word for it."""
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
    """S3's word for an error in the XML that comes with it, "" if there is none."""
    match = _CODE.search(text)
    return match[1] if match else ""


def total_in(text: str) -> int | None:
    """The object's length in the XML or the Content-Range of a 416, None if there is none."""
    match = _TOTAL.search(text)
    return int(match[1] or match[2]) if match else None


def changed(
    location: ObjectLocation, was: str | None, now: str | None
) -> RemoteFileChangedException:
    """The error for an answer that is of another version of the object."""
    return RemoteFileChangedException(
        location.path, location.says(f"the object was changed or replaced: etag {now}, not {was},")
    )
