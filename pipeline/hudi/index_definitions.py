"""Definitions of a dataset's indexes, which Hudi 1.x keeps in a JSON file of the dataset."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi.changes import below
from fscontract.pipeline.hudi.io import MetadataException, read_file, write_file
from fscontract.pipeline.hudi.table_location import COLUMNS, is_typed
from fscontract.pipeline.hudi.timeline import COLUMN_STATS, RECORD_INDEX

#: Property with the path of the file, below the dataset.
_PATH = "hoodie.table.index.defs.path"
_DEFAULT_PATH = ".hoodie/.index_defs/index.json"
_DEFINITIONS, _FIELDS, _VERSION = "indexDefinitions", "sourceFields", "version"
_OPTIONS = "indexOptions"
_MAX_BYTES = 4 << 20


@dataclass(frozen=True)
class IndexedColumns:
    """Columns with statistics. If `typed`, statistics have Hudi's second version."""

    names: tuple[str, ...] = ()
    typed: bool = False


def indexed_columns(fs: FileSystem, path: str, properties: Mapping[str, str]) -> IndexedColumns:
    """Return the columns with statistics of the dataset at `path`.

    This package names them in the properties, and Hudi in the definition of its index. Raise
    MetadataException if the definitions are damaged.
    """
    named = tuple(column for column in properties.get(COLUMNS, "").split(",") if column)
    definition = _definitions(fs, path, properties).get(COLUMN_STATS, {})
    fields = definition.get(_FIELDS, [])
    if not isinstance(fields, list) or not all(isinstance(field, str) for field in fields):
        raise MetadataException(path, f"invalid index definitions: {_FIELDS} must be names")
    typed = is_typed(properties) and definition.get(_VERSION, "V1") != "V1"
    return IndexedColumns(named or tuple(fields), typed)


def is_partitioned(fs: FileSystem, path: str, properties: Mapping[str, str]) -> bool:
    """Return True if the index of records has its own keys in each partition of the dataset."""
    options = _definitions(fs, path, properties).get(RECORD_INDEX, {}).get(_OPTIONS)
    return isinstance(options, dict) and str(options.get("isPartitioned")).lower() == "true"


def with_columns(properties: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Return properties that name the columns, unless the dataset has definitions of indexes."""
    others = {key: value for key, value in properties.items() if key != COLUMNS}
    return others if properties.get(_PATH) else {**others, COLUMNS: ",".join(columns)}


def default_path(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the property of a table of version 9 that has no path of definitions yet."""
    has_path = bool(properties.get(_PATH))
    return {} if has_path or not is_typed(properties) else {_PATH: _DEFAULT_PATH}


def put_definition(
    fs: FileSystem, path: str, properties: Mapping[str, str], columns: Sequence[str]
) -> None:
    """Define the columns with statistics, in a dataset that has definitions of indexes."""
    if properties.get(_PATH):
        definitions = _definitions(fs, path, properties)
        known = definitions.get(COLUMN_STATS, {})
        definition = {
            "indexName": COLUMN_STATS,
            "indexType": COLUMN_STATS,
            "indexFunction": COLUMN_STATS,
            _OPTIONS: {},
            _VERSION: "V2" if is_typed(properties) and not known else "V1",
        }
        named = {**definition, **known, _FIELDS: list(columns)}
        if named != known:
            _write(fs, path, properties, {**definitions, COLUMN_STATS: named})


def put_record_index(fs: FileSystem, path: str, properties: Mapping[str, str]) -> None:
    """Define the index of records, as Hudi does from version 9 of tables."""
    if properties.get(_PATH) and is_typed(properties):
        definition = {
            "indexName": RECORD_INDEX,
            "indexType": RECORD_INDEX,
            "indexFunction": "",
            _FIELDS: [],
            _OPTIONS: {"isPartitioned": "false"},
            _VERSION: "V1",
        }
        definitions = _definitions(fs, path, properties)
        _write(fs, path, properties, {**definitions, RECORD_INDEX: definition})


def remove_definitions(
    fs: FileSystem, path: str, properties: Mapping[str, str], kept: Collection[str]
) -> None:
    """Remove the definitions of indexes that are not kept."""
    definitions = _definitions(fs, path, properties)
    remaining = {name: entry for name, entry in definitions.items() if name in kept}
    if len(remaining) < len(definitions):
        _write(fs, path, properties, remaining)


def _write(
    fs: FileSystem, path: str, properties: Mapping[str, str], definitions: Mapping[str, object]
) -> None:
    content = json.dumps({_DEFINITIONS: definitions}, indent=2).encode()
    write_file(fs, _file(path, properties), content, replace=True)


def _file(path: str, properties: Mapping[str, str]) -> str:
    return f"{path}/{below('', properties[_PATH])}"


def _definitions(
    fs: FileSystem, path: str, properties: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the definitions by index; none if the dataset has no such file."""
    if not properties.get(_PATH):
        return {}
    file = _file(path, properties)
    try:
        size = fs.get_file_status(file).length
        if size > _MAX_BYTES:
            raise MetadataException(
                file, f"index definitions too large: {size} bytes; must be at most {_MAX_BYTES}"
            )
        parsed = parse_json(read_file(fs, file))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise MetadataException(file, f"can't read the index definitions: {error}") from error
    found = parsed.get(_DEFINITIONS, {}) if isinstance(parsed, dict) else None
    if not isinstance(found, dict) or not all(isinstance(item, dict) for item in found.values()):
        raise MetadataException(file, f"invalid index definitions: expected {_DEFINITIONS}")
    return found
