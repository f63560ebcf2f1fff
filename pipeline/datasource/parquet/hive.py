"""Columns whose values stand in the names of directories: `day=2026-01-01/city=Z%C3%BCrich`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark

from fscontract.pipeline.datasource.errors import SourceException
from fscontract.pipeline.datasource.parquet.types import arrow_type
from fscontract.pipeline.datasource.pushdown import Condition

#: The name for a value that is null.
NULL = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_WHOLE = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

#: The text of each column's value, None for null; in the order of the directories.
Texts = Mapping[str, str | None]


def texts_of(directory: str) -> Texts:
    """The columns that a path below a dataset has values of."""
    found: dict[str, str | None] = {}
    for element in directory.split("/"):
        name, equals, text = element.partition("=")
        if name and equals:
            found[_plain(name)] = None if text == NULL else _plain(text)
    return found


def columns_of(directories: Iterable[Texts]) -> tuple[str, ...]:
    """The columns that all directories have values of; SourceException if they are not the same."""
    kinds = list(dict.fromkeys(tuple(each) for each in directories))
    if len(kinds) > 1:
        one, other = (", ".join(names) or "no column" for names in kinds[:2])
        raise SourceException(f"directories have values of {one}, and others of {other}")
    return kinds[0] if kinds else ()


def type_of(texts: Iterable[str | None]) -> Any:
    """The type that all values have: whole numbers, days, or else strings."""
    known = {text for text in texts if text is not None}
    if known and all(_WHOLE.fullmatch(text) for text in known):
        for bits, kind in ((31, spark.IntegerType()), (63, spark.LongType())):
            if all(-(1 << bits) <= int(text) < 1 << bits for text in known):
                return kind
    if known and all(_is_day(text) for text in known):
        return spark.DateType()
    return spark.StringType()


def value_of(column: str, text: str | None, kind: Any) -> Any:
    """The value that a text stands for; SourceException if it is none of that type of Spark."""
    if text is None:
        return None
    read = _READERS.get(type(kind))
    shown = kind.simpleString()
    if read is None:
        raise SourceException(f"the values of column {column!r} in directories are no {shown}")
    try:
        return pa.scalar(read(text), arrow_type(kind)).as_py()
    except (ValueError, ArithmeticError):
        raise SourceException(f"{text!r:.80} is no {shown} of column {column!r}") from None


def keeps(conditions: Sequence[Condition], values: Mapping[str, Any]) -> bool:
    """Whether all conditions hold of the values of a directory; of null but few do."""
    return all(_holds(each, values[each.column]) for each in conditions)


def _holds(condition: Condition, value: Any) -> bool:
    if value is None and condition.operation != "null":
        return False
    return condition.holds(value)


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError("no whole number")
    return int(text)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


#: What makes a value of a type of a text.
_READERS: dict[type, Callable[[str], Any]] = {
    **dict.fromkeys((spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType), _whole),
    **dict.fromkeys((spark.FloatType, spark.DoubleType), float),
    spark.StringType: str,
    spark.BooleanType: _truth,
    spark.DateType: date.fromisoformat,
    spark.DecimalType: Decimal,
}


def _is_day(text: str) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
