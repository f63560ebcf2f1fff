"""Types of bounds in Hudi's second version of column statistics.

The first version has a wrapper for each type. The second stores dates, times and decimals as plain
numbers and bytes, with their type beside them. Here, bounds have the wrappers of the first version.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from fscontract.pipeline.hudi.records import DECIMAL, NULL, ColumnStatistics, ValueType

#: Types by the wrapper of the first version, and those that the second stores in another wrapper.
_ORDINALS = {
    "BooleanWrapper": 2,
    "IntWrapper": 3,
    "LongWrapper": 4,
    "FloatWrapper": 5,
    "DoubleWrapper": 6,
    "StringWrapper": 7,
    "BytesWrapper": 8,
    "DecimalWrapper": DECIMAL,
    "DateWrapper": 12,
    "LocalDateWrapper": 12,
    "TimeMicrosWrapper": 14,
    "TimestampMicrosWrapper": 16,
}
_PLAIN = {12: "IntWrapper", 14: "LongWrapper", 16: "LongWrapper"}
_TYPED = {12: "DateWrapper", 14: "TimeMicrosWrapper", 16: "TimestampMicrosWrapper"}
#: Digits before and after the point of a decimal in the first version.
_DIGITS = 15
_WIDEST = ValueType(DECIMAL, f"{2 * _DIGITS},{_DIGITS}")


def typed_wrapper(wrapper: str, value_type: ValueType | None) -> str:
    """Return the wrapper of the first version for bounds stored in `wrapper`."""
    if value_type is None:
        return wrapper
    if value_type.ordinal == DECIMAL and wrapper == "BytesWrapper":
        return wrapper if _scale(value_type) is None else "DecimalWrapper"
    is_plain = _PLAIN.get(value_type.ordinal) == wrapper
    return _TYPED[value_type.ordinal] if is_plain else wrapper


def stored_wrapper(wrapper: str, value_type: ValueType | None) -> str:
    """Return the wrapper in which bounds of `wrapper` are stored."""
    if value_type is None:
        return wrapper
    if wrapper == "DecimalWrapper":
        return "BytesWrapper" if value_type.ordinal == DECIMAL else wrapper
    return _PLAIN.get(value_type.ordinal, wrapper)


def decimal_of(data: bytes, value_type: ValueType) -> Decimal:
    """Return the decimal of its digits as bytes; raise ValueError if it has too many."""
    digits, scale = int.from_bytes(data, "big", signed=True), _scale(value_type)
    if scale is None or abs(digits) >= 10 ** (_DIGITS + scale):
        raise ValueError(f"decimal too large: {len(data)} bytes for {value_type.info!r}")
    return Decimal(f"{digits}E-{scale}")


def digits_of(value: Decimal, value_type: ValueType) -> bytes:
    """Return the digits of a decimal as bytes."""
    digits = int(value.scaleb(_scale(value_type) or 0))
    return digits.to_bytes(digits.bit_length() // 8 + 1, "big", signed=True)


def with_type(record: ColumnStatistics, known: ValueType | None = None) -> ColumnStatistics:
    """Return statistics with a type: the `known` one, their own, or that of their wrapper."""
    if record.wrapper is None:
        return replace(record, value_type=known or record.value_type or ValueType(NULL))
    ordinal = _ORDINALS[record.wrapper]
    for candidate in (known, record.value_type):
        if candidate is not None and candidate.ordinal == ordinal and _holds(record, candidate):
            return replace(record, value_type=candidate)
    return replace(record, value_type=_WIDEST if ordinal == DECIMAL else ValueType(ordinal))


def stored_type(record: ColumnStatistics) -> ValueType | None:
    """Return the type to store: the record's, or a wider one if its decimals need more places."""
    value_type = record.value_type
    return value_type if value_type is None or _holds(record, value_type) else _WIDEST


def _holds(record: ColumnStatistics, value_type: ValueType) -> bool:
    """Return True if a type can hold the bounds."""
    if value_type.ordinal != DECIMAL or record.wrapper != "DecimalWrapper":
        return True
    scale = _scale(value_type)
    return scale is not None and all(
        _places(value) <= scale for value in (record.minimum, record.maximum)
    )


def _places(value: Any) -> int:
    """Return the number of digits after the point of a decimal."""
    return max(0, -int(value.as_tuple().exponent))


def _scale(value_type: ValueType) -> int | None:
    """Return the scale of a decimal type; None if its values exceed the first version's."""
    precision, _, scale = (value_type.info or "").partition(",")
    if not (precision.isdecimal() and scale.isdecimal() and len(precision + scale) <= 4):
        return None
    digits, places = int(precision), int(scale)
    return places if places <= _DIGITS and digits - places <= _DIGITS else None
