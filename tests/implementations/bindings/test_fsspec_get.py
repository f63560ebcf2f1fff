"""Calls of `get` of fsspec filesystems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem

from fscontract.contract.program.filesystem_calls import COPIES, TREE_FILES
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.fakes.mutants.correct_filesystem import RightAsyncFilesystem, RightFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding

_DATA = b"\xffbytes"


def _run(filesystem: Any, op: str, *args: Any, only: bool = False) -> Outcome:
    if only:
        filesystem.pipe_file("only", _DATA)
    binding = FsspecBinding(filesystem, "", "mine", *((_DATA, "only") if only else ()))
    binding.prepare()
    stream = binding.open(binding.create(_DATA))
    return binding.bind(Step(op, args))(stream)


@pytest.mark.parametrize("copied", COPIES)
def test_each_copy_has_its_local_files(copied: str) -> None:
    sources = {**TREE_FILES, "file": _DATA}
    files = tuple((local, sources[source]) for local, source in COPIES[copied].items())
    outcome = _run(RightFilesystem(), "fs_get", copied)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, files)


def test_local_files_may_need_their_directories(tmp_path: Path) -> None:
    binding = FsspecBinding(LocalFileSystem(), str(tmp_path), "mine")
    binding.prepare()
    stream = binding.open(binding.create(_DATA))
    copied = binding.bind(Step("fs_get", ("directory",)))(stream).value
    assert [name for name, _ in copied] == ["new/one", "new/sub/two"]


def test_missing_file_raises_and_leaves_nothing() -> None:
    assert _run(RightFilesystem(), "fs_get_missing").kind is Kind.NOT_FOUND
    assert _run(RightFilesystem(), "fs_get_missing_leaves").value is False


@pytest.mark.parametrize("op", ["fs_get_missing", "fs_get_missing_leaves"])
def test_filesystem_without_get_is_not_judged(op: str) -> None:
    assert _run(RightAsyncFilesystem(), op).kind is Kind.INEXPRESSIBLE


def test_the_only_file_of_a_target_is_copied_alone() -> None:
    copied = _run(RightFilesystem(), "fs_get", "file", only=True)
    assert copied.value == (("copy", _DATA),)
    tree = _run(RightFilesystem(), "fs_get", "directory", only=True)
    assert tree.kind is Kind.INEXPRESSIBLE
