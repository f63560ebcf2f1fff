"""Tests of atomic writes: durability, and removal of files left by killed writers."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fscontract.contract.api.errors import FileNotFoundException, PathIOException
from fscontract.implementations import atomic_write
from fscontract.implementations.atomic_write import PENDING, write_pending
from fscontract.implementations.fsspec_adapter import LocalFsspec
from fscontract.implementations.local import LocalFileSystem
from tests.implementations.disk import Disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at descriptors in /proc")


@pytest.fixture(params=[False, True], ids=["names are late", "names are early"])
def disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Disk]:
    """A disk with an empty directory."""
    (tmp_path / "root").mkdir()
    made = Disk(tmp_path / "root", monkeypatch, request.param)
    yield made
    made.close()


def put(fs: LocalFileSystem, path: str, content: bytes, overwrite: bool = True) -> None:
    """Write a file."""
    with fs.create(path, overwrite) as file:
        file.write(content)


def left(directory: Path) -> list[str]:
    """Return the temporary files below a directory."""
    return sorted(each.name for each in directory.rglob(f"{PENDING}*"))


@pytest.mark.parametrize(
    ("overwrite", "calls"),
    [
        (True, ["fsync file", "replace", "fsync directory"]),
        (False, ["fsync file", "link", "unlink", "fsync directory"]),
    ],
)
def test_the_bytes_are_synced_before_the_name_and_the_name_before_close_returns(
    disk: Disk, overwrite: bool, calls: list[str]
) -> None:
    put(LocalFileSystem(str(disk.root)), "/a", b"1", overwrite)
    assert disk.calls == calls


def test_nothing_is_synced_without_durable(disk: Disk) -> None:
    fs = LocalFileSystem(str(disk.root), durable=False)
    put(fs, "/d/e/a", b"1")
    fs.rename("/d/e/a", "/d/f/b")
    fs.sync(["/d/f/b"], "/")
    fs.delete("/d", recursive=True)
    assert not [call for call in disk.calls if call.startswith("fsync")]


def test_written_files_survive_in_new_directories(disk: Disk, tmp_path: Path) -> None:
    fs = LocalFileSystem(str(disk.root))
    put(fs, "/d/e/a", b"12345")
    fs.mkdirs("/x/y/z")
    found = disk.survivors(tmp_path / "after")
    assert (found / "d/e/a").read_bytes() == b"12345"
    assert (found / "x/y/z").is_dir()


def test_a_file_never_survives_with_a_part_of_its_bytes(disk: Disk, tmp_path: Path) -> None:
    """At any time, for a new or a replaced file."""
    fs = LocalFileSystem(str(disk.root))
    put(fs, "/a", b"old")
    moments: list[bytes | None] = []

    def look() -> None:
        found = disk.survivors(tmp_path / str(len(moments))) / "a"
        moments.append(found.read_bytes() if found.exists() else None)

    disk.at_each = look
    put(fs, "/a", b"new")
    assert set(moments) == {b"old", b"new"}
    assert moments[-1] == b"new"


def test_deletions_and_moves_are_durable(disk: Disk, tmp_path: Path) -> None:
    fs = LocalFileSystem(str(disk.root))
    for name in ("a", "b", "d/c", "d/e/f"):
        put(fs, f"/{name}", b"1")
    fs.delete("/a")
    fs.rename("/b", "/g/h")
    fs.delete("/d", recursive=True)
    found = disk.survivors(tmp_path / "after")
    names = sorted(str(each.relative_to(found)) for each in found.rglob("*"))
    assert names == ["g", "g/h"]


def test_sync_puts_the_files_of_others_on_the_disk(disk: Disk, tmp_path: Path) -> None:
    """Missing files are ignored."""
    (disk.root / "d/e").mkdir(parents=True)
    (disk.root / "d/e/a").write_bytes(b"1")
    fs = LocalFileSystem(str(disk.root))
    fs.sync(["/d/e/a", "/nowhere"], "/")
    assert (disk.survivors(tmp_path / "after") / "d/e/a").read_bytes() == b"1"
    with pytest.raises(FileNotFoundException):
        fs.sync(["/d/e/a/b"], "/")


def test_a_disk_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(PathIOException, match="Input/output error"):
        put(LocalFileSystem(str(tmp_path)), "/a", b"1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_filesystem_that_syncs_no_directories_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(descriptor: int) -> None:
        if os.path.isdir(os.readlink(f"/proc/self/fd/{descriptor}")):
            raise OSError(number, "refused")

    monkeypatch.setattr(os, "fsync", refused)
    put(LocalFileSystem(str(tmp_path)), "/d/a", b"1")
    assert (tmp_path / "d/a").read_bytes() == b"1"


# Killed writers --------------------------------------------------------------------------------

_WRITE = """
import os, signal, sys
from fscontract.implementations.local import LocalFileSystem
root, call, overwrite = sys.argv[1:]
if call != "none":
    setattr(os, call, lambda *args: os.kill(os.getpid(), signal.SIGKILL))
with LocalFileSystem(root).create("/d/a", overwrite == "yes") as file:
    file.write(b"12345")
    file.flush()
    if call == "none":
        print("writing", flush=True)
        sys.stdin.read()
"""


def writer(root: Path, call: str, overwrite: bool = True) -> subprocess.Popen[str]:
    """Start a process that writes a file, and dies at a given system call."""
    arguments = [sys.executable, "-c", _WRITE, str(root), call, "yes" if overwrite else "no"]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("call", "overwrite"),
    [("fsync", True), ("replace", True), ("link", False), ("unlink", False)],
)
def test_files_of_a_killed_writer_are_removed(tmp_path: Path, call: str, overwrite: bool) -> None:
    (tmp_path / "d").mkdir()  # otherwise creating it would be the first sync
    with writer(tmp_path, call, overwrite) as process:
        assert process.wait() == -signal.SIGKILL
    assert len(left(tmp_path)) == 1
    fs = LocalFileSystem(str(tmp_path))
    assert len(fs.remove_abandoned("/")) == 1
    assert left(tmp_path) == []
    assert (tmp_path / "d/a").exists() == (call == "unlink")


def test_files_of_a_live_writer_are_kept(tmp_path: Path) -> None:
    """Of another process and of this one, at any age; then it is killed, or ends."""
    fs = LocalFileSystem(str(tmp_path))
    with writer(tmp_path, "none") as process, fs.create("/d/b") as mine:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        mine.write(b"1")
        for name in left(tmp_path):
            os.utime(tmp_path / "d" / name, (0, 0))
        assert fs.remove_abandoned("/") == []
        process.kill()
        process.wait()
        (gone,) = fs.remove_abandoned("/")
        assert gone.startswith(f"/d/{PENDING}")
        assert len(left(tmp_path)) == 1
    assert (tmp_path / "d/b").read_bytes() == b"1"
    assert left(tmp_path) == []


def test_a_file_that_waits_for_its_transaction_stays(tmp_path: Path) -> None:
    """It is closed, and not published yet."""
    local = LocalFileSystem(str(tmp_path))
    fs = LocalFsspec(local)
    with fs.transaction:
        fs.pipe_file("/a", b"1")
        assert local.remove_abandoned("/") == []
    assert (tmp_path / "a").read_bytes() == b"1"


def test_no_descriptor_is_kept_of_files_that_are_published_or_given_up(tmp_path: Path) -> None:
    fs = LocalFileSystem(str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    put(fs, "/a", b"1")
    with pytest.raises(ZeroDivisionError), fs.create("/b") as file:
        file.write(bytes([1 // 0]))
    with pytest.raises(PathIOException):
        put(fs, "/a", b"1", overwrite=False)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_removed_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may look for abandoned files in between."""
    real, calls = fcntl.flock, []

    def late(descriptor: int, how: int) -> None:
        calls.append(how)
        if len(calls) == 1:
            (name,) = left(tmp_path)
            (tmp_path / name).unlink()
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    put(LocalFileSystem(str(tmp_path)), "/a", b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


@pytest.mark.parametrize("locks", ["no module", "no locks"])
def test_without_locks_only_old_files_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: str
) -> None:
    def refused(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    if locks == "no module":
        monkeypatch.setattr(atomic_write, "fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "flock", refused)
    fs = LocalFileSystem(str(tmp_path))
    put(fs, "/a", b"1")
    for name, age in (("young", 0), ("old", 10**9)):
        path = tmp_path / f"{PENDING}{name}"
        path.touch()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    assert fs.remove_abandoned("/") == [f"/{PENDING}old"]
    assert fs.remove_abandoned("/nowhere") == []


def test_only_temporary_files_are_removed_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f"{PENDING}x").touch()
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (root / "a").touch()
    (root / "link").symlink_to(outside)
    (root / f"{PENDING}link").symlink_to(outside / f"{PENDING}x")
    (root / f"d/{PENDING}y").touch()
    fs = LocalFileSystem(str(root))
    assert fs.remove_abandoned("/", recursive=False) == []
    assert fs.remove_abandoned("/") == [f"/d/{PENDING}y"]
    assert left(outside) == [f"{PENDING}x"]


def test_write_pending_needs_no_errors_of_ours(tmp_path: Path) -> None:
    with write_pending(str(tmp_path / "a"), overwrite=True, durable=False) as file:
        file.write(b"1")
    assert (tmp_path / "a").read_bytes() == b"1"
