"""obstore transport: cancellable ranged GETs, and other operations with a fallback."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

import obstore

from fscontract.contract.api.errors import AccessControlException, PathIOException
from fscontract.implementations.s3.answers import plain_etag, required
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import (
    BodyCutException,
    ConnectionFailedException,
    NotPartialException,
    ObjectLocation,
    RequestTimeoutException,
    S3Exception,
    UnfitTransportException,
    UnreadAnswerException,
    WrongAnswerException,
    code_in,
    of_status,
    total_in,
)
from fscontract.implementations.s3.object_reader import (
    Body,
    ByteRange,
    Cancellation,
    RangeSource,
    Request,
)
from fscontract.implementations.s3.object_store import Namespace, ObjectInfo, Page, Written, exists
from fscontract.implementations.s3.transports.cancellable_loop import Call, Calls, Failed, Forked
from fscontract.implementations.s3.transports.clients import obstore_store

#: Keys with a control character, or with an element that is empty, "." or "..".
_UNNAMEABLE = re.compile(r"[\x00-\x1f\x7f]|(?:^|/)\.{0,2}(?:/|\Z)")


def nameable(key: str) -> bool:
    """Return True if obstore sends the key unchanged."""
    return _UNNAMEABLE.search(key) is None


#: Fetch bodies up to this size whole, which saves thread switches.
_WHOLE = 1 << 20
#: Minimum chunk size of longer bodies.
_CHUNK = 1 << 20
_NOTHING = memoryview(b"")
_STATUS = re.compile(r"status code: (\d{3})")

_TOO_LARGE = re.compile(r"StartTooLarge\s*\{\s*requested: \d+,\s*length: (\d+)")
#: Response headers that obstore misses or can't parse.
_UNREAD = re.compile(
    r"\bsource: (Header|Metadata|NoContentRange|ParseContentRange|UnexpectedRange)\b"
)


class ObstoreBody(Body):
    """Response to one GET."""

    def __init__(
        self,
        source: ObstoreSource,
        location: ObjectLocation,
        result: Any,
        cancel: Cancellation,
        data: Any = None,
    ) -> None:
        start, stop = result.range
        self.offset, self.length = start, stop - start
        meta = result.meta  # made anew for each access
        self.total = meta["size"]
        self.etag = meta["e_tag"]
        self.version = meta["version"]
        self._source = source
        self._location = location
        self._cancel = cancel
        self._left = self.length
        #: All bytes, or Failed, if they came with the response.
        self._data = data
        # Creates an awaitable of the next bytes; None at the end.
        self._next: Callable[[], object] | None = None
        if self.length <= _WHOLE:
            self._next = result.bytes_async
        else:
            self._next = result.stream(min_chunk_size=_CHUNK).__anext__
        #: The next bytes, if they are being fetched while the current ones are read.
        self._coming: Call | None = None

    def chunk(self) -> memoryview:
        """See the base class."""
        if self._next is None:
            return _NOTHING
        chunk = memoryview(self._take(self._next) or _NOTHING)
        self._check(len(chunk))
        self._left -= len(chunk)
        if not chunk or self._left <= 0 or self.length <= _WHOLE:
            self._next = None
        more = self._next  # also None if closed meanwhile
        if more is not None:
            self._coming = self._source.begin(self._location, more)
        return chunk

    def _take(self, following: Callable[[], object]) -> Any:
        """Return the next bytes, or None."""
        data, self._data = self._data, None
        if data is not None:
            return value(self._location, data)
        coming, self._coming = self._coming, None
        if coming is None:
            coming = self._source.begin(self._location, following)
        return self._source.wait(self._location, coming, self._cancel)

    def _check(self, count: int) -> None:
        """Check the number of bytes that came: obstore does not, and a proxy may compress them."""
        if self.length <= _WHOLE and count < self.length:
            raise BodyCutException(
                self._location, f"the body ended {self.length - count} bytes early"
            )
        if count > self._left:
            raise WrongAnswerException(self._location, "the body has more bytes than its range")

    def close(self) -> None:
        """See the base class."""
        coming, self._coming, self._next, self._data = self._coming, None, None, None
        if coming is not None:
            self._source.drop(coming)


class ObstoreSource(RangeSource):
    """Objects of a bucket, through `obstore.get` for short ranges, else `obstore.get_async`.

    Only these calls send `If-Match`. `obstore.get` can't be cancelled: its caller leaves, and the
    request ends by the timeout. obstore is configured neither to retry nor to resume a body:
    the caller does both, and counts the requests.
    """

    def __init__(self, config: S3Config) -> None:
        self._bucket = config.bucket
        self._timeout = config.timeout
        self._config = config
        self._store: Any = None
        self._calls = Calls()

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """See the base class."""
        location = ObjectLocation(self._bucket, request.key, request.range)
        if not nameable(request.key):
            raise UnfitTransportException(location, "obstore can't send this key")
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
        fetch = partial(_fetch, store, request.key, options)
        call = self._send(location, fetch) if _short(request.range) else None
        if call is not None:
            # Twice the limit, because the headers and the bytes may each take that long.
            result, data = self.wait(location, call, cancel, 2 * self._timeout)
            return ObstoreBody(self, location, result, cancel, data)
        result = self.run(
            location, lambda: obstore.get_async(store, request.key, options=options), cancel
        )
        return ObstoreBody(self, location, result, cancel)

    def _send(self, location: ObjectLocation, fetch: Callable[[], object]) -> Call | None:
        """Start a short request in another thread, which costs less than two awaitables.

        Return None if the process can't start a thread.
        """
        try:
            return self._calls.send(fetch)
        except Forked:
            raise _forked(location) from None
        except RuntimeError:  # too many threads, or the interpreter is exiting
            return None

    def run(
        self, location: ObjectLocation, begin: Callable[[], object], cancel: Cancellation
    ) -> Any:
        """Return the result of an awaitable, None when an iterator ends; convert errors."""
        return self.wait(location, self.begin(location, begin), cancel)

    def begin(self, location: ObjectLocation, begin: Callable[[], object]) -> Call:
        """Start an awaitable, for `wait` or `drop`."""
        try:
            return self._calls.begin(begin)
        except Forked:
            raise _forked(location) from None

    def drop(self, coming: Call) -> None:
        """Cancel an awaitable that was started and is not needed."""
        self._calls.drop(coming)

    def wait(
        self,
        location: ObjectLocation,
        coming: Call,
        cancel: Cancellation,
        seconds: float | None = None,
    ) -> Any:
        """Return the result of a started awaitable, as `run` does; wait up to the timeout."""
        try:
            answer = self._calls.wait(coming, cancel, seconds or self._timeout)
        except Forked:
            raise _forked(location) from None
        except TimeoutError:
            raise RequestTimeoutException(
                location, f"no response within {self._timeout:g} s"
            ) from None
        return value(location, answer)

    def close(self) -> None:
        """See the base class; connections are closed with the store."""
        self._store = None
        self._calls.stop()


def value(location: ObjectLocation, outcome: Any) -> Any:
    """Return the outcome of a call, None when an iterator ends; raise its converted error."""
    if isinstance(outcome, Failed):
        if isinstance(outcome.error, StopAsyncIteration):
            return None
        raise failure(location, outcome.error)
    return outcome


def _short(want: ByteRange | None) -> bool:
    """Return True if the response should have no more bytes than are fetched whole."""
    if want is None or (want.stop is None and want.start >= 0):
        return False
    return (-want.start if want.stop is None else want.stop - want.start) <= _WHOLE


def _fetch(store: Any, key: str, options: Any) -> tuple[Any, Any]:
    """Return a response and its bytes, or the error of reading them, or None if they are many."""
    result = obstore.get(store, key, options=options)
    start, stop = result.range
    if stop - start > _WHOLE:
        return result, None
    try:
        return result, result.bytes()
    except BaseException as error:
        return result, Failed(error)


def _forked(location: ObjectLocation) -> OSError:
    return ConnectionFailedException(location, "the request was sent before a fork")


def _range(want: ByteRange) -> Any:
    if want.start < 0:
        return {"suffix": -want.start}
    return {"offset": want.start} if want.stop is None else (want.start, want.stop)


def failure(location: ObjectLocation, error: BaseException) -> OSError:
    """Return an S3 exception for an obstore exception, whose text may contain secrets."""
    text = str(error)
    if isinstance(error, FileNotFoundError):
        return of_status(location, 404, code_in(text))
    if not isinstance(error, Exception) or isinstance(error, MemoryError):
        raise error
    if not isinstance(error, obstore.exceptions.BaseError):
        return S3Exception(location, f"{type(error).__name__} in obstore")
    match = _STATUS.search(text)
    if match is not None:
        return of_status(location, int(match[1]), code_in(text), total=total_in(text))
    named = type(error).__name__
    match = _TOO_LARGE.search(text)
    if match is not None:
        return of_status(location, 416, "by obstore", total=int(match[1]))
    match = _UNREAD.search(text)
    if match is not None:
        return UnreadAnswerException(location, f"obstore can't read the response ({match[1]})")
    if "non-partial" in text or "NotPartial" in text:
        return NotPartialException(
            location, "the store answered a range request with a status other than 206"
        )
    if named in ("PermissionDeniedError", "UnauthenticatedError") or "redential" in text:
        return AccessControlException(
            location.path, location.says("access denied, or no credentials")
        )
    if "timed out" in text or "TimedOut" in text:
        return RequestTimeoutException(location, "timeout without a response")
    kinds = ("HTTP error", "error sending request", "error decoding", "onnect", "IncompleteMessage")
    if any(kind in text for kind in kinds):
        return ConnectionFailedException(location, "connection failed or lost")
    return S3Exception(location, f"{named} in obstore")


T = TypeVar("T")


class ObstoreNamespace(Namespace):
    """Objects of a bucket; `other` creates the namespace for operations that obstore lacks."""

    def __init__(self, config: S3Config, other: Callable[[], Namespace]) -> None:
        self._bucket = config.bucket
        self._store: Any = obstore_store(config)
        self._make_other = other

    @cached_property
    def _other(self) -> Namespace:
        return self._make_other()

    def head(self, key: str, version: str | None = None) -> ObjectInfo:
        """See the base class."""
        if not nameable(key):
            return self._other.head(key, version)
        options: Any = {"head": True}
        if version is not None:
            options["version"] = version
        location = ObjectLocation(self._bucket, key)
        meta = self._send(location, lambda: obstore.get(self._store, key, options=options)).meta
        return ObjectInfo(
            key,
            meta["size"],
            plain_etag(meta["e_tag"]),
            meta["version"],
            meta["last_modified"].timestamp(),
        )

    def page(
        self, prefix: str, delimiter: str, after: str | None, more: str | None, limit: int
    ) -> Page:
        """See the base class."""
        return self._other.page(prefix, delimiter, after, more, limit)

    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """See the base class."""
        if not nameable(key):
            return self._other.put(key, data, create)
        location = ObjectLocation(self._bucket, key)
        mode: Literal["create", "overwrite"] = "create" if create else "overwrite"
        done = self._send(
            location,
            lambda: obstore.put(self._store, key, data, mode=mode, use_multipart=False),
        )
        etag = required(location, done, "e_tag")
        return Written(plain_etag(etag), done["version"])

    def begin(self, key: str) -> str:
        """See the base class."""
        return self._other.begin(key)

    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """See the base class."""
        return self._other.part(key, upload, number, data)

    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """See the base class."""
        return self._other.complete(key, upload, etags, create)

    def abort(self, key: str, upload: str) -> None:
        """See the base class."""
        self._other.abort(key, upload)

    def delete(self, keys: Sequence[str]) -> dict[str, PathIOException]:
        """See the base class."""
        return self._other.delete(keys)

    def copy(self, source: str, target: str, etag: str | None = None) -> Written:
        """Copy an object; with an etag use the other namespace, because obstore can't check it."""
        return self._other.copy(source, target, etag)

    def copy_part(
        self, source: ObjectInfo, target: str, upload: str, number: int, start: int, stop: int
    ) -> str:
        """See the base class."""
        return self._other.copy_part(source, target, upload, number, start, stop)

    def close(self) -> None:
        """See the base class; obstore closes connections after they have been idle."""
        other = self.__dict__.pop("_other", None)
        if other is not None:
            other.close()

    def _send(self, location: ObjectLocation, call: Callable[[], T]) -> T:
        try:
            return call()
        except FileNotFoundError as error:
            failed: OSError = of_status(location, 404, code_in(str(error)))
        except obstore.exceptions.AlreadyExistsError as error:
            busy = "status code: 409" in str(error)  # a concurrent request conflicts
            failed = of_status(location, 409, code_in(str(error))) if busy else exists(location)
        except Exception as error:
            failed = failure(location, error)
        raise failed  # not within `except`: the library's error may contain secrets
