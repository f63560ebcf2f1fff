"""The local filesystem on a faked disk: what a real one gives only to others, or only when full."""

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
    """A faked disk; only the portable strategy reads from it."""
    option_table()  # is read from the real one
    with Patcher() as patcher:
        assert patcher.fs is not None
        patcher.fs.create_dir("/disk")
        yield patcher.fs


@pytest.fixture
def fs(disk: FakeFilesystem) -> LocalFileSystem:
    """The filesystem on the faked disk."""
    return LocalFileSystem("/disk", "portable")


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Whoever runs this, permissions count for them."""
    set_uid(1000)
    yield
    set_uid(None)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unprivileged")
def test_a_file_that_may_not_be_read_fails_in_the_future(fs: LocalFileSystem) -> None:
    """Neither open_file() nor build() looks at permissions."""
    write(fs, "/f", b"secret")
    fs.set_permission("/f", 0)
    future = fs.open_file("/f").build()
    with pytest.raises(PermissionError):
        future.result()


@pytest.mark.usefixtures("unprivileged")
def test_access_says_what_may_not_be_read(fs: LocalFileSystem) -> None:
    write(fs, "/f", b"secret")
    fs.access("/f", "r")
    fs.set_permission("/f", 0)
    with pytest.raises(AccessControlException):
        fs.access("/f", "r")


def test_a_full_disk_fails_the_write_and_leaves_nothing_behind(
    disk: FakeFilesystem, fs: LocalFileSystem
) -> None:
    """Half a file under the name of a whole one would be read as if it were whole."""
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
    """What is open stays open, as on a real disk."""
    write(fs, "/f", b"data")
    with fs.open("/f") as stream:
        disk.remove_object("/disk")
        assert rest_of(stream) == b"data"
