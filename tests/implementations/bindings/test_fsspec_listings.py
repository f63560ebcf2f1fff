"""Listings of directories by an fsspec filesystem, and their spelling."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import LocalFileSystem as ArrowLocal

from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.models.stream_state import opened
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.filesystem_calls import LISTED, LISTING_OPERATIONS, MANY_FILES
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.fsspec_listings import below, spell_listing
from tests.unusual.filesystems import EndsDirectories, target

_STEPS = [program.steps[0] for program in programs(frozenset(LISTING_OPERATIONS))]


def _run(filesystem: Any, step: Step, root: str = "", *only: Any) -> Outcome:
    binding = FsspecBinding(filesystem, root, "mine", *only)
    binding.prepare()
    return binding.bind(step)(binding.open(binding.create(b"data")))


@pytest.mark.parametrize("step", _STEPS, ids=str)
def test_filesystems_list_what_is_right(step: Step, tmp_path: Path) -> None:
    for filesystem, root in (
        (RightFilesystem(), ""),
        (MemoryFileSystem(), "/root"),
        (LocalFileSystem(), str(tmp_path)),
        (DirFileSystem("/below", MemoryFileSystem()), ""),
        (ArrowFSWrapper(ArrowLocal()), str(tmp_path)),
    ):
        outcome = _run(filesystem, step, root)
        is_right = outcome.value in right_values(step, opened(b"data"))
        assert is_right or _is_known(filesystem, step, outcome), filesystem


def test_files_are_written_again_below_a_directory_that_was_removed(tmp_path: Path) -> None:
    """Without the one that shows that a store refuses a name."""
    binding = FsspecBinding(LocalFileSystem(auto_mkdir=False), str(tmp_path), "mine")
    binding.prepare()
    stream, many = binding.open(binding.create(b"")), binding.bind(Step("fs_many", ("find",)))
    assert [many(stream).value for _ in range(2)] == [(MANY_FILES, 0)] * 2
    assert [*tmp_path.glob("*/plain")] == []


def _is_known(filesystem: Any, step: Step, outcome: Outcome) -> bool:
    """Return whether a filesystem has no such time, or ignores the slash of a pattern (F59)."""
    if step == Step("fs_glob", ("*/",)):
        return isinstance(filesystem, DirFileSystem | ArrowFSWrapper)
    is_arrow = isinstance(filesystem, ArrowFSWrapper)
    return step.op == "fs_time" and is_arrow and outcome.kind is Kind.INEXPRESSIBLE


def test_path_may_have_any_start_case_and_slash_at_its_end() -> None:
    assert below(f"/A/file{LISTED}/SUB/two") == "sub/two"
    assert below(f"file{LISTED}/sub/") == "sub"
    assert below(f"bucket/file{LISTED}-more/four") == "-more/four"
    assert below("sub") == "?/sub"


class WithoutSizes(RightFilesystem):
    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return {**super().info(path), "size": None}


def test_space_is_not_judged_without_sizes() -> None:
    assert _run(WithoutSizes(), Step("fs_du", (True,))).kind is Kind.INEXPRESSIBLE


def test_read_only_target_is_not_judged() -> None:
    filesystem = RightFilesystem()
    filesystem.pipe_file("only", b"data")
    outcome = _run(filesystem, Step("fs_walk"), "", b"data", "only")
    assert outcome.kind is Kind.INEXPRESSIBLE


@pytest.mark.parametrize("step", _STEPS, ids=str)
def test_spelled_call_returns_what_is_right(step: Step) -> None:
    call = spell_listing(step)
    assert call is not None
    filesystem = RightFilesystem()
    filesystem.pipe_file("at/file", b"data")
    scope: dict[str, Any] = {"fs": filesystem, "path": "at/file", "os": os, "tempfile": tempfile}
    exec("\n".join(call.imports), scope)  # our own
    exec("\n".join(call.before), scope)  # our own
    assert _tuples(eval(call.text, scope)) in right_values(step, opened(b"data"))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def test_many_files_are_removed_after_they_were_listed() -> None:
    filesystem = RightFilesystem()
    assert _run(filesystem, Step("fs_many", ("find",))).value == (1050, 0)
    assert len(filesystem.files) < 10


def test_filesystem_that_leaves_out_empty_files_lists_many_files() -> None:
    """So that another bug in a listing of many files is not hidden."""

    class WithoutEmpty(RightFilesystem):
        def find(self, path: str, **options: Any) -> Any:
            found = super().find(path, **options)
            return found if options else [n for n in found if self.content(n)]

    assert _run(WithoutEmpty(), Step("fs_many", ("find",))).value == (1050, 0)


def test_slow_target_does_not_list_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fscontract.implementations.bindings.fsspec_listings._WRITING", -1.0)
    assert _run(RightFilesystem(), Step("fs_many", ("ls",))).kind is Kind.INEXPRESSIBLE


def test_glob_of_folders_is_not_judged_if_their_paths_end_with_a_slash() -> None:
    filesystem = target(EndsDirectories)
    assert _run(filesystem, Step("fs_glob", ("*/",))).kind is Kind.INEXPRESSIBLE


class ListsPrefix(RightFilesystem):
    """Lists the files of a level whose paths begin with that of the directory, as stores do."""

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        name = self._strip_protocol(path)
        beside = [one for one in self.files if one.startswith(f"{name}.")]
        return [*super().ls(path, detail), *(map(self.info, beside) if detail else beside)]


@pytest.mark.parametrize("detail", ["names", "details"])
def test_file_beside_the_directory_is_not_in_it(detail: str) -> None:
    step = Step("fs_ls", (detail,))
    assert _run(ListsPrefix(), step).value not in right_values(step, opened(b"data"))
