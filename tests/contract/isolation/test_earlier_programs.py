"""The earlier programs that a failure needs: the fewest, found in few attempts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fscontract.contract.isolation.earlier_programs import Programs, needed_before
from fscontract.contract.program.program import Program, Step

FAILS = Program(5, (Step("read_byte"),))
#: Programs that differ, the last of which ran last.
HISTORY = tuple(
    Program(length, (Step("seek", (1,)), Step("unbuffer"), Step("read_byte")))
    for length in range(32)
)


def _is(length: int) -> Callable[[Program], bool]:
    """Return the condition that a program unbuffers a file of this length."""
    return lambda program: program.length == length and Step("unbuffer") in program.steps


class Target:
    """A target whose FAILS fails only after programs that meet each of some conditions."""

    def __init__(self, *conditions: Callable[[Program], bool]) -> None:
        self.conditions = conditions
        self.attempts = 0

    def fails(self, programs: Programs) -> bool:
        """Return whether the last of the programs fails in a new process."""
        self.attempts += 1
        assert programs[-1] == FAILS
        return all(any(map(condition, programs[:-1])) for condition in self.conditions)


def test_a_failure_that_needs_none_is_run_once() -> None:
    target = Target()
    assert needed_before(FAILS, HISTORY, target.fails) == ()
    assert target.attempts == 1


def test_programs_and_calls_that_do_not_matter_are_left_out() -> None:
    found = needed_before(FAILS, HISTORY, Target(_is(29)).fails)
    assert found == (Program(29, (Step("unbuffer"),)),)


def test_several_programs_are_kept_in_their_order() -> None:
    target = Target(_is(30), _is(5))
    found = needed_before(FAILS, HISTORY, target.fails)
    assert found is not None
    assert [program.length for program in found] == [5, 30]
    assert target.attempts <= 42


def test_a_failure_that_none_of_the_programs_brings_about_is_given_up() -> None:
    target = Target(_is(99))
    assert needed_before(FAILS, HISTORY, target.fails) is None
    assert target.attempts <= 8


def test_what_other_failures_need_is_tried_first() -> None:
    target = Target(_is(3))
    other = (Program(3, (Step("unbuffer"),)),)
    assert needed_before(FAILS, HISTORY, target.fails, likely=[other]) == other
    assert target.attempts == 2


@pytest.mark.parametrize("attempts", [3, 5])
def test_without_time_the_programs_found_so_far_remain(attempts: int) -> None:
    target = Target(_is(29))
    found = needed_before(FAILS, HISTORY, target.fails, lambda: target.attempts > attempts)
    assert found is None or target.fails((*found, FAILS))
