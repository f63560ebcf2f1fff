"""The options of `open_file`, and the builder that collects them (fsdatainputstreambuilder)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass
from posixpath import basename

from fscontract.contract.errors import IllegalArgumentException
from fscontract.contract.ports import (
    FileStatus,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
)

_PREFIX = "fs.option.openfile."
BUFFER_SIZE = _PREFIX + "buffer.size"
READ_POLICY = _PREFIX + "read.policy"
LENGTH = _PREFIX + "length"
SPLIT_START = _PREFIX + "split.start"
SPLIT_END = _PREFIX + "split.end"
FOOTER_CACHE = _PREFIX + "footer.cache"
STANDARD_KEYS = frozenset({BUFFER_SIZE, READ_POLICY, LENGTH, SPLIT_START, SPLIT_END, FOOTER_CACHE})
#: The read policies; the first known one of a list is used.
READ_POLICIES = frozenset(
    {
        "adaptive",
        "avro",
        "columnar",
        "csv",
        "default",
        "hbase",
        "json",
        "orc",
        "parquet",
        "random",
        "sequential",
        "vector",
        "whole-file",
    }
)
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_MOST = 2**63 - 1


@dataclass(frozen=True)
class OpenOptions:
    """What an open was asked for; None is unset. Sizes and positions are in bytes."""

    buffer_size: int | None = None
    read_policy: str | None = None
    length: int | None = None
    split_start: int | None = None
    split_end: int | None = None
    footer_cache: bool | None = None
    status: FileStatus | None = None


class Builder(FutureDataInputStreamBuilder):
    """Collects options for `path` and hands them to `opener` in `build`.

    `known` are the filesystem's own keys. Every method raises IllegalArgumentException for a
    key or a value that is None.
    """

    def __init__(
        self,
        path: str,
        opener: Callable[[str, OpenOptions], FSDataInputStream],
        known: Collection[str] = (),
    ) -> None:
        self._path = path
        self._opener = opener
        self._known = STANDARD_KEYS.union(known)
        self._values: dict[str, str] = {}
        self._mandatory: set[str] = set()
        self._status: FileStatus | None = None

    def opt(self, key: str, value: str | int | bool) -> Builder:
        """Set an option that is ignored if it is not known."""
        self._set(key, value)
        self._mandatory.discard(key)
        return self

    def must(self, key: str, value: str | int | bool) -> Builder:
        """Set an option that `build` rejects if it is not known."""
        self._set(key, value)
        self._mandatory.add(key)
        return self

    def opt_long(self, key: str, value: int) -> Builder:
        """`opt` for a whole number."""
        return self.opt(key, value)

    def must_long(self, key: str, value: int) -> Builder:
        """`must` for a whole number."""
        return self.must(key, value)

    def opt_double(self, key: str, value: float) -> Builder:
        """`opt` for a floating-point number: its whole part."""
        return self.opt(key, _whole(value))

    def must_double(self, key: str, value: float) -> Builder:
        """`must` for a floating-point number: its whole part."""
        return self.must(key, _whole(value))

    def buffer_size(self, size: int) -> Builder:
        """Set the read buffer's size in bytes: `opt` of its standard key."""
        return self.opt(BUFFER_SIZE, size)

    def with_file_status(self, status: FileStatus | None) -> Builder:
        """Give what a listing said; only the last element of its path must match `path`."""
        self._status = status
        return self

    def build(self) -> Future[FSDataInputStream]:
        """Open the file; IllegalArgumentException for a mandatory key that is not known."""
        unknown = sorted(self._mandatory - self._known)
        if unknown:
            allowed = ", ".join(sorted(self._known))
            raise IllegalArgumentException(f"unknown option {unknown[0]!r}; known: {allowed}")
        options = self._options()
        future: Future[FSDataInputStream] = Future()
        try:
            _check_name(self._path, options.status)
            future.set_result(self._opener(self._path, options))
        except Exception as error:  # the contract puts every failure in the future
            future.set_exception(error)
        return future

    def _set(self, key: str, value: str | int | bool) -> None:
        if key is None or value is None:
            raise IllegalArgumentException(f"option {key!r} needs a key and a value")
        self._values[key] = str(value).lower() if isinstance(value, bool) else str(value)

    def _options(self) -> OpenOptions:
        start, end = self._number(SPLIT_START), self._number(SPLIT_END)
        if start is not None and end is not None and start > end:
            start = 0
        return OpenOptions(
            buffer_size=self._number(BUFFER_SIZE),
            read_policy=self._policy(),
            length=self._number(LENGTH),
            split_start=start,
            split_end=end,
            footer_cache=self._boolean(FOOTER_CACHE),
            status=self._status,
        )

    def _number(self, key: str) -> int | None:
        text = self._values.get(key, "").strip()
        value = int(text) if _NUMBER.fullmatch(text) else -1
        return value if 0 <= value <= _MOST else None

    def _boolean(self, key: str) -> bool | None:
        return {"true": True, "false": False}.get(self._values.get(key, "").strip().lower())

    def _policy(self) -> str | None:
        names = (name.strip().lower() for name in self._values.get(READ_POLICY, "").split(","))
        return next((name for name in names if name in READ_POLICIES), None)


def _whole(value: float) -> int | str:
    """A Java double cast to long; what is not finite stays text, and so counts as unset."""
    if not math.isfinite(value):
        return str(value)
    return max(-_MOST - 1, min(_MOST, int(value)))


def _check_name(path: str, status: FileStatus | None) -> None:
    if status is not None and basename(status.path.rstrip("/")) != basename(path):
        raise IllegalArgumentException(
            f"the status of {status.path!r} does not belong to {path!r}: the names differ"
        )
