"""The instrumented filesystem logs calls, replaces statuses, calls hooks, and dies at a write."""

from __future__ import annotations

import pytest

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.scenarios.instrumented_filesystem import (
    DEATHS,
    InstrumentedFileSystem,
    Killed,
)
from fscontract.implementations.memory import MemoryFileSystem


def _write(fs: InstrumentedFileSystem) -> None:
    with fs.create("/file") as file:
        file.write(b"12345678")


@pytest.mark.parametrize(
    ("death", "left"), [("before", None), ("after", b"12345678"), ("torn", b"1234")]
)
def test_process_dies_at_the_write_that_is_set(death: str, left: bytes | None) -> None:
    """Every later call raises Killed until `revive`."""
    assert death in DEATHS
    fs = InstrumentedFileSystem(MemoryFileSystem())
    fs.kill_at, fs.death = 2, death
    fs.mkdirs("/d")
    with pytest.raises(Killed):
        _write(fs)
    with pytest.raises(Killed):
        fs.list_status("/")
    fs.revive()
    names = [status.path for status in fs.list_status("/")]
    assert ("/file" in names) == (left is not None)
    if left is not None:
        with fs.open("/file") as stream, stream.as_file() as file:
            assert file.read() == left


def test_process_dies_at_a_write_that_fails() -> None:
    fs = InstrumentedFileSystem(MemoryFileSystem())
    _write(fs)
    fs.kill_at, fs.death = 2, "after"
    with pytest.raises(Killed), fs.create("/file", overwrite=False) as file:
        file.write(b"other")


def test_calls_are_logged_until_the_log_is_cleared() -> None:
    fs = InstrumentedFileSystem(MemoryFileSystem())
    _write(fs)
    fs.open("/file").close()
    list(fs.list_status("/"))
    fs.get_file_status("/file")
    assert (fs.writes, dict(fs.opened), dict(fs.listed)) == (["/file"], {"/file": 1}, {"/": 1})
    fs.clear_log()
    assert (fs.writes, dict(fs.opened), dict(fs.listed)) == ([], {}, {})


def test_fields_of_statuses_are_replaced_in_listings_too() -> None:
    fs = InstrumentedFileSystem(MemoryFileSystem())
    _write(fs)
    fs.stated["/file"] = {"length": 7}
    fs.block_size = 3
    (child,) = fs.list_status("/")
    assert (child.length, child.block_size) == (7, 3)
    assert fs.get_file_status("/file") == child


def test_child_deleted_by_the_hook_is_not_listed() -> None:
    fs = InstrumentedFileSystem(MemoryFileSystem())
    _write(fs)
    calls: list[tuple[str, str | None]] = []

    def delete(directory: str, child: str | None) -> None:
        calls.append((directory, child))
        if child is not None:
            fs.inner.delete(child)

    fs.on_list = delete
    assert list(fs.list_status("/")) == []
    assert calls == [("/", None), ("/", "/file")]
    with pytest.raises(FileNotFoundException):
        fs.get_file_status("/file")


def test_undeletable_path_is_refused() -> None:
    fs = InstrumentedFileSystem(MemoryFileSystem())
    _write(fs)
    fs.undeletable = {"/file"}
    with pytest.raises(PermissionError):
        fs.delete("/file")
    assert fs.get_file_status("/file").length == 8
