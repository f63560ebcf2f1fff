"""Programs as calls of the API that is checked."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import MemoryFileSystem as Reference
from fscontract.contract.binding import Binding
from fscontract.contract.program.faults import FaultPlan
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step, resolve_program
from fscontract.contract.script.calls import Source
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.hadoop.operations import STREAM_OPERATIONS
from fscontract.implementations.bindings.hadoop.spelling import spell as spell_java
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.bindings.spelling import spell_program
from tests.contract.conftest import example


def _program(*steps: tuple[Any, ...], **more: Any) -> Program:
    return Program(8, tuple(Step(op, tuple(args)) for op, *args in steps), **more)


@pytest.fixture
def fsspec_binding() -> Binding:
    """A binding to fsspec's memory filesystem."""
    return FsspecBinding(MemoryFileSystem(), "", "memory")


@pytest.mark.parametrize(
    ("step", "call"),
    [
        (("py_seek", -1, 1), "f.seek(-1, 1)"),
        (("py_seek", 3, 0), "f.seek(3)"),
        (("get_pos",), "f.tell()"),
        (("read_byte",), "f.read(1)"),
        (("read_into", 8, 2, 4), "f.readinto(memoryview(bytearray(8))[2:6])"),
        (("py_read", None), "f.read(None)"),
        (("py_readline", None), "f.readline()"),
        (("py_readinto", "I", 2), 'f.readinto(array("I", [0] * 2))'),
        (("py_next",), "next(f)"),
        (("py_closed",), "f.closed"),
        (("pread", 2, 3, 0, 3), "fs.cat_file(path, start=2, end=5)"),
        (("read_fully_all", 2, 3), "fs.read_block(path, 2, 3)"),
        (
            ("read_vectored", ((0, 2), (4, 2)), "heap", "absent"),
            'fs.cat_ranges([path] * 2, [0, 4], [2, 6], on_error="return")',
        ),
        (("change", "delete"), "(the file is deleted)"),
    ],
)
def test_fsspec_program_is_spelled_in_its_calls(
    fsspec_binding: Binding, step: tuple[Any, ...], call: str
) -> None:
    """Of the file, or of the filesystem for reads of ranges."""
    assert fsspec_binding.spell(_program(step)) == f"f = fs.open(path); {call}"


def test_every_operation_of_fsspec_and_hadoop_is_spelled(fsspec_binding: Binding) -> None:
    """An operation that is added needs a spelling."""
    values: dict[str, Any] = {"ranges": ((0, 1),), "allocate": "heap", "release": "absent"}
    values |= {"format": "B", "name": "in:seek"}
    values |= {"paths": ("file",), "path": "other", "delimiter": "0a", "on_error": "return"}
    values |= {"key": "size", "how": "same", "what": "open file"}
    values |= {"copied": "lists", "cache": "none", "block": "4 KiB", "codec": "gzip"}
    values |= {"chosen": "named", "opener": "open", "reading": "parts"}
    values |= {"listed": "names", "found": "1 level", "pattern": "*", "kind": "isdir"}
    values |= {"globbed": "details", "walked": "pruned", "used": "total", "expanded": "patterns"}
    values |= {"again": "ls", "lister": "find", "caller": "get", "time": "of creation"}
    values |= {"way": "read", "encoding": "utf-8", "errors": "strict", "newline": None}
    from fscontract.contract.program.program import OPERATIONS

    def program(op: str) -> Program:
        own = {"name": "words"} if op == "fs_named" else {}
        return _program((op, *((values | own).get(name, 1) for name in OPERATIONS[op])))

    assert all(
        fsspec_binding.spell(program(op)) for op in fsspec_binding.operations - {"read_into"}
    )
    assert all(spell_java(program(op)) for op in STREAM_OPERATIONS)


def test_streams_have_numbers_and_faults_come_first(fsspec_binding: Binding) -> None:
    """A single stream is called f."""
    program = Program(8, (Step("py_tell"), Step("py_tell", (), 1)), streams=2)
    text = "f1 = fs.open(path); f2 = fs.open(path); f1.tell(); f2.tell()"
    assert fsspec_binding.spell(program) == text
    plan = FaultPlan.from_json({"faults": [{"kind": "reset", "nth": 1}]}, "plan")
    assert spell_program(_program(faults=plan), "open()", lambda *_: None) == f"[{plan}] f = open()"


def test_builder_is_spelled_with_its_options(fsspec_binding: Binding) -> None:
    """In Python and in Java, where a number has its type."""
    calls = (("opt_long", "a.b", "len-1"), ("with_file_status", "own", None), ("must", "k", True))
    program = resolve_program(_program(("get_pos",), opening=Opening("file", calls)), 8, 64)
    assert fsspec_binding.spell(program) == (
        "f = open_file(fs, path).opt_long('a.b', 7).with_file_status(status).must('k', True)"
        ".build().result(); f.tell()"
    )
    assert spell_java(program) == (
        'in = fs.openFile(path).optLong("a.b", 7L).withFileStatus(status).must("k", true)'
        ".build().get(); in.getPos()"
    )


@pytest.mark.parametrize(
    ("step", "call"),
    [
        (("seek", -1), "in.seek(-1)"),
        (("seek", 2**31), "in.seek(2147483648L)"),
        (("read_into", 4, 0, 4), "in.read(new byte[4], 0, 4)"),
        (("read_into", None, 0, 4), "in.read((byte[]) null, 0, 4)"),
        (("pread", 4, 4, 0, 4), "in.read(4L, new byte[4], 0, 4)"),
        (("read_fully_all", 4, 4), "in.readFully(4L, new byte[4])"),
        (
            ("pread_buffer", 1, 8, 2, 6),
            "in.read(1L, ByteBuffer.allocate(9).position(1).slice().position(2).limit(6))",
        ),
        (("has_capability", "in:unbuffer"), 'in.hasCapability("in:unbuffer")'),
        (
            ("read_vectored", ((0, 2), None), "view", "given"),
            "in.readVectored(Arrays.asList(FileRange.createFileRange(0, 2), null), "
            "ByteBuffer::allocateDirect, released -> {})",
        ),
    ],
)
def test_hadoop_program_is_spelled_in_java(step: tuple[Any, ...], call: str) -> None:
    """A long has its suffix where overloads differ."""
    assert spell_java(_program(step)) == f"in = fs.open(path); {call}"


def test_python_file_is_opened_by_its_class(tmp_path: Path) -> None:
    """By the name of the opener, if it has one."""
    named = PythonFileBinding(io.FileIO, str(tmp_path), "raw")
    assert named.spell(_program(("py_read", 2))) == "f = FileIO(path); f.read(2)"
    unnamed = PythonFileBinding(partial(io.FileIO, mode="rb"), str(tmp_path), "file")
    assert unnamed.spell(_program()) == "f = open_file(path)"


def test_program_that_the_api_cannot_make_is_not_spelled(fsspec_binding: Binding) -> None:
    """No part of it, which would mislead."""
    assert fsspec_binding.spell(_program(("get_pos",), ("skip", 1))) == ""


def test_own_interface_needs_no_other_form() -> None:
    """Programs have the names of its methods."""
    assert StreamBinding(Reference(), "memory").spell(example().program or _program()) == ""


class _WithoutReadinto(io.BytesIO):
    """A file without `readinto`."""

    def __getattribute__(self, name: str) -> Any:
        if name == "readinto":
            raise AttributeError(name)
        return super().__getattribute__(name)


def open_without_readinto(path: str) -> Any:
    """Open a file without `readinto`."""
    return _WithoutReadinto(Path(path).read_bytes())


def open_with_readinto(path: str) -> Any:
    """Open a file with all methods."""
    return io.BytesIO(Path(path).read_bytes())


@pytest.mark.parametrize(
    ("opener", "method"), [(open_without_readinto, "read(4)"), (open_with_readinto, "readinto(")]
)
def test_script_of_a_file_without_readinto_reads_by_read(opener: Any, method: str) -> None:
    """No program has to run before."""
    api = PythonFileBinding(opener).script_api(Source("target"))
    assert str(api.spell(Step("read_into", (8, 2, 4)), "f")).startswith(f"f.{method}")


_opened: list[str] = []


def open_noted(path: str) -> Any:
    """Open a file with all methods, and note its path."""
    _opened.append(path)
    return open_with_readinto(path)


def test_script_of_a_file_that_was_opened_opens_no_other_one(tmp_path: Path) -> None:
    """A file that hangs would hang again, outside of the programs whose time is limited."""
    path = tmp_path / "file"
    path.write_bytes(b"x")
    binding = PythonFileBinding(open_noted)
    binding.open(str(path))
    binding.script_api(Source("target"))
    assert _opened == [str(path)]
