"""Filesystems and open files that are pickled and unpickled in another process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import check
from fscontract.contract.program.filesystem_calls import OTHER, PICKLED
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.contract.script.calls import Call
from fscontract.fakes.mutants.correct_filesystem import RightDisk, RightFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.other_process import (
    process_operations,
    read_in_other_process,
    spell_process,
)

_OPERATION = {"fs_other_process"}
_CLAUSES = [
    "filesystem.pickle.other-process",
    "filesystem.pickle.open-file-other-process",
    "filesystem.pickle.compressed-other-process",
]


def test_filesystem_with_its_own_way_to_be_pickled_passes(tmp_path: Path) -> None:
    """The copy may be made by any function that the other process can import."""
    result = check(FsspecBinding(RightDisk(), str(tmp_path), "disk"), clauses=_CLAUSES)
    assert {c.clause.id: c.outcome for c in result.clauses} == dict.fromkeys(_CLAUSES, Verdict.PASS)


def test_error_of_the_other_process_is_raised_here(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="in another process: FileNotFoundError"):
        read_in_other_process(LocalFileSystem(), str(tmp_path / "missing"), "filesystem")


def test_what_a_library_prints_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "printing.py").write_text(
        "from fsspec.implementations.local import LocalFileSystem\n"
        "class Printing(LocalFileSystem):\n"
        "    def cat_file(self, *args, **options):\n"
        "        print('debug')\n"
        "        return super().cat_file(*args, **options)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    printing = import_module("printing")
    read = read_in_other_process(printing.Printing(), str(tmp_path / "file"), "filesystem")
    assert read == b"abc"


def test_a_process_that_does_not_run_is_no_fault_of_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binding = FsspecBinding(LocalFileSystem(), str(tmp_path), "local")
    binding.prepare()
    opened = binding.open(binding.create(b"abc"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "none"))
    outcome = binding.bind(Step("fs_other_process", ("filesystem",)))(opened)
    assert outcome.kind is Kind.ENVIRONMENT


class _OnDisk(LocalFileSystem):  # type: ignore[misc]
    """A class that can be imported."""


def test_only_filesystems_that_another_process_can_have_are_checked(tmp_path: Path) -> None:
    class Local(LocalFileSystem):  # type: ignore[misc]
        pass

    assert process_operations(_OnDisk()) == _OPERATION
    assert process_operations(DirFileSystem(str(tmp_path), LocalFileSystem())) == _OPERATION
    for without in (MemoryFileSystem(), RightFilesystem(), Local()):
        assert process_operations(without) == frozenset()


def test_reason_is_reported_for_a_filesystem_in_memory() -> None:
    result = check(FsspecBinding(RightFilesystem(), "", "mine"), clauses=_CLAUSES)
    reason = "its files or its class may exist in one process alone"
    assert {(c.outcome, c.reason) for c in result.clauses} == {(Verdict.INEXPRESSIBLE, reason)}


@pytest.mark.parametrize("what", PICKLED)
def test_spelled_call_reads_in_a_new_process(what: str, tmp_path: Path) -> None:
    import gzip
    import pickle
    import sys

    (tmp_path / "file").write_bytes(b"abc")
    call = spell_process(Step("fs_other_process", (what,)))
    assert isinstance(call, Call)
    given: dict[str, Any] = {"path": str(tmp_path / "file"), "fs": LocalFileSystem()}
    given.update(gzip=gzip, pickle=pickle, sys=sys)
    exec("\n".join([*call.imports, *call.before, f"read = {call.text}"]), given)
    assert given["read"] == (OTHER if what == "compressed open file" else b"abc")
    assert str(call).startswith("in another process: pickle.loads(pickle.dumps(")


def test_a_step_of_another_api_is_not_spelled() -> None:
    assert spell_process(Step("read_byte")) is None
