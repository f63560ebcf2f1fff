"""All of an object store but reading, through obstore where that can be relied on.

It takes "d/" for "d", can't name a key such as "a//b" or one with a control character, and gives
up a listing that has one; it neither reports errors key by key nor shows the parts of an upload.
All that goes through boto3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar

import obstore

from fscontract.contract.errors import PathIOException
from fscontract.implementations.s3.answers import required
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.etags import plain
from fscontract.implementations.s3.failures import Place, code_in, of_status
from fscontract.implementations.s3.store import (
    Namespace,
    ObjectInfo,
    Page,
    Written,
    exists,
)
from fscontract.implementations.s3.transports.clients import obstore_store
from fscontract.implementations.s3.transports.keys import nameable
from fscontract.implementations.s3.transports.obstore import failure

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
        place = Place(self._bucket, key)
        found = self._send(place, lambda: obstore.get(self._store, key, options=options)).meta
        return ObjectInfo(
            key,
            found["size"],
            plain(found["e_tag"]),
            found["version"],
            found["last_modified"].timestamp(),
        )

    def page(
        self, prefix: str, delimiter: str, after: str | None, more: str | None, most: int
    ) -> Page:
        """As the port has it."""
        return self._other.page(prefix, delimiter, after, more, most)

    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """As the port has it."""
        if not nameable(key):
            return self._other.put(key, data, create)
        place = Place(self._bucket, key)
        mode: Literal["create", "overwrite"] = "create" if create else "overwrite"
        done = self._send(
            place,
            lambda: obstore.put(self._store, key, data, mode=mode, use_multipart=False),
        )
        etag = required(place, done, "e_tag")
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

    def _send(self, place: Place, call: Callable[[], T]) -> T:
        try:
            return call()
        except FileNotFoundError as error:
            failed: OSError = of_status(place, 404, code_in(str(error)))
        except obstore.exceptions.AlreadyExistsError as error:
            busy = "status code: 409" in str(error)  # somebody else is at it
            failed = of_status(place, 409, code_in(str(error))) if busy else exists(place)
        except Exception as error:
            failed = failure(place, error)
        raise failed  # not within `except`: the library's error says more than others may know
