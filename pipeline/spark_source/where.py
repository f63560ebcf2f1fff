"""Parser of option `where`: conditions such as `id >= 5 and day = '2026-01-02'`.

The option filters like a pushed filter, without Spark: Spark 4.3 mixes up the filters of a frame
that is used with several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from pyspark.sql import datasource as api
from pyspark.sql import types as spark

from fscontract.pipeline.spark_source.errors import SourceException

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[^\W\d]\w*|`[^`]+`)|(?P<number>-?\d{1,19})(?![\w.])|'(?P<text>(?:[^']|'')*)'"
    r"|(?P<sign><=|>=|!=|<>|[=<>(),]))\s*"
)
_COMPARING = {
    "=": api.EqualTo,
    "<": api.LessThan,
    "<=": api.LessThanOrEqual,
    ">": api.GreaterThan,
    ">=": api.GreaterThanOrEqual,
}
_INTEGERS = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_TRUTHS = {"true": True, "false": False}
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


def filters_in(text: str, schema: Any) -> list[Any]:
    """Return the Spark filters in a text, for these columns; raise SourceException."""
    return _Conditions(text, schema).read()


def check_decided(undecided: list[Any]) -> None:
    """Raise SourceException for filters of the option that the source can't evaluate."""
    if undecided:
        condition = undecided[0]
        raise SourceException(f"unsupported condition in option 'where': {condition}")


class _Conditions:
    """Parser of conditions, one token after the other."""

    def __init__(self, text: str, schema: Any) -> None:
        self._schema = schema
        self._tokens = list(_tokens(text))
        self._at = 0

    def read(self) -> list[Any]:
        """Return all conditions, which are joined by `and`."""
        conditions = self._condition()
        while self._is_next("and"):
            conditions += self._condition()
        if self._at < len(self._tokens):
            raise self._wrong("'and'")
        return conditions

    def _condition(self) -> list[Any]:
        kind, name = self._next("a column")
        if kind != "name":
            raise self._wrong("a column", back=True)
        field = self._field(name.strip("`"))
        if self._is_next("is"):
            negated = self._is_next("not")
            self._expect("null")
            return [(api.IsNotNull if negated else api.IsNull)((field.name,))]
        negated = self._is_next("not")
        filters = self._filter(field, negated)
        return [api.Not(condition) for condition in filters] if negated else filters

    def _filter(self, field: Any, negated: bool) -> list[Any]:
        column = (field.name,)
        if self._is_next("in"):
            self._expect("(")
            values = [self._value(field)]
            while self._is_next(","):
                values.append(self._value(field))
            self._expect(")")
            return [api.In(column, tuple(values))]
        if self._is_next("like"):
            return [_like(column, self._value(field))]
        if negated:
            raise self._wrong("'in' or 'like'")
        if self._is_next("between"):
            low = self._value(field)
            self._expect("and")
            high = self._value(field)
            return [api.GreaterThanOrEqual(column, low), api.LessThanOrEqual(column, high)]
        _, sign = self._next("a comparison")
        if sign in ("!=", "<>"):
            return [api.Not(api.EqualTo(column, self._value(field)))]
        if sign not in _COMPARING:
            raise self._wrong("a comparison", back=True)
        return [_COMPARING[sign](column, self._value(field))]

    def _field(self, name: str) -> Any:
        exact = [field for field in self._schema.fields if field.name == name]
        known = [field for field in self._schema.fields if field.name.lower() == name.lower()]
        if len(exact or known) != 1:
            raise SourceException(f"unknown column in option 'where': {name!r:.80}")
        return (exact or known)[0]

    def _value(self, field: Any) -> Any:
        """Return the next token as a value of the column."""
        data_type = field.dataType
        kind, text = self._next("a value")
        if kind == "name" and text.lower() == "date":
            kind, text = self._next("a date")
        type_name = data_type.simpleString()
        if kind == "number" and isinstance(data_type, _INTEGERS):
            number = int(text)
            if -(1 << _BITS[type_name]) <= number < 1 << _BITS[type_name]:
                return number
        if kind == "text" and type(data_type) is spark.StringType:
            return text
        if kind == "text" and isinstance(data_type, spark.DateType):
            try:
                return date.fromisoformat(text)
            except ValueError:
                pass
        truth = _TRUTHS.get(text.lower()) if kind == "name" else None
        if truth is not None and isinstance(data_type, spark.BooleanType):
            return truth
        raise SourceException(
            f"invalid value in option 'where': {text!r:.80} is not a valid {type_name} for "
            f"{field.name!r}"
        )

    def _next(self, expected: str) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise self._wrong(expected)
        self._at += 1
        return self._tokens[self._at - 1]

    def _is_next(self, word: str) -> bool:
        """Consume the next token if it is this one; return True if it was."""
        token = self._at < len(self._tokens) and self._tokens[self._at]
        if not token or token[0] == "text" or token[1].lower() != word:
            return False
        self._at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._is_next(word):
            raise self._wrong(repr(word))

    def _wrong(self, expected: str, back: bool = False) -> SourceException:
        start = self._at - back
        rest = " ".join(text for _, text in self._tokens[start:]) or "the end"
        return SourceException(
            f"syntax error in option 'where': expected {expected}, got {rest!r:.80}"
        )


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise SourceException(f"syntax error in option 'where' at {text[at:]!r:.80}")
        value = match[match.lastgroup]
        yield match.lastgroup, value.replace("''", "'") if match.lastgroup == "text" else value
        at = match.end()


def _like(column: tuple[str], pattern: Any) -> Any:
    """Return a pattern with `%` at its start or its end."""
    inner = pattern.strip("%") if isinstance(pattern, str) else "%"
    if "%" in inner or "_" in inner or "\\" in inner:
        raise SourceException(
            f"unsupported pattern in option 'where': {pattern!r:.80}; expected one like 'a%'"
        )
    before, after = pattern.startswith("%"), pattern.endswith("%")
    if before and after:
        return api.StringContains(column, inner)
    if before:
        return api.StringEndsWith(column, inner)
    return (api.StringStartsWith if after else api.EqualTo)(column, inner)
