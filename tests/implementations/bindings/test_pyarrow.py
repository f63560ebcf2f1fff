"""Tests of programs on PyArrow filesystems."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import pyarrow
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import fs

from benchmarks.bases import makers
from fscontract import check
from fscontract.contract.binding import TargetError
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.models.stream_state import opened
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.content import content
from fscontract.contract.program.filesystem_calls import ARROW_OPERATIONS, OTHER
from fscontract.contract.program.outcome import FILL, INEXPRESSIBLE, Kind, Outcome, returned
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.result import RunVerdict, Verdict
from fscontract.contract.targets import UsageError, recognise
from fscontract.fakes.mutants.correct_arrow import RightArrow, RightArrowFile
from fscontract.implementations.bindings.pyarrow import PyArrowBinding

from .conftest import Calls
from .stores import life_of

BLANK = bytes([FILL])


def local(tmp_path: Path, **options: Any) -> PyArrowBinding:
    """Return a binding to files below a directory."""
    return PyArrowBinding.from_url(f"file://{tmp_path}", options)


def test_operations_map_to_native_file_calls(tmp_path: Path, run: Calls) -> None:
    """Those of a stream, of a Python file, and read_at."""
    data = content(5)
    outcomes = run(
        local(tmp_path),
        data,
        ("seek", 1),
        ("read_byte",),
        ("get_pos",),
        ("read_into", 4, 1, 2),
        ("py_read", 1),
        ("pread", 1, 4, 1, 2),
        ("pread", 5, 4, 0, 1),
    )
    assert outcomes == [
        returned(None),
        returned(data[1]),
        returned(2),
        returned(2, BLANK + data[2:4] + BLANK),
        returned(data[4:]),
        returned(2, BLANK + data[1:3] + BLANK),
        returned(-1, BLANK * 4),
    ]


def test_operations_that_pyarrow_lacks_are_inexpressible(tmp_path: Path, run: Calls) -> None:
    """Full reads, vectored reads, and windows that exceed their buffer."""
    outcomes = run(
        local(tmp_path),
        b"abc",
        ("read_fully", 0, 2, 0, 2),
        ("read_vectored", ((0, 1),), "heap", "absent"),
        ("pread", 0, 2, 1, 2),
        ("unbuffer",),
    )
    assert outcomes == [INEXPRESSIBLE] * 4


def test_a_positioned_read_of_a_closed_file_is_a_call_of_the_file(
    tmp_path: Path, run: Calls
) -> None:
    """Python's ValueError corresponds to Hadoop's IOException."""
    _, outcome = run(local(tmp_path), b"abc", ("close",), ("pread", 0, 1, 0, 1))
    assert outcome.kind is Kind.IO


def test_files_lie_below_a_directory_that_is_removed(tmp_path: Path) -> None:
    """Nothing remains."""
    (tmp_path / "other").mkdir()
    before, during, after = life_of(local(tmp_path))
    assert (before, len(during), after) == ([], 1, [])
    assert [p.name for p in tmp_path.iterdir()] == ["other"]


def test_leftovers_of_another_run_are_removed(tmp_path: Path) -> None:
    """A second call does nothing."""
    left = tmp_path / "fscontract-20261121T203400Z-ab12cd34"
    (left / "below").mkdir(parents=True)
    binding = local(tmp_path)
    assert binding.leftovers() == [str(left)]
    binding.discard(str(left))
    binding.discard(str(left))
    assert binding.leftovers() == []


def test_options_are_arguments_of_the_filesystem(tmp_path: Path) -> None:
    """Values that are valid JSON are parsed."""
    assert local(tmp_path, use_mmap="true").fs == fs.LocalFileSystem(use_mmap=True)


def test_filesystems_are_recognised_by_type(tmp_path: Path) -> None:
    """Of any class, with the known location."""
    below = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    binding = recognise(below, "mine")
    assert (binding.api, binding.default_profile, binding.name) == ("pyarrow", "pyarrow", "mine")
    assert not binding.remote
    assert life_of(binding)[2] == []
    assert PyArrowBinding.recognise(tmp_path, "path") is None


def test_a_filesystem_of_fsspec_stays_with_fsspec_unless_it_is_wrapped() -> None:
    """PyArrow's wrapper makes it a PyArrow filesystem."""
    inner = MemoryFileSystem()
    assert recognise(inner, "m").api == "fsspec"
    wrapped = recognise(fs.PyFileSystem(fs.FSSpecHandler(inner)), "m")
    assert (wrapped.api, wrapped.remote) == ("pyarrow", False)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("protocol", [("file", "local"), "own"])
def test_files_of_a_handler_are_written_below_a_directory_that_is_made(
    tmp_path: Path, protocol: str | tuple[str, str]
) -> None:
    """Whatever the name of its type: only object stores have no directories."""

    class Disk(LocalFileSystem):  # type: ignore[misc]
        pass

    Disk.protocol = protocol
    target = fs.SubTreeFileSystem(str(tmp_path), fs.PyFileSystem(fs.FSSpecHandler(Disk())))
    assert check(target, clauses=["read-into.data"]).verdict is RunVerdict.CONFORMS


@pytest.mark.parametrize("protocol", [("s3", "s3a"), ["gcs", "gs"], "abfs"])
def test_a_handler_of_an_object_store_is_remote_and_makes_no_directories(
    protocol: str | tuple[str, str] | list[str],
) -> None:
    class Objects(MemoryFileSystem):  # type: ignore[misc]
        store: ClassVar[dict[str, Any]] = {}
        pseudo_dirs: ClassVar[list[str]] = [""]

        def mkdir(self, path: str, **more: Any) -> None:
            raise PermissionError(path)

        makedirs = mkdir

    Objects.protocol = protocol
    binding = PyArrowBinding(fs.PyFileSystem(fs.FSSpecHandler(Objects())), "", "mine")
    assert binding.remote
    assert life_of(binding)[2] == []


def test_versions_name_pyarrow(tmp_path: Path) -> None:
    """And Python, for a report."""
    assert set(local(tmp_path).versions) == {"python", "pyarrow"}


class _Mine(MemoryFileSystem):  # type: ignore[misc]
    """A filesystem of this package, which PyArrow wraps."""


def test_a_filesystem_behind_a_handler_inherits_what_files_of_pyarrow_do_wrong() -> None:
    inner = _Mine()
    inner.pipe_file("/handled", b"12345")
    binding = PyArrowBinding(fs.PyFileSystem(fs.FSSpecHandler(inner)), "", "mine")
    sources = binding.sources("/handled")
    assert sources["pread"] == sources["py_readline"] == {"pyarrow.lib.NativeFile"}
    memory = "fsspec.implementations.memory.MemoryFile"
    wrapped = {"pyarrow._fs.PyFileSystem", "pyarrow.lib.PythonFile", memory}
    assert sources["wrapped"] == sources["pa_input_stream"] == wrapped


class _Buffers(fs.FSSpecHandler):  # type: ignore[misc]
    """A handler whose files are buffers of PyArrow."""

    def open_input_file(self, path: str) -> pyarrow.BufferReader:
        return pyarrow.BufferReader(self.fs.cat_file(path))


def test_a_handler_below_a_directory_inherits_what_buffers_of_pyarrow_do_wrong() -> None:
    target = fs.SubTreeFileSystem("sub", fs.PyFileSystem(_Buffers(_Mine())))
    result = check(target, clauses=["pread.eof"])
    assert [c.outcome for c in result.clauses] == [Verdict.INHERITED]


def _delegating(handler: fs.FileSystemHandler) -> fs.FileSystemHandler:
    """Return a handler that delegates, and whose attribute `fs` is an object of PyArrow."""

    def delegates(name: str) -> Any:
        return lambda self, *args: getattr(handler, name)(*args)

    methods = {name: delegates(name) for name in fs.FileSystemHandler.__abstractmethods__}
    attributes = {"fs": fs.LocalFileSystem(), **methods}
    kind = type("Delegating", (fs.FileSystemHandler,), attributes)
    return kind()


def test_a_handler_that_delegates_to_pyarrow_inherits_what_its_files_do_wrong() -> None:
    target = fs.PyFileSystem(_delegating(_Buffers(_Mine())))
    result = check(target, clauses=["pread.eof"])
    assert [c.outcome for c in result.clauses] == [Verdict.INHERITED]


def test_a_filesystem_of_pyarrow_inherits_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert local(tmp_path).sources(str(tmp_path / "file")) == {}


def test_s3_is_remote() -> None:
    """Without a request."""
    assert PyArrowBinding.from_url("s3://bkt/p", {"region": "x", "anonymous": "true"}).remote


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("s3://bkt", {"secret_key": "hush-hush"}, "s3://bkt: can't be opened: "),
        ("nosuch://d", {}, "nosuch://d: can't be opened: "),
        ("mock://d", {"a": "b"}, "options are supported only for s3:// and file:// URLs"),
    ],
)
def test_open_error_is_one_line_without_secrets(
    url: str, options: dict[str, str], message: str
) -> None:
    """As a TargetError."""
    with pytest.raises(TargetError) as caught:
        PyArrowBinding.from_url(url, options)
    text = str(caught.value)
    assert message in text
    assert "hush" not in text
    assert "\n" not in text


def test_fixed_file_is_rejected(tmp_path: Path) -> None:
    """As a UsageError."""
    with pytest.raises(UsageError, match="--file and --content require a URL that fsspec opens"):
        PyArrowBinding.from_url("file:///d", {}, file="x", content=tmp_path)


def test_a_directory_that_is_missing_is_a_target_error(tmp_path: Path) -> None:
    """It is not created."""
    with pytest.raises(TargetError, match="missing: can't be written: "):
        local(tmp_path / "missing").prepare()
    assert list(tmp_path.iterdir()) == []


def test_unreachable_server_gives_no_verdict(deaf_port: int) -> None:
    """The outcome is an environment error, or a TargetError if nothing is judged."""
    options = {
        "access_key": "a",
        "secret_key": "hush-hush",
        "region": "us-east-1",
        "endpoint_override": f"http://127.0.0.1:{deaf_port}",
        "retry_strategy": fs.AwsStandardS3RetryStrategy(max_attempts=1),
    }
    binding = PyArrowBinding.from_url("s3://bkt", options)
    with pytest.raises(ConnectionError, match="NETWORK_CONNECTION"):
        binding.open("bkt/a")
    with pytest.raises(TargetError, match=r"can't be written: .*NETWORK_CONNECTION"):
        binding.prepare()


def test_any_other_operation_is_inexpressible(tmp_path: Path) -> None:
    """Before anything is opened."""
    assert local(tmp_path).bind(Step("has_capability", ("x",)))(None) == INEXPRESSIBLE


@pytest.mark.usefixtures("programs")
def test_a_handler_inherits_what_local_files_of_pyarrow_do_wrong(tmp_path: Path) -> None:
    result = check(makers()["SystemFiles"](str(tmp_path)), clauses=["pread.pos-unchanged"])
    assert [c.outcome for c in result.clauses] == [Verdict.INHERITED]


_DATA = b"abcdef"


def _run(filesystem: Any, op: str, *args: Any) -> Outcome:
    binding = PyArrowBinding(filesystem, "mine", "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("pa_read_at", 1, 2), b"bc"),
        (("pa_get_stream", 4, 9), b"ef"),
        (("pa_independent", 1, 3), b"bcd"),
        (("pa_file_position",), b"b"),
        (("pa_read_buffer", 2, None), b"cdef"),
        (("pa_input_stream", 4, 3), _DATA),
        (("pa_compressed", "detect"), OTHER),
        (("pa_size",), 6),
        (("pa_metadata",), True),
        (("pa_info", "file", "path"), True),
        (("pa_info", "file", "size"), 6),
        (
            ("pa_infos", ("other", "missing", "file")),
            (("File", len(OTHER)), ("NotFound", None), ("File", 6)),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any) -> None:
    outcome = _run(RightArrow(), *call)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


def test_missing_file_is_an_outcome() -> None:
    for opens in ("open_input_file", "open_input_stream"):
        assert _run(RightArrow(), "pa_missing", opens).kind is Kind.NOT_FOUND


def test_information_in_another_order_is_right() -> None:
    class Reversed(RightArrow):
        def get_file_info(self, paths: Any) -> Any:
            found = super().get_file_info(paths)
            return found[::-1] if isinstance(found, list) else found

    outcome = _run(Reversed(), "pa_infos", ("other", "missing"))
    assert outcome.value == (("File", len(OTHER)), ("NotFound", None))


def test_right_filesystem_satisfies_every_clause() -> None:
    result = check(PyArrowBinding(RightArrow(), "mine", "mine"), clauses=["pyarrow-filesystem"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_file_that_returns_short_buffers_satisfies_the_clauses() -> None:
    class Short(RightArrowFile):
        def read_buffer(self, nbytes: int | None = None) -> Any:
            return super().read_buffer(min(nbytes, 1) if nbytes else nbytes)

    target = PyArrowBinding(RightArrow(Short), "mine", "mine")
    result = check(target, clauses=["arrow.read-buffer"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_local_filesystem_of_pyarrow_misses_one_recommendation(tmp_path: Path) -> None:
    """S19."""
    target = PyArrowBinding(fs.LocalFileSystem(), str(tmp_path), "local")
    result = check(target, clauses=["pyarrow-filesystem"])
    found = {c.clause.id: c.outcome for c in result.clauses if c.outcome is not Verdict.PASS}
    assert found == {"arrow.get-stream.file-position": Verdict.LAX}


_LISTING = [
    program.steps[0]
    for program in programs(frozenset(ARROW_OPERATIONS))
    if program.steps[0].op in ("pa_directory", "pa_select", "pa_many", "pa_named", "pa_normalized")
]


@pytest.mark.parametrize("step", _LISTING, ids=str)
def test_filesystems_list_what_is_right(step: Step, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for filesystem in (RightArrow(), fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())):
        outcome = _run(filesystem, step.op, *step.args)
        right = right_values(step, opened(b"abcdef"))
        assert outcome.value in right if right else outcome.raised, filesystem


@pytest.mark.parametrize("step", _LISTING, ids=str)
def test_spelled_listing_returns_what_is_right(step: Step) -> None:
    call = PyArrowBinding(RightArrow(), "mine", "mine").spell_positioned(step, "f")
    assert call is not None
    filesystem = RightArrow()
    filesystem.files["at/file"] = b"abcdef"
    scope: dict[str, Any] = {"fs": filesystem, "path": "at/file", "os": os}
    exec("\n".join(call.imports), scope)  # our own
    right = right_values(step, opened(b"abcdef"))
    try:
        exec("\n".join(call.before), scope)
        value = _tuples(eval(call.text, scope))
    except FileNotFoundError:
        assert right == ()
    else:
        assert value in right


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def test_every_program_is_spelled_without_an_opened_stream() -> None:
    binding = PyArrowBinding(RightArrow(), "mine", "mine")
    for program in programs(frozenset(ARROW_OPERATIONS)):
        text = binding.spell(resolve_program(program, program.length, 4096))
        assert "fs." in text
        assert "f = " not in text
