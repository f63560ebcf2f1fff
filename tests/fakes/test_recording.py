"""Recordings of fsspec filesystems as plans, and their replay on the fake."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from fscontract.contract.program.arguments import ProgramError
from fscontract.fakes import FakeFileSystem, Fault, FaultPlan, Latency, record, replay
from fscontract.fakes.recording import Recording

DATA = bytes(range(256)) * 10


@pytest.fixture
def store() -> FakeFileSystem:
    """The recorded store: itself a fake, whose clock makes the recording deterministic."""
    store = FakeFileSystem(retries=0, latency=Latency(0.5, 0))
    store.write("/d/a", DATA)
    return store


@pytest.fixture
def recording(store: FakeFileSystem) -> Recording:
    """A recording of the store."""
    return record(store.as_fsspec(), lambda: store.clock.now)


def work(fs: Any) -> list[Any]:
    """Return what a program gets from a filesystem, with the type of each error."""
    steps: list[Callable[[], Any]] = [
        lambda: fs.info("/d/a")["size"],
        lambda: fs.cat_file("/d/a", 2, 5),
        lambda: fs.pipe_file("/d/b", b"new"),
        lambda: fs.ls("/d", detail=False),
        lambda: fs.cat_file("/d/b"),
        lambda: fs.info("/missing"),
        lambda: fs.rm_file("/d/b"),
    ]
    found: list[Any] = []
    for step in steps:
        try:
            found.append(step())
        except OSError as error:
            found.append([kind for kind in _KINDS if isinstance(error, kind)])
    return found


_KINDS = (TimeoutError, ConnectionError, PermissionError, FileNotFoundError, OSError)
FAULTS = (
    Fault.timeout(3, operation="head"),
    Fault.reset(operation="get", times=2),
    Fault.expired(operation="list", times=1),
    Fault.quota(2, operation="put"),
    Fault.throttle(0, operation="delete"),
)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_replay_gives_the_program_what_the_store_gave_it(
    store: FakeFileSystem, recording: Recording, fault: Fault
) -> None:
    """Also the time that it took."""
    store.attach(fault)
    begin = store.clock.now
    real = work(recording.fs)
    again = replay(recording, {"/d/a": DATA})
    assert work(again.as_fsspec()) == real
    errors = [f for f in recording.plan().faults if f.kind != "hang"]
    assert {error.kind for error in errors} == {fault.kind}
    assert not set(errors) & set(again.injector._firing.unstruck)
    assert again.clock.now <= store.clock.now - begin


def test_delays_are_recorded(store: FakeFileSystem, recording: Recording) -> None:
    recording.fs.info("/d/a")
    store.attach(Fault.hang(4, operation="head", nth=2))
    recording.fs.info("/d/a")
    recording.fs.info("/d/a")
    assert str(recording.plan()) == ("hang(4.5) at 3 head of /d/a; hang(0.5) at 1-2 head of /d/a")
    again = replay(recording, {"/d/a": b""})
    for _ in range(3):
        again.get_file_status("/d/a")
    assert again.clock.now == store.clock.now == 5.5


def test_equal_faults_in_a_row_are_one(store: FakeFileSystem, recording: Recording) -> None:
    store.attach(Fault.reset(nth=2, times=3))
    for _ in range(5):
        with suppress(ConnectionError):
            recording.fs.info("/d/a")
    resets = [f for f in recording.plan().faults if f.kind == "reset"]
    assert resets == [Fault.reset(operation="head", path="/d/a", nth=2, times=3)]


def test_files_are_recorded(store: FakeFileSystem, recording: Recording) -> None:
    with recording.fs.open("/d/a") as file:
        assert file.read(10) == DATA[:10]
        file.seek(2000)
        assert file.read() == DATA[2000:]
    with recording.fs.open("/d/c", "wb") as file:
        file.write(b"hello")
    assert store.as_fsspec().cat_file("/d/c") == b"hello"
    store.attach(Fault.reset(operation="put"))
    file = recording.fs.open("/d/c", "wb")
    with pytest.raises(ConnectionResetError):
        file.close()
    assert [(r.operation, r.offset, r.length, r.fault) for r in recording.requests] == [
        ("open", None, None, ""),
        ("get", 0, 10, ""),
        ("get", 2000, None, ""),
        ("put", None, None, ""),
        ("put", None, None, "reset"),
    ]


class _Buffered(AbstractFileSystem):  # type: ignore[misc]
    """A filesystem whose files fetch ranges through a cache of fsspec."""

    cachable = False

    def _open(self, path: str, mode: str = "rb", **options: Any) -> AbstractBufferedFile:
        class File(AbstractBufferedFile):  # type: ignore[misc]
            def _fetch_range(self, start: int, end: int) -> bytes:
                if start >= 1000:
                    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
                return DATA[start:end]

        return File(self, path, mode, block_size=100, size=len(DATA), cache_type="bytes")


def test_files_with_a_cache_are_recorded_below_it() -> None:
    recording = record(_Buffered())
    with recording.fs.open("a") as file:
        assert file.read(50) + file.read(50) == DATA[:100]
        file.seek(2000)
        with pytest.raises(OSError, match=os.strerror(errno.EBUSY)):
            file.read(1)
    (first, *_, last) = [r for r in recording.requests if r.operation == "get"]
    assert (first.offset, first.fault) == (0, "")
    assert (last.path, last.fault) == ("/a", "throttle")
    assert len(recording.requests) < 5


def test_real_filesystem_is_recorded(tmp_path: Path) -> None:
    recording = record(fsspec.filesystem("file"))
    path = f"{tmp_path}/a"
    recording.fs.pipe_file(path, DATA)
    with recording.fs.open(path) as file:
        assert next(iter(file)) == DATA[:11]
    recording.fs.mkdir(f"{tmp_path}/d")
    recording.fs.mv(path, f"{path}2")
    assert recording.fs.exists(f"{path}2")
    recording.fs.rm(f"{path}2")
    operations = {request.operation for request in recording.requests}
    assert operations == {"put", "open", "get", "mkdirs", "rename", "head", "delete"}
    assert not any(request.fault for request in recording.requests)


def test_recording_holds_no_secret_of_a_url() -> None:
    class Signed(MemoryFileSystem):  # type: ignore[misc]
        cachable = False

        @classmethod
        def _strip_protocol(cls, path: Any) -> Any:
            return path

        def info(self, path: str, **_: Any) -> Any:
            raise ConnectionError("https://user:hunter2@host/a?token=hunter2 failed")

    recording = record(Signed())
    with pytest.raises(ConnectionError):
        recording.fs.info("https://user:hunter2@host/a?token=hunter2")
    assert recording.requests[0].path == "/host/a"
    assert "hunter2" not in f"{recording.requests}{recording.plan()!r}{recording.plan().dumps()}"


def test_plan_of_a_path_with_glob_characters_strikes_that_path_alone(
    store: FakeFileSystem, recording: Recording
) -> None:
    store.write("/[ab]*", b"x")
    store.attach(Fault.reset(operation="head"))
    with pytest.raises(ConnectionResetError):
        recording.fs.info("/[ab]*")
    again = replay(recording, {"/[ab]*": b"x", "/a": b"y"})
    again.get_file_status("/a")
    with pytest.raises(ConnectionResetError):
        again.get_file_status("/[ab]*")


def test_plan_keeps_errors_and_the_longest_delays(
    store: FakeFileSystem, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fscontract.fakes.recording.MOST_FAULTS", 2)
    store.attach(Fault.hang(9, nth=2), Fault.reset(nth=4))
    for _ in range(3):
        recording.fs.info("/d/a")
    with pytest.raises(ConnectionResetError):
        recording.fs.info("/d/a")
    assert [fault.kind for fault in recording.plan().faults] == ["reset", "hang"]
    assert recording.plan().faults[1].delay == 9.5


@pytest.mark.parametrize("name", ["plan.yaml", "plan.json"])
def test_plan_survives_a_file(tmp_path: Path, name: str) -> None:
    odd = Fault.reset(path="/\U0001f600 \x7f\ufffe'\"#: \n", probability=0.25, seed=-3)
    plan = FaultPlan((Fault.short(5, path="*.parquet", offset=slice(4, None)), odd, *FAULTS))
    plan.dump(tmp_path / name)
    assert FaultPlan.load(tmp_path / name) == plan
    assert replay(tmp_path / name).injector.requests == 0
    FaultPlan().dump(tmp_path / name)
    assert FaultPlan.load(tmp_path / name) == FaultPlan()


def test_path_that_is_not_utf_8_is_written_as_json_only(tmp_path: Path) -> None:
    plan = FaultPlan((Fault.reset(path="/\udc80"),))
    plan.dump(tmp_path / "a.json")
    assert FaultPlan.load(tmp_path / "a.json") == plan
    with pytest.raises(ProgramError, match=r"write to a \.json file"):
        plan.dump(tmp_path / "a.yaml")


def test_yaml_of_a_plan_has_a_line_for_each_fault(tmp_path: Path) -> None:
    FaultPlan((Fault.reset(), Fault.hang(2, path="*.csv"))).dump(tmp_path / "plan.yaml")
    assert (tmp_path / "plan.yaml").read_text().splitlines() == [
        "faults:",
        '- {"kind": "reset", "nth": 1}',
        '- {"kind": "hang", "nth": 1, "seconds": 2, "path": "*.csv"}',
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "faults: [{kind: oops}]", r"a\.yaml: fault 1: unknown kind 'oops'"),
        ("a.yaml", "faults: [", r"a\.yaml: line 2, column 1"),
        ("a.yaml", "faults: !!python/object:os.system {}", r"a\.yaml: line 1, column 9"),
        ("a.yaml", "- 1", r"a\.yaml: expected an object with a list of faults"),
        ("a.json", "{", r"a\.json: line 1, column 2: not JSON"),
        ("a.yaml", "faults: [{kind: hang, seconds: .inf}]", "seconds must be a number from 0"),
        ("missing.yaml", None, r"missing\.yaml: No such file"),
    ],
)
def test_invalid_file_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ProgramError, match=message) as caught:
        FaultPlan.load(tmp_path / name)
    assert "\n" not in str(caught.value)
