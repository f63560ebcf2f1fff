"""Tests of programs on obstore stores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from obstore.fsspec import FsspecStore
from obstore.store import LocalStore, MemoryStore, S3Store

from fscontract import check
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.content import content
from fscontract.contract.program.filesystem_calls import OBSTORE_OPERATIONS
from fscontract.contract.program.outcome import FILL, INEXPRESSIBLE, Kind, Outcome, returned
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.result import RunVerdict, Verdict
from fscontract.contract.targets import UsageError, recognise, resolve_target
from fscontract.fakes.mutants.correct_stores import (
    RightReader,
    RightResult,
    RightStore,
    RightStoreBinding,
    RightStream,
)
from fscontract.implementations.bindings.obstore import ObstoreBinding
from fscontract.implementations.memory import MemoryFileSystem

from .conftest import Calls
from .stores import life_of

BLANK = bytes([FILL])
Made = Callable[[Path], Binding]


def in_memory(_: Path) -> Binding:
    """Return a binding to objects in memory."""
    return ObstoreBinding.from_url("memory://", {})


def local(directory: Path) -> Binding:
    """Return a binding to objects as local files."""
    return ObstoreBinding.from_url(f"file://{directory}", {})


every_store = pytest.mark.parametrize("made", [in_memory, local])


@every_store
def test_operations_map_to_obstore_calls(made: Made, tmp_path: Path, run: Calls) -> None:
    """Those of a reader; get_range and get_ranges of the store."""
    data = content(5)
    outcomes = run(
        made(tmp_path),
        data,
        ("seek", 1),
        ("read_byte",),
        ("get_pos",),
        ("read_into", 4, 1, 2),
        ("py_read", 1),
        ("py_readall",),
        ("pread", 1, 4, 1, 2),
        ("read_vectored", ((3, 2), (0, 1)), "heap", "absent"),
    )
    assert outcomes == [
        returned(None),
        returned(data[1]),
        returned(2),
        returned(2, BLANK + data[2:4] + BLANK),
        returned(data[4:]),
        returned(b""),
        returned(2, BLANK + data[1:3] + BLANK),
        returned((returned(2, data[3:]), returned(1, data[:1]))),
    ]


def test_operations_that_a_reader_lacks_are_inexpressible(tmp_path: Path, run: Calls) -> None:
    """A reader is similar to a Python file, but not one."""
    words = ["py_closed", "py_next", "py_readable", "py_with", "py_writable", "py_write"]
    calls = [*((word,) for word in words), ("py_readinto", "B", 1), ("read_fully", 0, 1, 0, 1)]
    assert run(in_memory(tmp_path), b"abc", *calls) == [INEXPRESSIBLE] * len(calls)


@pytest.mark.parametrize(
    "call",
    [
        ("pread", -1, 1, 0, 1),
        ("pread", 0, None, 0, 1),
        ("read_vectored", None, "heap", "absent"),
        ("read_vectored", ((0, 1), None), "heap", "absent"),
        ("read_vectored", ((0, -1),), "heap", "absent"),
        ("read_vectored", ((0, 1),), "heap", "given"),
    ],
)
def test_arguments_that_obstore_does_not_take_are_inexpressible(
    call: tuple[object, ...], tmp_path: Path, run: Calls
) -> None:
    """Nothing is called."""
    assert run(in_memory(tmp_path), b"abc", call) == [INEXPRESSIBLE]


def test_reads_of_the_store_say_nothing_of_a_closed_reader(tmp_path: Path, run: Calls) -> None:
    """They do not use the reader."""
    vectored = ("read_vectored", ((0, 1),), "heap", "absent")
    outcomes = run(in_memory(tmp_path), b"abc", ("close",), ("pread", 0, 1, 0, 1), vectored)
    assert outcomes == [returned(None), INEXPRESSIBLE, INEXPRESSIBLE]


def test_short_range_is_eof(tmp_path: Path, run: Calls) -> None:
    """As in any vectored read; the others are complete."""
    vectored = ("read_vectored", ((0, 1), (2, 4)), "heap", "absent")
    (outcome,) = run(in_memory(tmp_path), b"abc", vectored)
    assert [part.kind for part in outcome.value] == [Kind.RETURNED, Kind.EOF]


@every_store
def test_files_lie_below_a_prefix_that_is_removed(made: Made, tmp_path: Path) -> None:
    """Nothing remains, not even an empty directory."""
    before, during, after = life_of(made(tmp_path))
    assert (before, len(during), after) == ([], 1, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("at", ["", "a/b"])
def test_a_prefix_lies_below_the_root(at: str, run: Calls) -> None:
    """Of the store, or of a path in it."""
    store = MemoryStore()
    binding = ObstoreBinding(store, "m", at)
    run(binding, b"abc", ("read_byte",))
    paths = [entry["path"] for batch in store.list() for entry in batch]
    assert paths
    assert all(path.startswith(f"{at}/fscontract-".lstrip("/")) for path in paths)


def test_stores_are_recognised_by_type(tmp_path: Path) -> None:
    """Local and remote stores; obstore's fsspec adapter belongs to the fsspec binding."""
    apis = [recognise(store, "x").api for store in (MemoryStore(), LocalStore(tmp_path))]
    assert apis == ["obstore", "obstore"]
    s3 = recognise(S3Store("bkt", region="us-east-1"), "s3")
    assert (s3.api, s3.remote, s3.default_profile) == ("obstore", True, "obstore")
    assert recognise(FsspecStore("file"), "x").api == "fsspec"
    assert ObstoreBinding.recognise(tmp_path, "path") is None


def test_a_store_of_all_local_files_is_used_in_the_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nowhere else."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    binding = recognise(LocalStore(), "all")
    binding.prepare()
    assert len(list(tmp_path.iterdir())) == 1
    binding.dispose()
    assert list(tmp_path.iterdir()) == []


def test_versions_name_obstore(tmp_path: Path) -> None:
    """And Python, for a report."""
    binding = ObstoreBinding.from_url("memory://", {})
    assert set(binding.versions) == {"python", "obstore"}


@pytest.mark.parametrize(
    ("url", "options"),
    [("nosuch://d", {}), ("s3://bkt", {"nosuch": "1", "secret_access_key": "hush-hush"})],
)
def test_open_error_is_one_line_without_secrets(url: str, options: dict[str, str]) -> None:
    """As a TargetError."""
    with pytest.raises(TargetError, match=f"{url}: can't be opened: ") as caught:
        ObstoreBinding.from_url(url, options)
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fixed_file_is_rejected(tmp_path: Path) -> None:
    """As a UsageError."""
    with pytest.raises(UsageError, match="--file and --content"):
        ObstoreBinding.from_url("memory://", {}, file="x", content=tmp_path)


def test_unreachable_server_gives_no_verdict(deaf_port: int) -> None:
    """The outcome is an environment error, or a TargetError if nothing is judged."""
    options = {
        "access_key_id": "a",
        "secret_access_key": "hush-hush",
        "region": "us-east-1",
        "endpoint": f"http://127.0.0.1:{deaf_port}",
        "client_options": '{"allow_http": true}',
        "retry_config": '{"max_retries": 0}',
    }
    binding = ObstoreBinding.from_url("s3://bkt", options)
    with pytest.raises(ConnectionError, match="error sending request"):
        binding.open("a")
    with pytest.raises(TargetError, match=r"can't be written: .*error sending request") as caught:
        binding.prepare()
    assert "hush" not in str(caught.value)


def test_a_store_of_an_old_obstore_is_rejected_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the required version, for a store and for its URL."""
    monkeypatch.delattr("obstore.store.ObjectStoreMethods")
    why = r"\A[^\n]*expected obstore 0\.12 or newer, got \d"
    with pytest.raises(TargetError, match=why):
        recognise(MemoryStore(), "mine")
    with pytest.raises(TargetError, match=why):
        ObstoreBinding.from_url("memory://", {})


def test_an_old_obstore_beside_a_target_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package may load it."""
    monkeypatch.delattr("obstore.store.ObjectStoreMethods")
    assert ObstoreBinding.recognise(object(), "mine") is None
    assert recognise(MemoryFileSystem(), "mine").api == "stream"


class _Own(MemoryStore):
    """A store of one's own."""


class _OwnRanges(MemoryStore):
    """A store that returns a byte more than a range has."""

    def get_range(self, path: str, *, start: int, end: int | None = None, **options: Any) -> Any:
        length = options.get("length")
        return super().get_range(path, start=start, end=(end or start + (length or 0)) + 1)


def test_a_store_of_ones_own_inherits_what_obstore_does_wrong() -> None:
    result = check(
        _Own(), clauses=["read-vectored.zero-length", "seek.negative", "python.seek.closed"]
    )
    assert {c.outcome for c in result.clauses} == {Verdict.INHERITED}


class _EndsEarly(MemoryStore):
    """A store that raises for the last byte of an object."""

    def get_range(self, path: str, *, start: int, end: int | None = None, **options: Any) -> Any:
        if start + 1 == self.head(path)["size"]:
            raise ValueError("this range starts after the end")
        return super().get_range(path, start=start, end=end, **options)


@pytest.mark.parametrize("clause", ["pread.eof", "pread.zero"])
def test_documented_errors_of_get_range_are_the_end(clause: str) -> None:
    """Its documentation asks for an error of what Hadoop's positioned read returns."""
    assert check(MemoryStore(), clauses=[clause]).verdict is RunVerdict.CONFORMS


def test_other_errors_of_get_range_are_failures() -> None:
    result = check(_EndsEarly(), clauses=["pread.data", "pread.eof"])
    assert [c.outcome for c in result.clauses] == [Verdict.FAIL, Verdict.PASS]


def test_a_store_of_ones_own_does_not_inherit_what_its_methods_do_wrong() -> None:
    result = check(_OwnRanges(), clauses=["store.get-range.range", "pread.count"])
    assert {c.outcome for c in result.clauses} == {Verdict.FAIL}


def test_a_store_of_obstore_inherits_nothing() -> None:
    assert ObstoreBinding(MemoryStore(), "theirs").sources("missing") == {}


_DATA = b"abcdef"
_WAITS = pytest.mark.parametrize("waits", ["sync", "async"])


def _run(op: str, *args: Any) -> Outcome:
    binding = RightStoreBinding(RightStore(), "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))


@_WAITS
@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("ob_get", None, None), _DATA),
        (("ob_get", 2, None), b"cdef"),
        (("ob_get", 1, 3), b"bc"),
        (("ob_get_suffix", 2), b"ef"),
        (("ob_get_result", 1, 3, "range"), (1, 3)),
        (("ob_get_result", 1, 3, "size"), 6),
        (("ob_stream", 4), _DATA),
        (("ob_get_range", 1, 3, "length"), b"bc"),
        (("ob_get_ranges", (3, 0), (4, 2), "length"), (b"d", b"ab")),
        (("ob_get_ranges", (3, 0), (4, 2), "apart"), (b"d", b"ab")),
        (("ob_head",), 6),
        (("ob_reader", 2, 3), b"cde"),
        (("ob_reader", 2, None), b"cdef"),
        (("ob_reader_size",), 6),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) and value else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any, waits: str) -> None:
    outcome = _run(*call, waits)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


@_WAITS
@pytest.mark.parametrize("method", ["get", "head", "get_range", "open_reader"])
def test_missing_object_is_an_outcome(method: str, waits: str) -> None:
    assert _run("ob_missing", method, waits).kind is Kind.NOT_FOUND


def test_short_chunk_before_the_last_one_is_wrong() -> None:
    class Halves(RightResult):
        def stream(self, min_chunk_size: int) -> RightStream:
            return super().stream(max(min_chunk_size // 2, 1))

    binding = RightStoreBinding(RightStore(result_class=Halves), "mine")
    binding.prepare()
    opened = binding.open(binding.create(_DATA))
    outcome = binding.bind(Step("ob_stream", (4, "sync")))(opened)
    assert "expected chunks of 4 bytes, got [2, 2, 2]" in outcome.detail


@pytest.mark.parametrize("target", ["right", "obstore+memory:///"])
def test_right_store_and_that_of_memory_satisfy_every_clause(target: str) -> None:
    binding: Any = RightStoreBinding(RightStore(), "mine")
    binding = binding if target == "right" else resolve_target(target, {})
    result = check(binding, clauses=["obstore-store"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_reader_that_returns_single_bytes_satisfies_the_clauses() -> None:
    class Short(RightReader):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size, 1) if size is not None and size > 0 else size)

    binding = RightStoreBinding(RightStore(reader_class=Short), "mine")
    result = check(binding, clauses=["store.reader"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_every_program_is_spelled_as_a_call_of_the_store() -> None:
    binding = RightStoreBinding(RightStore(), "mine")
    for program in programs(frozenset(OBSTORE_OPERATIONS)):
        text = binding.spell(resolve_program(program, program.length, 4096))
        assert "store." in text
        assert "@" not in text
        assert ("await " in text) == (program.steps[0].args[-1] == "async")
