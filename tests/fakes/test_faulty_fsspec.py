"""Tests of `faulty::URL`: faults in front of any fsspec filesystem."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

from fscontract.contract.binding import Binding
from fscontract.contract.generate import fault_programs
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import recognise
from fscontract.fakes import Fault, FaultPlan
from fscontract.fakes.faulty_fsspec import AsyncFaultyFileSystem, FaultyFileSystem, faulty
from tests.fakes.block_files import Blocks, Swallowing

DATA = bytes(range(200))
BUSY = os.strerror(errno.EBUSY)


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    """Return fsspec's memory, with the file `/d/file`; empty afterwards."""
    fs = MemoryFileSystem()
    fs.pipe("/d/file", DATA)
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


@pytest.fixture
def shared() -> Iterator[Any]:
    """Return the injector of every `faulty::URL`, without faults afterwards."""
    yield FaultyFileSystem.shared
    FaultyFileSystem.shared.detach()


def _faulty(fs: Any, *faults: Fault) -> FaultyFileSystem:
    return FaultyFileSystem(fs, FaultPlan(faults))


def test_url_without_plan_is_the_filesystem(memory: MemoryFileSystem) -> None:
    fs, path = fsspec.url_to_fs("faulty::memory://d")
    assert fs.find(path) == fs.find("") == ["/d/file"]
    with fsspec.open("faulty::memory://d/file") as file:
        assert file.read() == DATA


def test_url_names_the_plan_in_its_options(memory: MemoryFileSystem) -> None:
    plan = FaultPlan((Fault.reset(operation="get"),))
    for given in (plan, plan.faults[0], plan.dumps(), plan.to_json()):
        fs, path = fsspec.url_to_fs("faulty::memory://d/file", faulty={"plan": given})
        with pytest.raises(ConnectionResetError):
            fs.cat_file(path)
        assert fs.cat_file(path) == DATA


def test_invalid_plan_is_refused() -> None:
    with pytest.raises(ProgramError, match="unknown kind"):
        fsspec.filesystem("faulty", target_protocol="memory", plan='{"faults": [{"kind": "x"}]}')
    with pytest.raises(ProgramError, match="unsupported kind corrupt"):
        fsspec.filesystem("faulty", target_protocol="memory", plan=Fault.corrupt())
    with pytest.raises(ValueError, match="faulty::URL"):
        fsspec.filesystem("faulty")


def test_shared_injector_strikes_urls_deep_in_other_code(
    memory: MemoryFileSystem, shared: Any
) -> None:
    shared.attach(FaultPlan((Fault.timeout(path="*.csv"), Fault.throttle(operation="get"))))
    with fsspec.open("faulty::memory://d/file") as file, pytest.raises(OSError, match=BUSY):
        file.read()
    assert (shared.requests, shared.fired) == (2, 1)


def _write(fs: Any) -> None:
    with fs.open("/d/new", "wb") as file:
        file.write(b"x")


CALLS: dict[str, tuple[str, Any]] = {
    "cat_file": ("get", lambda fs: fs.cat_file("/d/file", 1, 5)),
    "cat": ("get", lambda fs: fs.cat("/d/file")),
    "read": ("get", lambda fs: fs.open("/d/file").read(3)),
    "open": ("open", lambda fs: fs.open("/d/file")),
    "info": ("head", lambda fs: fs.info("/d/file")),
    "ls": ("list", lambda fs: fs.ls("/d")),
    "pipe": ("put", lambda fs: fs.pipe("/d/new", b"x")),
    "put": ("put", lambda fs: fs.put_file(__file__, "/d/new")),
    "write": ("put", _write),
    "rm": ("delete", lambda fs: fs.rm("/d/file")),
    "mkdir": ("mkdirs", lambda fs: fs.mkdir("/e")),
    "mv": ("rename", lambda fs: fs.mv("/d/file", "/d/new")),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_call_is_a_request_that_can_fail(memory: MemoryFileSystem, call: str) -> None:
    operation, act = CALLS[call]
    fs = _faulty(memory, Fault.reset(operation=operation))
    with pytest.raises(ConnectionResetError):
        act(fs)
    assert memory.find("/") == ["/d/file"], "nothing was written or removed"
    assert fs.injector.fired == 1
    act(fs)


def test_ranges_fail_one_by_one(memory: MemoryFileSystem) -> None:
    fs = _faulty(memory, Fault.timeout(offset=5, nth=1), Fault.timeout(offset=5, nth=2))
    parts = fs.cat_ranges(["/d/file"] * 3, [0, 5, 8], [2, 7, 9])
    assert (parts[0], parts[2]) == (DATA[:2], DATA[8:9])
    assert isinstance(parts[1], TimeoutError)
    with pytest.raises(TimeoutError):
        fs.cat_ranges(["/d/file"], [5], [7], on_error="raise")
    assert fs.cat_ranges(["/d/file"], [5], [7]) == [DATA[5:7]]


def test_short_read_has_the_first_bytes_and_the_next_read_goes_on(
    memory: MemoryFileSystem,
) -> None:
    fs = _faulty(memory, Fault.short(3, offset=slice(2, None)))
    buffer = bytearray(10)
    with fs.open("/d/file") as file:
        assert (file.read(2), file.read(10), file.readinto(buffer)) == (DATA[:2], DATA[2:5], 10)
    assert bytes(buffer) == DATA[5:15]


def test_fault_strikes_below_the_cache_of_a_file(memory: MemoryFileSystem) -> None:
    fs = _faulty(Blocks(), Fault.reset(operation="get"))
    with fs.open("/d/file") as file:
        with pytest.raises(ConnectionResetError):
            file.read(5)
        assert file.tell() == 0
        assert file.read(5) + file.read(5) == DATA[:10]
    assert fs.injector.requests == 3, "the second read of five bytes is served by the cache"


def test_deleted_file_is_missing_until_it_is_written(memory: MemoryFileSystem) -> None:
    fs = _faulty(memory, Fault.delete(nth=2), Fault.revoke(path="/d/other"))
    assert fs.exists("/d/file")
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            fs.cat_file("/d/file")
    assert memory.exists("/d/file"), "for clients of the wrapper only"
    fs.pipe("/d/file", b"new")
    assert fs.cat_file("/d/file") == b"new"


def test_paths_of_the_target_keep_their_form(tmp_path: Path) -> None:
    """HTTP paths are URLs, those of local files absolute."""
    (tmp_path / "file").write_bytes(DATA)
    fs = FaultyFileSystem(fsspec.filesystem("file"))
    assert fs.cat_file(f"file://{tmp_path}/file") == DATA
    http = FaultyFileSystem(fsspec.filesystem("http", skip_instance_cache=True))
    assert http._strip_protocol("http://host/d/") == "http://host/d/"


class Coroutines(fsspec.asyn.AsyncFileSystem):  # type: ignore[misc]
    """An asynchronous filesystem of one file."""

    cachable = False

    async def _cat_file(self, path: str, start: Any = None, end: Any = None, **_: Any) -> bytes:
        return DATA[start:end]

    async def _info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": len(DATA), "type": "file"}


def test_coroutines_of_an_asynchronous_filesystem_fail_too() -> None:
    plan = FaultPlan((Fault.reset(operation="get", nth=2), Fault.hang(0.01, operation="head")))

    async def run() -> None:
        fs = AsyncFaultyFileSystem(Coroutines(asynchronous=True), plan)
        assert await fs._cat_file("/file", 1, 3) == DATA[1:3]
        with pytest.raises(ConnectionResetError):
            await fs._cat_file("/file", 1, 3)
        assert await fs._size("/file") == len(DATA)
        assert await fs._cat_ranges(["/file"] * 2, [0, 4], [1, 5]) == [DATA[:1], DATA[4:5]]
        assert fs.injector.fired == 2

    asyncio.run(run())


def test_each_wrapper_refuses_filesystems_of_the_other_kind() -> None:
    with pytest.raises(ValueError, match="needs AsyncFaultyFileSystem"):
        FaultyFileSystem(Coroutines(asynchronous=True))
    with pytest.raises(ValueError, match="has no coroutines"):
        AsyncFaultyFileSystem(MemoryFileSystem())


def test_asynchronous_filesystem_can_be_called_without_await() -> None:
    fs = _faulty(Coroutines(), Fault.reset(operation="get"))
    with pytest.raises(ConnectionResetError):
        fs.cat_file("/file")
    assert fs.cat_file("/file") == DATA


# The suite ------------------------------------------------------------------------------------


def _checked(fs: AbstractFileSystem, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    monkeypatch.setitem(fault_programs.PROGRAMS, "quick", 100)
    chosen = tuple(c for c in select(("fault.*",)) if c.testable)
    binding: Binding = faulty(recognise(fs, "own"))
    return check(binding, Settings(load_profile("fsspec"), chosen, faults="quick"))


def test_suite_finds_a_file_that_takes_an_error_for_the_end(
    monkeypatch: pytest.MonkeyPatch, memory: MemoryFileSystem
) -> None:
    monkeypatch.setattr(fault_programs, "systematic", lambda *_: iter(()))
    result = _checked(Swallowing(), monkeypatch)
    failed = {c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL}
    assert failed == {"fault.end"}


def test_suite_finds_nothing_in_a_file_that_passes_errors_on(
    monkeypatch: pytest.MonkeyPatch, memory: MemoryFileSystem
) -> None:
    monkeypatch.setattr(fault_programs, "systematic", lambda *_: iter(()))
    result = _checked(Blocks(), monkeypatch)
    assert {c.outcome for c in result.clauses} <= {Verdict.PASS, Verdict.UNEXERCISED}
    passed = {c.clause.id for c in result.clauses if c.outcome is Verdict.PASS}
    assert {"fault.open", "fault.data", "fault.end", "fault.position", "fault.next"} <= passed
