"""Tests of a filesystem of Hadoop's client, read by pipelines."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fscontract import FileRange, LocalFileSystem, check
from fscontract.contract.api.errors import (
    AccessControlException,
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.binding import TargetError
from fscontract.fakes.servers import HttpServer
from fscontract.implementations import hadoop_filesystem
from fscontract.implementations.hadoop_filesystem import HadoopFileSystem
from fscontract.implementations.jvm import jvm
from fscontract.implementations.spark.locations import HadoopClientLocation
from fscontract.pipeline.locations import filesystem_url, make_location

pytest.importorskip("jpype")
pytest.importorskip("pyspark")
DATA = bytes(range(256)) * 40


@pytest.fixture
def fs() -> Iterator[HadoopFileSystem]:
    """Hadoop's local filesystem."""
    filesystem = HadoopFileSystem("file://")
    yield filesystem
    filesystem.close()


class Writable(HadoopFileSystem):
    """A filesystem whose files are written beside Hadoop."""

    def __init__(self) -> None:
        super().__init__("file://", {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem"})
        self._local = LocalFileSystem()

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        return self._local.create(path, overwrite)

    def mkdirs(self, path: str) -> None:
        self._local.mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        return self._local.delete(path, recursive)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a name that is not a valid URI."""
    path = tmp_path / "a b#?%41"
    path.write_bytes(DATA)
    return str(path)


@pytest.mark.usefixtures("programs")
def test_streams_satisfy_the_contract() -> None:
    result = check(Writable(), clauses=["seek.*"])
    assert result.conforms, result.counterexamples


def test_large_reads_are_copied_in_parts(
    fs: HadoopFileSystem, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hadoop_filesystem, "_LARGEST_COPY", 1000)
    buffer = bytearray(len(DATA))
    with fs.open(path) as stream:
        stream.read_fully(0, buffer)
        assert buffer == DATA
        assert stream.read_into(buffer) == len(DATA)
        assert buffer == DATA


def test_stream_that_was_unbuffered_reads_on(fs: HadoopFileSystem, path: str) -> None:
    with fs.open(path) as stream:
        assert stream.read_byte() == DATA[0]
        stream.unbuffer()
        assert stream.read_byte() == DATA[1]


def test_vectored_reads_return_each_range(fs: HadoopFileSystem, path: str) -> None:
    ranges = [FileRange(5000, 300), FileRange(0, 10)]
    with fs.open(path) as stream:
        stream.read_vectored(ranges)
        read = [bytes(item.data.result()) for item in ranges if item.data is not None]
    assert read == [DATA[5000:5300], DATA[:10]]


def test_listing_has_the_statuses_of_the_children_by_path(
    fs: HadoopFileSystem, path: str, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "0").write_bytes(b"")
    found = list(fs.list_status(str(tmp_path)))
    assert [(s.path, s.length, s.is_directory) for s in found] == [
        (f"{tmp_path}/0", 0, False),
        (path, len(DATA), False),
        (f"{tmp_path}/sub", 0, True),
    ]
    assert found == [fs.get_file_status(status.path) for status in found]
    assert list(fs.list_status(path)) == [fs.get_file_status(path)]


@pytest.mark.parametrize("call", ["open", "get_file_status", "list_status"])
def test_missing_path_is_not_found(fs: HadoopFileSystem, tmp_path: Path, call: str) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        getattr(fs, call)(f"{tmp_path}/nothing")


def test_directory_is_no_file(fs: HadoopFileSystem, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a regular file"):
        fs.open(str(tmp_path))


def test_file_that_was_replaced_since_its_status_is_not_read(
    fs: HadoopFileSystem, path: str
) -> None:
    os.utime(path, (1, 1))
    status = fs.get_file_status(path)
    Path(path).write_bytes(DATA[1:])
    with pytest.raises(RemoteFileChangedException):
        fs.open_file(path).with_file_status(status).build().result()


def test_file_that_is_cut_under_a_stream_is_an_error(fs: HadoopFileSystem, path: str) -> None:
    with fs.open(path) as stream:
        Path(path).write_bytes(DATA[:10])
        with pytest.raises(OSError, match="EOF"):
            stream.read_fully(0, bytearray(len(DATA)))


@pytest.mark.parametrize("name", hadoop_filesystem.DENIED)
def test_refused_access_is_an_exception_of_its_own(fs: HadoopFileSystem, name: str) -> None:
    with pytest.raises(AccessControlException), fs.errors("/x"):
        raise jvm.java_class(name)("refused")


def test_server_that_is_down_is_one_line() -> None:
    once = {"ipc.client.connect.max.retries": "0"}
    with pytest.raises(PathIOException, match="ConnectException: ") as raised:
        HadoopFileSystem("hdfs://127.0.0.1:1", once).get_file_status("/x")
    assert "\n" not in str(raised.value)


def test_other_scheme_of_hadoop_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DATA)
    with HttpServer(tmp_path) as server, HadoopFileSystem(server.url) as fs:
        builder = fs.open_file("/a").opt_long("fs.option.openfile.length", len(DATA))
        with builder.build().result() as stream, stream.as_file() as file:
            assert file.read() == DATA


def test_unknown_scheme_is_named() -> None:
    with pytest.raises(PathIOException, match='No FileSystem for scheme "nosuch"'):
        HadoopFileSystem("nosuch://host")


def test_password_of_a_url_is_in_no_message() -> None:
    with pytest.raises(PathIOException, match="No FileSystem") as raised:
        HadoopFileSystem("nosuch://someone:hunter2@host")
    assert "hunter2" not in str(raised.value)


def test_threads_that_make_the_first_positioned_reads_share_one_java_stream(
    fs: HadoopFileSystem, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def counted(path: str) -> Any:
        opened.append(path)
        return HadoopFileSystem.open_java(fs, path)

    with fs.open(path) as stream:
        monkeypatch.setattr(fs, "open_java", counted)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda at: stream.pread(at, bytearray(4)), range(50)))
    assert len(opened) == 1


def test_missing_java_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_jars() -> tuple[Path, ...]:
        raise TargetError("Hadoop's jars not found")

    monkeypatch.setattr(jvm, "hadoop_jars", no_jars)
    with pytest.raises(IllegalArgumentException, match=r"hadoop\+hdfs://h: Hadoop's jars"):
        HadoopFileSystem("hdfs://h")


@pytest.mark.parametrize("call", ["create", "mkdirs", "delete"])
def test_nothing_is_written(fs: HadoopFileSystem, tmp_path: Path, call: str) -> None:
    with pytest.raises(UnsupportedOperationException, match="read-only"):
        getattr(fs, call)(f"{tmp_path}/new")
    assert list(tmp_path.iterdir()) == []


# Locations ------------------------------------------------------------------------------------


def test_url_of_hadoop_is_a_location_that_executors_get_with_its_properties(path: str) -> None:
    url = filesystem_url(f"hadoop+file://{path}")
    location = make_location(url, {"storage.io.file.buffer.size": "8192"})
    assert location == HadoopClientLocation("file://", (("io.file.buffer.size", "8192"),))
    with pickle.loads(pickle.dumps(location)).make() as fs, fs.open(path) as stream:
        assert stream.read_byte() == DATA[0]


def test_credential_is_refused_with_the_place_where_it_belongs() -> None:
    with pytest.raises(IllegalArgumentException, match="HADOOP_CONF_DIR") as raised:
        make_location("hadoop+s3a://bucket", {"fs.s3a.secret.key": "xyzzy"})
    assert "xyzzy" not in str(raised.value)
