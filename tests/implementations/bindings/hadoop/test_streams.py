"""Tests of programs as calls of Hadoop's streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.operations import STREAM_OPERATIONS
from fscontract.implementations.jvm.bridge import java_filesystem
from fscontract.implementations.memory import MemoryFileSystem

from .conftest import Make

DATA = bytes(range(100, 120))
Shown = Callable[..., list[str]]


@pytest.fixture
def ours(java: Callable[[str], Any]) -> Iterator[HadoopBinding]:
    """A Java FileSystem over the in-memory filesystem, which has all operations."""
    made = java_filesystem(MemoryFileSystem())
    binding = HadoopBinding.recognise(made, "ours")
    assert isinstance(binding, HadoopBinding)
    binding.prepare()
    yield binding
    binding.dispose()
    made.close()


@pytest.mark.parametrize("scheme", ["raw", "file", "viewfs", "har"])
@pytest.mark.parametrize("api", ["filesystem", "filecontext"])
def test_every_filesystem_reads_what_was_written(
    scheme: str, api: str, make: Make, shown: Shown
) -> None:
    """Through FileSystem and FileContext, at the stream's position and at others."""
    binding = make(scheme, api=api)
    calls = (("read_byte",), ("read_into", 4, 1, 2), ("get_pos",), ("seek", 18), ("read_byte",))
    assert shown(binding, DATA, *calls, ("pread", 18, 4, 0, 4)) == snapshot(
        [
            "returned 100",
            "returned 2, buffer 01 65 66 01",
            "returned 3",
            "returned",
            "returned 118",
            "returned 2, buffer 76 77 01 01",
        ]
    )
    assert (binding.api, binding.default_profile) == ("hadoop", PROFILES[scheme])
    assert binding.status_length(binding.create(DATA)) == 20


PROFILES = {
    "raw": "hadoop-raw",
    "file": "hadoop-local",
    "viewfs": "hadoop-viewfs",
    "har": "hadoop-har",
}


def test_numbers_and_booleans_are_python_objects(make: Make) -> None:
    """A Java number would count as a foreign object."""
    binding = make("raw")
    opened = binding.open(binding.create(DATA))
    for op, args, kind in (
        ("read_byte", (), int),
        ("get_pos", (), int),
        ("has_capability", ("in:readvectored",), bool),
        ("skip", (1,), int),
        ("pread", (0, 1, 0, 1), int),
        ("seek", (0,), type(None)),
    ):
        assert type(binding.bind(Step(op, args))(opened).value) is kind, op
    binding.bind(Step("close"))(opened)


def test_a_null_is_null_in_java(make: Make, shown: Shown) -> None:
    """Buffers, lists, allocators; each selects the method with an argument of its type."""
    calls = (
        ("read_into", None, 0, 1),
        ("pread", 0, None, 0, 1),
        ("read_fully_all", 0, None),
        ("read_buffer", None, 0, None),
        ("pread_buffer", 0, None, 0, None),
        ("read_vectored", None, "heap", "absent"),
        ("read_vectored", ((0, 1),), "null", "absent"),
        ("read_vectored", ((0, 1),), "heap", "null"),
        ("read_vectored", (None,), "view", "given"),
    )
    kinds = [said.partition(" ")[0] for said in shown(make("raw"), DATA, *calls)]
    assert kinds == ["NULL", "ILLEGAL_ARGUMENT", "NULL", *["UNSUPPORTED"] * 2, *["NULL"] * 4]


@pytest.mark.parametrize("allocate", ["heap", "view"])
@pytest.mark.parametrize("release", ["given", "absent"])
def test_a_vectored_read_gives_each_range(
    allocate: str, release: str, make: Make, shown: Shown
) -> None:
    """A failed range fails individually, as on raw."""
    ranges = ((1, 2), (10, 3), (19, 5))
    assert shown(make("raw"), DATA, ("read_vectored", ranges, allocate, release))[0].startswith(
        "returned [returned 2, buffer 65 66, returned 3, buffer 6e 6f 70, EOF (EOFException"
    )


@pytest.mark.parametrize(
    "call",
    [
        ("seek", 2**63),
        ("pread", 0, 4, 0, 2**31),
        ("read_into", 4, -(2**31) - 1, 0),
        ("skip", -(2**63) - 1),
        ("read_vectored", ((0, 2**31),), "heap", "absent"),
    ],
)
def test_number_beyond_java_type_is_inexpressible(
    call: tuple[object, ...], make: Make, shown: Shown
) -> None:
    """It is neither truncated nor rejected by the binding."""
    assert shown(make("raw"), DATA, call) == ["INEXPRESSIBLE"]


def test_python_file_operations_are_inexpressible(make: Make, shown: Shown) -> None:
    """Java can't express them."""
    binding = make("raw")
    assert binding.operations == STREAM_OPERATIONS
    assert shown(binding, DATA, ("py_read", 3)) == ["INEXPRESSIBLE"]


def test_byte_buffers_are_filled_where_the_stream_can(ours: HadoopBinding, shown: Shown) -> None:
    """The result has the buffer's position and limit, and all its bytes."""
    assert shown(
        ours,
        DATA,
        ("read_buffer", 6, 1, 4),
        ("pread_buffer", 18, 4, 0, None),
        ("read_fully_buffer", 3, 2, 0, None),
        ("read_buffer", 4, 5, None),
    ) == snapshot(
        [
            "returned [3, 4, 4], buffer 01 64 65 66 01 01",
            "returned [2, 2, 4], buffer 76 77 01 01",
            "returned [None, 2, 2], buffer 67 68",
            "INEXPRESSIBLE",
        ]
    )


def test_a_file_context_that_a_callable_returns_is_taken(java: Callable[[str], Any]) -> None:
    """A FileSystem of the same location writes its files, and is closed at the end."""
    uri = java("java.net.URI").create("file:///")
    context = java("org.apache.hadoop.fs.FileContext").getFileContext(uri)
    binding = HadoopBinding.recognise(context, "context")
    assert isinstance(binding, HadoopBinding)
    binding.prepare()
    opened = binding.open(binding.create(b"abc"))
    assert str(binding.bind(Step("read_byte"))(opened)) == "returned 97"
    binding.bind(Step("close"))(opened)
    prefix = binding.prefix
    assert prefix in binding.leftovers()
    binding.dispose()
    assert prefix not in binding.leftovers()


def test_a_java_filesystem_that_a_callable_returns_is_taken(ours: HadoopBinding) -> None:
    """Its files are written through it; other objects are left to other bindings."""
    path = ours.create(DATA)
    assert ours.status_length(path) == 20
    assert ours.remote
    ours.change(path, b"abc")
    assert ours.status_length(path) == 3
    assert [ours.prefix] == ours.leftovers()
    assert HadoopBinding.recognise(object(), "x") is None


def test_a_report_shows_the_versions(make: Make) -> None:
    """In particular those of Hadoop and Java."""
    versions = make("raw").versions
    assert versions["hadoop"].startswith("3.")
    assert int(versions["java"].partition(".")[0]) >= 17


def test_a_file_changes_under_its_stream(make: Make) -> None:
    """In place, as when another program writes to it."""
    binding = make("raw")
    path = binding.create(DATA)
    opened = binding.open(path)
    binding.change(path, b"\x05" * 30)
    said = binding.bind(Step("read_into", (30, 0, 30)))(opened)
    assert (said.value, said.buffer) == (30, b"\x05" * 30)
    binding.bind(Step("close"))(opened)


@pytest.mark.parametrize("scheme", ["raw", "file", "viewfs"])
def test_a_changed_file_is_read_and_a_deleted_one_is_gone(scheme: str, make: Make) -> None:
    """Later opens use the checksums of the new bytes."""
    binding = make(scheme)
    path = binding.create(DATA)
    binding.change(path, b"\x05" * 1030)
    opened = binding.open(path)
    said = binding.bind(Step("read_fully_all", (0, 1030)))(opened)
    assert said.buffer == b"\x05" * 1030
    binding.bind(Step("close"))(opened)
    binding.change(path, None)
    with pytest.raises(OSError, match="FileNotFoundException"):
        binding.open(path)
