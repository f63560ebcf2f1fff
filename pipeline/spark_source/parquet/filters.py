"""Filters that Spark leaves to the source, sorted by what can decide them: names of directories,
statistics of columns, or the rows themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyspark.sql import datasource as api
from pyspark.sql import types as spark

from fscontract.pipeline.hudi.pruning import Filter, Operator
from fscontract.pipeline.spark_source.filters import Condition, condition_of

#: Types whose values compare as Spark compares them: there is one order, and no NaN.
_EXACT: dict[type, type] = {
    **dict.fromkeys((spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType), int),
    spark.StringType: str,
    spark.BinaryType: bytes,
    spark.BooleanType: bool,
    spark.DateType: date,
}
_COMPARING: dict[type, Operator] = {
    api.EqualTo: "=",
    api.EqualNullSafe: "=",
    api.GreaterThan: ">",
    api.GreaterThanOrEqual: ">=",
    api.LessThan: "<",
    api.LessThanOrEqual: "<=",
}
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True)
class Pushed:
    """What has to hold of directories and of rows, and what files without such rows lack."""

    directories: tuple[Condition, ...] = ()
    rows: tuple[Condition, ...] = ()
    ranges: tuple[Filter, ...] = ()

    def and_also(self, other: Pushed) -> Pushed:
        """Both."""
        return Pushed(
            self.directories + other.directories,
            self.rows + other.rows,
            self.ranges + other.ranges,
        )


#: No filter.
NOTHING = Pushed()


def sort_filters(
    filters: Iterable[Any], schema: Any, partitioned_by: Collection[str]
) -> tuple[Pushed, list[Any]]:
    """The filters that are decided here, and those that Spark has to look at again."""
    types = {
        field.name: _EXACT[type(field.dataType)]
        for field in schema.fields
        if type(field.dataType) in _EXACT and field.dataType == type(field.dataType)()
    }
    directories, rows, ranges, left = [], [], [], []
    for each in filters:
        condition = None if _keeps_nulls(each) else condition_of(each, types)
        in_path = _column(each) in partitioned_by
        if condition is None:
            left.append(each)
        elif in_path:
            directories.append(condition)
        else:
            rows.append(condition)
        if not in_path:
            ranges += filters_of(each)
    return Pushed(tuple(directories), tuple(rows), tuple(ranges)), left


def filters_of(pushed: Any) -> list[Filter]:
    """Conditions that each row meets which a filter of Spark lets pass; none if nothing is sure."""
    negated = isinstance(pushed, api.Not)
    inner = pushed.child if negated else pushed
    column = _column(pushed)
    if column is None or "." in column:
        return []  # statistics name a field of a struct that way
    if isinstance(inner, api.IsNull | api.IsNotNull):
        null = isinstance(inner, api.IsNull) != negated
        return [Filter(column, "is null" if null else "is not null")]
    value = inner.value
    if negated:
        unequal = isinstance(inner, api.EqualTo) and value is not None
        return [Filter(column, "!=", value)] if unequal else []
    if isinstance(inner, api.EqualNullSafe) and value is None:
        return [Filter(column, "is null")]
    if isinstance(inner, api.In):
        return [Filter(column, "in", tuple(each for each in value if each is not None))]
    if isinstance(inner, api.StringStartsWith) and isinstance(value, str):
        return _beginning_with(column, value)
    operator = _COMPARING.get(type(inner))
    return [Filter(column, operator, value)] if operator and value is not None else []


def _beginning_with(column: str, prefix: str) -> list[Filter]:
    """From the prefix on, and less than the first text that is behind all that begin with it."""
    found = [Filter(column, ">=", prefix)]
    kept = prefix.rstrip(chr(_LAST))
    if kept:
        code = ord(kept[-1]) + 1
        code = _SURROGATES.stop if code in _SURROGATES else code
        found.append(Filter(column, "<", kept[:-1] + chr(code)))
    return found


def _column(pushed: Any) -> str | None:
    """The column of a filter; None for a field in one."""
    inner = pushed.child if isinstance(pushed, api.Not) else pushed
    attribute: tuple[str, ...] = inner.attribute
    return attribute[0] if len(attribute) == 1 else None


def _keeps_nulls(pushed: Any) -> bool:
    """Whether a null may pass though the condition does not hold of it."""
    return isinstance(pushed, api.Not) and isinstance(pushed.child, api.EqualNullSafe)
