"""Tests of the scanner's thread, its clock, and its inputs."""

from __future__ import annotations

import threading

import pytest

from fscontract.contract.api.errors import IllegalArgumentException, PathIOException
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.splitter.clock import ManualClock
from fscontract.pipeline.splitter.scanner import (
    Reference,
    ReferenceTimes,
    TimeBasedDirectoryScanner,
    input_paths,
)
from tests.limits import DEADLOCK
from tests.pipeline.splitter.support import write


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ("/a", ("/a",)),
        (" /b/ ,, /a,/b", ("/b", "/a")),
        (["/a,b", "/"], ("/a,b", "/")),
        ("s3a://b/d//,s3a://b/", ("s3a://b/d", "s3a://b/")),
        ("s3a://b", ("s3a://b",)),
        ("file:///d/", ("file:///d",)),
    ],
)
def test_inputs_are_ordered_without_duplicates(files: str, found: tuple[str, ...]) -> None:
    """In any spelling; list entries may contain commas."""
    assert input_paths(files) == found


@pytest.mark.parametrize("files", ["", ",", [], [" "], "a/b", "/a,b"])
def test_invalid_inputs_are_rejected(files: str) -> None:
    """An empty input, and relative paths."""
    with pytest.raises(IllegalArgumentException):
        input_paths(files)


@pytest.mark.parametrize(
    "settings", [{"file_pattern": "("}, {"ignore_pattern": "["}, {"scan_interval": -1.0}]
)
def test_invalid_settings_are_rejected(settings: dict[str, str]) -> None:
    """With their name."""
    with pytest.raises(IllegalArgumentException, match=next(iter(settings))):
        TimeBasedDirectoryScanner(MemoryFileSystem(), "/a", **settings)  # type: ignore[arg-type]


def test_system_clock_triggers_scans() -> None:
    """The interval passes without a call."""
    fs = MemoryFileSystem()
    path = write(fs, "/in/f")
    scanner = TimeBasedDirectoryScanner(fs, "/in", scan_interval=0.001)
    found = threading.Event()

    def wait() -> None:
        with scanner._changed:
            scanner._changed.wait_for(lambda: scanner.scans >= 3, DEADLOCK)
        found.set()

    scanner.start()
    try:
        info = None
        while info is None:
            info = scanner.take()
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join()
        assert found.is_set()
        assert info.file_path == path
        assert scanner.scans >= 3
    finally:
        scanner.stop()
    assert not scanner.running


def test_stopping_ends_the_thread_and_starting_again_does_not_bring_it_back() -> None:
    """A scanner can't be restarted."""
    before = threading.active_count()
    scanner = TimeBasedDirectoryScanner(MemoryFileSystem(), "/in", clock=ManualClock())
    scanner.stop()
    scanner.start()
    assert threading.active_count() == before
    other = TimeBasedDirectoryScanner(MemoryFileSystem(), "/in", clock=ManualClock())
    other.start()
    other.start()
    assert threading.active_count() == before + 1
    other.stop()
    other.stop()
    assert threading.active_count() == before


def test_a_scan_waits_when_too_much_waits_for_the_splitter() -> None:
    """And continues when they are taken."""
    fs = MemoryFileSystem()
    paths = [write(fs, f"/in/{number}") for number in range(5)]
    scanner = TimeBasedDirectoryScanner(fs, "/in", clock=ManualClock(), max_waiting=2)
    scanner.start()
    found = []
    for _ in paths:
        scanner.settle()
        assert len(scanner._waiting) <= 2
        info = scanner.take()
        assert info is not None
        found.append(info.file_path)
    scanner.settle()
    assert (found, scanner.take(), scanner.scans) == (paths, None, 1)
    scanner.stop()


def test_an_error_of_the_scan_is_raised_each_time_and_ends_the_thread() -> None:
    """So that no caller misses it."""

    class Broken(MemoryFileSystem):
        def list_status(self, path: str) -> object:  # type: ignore[override]
            raise PathIOException(path, "out of order")

    fs = Broken()
    fs.mkdirs("/in")
    scanner = TimeBasedDirectoryScanner(fs, "/in", clock=ManualClock())
    scanner.start()
    scanner.settle()
    for _ in range(2):
        with pytest.raises(PathIOException, match="out of order"):
            scanner.take()
    scanner.stop()
    assert not scanner.running


def test_references_survive_serialization() -> None:
    """With exact times."""
    references = ReferenceTimes()
    references.set("/in", "/in/f", Reference(1234567890.1234567, 5, "e"))
    references.set("/in", "/in/d", Reference(0.0, 0, None, True))
    again = ReferenceTimes.from_data(references.to_data())
    assert again.get("/in", "/in/f") == Reference(1234567890.1234567, 5, "e")
    assert again.get("/in", "/in/d") == Reference(0.0, 0, None, True)
    assert (len(again), again.get("/", "/in/f")) == (2, None)


@pytest.mark.parametrize(
    "data",
    [None, [], {"a": 1}, {"a": {"b": 1}}, {"a": {"b": [1]}}, {"a": {"b": [0, "1", None, 0]}}],
)
def test_invalid_references_are_rejected(data: object) -> None:
    """With one line."""
    with pytest.raises(IllegalArgumentException, match="invalid reference times"):
        ReferenceTimes.from_data(data)
