"""The columns of the source as Spark's schema, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from fscontract.pipeline.datasource.errors import SourceException
from fscontract.pipeline.datasource.options import COLUMNS

_TYPES = {"path": StringType, "block_id": LongType, "offset": LongType}


def schema_of(columns: Sequence[str], binary: bool) -> Any:
    """The schema with these columns; `binary` is for the value."""
    value = BinaryType if binary else StringType
    fields = [StructField(name, _TYPES.get(name, value)(), nullable=False) for name in columns]
    return StructType(fields)


def check_schema(schema: Any) -> tuple[tuple[str, ...], bool | None]:
    """The columns of a schema, and whether the value is binary, None without one.

    SourceException for a column that there is not, or of another type.
    """
    names = tuple(field.name for field in schema.fields)
    if len(set(names)) != len(names) or not set(names) <= set(COLUMNS):
        raise SourceException(f"the columns are {', '.join(COLUMNS)}, not {', '.join(names)}")
    binary: bool | None = None
    for field in schema.fields:
        if field.name == "value":
            binary = isinstance(field.dataType, BinaryType)
        wanted = _TYPES.get(field.name, BinaryType if binary else StringType)
        if field.dataType != wanted():
            types = f"{wanted().simpleString()}, not {field.dataType.simpleString()}"
            raise SourceException(f"the type of column {field.name!r} is {types}")
    return names, binary
