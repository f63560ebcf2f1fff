"""Programs that are run first on slow targets."""

from __future__ import annotations

import pytest

from fscontract.contract.generate import first_programs
from fscontract.contract.program.program import OPERATIONS
from fscontract.implementations.bindings.file_operations import FILE_OPERATIONS, PYTHON_OPERATIONS


@pytest.mark.parametrize("only_length", [None, 7])
@pytest.mark.parametrize(
    "operations",
    [FILE_OPERATIONS | PYTHON_OPERATIONS, FILE_OPERATIONS, frozenset(OPERATIONS), frozenset()],
)
def test_programs_are_short_and_expressible(
    operations: frozenset[str], only_length: int | None
) -> None:
    programs = first_programs.programs(operations, only_length)
    assert bool(programs) is bool(operations)
    for program in programs:
        assert {step.op for step in program.steps} <= operations
        assert len(program.steps) <= 7
        assert only_length in (None, program.length)


def test_the_calls_of_one_api_are_made() -> None:
    """The same methods of a target are behind those of the other."""
    of_python = first_programs.programs(FILE_OPERATIONS | PYTHON_OPERATIONS)
    assert all(step.op.startswith("py_") for program in of_python for step in program.steps)
    without = first_programs.programs(FILE_OPERATIONS)
    assert {step.op for program in without for step in program.steps} == FILE_OPERATIONS
