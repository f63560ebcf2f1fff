"""Calls of OpenDAL's operators, and their spelling."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract import check
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.filesystem_calls import OPENDAL_OPERATIONS
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.result import Verdict
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_stores import RightOperator, RightOperatorFile
from fscontract.implementations.bindings.opendal import OpendalBinding

_DATA = b"abcdef"
_WAITS = pytest.mark.parametrize("waits", ["sync", "async"])


def _run(op: str, *args: Any) -> Outcome:
    binding = OpendalBinding(RightOperator(), "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))


@_WAITS
@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("od_read", None, None), _DATA),
        (("od_read", 2, 3), b"cde"),
        (("od_file", 2, 3), b"cde"),
        (("od_file", 2, None), b"cdef"),
        (("od_seek", 4), 4),
        (("od_stat",), 6),
        (("od_exists", "file"), True),
        (("od_exists", "missing"), False),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any, waits: str) -> None:
    outcome = _run(*call, waits)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


def test_missing_file_is_an_outcome() -> None:
    assert _run("od_missing", "sync").kind is Kind.NOT_FOUND


def test_right_operator_satisfies_every_clause() -> None:
    result = check(OpendalBinding(RightOperator(), "mine"), clauses=["opendal-operator"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_operator_in_memory_misses_one_recommendation() -> None:
    """S9."""
    result = check(resolve_target("opendal+memory:///", {}), clauses=["opendal-operator"])
    found = {c.clause.id: c.outcome for c in result.clauses if c.outcome is not Verdict.PASS}
    assert found == {"operator.read.past-end": Verdict.LAX}


def test_file_that_returns_single_bytes_satisfies_the_clauses() -> None:
    class Short(RightOperatorFile):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size, 1) if size is not None and size > 0 else size)

    binding = OpendalBinding(RightOperator(Short), "mine")
    result = check(binding, clauses=["operator.file"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_every_program_is_spelled_as_a_call_of_the_operator() -> None:
    binding = OpendalBinding(RightOperator(), "mine")
    for program in programs(frozenset(OPENDAL_OPERATIONS)):
        text = binding.spell(resolve_program(program, program.length, 4096))
        assert "operator." in text
        assert "@" not in text
        assert ("await " in text) == (program.steps[0].args[-1] == "async")
