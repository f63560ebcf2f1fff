"""Tests of fsspec filesystems as a `FileSystem`."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    FileAlreadyExistsException,
    PathIOException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FileRange
from fscontract.fakes.servers import HttpServer, S3Server
from fscontract.implementations.fsspec_filesystem import FsspecFileSystem
from fscontract.implementations.spark.locations import FsspecLocation, location_of
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

DATA = bytes(range(256)) * 64


@pytest.fixture(params=["memory", "s3"])
def fs(request: pytest.FixtureRequest) -> Iterator[FsspecFileSystem]:
    """An empty store that creates files atomically."""
    if request.param == "memory":
        fs = FsspecFileSystem.from_url("memory://fsspec-test")
        yield fs
        fs.delete("/", recursive=True)
    else:
        with S3Server() as server:
            fs = FsspecFileSystem.from_url(f"s3://{server.bucket}", server.storage_options)
            yield fs
            fs.close()


def _write(fs: Any, path: str, data: bytes = DATA, overwrite: bool = False) -> None:
    with fs.create(path, overwrite=overwrite) as file:
        file.write(data)


def test_one_of_several_concurrent_creators_succeeds(fs: FsspecFileSystem) -> None:
    """The others see that the file exists, and the file is that of the first."""
    barrier, created = threading.Barrier(4), []

    def create(number: int) -> None:
        barrier.wait()
        try:
            _write(fs, "/d/lock", b"%d" % number)
        except FileAlreadyExistsException:
            return
        created.append(number)

    threads = [threading.Thread(target=create, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(created) == 1
    with fs.open("/d/lock") as stream, stream.as_file() as file:
        assert file.read() == b"%d" % created[0]


def test_metadata_table_is_written_and_read(fs: FsspecFileSystem) -> None:
    for name in ("day=1/a", "day=2/b"):
        _write(fs, f"/trips/{name}")
    MetadataWriter(fs, "/trips").initialize()
    with MetadataTable(fs, "/trips") as table:
        assert table.list_partitions() == ["day=1", "day=2"]
        (status,) = table.list_files("day=2")
        assert (status.path, status.length) == ("/trips/day=2/b", len(DATA))


def test_ranges_are_read_and_a_changed_file_is_detected(fs: FsspecFileSystem) -> None:
    _write(fs, "/f")
    status = fs.get_file_status("/f")
    with fs.open_file("/f").with_file_status(status).build().result() as stream:
        ranges = [FileRange(n * 1000, 10) for n in range(10)]
        stream.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert bytes(item.data.result()) == DATA[item.offset : item.offset + 10]
        stream.seek(len(DATA) - 1)
        assert (stream.read_byte(), stream.read_byte()) == (DATA[-1], -1)
    _write(fs, "/f", DATA + b"more", overwrite=True)
    with pytest.raises(RemoteFileChangedException):
        fs.open_file("/f").with_file_status(status).build().result()


def test_a_directory_is_deleted_with_its_files_only_if_asked_to(fs: FsspecFileSystem) -> None:
    _write(fs, "/d/f")
    with pytest.raises(PathIOException, match="not empty"):
        fs.delete("/d")
    assert fs.delete("/d", recursive=True)
    assert not fs.delete("/d")
    with pytest.raises(FileNotFoundError):
        fs.get_file_status("/d/f")


def test_server_that_ignores_ranges_is_named(tmp_path: Path) -> None:
    """Instead of wrong bytes; a copy by simplecache is right."""
    (tmp_path / "f").write_bytes(DATA)
    with HttpServer(tmp_path, ignore_ranges=True) as server:
        buffer = bytearray(10)
        with (
            FsspecFileSystem.from_url(server.url.rstrip("/")).open("/f") as stream,
            pytest.raises(PathIOException, match="ignores ranges; put simplecache::"),
        ):
            stream.read_fully(100, buffer)
        with FsspecFileSystem.from_url(f"simplecache::{server.url.rstrip('/')}").open("/f") as copy:
            copy.read_fully(100, buffer)
    assert bytes(buffer) == DATA[100:110]


def test_a_location_is_sent_without_credentials() -> None:
    """Executors get them as variables of fsspec's; files in memory are never sent."""
    location = FsspecLocation.of("ftp://host", {"password": "hidden-0815", "timeout": "5"})
    assert "hidden" not in repr(location)
    assert b"hidden" not in pickle.dumps(location)
    assert pickle.loads(pickle.dumps(location)).options == (("timeout", "5"),)
    assert location.variables == {"FSSPEC_FTP_PASSWORD": "hidden-0815"}
    in_memory = location_of(FsspecLocation.of("memory://x", {}).make())
    with pytest.raises(UnsupportedOperationException, match="memory of one process"):
        pickle.dumps(in_memory)
