"""Calls of an fsspec filesystem without a stream, and their spelling."""

from __future__ import annotations

from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import check
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.filesystem_calls import FILESYSTEM_OPERATIONS, OTHER
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding

_DATA = b"\xff\r\n\x80bytes"


def _run(filesystem: Any, op: str, *args: Any) -> Outcome:
    binding = FsspecBinding(filesystem, "", "mine")
    binding.prepare()
    stream = binding.open(binding.create(_DATA))
    return binding.bind(Step(op, args))(stream)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("fs_cat_file", -5, None), b"bytes"),
        (("fs_cat_ranges", ("file", "missing"), 0, (1, 2), "return"), (b"\xff", True)),
        (("fs_cat", ("file", "missing"), "omit"), (("file", _DATA),)),
        (("fs_read_block", 1, 3, b"y".hex()), b""),
        (("fs_get_file", "file"), _DATA),
        (("fs_get_leaves",), False),
        (("fs_info", "name"), True),
        (("fs_ukey", "changed"), False),
        (("fs_text", "file", "lines", "latin-1", "strict", None), ("\xff\n", "\x80bytes")),
        (("fs_pickle", "open file"), _DATA),
        (("fs_pickle", "compressed open file"), OTHER),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any) -> None:
    outcome = _run(RightFilesystem(), *call)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


def test_call_that_a_filesystem_lacks_is_inexpressible() -> None:
    class Without(RightFilesystem):
        def get_file(self, rpath: str, lpath: str, **options: Any) -> None:
            raise NotImplementedError

    assert _run(Without(), "fs_get_file", "file").kind is Kind.INEXPRESSIBLE


def test_results_of_a_wrong_type_are_not_bytes() -> None:
    class Text(RightFilesystem):
        def head(self, path: str, size: int = 1024) -> Any:
            return "text"

    assert "expected bytes, got str" in _run(Text(), "fs_head", 2).detail


def test_every_program_is_spelled_without_opening_a_stream() -> None:
    binding = FsspecBinding(RightFilesystem(), "", "mine")
    for program in programs(frozenset(FILESYSTEM_OPERATIONS)):
        text = binding.spell(program)
        assert "fs." in text or "(fs" in text
        assert "f = " not in text
    steps = Step("read_byte"), Step("fs_head", (2,))
    assert binding.spell(Program(5, steps)) == "f = fs.open(path); f.read(1); fs.head(path, 2)"


def test_right_filesystem_and_that_of_memory_satisfy_every_clause() -> None:
    of_urls = [f"filesystem.open-files.{paths}" for paths in ("one", "list", "glob")]
    for filesystem, lacks in (
        (RightFilesystem(), of_urls),  # its files exist in one instance
        (MemoryFileSystem(skip_instance_cache=True), []),
    ):
        result = check(filesystem, clauses=["fsspec-filesystem"])
        others = [c.clause.id for c in result.clauses if str(c.outcome) != "pass"]
        assert others == [  # files in memory exist in one process
            *lacks,
            "filesystem.pickle.other-process",
            "filesystem.pickle.open-file-other-process",
            "filesystem.pickle.compressed-other-process",
        ]


def test_clauses_are_undeclared_without_the_feature() -> None:
    target = MemoryFileSystem(skip_instance_cache=True)
    result = check(target, clauses=["fsspec-filesystem"], features=["!fsspec-filesystem"])
    assert {str(c.outcome) for c in result.clauses} == {"undeclared"}


def test_calls_that_need_another_file_are_left_out_of_a_target_with_one() -> None:
    filesystem = RightFilesystem()
    filesystem.pipe_file("only", _DATA)
    binding = FsspecBinding(filesystem, "", "mine", _DATA, "only")
    stream = binding.open(binding.create(_DATA))
    for op, args in (("fs_cat", ("glob", "raise")), ("fs_checksum", ()), ("fs_ukey", ("same",))):
        assert binding.bind(Step(op, args))(stream).kind is Kind.INEXPRESSIBLE
    assert binding.bind(Step("fs_get_file", ("missing",)))(stream).kind is Kind.NOT_FOUND
    assert [*filesystem.files] == ["only"]
