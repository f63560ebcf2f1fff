"""Operations of an object store: abstract, with retries, and uploads of an object in parts."""

from __future__ import annotations

import hashlib
import io
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

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

# Hadoop's statistic names (StoreStatisticNames).
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

#: Maximum number of keys in one delete request.
BATCH = 1000
#: Maximum number of parts in an upload.
MOST_PARTS = 10_000


@dataclass(frozen=True)
class ObjectInfo:
    """Metadata of one object: length in bytes, etag without quotes, seconds since 1970."""

    key: str
    length: int
    etag: str | None = None
    version: str | None = None
    modified: float = 0.0


class Page(NamedTuple):
    """Part of a listing, sorted by key; `more` is the token of the next page, if any."""

    objects: tuple[ObjectInfo, ...]
    prefixes: tuple[str, ...] = ()
    more: str | None = None


class Written(NamedTuple):
    """Result of a write: the etag without quotes, and the version if the bucket has versions."""

    etag: str | None
    version: str | None = None


class Namespace(ABC):
    """Operations on the objects of a bucket, except reads. Each method sends one request once.

    Thread-safe. Raise exceptions of `errors.py`, and FileAlreadyExistsException if an object to be
    created exists.
    """

    @abstractmethod
    def head(self, key: str, version: str | None = None) -> ObjectInfo:
        """Return the metadata of a key; raise FileNotFoundException."""

    @abstractmethod
    def page(
        self, prefix: str, delimiter: str, after: str | None, more: str | None, limit: int
    ) -> Page:
        """List up to `limit` keys below a prefix, after the key `after`, or from token `more`."""

    @abstractmethod
    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """Write an object; if `create`, only if it does not exist."""

    @abstractmethod
    def begin(self, key: str) -> str:
        """Start a multipart upload; return its ID."""

    @abstractmethod
    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """Upload one part, numbered from 1; return its etag."""

    @abstractmethod
    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """Complete an upload from all parts; if `create`, only if the object does not exist."""

    @abstractmethod
    def abort(self, key: str, upload: str) -> None:
        """Drop all parts of an upload. Do nothing if the upload does not exist."""

    @abstractmethod
    def delete(self, keys: Sequence[str]) -> dict[str, PathIOException]:
        """Delete up to BATCH objects; return the errors of those that remain, by key."""

    @abstractmethod
    def copy(self, source: str, target: str, etag: str | None = None) -> Written:
        """Copy an object of up to 5 GiB with this etag; raise FileNotFoundException."""

    @abstractmethod
    def copy_part(
        self, source: ObjectInfo, target: str, upload: str, number: int, start: int, stop: int
    ) -> str:
        """Upload as a part the bytes of another object from `start` to `stop` (exclusive)."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections. A later request makes new ones."""


class Requests:
    """Request counters; counting is safe during a garbage collection."""

    def __init__(self) -> None:
        self._lock = free_in_children(threading.RLock())
        self._counts = dict.fromkeys(COUNTERS, 0)

    def count(self, name: str) -> None:
        """Count one request."""
        with self._lock:
            self._counts[name] += 1

    def snapshot(self) -> dict[str, int]:
        """Return a copy of all counts."""
        return dict(self._counts)


class ObjectStore:
    """Object store that retries, and splits operations that need several requests.

    `connected` returns the namespace; `count` is called with the statistic name of each request.
    """

    #: Largest object copied by one request, and part size for larger ones.
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
        """Return the metadata of a key; raise FileNotFoundException."""
        counters = (ACTION_HTTP_HEAD_REQUEST, OBJECT_METADATA_REQUESTS)
        return self._ask(counters, lambda store: store.head(key, version))

    def list(
        self,
        prefix: str,
        delimiter: str = "",
        after: str | None = None,
        limit: int = BATCH,
    ) -> Iterator[Page]:
        """Yield the keys below a prefix in pages of up to `limit`, requested on demand.

        With a delimiter, keys that contain it after the prefix are grouped into one prefix.
        """
        counter, more = OBJECT_LIST_REQUEST, None
        while True:
            page = self._ask((counter,), partial(_page, prefix, delimiter, after, more, limit))
            yield page
            if page.more is None:
                return
            counter, more = OBJECT_CONTINUE_LIST_REQUEST, page.more

    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """Write an object; raise FileAlreadyExistsException if `create` and the object exists."""
        return self._ask(
            (OBJECT_PUT_REQUEST,), lambda store: store.put(key, data, create), creating=create
        )

    def begin(self, key: str) -> str:
        """Start a multipart upload."""
        return self._ask((OBJECT_MULTIPART_UPLOAD_INITIATED,), lambda store: store.begin(key))

    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """Upload one part, numbered from 1; return its etag."""
        return self._ask((OBJECT_PUT_REQUEST,), lambda store: store.part(key, upload, number, data))

    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """Complete an upload from all parts. Raises as `put` does."""
        tried = 0

        def attempt(store: Namespace) -> Written:
            nonlocal tried
            tried += 1
            try:
                return store.complete(key, upload, etags, create)
            except FileNotFoundException:
                # An earlier attempt may have succeeded although its response was lost.
                present = store.head(key) if tried > 1 else None
                if present is None or present.etag != etag_of(etags):
                    raise
                return Written(present.etag, present.version)

        return self._ask((), attempt, creating=create)

    def abort(self, key: str, upload: str) -> None:
        """Drop all parts of an upload."""
        self._ask((OBJECT_MULTIPART_UPLOAD_ABORTED,), lambda store: store.abort(key, upload))

    def delete(self, keys: Sequence[str]) -> None:
        """Delete any number of objects; missing ones are ignored.

        Raise S3Exception, or another PathIOException, for the first object that remains; its
        message has the number of the others.
        """
        for start in range(0, len(keys), BATCH):
            left = list(keys[start : start + BATCH])
            self._ask((OBJECT_BULK_DELETE_REQUEST,), partial(_drop, left=left))
            for _ in keys[start : start + BATCH]:
                self._count(OBJECT_DELETE_OBJECTS)

    def copy(self, source: ObjectInfo, target: str) -> Written:
        """Copy this version of an object of any size; raise RemoteFileChangedException."""
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
        """Return the result of `call`; retry after transient errors."""
        lost = False

        def attempt() -> T:
            nonlocal lost
            for counter in counters:
                self._count(counter)
            try:
                return call(self._connected())
            except FileAlreadyExistsException as error:
                if lost and creating:
                    what = (
                        "the file already exists; an attempt whose response was lost may have "
                        "created it"
                    )
                    raise FileAlreadyExistsException(error.path, what) from None
                raise
            except S3Exception as error:
                lost = lost or error.status != 409  # a 409 means that nothing was done
                raise

        return retrying(attempt, self._retries)


def exists(location: ObjectLocation) -> FileAlreadyExistsException:
    """Return the error for creating an object that exists."""
    return FileAlreadyExistsException(location.path, location.says("the file already exists"))


def etag_of(parts: Sequence[str]) -> str | None:
    """Return the etag that S3 documents for an object of these parts; None if they don't fit."""
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
    """Delete the keys in `left`, keep the failed ones in it, and raise the error of one of them."""
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


#: Seconds that closing a file waits for its parts to be dropped.
_DROP_PATIENCE = 10.0


class Upload(io.RawIOBase):
    """Writer that buffers up to `part_size` bytes and uploads them as a part when more follow.

    `publish` makes the object visible; `abandon` drops all parts. Both may be called on a closed
    upload. If `create`, `publish` raises FileAlreadyExistsException if the object exists.
    """

    def __init__(self, store: ObjectStore, key: str, part_size: int, create: bool) -> None:
        super().__init__()
        self._store = store
        self._key = key
        self._part_size = part_size
        self._create = create
        self._waiting = bytearray()
        self._upload: str | None = None
        self._etags: list[str] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Take some bytes of `data`; return their number.

        A full part is uploaded before any bytes are taken, so a failed call may be repeated.
        """
        if self.closed:
            raise ValueError("the file is closed")
        if len(self._waiting) >= self._part_size:
            self._send()
        view = memoryview(data).cast("B")[: self._part_size - len(self._waiting)]
        self._waiting += view
        return len(view)

    def publish(self) -> None:
        """Make the object visible."""
        if self._upload is None:
            self._store.put(self._key, self._waiting, self._create)
        else:
            if self._waiting:
                self._send()
            self._store.complete(self._key, self._upload, self._etags, self._create)
        self._upload = None
        self._waiting = bytearray()

    def abandon(self) -> None:
        """Drop uploaded parts; ignore failures."""
        upload, self._upload = self._upload, None
        self._waiting = bytearray()
        if upload is not None:
            # Use a separate thread: a lost file is finalized wherever garbage is collected, and
            # this thread may hold the lock of a connection pool that the request needs.
            work = threading.Thread(target=self._abort, args=(upload,), daemon=True)
            with suppress(RuntimeError):  # the interpreter is shutting down
                work.start()
                work.join(_DROP_PATIENCE)

    def _abort(self, upload: str) -> None:
        with suppress(Exception):  # any error, because the upload has failed already
            self._store.abort(self._key, upload)

    def _send(self) -> None:
        number = len(self._etags) + 1
        if number > MOST_PARTS:
            raise PathIOException(
                f"/{self._key}",
                f"part_size is too small: {self._part_size} bytes; an upload has at most "
                f"{MOST_PARTS} parts",
            )
        if self._upload is None:
            self._upload = self._store.begin(self._key)
        self._etags.append(self._store.part(self._key, self._upload, number, self._waiting))
        self._waiting = bytearray()
