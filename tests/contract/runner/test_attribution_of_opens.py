"""A failure to open is blamed on the call that is at fault, whatever lies at the path."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream
from fscontract.contract.api.openfile_options import LENGTH
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.executor import Executor
from fscontract.contract.spec.clauses import clauses
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions
from tests.contract.runner.conftest import FEATURES


class Strict(Builder[FSDataInputStream]):
    """Takes neither doubles nor optional keys it does not know, and no missing status."""

    def opt_double(self, key: str, value: float) -> Strict:
        """Not there."""
        raise NotImplementedError("opt_double")

    def with_file_status(self, status: FileStatus | None) -> Strict:
        """A status is wanted."""
        if status is None:
            raise TypeError("no status")
        super().with_file_status(status)
        return self

    def build(self) -> Future[FSDataInputStream]:
        """Every key must be known."""
        if "no.key" in self._values:
            raise ValueError("unknown option")
        return super().build()


class Files(MemoryFileSystem):
    """Opened by strict builders; a missing file is an empty one, and so is all that is declared."""

    def open_file(self, path: str) -> Strict:
        """A strict builder."""
        return Strict(path, self._open)

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        try:
            right = super()._open(path, options)
        except FileNotFoundError:
            return MemoryInputStream(b"", path)
        return right if options.length is None else MemoryInputStream(b"", path)


@pytest.fixture
def findings() -> Iterator[ShrinkingCounterexamples]:
    """Return the findings for these files."""
    binding = StreamBinding(Files(), "test")
    binding.prepare()
    yield ShrinkingCounterexamples(Executor(binding, FEATURES, 64), frozenset(clauses()))
    binding.dispose()


def named(
    findings: ShrinkingCounterexamples, scene: str, *calls: tuple[Any, ...], steps: str = ""
) -> str | None:
    """The clause that is named for an opening and these reads."""
    reads = tuple(Step(*step) for step in READS[steps])
    program = Program(5, reads, opening=Opening(scene, calls))
    found = findings.executor.run(program).violation
    assert found is not None
    return findings.violation(found)


READS: dict[str, list[tuple[Any, ...]]] = {
    "": [],
    "byte": [("read_byte",)],
    "vectored": [("read_vectored", (((0, 2),), "heap", "absent"))],
}


@pytest.mark.parametrize("scene", ["file", "missing", "directory", "unreadable"])
def test_calls_that_fail_on_a_file_too_are_at_fault_and_not_what_lies_at_the_path(
    findings: ShrinkingCounterexamples, scene: str
) -> None:
    assert named(findings, scene, ("opt", "no.key", "1")) == "open.opt-unknown"


@pytest.mark.parametrize("key", [LENGTH, "no.key", None], ids=str)
def test_a_method_that_is_not_there_is_at_fault_and_not_its_key(
    findings: ShrinkingCounterexamples, key: str | None
) -> None:
    assert named(findings, "file", ("opt_double", key, 7.5)) == "open.option-methods"


def test_a_read_beyond_the_end_of_a_missing_file_did_not_fail_for_want_of_one(
    findings: ShrinkingCounterexamples,
) -> None:
    """It raises EOFException, as if it came too late; a single byte shows that nothing fails."""
    assert named(findings, "missing", steps="vectored") == "open.read-fails"


@pytest.mark.parametrize("kind", ["parents", "scheme", "subclass", "located", "own"])
def test_the_length_is_at_fault_and_not_the_kind_of_status_that_tells_it(
    findings: ShrinkingCounterexamples, kind: str
) -> None:
    status = ("with_file_status", kind, 4)
    assert named(findings, "file", status, steps="byte") == "open.length-minimum"


class OpensAfterFirstByte(MemoryFileSystem):
    """Builders open streams after the first byte, with all bytes of the file."""

    def open(self, path: str, buffer_size: int | None = None) -> MemoryInputStream:
        """Open a stream at the first byte."""
        return super()._open(path, OpenOptions())

    def open_file(self, path: str) -> Builder[FSDataInputStream]:
        """Return a builder of such streams."""
        return Builder(path, self._after_first_byte)

    def _after_first_byte(self, path: str, options: OpenOptions) -> MemoryInputStream:
        stream = super()._open(path, OpenOptions())
        stream._pos = min(1, stream._size)
        return stream


def test_options_that_are_set_are_not_charged_with_what_a_builder_without_them_does() -> None:
    binding = StreamBinding(OpensAfterFirstByte(), "test")
    binding.prepare()
    executor = Executor(binding, FEATURES, 64)
    calls = (("must_long", LENGTH, 0), ("with_file_status", "own", None))
    reads = (Step("read_byte"), Step("pread", (0, 1, 0, 1)))
    found = executor.run(Program(1, reads, opening=Opening("file", calls))).violation
    findings = ShrinkingCounterexamples(executor, frozenset(clauses()))
    assert found is not None
    assert findings.violation(found) == "open.build-future"
