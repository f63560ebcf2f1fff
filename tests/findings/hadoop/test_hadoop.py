"""The programs of docs/findings.md on Hadoop's own filesystems, with JPype alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from fscontract.implementations.jvm import machine
from fscontract.implementations.jvm.jars import hadoop_jars

_SIZE = 10_000
_BUFFER = "fs.option.openfile.buffer.size"


@pytest.fixture(scope="module")
def local() -> Any:
    """LocalFileSystem."""
    machine.start(hadoop_jars())
    configuration = machine.java_class("org.apache.hadoop.conf.Configuration")()
    return machine.java_class("org.apache.hadoop.fs.FileSystem").getLocal(configuration)


@pytest.fixture(scope="module")
def raw(local: Any) -> Any:
    """RawLocalFileSystem."""
    return local.getRaw()


@pytest.fixture
def path(local: Any, tmp_path: Path) -> Any:
    """A file of 10,000 bytes with checksums."""
    made = machine.java_class("org.apache.hadoop.fs.Path")(str(tmp_path / "file"))
    with local.create(made, True) as file:
        file.write(_bytes(_SIZE))
    return made


def _bytes(size: int) -> Any:
    import jpype

    return jpype.JArray(jpype.JByte)(size)


def _raises(name: str) -> Any:
    return pytest.raises(machine.java_class(name))


def test_h1_raw_moves_a_stream_that_has_no_other_source(raw: Any, path: Any) -> None:
    with raw.open(path) as stream:
        stream.read()
        assert not stream.seekToNewSource(0)
        assert stream.getPos() == 4096


def test_h2_local_moves_a_file_away_that_is_asked_for_another_source(
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
    """Where Hadoop puts what it takes for broken: at the root of the device."""
    device = path.stat().st_dev
    while path != path.parent and path.parent.stat().st_dev == device:
        path = path.parent
    return path / "bad_files"


def test_h3_a_positioned_read_far_beyond_the_end_is_an_error(raw: Any, path: Any) -> None:
    with raw.open(path) as stream, _raises("org.apache.hadoop.fs.FSError"):
        stream.read(2**63 - 1, _bytes(1), 0, 1)


def test_h4_closed_streams_answer(raw: Any, local: Any, path: Any) -> None:
    closed = raw.open(path)
    closed.close()
    with _raises("java.lang.NullPointerException"):
        closed.read(0, _bytes(1), 0, 1)
    assert closed.skip(0) == 0
    checked = local.open(path)
    checked.close()
    assert checked.read(0, _bytes(1), 0, 1) == 1


def test_h5_raw_skips_beyond_the_end(raw: Any, path: Any) -> None:
    with raw.open(path) as stream:
        assert stream.skip(2 * _SIZE) == 2 * _SIZE


def test_h6_a_buffer_size_that_is_no_size_is_refused(raw: Any, path: Any) -> None:
    with _raises("java.lang.NumberFormatException"):
        raw.openFile(path).opt(_BUFFER, "abc").build()
    with _raises("java.util.concurrent.ExecutionException") as caught:
        raw.openFile(path).opt(_BUFFER, "-1").build().get()
    assert "Buffer size <= 0" in str(caught.value)


def test_h7_a_refused_buffer_size_leaks_the_file(raw: Any, path: Any) -> None:
    with _raises("java.lang.IllegalArgumentException"):
        raw.open(path, 0)
    target = str(path.toUri().getPath())
    held = [fd for fd in os.listdir("/proc/self/fd") if _link(fd) == target]
    assert held != []
    machine.java_class("java.lang.System").gc()


def _link(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:
        return ""


def test_h8_local_refuses_an_empty_range_at_the_end(raw: Any, local: Any, path: Any) -> None:
    import jpype

    ranges = machine.java_class("java.util.ArrayList")()
    kind = machine.java_class("org.apache.hadoop.fs.FileRange")
    ranges.add(kind.createFileRange(jpype.JLong(_SIZE), jpype.JInt(0)))
    buffer = machine.java_class("java.nio.ByteBuffer")
    allocate = jpype.JProxy("java.util.function.IntFunction", dict={"apply": buffer.allocate})
    with raw.open(path) as stream:
        stream.readVectored(ranges, allocate)
        assert ranges.get(0).getData().get().remaining() == 0
    with local.open(path) as stream, _raises("java.io.EOFException"):
        stream.readVectored(ranges, allocate)
