"""Builder of openFile(): options, those of a job's configuration, and waiting for the stream."""

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
    """Set what stands below the prefixes: `opt` for the one, then `must` for the other.

    So a key that is below both is mandatory. A prefix may lack its final dot. (Passing options in
    to MapReduce)
    """
    for prefix, setter in ((optional_prefix, builder.opt), (mandatory_prefix, builder.must)):
        start = f"{prefix.rstrip('.')}."
        for key, value in configuration.items():
            if key.startswith(start):
                setter(key.removeprefix(start), value)


def await_future(future: Future[T], timeout: float | None = None) -> T:
    """The future's result, or its exception itself; TimeoutError after `timeout` seconds.

    None waits for ever. The open goes on after a TimeoutError, so the future can be waited for
    again.
    """
    if not wait([future], timeout).done:
        raise TimeoutError(f"no result within {timeout} seconds")
    return future.result()


#: A sign, leading zeros, and as many digits as 64 bits may have.
_NUMBER = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_MAXIMA = {"long": 2**63 - 1, "int": 2**31 - 1}


@dataclass(frozen=True)
class OpenOptions:
    """What an open was asked for; None is unset. Sizes and positions are in bytes."""

    buffer_size: int | None = None
    read_policy: str | None = None
    #: The file's length, from the status if there is one.
    length: int | None = None
    split_start: int | None = None
    split_end: int | None = None
    footer_cache: bool | None = None
    status: FileStatus | None = None
    #: The filesystem's own keys.
    own: Mapping[str, Value] = field(default_factory=dict)

    @property
    def etag(self) -> str | None:
        """The version of the file that the status is of, None if it does not say."""
        return getattr(self.status, "etag", None)


class Builder(FutureDataInputStreamBuilder[S]):
    """Collects options for `path` and hands them to `opener` in `build`.

    `known` are the filesystem's own keys, `unsupported` those that it recognises but has no
    support for. Every method raises IllegalArgumentException for a key or a value that is None.
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
        """Set an option that is ignored if it is not known."""
        self._set(key, value)
        self._mandatory.discard(key)
        return self

    def must(self, key: str, value: str | int | bool) -> Builder[S]:
        """Set an option that `build` rejects if it is not known."""
        self._set(key, value)
        self._mandatory.add(key)
        return self

    def opt_long(self, key: str, value: int) -> Builder[S]:
        """`opt` for a whole number."""
        return self.opt(key, value)

    def must_long(self, key: str, value: int) -> Builder[S]:
        """`must` for a whole number."""
        return self.must(key, value)

    def opt_double(self, key: str, value: float) -> Builder[S]:
        """`opt` for a floating-point number: its whole part."""
        return self.opt(key, _whole(value))

    def must_double(self, key: str, value: float) -> Builder[S]:
        """`must` for a floating-point number: its whole part."""
        return self.must(key, _whole(value))

    def buffer_size(self, size: int) -> Builder[S]:
        """Set the read buffer's size in bytes: `opt` of its standard key."""
        return self.opt(BUFFER_SIZE, size)

    def with_file_status(self, status: FileStatus | None) -> Builder[S]:
        """Give what a listing said; the last element of its path must be that of `path`."""
        self._status = status
        return self

    def build(self) -> Future[S]:
        """Open the file; IllegalArgumentException for a mandatory key that is not known.

        UnsupportedOperationException if it is known but not supported. Each call opens a stream of
        its own.
        """
        self._check_keys()
        future: Future[S] = Future()
        try:
            _check_name(self._path, self._status)
            future.set_result(self._opener(self._path, self._options()))
        except Exception as error:  # the contract puts every failure in the future
            future.set_exception(error)
        return future

    def calls(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Calls that bring a new builder to where this one is."""
        calls: list[tuple[str, tuple[Any, ...]]] = [
            ("must" if key in self._mandatory else "opt", (key, text))
            for key, text in self._values.items()
        ]
        return [*calls, ("with_file_status", (self._status,))]

    def _set(self, key: str, value: Any) -> None:
        if not isinstance(key, str) or value is None:
            raise IllegalArgumentException(f"option {key!r:.80} needs a key and a value")
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
            raise UnsupportedOperationException(f"option {missing[0]!r:.80} is not supported here")

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
    """The value that a text stands for, by the option's type in the table; None if it is unset."""
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
        return f"{value:#x}"  # no number to us; Python has no decimal text of a very long one
    return str(value)


def _whole(value: Any) -> Any:
    """A Java double cast to long; NaN, and what is no number, stays and so counts as unset."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (isinstance(value, float) and math.isnan(value)):
        return value
    return int(max(-(2.0**63), value)) if value < 2**63 - 1 else 2**63 - 1


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and value >= 0


def _check_name(path: str, status: FileStatus | None) -> None:
    if status is not None and (not status.path or _name(status.path) != _name(path)):
        raise IllegalArgumentException(
            f"the status of {status.path!r} does not belong to {path!r}: the names differ"
        )


def _name(path: Any) -> str:
    """The last element of a path or URL; "" if it has none."""
    elements = (e for e in reversed(str(path).split("/")) if e not in ("", "."))
    return next(elements, "")
