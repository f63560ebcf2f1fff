"""Conversion of column types between Arrow and Spark, and Hive-style partition columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds
from pyspark.sql import types as spark

from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.filters import Condition

#: Arrow types of a Spark type; Spark has no unsigned numbers.
_PLAIN = {
    pa.bool_(): spark.BooleanType(),
    pa.int8(): spark.ByteType(),
    pa.int16(): spark.ShortType(),
    pa.int32(): spark.IntegerType(),
    pa.int64(): spark.LongType(),
    pa.uint8(): spark.ShortType(),
    pa.uint16(): spark.IntegerType(),
    pa.uint32(): spark.LongType(),
    pa.uint64(): spark.DecimalType(20, 0),
    pa.float16(): spark.FloatType(),
    pa.float32(): spark.FloatType(),
    pa.float64(): spark.DoubleType(),
    pa.date32(): spark.DateType(),
    pa.null(): spark.StringType(),
}
_ARROW: dict[type, Any] = {
    spark.BooleanType: pa.bool_(),
    spark.ByteType: pa.int8(),
    spark.ShortType: pa.int16(),
    spark.IntegerType: pa.int32(),
    spark.LongType: pa.int64(),
    spark.FloatType: pa.float32(),
    spark.DoubleType: pa.float64(),
    spark.DateType: pa.date32(),
    spark.StringType: pa.string(),
    spark.BinaryType: pa.binary(),
    spark.TimestampType: pa.timestamp("us", "UTC"),
    spark.TimestampNTZType: pa.timestamp("us"),
}
#: Maximum number of digits of an integer type.
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
_MAX_DIGITS = 38
#: Integers up to this number of bits convert exactly to 64-bit floating-point numbers.
_EXACT = 32


def spark_type(kind: Any) -> Any:
    """Return Spark's type for an Arrow type; raise SourceException if there is none."""
    known = _PLAIN.get(kind)
    if known is not None:
        return known
    if _is_text(kind):
        return spark.StringType()
    if _is_bytes(kind):
        return spark.BinaryType()
    if kinds.is_timestamp(kind):
        return spark.TimestampNTZType() if kind.tz is None else spark.TimestampType()
    if kinds.is_decimal(kind) and kind.precision <= _MAX_DIGITS:
        return spark.DecimalType(kind.precision, kind.scale)
    if kinds.is_dictionary(kind):
        return spark_type(kind.value_type)
    if _is_list(kind):
        return spark.ArrayType(spark_type(kind.value_type))
    if kinds.is_map(kind):
        return spark.MapType(spark_type(kind.key_type), spark_type(kind.item_type))
    if kinds.is_struct(kind):
        return spark.StructType([spark.StructField(f.name, spark_type(f.type)) for f in kind])
    raise SourceException(f"Spark has no type for {kind}")


def arrow_type(kind: Any) -> Any:
    """Return Arrow's type for a Spark type; raise SourceException if there is none."""
    known = _ARROW.get(type(kind))
    if known is not None:
        return known
    if isinstance(kind, spark.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, spark.ArrayType):
        element = arrow_type(kind.elementType)
        return pa.list_(pa.field("element", element, kind.containsNull))
    if isinstance(kind, spark.MapType):
        key = pa.field("key", arrow_type(kind.keyType), nullable=False)
        return pa.map_(key, pa.field("value", arrow_type(kind.valueType), kind.valueContainsNull))
    if isinstance(kind, spark.StructType):
        return pa.struct([pa.field(f.name, arrow_type(f.dataType), f.nullable) for f in kind])
    raise SourceException(f"unsupported type for Parquet files: {kind.simpleString()}")


def fits(source: Any, target: Any) -> bool:
    """Return True if each value of one Arrow type has an equal value in the other."""
    if source == target or kinds.is_null(source):
        return True
    if kinds.is_dictionary(source):
        return fits(source.value_type, target)
    if _is_text(source) or _is_bytes(source):
        return _is_text(target) or _is_bytes(target)
    if kinds.is_timestamp(source) and kinds.is_timestamp(target):
        return (source.tz is None) == (target.tz is None)
    if _is_list(source) and _is_list(target):
        return fits(source.value_type, target.value_type)
    if kinds.is_map(source) and kinds.is_map(target):
        return fits(source.key_type, target.key_type) and fits(source.item_type, target.item_type)
    if kinds.is_struct(source) and kinds.is_struct(target):
        names = [f.name for f in source] == [f.name for f in target]
        pairs = zip(source, target, strict=False)
        return names and all(
            fits(source_field.type, target_field.type) for source_field, target_field in pairs
        )
    return _is_wider(source, target)


def _is_wider(source: Any, target: Any) -> bool:
    """Return True if one numeric type can represent each value of the other."""
    if kinds.is_decimal(source) and kinds.is_decimal(target):
        fits_digits = target.precision - target.scale >= source.precision - source.scale
        return fits_digits and bool(target.scale >= source.scale)
    if kinds.is_floating(source):
        return bool(kinds.is_floating(target) and source.bit_width <= target.bit_width)
    if not kinds.is_integer(source):
        return False
    if kinds.is_decimal(target):
        return bool(target.precision - target.scale >= _DIGITS[source.bit_width])
    if kinds.is_float64(target):
        return bool(source.bit_width <= _EXACT)
    if kinds.is_integer(target):
        same = kinds.is_signed_integer(source) == kinds.is_signed_integer(target)
        room = target.bit_width - source.bit_width
        return bool(room >= 0 if same else kinds.is_signed_integer(target) and room > 0)
    return False


def converted(array: Any, target: Any) -> Any:
    """Cast an array to a type that it fits; raise pa.ArrowInvalid for an inexact value.

    Inexact values are, for example, times with nanoseconds, or bytes that are not valid text.
    """
    if kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if array.type == target else array.cast(target)


def _is_list(kind: Any) -> bool:
    sized = kinds.is_fixed_size_list(kind)
    return bool(sized or kinds.is_list(kind) or kinds.is_large_list(kind))


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_bytes(kind: Any) -> bool:
    sized = str(kind) in ("binary", "large_binary", "binary_view")
    return bool(sized or kinds.is_fixed_size_binary(kind))


#: Name of a null value in a path.
NULL = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

#: Text of each column's value, None for null; in the order of the directories.
Texts = Mapping[str, str | None]


def texts_of(directory: str) -> Texts:
    """Return the columns and values in a path below a dataset."""
    texts: dict[str, str | None] = {}
    for element in directory.split("/"):
        name, equals, text = element.partition("=")
        if name and equals:
            texts[_plain(name)] = None if text == NULL else _plain(text)
    return texts


def columns_of(directories: Iterable[Texts]) -> tuple[str, ...]:
    """Return the partition columns; raise SourceException if directories have different ones."""
    kinds = list(dict.fromkeys(tuple(texts) for texts in directories))
    if len(kinds) > 1:
        first, second = (", ".join(names) or "no column" for names in kinds[:2])
        raise SourceException(
            f"inconsistent partition columns: some directories have {first}, others {second}"
        )
    return kinds[0] if kinds else ()


def type_of(texts: Iterable[str | None]) -> Any:
    """Return the common type of all values: integers, dates, or else strings."""
    known = {text for text in texts if text is not None}
    if known and all(_INTEGER.fullmatch(text) for text in known):
        for bits, kind in ((31, spark.IntegerType()), (63, spark.LongType())):
            if all(-(1 << bits) <= int(text) < 1 << bits for text in known):
                return kind
    if known and all(_is_day(text) for text in known):
        return spark.DateType()
    return spark.StringType()


def value_of(column: str, text: str | None, kind: Any) -> Any:
    """Parse a value of a Spark type; raise SourceException for any other text."""
    if text is None:
        return None
    read = _READERS.get(type(kind))
    type_name = kind.simpleString()
    if read is None:
        raise SourceException(
            f"the values of column {column!r} in directories can't have type {type_name}"
        )
    try:
        return pa.scalar(read(text), arrow_type(kind)).as_py()
    except (ValueError, ArithmeticError):
        raise SourceException(
            f"{text!r:.80} is not a valid {type_name} for column {column!r}"
        ) from None


def keeps(conditions: Sequence[Condition], values: Mapping[str, Any]) -> bool:
    """Return True if all conditions hold for a directory's values; few hold for null."""
    return all(_holds(condition, values[condition.column]) for condition in conditions)


def _holds(condition: Condition, value: Any) -> bool:
    if value is None and condition.operation != "null":
        return False
    return condition.holds(value)


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError("not an integer")
    return int(text)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("expected true or false")
    return text.lower() == "true"


#: Parsers of values, by type.
_READERS: dict[type, Callable[[str], Any]] = {
    **dict.fromkeys((spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType), _integer),
    **dict.fromkeys((spark.FloatType, spark.DoubleType), float),
    spark.StringType: str,
    spark.BooleanType: _boolean,
    spark.DateType: date.fromisoformat,
    spark.DecimalType: Decimal,
}


def _is_day(text: str) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
