"""Sparse files of several GiB, on targets that can hold them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.generate.sizes import SPARSE, sparse_programs
from fscontract.contract.program.content import DENSE, SparseContent
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.local_stream import LocalInputStream
from fscontract.implementations.targets import LocalBinding
from tests.contract.runner.conftest import binding_of


class IntPositions(LocalInputStream):
    """Reads cast their position to 32 bits."""

    def _read_at(self, position: int, view: memoryview) -> int:
        return super()._read_at(position % (1 << 32), view)


def violations(binding: Binding, profile: str) -> set[str]:
    """Return the clauses that the programs find violated."""
    binding.prepare()
    try:
        declared = load_profile(profile).as_observed({})
        executor = Executor(binding, declared.features, 4096)
        made = sparse_programs(Settings(declared, ()).operations(binding))
        runs = [executor.run(program) for program in made]
    finally:
        binding.dispose()
    assert runs
    return {run.violation.failure.clause for run in runs if run.violation is not None}


def _open(path: str) -> object:
    return open(path, "rb")


@pytest.fixture
def bindings(tmp_path: Path) -> dict[str, Binding]:
    """Bindings to files on a local disk, by their profiles."""
    root = str(tmp_path)
    return {
        "reference": LocalBinding(LocalFileSystem(root, durable=False)),
        "python-file": PythonFileBinding(_open, root),  # type: ignore[arg-type]
        "fsspec": FsspecBinding.from_url(tmp_path.as_uri(), {}),
    }


@pytest.mark.parametrize("profile", ["reference", "python-file", "fsspec"])
def test_files_on_a_local_disk_pass(bindings: dict[str, Binding], profile: str) -> None:
    assert bindings[profile].holds_sparse
    assert violations(bindings[profile], profile) == set()


def test_a_position_of_32_bits_is_found(tmp_path: Path) -> None:
    files = LocalFileSystem(str(tmp_path), durable=False, stream_class=IntPositions)
    found = violations(LocalBinding(files), "reference")
    assert {"read-byte.value", "pread.data"} <= found


class EndsAcross2GiB(io.FileIO):
    """A read that crosses 2 GiB finds the end of the file."""

    def readinto(self, buffer: Any) -> int:
        begin = self.tell()
        return 0 if begin < 1 << 31 <= begin + len(buffer) else super().readinto(buffer)


@pytest.mark.parametrize(
    "steps",
    [
        (Step("py_seek", ((1 << 31) - 2, 0)), Step("py_readinto", ("B", 4))),
        (Step("seek", ((1 << 31) - 2,)), Step("read_into", (4, 0, 4))),
    ],
)
def test_a_read_far_from_the_beginning_is_not_charged_to_the_seek(
    tmp_path: Path, steps: tuple[Step, ...]
) -> None:
    """No buffer is large enough for a read of all bytes before it, in place of the seek."""
    binding = PythonFileBinding(EndsAcross2GiB, str(tmp_path))
    binding.prepare()
    try:
        executor = Executor(binding, load_profile("python-file").as_observed({}).features, 4096)
        found = executor.run(Program(SPARSE[0], steps)).violation
        assert found is not None
        counterexamples = ShrinkingCounterexamples(executor, frozenset(clauses()))
        charged = counterexamples.violation(found)
    finally:
        binding.dispose()
    assert charged == found.failure.clause


def test_targets_that_can_not_hold_them_say_so() -> None:
    binding = binding_of()
    assert not binding.holds_sparse
    with pytest.raises(TargetError, match=f"can't hold a file of {DENSE + 1} bytes"):
        binding.create_sparse(SparseContent.of(DENSE + 1))


def test_encoded_files_are_not_sparse() -> None:
    binding = PythonFileBinding(_open, encode=lambda data: data)  # type: ignore[arg-type]
    assert not binding.holds_sparse


def _opens_whole(path: str) -> object:
    with open(path, "rb") as file:
        return io.BytesIO(file.read())


@pytest.mark.parametrize(("opens", "whole"), [(_open, False), (_opens_whole, True)])
def test_targets_that_read_whole_files_get_none(
    tmp_path: Path, opens: Callable[[str], object], whole: bool
) -> None:
    """Reading several GiB takes longer than a call may, but does not hang."""
    binding = PythonFileBinding(opens, str(tmp_path))  # type: ignore[arg-type]
    settings = Settings(load_profile("python-file"), (), effort="normal", until=("sizes", 0))
    result = check(binding, settings)
    told = any("the target reads a file whole" in warning for warning in result.warnings)
    assert told is whole
