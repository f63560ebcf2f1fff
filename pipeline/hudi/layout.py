"""Inference of a dataset's properties from its directories and Parquet files.

Other readers of Hudi tables need the partition fields, the schema of the rows, and a first commit;
Hudi's own writers need the record key. A plain directory of files states none of them. They are
inferred if the files allow it; a warning names the missing ones.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.changes import Sizes, below
from fscontract.pipeline.hudi.column_stats import can_pack
from fscontract.pipeline.hudi.io import MetadataWarning, in_threads
from fscontract.pipeline.hudi.parquet_stats import SUFFIX, read_footer, statistics_of
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table_location import KEY_GENERATOR, SCHEMA

PARTITION_FIELDS = "hoodie.table.partition.fields"
HIVE_STYLE = "hoodie.datasource.write.hive_style_partitioning"
RECORD_KEY = "hoodie.table.recordkey.fields"
#: Maximum number of files whose footers are read, from as many partitions as possible.
_SAMPLES = 16
_HIVE = re.compile(r"([^=]+)=(.*)", re.DOTALL)
#: File group, token and instant: names that other readers of Hudi tables accept.
_HUDI_NAME = re.compile(r"[^_]+_[^_]+_\d{17}\.\w+")
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Prefix of fields that Hudi adds to each row, which are not part of a table's schema.
_META_FIELD = "_hoodie_"
_MIN_KEY, _MAX_KEY = b"hoodie_min_record_key", b"hoodie_max_record_key"


@dataclass(frozen=True)
class DeclaredProperties:
    """Properties declared by the user; None means to infer. `schema` is Avro as JSON."""

    partition_fields: Sequence[str] | None = None
    record_key: Sequence[str] | None = None
    schema: str | None = None


@dataclass(frozen=True)
class _Sample:
    """Footer of one file: its columns, their ranges, and its key-value metadata."""

    partition: str
    columns: Any
    ranges: Mapping[str, ColumnStatistics]
    notes: Mapping[bytes, bytes]


def infer_properties(
    fs: FileSystem, path: str, sizes: Sizes, declared: DeclaredProperties | None = None
) -> dict[str, str]:
    """Return the properties of a dataset with these files, as declared or inferred.

    This reads the footers of up to 16 Parquet files, if PyArrow is installed. One MetadataWarning
    names the missing properties, and the command options that set them.
    """
    declared = declared or DeclaredProperties()
    partitions = sorted(name for name, files in sizes.items() if files)
    samples = _samples(fs, path, sizes)
    missing: list[str] = []
    properties: dict[str, str] = {}
    names = _hive_names(partitions)
    fields = declared.partition_fields
    if fields is None:
        fields = names if names is not None else _plain_names(partitions, samples)
    if fields is None:
        missing.append("partition fields (--partition-fields NAMES)")
    elif fields:
        properties[PARTITION_FIELDS] = ",".join(fields)
    if fields is not None:
        properties[HIVE_STYLE] = "true" if names else "false"
    key = declared.record_key if declared.record_key is not None else _record_key(samples)
    if key:
        properties[RECORD_KEY] = ",".join(key)
    else:
        missing.append("record key (--record-key NAMES)")
    if fields is not None:
        properties[KEY_GENERATOR] = _generator(fields, key or ())
    schema = declared.schema if declared.schema is not None else _schema(samples, fields or ())
    if schema is None:
        missing.append("schema (--schema FILE)")
    elif fields is not None:  # without them no reader could use it
        properties[SCHEMA] = schema
    _warn(path, missing, _other_names(sizes))
    return properties


def _warn(path: str, missing: Sequence[str], foreign: Sequence[str]) -> None:
    messages = []
    if missing:
        named = ", ".join(missing)
        messages.append(
            f"not found in the files: {named}; to set them, delete and create the table"
        )
    if foreign:
        messages.append(
            f"{len(foreign)} files, such as {foreign[0]!r}, do not follow Hudi's naming, so "
            "other readers of Hudi tables reject the dataset"
        )
    if messages:
        warnings.warn(f"{path}: {'; '.join(messages)}", MetadataWarning, stacklevel=3)


def _generator(fields: Sequence[str], key: Sequence[str]) -> str:
    if not fields:
        return "NON_PARTITION"
    return "SIMPLE" if len(fields) == 1 and len(key) <= 1 else "COMPLEX"


def _other_names(sizes: Sizes) -> list[str]:
    """Return the files that do not follow Hudi's naming."""
    return [
        below(partition, name)
        for partition, files in sizes.items()
        for name in files
        if not _HUDI_NAME.fullmatch(name)
    ]


def _hive_names(partitions: Sequence[str]) -> list[str] | None:
    """Return the fields of names such as `year=2024/month=1`; None for other names."""
    if not any(partitions):
        return [] if partitions else None
    variants = set()
    for name in partitions:
        parts = [_HIVE.fullmatch(part) for part in name.split("/")]
        variants.add(tuple(part[1] if part else "" for part in parts))
    if len(variants) != 1:
        return None
    (names,) = variants
    return list(names) if all(names) and len(set(names)) == len(names) else None


def _plain_names(partitions: Sequence[str], samples: Sequence[_Sample]) -> list[str] | None:
    """Return the columns whose only value is the name of the directory, one per level."""
    depths = {len(name.split("/")) if name else 0 for name in partitions}
    if len(depths) != 1 or not samples:
        return None
    names: list[str] = []
    for level in range(depths.pop()):
        fitting = [
            {
                column
                for column, known in sample.ranges.items()
                if sample.partition.split("/")[level] in _only_value(known)
            }
            for sample in samples
        ]
        common = set.intersection(*fitting) - set(names)
        if len(common) != 1:
            return None
        names.append(common.pop())
    return names


def _only_value(known: ColumnStatistics) -> set[str]:
    """Return the texts of the only value of a column in a file; none if it may have several."""
    value = known.minimum
    if value is None or value != known.maximum or known.null_count != 0:
        return set()
    if known.wrapper == "DateWrapper" and isinstance(value, int):
        try:
            return {(date(1970, 1, 1) + timedelta(days=value)).isoformat()}
        except OverflowError:
            return set()
    return {str(value)}


def _record_key(samples: Sequence[_Sample]) -> list[str] | None:
    """Return the column whose range equals that of the keys, which Hudi stores in its files."""
    common: set[str] | None = None
    for sample in samples:
        low, high = sample.notes.get(_MIN_KEY), sample.notes.get(_MAX_KEY)
        fitting = {
            column
            for column, known in sample.ranges.items()
            if None not in (low, high)
            and (str(known.minimum).encode(), str(known.maximum).encode()) == (low, high)
        }
        common = fitting if common is None else common & fitting
    return list(common) if common and len(common) == 1 else None


def _samples(fs: FileSystem, path: str, sizes: Sizes) -> list[_Sample]:
    """Return samples of files, first one per partition; none without PyArrow."""
    if not can_pack():
        return []
    candidates = [
        [(partition, name, size) for name, size in sorted(files.items()) if name.endswith(SUFFIX)]
        for partition, files in sorted(sizes.items())
    ]
    candidates = [files for files in candidates if files]
    step = max(1, len(candidates) // _SAMPLES)
    chosen = [files[-1] for files in candidates[::step]][:_SAMPLES]
    chosen += [sample for files in candidates for sample in files[:-1]][: _SAMPLES - len(chosen)]
    return [
        sample for sample in in_threads(partial(_sample, fs, path), chosen) if sample is not None
    ]


def _sample(fs: FileSystem, path: str, file: tuple[str, str, int]) -> _Sample | None:
    partition, name, size = file
    try:
        footer = read_footer(fs, FileStatus(f"{path}/{below(partition, name)}", size))
        columns = footer.schema.to_arrow_schema()
    except (OSError, ValueError, NotImplementedError):
        return None
    ranges = {
        statistics.column: statistics
        for statistics in statistics_of(name, footer, None)
        if not statistics.column.startswith(_META_FIELD)
    }
    return _Sample(partition, columns, ranges, footer.metadata or {})


def _schema(samples: Sequence[_Sample], fields: Sequence[str]) -> str | None:
    """Return the Avro schema of the rows; None if the files have none, or conflicting ones.

    A partition field that is missing in the files is a string, as in the name of its directory.
    """
    if not samples:
        return None
    import pyarrow as pa

    try:
        unified = pa.unify_schemas([item.columns for item in samples])
        avro_fields = [
            {"name": _name(item.name), "type": ["null", _avro(item.type, item.name)],
             "default": None}
            for item in unified
            if not item.name.startswith(_META_FIELD)
        ]  # fmt: skip
        avro_fields += [
            {"name": _name(item), "type": ["null", "string"], "default": None}
            for item in fields
            if item not in unified.names
        ]
    except (pa.ArrowException, ValueError):
        return None
    if not avro_fields:
        return None
    return json.dumps(
        {"type": "record", "name": "row", "fields": avro_fields}, separators=(",", ":")
    )


def _name(text: str) -> str:
    """Return a valid Avro name; raise ValueError."""
    if not _AVRO_NAME.fullmatch(text):
        raise ValueError(f"not a valid Avro name: {text!r}")
    return text


def _avro(kind: Any, name: str) -> Any:
    """Return the Avro type of an Arrow type; raise ValueError. `name`, a path, names records."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _avro(kind.value_type, name)
    if types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return {
            "type": "record",
            "name": _name(name.replace(".", "_")),
            "fields": [_avro_field(field, f"{name}.{field.name}") for field in fields],
        }
    if types.is_map(kind):
        if not types.is_string(kind.key_type):
            raise ValueError("map keys must be strings")
        return {"type": "map", "values": ["null", _avro(kind.item_type, f"{name}.value")]}
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        items = ["null", _avro(kind.value_type, f"{name}.element")]
        return {"type": "array", "items": items}
    return _simple(kind)


def _avro_field(field: Any, name: str) -> dict[str, Any]:
    kind = ["null", _avro(field.type, name)]
    return {"name": _name(field.name), "type": kind, "default": None}


def _simple(kind: Any) -> Any:
    import pyarrow as pa

    types = pa.types
    if types.is_decimal(kind):
        return {
            "type": "bytes",
            "logicalType": "decimal",
            "precision": kind.precision,
            "scale": kind.scale,
        }
    if types.is_timestamp(kind):
        unit = "millis" if kind.unit in ("s", "ms") else "micros"
        # Also without a time zone: hudi-rs 0.5.0 panics on Avro's local-timestamp-micros.
        return {"type": "long", "logicalType": f"timestamp-{unit}"}
    if types.is_date(kind):
        return {"type": "int", "logicalType": "date"}
    if types.is_time(kind):
        return {"type": "long", "logicalType": "time-micros"}
    if types.is_integer(kind):
        return "int" if kind.bit_width < 32 or kind == pa.int32() else "long"
    if types.is_floating(kind):
        return "double" if kind == pa.float64() else "float"
    for test, name in (
        (types.is_boolean, "boolean"),
        (types.is_string, "string"),
        (types.is_large_string, "string"),
        (types.is_binary, "bytes"),
        (types.is_large_binary, "bytes"),
        (types.is_fixed_size_binary, "bytes"),
    ):
        if test(kind):
            return name
    raise ValueError(f"no Avro type for {kind}")
