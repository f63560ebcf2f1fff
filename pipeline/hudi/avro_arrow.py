"""Arrow types and values of rows that are encoded by an Avro schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi.avro import data_schema

#: Enough digits for every decimal that Arrow has.
_EXACT = Context(prec=100)
_TIMESTAMPS = {
    f"{prefix}timestamp-{name}": (unit, zone)
    for prefix, zone in (("", "UTC"), ("local-", None))
    for name, unit in (("millis", "ms"), ("micros", "us"), ("nanos", "ns"))
}


@lru_cache(maxsize=16)
def arrow_schema(text: str) -> Any:
    """Return the Arrow schema of an Avro record, with fields that may be null.

    Raise ValueError for an invalid schema, and for types without an Arrow type.
    """
    data_schema(text)  # bounds depth and number of types
    schema = parse_json(text)
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ValueError("expected the Avro schema of a record")
    import pyarrow as pa

    fields = list(_ArrowTypes().of(schema, ""))
    if len({field.name for field in fields}) < len(fields):
        raise ValueError("the Avro record has two fields of the same name")
    return pa.schema(fields)


def arrow_table(rows: Sequence[Mapping[str, Any]], schema: Any) -> Any:
    """Return a table of decoded Avro records; raise ValueError for values out of range."""
    import pyarrow as pa

    try:
        columns = [
            pa.array([_value(row[field.name], field.type) for row in rows], field.type)
            for field in schema
        ]
    except (pa.ArrowException, ArithmeticError, TypeError) as error:
        raise ValueError(f"can't convert the records: {error}") from error
    return pa.table(columns, schema=schema)


class _ArrowTypes:
    """Converts types of one schema, and remembers its named types."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {}

    def of(self, kind: Any, namespace: str) -> Any:
        """Return the Arrow type of an Avro type; raise ValueError."""
        import pyarrow as pa

        if isinstance(kind, list):
            branches = [branch for branch in kind if branch != "null"]
            if len(branches) != 1:
                raise ValueError(f"unsupported Avro union of {len(branches)} types")
            return self.of(branches[0], namespace)
        if isinstance(kind, str):
            return self._named(kind, namespace)
        name = kind["type"]
        if name == "record":
            below = self._full_name(kind, namespace).rpartition(".")[0]
            fields = (pa.field(f["name"], self.of(f["type"], below)) for f in kind["fields"])
            record = pa.struct(list(fields))
            self._names[self._full_name(kind, namespace)] = record
            return record
        if name == "array":
            return pa.list_(self.of(kind["items"], namespace))
        if name == "map":
            return pa.map_(pa.string(), self.of(kind["values"], namespace))
        if name in ("fixed", "enum"):
            plain = pa.string() if name == "enum" else pa.binary(kind["size"])
            self._names[self._full_name(kind, namespace)] = found = _logical(kind) or plain
            return found
        return _logical(kind) or self.of(name, namespace)

    def _named(self, name: str, namespace: str) -> Any:
        import pyarrow as pa

        plain = {
            "boolean": pa.bool_(),
            "int": pa.int32(),
            "long": pa.int64(),
            "float": pa.float32(),
            "double": pa.float64(),
            "bytes": pa.binary(),
            "string": pa.string(),
        }
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        return plain[name] if name in plain else self._names[full]

    @staticmethod
    def _full_name(kind: Mapping[str, Any], namespace: str) -> str:
        name, own = kind["name"], kind.get("namespace", namespace)
        return name if "." in name or not own else f"{own}.{name}"


def _logical(kind: Mapping[str, Any]) -> Any:
    """Return the Arrow type of a logical type; None for others."""
    import pyarrow as pa

    physical, name = kind["type"], kind.get("logicalType")
    if name == "decimal" and physical in ("bytes", "fixed"):
        try:
            return pa.decimal128(kind.get("precision"), kind.get("scale", 0))
        except (TypeError, ValueError) as error:
            raise ValueError(f"unsupported Avro decimal: {error}") from error
    if physical == "int" and name in ("date", "time-millis"):
        return pa.date32() if name == "date" else pa.time32("ms")
    if physical == "long" and name == "time-micros":
        return pa.time64("us")
    if physical == "long" and isinstance(name, str) and name in _TIMESTAMPS:
        return pa.timestamp(*_TIMESTAMPS[name])
    return None


def _value(value: Any, kind: Any) -> Any:
    """Return a decoded value in the form from which Arrow makes the type."""
    import pyarrow.types as kinds

    if value is None:
        return None
    if kinds.is_struct(kind):
        return {field.name: _value(value[field.name], field.type) for field in kind}
    if kinds.is_map(kind):
        return list(_entries(value, kind))
    if kinds.is_list(kind):
        return [_value(item, kind.value_type) for item in value]
    if kinds.is_decimal(kind):
        return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-kind.scale, _EXACT)
    return value


def _entries(value: Mapping[str, Any], kind: Any) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        yield key, _value(item, kind.item_type)
