"""Listings of directories by an fsspec filesystem, and their spelling."""

from __future__ import annotations

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
from fscontract.contract.program.filesystem_calls import LISTED, LISTING_OPERATIONS
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.fsspec_listings import below, spell_listing

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
        assert outcome.value in right_values(step, opened(b"data")), filesystem


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
    scope: dict[str, Any] = {"fs": RightFilesystem(), "path": "at/file"}
    exec("\n".join(call.before), scope)  # our own
    assert _tuples(eval(call.text, scope)) in right_values(step, opened(b"data"))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


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
