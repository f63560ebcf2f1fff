"""Tests of the rows of base files: Parquet, and Lance."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from fscontract import LocalFileSystem, MemoryFileSystem
from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.base_files import read_base_file
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException, write_file

ROWS = pa.table({"key": ["a", "b"], "value": [1, None]})


@pytest.fixture
def lance(tmp_path: Path) -> bytes:
    """Return a Lance file of the rows."""
    file = pytest.importorskip("lance.file")
    path = tmp_path / "rows.lance"
    with file.LanceFileWriter(str(path), ROWS.schema) as writer:
        for batch in ROWS.to_batches():
            writer.write_batch(batch)
    return path.read_bytes()


def stored(content: bytes, name: str = "rows.lance") -> tuple[FileSystem, str]:
    fs = MemoryFileSystem()
    write_file(fs, f"/t/{name}", content)
    return fs, f"/t/{name}"


def read(fs: FileSystem, path: str, *names: str) -> pa.Table:
    return read_base_file(fs, fs.get_file_status(path), names)


def test_rows_of_a_lance_file_of_any_filesystem_are_read(lance: bytes) -> None:
    assert read(*stored(lance), "value", "key", "other") == ROWS


def test_rows_are_counted_if_the_file_has_none_of_the_columns(lance: bytes) -> None:
    assert read(*stored(lance), "other").num_rows == ROWS.num_rows


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_incomplete_lance_file_is_named_without_its_copy(lance: bytes, cut: int) -> None:
    with pytest.raises(CorruptFileException, match=r"can't read rows.*/t/rows\.lance") as raised:
        read(*stored(lance[:cut]), "key")
    assert "/tmp" not in str(raised.value)


def test_file_that_does_not_exist_is_no_damage() -> None:
    pytest.importorskip("lance")
    fs, path = stored(b"")
    status = fs.get_file_status(path)
    fs.delete(path)
    with pytest.raises(FileNotFoundError):
        read_base_file(fs, status, ["key"])


def test_lance_file_without_the_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "lance", None)
    monkeypatch.setitem(sys.modules, "lance.file", None)
    with pytest.raises(MetadataException, match=r"pip install 'fscontract\[lance\]'"):
        read(*stored(b""), "key")


def test_copy_is_removed(lance: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    source = tmp_path / "source.lance"
    source.write_bytes(lance)
    assert read(LocalFileSystem(), str(source), "key", "value") == ROWS
    assert list(folder.iterdir()) == []


def test_other_formats_are_refused() -> None:
    with pytest.raises(MetadataException, match="must be Parquet or Lance"):
        read(*stored(b"ORC", "rows.orc"), "key")
