"""Builder of openFile(), propagation of job options, and waiting for the stream."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException, UnsupportedOperationException
from fscontract.contract.api.filesystem import FileStatus, FutureDataInputStreamBuilder, S
from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    JOB_MANDATORY,
    JOB_OPTIONAL,
    Option,
    Value,
    option_table,
)

T = TypeVar("T")


def propagate_options(
    builder: FutureDataInputStreamBuilder[Any],
    configuration: Mapping[str, str],
    optional_prefix: str = JOB_OPTIONAL,
    mandatory_prefix: str = JOB_MANDATORY,
) -> None:
    """Set the options below the prefixes: first `opt` for one, then `must` for the other.

    A key below both prefixes is therefore mandatory. A prefix may lack its final dot. (Passing
    options in to MapReduce)
    """
    for prefix, setter in ((optional_prefix, builder.opt), (mandatory_prefix, builder.must)):
        start = f"{prefix.rstrip('.')}."
        for key, value in configuration.items():
            if key.startswith(start):
                setter(key.removeprefix(start), value)


def await_future(future: Future[T], timeout: float | None = None) -> T:
    """Return the future's result, or raise its exception; TimeoutError after `timeout` seconds.

    None waits forever. The open continues after a TimeoutError, so the future can be awaited again.
    """
    if not wait([future], timeout).done:
        raise TimeoutError(f"timeout: no result within {timeout} seconds")
    return future.result()


#: A sign, leading zeros, and up to the number of digits of a 64-bit number.
_NUMBER = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_MAXIMA = {"long": 2**63 - 1, "int": 2**31 - 1}


@dataclass(frozen=True)
class OpenOptions:
    """Options of an open; None is unset. Sizes and positions are in bytes."""

    buffer_size: int | None = None
    read_policy: str | None = None
    #: The file's length, from the status if there is one.
    length: int | None = None
    split_start: int | None = None
    split_end: int | None = None
    footer_cache: bool | None = None
    status: FileStatus | None = None
    #: Keys specific to the filesystem.
    own: Mapping[str, Value] = field(default_factory=dict)

    @property
    def etag(self) -> str | None:
        """ETag of the version in the status, or None."""
        return getattr(self.status, "etag", None)


class Builder(FutureDataInputStreamBuilder[S]):
    """Collects options for `path` and passes them to `opener` in `build`.

    `known` are the filesystem's own keys, `unsupported` those that it recognises but does not
    support. Every method raises IllegalArgumentException for a key or a value that is None.
    """

    def __init__(
        self,
        path: str,
        opener: Callable[[str, OpenOptions], S],
        known: Collection[str] = (),
        unsupported: Collection[str] = (),
    ) -> None:
        self._path = path
        self._opener = opener
        self._known = known
        self._unsupported = unsupported
        self._values: dict[str, str] = {}
        self._mandatory: set[str] = set()
        self._status: FileStatus | None = None

    def opt(self, key: str, value: str | int | bool) -> Builder[S]:
        """Set an option that is ignored if unknown."""
        self._set(key, value)
        self._mandatory.discard(key)
        return self

    def must(self, key: str, value: str | int | bool) -> Builder[S]:
        """Set an option that `build` rejects if unknown."""
        self._set(key, value)
        self._mandatory.add(key)
        return self

    def opt_long(self, key: str, value: int) -> Builder[S]:
        """Call `opt` with a whole number."""
        return self.opt(key, value)

    def must_long(self, key: str, value: int) -> Builder[S]:
        """Call `must` with a whole number."""
        return self.must(key, value)

    def opt_double(self, key: str, value: float) -> Builder[S]:
        """Call `opt` with the whole part of a floating-point number."""
        return self.opt(key, _whole(value))

    def must_double(self, key: str, value: float) -> Builder[S]:
        """Call `must` with the whole part of a floating-point number."""
        return self.must(key, _whole(value))

    def buffer_size(self, size: int) -> Builder[S]:
        """Set the read buffer's size in bytes: `opt` of its standard key."""
        return self.opt(BUFFER_SIZE, size)

    def with_file_status(self, status: FileStatus | None) -> Builder[S]:
        """Set a status, such as one of a listing; the name in its path must match `path`."""
        self._status = status
        return self

    def build(self) -> Future[S]:
        """Open the file; raise IllegalArgumentException for an unknown mandatory key.

        Raise UnsupportedOperationException if it is known but not supported. Each call opens a
        separate stream.
        """
        self._check_keys()
        future: Future[S] = Future()
        try:
            _check_name(self._path, self._status)
            future.set_result(self._opener(self._path, self._options()))
        except Exception as error:  # the contract requires all failures in the future
            future.set_exception(error)
        return future

    def calls(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the calls that recreate this builder's state."""
        calls: list[tuple[str, tuple[Any, ...]]] = [
            ("must" if key in self._mandatory else "opt", (key, text))
            for key, text in self._values.items()
        ]
        return [*calls, ("with_file_status", (self._status,))]

    def _set(self, key: str, value: Any) -> None:
        if not isinstance(key, str) or value is None:
            raise IllegalArgumentException(f"option {key!r:.80}: key and value must not be None")
        self._values[key] = _text(value)

    def _check_keys(self) -> None:
        if not self._mandatory:
            return
        known = option_table().standard_keys.union(self._known)
        missing = sorted(self._mandatory - known)
        unknown = [key for key in missing if key not in self._unsupported]
        if unknown:
            allowed = ", ".join(sorted(known))
            raise IllegalArgumentException(f"unknown option {unknown[0]!r:.80}; known: {allowed}")
        if missing:
            raise UnsupportedOperationException(f"option {missing[0]!r:.80} is not supported")

    def _options(self) -> OpenOptions:
        given: dict[str, Any] = {}
        own: dict[str, Value] = {}
        for key, text in self._values.items():
            option = option_table().options.get(key)
            if option is not None and option.standard:
                given[option.field] = _read(text, option)
            elif key in self._known:
                own[key] = text if option is None else _read(text, option)
        start, end = given.get("split_start"), given.get("split_end")
        if start is not None and end is not None and start > end:
            given["split_start"] = 0
        policy = given.get("read_policy")
        if policy is not None and given.get("footer_cache") is None:
            given["footer_cache"] = option_table().policies[policy].footer_cache
        status = self._status
        if status is not None and not status.is_directory and _is_length(status.length):
            given["length"] = status.length
        return OpenOptions(**given, status=status, own=own)


def _read(text: str, option: Option) -> Value:
    """Parse text by the option's type in the table; return None if it is unset."""
    if option.type == "text":
        return text
    text = text.strip()
    if option.type == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    if option.type == "policy-list":
        policies = option_table().policies
        names = (name.strip().lower() for name in text.split(","))
        return next((name for name in names if name in policies), None)
    match = _NUMBER.fullmatch(text)
    number = int(match[1] + match[2]) if match else None
    if number is None or (option.least is not None and number < option.least):
        return None
    maximum = _MAXIMA[option.type]
    return number if -maximum - 1 <= number <= maximum else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return f"{value:#x}"  # ignored as a number; Python limits the length of decimal text
    return str(value)


def _whole(value: Any) -> Any:
    """Return a Java double cast to long; NaN and other types unchanged, and so unset."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (isinstance(value, float) and math.isnan(value)):
        return value
    return int(max(-(2.0**63), value)) if value < 2**63 - 1 else 2**63 - 1


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and value >= 0


def _check_name(path: str, status: FileStatus | None) -> None:
    if status is not None and (not status.path or _name(status.path) != _name(path)):
        raise IllegalArgumentException(
            f"the status of {status.path!r} does not match {path!r}: the file names differ"
        )


def _name(path: Any) -> str:
    """Return the last element of a path or URL; "" if it has none."""
    elements = (e for e in reversed(str(path).split("/")) if e not in ("", "."))
    return next(elements, "")
