"""Requests through obstore: cancellable ranged GETs, other operations, and keys it can't name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar

import obstore

from fscontract.contract.api.errors import AccessControlException, PathIOException
from fscontract.implementations.s3.answers import required
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import (
    ConnectionFailedException,
    NotPartialException,
    ObjectLocation,
    RequestTimeoutException,
    S3Exception,
    UnfitTransportException,
    UnreadAnswerException,
    code_in,
    of_status,
    total_in,
)
from fscontract.implementations.s3.etags import plain
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


def nameable(key: str) -> bool:
    """Whether obstore takes a key for what it is."""
    if any(c < " " or c == "\x7f" for c in key):
        return False
    return all(element not in ("", ".", "..") for element in key.split("/"))


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
        self, source: ObstoreSource, location: ObjectLocation, result: Any, cancel: Cancellation
    ) -> None:
        start, stop = result.range
        self.offset, self.length = start, stop - start
        self.total = result.meta["size"]
        self.etag = result.meta["e_tag"]
        self.version = result.meta["version"]
        self._source = source
        self._location = location
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
        coming = self._coming or self._source.begin(self._location, self._next)
        self._coming = None
        chunk = memoryview(self._source.wait(self._location, coming, self._cancel) or _NOTHING)
        self._left -= len(chunk)
        if not chunk or self._left <= 0 or self.length <= _WHOLE:
            self._next = None
        more = self._next  # None, too, if it was closed meanwhile
        if more is not None:
            self._coming = self._source.begin(self._location, more)
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
        location = ObjectLocation(self._bucket, request.key, request.range)
        if not nameable(request.key):
            raise UnfitTransportException(location, "obstore has no word for such a key")
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
            location, lambda: obstore.get_async(store, request.key, options=options), cancel
        )
        return ObstoreBody(self, location, result, cancel)

    def run(
        self, location: ObjectLocation, begin: Callable[[], object], cancel: Cancellation
    ) -> Any:
        """What an awaitable gives, None for an iterator's end; its errors as ours."""
        return self.wait(location, self.begin(location, begin), cancel)

    def begin(self, location: ObjectLocation, begin: Callable[[], object]) -> Call:
        """Have an awaitable begin, for `wait` or `drop`."""
        try:
            return self._calls.begin(begin)
        except Forked:
            raise _forked(location) from None

    def drop(self, coming: Call) -> None:
        """End what was begun, and is not waited for."""
        self._calls.drop(coming)

    def wait(self, location: ObjectLocation, coming: Call, cancel: Cancellation) -> Any:
        """What an awaitable that has begun gives, as `run` has it."""
        try:
            answer = self._calls.wait(coming, cancel, self._timeout)
        except Forked:
            raise _forked(location) from None
        except TimeoutError:
            raise RequestTimeoutException(
                location, f"no answer within {self._timeout:g} s"
            ) from None
        if isinstance(answer, Failed):
            if isinstance(answer.error, StopAsyncIteration):
                return None
            raise failure(location, answer.error)
        return answer

    def close(self) -> None:
        """As the port has it; connections end with the store."""
        self._store = None
        self._calls.stop()


def _forked(location: ObjectLocation) -> OSError:
    return ConnectionFailedException(location, "the request was made before a fork")


def _range(want: ByteRange) -> Any:
    if want.start < 0:
        return {"suffix": -want.start}
    return {"offset": want.start} if want.stop is None else (want.start, want.stop)


def failure(location: ObjectLocation, error: BaseException) -> OSError:
    """One of our exceptions for one of obstore's, whose text has all it knows, and much more."""
    text = str(error)
    if isinstance(error, FileNotFoundError):
        return of_status(location, 404, code_in(text))
    if not isinstance(error, Exception) or isinstance(error, MemoryError):
        raise error
    if not isinstance(error, obstore.exceptions.BaseError):
        return S3Exception(location, f"{type(error).__name__} of obstore")
    match = _STATUS.search(text)
    if match is not None:
        return of_status(location, int(match[1]), code_in(text), total=total_in(text))
    named = type(error).__name__
    match = _TOO_LARGE.search(text)
    if match is not None:
        return of_status(location, 416, "by obstore", total=int(match[1]))
    match = _UNREAD.search(text)
    if match is not None:
        return UnreadAnswerException(location, f"the answer does not fit obstore ({match[1]})")
    if "non-partial" in text or "NotPartial" in text:
        return NotPartialException(
            location, "the store answers a range with another status than 206"
        )
    if named in ("PermissionDeniedError", "UnauthenticatedError") or "redential" in text:
        return AccessControlException(location.path, location.says("no access, or no credentials"))
    if "timed out" in text or "TimedOut" in text:
        return RequestTimeoutException(location, "no answer in time")
    kinds = ("HTTP error", "error sending request", "error decoding", "onnect", "IncompleteMessage")
    if any(kind in text for kind in kinds):
        return ConnectionFailedException(location, "no connection, or it broke off")
    return S3Exception(location, f"{named} of obstore")


T = TypeVar("T")


class ObstoreNamespace(Namespace):
    """The objects of a bucket; `other` makes the namespace for what obstore can't do."""

    def __init__(self, config: S3Config, other: Callable[[], Namespace]) -> None:
        self._bucket = config.bucket
        self._store: Any = obstore_store(config)
        self._make_other = other

    @cached_property
    def _other(self) -> Namespace:
        return self._make_other()

    def head(self, key: str, version: str | None = None) -> ObjectInfo:
        """As the port has it."""
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
            plain(meta["e_tag"]),
            meta["version"],
            meta["last_modified"].timestamp(),
        )

    def page(
        self, prefix: str, delimiter: str, after: str | None, more: str | None, limit: int
    ) -> Page:
        """As the port has it."""
        return self._other.page(prefix, delimiter, after, more, limit)

    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """As the port has it."""
        if not nameable(key):
            return self._other.put(key, data, create)
        location = ObjectLocation(self._bucket, key)
        mode: Literal["create", "overwrite"] = "create" if create else "overwrite"
        done = self._send(
            location,
            lambda: obstore.put(self._store, key, data, mode=mode, use_multipart=False),
        )
        etag = required(location, done, "e_tag")
        return Written(plain(etag), done["version"])

    def begin(self, key: str) -> str:
        """As the port has it."""
        return self._other.begin(key)

    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """As the port has it."""
        return self._other.part(key, upload, number, data)

    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """As the port has it."""
        return self._other.complete(key, upload, etags, create)

    def abort(self, key: str, upload: str) -> None:
        """As the port has it."""
        self._other.abort(key, upload)

    def delete(self, keys: Sequence[str]) -> dict[str, PathIOException]:
        """As the port has it."""
        return self._other.delete(keys)

    def copy(self, source: str, target: str, etag: str | None = None) -> Written:
        """As the port has it; obstore has no way to name the etag."""
        return self._other.copy(source, target, etag)

    def copy_part(
        self, source: ObjectInfo, target: str, upload: str, number: int, start: int, stop: int
    ) -> str:
        """As the port has it."""
        return self._other.copy_part(source, target, upload, number, start, stop)

    def close(self) -> None:
        """As the port has it; connections of obstore end when they have been idle for a while."""
        other = self.__dict__.pop("_other", None)
        if other is not None:
            other.close()

    def _send(self, location: ObjectLocation, call: Callable[[], T]) -> T:
        try:
            return call()
        except FileNotFoundError as error:
            failed: OSError = of_status(location, 404, code_in(str(error)))
        except obstore.exceptions.AlreadyExistsError as error:
            busy = "status code: 409" in str(error)  # somebody else is at it
            failed = of_status(location, 409, code_in(str(error))) if busy else exists(location)
        except Exception as error:
            failed = failure(location, error)
        raise failed  # not within `except`: the library's error says more than others may know
