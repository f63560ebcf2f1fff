"""Option resolution: what a sequence of builder calls asks for (FutureDataInputStreamBuilder).

A call is a tuple: the method and its arguments, as in `("must", key, value)`, `("opt_long", key,
value)`, `("buffer_size", size)` or `("with_file_status", status)`. This module does not access a
filesystem; the option table defines the keys, the policies and their types. The builder of our
filesystems shares only the table, so each can reveal the other's bugs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    Option,
    OptionTable,
    Value,
)
from fscontract.contract.program.outcome import Kind

Call: TypeAlias = tuple[Any, ...]

_SETTERS = frozenset(s + form for s in ("opt", "must") for form in ("", "_long", "_double"))
_BITS = {"long": 64, "int": 32}
_DIGITS = frozenset("0123456789")
_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)


class Refusal(NamedTuple):
    """A mandatory key for which `build` raises an exception of this kind."""

    key: str
    kind: Kind


@dataclass(frozen=True)
class Resolution:
    """The options that the calls ask for. None means unset; sizes and positions are in bytes.

    If there are `refusals`, `build` raises one of them, whichever it finds first, and the other
    fields describe the open that would otherwise have followed. `length` is the status's if there
    is one.
    """

    #: Indexes of the calls that raise IllegalArgumentException at once and set nothing.
    rejected_calls: tuple[int, ...] = ()
    #: Keys that were mandatory when last set.
    mandatory: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()
    buffer_size: Value = None
    read_policy: Value = None
    length: Value = None
    #: The length from the option, even if a status has another.
    length_option: Value = field(default=None, compare=False)
    split_start: Value = None
    split_end: Value = None
    footer_cache: Value = None
    #: The filesystem's own keys that were set, parsed by the table or as text.
    own: Mapping[str, Value] = field(default_factory=dict)
    status: FileStatus | None = None


def resolve(
    calls: Sequence[Call],
    table: OptionTable,
    known: Collection[str] = (),
    unsupported: Collection[str] = (),
) -> Resolution:
    """Return what the calls ask the filesystem for. Raise ValueError for an unknown method.

    `known` are the filesystem's own keys, `unsupported` those that it recognises but does not
    support.
    """
    settings, rejected, status = _settings(calls)
    mandatory = frozenset(key for key, (must, _) in settings.items() if must)
    standard = table.standard_keys
    values = {
        key: _read(value, table.options.get(key), table)
        for key, (_, value) in settings.items()
        if key in standard or key in known
    }
    policy = values.get(READ_POLICY)
    start, end = values.get(SPLIT_START), values.get(SPLIT_END)
    return Resolution(
        rejected_calls=rejected,
        mandatory=mandatory,
        refusals=_refusals(mandatory, standard.union(known), unsupported),
        buffer_size=values.get(BUFFER_SIZE),
        read_policy=policy,
        length=_length(values.get(LENGTH), status),
        length_option=values.get(LENGTH),
        split_start=_split_start(start, end),
        split_end=end,
        footer_cache=_footer_cache(values.get(FOOTER_CACHE), policy, table),
        own={key: value for key, value in values.items() if key not in standard},
        status=status,
    )


def is_below_one(value: Any) -> bool:
    """Return whether the value for a numeric option is a number below 1."""
    number = _number(_text(_cast(value)).strip())
    return number is not None and number < 1


def read_value(method: str, value: Any, key: str, table: OptionTable) -> Value:
    """Return the meaning of a value that a builder method sets for `key`; None if it is unset."""
    if value is None:
        return None
    number = _cast(value) if method.endswith("double") else value
    return _read(number, table.options.get(key), table)


def _settings(
    calls: Sequence[Call],
) -> tuple[dict[str, tuple[bool, Any]], tuple[int, ...], FileStatus | None]:
    """Return the settings by key, the rejected calls, and the status.

    Each setting has the last value of its key, and whether the key is mandatory.
    """
    settings: dict[str, tuple[bool, Any]] = {}
    rejected = []
    status = None
    for index, (method, *arguments) in enumerate(calls):
        if method == "with_file_status":
            status = arguments[0]
            continue
        must, key, value = _setting(method, arguments)
        if not isinstance(key, str) or value is None:
            rejected.append(index)
        else:
            settings[key] = must, value
    return settings, tuple(rejected), status


def _setting(method: str, arguments: Sequence[Any]) -> tuple[bool, Any, Any]:
    if method == "buffer_size":
        return False, BUFFER_SIZE, arguments[0]
    if method not in _SETTERS:
        raise ValueError(f"no builder method {method!r}")
    key, value = arguments
    return method.startswith("must"), key, _cast(value) if method.endswith("double") else value


def _cast(value: Any) -> Any:
    """Cast a double to long as Java does, except for NaN, which stays and counts as unset."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, float) and math.isnan(value):
        return value
    if value >= _LARGEST:
        return _LARGEST
    return _SMALLEST if value <= _SMALLEST else math.trunc(value)


def _refusals(
    mandatory: frozenset[str], recognised: frozenset[str], unsupported: Collection[str]
) -> tuple[Refusal, ...]:
    """Return the refused keys.

    Standard keys are never refused: a filesystem without support ignores them (G5).
    """
    keys = sorted(mandatory - recognised)
    return tuple(
        Refusal(key, Kind.UNSUPPORTED if key in unsupported else Kind.ILLEGAL_ARGUMENT)
        for key in keys
    )


def _length(declared: Value, status: FileStatus | None) -> Value:
    """Return the status's length, or the option's.

    The option counts if the status is a directory's or has no length.
    """
    if status is None or status.is_directory or status.length < 0:
        return declared
    return status.length


def _split_start(start: Value, end: Value) -> Value:
    if isinstance(start, int) and isinstance(end, int) and start > end:
        return 0
    return start


def _footer_cache(explicit: Value, policy: Value, table: OptionTable) -> Value:
    """Return whether the footer is cached; the option overrides the file format's default."""
    if explicit is None and isinstance(policy, str):
        return table.policies[policy].footer_cache
    return explicit


def _read(value: Any, option: Option | None, table: OptionTable) -> Value:
    text = _text(value)
    if option is None or option.type == "text":
        return text
    text = text.strip()
    if option.type == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    if option.type == "policy-list":
        names = [part.strip().lower() for part in text.split(",")]
        return next((name for name in names if name in table.policies), None)
    number = _number(text)
    minimum = _SMALLEST if option.least is None else option.least
    maximum = 2 ** (_BITS[option.type] - 1) - 1
    return number if number is not None and minimum <= number <= maximum else None


def _number(text: str) -> int | None:
    """Parse a decimal number of ASCII digits, of any length; return None for any other text."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not _DIGITS.issuperset(digits):
        return None
    significant = digits.lstrip("0")
    if len(significant) > 19:  # more than 64 bits, and perhaps more digits than Python converts
        return None
    number = int(significant or "0")
    return -number if text[0] == "-" else number


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return hex(value)  # not a Java long; the model can't convert a decimal of any length
    return str(value)
