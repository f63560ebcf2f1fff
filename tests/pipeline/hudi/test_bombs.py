"""Tests that readers reject small files that expand to large data, quickly and in little memory."""

from __future__ import annotations

import io
import json
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi import column_stats
from fscontract.pipeline.hudi.avro import read_one
from fscontract.pipeline.hudi.changes import decode_change
from fscontract.pipeline.hudi.column_stats import ColumnChunk, pack, unpack
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.hfile import writer as hfile_writer
from fscontract.pipeline.hudi.hfile.blocks import (
    DATA,
    FILE_INFO,
    HEADER,
    LEAF_INDEX,
    META,
    ROOT_INDEX,
    encode_block,
)
from fscontract.pipeline.hudi.hfile.keys import IndexEntry
from fscontract.pipeline.hudi.hfile.writer import HFileWriter
from fscontract.pipeline.hudi.io import (
    CorruptFileException,
    LockedException,
    MetadataException,
    open_stream,
)
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.log import MAGIC, data_block, encode_log, read_log, records_of
from fscontract.pipeline.hudi.parquet_stats import file_statistics
from fscontract.pipeline.hudi.record_codec import decoder
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.schema import COMMIT, NAMESPACE, RECORD, RECORD_JSON
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import FILES, PATH, Ticks, dataset, get, hfile, put, seen

_MIB = 1024 * 1024
_BIG = 256 * _MIB


#: Calls of functions in one block: the most that a right reader makes here are 60,000.
_MOST_CALLS = 400_000


@contextmanager
def cheap() -> Iterator[None]:
    """Fail if the block calls more than 400,000 functions, or takes 200 MiB."""
    calls = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    tracemalloc.start()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert calls < _MOST_CALLS
    assert peak < 200 * _MIB


def zeros_packed(size: int) -> bytes:
    """Return whole mebibytes of zeros as gzip, without compressing them all."""
    unit = bytes(_MIB)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    count, crc = size // _MIB, 0
    for _ in range(count):
        crc = zlib.crc32(unit, crc)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    return head + piece * count + packer.flush() + struct.pack("<II", crc, size)


def bomb(magic: bytes, says: int = _BIG, has: int = _BIG) -> bytes:
    """Return a block with valid checksums, a declared size and possibly another actual size."""
    stored = zeros_packed(has)
    block = encode_block(magic, stored, -1, "none")
    fields = list(HEADER.unpack_from(block))
    fields[2] = says
    body = HEADER.pack(*fields) + stored
    sums = (zlib.crc32(body[at : at + 16384]) for at in range(0, len(body), 16384))
    fields[4] = 1  # CRC32
    body = HEADER.pack(*fields) + stored
    sums = (zlib.crc32(body[at : at + 16384]) for at in range(0, len(body), 16384))
    return body + b"".join(struct.pack(">I", each) for each in sums)


def hfile_with(
    monkeypatch: pytest.MonkeyPatch, block: bytes, magic: bytes, number: int = 0
) -> bytes:
    """Return an HFile in which a block replaces one of its kind."""
    met: list[bytes] = []

    def encode(kind: bytes, data: bytes, *rest: Any) -> bytes:
        met.append(kind)
        here = kind == magic and met.count(kind) == number + 1
        return block if here else encode_block(kind, data, *rest)

    monkeypatch.setattr(hfile_writer, "encode_block", encode)
    out = io.BytesIO()
    writer = HFileWriter(out, block_size=100, index_size=200, info={b"schema": b"{}"})
    for entry in range(100):
        writer.append(b"%04d" % entry, b"value")
    writer.append_meta(b"bloomFilter", b"bits")
    writer.close()
    monkeypatch.undo()
    return out.getvalue()


def read_all(content: bytes) -> None:
    """Read the whole content of an HFile."""
    reader = hfile(content)
    list(reader.scan())
    reader.meta(b"bloomFilter")


@pytest.mark.parametrize(
    ("magic", "number"),
    [(DATA, 0), (META, 0), (ROOT_INDEX, 0), (ROOT_INDEX, 1), (FILE_INFO, 0), (LEAF_INDEX, 0)],
    ids=["data", "meta", "root index", "meta index", "file info", "leaf index"],
)
@pytest.mark.parametrize("says", [_BIG, 1000], ids=["says so", "says less"])
def test_a_block_that_expands_to_256_mib_is_rejected(
    monkeypatch: pytest.MonkeyPatch, magic: bytes, number: int, says: int
) -> None:
    content = hfile_with(monkeypatch, bomb(magic, says), magic, number)
    with (
        cheap(),
        pytest.raises(
            CorruptFileException, match=r"uncompressed|does not have the declared"
        ) as caught,
    ):
        read_all(content)
    assert caught.value.path == "/file.hfile"
    assert str(caught.value).count("\n") == 0


def test_a_block_is_rejected_by_its_ratio_below_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    content = hfile_with(monkeypatch, bomb(DATA, 32 * _MIB, 32 * _MIB), DATA)
    with (
        cheap(),
        pytest.raises(
            CorruptFileException, match="invalid uncompressed size of a block: 33554432 bytes"
        ),
    ):
        read_all(content)


@pytest.mark.parametrize("size", [1000, 1001])
def test_max_block_bytes_bounds_blocks_of_any_compression(size: int) -> None:
    """Writers have the same limit."""
    for how in ("none", "gzip"):
        out = io.BytesIO()
        writer = HFileWriter(out, compression=how)
        writer.append_meta(b"bloomFilter", bytes(size))
        writer.close()
        fs = MemoryFileSystem()
        put(fs, "/f", out.getvalue())
        reader = hfile(out.getvalue(), max_block_bytes=1000)
        if size == 1000:
            assert reader.meta(b"bloomFilter") == bytes(size)
        else:
            with pytest.raises(CorruptFileException, match="max_block_bytes is 1000"):
                reader.meta(b"bloomFilter")


def test_a_value_that_readers_would_refuse_is_not_written() -> None:
    writer = HFileWriter(io.BytesIO(), max_block_bytes=1000)
    with pytest.raises(IllegalArgumentException, match="max_block_bytes is 1000"):
        writer.append(b"key", bytes(1000))
    for number in range(100):
        writer.append(b"%03d" % number, bytes(500))
    assert writer.close() > 0


def test_a_block_of_zeros_that_is_small_is_read() -> None:
    """Like Hudi's bloom filters of few keys: compressed to a thousandth."""
    out = io.BytesIO()
    writer = HFileWriter(out)
    writer.append_meta(b"bloomFilter", bytes(_MIB))
    writer.close()
    assert hfile(out.getvalue()).meta(b"bloomFilter") == bytes(_MIB)


def _index_of(
    monkeypatch: pytest.MonkeyPatch, made: Callable[[IndexEntry], list[IndexEntry]]
) -> bytes:
    """Return an HFile with one large block and a replaced index."""
    real = HFileWriter._branches

    def branches(self: HFileWriter) -> tuple[list[IndexEntry], int, int]:
        entries, levels, size = real(self)
        return made(entries[0]), levels, size

    monkeypatch.setattr(HFileWriter, "_branches", branches)
    out = io.BytesIO()
    writer = HFileWriter(out, compression="none", block_size=1 << 30)
    for number in range(1000):
        writer.append(b"%04d" % number, bytes(1000))
    writer.close()
    return out.getvalue()


def test_index_with_a_repeated_block_is_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A megabyte would be read ten thousand times."""
    content = _index_of(
        monkeypatch, lambda e: [IndexEntry(b"%06d" % n, e.offset, e.size) for n in range(10_000)]
    )
    with cheap(), pytest.raises(CorruptFileException, match="overlaps another one"):
        read_all(content)


def test_index_with_more_blocks_than_the_file_is_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = _index_of(
        monkeypatch, lambda e: [IndexEntry(b"", e.offset, e.size) for n in range(300_000)]
    )
    with cheap(), pytest.raises(CorruptFileException, match="300000 in a file"):
        read_all(content)


def _log(content: bytes) -> list[Any]:
    """Return all entries of a log file."""
    fs = MemoryFileSystem()
    put(fs, "/f.log", content)
    status = fs.get_file_status("/f.log")
    with open_stream(fs, status) as stream:
        log = read_log(stream, status.path, status.length)
    return [(block, list(records_of(log, block)[1])) for block in log.blocks]


def test_a_log_whose_entries_expand_together_is_rejected() -> None:
    """Each data block is small, but all are held in memory."""
    block = data_block(
        "20260101000000001", "{}", ((b"%05d" % n, bytes(20_000)) for n in range(999))
    )
    content = encode_log([block])
    assert len(content) < 400_000
    with cheap(), pytest.raises(CorruptFileException, match="bytes of entries in"):
        _log(content)


def test_log_blocks_are_limited_by_their_total_size() -> None:
    """Any number of small blocks may expand only to a multiple of their size."""
    blocks = [data_block("20260101000000001", "{}", [(b"a", bytes(3 * _MIB))]) for _ in range(50)]
    with cheap(), pytest.raises(CorruptFileException, match="bytes of entries in"):
        _log(encode_log(blocks))


def _framed(inside: bytes) -> bytes:
    """Return a log block with valid sizes and any content."""
    size = len(inside) + 8
    return MAGIC + struct.pack(">q", size) + inside + struct.pack(">q", len(MAGIC) + size)


def test_content_of_a_log_block_is_read_once() -> None:
    """Nested blocks would take quadratic time."""
    whole = encode_log([data_block("20260101000000001", "{}", [(b"a", b"1")])])
    hidden = whole + whole
    for number in range(1000):
        hidden = _framed(struct.pack(">ii", 9, number) + hidden)
    with cheap():
        assert len(_log(hidden + whole)) == 1


def test_a_header_of_a_log_block_ends_with_its_block() -> None:
    """A larger claimed text does not extend into the next block."""
    whole = encode_log([data_block("20260101000000001", "{}", [(b"a", b"1")])])
    claims = struct.pack(">iiiii", 1, 4, 1, 0, len(whole)) + bytes(4)
    assert len(_log(_framed(claims) + whole)) == 1


def test_a_log_of_several_blocks_of_one_instant_is_read() -> None:
    """As written when the records of a commit don't fit one block."""
    fs = MemoryFileSystem()
    dataset(fs)
    writer = MetadataWriter(fs, PATH, Ticks(), max_block_bytes=4000)
    new = {f"{number:04}": number for number in range(20)}
    for part in range(40):
        new_partition = {f"city=p{part}-{more:03}": new for more in range(2)}
        writer.commit(Change(new_partition))
    names = {f"city=p{part}-{more:03}" for part in range(40) for more in range(2)}
    assert names < seen(fs).keys()
    big = {f"city=q{more:03}": new for more in range(40)}
    writer.commit(Change(big))
    assert seen(fs)["city=q039"] == new
    logs = sorted(s.path for s in fs.list_status(FILES) if ".log." in s.path)
    assert get(fs, logs[-1]).count(MAGIC) > 1


# Avro ------------------------------------------------------------------------------------------

_MANY = 10**11


def _long(value: int) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()


def _file(schema: Any, data: bytes, count: int = 1, codec: bytes = b"null") -> bytes:
    """Return an Avro file of one block with any content."""
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    head = b"Obj\x01" + _long(2)
    for part in (b"avro.schema", text, b"avro.codec", codec):
        head += _long(len(part)) + part
    sync = bytes(16)
    return head + b"\x00" + sync + _long(count) + _long(len(data)) + data + sync


def _commit(*more: dict[str, Any], name: str = "HoodieCommitMetadata") -> dict[str, Any]:
    """Return a commit schema with additional fields."""
    return {**COMMIT, "name": name, "fields": [*COMMIT["fields"], *more]}


def _deep(levels: int) -> bytes:
    return b'{"type":"array","items":' * levels + b'"int"' + b"}" * levels


def _chain(count: int) -> list[dict[str, Any]]:
    """Return records, each with the previous one as a field: deep without nested text."""
    fields: list[dict[str, Any]] = []
    for number in range(count):
        kind: Any = "int" if number == 0 else f"r{number - 1}"
        made = {"type": "record", "name": f"r{number}", "namespace": "",
                "fields": [{"name": "f", "type": kind}]}  # fmt: skip
        fields.append({"name": f"f{number}", "type": made})
    return fields


_NULLS = {"name": "n", "type": {"type": "array", "items": "null"}}
_EMPTY = {"name": "n", "type": {"type": "record", "name": "e", "fields": []}}
_SELF = {"name": "n", "type": {"type": "record", "name": "s", "fields": [
    {"name": "s", "type": {"type": "array", "items": "s"}}]}}  # fmt: skip
_SELF_AT_ONCE = {"name": "n", "type": {"type": "record", "name": "s", "fields": [
    {"name": "s", "type": "s"}]}}  # fmt: skip
_PART = {"type": "record", "name": "p", "fields": [{"name": "n", "type": "null"}]}
SCHEMAS = {
    "an array of nulls": (_commit(_NULLS), "allowed only in a union"),
    "a record of nothing": (_commit(_EMPTY), "has no fields"),
    "an array of records of null": (
        _commit({"name": "n", "type": {"type": "array", "items": _PART}}),
        "allowed only in a union",
    ),
    "a fixed of no bytes": (
        _commit({"name": "n", "type": {"type": "fixed", "name": "f", "size": 0}}),
        "no size",
    ),
    "a record in itself": (_commit(_SELF), "recursive Avro type"),
    "a record that is itself": (_commit(_SELF_AT_ONCE), "recursive Avro type"),
    "a hundred levels": (_deep(100), "levels"),
    "a hundred thousand levels": (_deep(100_000), "too deeply|bytes"),
    "levels by reference": (_commit(*_chain(2000)), "levels"),
    "ten thousand types": (
        _commit(*({"name": f"f{n}", "type": "int"} for n in range(5000))),
        "types",
    ),
    "a megabyte": (json.dumps(_commit()).encode().ljust(_MIB), "bytes"),
    "null": ("null", "allowed only in a union"),
    "another record": (_commit(name="Other"), "expected"),
    "a known field of another type": (
        {**COMMIT, "fields": [{"name": "extraMetadata", "type": "string"}]},
        "extraMetadata",
    ),
    "a known map of another type": (
        {
            **COMMIT,
            "fields": [{"name": "extraMetadata", "type": {"type": "map", "values": "int"}}],
        },
        "extraMetadata",
    ),
    "no JSON": (b"{", "Expecting"),
    "a name twice": (_commit(_EMPTY, _EMPTY), "no fields|taken"),
}


@pytest.mark.parametrize(("schema", "reason"), SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_that_the_format_does_not_have_is_rejected(schema: Any, reason: str) -> None:
    """In an instant, with data that claims as many values as possible."""
    content = _file(schema, b"\x00" * 5 + _long(_MANY) + b"\x00")
    with cheap(), pytest.raises(MetadataException, match=reason) as caught:
        decode_change("commit", content, "/t/.hoodie/timeline/1.commit")
    assert caught.value.path == "/t/.hoodie/timeline/1.commit"
    assert str(caught.value).count("\n") == 0
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("schema", [each for each, _ in SCHEMAS.values()], ids=SCHEMAS)
def test_a_schema_that_the_format_does_not_have_is_rejected_in_an_hfile(schema: Any) -> None:
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    with cheap(), pytest.raises(ValueError, match=r".+"):
        decoder(text)(b"key", _long(_MANY))


@pytest.mark.parametrize("how", ["a record of null", "a record", "none"])
def test_a_file_that_claims_many_records_is_rejected(how: str) -> None:
    """Empty records would take no bytes in the file."""
    data = encode_commit([], "UPSERT")
    schema = _PART if how == "a record of null" else COMMIT
    content = _file(schema, data if how == "a record" else b"", 0 if how == "none" else _MANY)
    with cheap(), pytest.raises(ValueError, match=r"expected|one record|no bytes"):
        read_one(content, COMMIT)


@pytest.mark.parametrize("count", [_MANY, -_MANY])
def test_counts_of_items_are_bounded_by_the_bytes(count: int) -> None:
    """Of an array, of a map, and of the file's own header."""
    item = _long(count) + (_long(_MANY) if count < 0 else b"")
    schema = _commit({"name": "n", "type": {"type": "array", "items": "int"}})
    for content in (
        _file(COMMIT, b"\x02" + item + b"\x00" * 100),
        _file(schema, b"\x00" * 5 + item + b"\x00" * 100),
        b"Obj\x01" + item + b"\x00" * 100,
    ):
        with cheap(), pytest.raises(ValueError, match=r".+"):
            read_one(content, COMMIT, schema)


def test_a_deflated_instant_is_read_and_its_expansion_bounded() -> None:
    """All Avro implementations support this codec."""
    out = io.BytesIO()
    datum = {"operationType": "UPSERT", "partitionToWriteStats": {}}
    fastavro.writer(out, fastavro.parse_schema(COMMIT), [datum], codec="deflate")
    assert read_one(out.getvalue(), COMMIT)["operationType"] == "UPSERT"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(bytes(_MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    content = _file(COMMIT, packed * 300 + packer.flush(), codec=b"deflate")
    with cheap(), pytest.raises(ValueError, match="decompressed bytes"):
        read_one(content, COMMIT)


def test_another_codec_is_named() -> None:
    with pytest.raises(ValueError, match=r"b'zstandard'; must be null or deflate"):
        read_one(_file(COMMIT, b"", codec=b"zstandard"), COMMIT)


def test_a_schema_with_fields_and_wrappers_of_later_versions_is_read() -> None:
    """Other fields, other records in a union, other orders, docs, defaults, smaller numbers."""
    text = json.dumps(RECORD)
    later = json.loads(text)
    items = {"type": "array", "items": ["null", "IntWrapper"]}
    wrapper = {"type": "record", "name": "ArrayWrapper", "fields": [
        {"name": "wrappedValues", "type": items}]}  # fmt: skip
    stats = next(f for f in later["fields"] if f["name"] == "ColumnStatsMetadata")["type"][1]
    by_name = {each["name"]: each for each in stats["fields"]}
    by_name["minValue"]["type"].append(wrapper)
    by_name["maxValue"]["type"].insert(1, "ArrayWrapper")
    by_name["valueCount"]["type"] = ["int", "null"]
    stats["fields"].insert(0, {"name": "doc", "type": ["null", {"type": "map", "values": "long"}]})
    later["fields"].insert(0, {"name": "_hoodie_commit_time", "type": ["null", "string"]})
    later["doc"] = "Of another version."
    kind = f"{NAMESPACE}.LongWrapper"
    datum = {
        "_hoodie_commit_time": "2",
        "key": "k",
        "type": 3,
        "ColumnStatsMetadata": {
            "doc": {"a": 1},
            "fileName": "f",
            "columnName": "c",
            "minValue": (kind, {"value": 1}),
            "maxValue": (kind, {"value": 2}),
            "valueCount": 7,
            "isDeleted": False,
        },
    }
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(later), datum)
    record = decoder(json.dumps(later).encode())(b"k", out.getvalue())
    assert isinstance(record, ColumnStatistics)
    assert (record.minimum, record.maximum, record.value_count) == (1, 2, 7)


def test_a_decimal_of_a_megabyte_is_rejected() -> None:
    """Its time grows with the square of its length."""
    wrapper = {"type": "record", "name": "DecimalWrapper", "namespace": NAMESPACE, "fields": [
        {"name": "value", "type": "bytes"}]}  # fmt: skip
    raw = json.loads(RECORD_JSON.replace('"logicalType":"decimal",', ""))
    kind = f"{NAMESPACE}.{wrapper['name']}"
    big = (kind, {"value": b"\x01" * _MIB})
    stats = {"minValue": big, "maxValue": big, "isDeleted": False}
    datum = {"key": "", "type": 3, "ColumnStatsMetadata": stats}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(raw), datum)
    with cheap(), pytest.raises(ValueError, match="decimal too large: 1048576 bytes"):
        decoder((RECORD_JSON + " ").encode())(b"k", out.getvalue())


def test_deep_json_in_a_lock_or_a_commit_is_damage() -> None:
    deep = b"[" * 100_000
    fs = MemoryFileSystem()
    put(fs, f"/t/{LOCKS}/{1:012}", deep)
    lock = FileLock(fs, f"/t/{LOCKS}")
    with cheap():
        lock.acquire()
    lock.check()
    put(fs, f"/t/{LOCKS}/{3:012}", deep)
    with pytest.raises(LockedException):
        lock.check()
    for text in (deep.decode(), "[1]", '{"a": 1}', '{"a": [1]}'):
        extra = {"fscontract.deleted.files": text}
        content = encode_commit([], "UPSERT", extra)
        with pytest.raises(MetadataException, match=r"fscontract\.deleted\.files"):
            decode_change("commit", content, "/t/1.commit")


# Arrow and Parquet -----------------------------------------------------------------------------


def test_statistics_by_column_that_expand_too_far_are_rejected() -> None:
    """By the declared sizes of buffers, before Arrow allocates them."""
    names = ["f" * 250 for _ in range(40_000)]
    nothing: list[Any] = [None] * len(names)
    chunk = ColumnChunk(None, ["p"] * len(names), names, nothing, nothing, nothing, nothing)
    data = pack(chunk)
    size = struct.pack("<q", 250 * len(names))
    assert data.count(size) == 1
    for lie, bound in ((data, _MIB), (data.replace(size, struct.pack("<q", 1 << 40)), 1 << 50)):
        with (
            cheap(),
            pytest.raises(ValueError, match=r"invalid size in an Arrow stream of \d+ bytes"),
        ):
            unpack(lie, bound)
    assert unpack(data) == chunk


def test_statistics_by_column_of_too_many_rows_are_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also in batches that are small enough individually."""
    chunk = ColumnChunk("LongWrapper", ["p"] * 5, ["f"] * 5, [1] * 5, [2] * 5, [3] * 5, [0] * 5)
    data = pack(chunk)
    monkeypatch.setattr(column_stats, "MAX_ROWS", 5)
    assert unpack(data) == chunk
    monkeypatch.setattr(column_stats, "MAX_ROWS", 4)
    with pytest.raises(ValueError, match="too many rows; must be at most 4"):
        unpack(data)


def test_statistics_by_column_of_rows_without_bytes_are_rejected() -> None:
    """A column of nulls needs no bytes for any number of them."""
    length = 10**9
    columns = {name: pa.nulls(length) for name in ("partition", "file", "low", "high")}
    table = pa.table({**columns, "values": pa.nulls(length), "nulls": pa.nulls(length)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with cheap(), pytest.raises(ValueError, match="unexpected columns"):
        unpack(bytes(sink.getvalue()))


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _parquet(chunks: int) -> bytes:
    """Return a Parquet file of one row group with many column chunks of three bytes."""
    count = _varint(chunks)
    root = b"\x48\x04root\x15\x02\x00"
    leaf = b"\x15\x02\x25\x00\x18\x01a\x00"
    group = b"\x19\xfc" + count + b"\x26\x00\x00" * chunks + b"\x16\x00\x16\x00\x00"
    footer = b"\x15\x02\x19\x2c" + root + leaf + b"\x16\x00\x19\x1c" + group + b"\x00"
    return b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"


def test_footer_with_more_elements_than_bytes_is_rejected() -> None:
    fs = MemoryFileSystem()
    put(fs, "/f.parquet", _parquet(300_000))
    with cheap(), pytest.raises(CorruptFileException, match="can't read the footer"):
        file_statistics(fs, fs.get_file_status("/f.parquet"))


def test_a_footer_of_more_than_16_mib_is_rejected_before_it_is_read() -> None:
    fs = MemoryFileSystem()
    size = 17 * _MIB
    put(fs, "/f.parquet", bytes(size) + struct.pack("<I", size - 100) + b"PAR1")
    before = fs.io_statistics()["stream_read_bytes"]
    with cheap(), pytest.raises(CorruptFileException, match="must be at most 16777216"):
        file_statistics(fs, fs.get_file_status("/f.parquet"))
    assert fs.io_statistics()["stream_read_bytes"] - before < _MIB


def test_a_footer_of_many_columns_and_row_groups_is_read() -> None:
    fs = MemoryFileSystem()
    table = pa.table({f"c{number}": [1, 2, 3] for number in range(2000)})
    with fs.create("/f.parquet") as file:
        pq.write_table(table, file, row_group_size=1)
    found = file_statistics(fs, fs.get_file_status("/f.parquet"), ["c1999"])
    assert [each.maximum for each in found] == [3]


# The table -------------------------------------------------------------------------------------


def test_a_listing_falls_back_from_a_bomb_as_from_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    fs = MemoryFileSystem()
    put(fs, f"{PATH}/city=a/f", b"1")
    dataset(fs, ("city=a",))
    (base,) = (each.path for each in fs.list_status(FILES) if each.path.endswith(".hfile"))
    put(fs, base, hfile_with(monkeypatch, bomb(DATA), DATA))
    with cheap(), pytest.warns(UserWarning, match="uncompressed"), FileListing(fs, PATH) as files:
        assert list(files.list_all()) == ["city=a"]


def test_every_reader_of_a_table_has_the_bound() -> None:
    """Of a listing, and of a writer, which reads existing records."""
    fs = MemoryFileSystem()
    writer = dataset(fs, [f"city={n:03}" for n in range(300)])
    writer.commit(Change({"city=a": {"x": 1}}))
    with pytest.warns(UserWarning, match="max_block_bytes is 500"):
        FileListing(fs, PATH, max_block_bytes=500).list_files("city=001")
    small = MetadataWriter(fs, PATH, Ticks(1000), max_block_bytes=500)
    with pytest.raises(CorruptFileException, match="max_block_bytes is 500"):
        small.commit(Change(deleted={"city=001": ["x"]}))
