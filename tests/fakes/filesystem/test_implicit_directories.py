"""Tests of the setting `implicit_directories` of the fake: directories as in S3."""

from __future__ import annotations

from contextlib import suppress

import pytest

from fscontract.fakes import FakeFileSystem
from tests.implementations.support import write


@pytest.fixture
def fs() -> FakeFileSystem:
    return FakeFileSystem(implicit_directories=True)


def exists(fs: FakeFileSystem, path: str) -> bool:
    return bool(fs.as_fsspec().exists(path))


def test_directories_end_with_their_last_file(fs: FakeFileSystem) -> None:
    write(fs, "/a/b/one", b"")
    write(fs, "/a/two", b"")
    fs.delete("/a/b/one")
    assert (exists(fs, "/a/b"), exists(fs, "/a")) == (False, True)
    fs.rename("/a/two", "/two")
    assert not exists(fs, "/a")


def test_without_the_setting_directories_stay(fs: FakeFileSystem) -> None:
    explicit = fs.view(implicit_directories=False)
    write(explicit, "/a/b/one", b"")
    explicit.delete("/a/b/one")
    assert exists(fs, "/a/b")


def test_a_write_that_does_not_end_makes_no_directory(fs: FakeFileSystem) -> None:
    with suppress(ZeroDivisionError), fs.create("/a/b"):
        raise ZeroDivisionError
    assert not exists(fs, "/a")


def test_mkdirs_makes_a_directory_that_outlives_its_files(fs: FakeFileSystem) -> None:
    fs.mkdirs("/a/b")
    write(fs, "/a/b/one", b"")
    fs.delete("/a/b/one")
    assert exists(fs, "/a/b")


def test_mkdirs_of_a_directory_that_exists_changes_nothing(fs: FakeFileSystem) -> None:
    write(fs, "/a/one", b"")
    fs.mkdirs("/a")
    fs.delete("/a/one")
    assert not exists(fs, "/a")


def test_a_parent_outlives_its_last_subdirectory(fs: FakeFileSystem) -> None:
    for remove in (lambda: fs.delete("/a/b", recursive=True), lambda: fs.rename("/a/b", "/c")):
        write(fs, "/a/b/one", b"")
        remove()
        assert (exists(fs, "/a/b"), exists(fs, "/a")) == (False, True)
        fs.delete("/a")


def test_a_moved_directory_keeps_the_directories_that_mkdirs_made(fs: FakeFileSystem) -> None:
    fs.mkdirs("/a/b")
    fs.rename("/a", "/moved")
    write(fs, "/moved/b/one", b"")
    fs.delete("/moved/b/one")
    assert exists(fs, "/moved/b")
    write(fs, "/a/b/one", b"")
    fs.delete("/a/b/one")
    assert not exists(fs, "/a/b")
