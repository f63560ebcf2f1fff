"""Tests of opening files through Hadoop's builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.binding import NoScene
from fscontract.contract.program.open_calls import SCENES, STATUSES
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.contract.targets import recognise
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.jvm.bridge import java_filesystem
from fscontract.implementations.memory import MemoryFileSystem

from .conftest import Make

DATA = bytes(range(100, 120))
LENGTH = "fs.option.openfile.length"
SCHEMES = ("raw", "file", "viewfs", "har")


def _open(binding: HadoopBinding, path: str, *calls: tuple[object, ...]) -> Any:
    opener = binding.opener
    builder = opener.open_file(path)
    for call in calls:
        builder = opener.call(builder, opener.ready(path, call))
    return opener.get(opener.build(builder))


def _first(binding: HadoopBinding, path: str, *calls: tuple[object, ...]) -> str:
    """Return the first byte of the opened file, or the error."""
    try:
        opened = _open(binding, path, *calls)
    except Exception as error:
        return str(binding.opener.outcome(error))
    said = binding.bind(Step("read_byte"))(opened)
    binding.bind(Step("close"))(opened)
    return str(said)


@pytest.mark.parametrize(
    "call",
    [
        ("opt", LENGTH, 20),
        ("opt", LENGTH, 2**40),
        ("opt", "fs.x.y", True),
        ("must", LENGTH, "20"),
        ("opt_long", LENGTH, 2**63 - 1),
        ("must_long", LENGTH, 20),
        ("opt_double", LENGTH, float("nan")),
        ("must_double", LENGTH, 20.5),
        ("buffer_size", 16),
    ],
)
def test_every_method_of_the_builder_is_called(call: tuple[object, ...], make: Make) -> None:
    """With the Java type of the value."""
    binding = make("raw")
    assert _first(binding, binding.create(DATA), call) == "returned 100"


@pytest.mark.parametrize("call", [("must", "fs.x.y", 3), ("must_double", "fs.x.z", 0.5)])
def test_an_unknown_mandatory_key_ends_in_build(call: tuple[object, ...], make: Make) -> None:
    """It returns no future then."""
    binding = make("file")
    path = binding.create(DATA)
    builder = binding.opener.open_file(path)
    builder = binding.opener.call(builder, binding.opener.ready(path, call))
    with pytest.raises(Exception, match="Unknown mandatory key") as caught:
        binding.opener.build(builder)
    assert binding.opener.outcome(caught.value).kind is Kind.ILLEGAL_ARGUMENT


def test_a_null_value_reaches_java(make: Make) -> None:
    """As a String; a null key, too."""
    binding = make("raw")
    path = binding.create(DATA)
    for call in (("opt", "fs.x.y", None), ("must", None, "x")):
        assert _first(binding, path, call).startswith("ILLEGAL_ARGUMENT")


@pytest.mark.parametrize(
    "call",
    [
        ("buffer_size", 2**31),
        ("opt_long", LENGTH, 2**63),
        ("opt", LENGTH, -(2**63) - 1),
        ("with_file_status", "own", 2**63),
    ],
)
def test_number_beyond_java_type_is_no_scene(call: tuple[object, ...], make: Make) -> None:
    """The program is not run."""
    binding = make("raw")
    path = binding.create(DATA)
    with pytest.raises(NoScene):
        binding.opener.ready(path, call)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("scene", ["missing", "directory", "foreign"])
def test_missing_file_fails_in_the_future(scheme: str, scene: str, make: Make) -> None:
    """The cause of the future's exception counts. An archive accepts a foreign path."""
    binding = make(scheme)
    opener = binding.opener
    future = opener.build(opener.open_file(opener.place(scene, DATA)))
    if (scheme, scene) == ("har", "foreign"):
        binding.bind(Step("close"))(opener.get(future))
        return
    with pytest.raises(Exception, match="Exception") as caught:
        opener.get(future)
    meant = Kind.ILLEGAL_ARGUMENT if scene == "foreign" else Kind.NOT_FOUND
    assert opener.outcome(caught.value).kind is meant


@pytest.mark.parametrize("scheme", ["raw", "file", "viewfs"])
def test_a_file_may_appear_before_build(scheme: str, make: Make) -> None:
    """The path was empty when the builder was created."""
    binding = make(scheme)
    opener = binding.opener
    path = opener.place("late", DATA)
    builder = opener.open_file(path)
    opener.appear(path, DATA)
    opened = opener.get(opener.build(builder))
    assert binding.bind(Step("read_byte"))(opened).value == 100
    binding.bind(Step("close"))(opened)


def test_unreadable_file_or_no_scene(make: Make) -> None:
    """A process that can read everything, such as root, can't have one."""
    binding = make("raw")
    try:
        path = binding.opener.place("unreadable", DATA)
    except NoScene:
        assert "unreadable" not in binding.opener.scenes
    else:
        assert _first(binding, path).startswith("IO")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_status_of_each_kind_reaches_the_builder(scheme: str, make: Make) -> None:
    """None of these filesystems uses a status."""
    binding = make(scheme)
    path = binding.create(DATA)
    for kind in sorted(binding.opener.statuses):
        assert _first(binding, path, ("with_file_status", kind, None)) == "returned 100", kind


def test_statuses_match_their_kind(make: Make) -> None:
    """Path, class and length match the kind."""
    binding = make("raw")
    path = binding.create(DATA)
    name = path.rpartition("/")[2]

    def status(kind: str, length: int | None = None) -> Any:
        return binding.opener.status(path, kind, length)

    paths = {kind: str(status(kind).getPath()) for kind in STATUSES if kind != "none"}
    assert paths["own"] == paths["stale"] == paths["subclass"] == paths["located"] == f"file:{path}"
    assert paths["parents"] == f"file:/other/parents/{name}"
    assert paths["scheme"] == f"gopher://localhost{path}"
    assert paths["name"] == paths["name-subclass"]
    assert paths["name"].endswith(f"/other-{name}")
    assert "hdfs" in type(status("subclass")).__name__
    assert type(status("located")).__name__.endswith(".LocatedFileStatus")
    assert [int(status(kind, 7).getLen()) for kind in ("own", "located", "subclass")] == [7] * 3
    assert int(status("own").getLen()) == 20


def test_status_with_another_path_has_other_bytes_there(make: Make) -> None:
    """So that a stream that followed it would be detected."""
    for scheme in ("raw", "har"):
        binding = make(scheme)
        path = binding.create(DATA)
        other = str(binding.opener.status(path, "name", None).getPath().toUri().getPath())
        assert _first(binding, other) not in ("returned 100", "returned -1")


def test_archive_is_immutable(make: Make) -> None:
    """No file appears or changes in it."""
    binding = make("har")
    assert set(SCENES) - binding.opener.scenes == {"late", "unreadable"}
    assert set(STATUSES) - binding.opener.statuses == {"stale"}
    assert binding.changes == frozenset()


def test_statistics_of_a_stream_are_its_own(make: Make) -> None:
    """With Hadoop's names; those of other streams are not included."""
    binding = make("raw")
    path = binding.create(DATA)
    first, second = _open(binding, path), _open(binding, path)
    binding.bind(Step("read_byte"))(first)
    counts = [binding.opener.counters(o).get("stream_read_bytes") for o in (None, first, second)]
    assert counts == [None, 20, 0]
    for opened in (first, second):
        binding.bind(Step("close"))(opened)


def test_a_filesystem_that_refuses_permissions_has_no_unreadable_file(
    java: Callable[[str], Any],
) -> None:
    """Its file remains readable, which is not the builder's fault."""
    filesystem = java_filesystem(_NoPermissions())
    binding = recognise(filesystem, "mine")
    binding.prepare()
    assert binding.opener is not None
    with pytest.raises(NoScene, match="UnsupportedOperationException"):
        binding.opener.place("unreadable", DATA)
    assert "unreadable" not in binding.opener.scenes
    binding.dispose()
    filesystem.close()


class _NoPermissions(MemoryFileSystem):
    def set_permission(self, path: str, mode: int) -> None:
        raise UnsupportedOperationException("no permissions")
