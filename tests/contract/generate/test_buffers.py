"""Programs of buffers have every kind of buffer, and run on a file of any length."""

from __future__ import annotations

from fscontract.contract.generate import buffers
from fscontract.contract.program.program import FORMATS
from fscontract.implementations.bindings.file_operations import PYTHON_OPERATIONS


def test_every_kind_of_buffer_is_filled() -> None:
    made = buffers.programs(PYTHON_OPERATIONS)
    used = {step.args[0] for p in made for step in p.steps if step.op == "py_readinto"}
    assert used == set(FORMATS)


def test_file_is_closed_twice_after_it_refused_a_buffer() -> None:
    made = [p.steps for p in buffers.programs(PYTHON_OPERATIONS | {"close"})]
    refused = [steps for steps in made if steps[0].args[:1] == ("readonly",)]
    assert ["close", "close"] in [[step.op for step in steps[1:]] for steps in refused]


def test_read1_leaves_out_the_size() -> None:
    made = buffers.programs(PYTHON_OPERATIONS)
    assert {s.op for p in made for s in p.steps if s.args == (None,)} == {"py_read1"}


def test_a_block_that_an_exception_ends_begins_before_and_after_a_read() -> None:
    made = [[s.op for s in p.steps] for p in buffers.programs(PYTHON_OPERATIONS | {"close"})]
    blocks = [ops[: ops.index("py_with_error")] for ops in made if "py_with_error" in ops]
    assert blocks[:3] == [[], ["py_read"], ["close"]]


def test_target_with_one_file_has_programs_of_its_length() -> None:
    made = buffers.programs(PYTHON_OPERATIONS, only_length=7)
    assert {program.length for program in made} == {7}


def test_remote_target_has_fewer_programs() -> None:
    assert 0 < len(buffers.programs(PYTHON_OPERATIONS, True)) < 40


def test_api_without_readinto_has_none() -> None:
    assert buffers.programs(frozenset({"read_byte", "py_read", "py_tell"})) == []
