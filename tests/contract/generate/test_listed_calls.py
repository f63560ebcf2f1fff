"""Programs from lists of calls."""

from __future__ import annotations

from fscontract.contract.generate.listed_calls import expressible, program_of, repeated
from fscontract.contract.program.program import Program, Step

_SEEK, _READ = Step("seek", (1,)), Step("read_byte")


def test_a_program_makes_the_listed_calls_in_their_order() -> None:
    assert program_of(5, [("seek", (1,)), ("read_byte", ())]) == Program(5, (_SEEK, _READ))


def test_repeated_calls_end_at_the_count_even_within_a_cycle() -> None:
    program = repeated(5, [("seek", (1,)), ("read_byte", ())], 3)
    assert program.steps == (_SEEK, _READ, _SEEK)


def test_operations_that_an_api_lacks_are_left_out() -> None:
    whole, unreadable = Program(5, (_SEEK, _READ)), Program(5, (_READ,))
    assert list(expressible([whole, unreadable], frozenset({"seek"}))) == [Program(5, (_SEEK,))]


def test_programs_that_become_equal_are_yielded_once() -> None:
    same = [Program(5, (_SEEK, _READ)), Program(5, (_SEEK,))]
    assert len(list(expressible(same, frozenset({"seek"})))) == 1
