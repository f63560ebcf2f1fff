"""A program that takes too long fails a run only if it does so again."""

from __future__ import annotations

from itertools import count

import pytest

from fscontract.contract.suite.ending import Journal
from fscontract.contract.suite.hangs import MOST_LATE
from fscontract.contract.suite.result import ClauseResult, RunResult, Verdict
from fscontract.contract.suite.runner import check
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.suite.conftest import Clock, binding_of, settings_for

_TIMEOUT = 4.0


class Numbers(Journal):
    """Keeps the number of the last program of each phase."""

    def __init__(self) -> None:
        self.last = [0]
        super().__init__()

    def begin(self, item: object) -> None:
        """A phase begins if nothing is about to be run."""
        if item is None:
            self.last.append(0)

    @property
    def done(self) -> int:
        """The number of the program that was run last."""
        return self.last[-1]

    @done.setter
    def done(self, number: int) -> None:
        self.last[-1] = max(number, self.last[-1])


def _late(clock: Clock, *streams: int, beyond: int = -1) -> type[MemoryInputStream]:
    """Streams of which these, among those that are to skip a byte, never return from it; all skip
    `beyond` bytes one too far."""
    number = count(1)

    class Late(MemoryInputStream):
        late: bool | None = None

        def skip(self, count: int) -> int:
            if count == 1 and self.late is None:
                self.late = next(number) in streams
            if count == 1 and self.late:
                clock.wait_for_ever()
            skipped = super().skip(count)
            return skipped + 1 if count == beyond else skipped

    return Late


def _checked(stream: type[MemoryInputStream]) -> RunResult:
    return check(binding_of(stream), settings_for("skip.count", "skip.progress", timeout=_TIMEOUT))


def _hung(result: RunResult) -> list[ClauseResult]:
    return [c for c in result.clauses if c.outcome is Verdict.HANG]


def test_a_program_that_is_late_once_is_run_again_and_told_of(clock: Clock) -> None:
    result = _checked(_late(clock, 1))
    assert result.conforms
    (told,) = result.warnings
    assert told == (
        f"late once, in time when run again: skip: late, over {_TIMEOUT:g} s, in "
        "f = open(0 bytes); f.skip(1)"
    )


def test_a_program_that_is_late_twice_hangs(clock: Clock) -> None:
    result = _checked(_late(clock, 1, 2))
    assert [c.clause.id for c in _hung(result)] == ["skip.progress"]
    assert result.warnings == ()
    assert result.counts["hangs"] == 1


def test_what_is_late_too_often_hangs(clock: Clock) -> None:
    """A call that is lost now and then is a fault as well."""
    result = _checked(_late(clock, *range(1, 200, 20)))
    assert [c.clause.id for c in _hung(result)] == ["skip.progress"]
    assert len(result.warnings) == MOST_LATE


def test_the_programs_after_a_late_one_are_run(clock: Clock) -> None:
    result = _checked(_late(clock, 1, beyond=5))
    assert {c.clause.id for c in result.clauses if c.outcome is Verdict.LAX} == {"skip.count"}


def test_a_program_that_is_run_again_is_counted_once(clock: Clock) -> None:
    """By these numbers a run that follows a crash knows where to end."""
    settings = settings_for("skip.count", timeout=_TIMEOUT)
    seen = []
    for stream in (_late(clock), _late(clock, 1, 21, 41)):
        numbers = Numbers()
        assert check(binding_of(stream), settings, journal=numbers).conforms
        seen.append(numbers.last)
    assert seen[0] == seen[1]


def _accepting(clock: Clock, late: int) -> type[MemoryInputStream]:
    """Streams that accept seeks to before the start; that of this number never returns."""
    number = count(1)

    class Accepting(MemoryInputStream):
        def seek(self, position: int) -> None:
            if position < 0 and next(number) == late:
                clock.wait_for_ever()
            super().seek(max(position, 0))

    return Accepting


@pytest.mark.parametrize("late", [2, 3, 5])
def test_what_is_late_while_it_is_made_small_is_found_and_counted_once(
    clock: Clock, late: int
) -> None:
    settings = settings_for("seek.negative", timeout=_TIMEOUT)
    seen = []
    for number in (0, late):
        numbers = Numbers()
        result = check(binding_of(_accepting(clock, number)), settings, journal=numbers)
        (found,) = result.clauses
        assert found.outcome is Verdict.FAIL
        assert len(result.warnings) == (number > 0)
        seen.append(numbers.last)
    assert seen[0] == seen[1]
