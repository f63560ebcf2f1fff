"""Programs of many calls, many streams and many files."""

from __future__ import annotations

import pytest

from fscontract.contract.generate.call_counts import REMOTE_STREAMS, STREAMS, programs
from fscontract.contract.program.program import MAX_STREAMS, OPERATIONS, Program

pytestmark = pytest.mark.all_programs
ALL = frozenset(OPERATIONS) - {"change"}


def counts(made: list[Program]) -> list[int]:
    """Return the numbers of calls."""
    return [len(program.steps) for program in made]


@pytest.mark.parametrize(
    "op", ["seek", "read_byte", "read_into", "pread", "read_vectored", "unbuffer", "py_read"]
)
def test_a_stream_gets_hundreds_of_calls_of_a_kind(op: str) -> None:
    made = list(programs(ALL, "quick"))
    assert max(sum(s.op == op for s in p.steps) for p in made if p.streams == 1) >= 270


def test_one_program_has_over_ten_thousand_calls_of_all_kinds() -> None:
    made = list(programs(ALL, "quick"))
    assert max(counts(made)) > 10_000
    assert len({step.op for step in max(made, key=lambda p: len(p.steps)).steps}) > 10


def test_longer_programs_come_after_shorter_ones() -> None:
    """So a run without much time gets to most of them."""
    made = counts(list(programs(ALL, "quick")))
    assert made[-1] == max(made)
    assert max(made[: len(made) // 2]) < 300


def test_operations_that_an_api_lacks_do_not_shorten_programs() -> None:
    some = frozenset({"seek", "read_byte"})
    made = [p for p in programs(some, "quick") if p.length == 5 and p.streams == 1]
    assert {step.op for program in made for step in program.steps} == some
    assert min(counts(made)) > 1_000


def test_many_streams_of_one_file_are_open_at_the_same_time() -> None:
    made = [p for p in programs(ALL, "quick") if p.streams > 1]
    assert {p.streams for p in made} == {STREAMS}
    assert STREAMS <= MAX_STREAMS
    assert {p.streams for p in programs(ALL, "quick", remote=True)} == {1, REMOTE_STREAMS}


def test_many_files_differ_in_length() -> None:
    assert len({p.length for p in programs(ALL, "quick")}) > 100


@pytest.mark.parametrize("op", ["pread", "seek", "py_seek"])
def test_every_offset_of_the_beginning_of_a_file_is_read(op: str) -> None:
    made = [p for p in programs(ALL, "quick") if len({s.args for s in p.steps}) > 1_000]
    (offsets,) = ({s.args[0] for s in p.steps if s.op == op} for p in made if p.steps[0].op == op)
    assert offsets == set(range(1_100))


def test_a_given_file_is_the_only_one() -> None:
    assert {p.length for p in programs(ALL, "quick", only_length=77)} == {77}


def test_calls_that_cost_round_trips_are_few() -> None:
    assert max(counts(list(programs(ALL, "quick", remote=True)))) <= 100
