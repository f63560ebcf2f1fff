"""Ranged GETs through obstore, each of them one request that can be cancelled."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import obstore

from fscontract.contract.errors import AccessControlException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.failures import (
    ConnectionFailedException,
    NotPartialException,
    Place,
    RequestTimeoutException,
    S3Exception,
    UnfitTransportException,
    UnreadAnswerException,
    code_in,
    of_status,
    total_in,
)
from fscontract.implementations.s3.source import (
    Body,
    ByteRange,
    Cancellation,
    RangeSource,
    Request,
)
from fscontract.implementations.s3.transports.clients import obstore_store
from fscontract.implementations.s3.transports.keys import nameable
from fscontract.implementations.s3.transports.loop import Call, Calls, Failed, Forked

#: Up to this many bytes a body is fetched whole, which saves going to and fro.
_WHOLE = 1 << 20
#: At least so many bytes of a longer body come at a time.
_CHUNK = 1 << 20
_NOTHING = memoryview(b"")
_STATUS = re.compile(r"status code: (\d{3})")

_TOO_LARGE = re.compile(r"StartTooLarge\s*\{\s*requested: \d+,\s*length: (\d+)")
#: What obstore misses in the head of an answer, or does not understand there.
_UNREAD = re.compile(
    r"\bsource: (Header|Metadata|NoContentRange|ParseContentRange|UnexpectedRange)\b"
)


class ObstoreBody(Body):
    """The answer to one GET."""

    def __init__(
        self, source: ObstoreSource, place: Place, result: Any, cancel: Cancellation
    ) -> None:
        start, stop = result.range
        self.offset, self.length = start, stop - start
        self.total = result.meta["size"]
        self.etag = result.meta["e_tag"]
        self.version = result.meta["version"]
        self._source = source
        self._place = place
        self._cancel = cancel
        self._left = self.length
        # What makes an awaitable of the next bytes; None at the end.
        self._next: Callable[[], object] | None = None
        if self.length <= _WHOLE:
            self._next = result.bytes_async
        else:
            self._next = result.stream(min_chunk_size=_CHUNK).__anext__
        #: The next bytes, if they are on their way while those before them are read.
        self._coming: Call | None = None

    def chunk(self) -> memoryview:
        """As the port has it."""
        if self._next is None:
            return _NOTHING
        coming = self._coming or self._source.begin(self._place, self._next)
        self._coming = None
        chunk = memoryview(self._source.wait(self._place, coming, self._cancel) or _NOTHING)
        self._left -= len(chunk)
        if not chunk or self._left <= 0 or self.length <= _WHOLE:
            self._next = None
        more = self._next  # None, too, if it was closed meanwhile
        if more is not None:
            self._coming = self._source.begin(self._place, more)
        return chunk

    def close(self) -> None:
        """As the port has it."""
        coming, self._coming, self._next = self._coming, None, None
        if coming is not None:
            self._source.drop(coming)


class ObstoreSource(RangeSource):
    """The objects of a bucket, through `obstore.get_async`.

    Only that call sends `If-Match`. It neither tries again nor goes on by itself: so it is set up,
    because the client does that, and counts it.
    """

    def __init__(self, config: S3Config) -> None:
        self._bucket = config.bucket
        self._timeout = config.timeout
        self._config = config
        self._store: Any = None
        self._calls = Calls()

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """As the port has it."""
        place = Place(self._bucket, request.key, request.range)
        if not nameable(request.key):
            raise UnfitTransportException(place, "obstore has no word for such a key")
        options: Any = {}
        if request.range is not None:
            options["range"] = _range(request.range)
        if request.if_match is not None:
            options["if_match"] = request.if_match
        if request.version is not None:
            options["version"] = request.version
        store = self._store
        if store is None:
            store = self._store = obstore_store(self._config)
        result = self.run(
            place, lambda: obstore.get_async(store, request.key, options=options), cancel
        )
        return ObstoreBody(self, place, result, cancel)

    def run(self, place: Place, begin: Callable[[], object], cancel: Cancellation) -> Any:
        """What an awaitable gives, None for an iterator's end; its errors as ours."""
        return self.wait(place, self.begin(place, begin), cancel)

    def begin(self, place: Place, begin: Callable[[], object]) -> Call:
        """Have an awaitable begin, for `wait` or `drop`."""
        try:
            return self._calls.begin(begin)
        except Forked:
            raise _forked(place) from None

    def drop(self, coming: Call) -> None:
        """End what was begun, and is not waited for."""
        self._calls.drop(coming)

    def wait(self, place: Place, coming: Call, cancel: Cancellation) -> Any:
        """What an awaitable that has begun gives, as `run` has it."""
        try:
            found = self._calls.wait(coming, cancel, self._timeout)
        except Forked:
            raise _forked(place) from None
        except TimeoutError:
            raise RequestTimeoutException(place, f"no answer within {self._timeout:g} s") from None
        if isinstance(found, Failed):
            if isinstance(found.error, StopAsyncIteration):
                return None
            raise failure(place, found.error)
        return found

    def close(self) -> None:
        """As the port has it; connections end with the store."""
        self._store = None
        self._calls.stop()


def _forked(place: Place) -> OSError:
    return ConnectionFailedException(place, "the request was made before a fork")


def _range(want: ByteRange) -> Any:
    if want.start < 0:
        return {"suffix": -want.start}
    return {"offset": want.start} if want.stop is None else (want.start, want.stop)


def failure(place: Place, error: BaseException) -> OSError:
    """One of our exceptions for one of obstore's, whose text has all it knows, and much more."""
    text = str(error)
    if isinstance(error, FileNotFoundError):
        return of_status(place, 404, code_in(text))
    if not isinstance(error, Exception) or isinstance(error, MemoryError):
        raise error
    if not isinstance(error, obstore.exceptions.BaseError):
        return S3Exception(place, f"{type(error).__name__} of obstore")
    found = _STATUS.search(text)
    if found is not None:
        return of_status(place, int(found[1]), code_in(text), total=total_in(text))
    named = type(error).__name__
    found = _TOO_LARGE.search(text)
    if found is not None:
        return of_status(place, 416, "by obstore", total=int(found[1]))
    found = _UNREAD.search(text)
    if found is not None:
        return UnreadAnswerException(place, f"the answer does not fit obstore ({found[1]})")
    if "non-partial" in text or "NotPartial" in text:
        return NotPartialException(place, "the store answers a range with another status than 206")
    if named in ("PermissionDeniedError", "UnauthenticatedError") or "redential" in text:
        return AccessControlException(place.path, place.says("no access, or no credentials"))
    if "timed out" in text or "TimedOut" in text:
        return RequestTimeoutException(place, "no answer in time")
    kinds = ("HTTP error", "error sending request", "error decoding", "onnect", "IncompleteMessage")
    if any(kind in text for kind in kinds):
        return ConnectionFailedException(place, "no connection, or it broke off")
    return S3Exception(place, f"{named} of obstore")
