"""Tests of the local filesystem on a fake disk: permissions, a full disk, a lost mount."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest
from pyfakefs.fake_filesystem import FakeFilesystem
from pyfakefs.fake_filesystem_unittest import Patcher
from pyfakefs.helpers import set_uid

from fscontract.contract.api.errors import AccessControlException, FileNotFoundException
from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations.local import LocalFileSystem

from .support import rest_of, write


@pytest.fixture
def disk() -> Iterator[FakeFilesystem]:
    """A fake disk; only the portable strategy can read it."""
    option_table()  # reads from the real disk
    with Patcher() as patcher:
        assert patcher.fs is not None
        patcher.fs.create_dir("/disk")
        yield patcher.fs


@pytest.fixture
def fs(disk: FakeFilesystem) -> LocalFileSystem:
    """The filesystem on the fake disk."""
    return LocalFileSystem("/disk", "portable")


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Permissions apply, for any user that runs the tests."""
    set_uid(1000)
    yield
    set_uid(None)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unprivileged")
def test_a_file_that_may_not_be_read_fails_in_the_future(fs: LocalFileSystem) -> None:
    """Neither open_file() nor build() checks permissions."""
    write(fs, "/f", b"secret")
    fs.set_permission("/f", 0)
    future = fs.open_file("/f").build()
    with pytest.raises(PermissionError):
        future.result()


@pytest.mark.usefixtures("unprivileged")
def test_access_detects_unreadable_files(fs: LocalFileSystem) -> None:
    write(fs, "/f", b"secret")
    fs.access("/f", "r")
    fs.set_permission("/f", 0)
    with pytest.raises(AccessControlException):
        fs.access("/f", "r")


def test_a_full_disk_fails_the_write_and_leaves_nothing_behind(
    disk: FakeFilesystem, fs: LocalFileSystem
) -> None:
    """A partial file would look complete to readers."""
    disk.set_disk_usage(1000)
    assert _errno_of_writing(fs, 5000) == errno.ENOSPC
    assert disk.listdir("/disk") == []
    assert _errno_of_writing(fs, 500) is None


def _errno_of_writing(fs: LocalFileSystem, size: int) -> int | None:
    try:
        write(fs, "/big", bytes(size))
    except OSError as error:
        return error.errno
    return None


def test_a_vanished_mount_fails_opens_as_missing_files(
    disk: FakeFilesystem, fs: LocalFileSystem
) -> None:
    write(fs, "/f", b"data")
    disk.remove_object("/disk")
    with pytest.raises(FileNotFoundException):
        fs.open("/f")
    with pytest.raises(FileNotFoundException):
        fs.open_file("/f").build().result()


def test_a_stream_outlives_the_mount_of_its_file(disk: FakeFilesystem, fs: LocalFileSystem) -> None:
    """An open file remains open, as on a real disk."""
    write(fs, "/f", b"data")
    with fs.open("/f") as stream:
        disk.remove_object("/disk")
        assert rest_of(stream) == b"data"
