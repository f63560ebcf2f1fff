"""The programs of docs/findings.md on Hadoop's own filesystems, with JPype alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from fscontract.implementations.bindings.hadoop.local_files import ArchiveStore
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import hadoop_jars
from servers.ftp import ftp_server, web_server

_SIZE = 10_000
_BUFFER = "fs.option.openfile.buffer.size"


@pytest.fixture(scope="module")
def local() -> Any:
    """Return a LocalFileSystem."""
    jvm.start(hadoop_jars(), short_lived=True)
    configuration = jvm.java_class("org.apache.hadoop.conf.Configuration")()
    return jvm.java_class("org.apache.hadoop.fs.FileSystem").getLocal(configuration)


@pytest.fixture(scope="module")
def raw(local: Any) -> Any:
    """Return a RawLocalFileSystem."""
    return local.getRaw()


@pytest.fixture
def path(local: Any, tmp_path: Path) -> Any:
    """Return a file of 10,000 bytes with checksums."""
    made = jvm.java_class("org.apache.hadoop.fs.Path")(str(tmp_path / "file"))
    with local.create(made, True) as file:
        file.write(_bytes(_SIZE))
    return made


def _bytes(size: int) -> Any:
    import jpype

    return jpype.JArray(jpype.JByte)(size)


def _raises(name: str) -> Any:
    return pytest.raises(jvm.java_class(name))


def test_h1_raw_stream_without_other_sources_is_moved_by_seek_to_new_source(
    raw: Any, path: Any
) -> None:
    with raw.open(path) as stream:
        stream.read()
        assert not stream.seekToNewSource(0)
        assert stream.getPos() == 4096


def test_h2_local_file_is_moved_away_by_seek_to_new_source(
    local: Any, path: Any, tmp_path: Path
) -> None:
    stream = local.open(path)
    with _raises("java.lang.NullPointerException"):
        stream.seekToNewSource(0)
    assert not (tmp_path / "file").exists()
    bad = _bad_files(tmp_path)
    moved = [name for name in os.listdir(bad) if name.lstrip(".").startswith("file.")]
    assert len(moved) >= 2
    for name in moved:
        (bad / name).unlink()
    if not os.listdir(bad):
        shutil.rmtree(bad)


def _bad_files(path: Path) -> Path:
    """Return the directory of files with bad checksums, at the root of the device."""
    device = path.stat().st_dev
    while path != path.parent and path.parent.stat().st_dev == device:
        path = path.parent
    return path / "bad_files"


def test_h3_positioned_read_far_beyond_the_end_raises(raw: Any, path: Any) -> None:
    with raw.open(path) as stream, _raises("org.apache.hadoop.fs.FSError"):
        stream.read(2**63 - 1, _bytes(1), 0, 1)


def test_h4_closed_streams_return_values(raw: Any, local: Any, path: Any) -> None:
    closed = raw.open(path)
    closed.close()
    with _raises("java.lang.NullPointerException"):
        closed.read(0, _bytes(1), 0, 1)
    assert closed.skip(0) == 0
    checked = local.open(path)
    checked.close()
    assert checked.read(0, _bytes(1), 0, 1) == 1


def test_h5_raw_stream_skips_beyond_the_end(raw: Any, path: Any) -> None:
    with raw.open(path) as stream:
        assert stream.skip(2 * _SIZE) == 2 * _SIZE


def test_h6_invalid_buffer_size_is_refused(raw: Any, path: Any) -> None:
    with _raises("java.lang.NumberFormatException"):
        raw.openFile(path).opt(_BUFFER, "abc").build()
    with _raises("java.util.concurrent.ExecutionException") as caught:
        raw.openFile(path).opt(_BUFFER, "-1").build().get()
    assert "Buffer size <= 0" in str(caught.value)


def test_h7_refused_buffer_size_leaks_the_file(raw: Any, path: Any) -> None:
    with _raises("java.lang.IllegalArgumentException"):
        raw.open(path, 0)
    assert str(path.toUri().getPath()) in _open_files()
    jvm.java_class("java.lang.System").gc()


def _open_files() -> list[str]:
    """Return the targets of this process's descriptors."""
    return [_link(descriptor) for descriptor in os.listdir("/proc/self/fd")]


def _sockets() -> set[str]:
    return {target for target in _open_files() if target.startswith("socket:")}


def _link(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:
        return ""


def test_h8_local_stream_refuses_an_empty_range_at_the_end(raw: Any, local: Any, path: Any) -> None:
    import jpype

    ranges = jvm.java_class("java.util.ArrayList")()
    kind = jvm.java_class("org.apache.hadoop.fs.FileRange")
    ranges.add(kind.createFileRange(jpype.JLong(_SIZE), jpype.JInt(0)))
    buffer = jvm.java_class("java.nio.ByteBuffer")
    allocate = jpype.JProxy("java.util.function.IntFunction", dict={"apply": buffer.allocate})
    with raw.open(path) as stream:
        stream.readVectored(ranges, allocate)
        assert ranges.get(0).getData().get().remaining() == 0
    with local.open(path) as stream, _raises("java.io.EOFException"):
        stream.readVectored(ranges, allocate)


@pytest.fixture
def har(local: Any, tmp_path: Path) -> Any:
    """Return the filesystem of an archive with the file `it`, of 5 bytes."""
    ArchiveStore(tmp_path, "").write("/a.har/it", b"hello")
    return _filesystem(f"har://{tmp_path}/a.har")


def _filesystem(uri: str, **options: str) -> Any:
    configuration = jvm.java_class("org.apache.hadoop.conf.Configuration")()
    for name, value in options.items():
        configuration.set(name.replace("_", "."), value)
    parsed = jvm.java_class("java.net.URI").create(uri)
    return jvm.java_class("org.apache.hadoop.fs.FileSystem").newInstance(parsed, configuration)


def _path(text: str) -> Any:
    return jvm.java_class("org.apache.hadoop.fs.Path")(text)


def _context() -> Any:
    parsed = jvm.java_class("java.net.URI").create("file:///")
    return jvm.java_class("org.apache.hadoop.fs.FileContext").getFileContext(parsed)


def test_h9_streams_of_archives_do_not_check_arguments(har: Any, tmp_path: Path) -> None:
    buffer = _bytes(4)
    with har.open(_path(f"{tmp_path}/a.har/it")) as stream:
        assert stream.read(-1, buffer, 0, 4) == 4
        assert bytes(b & 255 for b in buffer) == b"\x02hel"
        assert stream.read(0, None, 0, 0) == -1
        assert stream.read(_bytes(0), 1, 0) == 0


def test_h10_archives_hide_vectored_reads_and_open_paths_of_other_filesystems(
    har: Any, tmp_path: Path
) -> None:
    with har.open(_path(f"{tmp_path}/a.har/it")) as stream:
        assert not stream.hasCapability("in:readvectored")
    with har.openFile(_path(f"gopher://host{tmp_path}/a.har/it")).build().get() as stream:
        assert stream.read() == ord("h")


def test_h11_file_context_looks_up_the_filesystem_before_build(local: Any) -> None:
    asked = _context().openFile(_path("gopher://host/file"))
    with _raises("org.apache.hadoop.fs.UnsupportedFileSystemException"):
        asked.build()


def test_h13_file_context_opens_local_files_without_checksums(
    local: Any, path: Any, tmp_path: Path
) -> None:
    with (tmp_path / "file").open("r+b") as file:
        file.write(b"\x07")
    context = _context()
    for checked in (local.open(path), context.open(path, 4096)):
        with checked, _raises("org.apache.hadoop.fs.ChecksumException"):
            checked.read()
    for unchecked in (context.open(path), context.openFile(path).build().get()):
        with unchecked:
            assert unchecked.read() == 7


def test_h14_file_over_http_has_no_position(local: Any, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"hello")
    with web_server(tmp_path) as url:
        http = _filesystem(url)
        with http.open(_path(f"{url}it")) as stream:
            with _raises("java.lang.UnsupportedOperationException"):
                stream.getPos()
            assert stream.read(_bytes(5)) == 5
            assert stream.read(_bytes(0), 0, 0) == -1
            assert stream.read(_bytes(4), -2, 2) == -1
            assert stream.read(_bytes(4), 5, 0) == -1
        before = _sockets()
        with _raises("java.io.FileNotFoundException"):
            http.open(_path(f"{url}nothing"))
        assert _sockets() - before != set()
        jvm.java_class("java.lang.System").gc()
        http.close()


def test_h15_closed_file_over_ftp_keeps_a_connection(local: Any, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"hello")
    passive = "PASSIVE_LOCAL_DATA_CONNECTION_MODE"
    with ftp_server(tmp_path) as url:
        ftp = _filesystem(url, fs_ftp_data_connection_mode=passive)
        for _ in range(3):  # one by one: a collection of Java's may close what is left of others
            before = _sockets()
            stream = ftp.open(_path("/it"))
            assert stream.read(0, _bytes(0), 0, 0) == 0
            stream.close()
            assert _sockets() - before
        jvm.java_class("java.lang.System").gc()
        ftp.close()


def test_h16_streams_from_servers_return_zero_available_bytes(local: Any, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"hello")
    with ftp_server(tmp_path) as url:
        ftp = _filesystem(url, fs_ftp_data_connection_mode="PASSIVE_LOCAL_DATA_CONNECTION_MODE")
        with ftp.open(_path("/it")) as stream:
            assert stream.available() == 0
            assert stream.read() == ord("h")
        ftp.close()


def test_h17_local_stream_counts_available_bytes_from_its_last_read(
    raw: Any, local: Any, path: Any
) -> None:
    for filesystem, left in ((raw, _SIZE - 512), (local, _SIZE)):
        with filesystem.open(path) as stream:
            stream.seek(512)
            assert stream.available() == left
            stream.seek(513)
            assert stream.available() == _SIZE - 513
    one = path.suffix("-one")
    with local.create(one) as file:
        file.write(7)
    for filesystem, left in ((raw, 1), (local, 0)):
        with filesystem.open(one) as stream:
            assert stream.read(_bytes(2), 0, 2) == 1
            stream.seek(0)
            assert stream.available() == left
