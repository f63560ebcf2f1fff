"""Tests of directory locks: mutual exclusion of writers, and expiry after a death."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import encode_change
from fscontract.pipeline.hudi.io import LockedException, MetadataException, RolledBackException
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import PATH, dataset, name, put, seen


@pytest.fixture(params=["memory", "local"])
def fs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FileSystem:
    """Each filesystem."""
    if request.param == "memory":
        return MemoryFileSystem()
    return LocalFileSystem(str(tmp_path_factory.mktemp("root")))


class Clock:
    """A manual clock."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.now


class FreeLock:
    """A lock that is always free."""

    def acquire(self) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Do nothing."""

    def release(self) -> None:
        """Do nothing."""


def lock(fs: FileSystem, clock: Clock, wait: float = 0) -> FileLock:
    """Return a lock that does not wait in real time."""
    return FileLock(
        fs,
        "/locks",
        lease=timedelta(seconds=60),
        wait=timedelta(seconds=wait),
        clock=clock,
        sleep=lambda seconds: None,
    )


def test_one_writer_holds_the_lock_at_a_time(fs: FileSystem) -> None:
    clock = Clock()
    one, two = lock(fs, clock), lock(fs, clock)
    one.acquire()
    with pytest.raises(LockedException, match="another writer holds the lock"):
        two.acquire()
    one.check()
    one.release()
    two.acquire()
    two.release()
    one.acquire()


def test_lock_of_a_dead_writer_expires_with_its_lease(fs: FileSystem) -> None:
    clock = Clock()
    dead, other = lock(fs, clock), lock(fs, clock)
    dead.acquire()
    clock.now += timedelta(seconds=59)
    with pytest.raises(LockedException):
        other.acquire()
    clock.now += timedelta(seconds=1)
    other.acquire()
    with pytest.raises(LockedException, match="another writer took the lock"):
        dead.check()
    dead.release()  # it holds nothing to release
    other.check()


def test_check_extends_the_lease(fs: FileSystem) -> None:
    clock = Clock()
    slow, other = lock(fs, clock), lock(fs, clock)
    slow.acquire()
    for _ in range(3):
        clock.now += timedelta(seconds=50)
        slow.check()
    with pytest.raises(LockedException):
        other.acquire()


@pytest.mark.parametrize(
    "content", [b"{", b"", b"\xff", b"1", b'{"until": NaN}', b'{"until": "nan"}', b"[" * 100_000]
)
def test_lock_file_without_a_time_is_ignored(fs: FileSystem, content: bytes) -> None:
    """Its writer died; NaN would hold the lock forever."""
    put(fs, "/locks/000000000001", content)
    lock(fs, Clock()).acquire()


def test_few_files_are_left(fs: FileSystem) -> None:
    for _ in range(9):
        one = lock(fs, Clock())
        one.acquire()
        one.release()
    assert len(list(fs.list_status("/locks"))) <= 4


def test_slow_writer_does_not_get_the_lock() -> None:
    """Other writers held it meanwhile, and removed the number that it would take."""

    class Slow(FileLock):
        looked = 0

        def _last(self) -> int:
            self.looked += 1
            return 0 if self.looked == 1 else super()._last()

    fs, clock = MemoryFileSystem(), Clock()
    holder = lock(fs, clock)
    for _ in range(5):
        holder.acquire()
        holder.release()
    holder.acquire()
    slow = Slow(fs, "/locks", wait=timedelta(0), clock=clock, sleep=lambda seconds: None)
    with pytest.raises(LockedException):
        slow.acquire()
    holder.check()


def test_threads_take_turns(fs: FileSystem) -> None:
    """No thread sees incomplete changes of another."""
    inside, most, total = 0, 0, 0

    def work() -> None:
        nonlocal inside, most, total
        own = FileLock(fs, "/locks", wait=timedelta(seconds=60), sleep=lambda seconds: None)
        for _ in range(3):
            own.acquire()
            inside += 1
            most = max(most, inside)
            total += 1
            inside -= 1
            own.release()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, total) == (1, 9)


def test_writers_in_threads_lose_nothing(fs: FileSystem) -> None:
    """With services that compact in between."""
    dataset(fs, ["city=a"], 1)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        own = FileLock(fs, f"{PATH}/{LOCKS}", sleep=lambda seconds: None)
        writer = MetadataWriter(fs, PATH, lock=own, patience=timedelta(hours=1))
        try:
            for each in range(3):
                writer.commit(Change({"city=a": {f"{number}-{each}": 1}}))
                if each == 1:
                    writer.compact()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(seen(fs)["city=a"]) == 10


def test_writer_that_was_rolled_back_gets_an_error() -> None:
    fs = MemoryFileSystem()
    dataset(fs)
    slow, other = MetadataWriter(fs, PATH), MetadataWriter(fs, PATH)
    instant = slow.begin()
    other.commit(Change({"city=a": {"new": 1}}))
    late = name(0, instant.time)
    put(fs, f"{PATH}/city=a/{late}", b"1")
    assert late not in _listed(fs)
    with pytest.raises(RolledBackException, match="was rolled back"):
        slow.finish(instant, Change({"city=a": {late: 1}}))
    assert f"{PATH}/city=a/{late}" not in {file.path for file in fs.list_status(f"{PATH}/city=a")}


def _listed(fs: FileSystem) -> list[str]:
    """Return the files of a partition, from its directory."""
    with FileListing(fs, PATH, enabled=False) as files:
        return [status.path.rpartition("/")[2] for status in files.list_files("city=a")]


class Overtaken(MetadataWriter):
    """A writer that does something at the last moment before it creates a file of the timeline."""

    def __init__(self, *args: Any, before: Callable[[], object], at: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        instants = self._data_instants
        put = instants.put

        def after_other(instant: Instant, content: bytes = b"") -> Instant:
            if f"{instant.action} {instant.state}" == at:
                before()
            return put(instant, content)

        instants.put = after_other  # type: ignore[method-assign]


def overtaken(fs: FileSystem, clock: Clock) -> tuple[MetadataWriter, MetadataWriter]:
    """Return a writer of a new dataset, and one that takes over before its commit completes."""
    dataset(fs)
    other = MetadataWriter(fs, PATH, lock=lock(fs, clock))

    def take_over() -> None:
        clock.now += timedelta(seconds=61)
        other.commit(Change({"city=a": {"new": 1}}))

    slow = Overtaken(fs, PATH, lock=lock(fs, clock), before=take_over, at="commit completed")
    return slow, other


def test_action_that_is_rolled_back_before_its_completion_is_taken_back() -> None:
    """Its writer held the lock when it checked it, and was slower than the lease."""
    fs, clock = MemoryFileSystem(), Clock()
    slow, other = overtaken(fs, clock)
    with pytest.raises(RolledBackException, match="was rolled back"):
        slow.commit(Change({"city=a": {"late": 1}}))
    assert "new" in seen(fs)["city=a"]
    assert "late" not in seen(fs)["city=a"]
    other.commit(Change({"city=a": {"next": 1}}))
    assert "next" in seen(fs)["city=a"]


class Killed(BaseException):
    """Ends a writer as a signal does."""


def test_action_that_completes_after_its_rollback_is_taken_back_if_its_writer_dies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was not acknowledged, and its files are deleted: the next writer takes it back."""
    fs, clock = MemoryFileSystem(), Clock()
    slow, _ = overtaken(fs, clock)
    complete = slow._data_instants.complete

    def complete_and_die(*arguments: Any) -> None:
        complete(*arguments)
        raise Killed

    monkeypatch.setattr(slow._data_instants, "complete", complete_and_die)
    with pytest.raises(Killed):
        slow.commit(Change({"city=a": {"late": 1}}))
    clock.now += timedelta(seconds=61)
    third = MetadataWriter(fs, PATH, lock=lock(fs, clock))
    third.commit(Change({"city=a": {"next": 1}}))
    assert "late" not in seen(fs)["city=a"]
    assert {"new", "next"} <= seen(fs)["city=a"].keys()
    assert "late" not in _listed(fs)


def test_action_is_not_completed_while_a_slow_writer_rolls_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That writer has lost the lock, and may still delete the action's files."""
    fs, clock = MemoryFileSystem(), Clock()
    dataset(fs)
    one = MetadataWriter(fs, PATH, lock=lock(fs, clock))
    other = MetadataWriter(fs, PATH, lock=lock(fs, clock))
    instant, delete = one.begin(), other._delete_data

    def late(deleted: Any) -> Any:
        clock.now += timedelta(seconds=61)
        with pytest.raises(RolledBackException, match="was rolled back"):
            one.finish(instant, Change({"city=a": {"late": 1}}))
        return delete(deleted)

    monkeypatch.setattr(other, "_delete_data", late)
    with pytest.raises(LockedException):
        other.begin()
    clock.now += timedelta(seconds=61)
    third = MetadataWriter(fs, PATH, lock=lock(fs, clock))
    third.commit(Change({"city=a": {"next": 1}}))
    assert "next" in seen(fs)["city=a"]
    assert "late" not in seen(fs)["city=a"]


def test_action_that_completes_while_it_is_rolled_back_is_kept() -> None:
    """The rollback was requested by a writer that found it incomplete."""
    fs, clock = MemoryFileSystem(), Clock()
    dataset(fs)
    slow = MetadataWriter(fs, PATH, lock=lock(fs, clock))
    instant = slow.begin()
    clock.now += timedelta(seconds=61)
    data = slow._data_instants

    def complete() -> None:
        slow.apply(instant, Change({"city=a": {"late": 1}}))
        content = encode_change("commit", instant.time, Change({"city=a": {"late": 1}}), {})
        data.complete(instant, content)

    other = Overtaken(fs, PATH, lock=FreeLock(), before=complete, at="rollback requested")
    other.commit(Change({"city=a": {"new": 1}}))
    assert {"late", "new"} <= seen(fs)["city=a"].keys()


def test_failure_after_the_lock_was_lost_is_that_loss() -> None:
    """Another writer has removed a log that is read."""
    fs, clock = MemoryFileSystem(), Clock()
    dataset(fs)
    slow, other = (MetadataWriter(fs, PATH, lock=lock(fs, clock)) for _ in range(2))

    def read() -> None:
        with slow._critical():
            clock.now += timedelta(seconds=61)
            other.commit(Change({"city=a": {"new": 1}}))
            raise MetadataException(PATH, "log of 20260101000000000 in 'files' is missing")

    with pytest.raises(LockedException, match="another writer took the lock"):
        read()


def test_a_writer_that_holds_the_lock_notices_that_it_is_lost() -> None:
    """Before its changes become valid; it can acquire the lock again."""
    fs, clock = MemoryFileSystem(), Clock()
    dataset(fs)
    writer = MetadataWriter(fs, PATH, lock=lock(fs, clock), hold=True)
    writer.commit(Change({"city=a": {"new": 1}}))
    clock.now += timedelta(seconds=61)
    other = lock(fs, clock)
    other.acquire()
    with pytest.raises(LockedException):
        writer.commit(Change({"city=a": {"late": 1}}))
    assert "late" not in seen(fs)["city=a"]
    other.release()
    writer.commit(Change({"city=a": {"later": 1}}))
    writer.close()
    assert "later" in seen(fs)["city=a"]
