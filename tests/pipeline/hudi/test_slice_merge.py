"""Tests of the merge of a base file's rows with blocks of its logs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.log_records import Deletion, DeletionsBlock, RowsBlock
from fscontract.pipeline.hudi.merge_rules import MergeRules
from fscontract.pipeline.hudi.slice_merge import KEY, MergeTable, aligned, merge_slice

TYPE = pa.int64()
DECIMAL_FIVE = (5 * 10**15).to_bytes(8, "big")


def rows(kind: pa.DataType, *values: tuple[str, Any], **further: list[Any]) -> pa.Table:
    """Return rows of keys and ordering values."""
    keys = pa.array([key for key, _ in values], pa.string())
    ordering = pa.array([value for _, value in values], kind)
    return pa.table({KEY: keys, "ts": ordering, **further})


def merged(base: pa.Table, *blocks: RowsBlock | DeletionsBlock, **rules: Any) -> list[Any]:
    """Return the merged rows: pairs of key and ordering value."""
    table = MergeTable(MergeRules(**{"fields": ("ts",), **rules}), KEY, base.schema)
    result = merge_slice(base, blocks, table, "/t/log")
    return [tuple(row.values()) for row in result.to_pylist()]


def data(kind: pa.DataType, *values: tuple[str, Any], **further: list[Any]) -> RowsBlock:
    return RowsBlock("/t/log", rows(kind, *values, **further))


def deletions(*deleted: Deletion) -> DeletionsBlock:
    return DeletionsBlock("/t/log", deleted)


def test_updated_rows_keep_their_place_and_inserted_ones_follow() -> None:
    base = rows(TYPE, ("a", 1), ("b", 1))
    assert merged(base, data(TYPE, ("c", 1), ("a", 2))) == [("a", 2), ("b", 1), ("c", 1)]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("_hoodie_is_deleted", [True, False, None]),
        ("_hoodie_operation", ["D", "U", None]),
        ("Op", ["x", "D", None]),
    ],
)
def test_rows_marked_as_deleted_are_deletions(column: str, values: list[Any]) -> None:
    block = data(TYPE, ("a", 2), ("b", 2), ("c", 2), **{column: values})
    found = merged(rows(TYPE, ("a", 1)), block, delete_field="Op", delete_marker="x")
    assert found == [("b", 2), ("c", 2)]


def test_a_marked_deletion_with_a_smaller_ordering_value_deletes_nothing() -> None:
    block = data(TYPE, ("a", 0), _hoodie_is_deleted=[True])
    assert merged(rows(TYPE, ("a", 1)), block) == [("a", 1)]


@pytest.mark.parametrize(
    ("kind", "value", "wrapper", "same", "smaller"),
    [
        (pa.int32(), 5, "IntWrapper", 5, 4),
        (pa.float64(), 5.0, "DoubleWrapper", 5.0, 4.5),
        (pa.string(), "m", "StringWrapper", "m", "a"),
        (pa.binary(), b"m", "BytesWrapper", b"m", b"a"),
        (pa.date32(), 5, "DateWrapper", 5, 4),
        (pa.time64("us"), 5, "TimeMicrosWrapper", 5, 4),
        (pa.timestamp("us", "UTC"), 5, "TimestampMicrosWrapper", 5, 4),
        (pa.timestamp("ms"), 5, "TimestampMicrosWrapper", 5000, 4000),
        (pa.timestamp("ms"), 5, "LongWrapper", 5, 4),
        (pa.decimal128(5, 2), 5, "DecimalWrapper", DECIMAL_FIVE, b"\0"),
    ],
    ids=str,
)
def test_deletions_compare_with_ordering_values_of_every_type(
    kind: pa.DataType, value: Any, wrapper: str, same: Any, smaller: Any
) -> None:
    base = rows(kind, ("a", value))
    assert merged(base, deletions(Deletion("a", wrapper, same))) == []
    assert len(merged(base, deletions(Deletion("a", wrapper, smaller)))) == 1


@pytest.mark.parametrize(
    ("kind", "deletion", "message"),
    [
        (pa.int64(), Deletion("a", "StringWrapper", "5"), "unexpected StringWrapper"),
        (pa.timestamp("ms"), Deletion("a", "TimestampMicrosWrapper", 5001), "5001 microseconds"),
    ],
)
def test_deletions_with_other_ordering_values_are_refused(
    kind: pa.DataType, deletion: Deletion, message: str
) -> None:
    with pytest.raises(MetadataException, match=message):
        merged(rows(kind, ("a", 5)), deletions(deletion))


def test_an_ordering_field_may_be_a_field_of_a_struct() -> None:
    base = rows(pa.struct([("at", TYPE)]), ("a", {"at": 5}))
    late, early = (data(base.schema.field("ts").type, ("a", {"at": at})) for at in (6, 4))
    assert merged(base, late, fields=("ts.at",)) == [("a", {"at": 6})]
    assert merged(base, early, fields=("ts.at",)) == [("a", {"at": 5})]
    with pytest.raises(MetadataException, match=r"no column 'ts\.on'"):
        merged(base, late, fields=("ts.on",))


def test_a_key_that_occurs_twice_is_refused_only_if_it_was_changed() -> None:
    base = rows(TYPE, ("a", 1), ("a", 1), ("b", 1))
    assert merged(base, data(TYPE, ("b", 2))) == [("a", 1), ("a", 1), ("b", 2)]
    with pytest.raises(MetadataException, match="key 'a' occurs twice"):
        merged(base, data(TYPE, ("a", 2)))


def test_a_row_without_key_is_refused() -> None:
    block = RowsBlock("/t/log", rows(TYPE, ("a", 1)).drop_columns([KEY]))
    with pytest.raises(MetadataException, match="row 0 has no _hoodie_record_key"):
        merged(rows(TYPE), block)


def test_values_that_cannot_be_compared_are_refused_with_their_key() -> None:
    with pytest.raises(MetadataException, match="can't merge record 'a': can't compare"):
        merged(rows(TYPE, ("a", 1)), data(TYPE, ("a", None)))


def test_columns_are_cast_to_the_schema_and_null_if_missing() -> None:
    schema = pa.schema([("ts", pa.int64()), ("new", pa.string())])
    assert aligned(rows(pa.int32(), ("a", 1)), schema, "/t/f").to_pylist() == [
        {"ts": 1, "new": None}
    ]


def test_a_value_that_the_schema_cannot_hold_is_refused() -> None:
    with pytest.raises(MetadataException, match="can't convert column 'ts' to int32"):
        aligned(rows(TYPE, ("a", 1 << 40)), pa.schema([("ts", pa.int32())]), "/t/f")
