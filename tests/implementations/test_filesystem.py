"""Tests of file and directory operations, shared by all filesystems."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    ETAGS_AVAILABLE,
    ETAGS_PRESERVED_IN_RENAME,
    FileSystem,
    FSDataInputStream,
)
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem

from .support import read, write


class TestWriting:
    def test_a_file_reads_back_as_written(self, fs: FileSystem) -> None:
        write(fs, "/a/b", b"hello")
        assert read(fs, "/a/b") == b"hello"

    def test_creating_makes_the_parents(self, fs: FileSystem) -> None:
        write(fs, "/a/b/c", b"")
        assert fs.get_file_status("/a/b").is_directory

    def test_a_file_appears_when_it_is_closed(self, fs: FileSystem) -> None:
        file = fs.create("/new")
        file.write(b"x")
        assert list(fs.list_status("/")) == []
        file.close()
        assert [status.path for status in fs.list_status("/")] == ["/new"]

    def test_a_file_left_by_an_exception_never_appears(self, fs: FileSystem) -> None:
        with suppress(ZeroDivisionError), fs.create("/new") as file:
            file.write(b"x")
            raise ZeroDivisionError
        assert list(fs.list_status("/")) == []

    def test_a_file_lost_before_it_is_closed_never_appears(self, fs: FileSystem) -> None:
        file = fs.create("/new")
        file.write(b"x")
        del file
        assert list(fs.list_status("/")) == []

    def test_overwriting_replaces_the_content(self, fs: FileSystem) -> None:
        write(fs, "/a", b"old content")
        write(fs, "/a", b"new")
        assert read(fs, "/a") == b"new"
        assert fs.get_file_status("/a").length == 3

    def test_an_open_stream_keeps_the_version_it_opened(self, fs: FileSystem) -> None:
        write(fs, "/a", b"old")
        with fs.open("/a") as stream:
            write(fs, "/a", b"newer")
            buffer = bytearray(5)
            assert stream.pread(0, buffer) == 3
            assert buffer[:3] == b"old"

    def test_an_open_stream_outlives_its_file(self, fs: FileSystem) -> None:
        write(fs, "/a", b"data")
        with fs.open("/a") as stream:
            assert fs.delete("/a")
            assert stream.read_byte() == ord("d")

    def test_create_without_overwrite_refuses_a_file_that_exists(self, fs: FileSystem) -> None:
        write(fs, "/a", b"old")
        with pytest.raises(PathIOException, match="exists"):
            fs.create("/a", overwrite=False)
        assert read(fs, "/a") == b"old"

    def test_create_without_overwrite_refuses_a_file_made_meanwhile(self, fs: FileSystem) -> None:
        file = fs.create("/a", overwrite=False)
        write(fs, "/a", b"other")
        with pytest.raises(PathIOException, match="exists"):
            file.close()
        assert read(fs, "/a") == b"other"
        assert len(list(fs.list_status("/"))) == 1

    def test_a_directory_can_not_be_overwritten(self, fs: FileSystem) -> None:
        fs.mkdirs("/a")
        with pytest.raises(PathIOException):
            fs.create("/a")


class TestDirectories:
    def test_file_can_not_be_a_parent(self, fs: FileSystem) -> None:
        write(fs, "/a", b"")
        with pytest.raises(PathIOException):
            fs.create("/a/b")
        with pytest.raises(PathIOException):
            fs.mkdirs("/a/b")
        with pytest.raises(PathIOException):
            fs.mkdirs("/a")

    def test_making_a_directory_twice_is_fine(self, fs: FileSystem) -> None:
        fs.mkdirs("/a/b")
        fs.mkdirs("/a/b")
        assert [status.path for status in fs.list_status("/a")] == ["/a/b"]


class TestOpeningAndListing:
    @pytest.mark.parametrize("path", ["/missing", "/dir", "/file/below"])
    def test_only_files_can_be_opened(self, fs: FileSystem, path: str) -> None:
        fs.mkdirs("/dir")
        write(fs, "/file", b"")
        with pytest.raises(FileNotFoundException) as caught:
            fs.open(path)
        assert caught.value.path == path
        assert "root" not in str(caught.value), "the error shows the host's path"

    @pytest.mark.parametrize("path", ["/missing", "/file/below"])
    def test_missing_path_has_no_status_and_no_children(self, fs: FileSystem, path: str) -> None:
        write(fs, "/file", b"")
        with pytest.raises(FileNotFoundException):
            fs.get_file_status(path)
        with pytest.raises(FileNotFoundException):
            fs.list_status(path)

    def test_a_status_tells_length_kind_and_path(self, fs: FileSystem) -> None:
        write(fs, "/a/b", b"12345")
        file, directory = fs.get_file_status("//a/./b"), fs.get_file_status("/a/")
        assert (file.path, file.length, file.is_directory) == ("/a/b", 5, False)
        assert (directory.path, directory.length, directory.is_directory) == ("/a", 0, True)
        assert file.modification_time > 1e9

    def test_the_etag_changes_with_the_content(self, fs: FileSystem) -> None:
        write(fs, "/a", b"1")
        old = fs.get_file_status("/a").etag
        assert old == fs.get_file_status("/a").etag
        write(fs, "/a", b"22")
        assert fs.get_file_status("/a").etag not in (old, None)

    def test_a_listing_is_sorted_and_holds_children_only(self, fs: FileSystem) -> None:
        for path in ("/d/c", "/d/a", "/d/b/below", "/other"):
            write(fs, path, b"")
        assert [status.path for status in fs.list_status("/d")] == ["/d/a", "/d/b", "/d/c"]
        assert [status.path for status in fs.list_status("/")] == ["/d", "/other"]

    def test_listing_a_file_gives_the_file(self, fs: FileSystem) -> None:
        write(fs, "/a", b"1")
        assert list(fs.list_status("/a")) == [fs.get_file_status("/a")]


class TestDeletingAndRenaming:
    def test_deleting_tells_whether_there_was_something(self, fs: FileSystem) -> None:
        write(fs, "/a", b"")
        assert fs.delete("/a") is True
        assert fs.delete("/a") is False
        assert fs.delete("/a/below") is False

    def test_a_directory_with_children_is_deleted_only_recursively(self, fs: FileSystem) -> None:
        write(fs, "/a/b/c", b"")
        with pytest.raises(PathIOException):
            fs.delete("/a")
        assert fs.delete("/a", recursive=True)
        assert fs.delete("/a") is False

    def test_an_empty_directory_is_deleted(self, fs: FileSystem) -> None:
        fs.mkdirs("/a")
        assert fs.delete("/a") is True

    def test_the_root_stays(self, fs: FileSystem) -> None:
        write(fs, "/a", b"")
        with pytest.raises(PathIOException):
            fs.delete("/", recursive=True)
        with pytest.raises(PathIOException):
            fs.rename("/", "/b")
        assert read(fs, "/a") == b""

    def test_renaming_moves_a_file_and_makes_parents(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        fs.rename("/a", "/d/e/b")
        assert read(fs, "/d/e/b") == b"x"
        assert [status.path for status in fs.list_status("/")] == ["/d"]

    def test_renaming_moves_a_directory_with_its_children(self, fs: FileSystem) -> None:
        write(fs, "/a/b/c", b"x")
        fs.rename("/a", "/z")
        assert read(fs, "/z/b/c") == b"x"

    @pytest.mark.parametrize("target", ["/b", "/dir", "/a"])
    def test_renaming_does_not_replace(self, fs: FileSystem, target: str) -> None:
        write(fs, "/a", b"x")
        write(fs, "/b", b"y")
        fs.mkdirs("/dir")
        with pytest.raises(PathIOException):
            fs.rename("/a", target)
        assert (read(fs, "/a"), read(fs, "/b")) == (b"x", b"y")

    @pytest.mark.parametrize("target", ["/dir/below", "/dir/more/below"])
    def test_a_directory_does_not_move_into_itself(self, fs: FileSystem, target: str) -> None:
        write(fs, "/dir/file", b"x")
        with pytest.raises(PathIOException):
            fs.rename("/dir", target)
        assert read(fs, "/dir/file") == b"x"

    def test_renaming_a_missing_path_fails(self, fs: FileSystem) -> None:
        with pytest.raises(FileNotFoundException):
            fs.rename("/missing", "/b")


class TestPaths:
    @pytest.mark.parametrize("path", ["", "a", "a/b", "/a/../b", "/..", "/a\0b"])
    def test_invalid_paths_are_rejected(self, fs: FileSystem, path: str) -> None:
        write(fs, "/b", b"")
        for call in (fs.open, fs.create, fs.get_file_status, fs.list_status):
            with pytest.raises(IllegalArgumentException):
                call(path)
        for other in (fs.mkdirs, fs.delete):
            with pytest.raises(IllegalArgumentException):
                other(path)
        for source, target in ((path, "/c"), ("/b", path)):
            with pytest.raises(IllegalArgumentException):
                fs.rename(source, target)

    def test_a_path_is_needed(self, fs: FileSystem) -> None:
        for call in (fs.open, fs.open_file):
            with pytest.raises(NullPointerException):
                call(None)  # type: ignore[arg-type]

    def test_path_must_be_a_string(self, fs: FileSystem) -> None:
        with pytest.raises(IllegalArgumentException, match="must be a string"):
            fs.open(PurePosixPath("/a"))  # type: ignore[arg-type]

    def test_names_may_hold_anything_else(self, fs: FileSystem) -> None:
        names = ["..a", "b..", "sp ace", "ä%20?#*", "\\", "-", ".hidden", "~"]
        for name in names:
            write(fs, f"/d/{name}", name.encode())
        assert [status.path for status in fs.list_status("/d")] == [
            f"/d/{n}" for n in sorted(names)
        ]
        assert all(read(fs, f"/d/{name}") == name.encode() for name in names)


class TestPermissions:
    @pytest.mark.parametrize("mode", ["r", "w", "x", "rw", "rwx", "xr"])
    def test_access_is_granted_by_the_bits_of_the_mode(self, fs: FileSystem, mode: str) -> None:
        """All existing permissions; the local filesystem may grant root more."""
        write(fs, "/a", b"x")
        fs.set_permission("/a", 0o700)
        fs.access("/a", mode)

    @pytest.mark.parametrize(("mode", "bits"), [("r", 0o377), ("w", 0o577), ("x", 0o677)])
    def test_access_is_rejected_where_one_bit_is_missing(self, mode: str, bits: int) -> None:
        """In memory, where no user is root."""
        fs = MemoryFileSystem()
        write(fs, "/a", b"x")
        fs.set_permission("/a", bits)
        with pytest.raises(AccessControlException) as caught:
            fs.access("/a", f"{mode}rwx")
        assert caught.value.path == "/a"
        fs.access("/a", "rwx".replace(mode, ""))

    @pytest.mark.parametrize("opened", [lambda fs: fs.open("/a"), lambda fs: built(fs, "/a")])
    def test_a_file_that_may_not_be_read_is_not_opened(self, opened: Any) -> None:
        """A new version of it is readable again."""
        fs = MemoryFileSystem()
        write(fs, "/a", b"x")
        fs.set_permission("/a", 0o377)
        with pytest.raises(PermissionError):
            opened(fs)
        write(fs, "/a", b"x")
        opened(fs).close()

    def test_the_mode_reaches_the_file(self, local: LocalFileSystem) -> None:
        write(local, "/a", b"x")
        local.set_permission("/a", 0o640)
        assert os.stat(os.path.join(local.root, "a")).st_mode & 0o7777 == 0o640

    def test_access_denied_by_the_system_raises(
        self, local: LocalFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A patched call, because root would be granted everything."""
        write(local, "/a", b"x")

        def refuse(*_: Any, **__: Any) -> int:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.R_OK)
        with pytest.raises(AccessControlException):
            local.access("/a", "r")
        local.access("/a", "w")
        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(AccessControlException, match="permission denied: '/a'"):
            local.open("/a")

    def test_missing_path_has_no_permissions(self, fs: FileSystem) -> None:
        with pytest.raises(FileNotFoundException):
            fs.set_permission("/a", 0o600)
        with pytest.raises(FileNotFoundException):
            fs.access("/a", "r")

    @pytest.mark.parametrize("mode", ["", "R", "rz", "r "])
    def test_invalid_access_mode_is_rejected(self, fs: FileSystem, mode: str) -> None:
        write(fs, "/a", b"x")
        with pytest.raises(IllegalArgumentException, match="combination of r, w and x"):
            fs.access("/a", mode)

    @pytest.mark.parametrize("mode", [-1, 0o10000])
    def test_a_mode_has_four_digits(self, fs: FileSystem, mode: int) -> None:
        write(fs, "/a", b"x")
        fs.set_permission("/a", 0o1600)
        with pytest.raises(IllegalArgumentException):
            fs.set_permission("/a", mode)

    def test_a_filesystem_need_not_have_permissions(self) -> None:
        """The base class reports that there are none."""
        fs = MemoryFileSystem()
        with pytest.raises(UnsupportedOperationException):
            FileSystem.set_permission(fs, "/a", 0o600)
        with pytest.raises(UnsupportedOperationException):
            FileSystem.access(fs, "/a", "r")


class TestCapabilities:
    def test_every_status_of_a_file_has_the_etag_that_is_promised(self, fs: FileSystem) -> None:
        write(fs, "/a/b", b"x")
        assert fs.has_path_capability("/a/b", ETAGS_AVAILABLE)
        (listed,) = fs.list_status("/a")
        assert listed.etag == fs.get_file_status("/a/b").etag is not None

    def test_an_etag_outlives_a_rename_where_that_is_promised(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        before = fs.get_file_status("/a").etag
        fs.rename("/a", "/b")
        promised = fs.has_path_capability("/b", ETAGS_PRESERVED_IN_RENAME)
        assert not promised or fs.get_file_status("/b").etag == before

    def test_a_capability_has_its_name_in_any_case(self, fs: FileSystem) -> None:
        assert fs.has_path_capability("/missing", ETAGS_AVAILABLE.upper())
        assert not fs.has_path_capability("/missing", "fs.capability.none.such")

    def test_none_as_path_has_no_capability(self, fs: FileSystem) -> None:
        with pytest.raises(IllegalArgumentException):
            fs.has_path_capability("relative", ETAGS_AVAILABLE)

    def test_a_filesystem_need_not_have_capabilities(self) -> None:
        """The base class has no capability."""
        assert not FileSystem.has_path_capability(MemoryFileSystem(), "/", ETAGS_AVAILABLE)


def built(fs: FileSystem, path: str) -> FSDataInputStream:
    """Return the stream of a builder without options."""
    return fs.open_file(path).build().result()
