"""Tests of a table after a crash of the machine, and of files left by killed writers."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fscontract.implementations.atomic_write import PENDING
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.locks import FileLock
from fscontract.pipeline.hudi.writer import Change, MetadataWriter, Services
from fscontract.pipeline.splitter.windows import FSWindowStore
from tests.implementations.disk import Disk
from tests.pipeline.hudi.killed import left
from tests.pipeline.hudi.support import PATH, Ticks, dataset, seen

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at descriptors in /proc")

A, B = "city=a", "city=b"


@pytest.mark.parametrize("eager", [False, True], ids=["names are late", "names are early"])
def test_a_commit_survives_a_crash_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eager: bool
) -> None:
    """At any time; after the return it exists, with a file written by another process."""
    root = tmp_path / "root"
    root.mkdir()
    fs = LocalFileSystem(str(root), durable=False)
    dataset(fs, (A, B), 1)
    before = seen(fs)
    disk = Disk(root, monkeypatch, eager)
    moments = itertools.count()
    found: list[object] = []

    def look() -> None:
        left = LocalFileSystem(str(disk.survivors(tmp_path / str(next(moments)))))
        found.append(seen(left))

    disk.at_each = look
    writer = MetadataWriter(LocalFileSystem(str(root)), PATH, Ticks(100))
    instant = writer.begin()
    (root / PATH[1:] / A).mkdir()
    (root / PATH[1:] / A / "new").write_bytes(b"12345")
    writer.finish(instant, Change({A: {"new": 5}}))
    after = seen(fs)
    assert after[A]["new"] == 5
    assert [each for each in found if each not in (before, after)] == []
    assert before in found
    left = disk.survivors(tmp_path / "after")
    assert seen(LocalFileSystem(str(left))) == after
    assert (left / PATH[1:] / A / "new").read_bytes() == b"12345"
    disk.close()


def test_every_file_of_a_commit_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content before its name, and its directory afterwards."""
    fs = LocalFileSystem(str(tmp_path))
    writer = dataset(fs, (A, B), 1)
    disk = Disk(tmp_path, monkeypatch)
    writer.commit(Change({A: {"x": 1}}))
    names = [place for place, call in enumerate(disk.calls) if call in ("link", "replace")]
    assert len(names) == 7  # three of each instant, and the log
    for place in names:
        assert disk.calls[place - 1] == "fsync file"
        assert "fsync directory" in disk.calls[place + 1 : place + 3]
    disk.close()


# Killed writers --------------------------------------------------------------------------------


def test_recovery_leaves_no_temporary_file_of_a_killed_writer(tmp_path: Path) -> None:
    """Killed when a file becomes visible, for each file of a commit and a compaction."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.hudi.killed", str(tmp_path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


SERVICES: dict[str, Callable[[MetadataWriter], object]] = {
    "recover": lambda writer: writer.recover(),
    "compact": lambda writer: writer.compact(),
    "clean": lambda writer: writer.clean_table(),
    "archive": lambda writer: writer.archive(),
}


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_services_remove_files_of_dead_writers_only(
    tmp_path: Path, service: Callable[[MetadataWriter], object], elsewhere: bool
) -> None:
    fs = LocalFileSystem(str(tmp_path), durable=False)
    directory = "/other" if elsewhere else None
    writer = MetadataWriter(fs, PATH, Ticks(), directory=directory)
    with fs.create(f"{PATH}/city=a/f") as file:
        file.write(b"1")
    writer.initialize()
    writer.commit(Change({B: {"b": 1}}))
    places = [f"{PATH}/.hoodie/timeline", f"{directory or PATH + '/.hoodie/metadata'}/files"]
    for number, place in enumerate(places):
        (tmp_path / place[1:] / f"{PENDING}{number}").touch()
    with fs.create(f"{places[0]}/alive"), fs.create(f"{places[1]}/alive"):
        service(writer)
        assert len(left(tmp_path)) == 2
    assert left(tmp_path) == []


def test_an_action_that_is_taken_back_leaves_no_temporary_file_in_a_partition(
    tmp_path: Path,
) -> None:
    fs = LocalFileSystem(str(tmp_path), durable=False)
    dataset(fs)
    MetadataWriter(fs, PATH, Ticks(100)).begin()
    (tmp_path / PATH[1:] / A).mkdir()
    (tmp_path / PATH[1:] / A / f"{PENDING}1").touch()
    MetadataWriter(fs, PATH, Ticks(1000)).recover()
    assert left(tmp_path) == []


def test_a_lock_that_is_elsewhere_is_swept_by_its_next_holder(tmp_path: Path) -> None:
    fs = LocalFileSystem(str(tmp_path), durable=False)
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / f"{PENDING}1").touch()
    FileLock(fs, "/locks").acquire()
    assert left(tmp_path) == []


def test_windows_that_are_committed_leave_no_temporary_file(tmp_path: Path) -> None:
    fs = LocalFileSystem(str(tmp_path), durable=False)
    (tmp_path / "state/00000000").mkdir(parents=True)
    (tmp_path / f"state/00000000/{PENDING}1").touch()
    FSWindowStore(fs, "/state").committed(1)
    assert left(tmp_path) == []


def test_filesystem_without_temporary_files_needs_no_cleanup() -> None:
    """In memory and in buckets, an unclosed file does not exist."""
    from fscontract.implementations.memory import MemoryFileSystem

    fs = MemoryFileSystem()
    writer = dataset(fs)
    for _ in range(3):
        writer = MetadataWriter(fs, PATH, Ticks(1000), services=Services(1, 1, 1))
        writer.commit(Change({A: {"x": 1}}))
    assert seen(fs)[A]["x"] == 1
