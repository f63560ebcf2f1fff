"""The port to all of an object store but reading, and what persists where it fails."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from fscontract.contract.api.errors import (
    FileAlreadyExistsException,
    FileNotFoundException,
    PathIOException,
)
from fscontract.contract.api.iostatistics import ACTION_HTTP_HEAD_REQUEST, OBJECT_METADATA_REQUESTS
from fscontract.implementations.filesystem_base import free_in_children
from fscontract.implementations.s3.errors import ObjectLocation, S3Exception
from fscontract.implementations.s3.range_download import retrying

T = TypeVar("T")

# Hadoop's names (StoreStatisticNames) for what is counted here.
OBJECT_LIST_REQUEST = "object_list_request"
OBJECT_CONTINUE_LIST_REQUEST = "object_continue_list_request"
OBJECT_PUT_REQUEST = "object_put_request"
OBJECT_COPY_REQUESTS = "object_copy_requests"
OBJECT_BULK_DELETE_REQUEST = "object_bulk_delete_request"
OBJECT_DELETE_OBJECTS = "object_delete_objects"
OBJECT_MULTIPART_UPLOAD_INITIATED = "object_multipart_initiated"
OBJECT_MULTIPART_UPLOAD_ABORTED = "object_multipart_aborted"
COUNTERS = (
    ACTION_HTTP_HEAD_REQUEST,
    OBJECT_METADATA_REQUESTS,
    OBJECT_LIST_REQUEST,
    OBJECT_CONTINUE_LIST_REQUEST,
    OBJECT_PUT_REQUEST,
    OBJECT_COPY_REQUESTS,
    OBJECT_BULK_DELETE_REQUEST,
    OBJECT_DELETE_OBJECTS,
    OBJECT_MULTIPART_UPLOAD_INITIATED,
    OBJECT_MULTIPART_UPLOAD_ABORTED,
)

#: How many keys one request deletes at most.
BATCH = 1000
#: How many parts an upload may have.
MOST_PARTS = 10_000


@dataclass(frozen=True)
class ObjectInfo:
    """What the store says of one object: bytes, an etag without quotes, seconds since 1970."""

    key: str
    length: int
    etag: str | None = None
    version: str | None = None
    modified: float = 0.0


class Page(NamedTuple):
    """A part of a listing, in the order of keys; `more` is where the next one begins, if any."""

    objects: tuple[ObjectInfo, ...]
    prefixes: tuple[str, ...] = ()
    more: str | None = None


class Written(NamedTuple):
    """What an object became: its etag without quotes, and its version if there are versions."""

    etag: str | None
    version: str | None = None


class Namespace(ABC):
    """The objects of a bucket, but their content. Each method is one request, tried once.

    Safe with threads. Errors are those of `failures.py`; FileAlreadyExistsException where
    something is to be created, and there.
    """

    @abstractmethod
    def head(self, key: str, version: str | None = None) -> ObjectInfo:
        """What there is at a key; FileNotFoundException."""

    @abstractmethod
    def page(
        self, prefix: str, delimiter: str, after: str | None, more: str | None, limit: int
    ) -> Page:
        """Up to `limit` keys below a prefix, those after `after`, or from `more` of a page on."""

    @abstractmethod
    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """Write an object; if `create`, only where there is none."""

    @abstractmethod
    def begin(self, key: str) -> str:
        """Begin to write an object in parts; its name is for the other calls."""

    @abstractmethod
    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """Write one part, numbered from 1; its etag."""

    @abstractmethod
    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """Make an object of all parts; if `create`, only where there is none."""

    @abstractmethod
    def abort(self, key: str, upload: str) -> None:
        """Throw away all parts; nothing happens if there are none any more."""

    @abstractmethod
    def delete(self, keys: Sequence[str]) -> dict[str, PathIOException]:
        """Delete up to BATCH objects; the errors of those that stay, by key."""

    @abstractmethod
    def copy(self, source: str, target: str, etag: str | None = None) -> Written:
        """Copy an object of up to 5 GiB, of this etag; FileNotFoundException."""

    @abstractmethod
    def copy_part(
        self, source: ObjectInfo, target: str, upload: str, number: int, start: int, stop: int
    ) -> str:
        """As `part`, of the bytes of another object from `start` up to before `stop`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all connections; a later request gets new ones."""


class Requests:
    """Counts of requests, which may be counted in the midst of a garbage collection, too."""

    def __init__(self) -> None:
        self._lock = free_in_children(threading.RLock())
        self._counts = dict.fromkeys(COUNTERS, 0)

    def count(self, name: str) -> None:
        """One more."""
        with self._lock:
            self._counts[name] += 1

    def snapshot(self) -> dict[str, int]:
        """All counts as they are now."""
        return dict(self._counts)


class ObjectStore:
    """A namespace that tries again, and does in several requests what one can't do.

    `connected` gives the namespace, `count` is told of each request by its counter.
    """

    #: The largest object that one request copies, and the parts of larger ones.
    copy_limit = 5 << 30
    copy_part = 1 << 30

    def __init__(
        self,
        bucket: str,
        connected: Callable[[], Namespace],
        retries: int,
        count: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.bucket = bucket
        self._connected = connected
        self._retries = retries
        self._count = count

    def head(self, key: str, version: str | None = None) -> ObjectInfo:
        """What there is at a key; FileNotFoundException."""
        counters = (ACTION_HTTP_HEAD_REQUEST, OBJECT_METADATA_REQUESTS)
        return self._ask(counters, lambda store: store.head(key, version))

    def list(
        self,
        prefix: str,
        delimiter: str = "",
        after: str | None = None,
        limit: int = BATCH,
    ) -> Iterator[Page]:
        """The keys below a prefix in pages of up to `limit`, each asked for when it is wanted.

        With a delimiter, keys that have it after the prefix are one prefix up to there.
        """
        counter, more = OBJECT_LIST_REQUEST, None
        while True:
            page = self._ask((counter,), partial(_page, prefix, delimiter, after, more, limit))
            yield page
            if page.more is None:
                return
            counter, more = OBJECT_CONTINUE_LIST_REQUEST, page.more

    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """Write an object; FileAlreadyExistsException if `create`, and there is one."""
        return self._ask(
            (OBJECT_PUT_REQUEST,), lambda store: store.put(key, data, create), creating=create
        )

    def begin(self, key: str) -> str:
        """Begin to write an object in parts."""
        return self._ask((OBJECT_MULTIPART_UPLOAD_INITIATED,), lambda store: store.begin(key))

    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """Write one part, numbered from 1; its etag."""
        return self._ask((OBJECT_PUT_REQUEST,), lambda store: store.part(key, upload, number, data))

    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """Make an object of all parts; errors as in `put`."""
        tried = 0

        def attempt(store: Namespace) -> Written:
            nonlocal tried
            tried += 1
            try:
                return store.complete(key, upload, etags, create)
            except FileNotFoundException:
                # An earlier attempt may have done it, and its answer been lost.
                present = store.head(key) if tried > 1 else None
                if present is None or present.etag != etag_of(etags):
                    raise
                return Written(present.etag, present.version)

        return self._ask((), attempt, creating=create)

    def abort(self, key: str, upload: str) -> None:
        """Throw away all parts of an upload."""
        self._ask((OBJECT_MULTIPART_UPLOAD_ABORTED,), lambda store: store.abort(key, upload))

    def delete(self, keys: Sequence[str]) -> None:
        """Delete any number of objects, those too that are not there.

        S3Exception, or another PathIOException, for the first that stays; it says how many do.
        """
        for start in range(0, len(keys), BATCH):
            left = list(keys[start : start + BATCH])
            self._ask((OBJECT_BULK_DELETE_REQUEST,), partial(_drop, left=left))
            for _ in keys[start : start + BATCH]:
                self._count(OBJECT_DELETE_OBJECTS)

    def copy(self, source: ObjectInfo, target: str) -> Written:
        """Copy this version of an object, of any size; RemoteFileChangedException."""
        if source.length <= self.copy_limit:
            return self._ask(
                (OBJECT_COPY_REQUESTS,),
                lambda store: store.copy(source.key, target, source.etag),
            )
        upload = self.begin(target)
        try:
            etags = [
                self._copy_part(source, target, upload, number, start)
                for number, start in enumerate(range(0, source.length, self.copy_part), 1)
            ]
            return self.complete(target, upload, etags)
        except BaseException:
            self.abort(target, upload)
            raise

    def _copy_part(
        self, source: ObjectInfo, target: str, upload: str, number: int, start: int
    ) -> str:
        stop = min(start + self.copy_part, source.length)
        return self._ask(
            (OBJECT_COPY_REQUESTS,),
            lambda store: store.copy_part(source, target, upload, number, start, stop),
        )

    def _ask(
        self,
        counters: Sequence[str],
        call: Callable[[Namespace], T],
        creating: bool = False,
    ) -> T:
        """What a call gives, tried again after what may pass."""
        lost = False

        def attempt() -> T:
            nonlocal lost
            for counter in counters:
                self._count(counter)
            try:
                return call(self._connected())
            except FileAlreadyExistsException as error:
                if lost and creating:
                    what = "the file exists, made perhaps by an attempt whose answer was lost"
                    raise FileAlreadyExistsException(error.path, what) from None
                raise
            except S3Exception as error:
                lost = lost or error.status != 409  # which says that nothing was done
                raise

        return retrying(attempt, self._retries)


def exists(location: ObjectLocation) -> FileAlreadyExistsException:
    """The error for creating what exists."""
    return FileAlreadyExistsException(location.path, location.says("the file exists"))


def etag_of(parts: Sequence[str]) -> str | None:
    """The etag of an object of these parts, if they are what S3 documents; else None."""
    try:
        whole = b"".join(bytes.fromhex(etag) for etag in parts)
    except ValueError:
        return None
    return f"{hashlib.md5(whole, usedforsecurity=False).hexdigest()}-{len(parts)}"


def _page(
    prefix: str, delimiter: str, after: str | None, more: str | None, limit: int, store: Namespace
) -> Page:
    return store.page(prefix, delimiter, after, more, limit)


def _drop(store: Namespace, left: list[str]) -> None:
    """Delete what is `left`, and keep there what was not deleted; the error of one of those."""
    errors = {
        key: error
        for key, error in store.delete(left).items()
        if not isinstance(error, FileNotFoundException)
    }
    left[:] = errors
    if not errors:
        return
    failed = next((e for e in errors.values() if not getattr(e, "transient", False)), None)
    if failed is None:
        failed = next(iter(errors.values()))
    if len(errors) > 1:
        failed.args = (*failed.args[:-1], f"{failed.args[-1]}, and {len(errors) - 1} others")
    raise failed
