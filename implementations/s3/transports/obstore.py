"""Ranged GETs through obstore, each of them one request that can be cancelled."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

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
from fscontract.implementations.s3.transports.loop import Forked, LoopThread

T = TypeVar("T")
#: Up to this many bytes a body is fetched whole, which saves going to and fro.
_WHOLE = 1 << 20
#: At least so many bytes of a longer body come at a time.
_CHUNK = 1 << 20
_NOTHING = memoryview(b"")
_STATUS = re.compile(r"status code: (\d{3})")

_TOO_LARGE = re.compile(r"StartTooLarge\s*\{\s*requested: \d+,\s*length: (\d+)")


class ObstoreBody(Body):
    """The answer to one GET."""

    def __init__(
        self, source: ObstoreSource, place: Place, found: _Found, cancel: Cancellation
    ) -> None:
        start, stop = found.range
        self.offset, self.length = start, stop - start
        self.total = found.meta["size"]
        self.etag = found.meta["e_tag"]
        self.version = found.meta["version"]
        self._source = source
        self._place = place
        self._cancel = cancel
        self._whole = found.whole
        self._rest = found.rest

    def chunk(self) -> memoryview:
        """As the port has it."""
        if self._whole is not None:
            whole, self._whole = self._whole, None
            return memoryview(whole)
        if self._rest is None:
            return _NOTHING
        chunk = self._source.run(self._place, partial(_next, self._rest), self._cancel)
        if chunk is None:
            self._rest = None
            return _NOTHING
        return memoryview(chunk)

    def close(self) -> None:
        """As the port has it."""
        self._whole = self._rest = None


class _Found:
    """What a GET found: facts, the range of the body, and the body or an iterator of it."""

    def __init__(self, result: Any) -> None:
        self.meta = result.meta
        self.range: tuple[int, int] = result.range
        self.whole: Any = None
        self.rest: AsyncIterator[Any] | None = None


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
        self._loop = LoopThread("fscontract-s3")

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """As the port has it."""
        place = Place(self._bucket, request.key, request.range)
        if not nameable(request.key):
            raise UnfitTransportException(place, "obstore has no word for such a key")
        options: dict[str, Any] = {}
        if request.range is not None:
            options["range"] = _range(request.range)
        if request.if_match is not None:
            options["if_match"] = request.if_match
        if request.version is not None:
            options["version"] = request.version
        store = self._store
        if store is None:
            store = self._store = obstore_store(self._config)
        found = self.run(place, partial(_get, store, request.key, options), cancel)
        return ObstoreBody(self, place, found, cancel)

    def run(
        self, place: Place, work: Callable[[], Coroutine[Any, Any, T]], cancel: Cancellation
    ) -> T:
        """What a coroutine gives, its errors as ours."""
        try:
            found = self._loop.run(_caught(work), cancel, self._timeout)
        except Forked:
            raise ConnectionFailedException(place, "the request was made before a fork") from None
        except TimeoutError:
            raise RequestTimeoutException(place, f"no answer within {self._timeout:g} s") from None
        if isinstance(found, _Caught):
            raise failure(place, found.error)
        return found

    def rest(self) -> None:
        """As the port has it."""
        self._loop.rest()

    def close(self) -> None:
        """As the port has it; connections end with the store."""
        self._store = None
        self._loop.stop()


class _Caught:
    """An error as a value: the event loop keeps what it has raised for longer than is good."""

    def __init__(self, error: Exception) -> None:
        self.error = error


async def _caught(work: Callable[[], Coroutine[Any, Any, T]]) -> T | _Caught:
    try:
        return await work()  # made here, since one that is cancelled at once would never be awaited
    except Exception as error:
        return _Caught(error)


async def _get(store: Any, key: str, options: Any) -> _Found:
    result = await obstore.get_async(store, key, options=options)
    found = _Found(result)
    if found.range[1] - found.range[0] <= _WHOLE:
        found.whole = await result.bytes_async()
    else:
        found.rest = result.stream(min_chunk_size=_CHUNK).__aiter__()
    return found


async def _next(rest: AsyncIterator[Any]) -> Any:
    try:
        return await rest.__anext__()
    except StopAsyncIteration:
        return None


def _range(want: ByteRange) -> Any:
    if want.start < 0:
        return {"suffix": -want.start}
    return {"offset": want.start} if want.stop is None else (want.start, want.stop)


def failure(place: Place, error: BaseException) -> OSError:
    """One of our exceptions for one of obstore's, whose text has all it knows, and much more."""
    text = str(error)
    if isinstance(error, FileNotFoundError):
        return of_status(place, 404, code_in(text))
    if not isinstance(error, obstore.exceptions.BaseError):
        raise error
    found = _STATUS.search(text)
    if found is not None:
        return of_status(place, int(found[1]), code_in(text), total=total_in(text))
    named = type(error).__name__
    found = _TOO_LARGE.search(text)
    if found is not None:
        return of_status(place, 416, "by obstore", total=int(found[1]))
    if "UnexpectedRange" in text:
        unfit = UnfitTransportException(place, "the store answers with another range")
        unfit.sent = 1
        return unfit
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
