"""Tests of the types of bounds in the second version of column statistics."""

from __future__ import annotations

from dataclasses import replace
from datetime import time
from decimal import Decimal

import pytest

from fscontract.pipeline.hudi.record_codec import decoder, encode_record
from fscontract.pipeline.hudi.records import ColumnStatistics, ValueType, merge
from fscontract.pipeline.hudi.schema import TYPED_JSON
from fscontract.pipeline.hudi.value_types import decimal_of, digits_of, stored_type, with_type

MONEY = ValueType(10, "10,2")


def known(wrapper: str, low: object, high: object) -> ColumnStatistics:
    """Return statistics of a file."""
    return ColumnStatistics("k", "f", "c", wrapper, low, high, 9, 1)


VALUES = [
    known("BooleanWrapper", False, True),
    known("IntWrapper", 1, 2),
    known("LongWrapper", 1, 2),
    known("FloatWrapper", 0.5, 1.5),
    known("DoubleWrapper", 0.5, 1.5),
    known("BytesWrapper", b"\x80", b"\xff"),
    known("StringWrapper", "a", "b"),
    known("DateWrapper", 19000, 19001),
    known("DecimalWrapper", Decimal("-1.25"), Decimal("700.5")),
    known("TimeMicrosWrapper", time(1, 2, 3, 4), time(5)),
    known("TimestampMicrosWrapper", 10**15, 10**15 + 1),
    ColumnStatistics("k", "f", "c", value_count=3, null_count=3),
]


@pytest.mark.parametrize("record", VALUES, ids=lambda each: str(each.wrapper))
@pytest.mark.parametrize("schema", [TYPED_JSON, TYPED_JSON + " "], ids=["own", "foreign"])
def test_statistics_with_a_type_are_read_as_written(record: ColumnStatistics, schema: str) -> None:
    """By both decoders."""
    typed = with_type(record)
    decoded = decoder(schema.encode())(b"k", encode_record(typed, typed=True))
    assert decoded == typed
    assert isinstance(decoded, ColumnStatistics)
    assert (decoded.wrapper, decoded.minimum, decoded.maximum) == (
        record.wrapper,
        record.minimum,
        record.maximum,
    )


@pytest.mark.parametrize("digits", [b"\x00", b"\x7f", b"\x00\x80", b"\xff", b"\x01\x86\x9f"])
def test_digits_are_those_of_hudi(digits: bytes) -> None:
    """As few bytes as the sign allows."""
    assert digits_of(decimal_of(digits, MONEY), MONEY) == digits


def test_decimals_are_ordered_by_value() -> None:
    """Their digits as bytes are not: 0x3106 is less than 0x07a120."""
    low, high = decimal_of(b"1\x06", MONEY), decimal_of(b"\x07\xa1 ", MONEY)
    merged = merge(
        with_type(known("DecimalWrapper", low, low), MONEY),
        with_type(known("DecimalWrapper", high, high), MONEY),
    )
    assert isinstance(merged, ColumnStatistics)
    assert (merged.minimum, merged.maximum) == (Decimal("125.50"), Decimal("5000.00"))


def test_digits_beyond_the_first_version_have_no_order() -> None:
    large = ValueType(10, "38,20")
    one = replace(known("BytesWrapper", b"1\x06", b"1\x06"), value_type=large)
    merged = merge(one, one)
    assert isinstance(merged, ColumnStatistics)
    assert merged.minimum is None


def test_decimal_with_more_digits_than_its_type_is_damaged() -> None:
    with pytest.raises(ValueError, match="decimal too large: 9 bytes"):
        decimal_of(b"\x7f" * 9, MONEY)


def test_type_is_widened_for_more_places() -> None:
    """Bounds are never rounded."""
    record = with_type(known("DecimalWrapper", Decimal("0.125"), Decimal(1)), MONEY)
    assert record.value_type == stored_type(record) == ValueType(10, "30,15")


@pytest.mark.parametrize("info", [None, "", "10", "ten,two", "1_0,2", "99999,99999"])
def test_damaged_type_of_a_decimal_leaves_its_bytes(info: str | None) -> None:
    record = replace(known("BytesWrapper", b"\x01", b"\x02"), value_type=ValueType(10, info))
    assert decoder(TYPED_JSON.encode())(b"k", encode_record(record, typed=True)) == record
