"""Tests of filesystems as Java objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from fscontract.contract.api.filesystem import FileStatus, FileSystem, FSDataInputStream
from fscontract.implementations.jvm.bridge import java_filesystem
from fscontract.implementations.memory import MemoryFileSystem
from tests.implementations.support import read, write

Java: TypeAlias = Callable[[str], Any]


def test_files_written_in_java_exist_after_close(fs: FileSystem, bridged: Any, java: Java) -> None:
    """They appear on close."""
    out = bridged.create(java("fs.Path")("/dir/file"))
    out.write(b"0123456789", 2, 5)
    out.write(65)
    out.close()
    assert read(fs, "/dir/file") == b"23456A"


def test_java_status_matches_the_python_status(fs: FileSystem, bridged: Any, java: Java) -> None:
    """Length, kind, time, block size, and the entity tag if there is one."""
    write(fs, "/dir/file", b"0123456789")
    ours = fs.get_file_status("/dir/file")
    status = bridged.getFileStatus(java("fs.Path")("/dir/file"))
    assert str(status.getPath()) == f"{bridged.getUri()}/dir/file"
    assert (status.getLen(), status.isFile()) == (10, True)
    assert status.getModificationTime() == round(ours.modification_time * 1000)
    assert status.getBlockSize() == ours.block_size
    assert (status.getEtag() is None) == (ours.etag is None)
    assert [str(s.getPath().getName()) for s in bridged.listStatus(java("fs.Path")("/dir"))] == [
        "file"
    ]


def test_files_are_moved_and_deleted(fs: FileSystem, bridged: Any, java: Java) -> None:
    """By Hadoop's calls."""
    path = java("fs.Path")
    write(fs, "/a", b"data")
    assert bridged.mkdirs(path("/dir"))
    assert bridged.rename(path("/a"), path("/dir/b"))
    assert (bridged.exists(path("/a")), bridged.exists(path("/dir/b"))) == (False, True)
    assert bridged.delete(path("/dir/b"), False)
    assert not bridged.delete(path("/dir/b"), False)


def test_a_missing_file_shows_in_the_future(bridged: Any, java: Java) -> None:
    """As the exception that Hadoop has for it, when the file is opened or first read."""
    opening = bridged.openFile(java("fs.Path")("/missing")).build()
    with pytest.raises(java("java.lang.Exception")) as caught:
        opening.get().read()
    error = caught.value
    missing = java("java.io.FileNotFoundException")
    assert isinstance(error, missing) or isinstance(error.getCause(), missing)


class _Noting(MemoryFileSystem):
    """Records the options of opened files."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Any] = []

    def _open(self, path: str, options: Any) -> Any:
        self.opened.append(options)
        return super()._open(path, options)


def test_all_options_arrive(java: Java) -> None:
    """With the same status object that Java was given."""
    fs = _Noting()
    write(fs, "/file", b"0123456789")
    bridged, path = java_filesystem(fs), java("fs.Path")("/file")
    opening = bridged.openFile(path).withFileStatus(bridged.getFileStatus(path))
    opening = opening.must("fs.option.openfile.read.policy", "nothing, random")
    opening = opening.optLong("fs.option.openfile.split.end", 7).bufferSize(512)
    opening.build().get().close()
    (options,) = fs.opened
    assert (options.read_policy, options.split_end, options.buffer_size) == ("random", 7, 512)
    assert options.status == fs.get_file_status("/file")
    bridged.close()


def test_unknown_mandatory_option_is_rejected(bridged: Any, java: Java) -> None:
    """By build()."""
    opening = bridged.openFile(java("fs.Path")("/file")).must("fs.none.such", "x")
    with pytest.raises(java("java.lang.IllegalArgumentException"), match=r"fs\.none\.such"):
        opening.build()


def test_status_of_another_filesystem_is_accepted(java: Java) -> None:
    """If only its name fits."""
    fs = _Noting()
    write(fs, "/file", b"0123456789")
    bridged, path = java_filesystem(fs), java("fs.Path")
    status = java("fs.FileStatus")(4, False, 1, 512, 5000, path("gopher://there/elsewhere/file"))
    bridged.openFile(path("/file")).withFileStatus(status).build().get().close()
    assert fs.opened[0].status == FileStatus("/elsewhere/file", 4, False, 5.0, None, 512)
    bridged.close()


def test_paths_lead_to_their_own_filesystem(java: Java) -> None:
    """Several of ours may be known to one Configuration."""
    conf, found = java("conf.Configuration")(), []
    filesystems = [MemoryFileSystem(), MemoryFileSystem()]
    bridged = [java_filesystem(fs, conf) for fs in filesystems]
    for number, (fs, one) in enumerate(zip(filesystems, bridged, strict=True)):
        write(fs, "/file", bytes([number]))
        path = one.makeQualified(java("fs.Path")("/file"))
        with path.getFileSystem(conf).open(path) as stream:
            found.append(stream.read())
        one.close()
    assert found == [0, 1]


def test_closed_filesystem_is_not_found(memory: MemoryFileSystem, java: Java) -> None:
    """The message names what was looked for."""
    bridged = java_filesystem(memory)
    uri = bridged.getUri()
    bridged.close()
    with pytest.raises(java("java.io.IOException"), match=f"registered for {uri}"):
        java("fs.FileSystem").newInstance(uri, bridged.getConf())


def test_a_path_of_another_filesystem_is_rejected(bridged: Any, java: Java) -> None:
    """As by every filesystem of Hadoop."""
    with pytest.raises(java("java.lang.IllegalArgumentException"), match="Wrong FS"):
        bridged.open(java("fs.Path")("gopher://there/file"))


def test_closing_in_java_closes_the_python_stream(
    memory: MemoryFileSystem, java: Java, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that closing them there closes them here."""
    opened: list[FSDataInputStream] = []
    write(memory, "/file", b"data")
    own_open = memory.open

    def noting(path: str, size: int | None = None) -> FSDataInputStream:
        opened.append(own_open(path, size))
        return opened[-1]

    monkeypatch.setattr(memory, "open", noting)
    bridged = java_filesystem(memory)
    bridged.open(java("fs.Path")("/file")).close()
    assert [getattr(stream, "closed", None) for stream in opened] == [True]
    bridged.close()
