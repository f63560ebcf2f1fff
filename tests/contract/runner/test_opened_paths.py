"""Runs of programs that open unusual paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from fscontract import check
from fscontract.contract.api.errors import FileNotFoundException, PathIOException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.generate.open_programs import NAMES, path_programs
from fscontract.contract.models.opened_path import CLAUSES, PRESENCE
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.execution import Execution, Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.profiles import load_profile
from fscontract.fakes.mutants.correct_parts import MutantFileSystem
from fscontract.fakes.mutants.openfile.variants import DoomedStream
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.targets import LocalBinding
from tests.few_programs import run_few

#: No clause needs a permission here: the process may be that of root.
EXERCISED = CLAUSES - {"open.unreadable"}


def executed(binding: Binding, *features: str) -> tuple[set[str], set[str]]:
    """Run all programs; return the exercised clauses, and those that are violated or missed."""
    profile = load_profile(binding.default_profile).as_observed({}).with_features(features)
    binding.prepare()
    try:
        executor = Executor(binding, profile.features, 4096)
        operations = Settings(profile, ()).operations(binding)
        runs = [executor.run(p) for p in path_programs(operations, binding.remote, fixed=False)]
    finally:
        binding.dispose()
    return set(executor.exercised) & CLAUSES, {v.failure.clause for v in _failures(runs)}


def _failures(runs: list[Execution]) -> list[Violation]:
    return [v for run in runs for v in (*run.violations, *run.misses)]


def _opened(path: str) -> BinaryIO:
    return open(path, "rb")


@pytest.fixture(params=["memory", "local", "fsspec-local", "fsspec-memory", "python-file"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Binding:
    """A binding to a filesystem that opens every path rightly."""
    makers: dict[str, Callable[[], Binding]] = {
        "memory": lambda: StreamBinding(MemoryFileSystem(), "memory"),
        "local": lambda: LocalBinding(LocalFileSystem(str(tmp_path), durable=False)),
        "fsspec-local": lambda: FsspecBinding.from_url(tmp_path.as_uri(), {}),
        "fsspec-memory": lambda: FsspecBinding.from_url("memory://", {}),
        "python-file": lambda: PythonFileBinding(_opened, str(tmp_path)),
    }
    return makers[str(request.param)]()


def test_filesystems_pass(target: Binding) -> None:
    exercised, failed = executed(target)
    without = {PRESENCE} if isinstance(target, PythonFileBinding) else set()
    assert failed == set()
    assert exercised >= EXERCISED - without


class Unusual(MutantFileSystem):
    """Makes every choice that the documents leave open in an unusual way."""

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        if path == "":
            raise FileNotFoundException(path, "no path")
        try:
            return super().open(path, buffer_size)
        except PermissionError as error:
            return DoomedStream(path, error)
        except FileNotFoundError:
            raise PathIOException(path, "no file") from None


def test_unusual_choices_are_no_violations() -> None:
    _, failed = executed(StreamBinding(Unusual(), "unusual"), "!supports-strict-exceptions")
    assert failed == {"open.missing-class"}


class EveryReadFails(MemoryInputStream):
    """A stream whose reads fail, whatever the name of its file."""

    def read_byte(self) -> int:
        raise PathIOException(self.path, "no")


class SeeksNowhereInSpaces(MemoryInputStream):
    """A stream that does not move if the name of its file has a space."""

    def seek(self, position: int) -> None:
        super().seek(0 if " " in self.path else position)


def test_program_of_a_name_ends_with_the_call_that_fails() -> None:
    binding = StreamBinding(MutantFileSystem(SeeksNowhereInSpaces), "nowhere")
    features = load_profile(binding.default_profile).as_observed({}).features
    steps = (Step("seek", (3,)), Step("read_byte"), Step("get_pos"), Step("close"))
    binding.prepare()
    try:
        executor = Executor(binding, features, 4096)
        (failed,) = _failures([executor.run(Program(5, steps, at=OpenedPath("named", "a b")))])
    finally:
        binding.dispose()
    assert failed.failure.clause == "open.name"
    assert failed.program.steps == steps[:2]


def test_failure_of_all_files_is_not_charged_to_the_name() -> None:
    binding = StreamBinding(MutantFileSystem(EveryReadFails), "failing")
    exercised, failed = executed(binding)
    assert "open.name" not in exercised | failed


def test_directories_that_a_target_cannot_make_are_left_out() -> None:
    """NoScene leaves the program without a verdict."""
    binding = StreamBinding(MemoryFileSystem(), "memory")
    assert binding.opener is not None
    binding.opener.scenes = frozenset({"file"})
    exercised, failed = executed(binding)
    assert failed == set()
    assert "open.unreadable" not in exercised


def test_leak_of_a_write_that_fails_is_not_charged_to_the_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_few(monkeypatch)
    left: list[int] = []

    class RefusesNames(StreamBinding):
        def change(self, path: str, content: bytes | None) -> None:
            if path.endswith(NAMES):
                left.append(os.open(os.devnull, os.O_RDONLY))
                raise TargetError("no such names")
            super().change(path, content)

    refusing = RefusesNames(MemoryFileSystem(), "memory")
    try:
        result = check(refusing, clauses=["close.release", "open.name"])
    finally:
        for descriptor in left:
            os.close(descriptor)
    assert left
    assert result.conforms


def test_remote_targets_get_few_names() -> None:
    operations = frozenset({"read_byte"})
    few, many = (path_programs(operations, remote, fixed=False) for remote in (True, False))
    assert len(few) < len(many)
    assert {p.at.name for p in many if p.at} >= set(NAMES)


def test_target_with_one_file_gets_no_names() -> None:
    made = path_programs(frozenset({"read_byte"}), remote=False, fixed=True)
    assert {p.at.kind for p in made if p.at} >= {"missing", "empty-path"}
    assert all(p.at and p.at.kind != "named" for p in made)


def test_program_with_a_path_is_shown_with_it() -> None:
    program = Program(5, (Step("read_byte"),), at=OpenedPath("named", "a b"))
    assert str(program) == "f = open(a file named 'a b'); f.read_byte()"
    missing = replace(program, at=OpenedPath("missing"), steps=())
    assert str(missing) == "f = open(a missing path)"
