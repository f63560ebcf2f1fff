"""Tests of the fsspec views, and of libraries that read through them."""

from __future__ import annotations

import pickle
import zipfile
from datetime import datetime, timedelta, timezone
from io import SEEK_END
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import FSSpecHandler, PyFileSystem

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.program.content import content
from fscontract.implementations.fsspec_adapter import LocalFsspec, MemoryFsspec
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem

DATA = content(100_000)


@pytest.fixture
def view(fs: FileSystem) -> Any:
    """Each filesystem through fsspec."""
    return fs.as_fsspec()


class TestReading:
    def test_a_file_has_size_tell_and_seek(self, view: Any) -> None:
        view.pipe_file("/d/a", DATA)
        with view.open("/d/a") as file:
            assert file.size == len(DATA)
            assert file.seek(-10, SEEK_END) == file.tell() == len(DATA) - 10
            assert file.read() == DATA[-10:]
            file.seek(3)
            assert file.read(5) == DATA[3:8]
        assert file.closed

    @pytest.mark.parametrize(
        ("start", "end"), [(None, None), (2, 5), (-3, None), (0, -99), (7, 2), (8, 99), (99, 100)]
    )
    def test_cat_file_is_a_slice(self, view: Any, start: int | None, end: int | None) -> None:
        view.pipe_file("/a", DATA[:9])
        assert view.cat_file("/a", start, end) == DATA[:9][start:end]

    def test_blocks_end_at_delimiters_and_at_the_end(self, view: Any) -> None:
        view.pipe_file("/a", b"a,b,c")
        assert [view.read_block("/a", at, 1, b",") for at in (0, 1, 99)] == [b"a,", b"b,", b""]
        assert view.read_block("/a", 9, 1) == b""
        assert view.read_block("/a", 3, None) == b",c"

    def test_a_read_larger_than_the_buffer_is_one_read_of_the_stream(self, view: Any) -> None:
        view.pipe_file("/a", DATA)
        with view.open("/a", block_size=100) as file:
            assert (file.read(250), file.read(9), file.read()) == (
                DATA[:250],
                DATA[250:259],
                DATA[259:],
            )
        with view.open("/a", block_size=100) as file:
            file.read(250)
            assert file.raw._stream.io_statistics()["stream_read_operations"] == 1

    @pytest.mark.parametrize("bounds", [(None, None), (5, 9), (None, -3), (-7, None), (-7, -3)])
    def test_cat_file_gives_a_slice(self, view: Any, bounds: tuple[Any, Any]) -> None:
        view.pipe_file("/a", DATA)
        assert view.cat_file("/a", *bounds) == DATA[slice(*bounds)]

    def test_cat_ranges_gives_several(self, view: Any) -> None:
        view.pipe_file("/a", DATA)
        assert view.cat_ranges(["/a", "/a"], [0, 500], [3, 507]) == [DATA[:3], DATA[500:507]]

    def test_head_and_tail(self, view: Any) -> None:
        view.pipe_file("/a", DATA)
        assert (view.head("/a", 9), view.tail("/a", 9)) == (DATA[:9], DATA[-9:])

    def test_text_is_read_and_written(self, view: Any) -> None:
        with view.open("/a", "w", encoding="utf-8") as file:
            file.write("ä\nb\n")
        with view.open("/a", "r", encoding="utf-8") as file:
            assert list(file) == ["ä\n", "b\n"]

    @pytest.mark.parametrize("path", ["/missing", "/dir"])
    def test_directory_or_missing_file_is_not_found(self, view: Any, path: str) -> None:
        view.mkdir("/dir")
        with pytest.raises(FileNotFoundError):
            view.open(path)


class TestTree:
    def test_listing_gives_names_or_details(self, view: Any) -> None:
        view.pipe({"/d/a": b"1", "/d/e/b": b"22"})
        assert view.ls("/d", detail=False) == ["/d/a", "/d/e"]
        assert [(e["type"], e["size"]) for e in view.ls("/d")] == [("file", 1), ("directory", 0)]
        assert view.find("/") == ["/d/a", "/d/e/b"]
        assert view.ls("/d/a", detail=False) == ["/d/a"]

    def test_info_agrees_with_the_status(self, view: Any, fs: FileSystem) -> None:
        view.pipe_file("/a", b"123")
        info, status = view.info("a"), fs.get_file_status("/a")
        assert (info["name"], info["size"], info["ETag"]) == ("/a", 3, status.etag)

    def test_times_are_in_utc(self, view: Any) -> None:
        second = timedelta(seconds=1)  # resolution of times in stores
        before = datetime.now(timezone.utc) - second
        view.touch("/a")
        assert before <= view.modified("/a") <= datetime.now(timezone.utc) + second
        assert view.created("/a") == view.modified("/a")

    def test_creating_an_existing_directory_fails_unless_allowed(self, view: Any) -> None:
        view.makedirs("/a/b")
        view.makedirs("/a/b", exist_ok=True)
        for call in (view.mkdir, view.makedirs):
            with pytest.raises(FileExistsError):
                call("/a/b")

    def test_a_parent_is_needed_unless_made(self, view: Any) -> None:
        with pytest.raises(FileNotFoundError):
            view.mkdir("/a/b", create_parents=False)

    def test_removing(self, view: Any) -> None:
        view.pipe({"/d/a": b"", "/d/b": b"", "/d/e/c": b""})
        view.rm_file("/d/a")
        with pytest.raises(FileNotFoundError):
            view.rm_file("/d/a")
        with pytest.raises(IsADirectoryError):
            view.rm("/d")
        view.rm("/d/b*")
        assert view.find("/") == ["/d/e/c"]
        view.rm("/d", recursive=True)
        assert view.ls("/") == []

    def test_removing_an_empty_directory(self, view: Any) -> None:
        view.mkdir("/d")
        view.rmdir("/d")
        assert not view.exists("/d")

    def test_moving_replaces_a_file_and_goes_into_a_directory(self, view: Any) -> None:
        view.pipe({"/a": b"a", "/b": b"b", "/d/x": b""})
        view.mv("/a", "/b")
        assert (view.cat_file("/b"), view.exists("/a")) == (b"a", False)
        view.mv("/b", "/d")
        assert view.cat_file("/d/b") == b"a"
        view.mv("/d", "/e", recursive=True)
        assert view.find("/") == ["/e/b", "/e/x"]

    def test_a_move_of_nothing_removes_nothing(self, view: Any) -> None:
        view.pipe({"/b": b"b"})
        with pytest.raises(FileNotFoundError):
            view.mv("/missing", "/b")
        assert view.cat_file("/b") == b"b"

    def test_copying(self, view: Any) -> None:
        view.pipe_file("/a", DATA)
        view.cp_file("/a", "/d/b")
        assert view.cat_file("/d/b") == DATA

    def test_exclusive_writing(self, view: Any) -> None:
        with view.open("/a", "xb") as file:
            file.write(b"1")
        with pytest.raises(FileExistsError):
            view.open("/a", "xb")

    def test_appending_is_rejected(self, view: Any) -> None:
        with pytest.raises(ValueError, match="'ab'"):
            view.open("/a", "ab")

    def test_a_transaction_publishes_at_its_end(self, view: Any) -> None:
        with view.transaction:
            view.pipe_file("/a", b"1")
            assert not view.exists("/a")
        assert view.cat_file("/a") == b"1"

    def test_a_failed_transaction_publishes_nothing(self, view: Any) -> None:
        view.start_transaction()
        view.pipe_file("/a", b"1")
        view.transaction.complete(commit=False)
        view.end_transaction()
        assert view.find("/") == []


class TestProtocols:
    def test_the_process_shares_one_memory(self) -> None:
        fsspec.filesystem("fscontract-memory").pipe_file("/shared/a", b"x")
        with fsspec.open("fscontract-memory://shared/a") as file:
            assert file.read() == b"x"
        MemoryFsspec().rm("/shared", recursive=True)

    def test_explicit_store_is_not_shared(self) -> None:
        one, two = MemoryFsspec(fs=MemoryFileSystem()), MemoryFsspec(fs=MemoryFileSystem())
        one.pipe_file("/a", b"x")
        assert not two.exists("/a")
        assert one is not two

    def test_local_files_by_url(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"x")
        with fsspec.open(f"fscontract-local://{tmp_path}/a") as file:
            assert file.read() == b"x"

    def test_a_local_view_pickles(self, tmp_path: Path) -> None:
        view = LocalFsspec(root=str(tmp_path), strategy="portable")
        view.pipe_file("/a", b"x")
        copy = pickle.loads(pickle.dumps(view))
        assert copy.cat_file("/a") == b"x"
        assert copy.fs.strategy == "portable"

    def test_the_view_of_a_filesystem_is_over_that_filesystem(self, tmp_path: Path) -> None:
        fs = LocalFileSystem(str(tmp_path))
        assert fs.as_fsspec().fs is fs


class TestLibraries:
    def test_zipfile_writes_and_reads(self, view: Any) -> None:
        with view.open("/z", "wb") as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr("inside", DATA)
        with view.open("/z") as file, zipfile.ZipFile(file) as archive:
            assert archive.read("inside") == DATA

    def test_pyarrow_writes_and_reads_parquet(self, view: Any) -> None:
        table = pa.table({"n": list(range(10_000)), "s": ["x"] * 10_000})
        arrow = PyFileSystem(FSSpecHandler(view))
        pq.write_table(table, "/d/t.parquet", filesystem=arrow)
        assert pq.read_table("/d/t.parquet", filesystem=arrow).equals(table)
        with view.open("/d/t.parquet") as file:
            assert pq.read_table(file, columns=["n"]).num_rows == 10_000

    def test_pyarrow_reads_at_a_position(self, view: Any) -> None:
        view.pipe_file("/a", DATA)
        with PyFileSystem(FSSpecHandler(view)).open_input_file("/a") as file:
            assert file.size() == len(DATA)
            assert file.read_at(10, 500) == DATA[500:510]
