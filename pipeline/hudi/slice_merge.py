"""Merge of a file slice: rows of the base file with the blocks of its logs, as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.log_records import Deletion, DeletionsBlock, RowsBlock
from fscontract.pipeline.hudi.merge_rules import MergeRules, Version

KEY = "_hoodie_record_key"
_IS_DELETED, _OPERATION = "_hoodie_is_deleted", "_hoodie_operation"
#: Operations of change streams that remove a row.
_REMOVALS = frozenset({"D", "-U"})
#: Digits after the point in a wrapped decimal.
_SCALE = 15


@dataclass(frozen=True)
class MergeTable:
    """A table of rows to merge: its merge rules, its key column, and the schema of its rows."""

    rules: MergeRules
    key: str
    schema: Any


def aligned(table: Any, schema: Any, where: str) -> Any:
    """Return a table with the columns of a schema, null where it lacks them.

    Raise MetadataException if a value can't have the column's type.
    """
    import pyarrow as pa

    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        try:
            columns.append(table[field.name].cast(field.type))
        except (pa.ArrowException, ValueError) as error:
            message = f"can't convert column {field.name!r} to {field.type}: {error}"
            raise MetadataException(where, message) from error
    return pa.table(columns, schema=schema)


def merge_slice(
    base: Any, blocks: Iterable[RowsBlock | DeletionsBlock], table: MergeTable, where: str
) -> Any:
    """Return the rows of a slice: those of the base file in order, and then inserted ones.

    `base` has the schema of `table`; `where` names the slice in errors. Raise MetadataException for
    keys and ordering values that can't be compared.
    """
    import pyarrow as pa

    tables, start = [base], base.num_rows
    versions: dict[Any, Version] = {}
    for block in blocks:
        if isinstance(block, RowsBlock):
            rows = aligned(block.table, table.schema, block.where)
            deleted = _deleted_rows(block.table, table.rules)
            _apply(versions, _versions(rows, deleted, start, table, block.where), table, block)
            tables.append(rows)
            start += rows.num_rows
        else:
            _apply(versions, _deletions(block, table), table, block)
    indices = list(_merged_rows(base, versions, table, where))
    indices += [version.row for version in versions.values() if version.row is not None]
    return pa.concat_tables(tables).take(pa.array(indices, pa.int64()))


def _apply(
    versions: dict[Any, Version],
    later: Iterable[tuple[Any, Version]],
    table: MergeTable,
    block: RowsBlock | DeletionsBlock,
) -> None:
    for key, version in later:
        earlier = versions.get(key)
        if earlier is None or _replaces(table, version, earlier, key, block.where):
            versions[key] = version


def _merged_rows(
    base: Any, versions: dict[Any, Version], table: MergeTable, where: str
) -> Iterable[int]:
    """Yield the rows that replace those of the base file; take their versions away."""
    merged = set()
    for key, current in _versions(base, [False] * base.num_rows, 0, table, where):
        if key in merged:
            raise MetadataException(where, f"can't merge records: key {key!r} occurs twice")
        version = versions.pop(key, None)
        if version is not None:
            merged.add(key)
            if not _replaces(table, version, current, key, where):
                version = current
        else:
            version = current
        if version.row is not None:
            yield version.row


def _replaces(table: MergeTable, later: Version, earlier: Version, key: Any, where: str) -> bool:
    try:
        return table.rules.replaces(later, earlier)
    except ValueError as error:
        raise MetadataException(where, f"can't merge record {key!r}: {error}") from error


def _versions(
    rows: Any, deleted: list[bool], start: int, table: MergeTable, where: str
) -> Iterable[tuple[Any, Version]]:
    """Yield the key and the version of each row; rows are numbered from `start`."""
    keys = rows[table.key].to_pylist()
    columns = [_comparable(_column(rows, name, where)) for name in table.rules.fields]
    orderings = zip(*columns, strict=True) if columns else iter([()] * len(keys))
    for number, (key, ordering, gone) in enumerate(zip(keys, orderings, deleted, strict=True)):
        if key is None:
            raise MetadataException(where, f"can't merge records: row {number} has no {table.key}")
        yield key, Version(ordering, None if gone else start + number)


def _column(rows: Any, name: str, where: str) -> Any:
    """Return a column, or a field of a struct as `column.field`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in rows.column_names:
        return rows[name]
    top, *path = name.split(".")
    try:
        return pc.struct_field(rows[top], path)
    except (KeyError, pa.ArrowException) as error:
        raise MetadataException(where, f"can't merge records: no column {name!r}") from error


def _comparable(column: Any) -> list[Any]:
    """Return the values of a column, with dates and times as numbers of the column's unit."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    return list(column.to_pylist())


def _deleted_rows(rows: Any, rules: MergeRules) -> list[bool]:
    """Return for each row of a data block if it is a deletion."""
    markers: dict[str, frozenset[Any]] = {_IS_DELETED: frozenset({True}), _OPERATION: _REMOVALS}
    if rules.delete_field is not None and rules.delete_marker is not None:
        markers[rules.delete_field] = frozenset({rules.delete_marker})
    deleted = [False] * rows.num_rows
    for name, values in markers.items():
        if name in rows.column_names:
            found = (value in values for value in rows[name].to_pylist())
            deleted = [gone or new for gone, new in zip(deleted, found, strict=True)]
    return deleted


def _deletions(block: DeletionsBlock, table: MergeTable) -> Iterable[tuple[Any, Version]]:
    for deletion in block.deletions:
        key = deletion.key if table.key == KEY else _typed_key(deletion.key, table, block.where)
        try:
            yield key, Version(_ordering(deletion, table), None)
        except ValueError as error:
            raise MetadataException(block.where, f"can't merge deletions: {error}") from error


def _typed_key(key: str, table: MergeTable, where: str) -> Any:
    import pyarrow as pa

    try:
        return pa.scalar(key).cast(table.schema.field(table.key).type).as_py()
    except pa.ArrowException as error:
        raise MetadataException(where, f"can't merge deletions: invalid key {key!r}") from error


def _ordering(deletion: Deletion, table: MergeTable) -> tuple[Any, ...] | None:
    """Return the ordering value of a deletion as rows have it; raise ValueError."""
    fields = table.rules.fields
    if deletion.wrapper is None or not fields:
        return None
    if len(fields) > 1:
        raise ValueError(f"expected {len(fields)} ordering values, got 1")
    kind = table.schema.empty_table()
    column = _column(kind, fields[0], "the table's schema").type
    if deletion.wrapper not in _wrappers(column):
        raise ValueError(f"unexpected {deletion.wrapper} for the ordering field, of type {column}")
    return (_unwrapped(deletion, column),)


def _wrappers(kind: Any) -> frozenset[str]:
    """Return the wrappers that the values of a type may have."""
    import pyarrow.types as kinds

    tests: Mapping[Any, tuple[str, ...]] = {
        kinds.is_boolean: ("BooleanWrapper",),
        kinds.is_integer: ("IntWrapper", "LongWrapper"),
        kinds.is_floating: ("FloatWrapper", "DoubleWrapper"),
        kinds.is_string: ("StringWrapper",),
        kinds.is_binary: ("BytesWrapper",),
        kinds.is_decimal: ("DecimalWrapper",),
        kinds.is_date: ("DateWrapper", "IntWrapper"),
        kinds.is_time: ("TimeMicrosWrapper", "LongWrapper"),
        kinds.is_timestamp: ("TimestampMicrosWrapper", "LongWrapper"),
    }
    return frozenset(name for test, names in tests.items() if test(kind) for name in names)


def _unwrapped(deletion: Deletion, kind: Any) -> Any:
    value = deletion.value
    if deletion.wrapper == "DecimalWrapper":
        return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-_SCALE)
    if deletion.wrapper == "TimestampMicrosWrapper" and kind.unit != "us":
        value, rest = divmod(value, 1000) if kind.unit == "ms" else (value * 1000, 0)
        if rest:
            raise ValueError(f"can't convert {deletion.value} microseconds to {kind}")
    return value
