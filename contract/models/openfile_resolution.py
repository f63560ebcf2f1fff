"""What a sequence of builder calls asks for: option resolution (FutureDataInputStreamBuilder).

A call is a tuple: the method and its arguments, as in `("must", key, value)`,
`("opt_long", key, value)`, `("buffer_size", size)` or `("with_file_status", status)`. Nothing here
looks at a filesystem; which keys and policies there are, and of which type, is the table's. The
builder of our filesystems shares the table and no more, so each can show the other's mistakes.
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
    """A mandatory key on account of which `build` raises an exception of this kind."""

    key: str
    kind: Kind


@dataclass(frozen=True)
class Resolution:
    """What the calls came to. None is unset; sizes and positions are in bytes.

    If there are `refusals`, `build` raises one of them, whichever it meets first, and the rest
    says what the open would have been. `length` is the status's where there is one.
    """

    #: Which calls raise IllegalArgumentException at once and set nothing, by their index.
    rejected_calls: tuple[int, ...] = ()
    #: Keys that were mandatory when last set.
    mandatory: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()
    buffer_size: Value = None
    read_policy: Value = None
    length: Value = None
    #: The length of the option, whatever a status says.
    length_option: Value = field(default=None, compare=False)
    split_start: Value = None
    split_end: Value = None
    footer_cache: Value = None
    #: The filesystem's own keys that were set, as the table reads them or as text.
    own: Mapping[str, Value] = field(default_factory=dict)
    status: FileStatus | None = None


def resolve(
    calls: Sequence[Call],
    table: OptionTable,
    known: Collection[str] = (),
    unsupported: Collection[str] = (),
) -> Resolution:
    """What the filesystem is asked for. Raises ValueError for a call of no known method.

    `known` are its own keys, `unsupported` those that it recognises but has no support for.
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
    """Return whether a value that is given for a number is one, and below 1."""
    number = _number(_text(_cast(value)).strip())
    return number is not None and number < 1


def read_value(method: str, value: Any, key: str, table: OptionTable) -> Value:
    """What a value set for `key` by a method of the builder means; None if it is unset."""
    if value is None:
        return None
    number = _cast(value) if method.endswith("double") else value
    return _read(number, table.options.get(key), table)


def _settings(
    calls: Sequence[Call],
) -> tuple[dict[str, tuple[bool, Any]], tuple[int, ...], FileStatus | None]:
    """For each key whether it is mandatory and its value, as last set; rejected calls; status."""
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
    """A Java double cast to long, but for NaN, which stays and is unset as a number."""
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
    """Standard keys are never refused: a filesystem without support ignores them (G5)."""
    keys = sorted(mandatory - recognised)
    return tuple(
        Refusal(key, Kind.UNSUPPORTED if key in unsupported else Kind.ILLEGAL_ARGUMENT)
        for key in keys
    )


def _length(declared: Value, status: FileStatus | None) -> Value:
    """A status counts, unless it is that of a directory or has no length to tell."""
    if status is None or status.is_directory or status.length < 0:
        return declared
    return status.length


def _split_start(start: Value, end: Value) -> Value:
    if isinstance(start, int) and isinstance(end, int) and start > end:
        return 0
    return start


def _footer_cache(explicit: Value, policy: Value, table: OptionTable) -> Value:
    """The option overrides the default of the policy's file format."""
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
    """A decimal number of ASCII digits, however long; None for anything else."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not _DIGITS.issuperset(digits):
        return None
    significant = digits.lstrip("0")
    if len(significant) > 19:  # beyond 64 bits, and maybe beyond what Python will convert
        return None
    number = int(significant or "0")
    return -number if text[0] == "-" else number


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return hex(value)  # no Java long; a decimal of any length can't be had
    return str(value)
