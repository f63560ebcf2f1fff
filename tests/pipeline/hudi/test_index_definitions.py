"""Tests of the definitions of indexes that Hudi 1.x keeps beside its properties."""

from __future__ import annotations

import json

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.index_definitions import (
    IndexedColumns,
    default_path,
    indexed_columns,
    is_partitioned,
    put_definition,
    put_record_index,
    remove_definitions,
)
from fscontract.pipeline.hudi.io import MetadataException
from tests.pipeline.hudi.support import DEFINITIONS, PATH, get, put

HUDI = {
    "hoodie.table.index.defs.path": ".hoodie/.index_defs/index.json",
    "hoodie.table.version": "9",
}
OWN = {"hoodie.metadata.index.column.stats.column.list": "a,b"}


def defined(content: str | bytes) -> FileSystem:
    """Return a filesystem with these definitions."""
    fs = MemoryFileSystem()
    put(fs, DEFINITIONS, content if isinstance(content, bytes) else content.encode())
    return fs


def test_columns_are_those_of_the_properties_or_of_the_definition() -> None:
    fs = defined('{"indexDefinitions": {"column_stats": {"sourceFields": ["x"], "version": "V2"}}}')
    assert indexed_columns(fs, PATH, HUDI) == IndexedColumns(("x",), typed=True)
    assert indexed_columns(fs, PATH, OWN) == IndexedColumns(("a", "b"), typed=False)
    assert not indexed_columns(fs, PATH, {**HUDI, "hoodie.table.version": "8"}).typed
    assert indexed_columns(fs, PATH, {**HUDI, **OWN}) == IndexedColumns(("a", "b"), typed=True)


def test_definition_without_a_version_has_the_first() -> None:
    fs = defined('{"indexDefinitions": {"column_stats": {"sourceFields": ["x"]}}}')
    assert not indexed_columns(fs, PATH, HUDI).typed


@pytest.mark.parametrize("properties", [{}, HUDI, {"hoodie.table.index.defs.path": ""}])
def test_without_definitions_there_are_no_columns(properties: dict[str, str]) -> None:
    assert indexed_columns(MemoryFileSystem(), PATH, properties) == IndexedColumns()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "can't read the index definitions"),
        ("[]", "expected indexDefinitions"),
        ('{"indexDefinitions": {"column_stats": 1}}', "expected indexDefinitions"),
        ('{"indexDefinitions": {"column_stats": {"sourceFields": "x"}}}', "sourceFields"),
        ('{"indexDefinitions": {"column_stats": {"sourceFields": [1]}}}', "sourceFields"),
        (b" " * (5 << 20), "too large: 5242880 bytes"),
    ],
)
def test_damaged_definitions_are_rejected(content: str | bytes, message: str) -> None:
    with pytest.raises(MetadataException, match=message):
        indexed_columns(defined(content), PATH, HUDI)


@pytest.mark.parametrize("path", ["../other.json", "/etc/passwd", "a/../../b"])
def test_definitions_outside_the_dataset_are_rejected(path: str) -> None:
    with pytest.raises(MetadataException, match="must be below the dataset"):
        indexed_columns(MemoryFileSystem(), PATH, {"hoodie.table.index.defs.path": path})


@pytest.mark.parametrize(
    ("version", "known", "typed"),
    [
        ("8", None, False),
        ("9", None, True),
        ("9", {"version": "V2"}, True),
        ("9", {"version": "V1"}, False),
        ("9", {"sourceFields": ["y"]}, False),
    ],
)
def test_new_columns_keep_the_version_of_a_definition(
    version: str, known: dict[str, object] | None, typed: bool
) -> None:
    """A new definition has that of the table."""
    fs = defined(json.dumps({"indexDefinitions": {"column_stats": known} if known else {}}))
    properties = {**HUDI, "hoodie.table.version": version}
    put_definition(fs, PATH, properties, ["x"])
    assert indexed_columns(fs, PATH, properties) == IndexedColumns(("x",), typed)


def test_dataset_without_definitions_gets_none() -> None:
    fs = MemoryFileSystem()
    put_definition(fs, PATH, {}, ["x"])
    assert not list(fs.list_status("/"))


@pytest.mark.parametrize(
    ("properties", "path"),
    [
        ({"hoodie.table.version": "9"}, HUDI["hoodie.table.index.defs.path"]),
        ({"hoodie.table.version": "8"}, None),
        (HUDI, None),
    ],
)
def test_tables_of_version_nine_get_a_path_of_definitions(
    properties: dict[str, str], path: str | None
) -> None:
    assert default_path(properties).get("hoodie.table.index.defs.path") == path


def test_removal_keeps_the_other_definitions_as_they_were() -> None:
    kept = {"column_stats": {"sourceFields": ["x"], "unknown": [1, {"y": None}]}}
    fs = defined(json.dumps({"indexDefinitions": {**kept, "record_index": {}}}))
    remove_definitions(fs, PATH, HUDI, ["column_stats", "files"])
    assert json.loads(get(fs, DEFINITIONS)) == {"indexDefinitions": kept}


def test_index_of_records_has_a_definition_from_version_nine_on() -> None:
    fs = defined('{"indexDefinitions": {"column_stats": {"sourceFields": ["x"]}}}')
    put_record_index(fs, PATH, {**HUDI, "hoodie.table.version": "8"})
    assert list(json.loads(get(fs, DEFINITIONS))["indexDefinitions"]) == ["column_stats"]
    put_record_index(fs, PATH, HUDI)
    definitions = json.loads(get(fs, DEFINITIONS))["indexDefinitions"]
    assert definitions.keys() == {"column_stats", "record_index"}
    assert definitions["record_index"] == {
        "indexName": "record_index",
        "indexType": "record_index",
        "indexFunction": "",
        "sourceFields": [],
        "indexOptions": {"isPartitioned": "false"},
        "version": "V1",
    }
    assert not is_partitioned(fs, PATH, HUDI)
