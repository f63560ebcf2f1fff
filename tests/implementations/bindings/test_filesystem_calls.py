"""Calls of an fsspec filesystem without a stream, and their spelling."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import check
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.filesystem_calls import (
    COPIES,
    FILESYSTEM_OPERATIONS,
    OTHER,
    TREE_FILES,
)
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.fakes.mutants.correct_filesystem import RightAsyncFilesystem, RightFilesystem
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
        (("fs_read_bytes", 1, None), _DATA[1:]),
        (("fs_head", None), _DATA),
        (("fs_cat_ranges", ("file", "missing"), 0, (1, 2), "return"), (b"\xff", True)),
        (("fs_cat", ("file", "missing"), "omit"), (("file", _DATA),)),
        (("fs_read_block", 1, 3, b"y".hex()), b""),
        (("fs_get_file", "file"), _DATA),
        (("fs_get_leaves",), False),
        (("fs_info", "name"), True),
        (("fs_ukey", "changed"), False),
        (("fs_text", "file", "lines", "latin-1", "strict", None), ("\xff\n", "\x80bytes")),
        (("fs_text", "file", "read_text", "latin-1", "strict", ""), ("\xff\r\n\x80bytes",)),
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


class _Refuses(RightFilesystem):
    """A store that does not write files whose names have a dot, or fails a number of writes."""

    def __init__(self, failing: float) -> None:
        super().__init__()
        self.failing = failing

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        if "." in path.rpartition("/")[2]:
            self.failing -= 1
            if self.failing >= 0:
                raise OSError(22, "Invalid argument")
        super().pipe_file(path, value, **options)


def test_call_that_needs_a_name_that_the_store_refuses_is_inexpressible() -> None:
    outcome = _run(_Refuses(inf), "fs_ukey", "changed")
    assert outcome.kind is Kind.INEXPRESSIBLE


def test_call_is_made_if_only_the_first_write_of_another_file_fails() -> None:
    outcome = _run(_Refuses(1), "fs_ukey", "changed")
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, False)


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


_COPIED = b"\xffbytes"


def _run_get(filesystem: Any, op: str, *args: Any, only: bool = False) -> Outcome:
    if only:
        filesystem.pipe_file("only", _COPIED)
    binding = FsspecBinding(filesystem, "", "mine", *((_COPIED, "only") if only else ()))
    binding.prepare()
    stream = binding.open(binding.create(_COPIED))
    return binding.bind(Step(op, args))(stream)


@pytest.mark.parametrize("copied", COPIES)
def test_each_copy_has_its_local_files(copied: str) -> None:
    sources = {**TREE_FILES, "file": _COPIED}
    files = sorted((local, sources[source]) for local, source in COPIES[copied].items())
    outcome = _run_get(RightFilesystem(), "fs_get", copied)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, tuple(files))


def test_local_files_may_need_their_directories(tmp_path: Path) -> None:
    binding = FsspecBinding(LocalFileSystem(), str(tmp_path), "mine")
    binding.prepare()
    stream = binding.open(binding.create(_COPIED))
    copied = binding.bind(Step("fs_get", ("directory",)))(stream).value
    assert [name for name, _ in copied] == ["new/one", "new/sub/empty", "new/sub/two"]


def test_missing_file_raises_and_leaves_nothing() -> None:
    assert _run_get(RightFilesystem(), "fs_get_missing").kind is Kind.NOT_FOUND
    assert _run_get(RightFilesystem(), "fs_get_missing_leaves").value is False


@pytest.mark.parametrize("op", ["fs_get_missing", "fs_get_missing_leaves"])
def test_filesystem_without_get_is_not_judged(op: str) -> None:
    assert _run_get(RightAsyncFilesystem(), op).kind is Kind.INEXPRESSIBLE


def test_the_only_file_of_a_target_is_copied_alone() -> None:
    copied = _run_get(RightFilesystem(), "fs_get", "file", only=True)
    assert copied.value == (("copy", _COPIED),)
    tree = _run_get(RightFilesystem(), "fs_get", "directory", only=True)
    assert tree.kind is Kind.INEXPRESSIBLE
