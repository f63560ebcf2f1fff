"""Pruning: decides by column statistics whether a file may have rows that match a condition."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from operator import not_, or_
from typing import Any, Literal, TypeAlias

from fscontract.pipeline.hudi.column_stats import ColumnChunk, chunks
from fscontract.pipeline.hudi.records import ColumnStatistics

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"]

#: Integers up to this value convert exactly to floating-point numbers.
_EXACT = 1 << 53
_FLOATING = frozenset({"FloatWrapper", "DoubleWrapper"})
_DAY_0 = date(1970, 1, 1)
_TIME_0 = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Filter:
    """A condition on a column; `value` is a collection for "in", and None for null tests."""

    column: str
    operator: Operator
    value: Any = None


def may_match(statistics: ColumnStatistics | None, condition: Filter) -> bool:
    """Return False only if no row of the file can match the condition."""
    if statistics is None:
        return True
    (chunk,) = chunks([statistics])
    return not ruled_out(chunk, condition)[0]


def ruled_out(chunk: ColumnChunk, condition: Filter) -> list[bool]:
    """Return for each file of a chunk True if no row can match the condition."""
    counts = zip(chunk.value_counts, chunk.null_counts, strict=True)
    if condition.operator == "is null":
        return [nulls == 0 and values is not None for values, nulls in counts]
    if chunk.wrapper is None:
        return [values is not None and 0 < values == nulls for values, nulls in counts]
    if condition.operator == "is not null":
        return [False] * len(chunk)
    if condition.operator != "in":
        return list(map(not_, _may_compare(chunk, condition.operator, condition.value)))
    possible = [False] * len(chunk)
    for value in condition.value:  # one at a time, because there may be many
        possible = list(map(or_, possible, _may_compare(chunk, "=", value)))
    return list(map(not_, possible))


def _may_compare(chunk: ColumnChunk, operator: str, value: Any) -> list[bool]:
    """Return for each file with bounds True if the comparison may hold for a row."""
    wrapper = chunk.wrapper or ""
    readings = _READINGS.get(wrapper, lambda _: [])(value)
    if not readings or (wrapper in _FLOATING and operator in (">", ">=", "!=")):
        return [True] * len(chunk)  # NaN, which is not in statistics, is greater than any number
    compare, possible = _MAY[operator], [False] * len(chunk)
    for reading in readings:
        bounds = zip(chunk.lows, chunk.highs, strict=True)
        if wrapper in _FLOATING or isinstance(reading, float):
            marks = [
                not _comparable(reading, low, high) or compare(low, high, reading)
                for low, high in bounds
            ]
        elif isinstance(reading, int) and operator in _OF_INTEGERS:
            marks = _OF_INTEGERS[operator](chunk.lows, chunk.highs, reading)
        else:
            marks = [compare(low, high, reading) for low, high in bounds]
        possible = list(map(or_, possible, marks))
    return possible


def _comparable(value: Any, low: Any, high: Any) -> bool:
    """Return True if a number and bounds, possibly floating-point, can be compared exactly."""
    numbers = [number for number in (value, low, high) if isinstance(number, int)]
    return not math.isnan(value) and all(abs(number) <= _EXACT for number in numbers)


def _above(high: Any, value: Any) -> bool:
    """Return True if all values are less than `value`; the upper bound may be truncated."""
    if isinstance(high, str | bytes) and value.startswith(high):
        return False
    return bool(value > high)


def _only(low: Any, high: Any, value: Any) -> bool:
    """Return True if all values equal `value`; equal truncated texts may differ."""
    return not isinstance(low, str | bytes) and bool(low == high == value)


_MAY: dict[str, Callable[[Any, Any, Any], bool]] = {
    "=": lambda low, high, value: not (value < low or _above(high, value)),
    "!=": lambda low, high, value: not _only(low, high, value),
    "<": lambda low, high, value: low < value,
    "<=": lambda low, high, value: low <= value,
    ">": lambda low, high, value: value < high or (_text(high) and not _above(high, value)),
    ">=": lambda low, high, value: not _above(high, value),
}


#: The same for all files, with whole numbers as bounds, where it takes most of a query's time.
_OF_INTEGERS: dict[str, Callable[[Sequence[Any], Sequence[Any], int], list[bool]]] = {
    "=": lambda lows, highs, value: [
        low <= value <= high for low, high in zip(lows, highs, strict=True)
    ],
    "<": lambda lows, highs, value: [low < value for low in lows],
    "<=": lambda lows, highs, value: [low <= value for low in lows],
    ">": lambda lows, highs, value: [value < high for high in highs],
    ">=": lambda lows, highs, value: [value <= high for high in highs],
}


def _text(value: Any) -> bool:
    return isinstance(value, str | bytes)


def _number(value: Any) -> list[Any]:
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _single(value: Any) -> list[Any]:
    """Return a number and the nearest 32-bit float, because readers compare in either way."""
    try:
        return [*_number(value), *struct.unpack("f", struct.pack("f", float(value)))]
    except (OverflowError, TypeError, ValueError, struct.error):
        return []


def _decimal(value: Any) -> list[Any]:
    if isinstance(value, Decimal):
        return [value] if value.is_finite() else []
    return [Decimal(value)] if isinstance(value, int) and not isinstance(value, bool) else []


def _days(value: Any) -> list[Any]:
    if isinstance(value, date) and not isinstance(value, datetime):
        return [(value - _DAY_0).days]
    return []


def _microseconds(value: Any) -> list[Any]:
    """Return a time with a zone; the meaning of one without depends on the reader."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return [(value - _TIME_0) // timedelta(microseconds=1)]
    return []


def _time(value: Any) -> list[Any]:
    return [value] if isinstance(value, time) and value.tzinfo is None else []


def _of(*kinds: type) -> Callable[[Any], list[Any]]:
    return lambda value: [value] if type(value) in kinds else []


#: Conversions of a value for the comparison with statistics of a type; empty if impossible.
_READINGS: dict[str, Callable[[Any], list[Any]]] = {
    "BooleanWrapper": _of(bool),
    "IntWrapper": _number,
    "LongWrapper": _number,
    "FloatWrapper": _single,
    "DoubleWrapper": _number,
    "BytesWrapper": _of(bytes),
    "StringWrapper": _of(str),
    "DecimalWrapper": _decimal,
    "DateWrapper": _days,
    "LocalDateWrapper": _days,
    "TimeMicrosWrapper": _time,
    "TimestampMicrosWrapper": _microseconds,
}
