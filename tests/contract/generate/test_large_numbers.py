"""Programs with numbers at the limits of integers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fscontract.contract.generate.large_numbers import LENGTHS, positions, programs
from fscontract.contract.program.program import OPERATIONS, Program

ALL = frozenset(OPERATIONS) - {"change"}
#: Numbers that a Java method takes as an int.
_INT_ARGUMENTS = {"read_into": (1, 2), "pread": (2, 3), "read_fully": (2, 3)}


def arguments(made: list[Program], op: str) -> Iterator[tuple[int, ...]]:
    """Yield the arguments of an operation."""
    yield from (step.args for program in made for step in program.steps if step.op == op)


@pytest.mark.parametrize("bits", [15, 16, 24, 31, 32])
@pytest.mark.parametrize("op", ["seek", "skip", "pread", "read_fully", "pread_buffer", "py_seek"])
def test_positions_are_tried_around_the_limit_of_an_integer(bits: int, op: str) -> None:
    tried = {args[0] for args in arguments(programs(ALL, "quick"), op)}
    assert {2**bits - 1, 2**bits, 2**bits + 2} <= tried


def test_a_masked_position_is_inside_the_smallest_file() -> None:
    """Otherwise a position of too few bits would be behind its end, too."""
    assert any(0 < n % 2**32 < LENGTHS[0] for n in positions() if n > 2**32)
    assert any(0 < n % 2**32 < LENGTHS[0] for n in positions() if n < 0)


def test_the_least_and_the_greatest_position_of_64_bits_are_tried() -> None:
    assert {-(2**63), 2**63 - 1} <= set(positions())


def test_numbers_of_streams_fit_the_types_of_java() -> None:
    """Another type would be another method."""
    made = programs(ALL, "quick")
    assert all(-(2**63) <= n < 2**63 for n in positions())
    for op, places in _INT_ARGUMENTS.items():
        for args in arguments(made, op):
            assert all(-(2**31) <= args[place] < 2**31 for place in places)


def test_only_files_of_python_are_asked_for_more_than_64_bits() -> None:
    made = programs(ALL, "quick")
    assert max(args[0] for args in arguments(made, "py_seek")) > 2**64
    assert max(args[0] for args in arguments(made, "seek")) < 2**63


def test_buffers_that_exceed_the_file_are_bounded() -> None:
    sizes = [args[0] for args in arguments(programs(ALL, "quick"), "read_into")]
    assert 2**20 in sizes
    assert max(sizes) <= 2**20


def test_options_with_large_numbers_are_tried_where_there_are_options() -> None:
    assert not any(program.opening for program in programs(ALL, "quick"))
    assert any(program.opening for program in programs(ALL, "quick", options=True))


def test_the_order_is_the_same_each_time_and_no_program_comes_twice() -> None:
    made = programs(ALL, "quick", options=True)
    assert made == programs(ALL, "quick", options=True)
    assert len(made) == len(set(made))


def test_a_given_file_is_the_only_one() -> None:
    assert {p.length for p in programs(ALL, "quick", only_length=33)} == {33}


def test_calls_that_cost_round_trips_are_few() -> None:
    assert len(programs(ALL, "quick", remote=True)) < len(programs(ALL, "quick")) / 2
