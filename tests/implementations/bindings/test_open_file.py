"""Tests of opens on this package's filesystems, step by step."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FileStatus, LocatedFileStatus
from fscontract.contract.api.iostatistics import METERS, meter
from fscontract.contract.binding import Binding, NoScene, TargetError
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.open_calls import MISNAMED, SCENES, STATUSES
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.open_file import FOREIGN, StreamOpener
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.targets import local, memory

DATA = content(50)


@pytest.fixture(params=["memory", "local"])
def binding(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[StreamBinding]:
    """Each reference target, prepared."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = memory({}) if request.param == "memory" else local({})
    assert isinstance(made, StreamBinding)
    made.prepare()
    yield made
    made.dispose()


def opener_of(binding: Binding) -> StreamOpener:
    """Return the binding's opener, a StreamOpener."""
    assert isinstance(binding.opener, StreamOpener)
    return binding.opener


@pytest.fixture
def opener(binding: StreamBinding) -> StreamOpener:
    """The target's opener."""
    return opener_of(binding)


def read(binding: StreamBinding, opened: Any) -> bytes:
    """Return all bytes of an opened stream."""
    data = binding.bind(Step("py_read", (-1,)))(opened).value
    assert isinstance(data, bytes)
    return data


def failed(opener: StreamOpener, path: str) -> Exception:
    """Return the exception of a path's future."""
    future = opener.build(opener.open_file(path))
    with pytest.raises((OSError, ValueError)) as caught:
        opener.get(future)
    return caught.value


def test_all_scenes_and_statuses_are_available(opener: StreamOpener) -> None:
    """Scenes and statuses of all kinds, unless a scene is not available."""
    assert (opener.scenes, opener.statuses) == (frozenset(SCENES), frozenset(STATUSES))


def test_a_file_opens_as_the_binding_opens_it(binding: StreamBinding, opener: StreamOpener) -> None:
    """The steps of a program work on it."""
    opened = opener.get(opener.build(opener.open_file(opener.place("file", DATA))))
    assert type(opened) is type(binding.open(binding.create(b"")))
    assert read(binding, opened) == DATA


def test_late_file_can_appear(binding: StreamBinding, opener: StreamOpener) -> None:
    """Nothing exists before, and nothing else at that path."""
    path = opener.place("late", DATA)
    assert isinstance(failed(opener, path), FileNotFoundException)
    opener.appear(path, DATA)
    assert read(binding, binding.open(path)) == DATA
    opener.appear(path, b"more")
    assert read(binding, binding.open(path)) == b"more"
    assert binding.create(b"") != path


@pytest.mark.parametrize(
    ("scene", "error"),
    [
        ("missing", FileNotFoundException),
        ("directory", FileNotFoundException),
        ("foreign", IllegalArgumentException),
    ],
)
def test_a_scene_of_no_file_fails_as_it_should(
    opener: StreamOpener, scene: str, error: type[Exception]
) -> None:
    """Twice, at different paths."""
    paths = [opener.place(scene, DATA) for _ in range(2)]
    assert paths[0] != paths[1]
    assert all(type(failed(opener, path)) is error for path in paths)


def test_the_file_below_a_foreign_path_exists(binding: StreamBinding, opener: StreamOpener) -> None:
    """A filesystem that ignores the scheme would read it."""
    path = opener.place("foreign", DATA)
    assert read(binding, binding.open(path.removeprefix(FOREIGN))) == DATA


def test_a_file_in_memory_can_be_unreadable() -> None:
    """For any user."""
    binding = memory({})
    binding.prepare()
    opener = opener_of(binding)
    assert isinstance(failed(opener, opener.place("unreadable", DATA)), AccessControlException)
    assert "unreadable" in opener.scenes


@pytest.mark.parametrize("error", [UnsupportedOperationException("none"), OSError("no"), None])
def test_unreadable_scene_is_unavailable_if_all_is_readable(error: Exception | None) -> None:
    """For root, and without permissions; the scene is not tried again."""

    class Open(MemoryFileSystem):
        def set_permission(self, path: str, mode: int) -> None:
            if error is not None:
                raise error

    binding = StreamBinding(Open(), "open")
    binding.prepare()
    with pytest.raises(NoScene):
        opener_of(binding).place("unreadable", DATA)
    assert opener_of(binding).scenes == frozenset(SCENES) - {"unreadable"}


def test_failed_mkdirs_gives_no_verdict() -> None:
    """A failed write of the suite is not the builder's fault."""

    class Full(MemoryFileSystem):
        def mkdirs(self, path: str) -> None:
            raise OSError("full")

    with pytest.raises(TargetError, match=r"\Afull: can't create a directory: OSError: full\Z"):
        opener_of(StreamBinding(Full(), "full")).place("directory", DATA)


@pytest.mark.parametrize("kind", sorted({*STATUSES} - MISNAMED - {"none"}))
def test_a_status_of_the_same_name_opens_the_file(
    binding: StreamBinding, opener: StreamOpener, kind: str
) -> None:
    """Of any class, parents and scheme; with the given length."""
    path = binding.create(DATA)
    for length, end in ((None, 50), (7, 7)):
        status: Any = opener.status(path, kind, length)
        assert status.length == end
        builder = opener.call(opener.open_file(path), ("with_file_status", status))
        assert read(binding, opener.get(opener.build(builder))) == DATA[:end]


def test_kinds_of_statuses_differ_as_they_say(binding: StreamBinding, opener: StreamOpener) -> None:
    """In path or class, and in nothing else."""
    path = binding.create(DATA)
    name = path.rpartition("/")[2]
    made: dict[str, Any] = {kind: opener.status(path, kind, None) for kind in STATUSES}
    own = binding.filesystem.get_file_status(path)
    assert made.pop("none") is None
    assert made["own"] == made["stale"] == own
    assert made["scheme"].path == FOREIGN + path
    assert made["parents"].path.endswith(f"/{name}")
    assert made["parents"].path != path
    assert isinstance(made["located"], LocatedFileStatus)
    assert made["located"].block_locations[0].length == 50
    assert type(made["subclass"]) is type(made["name-subclass"]) is not FileStatus
    assert made["name"].path.rpartition("/")[2] != name
    assert {status.length for status in made.values()} == {50}
    assert {status.etag for status in made.values()} == {own.etag}


def test_another_name_leads_to_other_bytes(binding: StreamBinding, opener: StreamOpener) -> None:
    """So that opening the path of the status is detected."""
    path = binding.create(DATA)
    for kind in MISNAMED:
        status = opener.status(path, kind, 7)
        assert status is not None
        assert read(binding, binding.open(status.path)) == replacement(DATA)


@pytest.mark.parametrize("scene", ["missing", "late", "foreign"])
def test_status_of_a_missing_file_has_no_length(opener: StreamOpener, scene: str) -> None:
    """Except a given one."""
    path = opener.place(scene, DATA)
    for kind in sorted({*STATUSES} - {"none"}):
        status, given = opener.status(path, kind, None), opener.status(path, kind, 3)
        assert status is not None
        assert given is not None
        assert (status.length, given.length, status.is_directory) == (-1, 3, False)


def test_stale_status_is_detected(binding: StreamBinding, opener: StreamOpener) -> None:
    """Even immediately after the change, and after earlier changes."""
    for _ in range(20):
        path = binding.create(DATA)
        statuses = []
        for turn in range(3):
            statuses.append(opener.status(path, "stale", None))
            binding.change(path, replacement(DATA) if turn % 2 else DATA)
        for status in statuses:
            builder = opener.call(opener.open_file(path), ("with_file_status", status))
            with pytest.raises(RemoteFileChangedException):
                opener.get(opener.build(builder))


def test_errors_have_their_kinds(opener: StreamOpener) -> None:
    """As for streams."""
    assert opener.outcome(FileNotFoundException("/a", "gone")).kind is Kind.NOT_FOUND
    assert opener.outcome(AccessControlException("/a", "no")).kind is Kind.IO
    assert opener.outcome(IllegalArgumentException("no")).kind is Kind.ILLEGAL_ARGUMENT


def differences(
    opener: StreamOpener, path: str, use: Callable[[Any], object]
) -> dict[str, int | None]:
    """Return the increments of each counter by an open and its use."""
    before = opener.counters(None)
    opened = opener.get(opener.build(opener.open_file(path)))
    use(opened)
    after = opener.counters(opened)
    return {name: (meter(name, after) or 0) - (meter(name, before) or 0) for name in METERS}


def test_counters_are_those_of_one_stream_and_of_the_filesystem(
    binding: StreamBinding, opener: StreamOpener
) -> None:
    """Without reads of other streams, but with status requests for paths."""
    path = binding.create(DATA)
    for _ in range(2):
        binding.open(path).stream.read_fully(0, bytearray(5))
        binding.status_length(path)
    real = binding.name == "local"
    got = differences(opener, path, lambda opened: opened.stream.read_fully(0, bytearray(9)))
    costs = {"opens": real, "held": real, "requests": real}
    assert got == {"probes": 0, "bytes": 9, "returned": 9, **costs}
    looked = differences(opener, path, lambda opened: binding.status_length(path))
    assert looked == {"probes": 1, "opens": real, "held": real} | dict.fromkeys(
        ("requests", "bytes", "returned"), 0
    )


def test_streams_that_count_nothing_leave_meters_unread(binding: StreamBinding) -> None:
    """The filesystem's sums do not replace them."""

    class Silent:
        def io_statistics(self) -> dict[str, int]:
            return {}

    opened: Any = type("Opened", (), {"stream": Silent()})
    counts = opener_of(binding).counters(opened)
    assert {name for name in METERS if meter(name, counts) is not None} == {"probes"}


@pytest.mark.parametrize("kind", sorted(MISNAMED))
def test_status_with_an_implausible_length_is_no_scene(kind: str) -> None:
    """No file of that size is written."""

    class Boasting(MemoryFileSystem):
        def get_file_status(self, path: str) -> FileStatus:
            return FileStatus(path, 2**60)

    binding = StreamBinding(Boasting(), "boasting")
    binding.prepare()
    with pytest.raises(NoScene, match=f"{2**60} bytes"):
        opener_of(binding).status(binding.create(DATA), kind, None)


@pytest.mark.parametrize("found", [None, "status", FileStatus("/a", "50")])  # type: ignore[arg-type]
def test_invalid_status_counts_as_none(found: Any) -> None:
    """A status of unknown length replaces it."""

    class Odd(MemoryFileSystem):
        def get_file_status(self, path: str) -> FileStatus:
            return found  # type: ignore[no-any-return]

    binding = StreamBinding(Odd(), "odd")
    binding.prepare()
    path = binding.create(DATA)
    assert opener_of(binding).status(path, "own", None) == FileStatus(path, -1)
