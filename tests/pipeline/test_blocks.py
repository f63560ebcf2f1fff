"""Tests of files and blocks as records, and as JSON."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.blocks import (
    BlockIds,
    BlockMetadata,
    FileBlockMetadata,
    FileInfo,
    FileMetadata,
    bare_path,
)

BLOCK = FileBlockMetadata(5 << 32 | 7, 4, 8, False, 6, "s3a://b/d/f", 11, "e", 1500)
FILE = FileMetadata("s3a://b/d/f", "f", 11, False, 3, 4, 0, 99, "d/f", 5 << 32, "e", 1500)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("/a/b", "/a/b"),
        ("/", "/"),
        ("/a:b/c", "/a:b/c"),
        ("s3a://bucket/a/b", "/a/b"),
        ("s3a://bucket/", "/"),
        ("s3a://bucket", "/"),
        ("hdfs://host:8020/a", "/a"),
        ("file:/a/b", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("a/b", "a/b"),
        ("a:b", "a:b"),
    ],
)
def test_a_uri_has_a_bare_path(uri: str, path: str) -> None:
    """A filesystem accepts it; other paths are unchanged."""
    assert bare_path(uri) == path


@pytest.mark.parametrize(
    ("directory", "name", "path"),
    [
        (None, "s3a://b/f", "s3a://b/f"),
        ("s3a://b", "f", "s3a://b/f"),
        ("s3a://b/d", "e/f", "s3a://b/d/e/f"),
        ("file:///", "f", "file:///f"),
        ("/d", "f", "/d/f"),
    ],
)
def test_a_file_that_was_found_keeps_its_uri(directory: str | None, name: str, path: str) -> None:
    """Scheme and authority are those of the directory."""
    assert FileInfo(directory, name).file_path == path
    assert FileInfo(directory, name).path == bare_path(path)


def test_the_length_of_a_block_is_its_end() -> None:
    """Its number of bytes is `size`."""
    assert (BLOCK.offset, BLOCK.length, BLOCK.end, BLOCK.size) == (4, 8, 8, 4)
    assert BLOCK.path == "/d/f"
    assert isinstance(BLOCK, BlockMetadata)


def test_blocks_are_equal_if_all_of_them_is_equal() -> None:
    """Other bytes under the same id are another block; in Java they are equal."""
    assert replace(BLOCK) == BLOCK
    assert replace(BLOCK, length=9) != BLOCK


def test_the_hash_of_a_block_is_the_low_half_of_its_id() -> None:
    """So consecutive blocks go to different partitions, as in Java."""
    assert hash(BLOCK) == 7
    assert hash(replace(BLOCK, offset=5)) == 7


def test_records_can_t_be_changed() -> None:
    """Other code may share them."""
    with pytest.raises(FrozenInstanceError):
        BLOCK.offset = 3  # type: ignore[misc]
    assert not hasattr(BLOCK, "__dict__")


@pytest.mark.parametrize("bounds", [(-1, 4, 11), (5, 4, 11), (4, 12, 11)])
def test_a_block_lies_in_its_file(bounds: tuple[int, int, int]) -> None:
    """An invalid block is rejected."""
    with pytest.raises(IllegalArgumentException, match="must lie within the file"):
        FileBlockMetadata(1, bounds[0], bounds[1], False, -1, "/f", bounds[2])


def test_the_status_of_a_block_opens_the_file_as_it_was_when_it_was_split() -> None:
    """open_file uses its name, length and etag."""
    fs = MemoryFileSystem()
    with fs.create("/d/f") as file:
        file.write(b"0123456789a")
    status = fs.get_file_status("/d/f")
    block = replace(BLOCK, etag=status.etag)
    assert block.status() == FileStatus("/d/f", 11, modification_time=1.5, etag=status.etag)
    opened = fs.open_file(block.path).with_file_status(block.status()).build().result()
    opened.close()
    with fs.create("/d/f") as file:
        file.write(b"0123456789b")
    again = fs.open_file(block.path).with_file_status(block.status())
    with pytest.raises(OSError, match="another version of the file"):
        again.build().result()


def test_the_metadata_of_a_file_lists_the_ids_without_having_them() -> None:
    """For any number of blocks."""
    assert list(FILE.block_ids) == [5 << 32, 5 << 32 | 1, 5 << 32 | 2]
    many = replace(FILE, number_of_blocks=10**9).block_ids
    assert (len(many), many[-1]) == (10**9, (5 << 32) + 10**9 - 1)
    assert many[10:12] == range((5 << 32) + 10, (5 << 32) + 12)
    assert repr(many) == f"BlockIds({5 << 32}, 1000000000)"


def test_lists_of_ids_are_equal_if_their_ids_are() -> None:
    """Empty ones, too."""
    assert BlockIds(3, 2) == BlockIds(3, 2)
    assert BlockIds(3, 0) == BlockIds(4, 0)
    assert hash(BlockIds(3, 0)) == hash(BlockIds(4, 0))
    assert BlockIds(3, 2) != BlockIds(3, 3)


def test_files_are_equal_whenever_they_were_discovered() -> None:
    """A replay can't repeat the time."""
    assert replace(FILE, discover_time=1) == FILE
    assert replace(FILE, etag="other") != FILE


@given(st.text(max_size=20), st.text(max_size=20) | st.none(), st.integers(0, 1 << 60))
def test_records_survive_json(path: str, etag: str | None, number: int) -> None:
    """From one line of ASCII, for any names."""
    block = FileBlockMetadata(number, 0, number, True, -1, path, number, etag, None)
    file = replace(FILE, file_path=path, etag=etag, file_length=number)
    info = FileInfo(etag, path)
    for record in (block, file, info):
        line = record.to_json()
        assert line.isascii()
        assert "\n" not in line
        assert type(record).from_json(line) == record


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"type": "file"}, "expected a block record of version 1"),
        ({"version": 2}, "expected a block record of version 1"),
        ({"offset": "4"}, "invalid type of field 'offset' in a block record"),
        ({"is_last_block": 1}, "invalid type of field 'is_last_block' in a block record"),
        ({"offset": True}, "invalid type of field 'offset' in a block record"),
        ({"more": 1}, "missing or unexpected fields in a block record: more"),
        ({"offset": 9}, "must lie within the file"),
    ],
)
def test_json_of_something_else_is_rejected_in_one_line(
    change: dict[str, object], said: str
) -> None:
    """With the reason."""
    text = json.dumps({**json.loads(BLOCK.to_json()), **change})
    with pytest.raises(IllegalArgumentException, match=said):
        FileBlockMetadata.from_json(text)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000])
def test_invalid_records_are_rejected(text: str) -> None:
    """As JSON or not."""
    with pytest.raises(IllegalArgumentException, match="block record"):
        FileBlockMetadata.from_json(text)
