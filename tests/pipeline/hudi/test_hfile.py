"""Tests of HFiles: entries are found with few reads, and damage is detected."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.hfile.blocks import Compression
from fscontract.pipeline.hudi.hfile.keys import decode_vint, encode_vint
from fscontract.pipeline.hudi.hfile.reader import HFileReader
from fscontract.pipeline.hudi.hfile.writer import HFileWriter
from fscontract.pipeline.hudi.io import CorruptFileException, FileRegion, open_stream
from tests.pipeline.hudi.support import hfile, put

ENTRIES = {b"key%04d" % n: b"value%d" % n * (n % 7) for n in range(400)}


def written(
    entries: dict[bytes, bytes],
    compression: Compression = "gzip",
    block_size: int = 16 * 1024,
    index_size: int = 128 * 1024,
) -> bytes:
    """Return an HFile of entries, with a meta block and an info entry."""
    out = io.BytesIO()
    writer = HFileWriter(
        out,
        compression=compression,
        block_size=block_size,
        index_size=index_size,
        info={b"schema": b"{}"},
    )
    for key in sorted(entries):
        writer.append(key, entries[key])
    writer.append_meta(b"bloomFilter", b"bits")
    writer.close()
    return out.getvalue()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.binary(max_size=40), st.binary(max_size=60), max_size=60),
    st.sampled_from(["none", "gzip"]),
    st.integers(1, 300),
    st.integers(1, 400),
    st.integers(0, 8192),
)
def test_written_entries_are_found(
    entries: dict[bytes, bytes], compression: Compression, block: int, index: int, tail: int
) -> None:
    """For any sizes of blocks, of indexes and of the first read."""
    reader = hfile(written(entries, compression, block, index), tail)
    assert dict(reader.scan()) == entries
    assert reader.get_many([*entries, b"no such key"]) == entries
    for key in list(entries)[:5]:
        assert reader.get(key) == entries[key]
        prefix = key[:2]
        wanted = sorted(each for each in entries if each.startswith(prefix))
        assert [found for found, _ in reader.scan(prefix)] == wanted


def test_notes_and_meta_blocks_are_found_by_name() -> None:
    reader = hfile(written(ENTRIES))
    assert reader.info[b"schema"] == b"{}"
    assert reader.meta(b"bloomFilter") == b"bits"
    assert reader.meta(b"other") is None
    assert reader.entry_count == len(ENTRIES)


@pytest.mark.parametrize("key", [b"a", b"b"])
def test_keys_must_ascend(key: bytes) -> None:
    writer = HFileWriter(io.BytesIO())
    writer.append(b"b", b"")
    with pytest.raises(IllegalArgumentException, match="keys out of order"):
        writer.append(key, b"")


def test_a_key_too_long_for_the_format_is_rejected() -> None:
    with pytest.raises(IllegalArgumentException, match="32768 bytes"):
        HFileWriter(io.BytesIO()).append(b"k" * 0x8000, b"")


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 65535, 65536, 2**31])
def test_a_length_is_read_as_it_was_written(value: int) -> None:
    """Above 127, Hadoop's numbers differ from Protobuf's."""
    packed = encode_vint(value)
    assert decode_vint(packed, 0) == (value, len(packed))


def _counted(entries: dict[bytes, bytes], index_size: int) -> tuple[HFileReader, MemoryFileSystem]:
    fs = MemoryFileSystem()
    put(fs, "/f", written(entries, "none", 4096, index_size))
    status = fs.get_file_status("/f")
    return HFileReader(FileRegion(open_stream(fs, status), "/f", status.length)), fs


def test_a_lookup_takes_two_reads_and_the_next_one() -> None:
    """The end of the file with the index, and the block of the key."""
    entries = {b"key%06d" % n: bytes(100) for n in range(10_000)}
    reader, fs = _counted(entries, 1 << 20)
    operations = "stream_read_operations"
    before = fs.io_statistics()[operations]
    assert reader.get(b"key004321") == bytes(100)
    assert (before, fs.io_statistics()[operations]) == (1, 2)
    assert reader.get(b"key009999") == bytes(100)
    assert reader.get(b"another") is None
    assert fs.io_statistics()[operations] == 3


def test_an_index_of_several_levels_is_read_once() -> None:
    entries = {b"key%06d" % n: bytes(100) for n in range(10_000)}
    reader, fs = _counted(entries, 300)
    assert repr(reader) == "HFileReader('/f', entries=10000)"
    before = fs.io_statistics()["stream_read_operations"]
    assert reader.get(b"key004321") == bytes(100)
    assert fs.io_statistics()["stream_read_operations"] == before + 1


def test_a_scan_holds_a_part_of_the_file_only() -> None:
    fs = MemoryFileSystem()
    entries = {b"key%06d" % n: bytes(1000) for n in range(10_000)}
    put(fs, "/f", written(entries, "none"))
    del entries
    status = fs.get_file_status("/f")
    tracemalloc.start()
    reader = HFileReader(FileRegion(open_stream(fs, status), "/f", status.length))
    assert sum(1 for _ in reader.scan()) == 10_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1024 * 1024 < status.length


def _outcome(content: bytes, entries: dict[bytes, bytes]) -> str:
    """Return the result of reading the bytes: correct entries, or detected damage."""
    try:
        reader = hfile(content, 4200)
        assert dict(reader.scan()) == entries
        assert reader.get_many(entries) == entries
        assert reader.meta(b"bloomFilter") == b"bits"
        assert dict(reader.scan(b"key000")) == {
            k: v for k, v in entries.items() if k.startswith(b"key000")
        }
    except CorruptFileException as error:
        named = error.path == "/file.hfile" and 0 <= error.offset <= len(content)
        return "noticed" if named else "of another file"
    return "harmless"


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("index", [100, 1 << 20])
def test_no_damaged_byte_gives_a_wrong_answer(compression: Compression, index: int) -> None:
    """One bit of each byte is flipped; only the trailer has bytes without effect."""
    entries = {key: ENTRIES[key] for key in list(ENTRIES)[:12]}
    content = written(entries, compression, 60, index)
    trailer = len(content) - 4096
    tried = [*range(trailer + 160), *range(trailer + 160, len(content), 97), len(content) - 1]
    for position in tried:
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        outcome = _outcome(bytes(damaged), entries)
        assert outcome == "noticed" or (outcome == "harmless" and position >= trailer), position


def test_no_truncated_file_gives_an_answer() -> None:
    entries = {key: ENTRIES[key] for key in list(ENTRIES)[:40]}
    content = written(entries, "gzip", 100)
    for length in [*range(0, len(content), 7), len(content) - 1]:
        assert _outcome(content[:length], entries) == "noticed"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=300), st.booleans())
def test_arbitrary_bytes_are_reported_as_damage(head: bytes, end: bytes, trailer: bool) -> None:
    """Neither another exception nor a huge allocation."""
    if trailer:
        end = (b'TRABLK"$' + end).ljust(4092, b"\x00") + b"\x00\x00\x00\x03"
    with pytest.raises(CorruptFileException):
        list(hfile(head + end.rjust(4096)).scan())


def test_file_shorter_than_its_status_is_damaged() -> None:
    fs = MemoryFileSystem()
    put(fs, "/f", b"short")
    with fs.open("/f") as stream, pytest.raises(CorruptFileException, match="EOF within"):
        HFileReader(FileRegion(stream, "/f", 10_000))
