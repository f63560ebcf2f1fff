"""Tests of the index of records: keys, their file groups in the index, and locations."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import fastavro
import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException, write_file
from fscontract.pipeline.hudi.log import DELETE, INSTANT, LogBlock, data_block, encode_log
from fscontract.pipeline.hudi.record_codec import decoder, encode_record
from fscontract.pipeline.hudi.record_index import (
    RecordLocation,
    by_group,
    file_group_count,
    location,
    milliseconds_of,
)
from fscontract.pipeline.hudi.records import LocationRecord
from fscontract.pipeline.hudi.schema import DELETE_LIST, TYPED_JSON, UNTYPED_JSON, UNTYPED_RECORD
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import PARTITIONS, parse_properties, write_properties
from fscontract.pipeline.hudi.timeline import (
    FIRST_INSTANT,
    BaseName,
    LogName,
    TimelineWriter,
    group_of,
)
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import PATH, dataset, get, put

GROUPS = [f"record-index-{number:04}-0" for number in range(4)]
INDEX = f"{PATH}/.hoodie/metadata/record_index"
UUID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
#: Noon of the first day of 2026 in UTC.
NOON = 1767268800000


def record(key: str, group: str = "g-0", partition: str = "city=a") -> LocationRecord:
    """Return the record of a key."""
    return LocationRecord(key, partition, group, NOON)


def indexed(
    keys: str = "abcdefgh",
    fs: FileSystem | None = None,
    properties: Mapping[str, str] | None = None,
) -> FileSystem:
    """Return a dataset with an index of some keys, in base files of four file groups."""
    fs = fs or MemoryFileSystem()
    made = dataset(fs)
    put_index(fs, made, [record(key) for key in keys], properties)
    return fs


def put_index(
    fs: FileSystem,
    made: MetadataWriter,
    records: Sequence[LocationRecord],
    properties: Mapping[str, str] | None = None,
) -> None:
    """Add an index of four file groups to the metadata table of a writer."""
    for group in GROUPS:
        in_group = [each for each in records if group_of(each.key, GROUPS) == group]
        made._write_base("record_index", group, FIRST_INSTANT, in_group)
    path = f"{made.path}/.hoodie/hoodie.properties"
    known = parse_properties(get(fs, path).decode())
    known[PARTITIONS] += ",record_index"
    write_properties(fs, path, {**known, **(properties or {})}, replace=True)


def put_log(fs: FileSystem, key: str, *blocks: LogBlock) -> None:
    """Write a log in the file group of a key."""
    name = LogName(group_of(key, GROUPS), FIRST_INSTANT)
    put(fs, f"{INDEX}/{name}", encode_log(blocks))


def delete_block(*keys: str) -> LogBlock:
    """Return a block that deletes keys, as Hudi writes it."""
    records = [{"recordKey": k, "partitionPath": "", "orderingVal": None} for k in keys]
    out = io.BytesIO()
    parsed = fastavro.parse_schema(DELETE_LIST)
    fastavro.schemaless_writer(out, parsed, {"deleteRecordList": records})
    content = struct.pack(">ii", 3, out.tell()) + out.getvalue()
    return LogBlock(DELETE, {INSTANT: FIRST_INSTANT}, content)


def looked_up(fs: FileSystem, *keys: str) -> dict[str, RecordLocation]:
    """Return the locations of keys."""
    with MetadataTable(fs, PATH) as table:
        return table.lookup(keys)


def test_every_key_is_found_in_its_file_group_and_no_other() -> None:
    fs = indexed()
    found = looked_up(fs, *"abcdefgh", "absent", "")
    assert sorted(found) == list("abcdefgh")
    assert found["a"][:2] == ("city=a", "g-0")


def test_a_key_in_the_file_group_of_another_key_is_not_found() -> None:
    fs = indexed("a")
    right, wrong = group_of("a", GROUPS), next(g for g in GROUPS if g != group_of("a", GROUPS))
    files = [f"{INDEX}/{BaseName(group, FIRST_INSTANT)}" for group in (right, wrong)]
    contents = [get(fs, file) for file in files]
    for file, content in zip(files, reversed(contents), strict=True):
        write_file(fs, file, content, replace=True)
    assert looked_up(fs, "a") == {}


def test_the_latest_location_and_deletions_of_logs_count() -> None:
    fs = indexed()
    entry = b"a", encode_record(record("a", "h-0", "city=b"))
    moved = data_block(FIRST_INSTANT, UNTYPED_JSON, [entry])
    put_log(fs, "a", moved)
    assert looked_up(fs, "a")["a"][:2] == ("city=b", "h-0")
    put_log(indexed_again := indexed(), "a", moved, delete_block("a"))
    assert looked_up(indexed_again, "a", "b").keys() == {"b"}


def test_a_damaged_block_of_deletions_is_named() -> None:
    fs = indexed()
    put_log(fs, "a", LogBlock(DELETE, {INSTANT: FIRST_INSTANT}, b"\0\0\0\3\0\0\0\5\2"))
    with pytest.raises(CorruptFileException, match=r"\.record-index-000"):
        looked_up(fs, "a")


def test_keys_are_spread_by_javas_hash() -> None:
    assert by_group(["a", "b", "b", "AaAa", "BBBB"], GROUPS) == {
        GROUPS[1]: ["a"],
        GROUPS[2]: ["b"],
        GROUPS[0]: ["AaAa", "BBBB"],
    }


def test_file_groups_are_in_the_order_of_their_numbers() -> None:
    names = [f"record-index-{number:04}-0" for number in (*range(10_001), 10_001)]
    assert by_group(["a"], sorted(names)) == {names[97]: ["a"]}


def test_a_missing_file_group_is_damage() -> None:
    fs = indexed()
    fs.delete(f"{INDEX}/{BaseName(GROUPS[2], FIRST_INSTANT)}")
    with pytest.raises(MetadataException, match=r"expected file groups from 0 to 2, got \[0, 1, 3"):
        looked_up(fs, "a")


@pytest.mark.parametrize(
    ("zone", "instants", "expected"),
    [
        ("UTC", [], "20260101120000000"),
        ("LOCAL", ["20260101060000000", "20260101060000001"], "20260101060000000"),
        ("LOCAL", ["20260101173000000"], "20260101173000000"),
        ("LOCAL", ["20260101120000001", "20260103120000000", FIRST_INSTANT], None),
        ("LOCAL", ["20260101060000000", "20260101070000000"], None),
    ],
    ids=["UTC", "west", "half an hour", "none", "ambiguous"],
)
def test_the_instant_is_that_of_the_timeline_in_any_time_zone(
    zone: str, instants: list[str], expected: str | None
) -> None:
    assert location(record("a"), instants, zone).instant == expected


def test_instants_out_of_range_are_unknown() -> None:
    assert location(LocationRecord("a", "", "g", 1 << 62), [], "UTC").instant is None
    assert location(LocationRecord("a", "", "g"), [], "UTC").instant is None


def encoded(**fields: Any) -> bytes:
    """Return a record of the index with Hudi's fields."""
    empty = dict.fromkeys(f["name"] for f in UNTYPED_RECORD["fields"])
    info = {"partitionName": "p", "fileId": "", "instantTime": NOON, **fields}
    out = io.BytesIO()
    datum = {**empty, "key": "", "type": 5, "recordIndexMetadata": info}
    fastavro.schemaless_writer(out, fastavro.parse_schema(UNTYPED_RECORD), datum)
    return out.getvalue()


@pytest.mark.parametrize(("index", "suffix"), [(3, "-3"), (-1, "")])
def test_a_file_group_is_a_uuid_and_a_number(index: int, suffix: str) -> None:
    bits = {"fileIdHighBits": -1, "fileIdLowBits": 1, "fileIndex": index, "fileIdEncoding": 0}
    expected = LocationRecord("k", "p", f"ffffffff-ffff-ffff-0000-000000000001{suffix}", NOON)
    assert decoder(UNTYPED_JSON.encode())(b"k", encoded(**bits)) == expected


@pytest.mark.parametrize("schema", [UNTYPED_JSON, TYPED_JSON])
@pytest.mark.parametrize(
    "group",
    ["g-0", UUID, f"{UUID}-0", f"{UUID}-12", f"{UUID}-012", f"{UUID}--1", UUID.upper(), ""],
)
def test_a_location_is_read_as_it_was_written(schema: str, group: str) -> None:
    content = encode_record(record("k", group), schema == TYPED_JSON)
    assert decoder(schema.encode())(b"k", content) == record("k", group)


def test_a_location_is_the_bytes_that_hudi_writes() -> None:
    """In a table of Hudi 1.x: key TXN-003 of a table without partitions."""
    written = (
        "000000000000" "0a000000" "0202" "00"
        "0286a98ab4fa9ceca8b501" "029de49f81988fd78fa201" "0200" "0200" "02d69dbccaaa67" "000000"
    )  # fmt: skip
    read = decoder(TYPED_JSON.encode())(b"TXN-003", bytes.fromhex(written))
    assert isinstance(read, LocationRecord)
    assert read.file_group.endswith("-0")
    assert encode_record(read, typed=True).hex() == written


@pytest.mark.parametrize(
    ("records", "count"),
    [(0, 10), (10**8, 10), (123_032_915, 10), (123_032_916, 11), (10**9, 89), (10**12, 10_000)],
)
def test_number_of_file_groups_follows_hudis_rule(records: int, count: int) -> None:
    """File groups of 1 GiB for twice as many records of 48 bytes, at least 10."""
    assert file_group_count(records) == count


def test_time_of_an_instant_is_that_of_utc() -> None:
    assert milliseconds_of("20260101120000000") == NOON
    assert milliseconds_of("20261301120000000") is None


def test_unknown_encodings_of_a_file_group_are_damage() -> None:
    with pytest.raises(ValueError, match="unknown encoding 7 of the file group of 'k'"):
        decoder(UNTYPED_JSON.encode())(b"k", encoded(fileIdEncoding=7))


def test_tables_without_an_index_are_refused() -> None:
    fs = MemoryFileSystem()
    dataset(fs)
    with pytest.raises(MetadataException, match="the metadata table has no record_index"):
        looked_up(fs, "a")


def test_an_index_for_each_partition_is_refused() -> None:
    fs = indexed(properties={"hoodie.table.index.defs.path": ".hoodie/index.json"})
    options = {"record_index": {"indexOptions": {"isPartitioned": "true"}}}
    put(fs, f"{PATH}/.hoodie/index.json", json.dumps({"indexDefinitions": options}).encode())
    with pytest.raises(MetadataException, match="it has its own keys in each partition"):
        looked_up(fs, "a")


def test_an_index_that_lacks_commits_is_refused() -> None:
    fs = indexed()
    instants = TimelineWriter(fs, PATH)
    cleaned = instants.request("indexing", instants.timeline())
    instants.complete(cleaned, b"")
    assert looked_up(fs, "a")
    commit = instants.request("commit", instants.timeline())
    instants.complete(commit, json.dumps({"partitionToWriteStats": {}}).encode())
    with pytest.raises(MetadataException, match="record_index lacks 1 actions of the timeline"):
        looked_up(fs, "a")
