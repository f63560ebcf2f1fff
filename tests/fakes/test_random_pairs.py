"""Random pairs of a program and a plan of faults: no wrong byte, no hang, and no leak."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fscontract.contract.program.faults import FAULTS
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.fakes.filesystem.client import Connection
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.requests import Latency, RequestFailed
from fscontract.fakes.filesystem.store import Store
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from tests.fakes.random_pairs import outcomes, pairs, violation

#: Pairs of each filesystem.
ORDINARY, DEEP = 500, 10_000
#: Kinds that really wait on a local disk.
WAITING = frozenset({"hang"})
COUNTS = [ORDINARY, pytest.param(DEEP, marks=pytest.mark.deep)]


def fake(**settings: object) -> FakeFileSystem:
    """Return a fake with several blocks in a file."""
    given: dict[str, object] = {"block_size": 128, "replicas": 2, "latency": Latency(0, 0)}
    return FakeFileSystem(**{**given, **settings})  # type: ignore[arg-type]


def fake_violations(
    seed: int, count: int, make: Callable[[], FakeFileSystem] = fake
) -> Iterator[str]:
    """Yield what is wrong with a fake: its results, the number of requests, and leaks.

    At the end, that too few of the plans struck.
    """
    struck = 0
    for pair in pairs(seed, count, FAULTS):
        fs = make()
        yield violation(fs, fs.injector, pair, requests=lambda fs=fs: len(fs.store._log))  # type: ignore[misc]
        if fs.open_handles:
            yield f"{pair}: left open: {fs.open_handles}"
        struck += fs.injector.fired > 0
    if struck < count // 4:
        yield f"seed {seed}: only {struck} of {count} plans struck"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("retries", [0, 3])
def test_fake_has_no_wrong_byte_no_hang_and_no_leak(seed: int, count: int, retries: int) -> None:
    half = count // 2  # with and without retries
    assert [
        wrong for wrong in fake_violations(seed, half, lambda: fake(retries=retries)) if wrong
    ] == []


@pytest.mark.parametrize("count", COUNTS)
def test_local_disk_has_no_wrong_byte_no_hang_and_no_leak(
    seed: int, count: int, tmp_path: Path
) -> None:
    kinds = FaultyLocalFileSystem(str(tmp_path)).injector.kinds - WAITING
    gc.collect()
    before = _descriptors()
    for pair in pairs(seed, count, sorted(kinds)):
        directory = tmp_path / str(pair.number)
        directory.mkdir()
        fs = FaultyLocalFileSystem(str(directory))
        assert violation(fs, fs.injector, pair, mixed=True) == ""
    gc.collect()
    assert _descriptors() == before


def _descriptors() -> int:
    """Return the number of open descriptors; 0 where the system does not list them."""
    directory = Path("/proc/self/fd")
    return len(list(directory.iterdir())) if directory.exists() else 0


@pytest.mark.parametrize("count", COUNTS)
def test_memory_does_what_the_model_says(seed: int, count: int) -> None:
    """It makes no requests, so no fault strikes it."""
    for pair in pairs(seed, count, ()):
        assert violation(MemoryFileSystem(), None, pair) == ""


@pytest.mark.parametrize("count", COUNTS)
def test_fake_answers_as_the_local_disk_does(seed: int, count: int, tmp_path: Path) -> None:
    """Outcome by outcome, for reads and writes, and so does memory."""
    for pair in pairs(seed, count // 2, ()):
        directory = tmp_path / str(pair.number)
        directory.mkdir()
        real = outcomes(LocalFileSystem(str(directory), durable=False), pair.program)
        assert outcomes(fake(), pair.program) == real, pair
        assert outcomes(MemoryFileSystem(), pair.program) == real, pair


# Mutants: each is found within the ordinary number of pairs --------------------------------------


def _silent_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that fails is the end of the file."""
    read = Connection.read

    def wrong(self: Connection, position: int, view: memoryview) -> int:
        try:
            return read(self, position, view)
        except RequestFailed:
            return 0

    monkeypatch.setattr(Connection, "read", wrong)


def _deaf_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails is reported as done."""
    put = Store.put

    def wrong(self: Store, path: str, data: bytes, overwrite: bool) -> None:
        with contextlib.suppress(RequestFailed):
            put(self, path, data, overwrite)

    monkeypatch.setattr(Store, "put", wrong)


def _leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error keeps its stream open."""
    close, count = FakeFileSystem.open, itertools.count()

    def wrong(self: FakeFileSystem, path: str, buffer_size: int | None = None) -> object:
        if next(count) % 50 == 0:
            close(self, path, buffer_size)
        return close(self, path, buffer_size)

    monkeypatch.setattr(FakeFileSystem, "open", wrong)


@pytest.mark.parametrize("mutant", [_silent_end, _deaf_write, _leak])
def test_mutant_is_found(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    mutant(monkeypatch)
    found = fake_violations(seed, ORDINARY, lambda: fake(retries=0))
    assert any(found), mutant.__doc__


def test_client_without_checksums_is_found(seed: int) -> None:
    found = fake_violations(seed, ORDINARY, lambda: fake(retries=0, checksums=False))
    assert any(found)
