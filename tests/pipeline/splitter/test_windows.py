"""Tests of stored windows: they are read back unchanged, or with an error."""

from __future__ import annotations

import json
from zlib import crc32

import pytest

from fscontract.contract.api.errors import IllegalArgumentException, PathIOException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.blocks import FileMetadata
from fscontract.pipeline.splitter.scanner import Reference
from fscontract.pipeline.splitter.windows import (
    FSWindowStore,
    NoopWindowStore,
    TakenFile,
    WindowData,
)

FILE = FileMetadata("s3a://b/d/\u00e4\n", "\u00e4\n", 11, False, 3, 4, 0, 99, "d/f", 7, "e", 1500)
TAKEN = TakenFile(FILE, "s3a://b/d", "/d/\u00e4\n", Reference(1.5, 11, "e"))
DATA = WindowData(5, 7, 3, (TAKEN, TAKEN))
PLACE = "/w/00000000/0000000000000005.jsonl"


@pytest.fixture
def fs() -> MemoryFileSystem:
    """A filesystem with one window."""
    made = MemoryFileSystem()
    FSWindowStore(made, "/w").save(DATA)
    return made


def _read(fs: FileSystem) -> bytes:
    with fs.open(PLACE) as stream, stream.as_file() as file:
        return file.read() or b""


def _write(fs: FileSystem, content: bytes) -> None:
    with fs.create(PLACE) as file:
        file.write(content)


def test_saved_window_is_read_back_unchanged(fs: MemoryFileSystem) -> None:
    """Also by another process, and with the discover time."""
    found = FSWindowStore(fs, "/w/").retrieve(5)
    assert found == DATA
    assert found is not None
    assert found.files[0].file.discover_time == 99
    assert FSWindowStore(fs, "/w").retrieve(4) is None


def test_a_window_is_saved_once(fs: MemoryFileSystem) -> None:
    """By this process, and by another one that acts as the same operator."""
    other = FSWindowStore(MemoryFileSystem(), "/w")
    other.filesystem = fs
    for store in (FSWindowStore(fs, "/w"), other):
        with pytest.raises(PathIOException, match=r"saved already|exists"):
            store.save(DATA)


def test_every_truncation_and_wrong_byte_is_detected(fs: MemoryFileSystem) -> None:
    """The window counts as incomplete then, and its file is deleted."""
    content = _read(fs)
    damaged = [content[:cut] for cut in range(len(content))]
    damaged += [
        content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]
        for place in range(len(content))
    ]
    damaged += [content + b"x", content + content, content.replace(b"\n", b"\n\n")]
    for one in damaged:
        _write(fs, one)
        store = FSWindowStore(fs, "/w")
        assert store.largest_completed_window is None, one
        assert store.retrieve(5) is None
    _write(fs, content)
    assert FSWindowStore(fs, "/w").largest_completed_window == 5


def test_damage_in_the_middle_is_an_error_that_names_the_file(fs: MemoryFileSystem) -> None:
    """It is not a torn tail, and ignoring it would lose files."""
    FSWindowStore(fs, "/w").save(WindowData(6))
    _write(fs, _read(fs)[:-3])
    store = FSWindowStore(fs, "/w")
    assert store.largest_completed_window == 6
    with pytest.raises(PathIOException, match=r"damaged window.*0005"):
        store.retrieve(5)


@pytest.mark.parametrize(
    ("number", "change"),
    [(0, {"version": 2}), (0, {"window": 6}), (0, {"operator": 1}), (-1, {"end": 1})],
)
def test_lines_of_another_window_or_form_are_rejected(
    fs: MemoryFileSystem, number: int, change: dict[str, int]
) -> None:
    """Although their checksums are correct."""
    lines = _read(fs).decode().splitlines()
    text = json.dumps({**json.loads(lines[number].partition(" ")[2]), **change})
    lines[number] = f"{crc32(text.encode()):08x} {text}"
    _write(fs, "".join(f"{line}\n" for line in lines).encode())
    assert FSWindowStore(fs, "/w").largest_completed_window is None


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000], ids=["empty", "open", "deep"])
def test_lines_that_are_not_json_are_rejected(fs: MemoryFileSystem, text: str) -> None:
    """Although their checksums are correct."""
    lines = _read(fs).decode().splitlines()
    lines[1] = f"{crc32(text.encode()):08x} {text}"
    _write(fs, "".join(f"{line}\n" for line in lines).encode())
    assert FSWindowStore(fs, "/w").largest_completed_window is None


def test_committed_windows_go_but_for_the_last(fs: MemoryFileSystem) -> None:
    """From which a new process knows its position."""
    store = FSWindowStore(fs, "/w")
    for number in (6, 7):
        store.save(WindowData(number))
    store.committed(7)
    again = FSWindowStore(fs, "/w")
    assert [again.retrieve(n) is None for n in (5, 6, 7)] == [True, True, False]
    assert again.largest_completed_window == 7


def test_operators_share_a_directory(fs: MemoryFileSystem) -> None:
    """Each has its windows; the last window that all completed is the common one."""
    two = FSWindowStore(fs, "/w", 2)
    assert two.completed_by_all() == 5
    two.save(WindowData(4))
    assert two.operators() == (0, 2)
    assert two.completed_by_all() == 4
    two.save(WindowData(5))
    assert {who: data.blocks for who, data in two.retrieve_all(5).items()} == {0: 3, 2: 0}
    assert {*two.retrieve_all(4)} == {2}


def test_windows_of_a_removed_operator_go_when_all_are_committed(fs: MemoryFileSystem) -> None:
    """Not before."""
    two = FSWindowStore(fs, "/w", 2)
    two.save(WindowData(1))
    two.committed(4, removed=[0])
    assert two.operators() == (0, 2)
    two.committed(5, removed=[0])
    assert two.operators() == (2,)


def test_other_files_in_the_directory_are_kept(fs: MemoryFileSystem) -> None:
    """Files with other names are ignored."""
    for name in ("/w/README", "/w/00000000/notes.txt", "/w/00000000/zzzzzzzzzzzzzzzz.jsonl"):
        with fs.create(name) as file:
            file.write(b"x")
    store = FSWindowStore(fs, "/w")
    assert (store.largest_completed_window, store.operators()) == (5, (0,))
    store.committed(9)
    assert fs.get_file_status("/w/README").length == 1


def test_missing_directory_has_no_windows() -> None:
    """It is created with the first window."""
    store = FSWindowStore(MemoryFileSystem(), "/w")
    assert (store.largest_completed_window, store.completed_by_all()) == (None, None)
    assert store.operators() == ()
    store.committed(3)
    with pytest.raises(IllegalArgumentException, match="operator_id"):
        FSWindowStore(MemoryFileSystem(), "/w", -1)


def test_the_store_that_keeps_nothing_keeps_nothing() -> None:
    """By choice of the user."""
    store = NoopWindowStore()
    store.save(DATA)
    store.committed(5)
    assert (store.largest_completed_window, store.retrieve(5)) == (None, None)
