"""Download one range over several requests: retries, and one version of the object."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from fscontract.implementations.filesystem_base import free_in_children
from fscontract.implementations.s3.errors import (
    BodyCutException,
    ObjectLocation,
    RangeNotSatisfiableException,
    S3Exception,
    WrongAnswerException,
    changed,
)
from fscontract.implementations.s3.etags import header, plain, same
from fscontract.implementations.s3.object_reader import (
    Body,
    ByteRange,
    Cancellation,
    RangeSource,
    Request,
    RequestCounters,
)


class VersionPin:
    """One version of an object, from the first answer on if it is not known before.

    `declared` is how long its reader says it is, which ends it; `total` how long it is.
    """

    def __init__(
        self, etag: str | None = None, version: str | None = None, declared: int | None = None
    ) -> None:
        self.etag = plain(etag)
        self.version = version
        self.declared = declared
        self.total: int | None = None
        self._unnamed = False  # whether an answer without an ETag was admitted
        self._lock = free_in_children(threading.Lock())

    @property
    def length(self) -> int | None:
        """Where the reader's file ends, None if that is not known yet."""
        return self.total if self.declared is None else self.declared

    @property
    def if_match(self) -> str | None:
        """What to send as `If-Match`."""
        return header(self.etag)

    def end(self, stop: int | None) -> int | None:
        """Where reading up to `stop` ends at the latest, None if nothing is known of it."""
        known = [n for n in (stop, self.declared, self.total) if n is not None]
        return min(known) if known else None

    def admit(self, location: ObjectLocation, body: Body) -> None:
        """Check that an answer is of this version; the first one decides.

        RemoteFileChangedException. WrongAnswerException if only some answers name an ETag.
        """
        etag = plain(body.etag)
        with self._lock:
            if etag is None and self.etag is not None:
                raise WrongAnswerException(location, "the answer lacks ETag")
            if etag is not None and self._unnamed:
                raise WrongAnswerException(location, "the answer has an ETag, unlike others before")
            if etag is not None and self.etag is not None and not same(etag, self.etag):
                raise changed(location, self.etag, etag)
            self._compare(location, body.total)
            self.etag = self.etag or etag
            self._unnamed = self.etag is None

    def ends_at(self, location: ObjectLocation, total: int) -> None:
        """The store says how long the object is; RemoteFileChangedException as in `admit`."""
        with self._lock:
            self._compare(location, total)

    def forget(self) -> None:
        """Take whatever version the next answer is of."""
        with self._lock:
            self.etag = self.version = self.total = self.declared = None
            self._unnamed = False

    def _compare(self, location: ObjectLocation, total: int | None) -> None:
        if self.total is None:
            self.total = total
        elif total is not None and total != self.total:
            raise changed(location, f"{self.etag} of {self.total} bytes", f"of {total} bytes")


def admit(location: ObjectLocation, request: Request, body: Body, pin: VersionPin) -> None:
    """Check that a body holds what was asked for, and is of the version that the pin names.

    It may have more than that, or show that the object ends before. WrongAnswerException,
    RemoteFileChangedException.
    """
    if request.version is not None and body.version not in (None, request.version):
        raise WrongAnswerException(location, f"the answer is of version {body.version!r}")
    if not _fits(request.range, body):
        what = f"the answer holds {body.length} bytes from {body.offset} on, not those asked"
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

#: Seconds before the first retry; each further one waits up to twice as long.
BACKOFF = 0.05
#: The longest wait that the client chooses itself, and the longest that a store may ask for.
LONGEST_BACKOFF = 5.0
LONGEST_WAIT = 30.0


class Attempts:
    """What one call may still try."""

    def __init__(self, retries: int, cancel: Cancellation) -> None:
        self._retries = retries
        self._cancel = cancel
        self._failed = 0

    def failed(self, error: S3Exception) -> None:
        """Wait for the next attempt; raises `error` if there is none, or it would not help."""
        if not error.transient or self._failed >= self._retries or error.wait > LONGEST_WAIT:
            raise error
        pause = min(LONGEST_BACKOFF, BACKOFF * 2**self._failed) * random.uniform(0.5, 1.0)
        self._failed += 1
        self._cancel.wait(max(error.wait, pause))


def retrying(call: Callable[[], T], retries: int, cancel: Cancellation | None = None) -> T:
    """What `call` gives, or its last failure; InterruptedIOException once it is cancelled."""
    attempts = Attempts(retries, Cancellation() if cancel is None else cancel)
    while True:
        try:
            return call()
        except S3Exception as error:
            attempts.failed(error)


NOTHING = memoryview(b"")
#: A server that takes no notice of ranges sends what comes before them; more than so much of that
#: is not waited for.
_MOST_SKIPPED = 16 << 20
#: After so many bytes what failed before counts no more: a store that gives a byte an answer, and
#: breaks off, would otherwise be asked for every byte of a buffer.
_PROGRESS = 1 << 16


class Target(NamedTuple):
    """What a stream reads, from where, and what it may take."""

    bucket: str
    key: str
    source: RangeSource
    pin: VersionPin
    counters: RequestCounters
    retries: int


class Download:
    """Reads the bytes of `target` from `start` up to before `stop`, None for the end.

    A request that fails in a way that may pass is sent again, from the first byte that is missing
    on, and every answer is checked: that it is of the right version, holds the right bytes, and all
    of those that it announced. One thread at a time.
    """

    def __init__(self, target: Target, start: int, stop: int | None, cancel: Cancellation) -> None:
        self.position = start
        self.stop = stop
        self._target = target
        self._cancel = cancel
        self._body: Body | None = None
        self._skip = 0  # bytes of the body that come before the position
        self._left = 0  # bytes of the body from the position on that are wanted
        self._attempts: Attempts | None = None  # since something failed,
        self._failed_at = start  # at this position

    @property
    def end(self) -> int | None:
        """Where it ends at the latest, None as long as nothing is known of it."""
        return self._target.pin.end(self.stop)

    def chunk(self) -> memoryview:
        """The next bytes, as many as there are at hand; none at the end.

        S3Exception, RemoteFileChangedException, InterruptedIOException and others, with the
        position where it was. A call after that may try again as often as the first one.
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
        """Wait for the next attempt; raises `error` if there is none."""
        if self._attempts is None or self.position - self._failed_at >= _PROGRESS:
            self._attempts = Attempts(self._target.retries, self._cancel)
        self._failed_at = self.position
        try:
            self._attempts.failed(error)
        except BaseException:
            self._attempts = None
            raise

    def fill(self, view: memoryview) -> int:
        """Fill `view`; fewer bytes only at the end. Errors as in `chunk`."""
        count = 0
        while count < len(view):
            chunk = self.chunk()[: len(view) - count]
            if not chunk:
                break
            view[count : count + len(chunk)] = chunk
            count += len(chunk)
        return count

    def close(self) -> None:
        """Give the connection back; reading on makes a new request."""
        body, self._body = self._body, None
        if body is not None:
            body.close()

    def _next(self) -> memoryview:
        """Bytes of the body, none if it holds only what comes before those that are wanted."""
        assert self._body is not None
        chunk = self._body.chunk()
        self._target.counters.bytes(len(chunk))
        if not chunk:
            raise BodyCutException(self._location(), f"the body ended {self._left} bytes too early")
        skipped = min(self._skip, len(chunk))
        self._skip -= skipped
        chunk = chunk[skipped : skipped + self._left]
        self._left -= len(chunk)
        return chunk

    def begin(self, want: ByteRange | None) -> None:
        """Send one request for a range whose place the answer tells, and go on from there.

        RangeNotSatisfiableException, and as in `chunk`; for a download that has not begun.
        """
        body = self._body = self._get(want)
        self.position = body.offset
        self._left = body.length

    def _request(self) -> bool:
        """Send the next request; False if there is nothing more to ask for."""
        end = self.end
        if end is not None and self.position >= end:
            return False
        location = self._location()
        try:
            body = self._body = self._get(ByteRange(self.position, end))
        except RangeNotSatisfiableException as error:
            self._at_end(location, error)
            return False
        if body.total is not None and self.position >= body.total:  # asked for a range, got all
            self.close()
            return False
        self._skip = self.position - body.offset
        if self._skip > _MOST_SKIPPED:
            raise S3Exception(location, "the store takes no notice of ranges")
        self._left = body.length - self._skip
        end = self.end
        if end is not None:
            self._left = min(self._left, end - self.position)
        return self._left > 0

    def _get(self, want: ByteRange | None) -> Body:
        """Send one request; the answer has passed all checks."""
        target = self._target
        target.counters.request()
        pin = target.pin
        request = Request(target.key, want, pin.if_match, pin.version)
        body = target.source.get(request, self._cancel)
        target.counters.request(body.requests - 1)
        try:
            admit(ObjectLocation(target.bucket, target.key, want), request, body, pin)
        except BaseException:
            body.close()
            raise
        return body

    def _at_end(self, location: ObjectLocation, error: RangeNotSatisfiableException) -> None:
        """A 416 is an end if there really are no bytes, which the store has to say."""
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
