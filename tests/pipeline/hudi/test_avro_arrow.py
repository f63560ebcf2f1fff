"""Tests of Arrow types and values of Avro records."""

from __future__ import annotations

import io
import json
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from fscontract.pipeline.hudi.avro import data_schema, decode_record
from fscontract.pipeline.hudi.avro_arrow import arrow_schema, arrow_table

_POINT = {
    "type": "record",
    "name": "Point",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "float"]}],
}
#: Avro types, the Arrow type of each, and a value as Python has it.
TYPES: list[tuple[Any, pa.DataType, Any]] = [
    ("boolean", pa.bool_(), True),
    ("int", pa.int32(), -5),
    ("long", pa.int64(), 1 << 40),
    ("float", pa.float32(), 0.5),
    ("double", pa.float64(), 0.1),
    ("bytes", pa.binary(), b"\x00\xff"),
    ("string", pa.string(), "\u00e9"),
    ({"type": "string", "avro.java.string": "String"}, pa.string(), "a"),
    ({"type": "enum", "name": "Side", "symbols": ["LEFT", "RIGHT"]}, pa.string(), "RIGHT"),
    ({"type": "fixed", "name": "Id", "size": 2}, pa.binary(2), b"ab"),
    ({"type": "int", "logicalType": "date"}, pa.date32(), date(2026, 1, 2)),
    ({"type": "int", "logicalType": "time-millis"}, pa.time32("ms"), time(1, 2, 3)),
    ({"type": "long", "logicalType": "time-micros"}, pa.time64("us"), time(1, 2, 3, 4)),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        pa.timestamp("ms", "UTC"),
        datetime(1960, 1, 2, 3, tzinfo=timezone.utc),
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        pa.timestamp("us", "UTC"),
        datetime(2026, 1, 2, 3, 4, 5, 6, timezone.utc),
    ),
    (
        {"type": "long", "logicalType": "local-timestamp-micros"},
        pa.timestamp("us"),
        datetime(2026, 1, 2, 3, 4, 5, 6),
    ),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2},
        pa.decimal128(38, 2),
        Decimal("-123456789012345678901234567890123456.78"),
    ),
    (
        {"type": "fixed", "name": "D", "size": 5, "logicalType": "decimal", "precision": 10,
         "scale": 5},
        pa.decimal128(10, 5),
        Decimal("-0.00001"),
    ),
    ({"type": "array", "items": ["null", "int"]}, pa.list_(pa.int32()), [1, None]),
    ({"type": "map", "values": "long"}, pa.map_(pa.string(), pa.int64()), [("a", 1)]),
    (_POINT, pa.struct([("x", pa.int32()), ("y", pa.float32())]), {"x": 1, "y": None}),
]  # fmt: skip


def record(kind: Any) -> dict[str, Any]:
    """Return the schema of a record with one field that may be null."""
    return {"type": "record", "name": "row", "fields": [{"name": "f", "type": ["null", kind]}]}


@pytest.mark.parametrize(("kind", "expected", "value"), TYPES, ids=str)
def test_values_of_an_avro_type_become_those_of_its_arrow_type(
    kind: Any, expected: pa.DataType, value: Any
) -> None:
    schema = record(kind)
    rows = []
    for given in (dict(value) if expected == TYPES[-2][1] else value, None):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {"f": given})
        rows.append(decode_record(out.getvalue(), data_schema(json.dumps(schema))))
    table = arrow_table(rows, arrow_schema(json.dumps(schema)))
    assert table.schema == pa.schema([("f", expected)])
    assert table["f"].to_pylist() == [value, None]


def test_a_named_type_is_found_by_its_full_name_in_its_namespace() -> None:
    fields = [
        {"name": "a", "type": {**_POINT, "namespace": "geo"}},
        {"name": "b", "type": "geo.Point"},
        {"name": "c", "type": ["null", "geo.Point"]},
    ]
    schema = arrow_schema(json.dumps({"type": "record", "name": "r", "fields": fields}))
    assert schema.field("a").type == schema.field("b").type == schema.field("c").type


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("int", "expected the Avro schema of a record"),
        (record(["int", "string"]), "invalid Avro union"),
        ({**record("int"), "fields": [{"name": "f", "type": ["int", "string"]}]}, "of 2 types"),
        (record({"type": "bytes", "logicalType": "decimal", "precision": 99}), "Avro decimal"),
        (
            {**record("int"), "fields": 2 * record("int")["fields"]},
            "two fields of the same name|can't read the Avro schema",
        ),
        (record("row"), "recursive Avro type"),
    ],
)
def test_schemas_without_arrow_schema_are_refused(schema: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        arrow_schema(json.dumps(schema))


def test_a_value_out_of_range_is_refused() -> None:
    schema = arrow_schema(
        json.dumps(record({"type": "bytes", "logicalType": "decimal", "precision": 3}))
    )
    with pytest.raises(ValueError, match="can't convert the records"):
        arrow_table([{"f": b"\x7f\xff"}], schema)
