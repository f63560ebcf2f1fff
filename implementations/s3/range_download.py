"""Download of one range over several requests, with retries, from one version of the object."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from fscontract.implementations.filesystem_base import free_in_children
from fscontract.implementations.s3.answers import if_match, plain_etag, same_etag
from fscontract.implementations.s3.errors import (
    BodyCutException,
    ObjectLocation,
    RangeNotSatisfiableException,
    S3Exception,
    WrongAnswerException,
    changed,
)
from fscontract.implementations.s3.object_reader import (
    Body,
    ByteRange,
    Cancellation,
    RangeSource,
    Request,
    RequestCounters,
)


class VersionPin:
    """One version of an object, from the first response on if not known before.

    `declared` is the length that the reader declares, which limits reading; `total` is the actual
    length.
    """

    def __init__(
        self, etag: str | None = None, version: str | None = None, declared: int | None = None
    ) -> None:
        self.etag = plain_etag(etag)
        self.version = version
        self.declared = declared
        self.total: int | None = None
        self._unnamed = False  # True after a response without an ETag was accepted
        self._lock = free_in_children(threading.Lock())

    @property
    def length(self) -> int | None:
        """Length of the reader's file, or None if unknown."""
        return self.total if self.declared is None else self.declared

    @property
    def if_match(self) -> str | None:
        """Value of the `If-Match` header."""
        return if_match(self.etag)

    def end(self, stop: int | None) -> int | None:
        """Return the last possible end of a read up to `stop`, or None if unknown."""
        known = [n for n in (stop, self.declared, self.total) if n is not None]
        return min(known) if known else None

    def admit(self, location: ObjectLocation, body: Body) -> None:
        """Check that a response is of this version; the first response defines the version.

        Raise RemoteFileChangedException, or WrongAnswerException if only some responses have an
        ETag.
        """
        etag = plain_etag(body.etag)
        with self._lock:
            if etag is None and self.etag is not None:
                raise WrongAnswerException(location, "missing ETag in the response")
            if etag is not None and self._unnamed:
                raise WrongAnswerException(
                    location, "unexpected ETag in the response: earlier responses had none"
                )
            if etag is not None and self.etag is not None and not same_etag(etag, self.etag):
                raise changed(location, self.etag, etag)
            self._compare(location, body.total)
            self.etag = self.etag or etag
            self._unnamed = self.etag is None

    def ends_at(self, location: ObjectLocation, total: int) -> None:
        """Record the object's length from the store; RemoteFileChangedException as in `admit`."""
        with self._lock:
            self._compare(location, total)

    def forget(self) -> None:
        """Accept any version in the next response."""
        with self._lock:
            self.etag = self.version = self.total = self.declared = None
            self._unnamed = False

    def _compare(self, location: ObjectLocation, total: int | None) -> None:
        if self.total is None:
            self.total = total
        elif total is not None and total != self.total:
            raise changed(location, f"{self.etag} of {self.total} bytes", f"of {total} bytes")


def admit(location: ObjectLocation, request: Request, body: Body, pin: VersionPin) -> None:
    """Check that a body holds the requested range of the pinned version.

    It may hold more, or show that the object ends earlier. Raise WrongAnswerException or
    RemoteFileChangedException.
    """
    if request.version is not None and body.version not in (None, request.version):
        raise WrongAnswerException(
            location,
            f"wrong version in the response: {body.version!r}, expected {request.version!r}",
        )
    if not _fits(request.range, body):
        what = (
            f"the response has {body.length} bytes at offset {body.offset}, not the requested range"
        )
        raise WrongAnswerException(location, what)
    pin.admit(location, body)


def _fits(want: ByteRange | None, body: Body) -> bool:
    stop, total = body.offset + body.length, body.total
    if body.offset < 0 or body.length < 0 or (total is not None and stop > total):
        return False
    if want is None:
        return body.offset == 0 and total in (None, stop)
    if want.start < 0:
        return stop == total
    return body.offset <= want.start < stop or (total is not None and total <= want.start)


T = TypeVar("T")

#: Seconds before the first retry; each further delay is up to twice as long.
BACKOFF = 0.05
#: Maximum backoff in seconds, and maximum delay that a store may request.
LONGEST_BACKOFF = 5.0
LONGEST_WAIT = 30.0


class Attempts:
    """Retry budget of one call."""

    def __init__(self, retries: int, cancel: Cancellation) -> None:
        self._retries = retries
        self._cancel = cancel
        self._failed = 0

    def failed(self, error: S3Exception) -> None:
        """Wait for the next attempt; raise `error` if none is left or a retry can't help."""
        if not error.transient or self._failed >= self._retries or error.wait > LONGEST_WAIT:
            raise error
        pause = min(LONGEST_BACKOFF, BACKOFF * 2**self._failed) * random.uniform(0.5, 1.0)
        self._failed += 1
        self._cancel.wait(max(error.wait, pause))


def retrying(call: Callable[[], T], retries: int, cancel: Cancellation | None = None) -> T:
    """Return the result of `call`, or raise its last failure.

    Raise InterruptedIOException once `cancel` was called.
    """
    attempts = Attempts(retries, Cancellation() if cancel is None else cancel)
    while True:
        try:
            return call()
        except S3Exception as error:
            attempts.failed(error)


NOTHING = memoryview(b"")
#: A server that ignores ranges sends the bytes before them; this is the most that is skipped.
_MOST_SKIPPED = 16 << 20
#: Bytes after which earlier failures no longer count. Otherwise a store that sends one byte per
#: response and disconnects would be retried for every byte of a buffer.
_PROGRESS = 1 << 16


class Target(NamedTuple):
    """Object that a stream reads, its source, and its limits."""

    bucket: str
    key: str
    source: RangeSource
    pin: VersionPin
    counters: RequestCounters
    retries: int


class Download:
    """Reads the bytes of `target` from `start` to `stop` (exclusive), or to EOF if None.

    Transient failures are retried from the first missing byte. Every response is checked for the
    version, the range, and the announced number of bytes. Not thread-safe.
    """

    def __init__(self, target: Target, start: int, stop: int | None, cancel: Cancellation) -> None:
        self.position = start
        self.stop = stop
        #: Seconds that the latest response took.
        self.delay = 0.0
        self._target = target
        self._cancel = cancel
        self._body: Body | None = None
        self._skip = 0  # bytes of the body before the position
        self._left = 0  # wanted bytes of the body from the position on
        self._attempts: Attempts | None = None  # since a failure
        self._failed_at = start  # position of that failure

    @property
    def end(self) -> int | None:
        """Last possible end of the download, or None if unknown."""
        return self._target.pin.end(self.stop)

    def chunk(self) -> memoryview:
        """Return the next available bytes; an empty view at EOF.

        Raise S3Exception, RemoteFileChangedException, InterruptedIOException and others, without
        moving the position. A later call has the full number of retries again.
        """
        while True:
            self._cancel.check()
            try:
                if self._body is None and not self._request():
                    return NOTHING
                chunk = self._next()
            except S3Exception as error:
                self.close()
                self._failed(error)
                continue
            except BaseException:
                self.close()
                raise
            if chunk:
                self.position += len(chunk)
                if not self._left:
                    self.close()
                return chunk

    def _failed(self, error: S3Exception) -> None:
        """Wait for the next attempt; raise `error` if none is left."""
        if self._attempts is None or self.position - self._failed_at >= _PROGRESS:
            self._attempts = Attempts(self._target.retries, self._cancel)
        self._failed_at = self.position
        try:
            self._attempts.failed(error)
        except BaseException:
            self._attempts = None
            raise

    def fill(self, view: memoryview) -> int:
        """Fill `view`; return fewer bytes only at EOF. Raises as `chunk` does."""
        count = 0
        while count < len(view):
            chunk = self.chunk()[: len(view) - count]
            if not chunk:
                break
            view[count : count + len(chunk)] = chunk
            count += len(chunk)
        return count

    def close(self) -> None:
        """Return the connection. Further reads send a new request."""
        body, self._body = self._body, None
        if body is not None:
            body.close()

    def _next(self) -> memoryview:
        """Return bytes of the body; an empty view if it holds only bytes before the position."""
        assert self._body is not None
        chunk = self._body.chunk()
        self._target.counters.bytes(len(chunk))
        if not chunk:
            raise BodyCutException(self._location(), f"the body ended {self._left} bytes early")
        skipped = min(self._skip, len(chunk))
        self._skip -= skipped
        chunk = chunk[skipped : skipped + self._left]
        self._left -= len(chunk)
        return chunk

    def begin(self, want: ByteRange | None) -> None:
        """Send one request for a range whose offset the response determines, and continue there.

        Only for a download that has not begun. Raise RangeNotSatisfiableException, and as `chunk`.
        """
        body = self._body = self._get(want)
        self.position = body.offset
        self._left = body.length

    def _request(self) -> bool:
        """Send the next request; return False if nothing is left to request."""
        end = self.end
        if end is not None and self.position >= end:
            return False
        location = self._location()
        try:
            body = self._body = self._get(ByteRange(self.position, end))
        except RangeNotSatisfiableException as error:
            self._at_end(location, error)
            return False
        # the request was for a range, the response has the whole object
        if body.total is not None and self.position >= body.total:
            self.close()
            return False
        self._skip = self.position - body.offset
        if self._skip > _MOST_SKIPPED:
            raise S3Exception(location, "the store ignores range requests")
        self._left = body.length - self._skip
        end = self.end
        if end is not None:
            self._left = min(self._left, end - self.position)
        return self._left > 0

    def _get(self, want: ByteRange | None) -> Body:
        """Send one request; return a response that passed all checks."""
        target = self._target
        target.counters.request()
        pin = target.pin
        request = Request(target.key, want, pin.if_match, pin.version)
        sent = time.monotonic()
        body = target.source.get(request, self._cancel)
        self.delay = time.monotonic() - sent
        target.counters.request(body.requests - 1)
        try:
            admit(ObjectLocation(target.bucket, target.key, want), request, body, pin)
        except BaseException:
            body.close()
            raise
        return body

    def _at_end(self, location: ObjectLocation, error: RangeNotSatisfiableException) -> None:
        """Treat a 416 as EOF only if the store reports a length that confirms it."""
        total = error.total
        if total is None and self._target.pin.total is None:
            body = self._get(None)
            total = body.total
            body.close()
        if total is None or self.position < total:
            raise error
        self._target.pin.ends_at(location, total)

    def _location(self) -> ObjectLocation:
        end = self.end
        want = None if end is not None and end <= self.position else ByteRange(self.position, end)
        return ObjectLocation(self._target.bucket, self._target.key, want)
