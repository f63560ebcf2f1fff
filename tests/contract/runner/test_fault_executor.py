"""Tests of programs whose server misbehaves: right bytes or any exception, and nothing else."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.program import Program, Step
from fscontract.contract.program.server_faults import S3, kinds_at
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.execution import Execution
from fscontract.contract.runner.executor import Executor
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.python_file import PythonFileBinding

READ = Step("py_read", (5,))


class Struck(io.BytesIO):
    """A file whose reads are requests; `answer` is what a struck one returns or raises."""

    injector = PlanInjector(kinds_at(S3))
    answer: Any = b""

    def read(self, size: int | None = -1) -> bytes:
        turn = self.injector.request("get")
        if turn.fault is None:
            return super().read(size)
        turn.took_effect()
        if isinstance(self.answer, Exception):
            raise self.answer
        assert isinstance(self.answer, bytes)
        return self.answer


class RaisesUnstruck(Struck):
    """A file whose reads raise without a fault."""

    def read(self, size: int | None = -1) -> bytes:
        before = self.injector.fired
        data = super().read(size)
        if self.injector.fired == before:
            raise KeyError(size)
        return data


@contextmanager
def executing(answer: Any, kind: type[Struck] = Struck) -> Iterator[Executor]:
    """Yield an executor on files of which a struck read gives the answer."""

    def opener(path: str) -> Any:
        with open(path, "rb") as file:
            opened = kind(file.read())
        opened.answer = answer(opened.getvalue()) if callable(answer) else answer
        return opened

    binding = PythonFileBinding(opener)
    binding.injector = Struck.injector
    binding.prepare()
    try:
        yield Executor(binding, load_profile("python-file").features, 64)
    finally:
        binding.dispose()


def run(answer: Any, kind: str, *steps: Step, length: int = 20) -> tuple[Execution, Executor]:
    """Return the execution of a program whose first read gets the answer."""
    with executing(answer) as executor:
        plan = FaultPlan((Fault(kind),))
        return executor.run(Program(length, steps, faults=plan)), executor


def test_wrong_bytes_violate_the_clause_of_the_kind() -> None:
    execution, executor = run(b"wrong", "ignore-ranges", READ)
    assert execution.violation is not None
    assert execution.violation.failure.clause == "server.ignore-ranges"
    assert executor.exercised["server.ignore-ranges"] == 1


def test_wrong_bytes_violate_it_also_if_the_read_raises_without_a_fault() -> None:
    program = Program(20, (READ,), faults=FaultPlan((Fault("ignore-ranges"),)))
    with executing(b"wrong", RaisesUnstruck) as executor:
        found = executor.run(program).violation
        assert found is not None
        assert (
            ShrinkingCounterexamples(executor, frozenset(clauses())).violation(found)
            == "server.ignore-ranges"
        )


def test_early_end_violates_the_clause_of_the_kind() -> None:
    execution, _ = run(b"", "cut-bodies", READ)
    assert execution.violation is not None
    assert execution.violation.failure.clause == "server.cut-bodies"


def test_wrong_bytes_miss_a_should_where_no_text_obliges_the_client() -> None:
    execution, _ = run(b"wrong", "ignore-if-match", READ)
    assert execution.violation is None
    assert [m.failure.clause for m in execution.misses] == ["server.ignore-if-match"]


@pytest.mark.parametrize("error", [OSError("x"), KeyError("x"), ConnectionError("x")], ids=repr)
def test_every_exception_is_right_and_the_calls_after_it_are_judged(error: Exception) -> None:
    execution, _ = run(error, "redirect", READ, Step("py_tell"), READ)
    assert execution.violation is None
    assert len(execution.trace) == 3


def test_right_bytes_are_right() -> None:
    execution, _ = run(lambda data: data[:5], "gzip-bodies", READ)
    assert execution.violation is None


def test_file_may_end_at_the_length_that_the_server_understates() -> None:
    execution, _ = run(lambda data: data[: len(data) // 2], "understate-length", Step("py_readall"))
    assert execution.violation is None
    whole = Step("py_read", (-1,))
    assert run(lambda data: data[:10], "understate-length", whole)[0].violation is None
    assert run(lambda data: data[:10], "chunk-bodies", whole)[0].violation is not None


def test_without_a_struck_request_nothing_is_charged() -> None:
    execution, executor = run(b"wrong", "refuse-head", READ)
    assert execution.violation is None
    assert executor.exercised["server.refuse-head"] == 0
