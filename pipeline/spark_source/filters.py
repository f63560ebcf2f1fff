"""Spark filters that the data source evaluates.

A filter on one column becomes a Condition, which can check a value or mask an Arrow array.
`sort_filters` groups the filters of Parquet files by how they are evaluated: by names of
directories, by column statistics, or by rows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyspark.sql import datasource as api
from pyspark.sql import types as spark

from fscontract.pipeline.hudi.pruning import Filter, Operator

#: Filters with a value, by operator name.
_COMPARING = {
    api.EqualTo: "eq",
    api.EqualNullSafe: "eq",
    api.GreaterThan: "gt",
    api.GreaterThanOrEqual: "ge",
    api.LessThan: "lt",
    api.LessThanOrEqual: "le",
}
_TEXTUAL = {
    api.StringStartsWith: "starts",
    api.StringEndsWith: "ends",
    api.StringContains: "contains",
}


@dataclass(frozen=True)
class Condition:
    """A condition on a column: `operation` with `value`, inverted if `negated`."""

    column: str
    operation: str
    value: Any
    negated: bool = False

    def holds(self, value: Any) -> bool:
        """Return True if the condition holds for a value."""
        return _PYTHON[self.operation](value, self.value) != self.negated

    def mask(self, array: Any) -> Any:
        """Return a mask of the values in an Arrow array for which the condition holds."""
        import pyarrow.compute as pc

        mask = _masks(pc)[self.operation](array, self.value)
        return pc.invert(mask) if self.negated else mask


def condition_of(pushed: Any, types: Mapping[str, type]) -> Condition | None:
    """Return the condition for a Spark filter; None if the source can't evaluate it.

    `types` are the Python types of the columns' values.
    """
    negated = isinstance(pushed, api.Not)
    inner = pushed.child if negated else pushed
    if len(inner.attribute) != 1 or inner.attribute[0] not in types:
        return None
    column = inner.attribute[0]
    if isinstance(inner, api.IsNull | api.IsNotNull):
        return Condition(column, "null", None, isinstance(inner, api.IsNotNull) != negated)
    kind = types[column]
    if isinstance(inner, api.In):
        fits = all(type(value) is kind for value in inner.value)
        return Condition(column, "in", tuple(inner.value), negated) if fits else None
    if type(inner.value) is not kind:
        return None
    name = _COMPARING.get(type(inner)) or (_TEXTUAL.get(type(inner)) if kind is str else None)
    if name is None or (kind is bytes and name != "eq"):
        return None
    return Condition(column, name, inner.value, negated)


def _contains(value: Any, values: Any) -> bool:
    return value in values


_PYTHON: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "in": _contains,
    "starts": str.startswith,
    "ends": str.endswith,
    "contains": operator.contains,
    "null": lambda value, _: value is None,
}


def _masks(pc: Any) -> dict[str, Callable[[Any, Any], Any]]:
    return {
        "eq": pc.equal,
        "gt": pc.greater,
        "ge": pc.greater_equal,
        "lt": pc.less,
        "le": pc.less_equal,
        "in": _is_in,
        "starts": pc.starts_with,
        "ends": pc.ends_with,
        "contains": pc.match_substring,
        "null": lambda array, _: pc.is_null(array),
    }


def _is_in(array: Any, values: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(array, value_set=pa.array(values, array.type))


#: Types that Python and Spark compare equally: total order, without NaN.
_EXACT: dict[type, type] = {
    **dict.fromkeys((spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType), int),
    spark.StringType: str,
    spark.BinaryType: bytes,
    spark.BooleanType: bool,
    spark.DateType: date,
}
_OPERATORS: dict[type, Operator] = {
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
class PushedFilters:
    """Conditions on directories and rows, and column ranges that exclude files."""

    directories: tuple[Condition, ...] = ()
    rows: tuple[Condition, ...] = ()
    ranges: tuple[Filter, ...] = ()

    def and_also(self, other: PushedFilters) -> PushedFilters:
        """Return the conjunction of both."""
        return PushedFilters(
            self.directories + other.directories,
            self.rows + other.rows,
            self.ranges + other.ranges,
        )


#: Empty filters.
NOTHING = PushedFilters()


def sort_filters(
    filters: Iterable[Any], schema: Any, partitioned_by: Collection[str]
) -> tuple[PushedFilters, list[Any]]:
    """Return the filters that the source evaluates, and those that Spark must evaluate again."""
    types = {
        field.name: _EXACT[type(field.dataType)]
        for field in schema.fields
        if type(field.dataType) in _EXACT and field.dataType == type(field.dataType)()
    }
    directories, rows, ranges, undecided = [], [], [], []
    for candidate in filters:
        condition = None if _keeps_nulls(candidate) else condition_of(candidate, types)
        in_path = _column(candidate) in partitioned_by
        if condition is None:
            undecided.append(candidate)
        elif in_path:
            directories.append(condition)
        else:
            rows.append(condition)
        if not in_path:
            ranges += filters_of(candidate)
    return PushedFilters(tuple(directories), tuple(rows), tuple(ranges)), undecided


def values_of(column: str, conditions: Iterable[Condition]) -> set[Any] | None:
    """Return the possible values of a column; None if conditions do not limit them."""
    allowed: set[Any] | None = None
    for condition in conditions:
        if (
            condition.column == column
            and not condition.negated
            and condition.operation in ("eq", "in")
        ):
            values = set(condition.value) if condition.operation == "in" else {condition.value}
            allowed = values if allowed is None else allowed & values
    return allowed


def filters_of(pushed: Any) -> list[Filter]:
    """Return conditions that hold for each row accepted by a Spark filter."""
    negated = isinstance(pushed, api.Not)
    inner = pushed.child if negated else pushed
    column = _column(pushed)
    if column is None or "." in column:
        return []  # statistics use this name for a field of a struct
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
        return [Filter(column, "in", tuple(choice for choice in value if choice is not None))]
    if isinstance(inner, api.StringStartsWith) and isinstance(value, str):
        return _beginning_with(column, value)
    operator = _OPERATORS.get(type(inner))
    return [Filter(column, operator, value)] if operator and value is not None else []


def _beginning_with(column: str, prefix: str) -> list[Filter]:
    """Return bounds of a prefix: the prefix, and the smallest greater text without it."""
    bounds = [Filter(column, ">=", prefix)]
    stem = prefix.rstrip(chr(_LAST))
    if stem:
        code = ord(stem[-1]) + 1
        code = _SURROGATES.stop if code in _SURROGATES else code
        bounds.append(Filter(column, "<", stem[:-1] + chr(code)))
    return bounds


def _column(pushed: Any) -> str | None:
    """Return the column of a filter; None for a field of a struct."""
    inner = pushed.child if isinstance(pushed, api.Not) else pushed
    attribute: tuple[str, ...] = inner.attribute
    return attribute[0] if len(attribute) == 1 else None


def _keeps_nulls(pushed: Any) -> bool:
    """Return True if a null may pass although the condition does not hold for it."""
    return isinstance(pushed, api.Not) and isinstance(pushed.child, api.EqualNullSafe)
