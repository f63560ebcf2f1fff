"""Hadoop's contract tests of file operations, run against the bridged filesystems.

Each section corresponds to one of Hadoop's classes AbstractContract...Test, whose jars are not
distributed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import jpype
import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.jvm.bridge import java_filesystem
from fscontract.implementations.memory import MemoryFileSystem
from tests.implementations.support import read, write

Java: TypeAlias = Callable[[str], Any]

_ETAGS = "fs.capability.etags.available"
_RENAMED_ETAGS = "fs.capability.etags.preserved.in.rename"
_WRITTEN = "stream_write_bytes"


@pytest.fixture
def path(java: Java) -> Any:
    """The class Path."""
    return java("fs.Path")


@pytest.fixture
def io_error(java: Java) -> Any:
    """The class IOException."""
    return java("java.io.IOException")


def _names(statuses: Any) -> list[str]:
    return [str(status.getPath().toUri().getPath()) for status in statuses]


def _all(iterator: Any) -> list[Any]:
    found = []
    while iterator.hasNext():
        found.append(iterator.next())
    return found


def _write(out: Any, data: bytes) -> None:
    out.write(data)
    out.close()


# CreateTest ----------------------------------------------------------------------------------


def test_a_builder_replaces_a_file(fs: FileSystem, bridged: Any, path: Any) -> None:
    """With overwrite."""
    write(fs, "/dir/file", b"old and longer")
    _write(bridged.createFile(path("/dir/file")).overwrite(True).build(), b"new")
    assert read(fs, "/dir/file") == b"new"


def test_a_builder_without_overwrite_keeps_a_file(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """It raises FileAlreadyExistsException."""
    write(fs, "/dir/file", b"old")
    with pytest.raises(java("fs.FileAlreadyExistsException")):
        _write(bridged.createFile(path("/dir/file")).overwrite(False).build(), b"new")
    assert read(fs, "/dir/file") == b"old"


def test_a_builder_makes_a_new_file_without_overwrite(
    fs: FileSystem, bridged: Any, path: Any
) -> None:
    """In the root directory, which always exists, and in another."""
    for place in ("/file", "/dir/file"):
        bridged.mkdirs(path("/dir"))
        _write(bridged.createFile(path(place)).overwrite(False).build(), b"new")
        assert read(fs, place) == b"new"


def test_a_builder_makes_parents_only_if_it_is_recursive(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """Otherwise it raises FileNotFoundException and creates nothing."""
    with pytest.raises(java("java.io.FileNotFoundException")):
        bridged.createFile(path("/dir/file")).overwrite(True).build()
    assert not bridged.exists(path("/dir"))
    _write(bridged.createFile(path("/dir/file")).overwrite(True).recursive().build(), b"new")
    assert read(fs, "/dir/file") == b"new"


def test_builder_rejects_a_file_as_parent(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """It raises ParentNotDirectoryException, and the file remains."""
    write(fs, "/file", b"data")
    with pytest.raises(java("fs.ParentNotDirectoryException"), match="/file"):
        bridged.createFile(path("/file/child")).overwrite(True).build()
    assert read(fs, "/file") == b"data"


def test_create_non_recursive_requires_a_parent(bridged: Any, path: Any, java: Java) -> None:
    """In each of its forms."""
    missing = java("java.io.FileNotFoundException")
    with pytest.raises(missing):
        bridged.createNonRecursive(path("/dir/file"), True, 4096, 1, 1 << 20, None)
    bridged.mkdirs(path("/dir"))
    bridged.createNonRecursive(path("/dir/file"), True, 4096, 1, 1 << 20, None).close()
    assert bridged.isFile(path("/dir/file"))


def test_flags_that_contradict_each_other_are_rejected(bridged: Any, path: Any, java: Java) -> None:
    """Before anything is created: append with overwrite; and none at all."""
    flag, sets = java("fs.CreateFlag"), java("java.util.EnumSet")
    null = jpype.JObject(None, java("fs.permission.FsPermission"))
    for flags in (sets.of(flag.APPEND, flag.OVERWRITE), sets.noneOf(flag.class_)):
        with pytest.raises(java("java.lang.IllegalArgumentException")):
            bridged.createNonRecursive(path("/file"), null, flags, 4096, 1, 1 << 20, None)
    assert not bridged.exists(path("/file"))


def test_an_unknown_mandatory_option_of_a_builder_is_rejected(
    bridged: Any, path: Any, java: Java
) -> None:
    """By build()."""
    builder = bridged.createFile(path("/file")).overwrite(True).must("fs.none.such", "x")
    with pytest.raises(java("java.lang.IllegalArgumentException"), match=r"fs\.none\.such"):
        builder.build()


def test_create_without_overwrite_keeps_a_file(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """With FileAlreadyExistsException."""
    write(fs, "/file", b"old")
    with pytest.raises(java("fs.FileAlreadyExistsException")):
        _write(bridged.create(path("/file"), False), b"new")
    assert read(fs, "/file") == b"old"


@pytest.mark.parametrize("child", ["", "child"])
def test_a_file_never_replaces_a_directory(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any, child: str
) -> None:
    """If empty or not."""
    bridged.mkdirs(path("/dir"))
    if child:
        write(fs, f"/dir/{child}", b"data")
    makers: list[Callable[[], Any]] = [
        lambda: bridged.create(path("/dir"), True),
        lambda: bridged.createFile(path("/dir")).overwrite(True).build(),
    ]
    for make in makers:
        with pytest.raises(io_error):
            _write(make(), b"new")
    assert bridged.isDirectory(path("/dir"))
    assert _names(bridged.listStatus(path("/dir"))) == ([f"/dir/{child}"] if child else [])


@pytest.mark.parametrize("place", ["/file/child", "/file/dir/child"])
def test_nothing_is_made_below_a_file(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any, place: str
) -> None:
    """Neither a file nor a directory."""
    write(fs, "/file", b"data")
    with pytest.raises(io_error):
        _write(bridged.create(path(place)), b"new")
    with pytest.raises(io_error):
        bridged.mkdirs(path(place))
    assert read(fs, "/file") == b"data"


def test_a_file_that_was_created_is_whole_once_it_is_closed(bridged: Any, path: Any) -> None:
    """With its parents, its length, and a block size."""
    _write(bridged.create(path("/a/b/file")), b"0123456789")
    status = bridged.getFileStatus(path("/a/b/file"))
    assert (status.isFile(), status.getLen()) == (True, 10)
    assert status.getBlockSize() > 0
    assert bridged.getDefaultBlockSize(path("/")) > 0
    assert bridged.isDirectory(path("/a/b"))


def test_stream_without_sync_lacks_the_capability(bridged: Any, path: Any) -> None:
    """A file appears on close, even if flushed before."""
    with bridged.create(path("/file")) as out:
        assert [bool(out.hasCapability(name)) for name in ("hflush", "hsync")] == [False, False]
        out.write(65)
        out.flush()


def test_nothing_is_written_once_a_stream_is_closed(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any
) -> None:
    """An IOException names the path; position and file are unchanged, and close may be repeated."""
    out = bridged.create(path("/file"))
    out.write(b"data")
    out.close()
    for data in (65, b"more"):
        with pytest.raises(io_error, match="/file"):
            out.write(data)
    assert out.getPos() == 4
    out.close()
    assert read(fs, "/file") == b"data"


def test_write_outside_an_array_raises(bridged: Any, path: Any, java: Java) -> None:
    """The stream is unchanged."""
    array = jpype.JArray(jpype.JByte)(b"0123")
    outside = java("java.lang.IndexOutOfBoundsException")
    with bridged.create(path("/file")) as out:
        for offset, length in ((-1, 2), (0, 5), (3, 2), (0, -1), (5, 0)):
            with pytest.raises(outside):
                out.write(array, offset, length)
        out.write(array, 4, 0)
        out.write(array, 1, 2)
    assert bridged.getFileStatus(path("/file")).getLen() == 2


# MkdirTest -----------------------------------------------------------------------------------


def test_directories_are_made_with_their_parents(bridged: Any, path: Any) -> None:
    """Also repeatedly, and with a trailing slash."""
    for place in ("/a/b/c", "/a/b/c", "/a/d/", "/"):
        assert bridged.mkdirs(path(place))
        assert bridged.isDirectory(path(place))
    assert _names(bridged.listStatus(path("/a"))) == ["/a/b", "/a/d"]


def test_a_directory_never_replaces_a_file(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any
) -> None:
    """The file keeps its bytes."""
    write(fs, "/dir/file", b"data")
    with pytest.raises(io_error):
        bridged.mkdirs(path("/dir/file"))
    assert read(fs, "/dir/file") == b"data"


# DeleteTest ----------------------------------------------------------------------------------


@pytest.mark.parametrize("recursive", [False, True])
def test_empty_directories_and_files_are_deleted(
    fs: FileSystem, bridged: Any, path: Any, recursive: bool
) -> None:
    """False for a missing path."""
    write(fs, "/file", b"data")
    bridged.mkdirs(path("/dir"))
    for place in ("/file", "/dir"):
        assert bridged.delete(path(place), recursive)
        assert not bridged.exists(path(place))
        assert not bridged.delete(path(place), recursive)


def test_non_empty_directory_is_deleted_only_recursively(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any
) -> None:
    """Otherwise IOException, and nothing is deleted."""
    write(fs, "/dir/sub/file", b"data")
    with pytest.raises(io_error):
        bridged.delete(path("/dir"), False)
    assert read(fs, "/dir/sub/file") == b"data"
    assert bridged.delete(path("/dir"), True)
    assert not bridged.exists(path("/dir/sub/file"))
    assert not bridged.exists(path("/dir"))


# RenameTest ----------------------------------------------------------------------------------


def test_missing_file_is_not_renamed(bridged: Any, path: Any, java: Java) -> None:
    """FileNotFoundException, even if the target exists."""
    bridged.mkdirs(path("/dir"))
    for target in ("/target", "/dir"):
        with pytest.raises(java("java.io.FileNotFoundException")):
            bridged.rename(path("/missing"), path(target))
    assert _names(bridged.listStatus(path("/"))) == ["/dir"]


def test_a_file_is_not_renamed_onto_another(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """FileAlreadyExistsException, and both remain; the same for a directory and a file."""
    write(fs, "/a", b"one")
    write(fs, "/b", b"two")
    bridged.mkdirs(path("/dir"))
    for source in ("/a", "/dir"):
        with pytest.raises(java("fs.FileAlreadyExistsException"), match="/b"):
            bridged.rename(path(source), path("/b"))
    assert [read(fs, "/a"), read(fs, "/b"), bridged.exists(path("/dir"))] == [b"one", b"two", True]


@pytest.mark.parametrize("target", ["/dest", "/dest/"])
def test_rename_to_a_directory_moves_into_it(
    fs: FileSystem, bridged: Any, path: Any, target: str
) -> None:
    """A file, and a directory with its content; existing files remain."""
    write(fs, "/file", b"one")
    write(fs, "/src/sub/file", b"two")
    write(fs, "/dest/old", b"three")
    assert bridged.rename(path("/file"), path(target))
    assert bridged.rename(path("/src"), path(target))
    found = [read(fs, f"/dest/{name}") for name in ("file", "src/sub/file", "old")]
    assert found == [b"one", b"two", b"three"]
    assert _names(bridged.listStatus(path("/"))) == ["/dest"]


def test_rename_into_a_directory_keeps_existing_names(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any
) -> None:
    """Neither is overwritten."""
    write(fs, "/file", b"one")
    write(fs, "/dest/file", b"two")
    with pytest.raises(io_error):
        bridged.rename(path("/file"), path("/dest"))
    assert [read(fs, "/file"), read(fs, "/dest/file")] == [b"one", b"two"]


def test_a_file_renamed_to_itself_stays(fs: FileSystem, bridged: Any, path: Any) -> None:
    """HDFS returns true in this case, and false for a directory."""
    write(fs, "/dir/file", b"data")
    assert bridged.rename(path("/dir/file"), path("/dir/file"))
    assert not bridged.rename(path("/dir"), path("/dir"))
    assert read(fs, "/dir/file") == b"data"


def test_a_directory_is_not_moved_into_itself(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any
) -> None:
    """Neither to a missing name, nor into an existing directory."""
    write(fs, "/dir/sub/file", b"data")
    for target in ("/dir/new", "/dir/sub", "/dir/sub/new"):
        with pytest.raises(io_error):
            bridged.rename(path("/dir"), path(target))
    assert read(fs, "/dir/sub/file") == b"data"


def test_nothing_is_moved_below_a_file(
    fs: FileSystem, bridged: Any, path: Any, io_error: Any
) -> None:
    """Both files remain."""
    write(fs, "/a", b"one")
    write(fs, "/b", b"two")
    with pytest.raises(io_error):
        bridged.rename(path("/a"), path("/b/child"))
    assert [read(fs, "/a"), read(fs, "/b")] == [b"one", b"two"]


def test_directory_is_moved_with_its_content(fs: FileSystem, bridged: Any, path: Any) -> None:
    """To a name whose parents are created."""
    write(fs, "/dir/file", b"one")
    write(fs, "/dir/sub/deep/file", b"two")
    assert bridged.rename(path("/dir"), path("/new/place"))
    assert [read(fs, f"/new/place/{n}") for n in ("file", "sub/deep/file")] == [b"one", b"two"]
    assert not bridged.exists(path("/dir"))


# GetFileStatusTest ---------------------------------------------------------------------------


def test_missing_path_has_no_status_and_no_listing(bridged: Any, path: Any, java: Java) -> None:
    """Every call raises FileNotFoundException, not only the first next()."""
    missing, place = java("java.io.FileNotFoundException"), path("/missing")
    for call in (
        bridged.getFileStatus,
        bridged.listStatus,
        bridged.listLocatedStatus,
        bridged.listStatusIterator,
        lambda one: bridged.listFiles(one, False),
        lambda one: bridged.listFiles(one, True),
    ):
        with pytest.raises(missing):
            call(place)


def test_an_empty_directory_lists_nothing(bridged: Any, path: Any) -> None:
    """The root, too."""
    bridged.mkdirs(path("/dir"))
    assert bridged.getFileStatus(path("/")).isDirectory()
    status = bridged.getFileStatus(path("/dir"))
    assert (status.isDirectory(), status.getLen()) == (True, 0)
    assert len(bridged.listStatus(path("/dir"))) == 0
    for listed in (
        bridged.listLocatedStatus(path("/dir")),
        bridged.listStatusIterator(path("/dir")),
        bridged.listFiles(path("/dir"), False),
        bridged.listFiles(path("/dir"), True),
    ):
        assert not listed.hasNext()


def test_a_file_lists_itself(fs: FileSystem, bridged: Any, path: Any) -> None:
    """In every kind of listing."""
    write(fs, "/dir/file", b"data")
    place = path("/dir/file")
    assert _names(bridged.listStatus(place)) == ["/dir/file"]
    for listed in (
        bridged.listLocatedStatus(place),
        bridged.listStatusIterator(place),
        bridged.listFiles(place, False),
        bridged.listFiles(place, True),
    ):
        assert _names(_all(listed)) == ["/dir/file"]


def test_all_lists_of_a_tree_agree(fs: FileSystem, bridged: Any, path: Any) -> None:
    """listFiles returns the files below it, the others its children."""
    for name in ("a", "sub/b", "sub/deep/c"):
        write(fs, f"/dir/{name}", b"data")
    place = path("/dir")
    right_there = ["/dir/a", "/dir/sub"]
    assert sorted(_names(bridged.listStatus(place))) == right_there
    assert sorted(_names(_all(bridged.listLocatedStatus(place)))) == right_there
    assert sorted(_names(_all(bridged.listStatusIterator(place)))) == right_there
    assert _names(_all(bridged.listFiles(place, False))) == ["/dir/a"]
    found = sorted(_names(_all(bridged.listFiles(place, True))))
    assert found == ["/dir/a", "/dir/sub/b", "/dir/sub/deep/c"]


def test_listing_applies_the_filter(fs: FileSystem, bridged: Any, path: Any, java: Java) -> None:
    """The filter gets the full path of each child."""
    for name in ("a.txt", "b.txt", "c"):
        write(fs, f"/dir/{name}", b"data")
    ends = java("fs.GlobFilter")("*.txt")
    assert sorted(_names(bridged.listStatus(path("/dir"), ends))) == ["/dir/a.txt", "/dir/b.txt"]
    assert sorted(_names(bridged.globStatus(path("/d*/*.txt")))) == ["/dir/a.txt", "/dir/b.txt"]


def test_located_status_matches_the_status(fs: FileSystem, bridged: Any, path: Any) -> None:
    """With blocks that cover the file."""
    write(fs, "/dir/file", b"0123456789")
    (located,) = _all(bridged.listLocatedStatus(path("/dir")))
    status = bridged.getFileStatus(path("/dir/file"))
    for name in ("getPath", "getLen", "isDirectory", "getModificationTime", "getBlockSize"):
        assert getattr(located, name)() == getattr(status, name)(), name
    assert located.equals(status)
    assert located.hashCode() == status.hashCode()
    assert sum(block.getLength() for block in located.getBlockLocations()) == 10


# EtagTest ------------------------------------------------------------------------------------


def _etag(status: Any, java: Java) -> str:
    assert isinstance(status, java("fs.EtagSource"))
    return str(status.getEtag())


def test_every_status_of_a_file_has_its_etag(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """The path capability confirms it."""
    write(fs, "/dir/file", b"data")
    place = path("/dir/file")
    assert bridged.hasPathCapability(place, _ETAGS)
    etag = _etag(bridged.getFileStatus(place), java)
    assert etag.strip()
    assert etag == fs.get_file_status("/dir/file").etag
    listed = [*bridged.listStatus(path("/dir")), *bridged.listStatus(place)]
    for found in (
        bridged.listLocatedStatus(place),
        bridged.listLocatedStatus(path("/dir")),
        bridged.listStatusIterator(path("/dir")),
        bridged.listFiles(place, False),
        bridged.listFiles(path("/"), True),
    ):
        listed += _all(found)
    assert [_etag(status, java) for status in listed] == [etag] * 7


def test_other_bytes_have_another_etag(bridged: Any, path: Any, java: Java) -> None:
    """With the same length."""
    place, found = path("/file"), set()
    for data in (b"0123", b"3210"):
        _write(bridged.create(place, True), data)
        found.add(_etag(bridged.getFileStatus(place), java))
    assert len(found) == 2


def test_an_etag_stays_with_a_file_that_is_renamed_if_that_is_a_capability(
    bridged: Any, path: Any, java: Java
) -> None:
    """If it may change, the capability is missing."""
    source, target = path("/source"), path("/target")
    _write(bridged.create(source), b"data")
    before = _etag(bridged.getFileStatus(source), java)
    promised = bridged.hasPathCapability(source, _RENAMED_ETAGS)
    bridged.rename(source, target)
    assert not promised or _etag(bridged.getFileStatus(target), java) == before


@pytest.mark.parametrize("name", ["fs.capability.paths.append", "fs.none.such"])
def test_other_path_capabilities_are_missing(bridged: Any, path: Any, name: str) -> None:
    """No other capability is claimed."""
    assert not bridged.hasPathCapability(path("/"), name)


def test_a_path_capability_has_a_name(bridged: Any, path: Any, java: Java) -> None:
    """In any case; an empty one raises."""
    assert bridged.hasPathCapability(path("/"), _ETAGS.upper())
    with pytest.raises(java("java.lang.IllegalArgumentException")):
        bridged.hasPathCapability(path("/"), "")


# StreamIOStatisticsTest ----------------------------------------------------------------------


def _written(source: Any, java: Java) -> int:
    found = java("fs.statistics.IOStatisticsSupport").retrieveIOStatistics(source)
    return int(found.counters().get(_WRITTEN))


def test_output_stream_counts_written_bytes(bridged: Any, path: Any, java: Java) -> None:
    """For one byte and for several; also after close."""
    out = bridged.create(path("/file"))
    assert out.hasCapability("iostatistics")
    found = [_written(out, java)]
    for data in (65, b"0123456789"):
        out.write(data)
        found.append(_written(out, java))
    out.write(b"0123456789", 3, 4)
    out.close()
    assert [*found, _written(out, java)] == [0, 1, 11, 15]


def test_a_write_that_fails_is_not_counted(
    memory: MemoryFileSystem, path: Any, java: Java, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The position does not move either."""

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError("no space left")

    monkeypatch.setattr(memory, "create", lambda path, overwrite: Full())
    bridged = java_filesystem(memory)
    out = bridged.create(path("/file"))
    with pytest.raises(java("java.io.IOException"), match="no space left"):
        out.write(b"data")
    assert (_written(out, java), out.getPos()) == (0, 0)
    bridged.close()


# CopyFromLocalTest, BulkDeleteTest, ContentSummaryTest -----------------------------------------


def test_local_files_are_copied_there_and_back(
    fs: FileSystem, bridged: Any, path: Any, tmp_path: Path
) -> None:
    """A tree with its content, and a file only with overwrite."""
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    (tmp_path / "tree" / "sub" / "file").write_bytes(b"data")
    bridged.copyFromLocalFile(False, True, path(str(tmp_path / "tree")), path("/tree"))
    assert read(fs, "/tree/sub/file") == b"data"
    bridged.copyToLocalFile(False, path("/tree/sub/file"), path(str(tmp_path / "back")), True)
    assert (tmp_path / "back").read_bytes() == b"data"


def test_a_bulk_delete_takes_paths_below_its_base(
    fs: FileSystem, bridged: Any, path: Any, java: Java
) -> None:
    """A missing path is ignored; another base raises."""
    write(fs, "/dir/file", b"data")
    place = bridged.makeQualified(path("/dir"))
    assert bridged.hasPathCapability(place, "fs.capability.bulk.delete")
    single = java("java.util.Collections").singletonList
    with bridged.createBulkDelete(place) as bulk:
        for name in ("file", "missing"):
            assert bulk.bulkDelete(single(path(place, name))).isEmpty()
        with pytest.raises(java("java.lang.IllegalArgumentException")):
            bulk.bulkDelete(single(bridged.makeQualified(path("/other"))))
    assert not bridged.exists(path("/dir/file"))


def test_content_summary_of_a_tree(fs: FileSystem, bridged: Any, path: Any) -> None:
    """Its directories, its files and their bytes."""
    for name in ("a", "sub/b", "sub/c"):
        write(fs, f"/dir/{name}", b"data")
    found = bridged.getContentSummary(path("/dir"))
    counts = (found.getDirectoryCount(), found.getFileCount(), found.getLength())
    assert counts == (2, 3, 12)
