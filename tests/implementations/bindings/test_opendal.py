"""Tests of programs on OpenDAL operators, and on files that a callable opens in a store."""

from __future__ import annotations

import io
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import opendal
import pytest
from obstore.store import MemoryStore

from fscontract import check
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.content import content
from fscontract.contract.program.filesystem_calls import OPENDAL_OPERATIONS
from fscontract.contract.program.outcome import FILL, INEXPRESSIBLE, Kind, Outcome, returned
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.result import Verdict
from fscontract.contract.targets import UsageError, recognise, resolve_target
from fscontract.fakes.mutants.correct_stores import RightOperator, RightOperatorFile
from fscontract.implementations.bindings.object_stores import OpenedFileBinding
from fscontract.implementations.bindings.obstore import ObstoreStore
from fscontract.implementations.bindings.opendal import OpendalBinding, OpendalStore

from .conftest import Calls
from .stores import life_of

BLANK = bytes([FILL])
Made = Callable[[Path], Binding]


def in_memory(_: Path) -> Binding:
    """Return a binding to files in memory."""
    return OpendalBinding.from_url("memory://", {})


def local(directory: Path) -> Binding:
    """Return a binding to local files."""
    return OpendalBinding.from_url(f"file://{directory}", {})


def through_obstore(_: Path) -> Binding:
    """Return a binding to BytesIO objects with the content of an obstore memory store."""
    store = MemoryStore()
    return OpenedFileBinding(
        lambda path: io.BytesIO(bytes(store.get(path).bytes())), ObstoreStore(store), "files"
    )


every_target = pytest.mark.parametrize("made", [in_memory, local, through_obstore])


@every_target
def test_operations_map_to_file_calls(made: Made, tmp_path: Path, run: Calls) -> None:
    """Those of a stream and of a Python file."""
    data = content(5)
    outcomes = run(
        made(tmp_path),
        data,
        ("seek", 1),
        ("read_byte",),
        ("get_pos",),
        ("read_into", 4, 1, 2),
        ("py_read", 1),
        ("py_closed",),
    )
    assert outcomes == [
        returned(None),
        returned(data[1]),
        returned(2),
        returned(2, BLANK + data[2:4] + BLANK),
        returned(data[4:]),
        returned(False),
    ]


def test_positioned_reads_are_those_of_the_operator(tmp_path: Path, run: Calls) -> None:
    """They do not detect a closed file, or a negative position."""
    outcomes = run(
        in_memory(tmp_path),
        b"abcde",
        ("pread", 1, 4, 1, 2),
        ("pread", -1, 4, 0, 2),
        ("read_fully", 0, 1, 0, 1),
        ("py_with",),
        ("pread", 1, 4, 1, 2),
    )
    inexpressible = INEXPRESSIBLE
    assert outcomes[0] == returned(2, BLANK + b"bc" + BLANK)
    assert [outcomes[1], outcomes[2], outcomes[4]] == [inexpressible] * 3


@every_target
def test_files_lie_below_a_directory_that_is_removed(made: Made, tmp_path: Path) -> None:
    """Nothing remains."""
    before, during, after = life_of(made(tmp_path))
    assert (before, len(during), after) == ([], 1, [])
    assert list(tmp_path.iterdir()) == []


def test_error_of_a_listing_does_not_hold_its_lister() -> None:
    """A lister must be dropped on the thread that made it; errors are passed on to others."""

    class Lister(map):  # type: ignore[type-arg]  # map has no [] at run time
        pass

    class Operator:
        def list(self, path: str) -> Lister:
            lister = Lister(int, ["no number"])
            made.append(weakref.ref(lister))
            return lister

    made: list[weakref.ref[Lister]] = []
    with pytest.raises(ValueError, match="no number") as held:
        OpendalStore(Operator()).directories()
    assert held.traceback
    assert [lister() for lister in made] == [None]


def test_operators_are_recognised_by_type(tmp_path: Path) -> None:
    """For any service."""
    memory = recognise(opendal.Operator("memory"), "m")
    assert (memory.api, memory.remote, memory.default_profile) == ("opendal", False, "opendal")
    s3 = opendal.Operator("s3", bucket="bkt", region="us-east-1")
    assert recognise(s3.layer(opendal.layers.RetryLayer()), "s3").remote
    assert OpendalBinding.recognise(tmp_path, "path") is None


def test_opened_file_has_the_declared_operations(run: Calls) -> None:
    """The others are inexpressible."""
    store = MemoryStore()
    words = frozenset({"read_byte", "close"})
    binding = OpenedFileBinding(
        lambda path: io.BytesIO(bytes(store.get(path).bytes())),
        ObstoreStore(store),
        "files",
        ("obstore", "nosuch"),
        words,
    )
    assert run(binding, b"a", ("seek", 0), ("read_byte",)) == [INEXPRESSIBLE, returned(97)]
    assert (binding.remote, set(binding.versions)) == (True, {"python", "obstore"})


def test_versions_name_opendal(tmp_path: Path) -> None:
    """And Python, for a report."""
    assert set(OpendalBinding.from_url("memory://", {}).versions) == {"python", "opendal"}


@pytest.mark.parametrize("url", ["nosuch://d", "s3://"])
def test_open_error_is_one_line_without_secrets(url: str) -> None:
    """As a TargetError."""
    with pytest.raises(TargetError, match=f"{url}: can't be opened: ") as caught:
        OpendalBinding.from_url(url, {"secret_access_key": "hush-hush", "flag": "true"})
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fixed_file_is_rejected(tmp_path: Path) -> None:
    """As a UsageError."""
    with pytest.raises(UsageError, match="--file and --content"):
        OpendalBinding.from_url("memory://", {}, file="x", content=tmp_path)


def test_unreachable_server_gives_no_verdict(deaf_port: int) -> None:
    """The outcome is an environment error, or a TargetError if nothing is judged."""
    options = {
        "access_key_id": "a",
        "secret_access_key": "hush-hush",
        "region": "us-east-1",
        "endpoint": f"http://127.0.0.1:{deaf_port}",
    }
    binding = OpendalBinding.from_url("s3://bkt", options)
    opened = binding.open("a")
    for step in (Step("read_byte"), Step("pread", (0, 1, 0, 1))):
        assert binding.bind(step)(opened).kind is Kind.ENVIRONMENT
    with pytest.raises(TargetError, match=r"can't be written: .*send http request") as caught:
        binding.prepare()
    assert "hush" not in str(caught.value)


_DATA = b"abcdef"
_WAITS = pytest.mark.parametrize("waits", ["sync", "async"])


def _run(op: str, *args: Any) -> Outcome:
    binding = OpendalBinding(RightOperator(), "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))


@_WAITS
@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("od_read", None, None), _DATA),
        (("od_read", 2, 3), b"cde"),
        (("od_file", 2, 3), b"cde"),
        (("od_file", 2, None), b"cdef"),
        (("od_seek", 4), 4),
        (("od_stat",), 6),
        (("od_exists", "file"), True),
        (("od_exists", "missing"), False),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any, waits: str) -> None:
    outcome = _run(*call, waits)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


def test_missing_file_is_an_outcome() -> None:
    assert _run("od_missing", "sync").kind is Kind.NOT_FOUND


def test_right_operator_satisfies_every_clause() -> None:
    result = check(OpendalBinding(RightOperator(), "mine"), clauses=["opendal-operator"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_operator_in_memory_misses_one_recommendation() -> None:
    """S9."""
    result = check(resolve_target("opendal+memory:///", {}), clauses=["opendal-operator"])
    found = {c.clause.id: c.outcome for c in result.clauses if c.outcome is not Verdict.PASS}
    assert found == {"operator.read.past-end": Verdict.LAX}


def test_file_that_returns_single_bytes_satisfies_the_clauses() -> None:
    class Short(RightOperatorFile):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size, 1) if size is not None and size > 0 else size)

    binding = OpendalBinding(RightOperator(Short), "mine")
    result = check(binding, clauses=["operator.file"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_every_program_is_spelled_as_a_call_of_the_operator() -> None:
    binding = OpendalBinding(RightOperator(), "mine")
    for program in programs(frozenset(OPENDAL_OPERATIONS)):
        text = binding.spell(resolve_program(program, program.length, 4096))
        assert "operator." in text
        assert "@" not in text
        assert ("await " in text) == (program.steps[0].args[-1] == "async")
