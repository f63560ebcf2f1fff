"""Tests of builder-based opens on fsspec filesystems, scene by scene."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, LocatedFileStatus
from fscontract.contract.binding import NoScene, TargetError
from fscontract.contract.program.open_calls import MISNAMED, STATUSES, BuilderCall
from fscontract.contract.program.outcome import IO_KINDS, Kind, returned
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.fsspec_open import FsspecOpener


@pytest.fixture(params=["memory", "local"])
def binding(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FsspecBinding]:
    """A prepared binding to each filesystem that fsspec includes."""
    url = "memory://x" if request.param == "memory" else f"file://{tmp_path}"
    made = FsspecBinding.from_url(url, {})
    made.prepare()
    yield made
    made.dispose()


@pytest.fixture
def opener(binding: FsspecBinding) -> FsspecOpener:
    """The binding's opener."""
    return binding.opener


@pytest.fixture
def zipped(tmp_path: Path) -> Iterator[FsspecBinding]:
    """A prepared binding to a read-only zip file with one file."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/it", b"abcdef")
    (tmp_path / "copy").write_bytes(b"abcdef")
    url = f"zip://::file://{tmp_path}/a.zip"
    made = FsspecBinding.from_url(url, {}, file="in/it", content=tmp_path / "copy")
    made.prepare()
    yield made
    made.dispose()


def attempt(binding: FsspecBinding, path: str, *calls: BuilderCall) -> Any:
    """Return an opened file, or the exception of the future."""
    opener = binding.opener
    builder = opener.open_file(path)
    for call in calls:
        builder = opener.call(builder, call)
    try:
        return opener.get(opener.build(builder))
    except Exception as error:
        return error


def read(binding: FsspecBinding, opened: Any) -> Any:
    """Return the bytes that a step reads from an opened file, which is then closed."""
    outcome = binding.bind(Step("py_read", (-1,)))(opened)
    binding.bind(Step("close"))(opened)
    return outcome


def test_a_file_is_opened_as_the_binding_opens_it(
    binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """So that every step works on it, including those that use its path."""
    path = opener.place("file", b"abcdef")
    opened = attempt(binding, path, ("must", "fs.option.openfile.read.policy", "random"))
    pread = binding.bind(Step("pread", (1, 2, 0, 2)))
    assert pread(opened) == returned(2, b"bc")
    assert read(binding, opened) == returned(b"abcdef")


def test_a_late_file_is_there_once_it_appears(binding: FsspecBinding, opener: FsspecOpener) -> None:
    """The builder is created before the file."""
    path = opener.place("late", b"abc")
    builder = opener.open_file(path)
    assert not binding.fs.exists(path)
    opener.appear(path, b"abc")
    assert read(binding, opener.get(opener.build(builder))) == returned(b"abc")


@pytest.mark.parametrize("scene", ["missing", "directory"])
def test_missing_file_fails_in_the_future(
    scene: str, binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """As an OSError, the equivalent of IOException."""
    path = opener.place(scene, b"abc")
    assert opener.outcome(attempt(binding, path)).kind in IO_KINDS


def test_a_file_that_may_not_be_read_fails_in_the_future(
    binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """If permissions apply to this process; otherwise the scene is not available."""
    try:
        path = opener.place("unreadable", b"abc")
    except NoScene:
        assert not isinstance(binding.fs, LocalFileSystem) or os.geteuid() == 0
        assert "unreadable" not in opener.scenes
    else:
        assert isinstance(attempt(binding, path), PermissionError)


def test_a_path_of_another_scheme_is_a_name_like_any_other(opener: FsspecOpener) -> None:
    """fsspec does not recognize foreign paths."""
    with pytest.raises(NoScene, match="as a file name"):
        opener.place("foreign", b"abc")
    assert "foreign" not in opener.scenes


class Flat(LocalFileSystem):  # type: ignore[misc] # fsspec has no types
    """A store whose directories exist only while they have files."""

    cachable = False
    made = False

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        if not self.made:  # the prefix
            super().makedirs(path, exist_ok)
            self.made = True


class Refusing(LocalFileSystem):  # type: ignore[misc]
    """A store where only the first directory can be created."""

    cachable = False

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        if not exist_ok:
            raise PermissionError(13, "denied")
        super().makedirs(path, exist_ok)


@pytest.mark.parametrize(
    ("fs", "error", "message"),
    [
        (Flat(), NoScene, "no empty directories"),
        (Refusing(), TargetError, "can't create a directory"),
    ],
)
def test_a_directory_that_cant_be_made(
    fs: AbstractFileSystem, error: type[Exception], message: str, tmp_path: Path
) -> None:
    """A flat store has none, which is not a failure; other failures are one line."""
    binding = FsspecBinding(fs, str(tmp_path), "x")
    binding.prepare()
    with pytest.raises(error, match=message):
        binding.opener.place("directory", b"")
    binding.dispose()


@pytest.mark.parametrize("kind", STATUSES)
def test_each_status_is_taken_or_rejected_for_its_name(
    kind: str, binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """Only the last element of its path counts."""
    path = opener.place("file", b"abcdef")
    assert kind in opener.statuses
    status = opener.status(path, kind, None)
    assert kind == "none" or isinstance(status, FileStatus)
    opened = attempt(binding, path, ("with_file_status", status))
    if kind in MISNAMED:
        assert isinstance(opened, IllegalArgumentException)
    else:
        assert read(binding, opened) == returned(b"abcdef")


def test_status_has_the_actual_or_the_given_length(opener: FsspecOpener) -> None:
    """A missing file has no length."""
    path = opener.place("file", b"abcdef")
    lengths = [opener.status(path, "located", n) for n in (None, 2)]
    assert [s.length for s in lengths if isinstance(s, LocatedFileStatus)] == [6, 2]
    late = opener.status(opener.place("late", b"abc"), "own", None)
    assert late is not None
    assert late.length == -1


def test_a_target_that_cant_be_written_has_few_scenes(zipped: FsspecBinding) -> None:
    """Its only file, and a missing path; the file does not change."""
    opener = zipped.opener
    assert opener.scenes == {"file", "missing"}
    assert opener.statuses == set(STATUSES) - {"stale"}
    path = opener.place("file", b"abcdef")
    own = opener.status(path, "own", None)
    opened = attempt(zipped, path, ("with_file_status", own))
    assert read(zipped, opened) == returned(b"abcdef")
    assert attempt(zipped, opener.place("missing", b"abcdef")).args
    with pytest.raises(NoScene):
        opener.place("late", b"abcdef")


def test_errors_hide_secrets_and_unreachable_server_gives_no_verdict(tmp_path: Path) -> None:
    """As for every other call of the binding."""
    opener = FsspecBinding(LocalFileSystem(), str(tmp_path), "x").opener
    said = opener.outcome(OSError("denied for http://me:hunter2@host/x?sig=abc"))
    assert "hunter2" not in said.detail
    assert opener.outcome(ConnectionResetError("gone")).kind is Kind.ENVIRONMENT
    assert opener.counters(None) == {}
