"""Handles that are open, and those that nothing closed."""

from __future__ import annotations

import gc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.fakes.filesystem import handles
from fscontract.fakes.filesystem.checks import leaked_handles
from fscontract.fakes.filesystem.filesystem import FakeFileSystem


@pytest.fixture
def fs() -> FakeFileSystem:
    """A filesystem with a file."""
    fs = FakeFileSystem()
    fs.write("/a", b"hello")
    return fs


def modes(fs: FakeFileSystem) -> list[tuple[str, str, bool]]:
    """Return the path and mode of each open handle, and whether it was garbage-collected."""
    gc.collect()
    return [(handle.path, handle.mode, handle.lost) for handle in fs.open_handles]


def test_closed_files_have_no_open_handle(fs: FakeFileSystem) -> None:
    with fs.open("/a") as stream, fs.create("/b") as file:
        assert modes(fs) == [("/a", "rb", False), ("/b", "wb", False)]
        stream.read_byte()
        file.write(b"x")
    with fs.as_fsspec().open("/a") as file:
        file.read(2)
    with pytest.raises(ZeroDivisionError), fs.create("/c"):
        raise ZeroDivisionError
    assert modes(fs) == []


def test_handle_names_the_line_that_opened_the_file(fs: FakeFileSystem) -> None:
    with fs.as_fsspec().open("/a"):
        (handle,) = fs.open_handles
    file, _, line = handle.where.rpartition(":")
    assert Path(file) == Path(__file__)
    assert 'as_fsspec().open("/a")' in Path(file).read_text().splitlines()[int(line) - 1]
    assert str(handle) == f"/a opened as 'rb' at {handle.where}"


def test_garbage_collected_file_is_a_lost_handle(fs: FakeFileSystem) -> None:
    fs.as_fsspec().open("/a").read(1)
    fs.open("/a").as_file().read(1)
    fs.create("/b").write(b"x")
    assert modes(fs) == [("/a", "rb", True), ("/a", "rb", True), ("/b", "wb", True)]
    assert str(fs.open_handles[0]).endswith(", garbage-collected without close()")


def test_failed_open_has_no_handle(fs: FakeFileSystem) -> None:
    with pytest.raises(FileNotFoundError):
        fs.open("/missing")
    assert modes(fs) == []


def test_file_that_pyarrow_opened_is_not_lost(fs: FakeFileSystem) -> None:
    """PyArrow's readers close no file, and the test's author can't change that."""
    view = fs.as_fsspec()
    pq.write_table(pa.table({"a": [1]}), "/t.parquet", filesystem=view)
    assert pq.read_table("/t.parquet", filesystem=view).num_rows == 1
    assert leaked_handles("a test", fs) == ""


def test_oldest_handles_are_forgotten(fs: FakeFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "MOST_HANDLES", 2)
    streams = [fs.open("/a") for _ in range(3)]
    assert len(fs.open_handles) == 2
    for stream in streams:
        stream.close()
    assert modes(fs) == []
