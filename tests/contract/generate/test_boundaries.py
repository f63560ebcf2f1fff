"""Programs around the first four multiples of a boundary."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fscontract.contract.api.openfile_options import READ_POLICY
from fscontract.contract.generate.boundaries import (
    LARGEST,
    PROGRAMS,
    REMOTE,
    policy_programs,
    programs,
    reachable,
)
from fscontract.contract.program.program import OPERATIONS, Program, Step

ALL = frozenset(OPERATIONS) - {"change"}
BOUNDARY = 10_000
POINTS = [k * BOUNDARY + more for k in (1, 2, 3, 4) for more in (-1, 0, 1)]


def positions(made: list[Program]) -> set[int]:
    """Return the positions of seeks."""
    return {s.args[0] for p in made for s in p.steps if s.op in ("seek", "py_seek")}


def numbers(made: list[Program]) -> Iterator[int]:
    """Yield the lengths of reads into arrays."""
    yield from (s.args[2] for p in made for s in p.steps if s.op == "read_into")


def test_there_are_positions_sizes_and_lengths_around_the_first_four_multiples() -> None:
    made = programs(ALL, BOUNDARY, "normal", 0)
    assert set(POINTS) <= positions(made)
    assert set(POINTS) <= {program.length for program in made}
    assert set(POINTS) <= set(numbers(made))


def test_quick_visits_every_multiple() -> None:
    made = programs(ALL, BOUNDARY, "quick", 0)
    assert {p // BOUNDARY for p in positions(made) if p in POINTS} == {0, 1, 2, 3, 4}
    assert len(made) <= PROGRAMS["quick"]


@pytest.mark.parametrize("boundary", [16, 4096, 65536, 1 << 20, 5 << 20])
def test_files_and_their_total_are_bounded(boundary: int) -> None:
    made = programs(ALL, boundary, "quick", 0)
    assert made
    assert max(program.length for program in made) <= LARGEST
    assert sum(len(program.steps) for program in made) < 5_000


def test_files_beyond_the_limit_are_not_written() -> None:
    assert not reachable(LARGEST)
    assert programs(ALL, LARGEST, "quick", 0) == []
    assert list(policy_programs(ALL, LARGEST, ["random"])) == []


def test_a_given_file_must_reach_the_second_multiple() -> None:
    assert programs(ALL, BOUNDARY, "quick", 0, only_length=2 * BOUNDARY) == []
    made = programs(ALL, BOUNDARY, "quick", 0, only_length=2 * BOUNDARY + 5)
    assert {program.length for program in made} == {2 * BOUNDARY + 5}


def test_the_seed_decides_on_the_programs() -> None:
    assert programs(ALL, BOUNDARY, "quick", 1) == programs(ALL, BOUNDARY, "quick", 1)
    assert programs(ALL, BOUNDARY, "quick", 1) != programs(ALL, BOUNDARY, "quick", 2)


def test_calls_that_cost_round_trips_are_few() -> None:
    assert len(programs(ALL, BOUNDARY, "quick", 0, remote=True)) == REMOTE["quick"]


@pytest.mark.parametrize("seed", range(4))
def test_each_kind_of_read_follows_one_past_the_boundary_in_every_run(seed: int) -> None:
    made = programs(ALL, BOUNDARY, "quick", seed, remote=True)
    past = {("read_into", (BOUNDARY + 2, 0, BOUNDARY + 2)), ("py_read", (BOUNDARY + 2,))}
    after = {p.steps[1].op for p in made if (p.steps[0].op, p.steps[0].args) in past}
    assert {"read_byte", "read_into", "py_read", "py_readinto"} <= after


@pytest.mark.parametrize("seed", range(4))
def test_reads_follow_moves_by_the_boundary_itself_in_every_run(seed: int) -> None:
    made = programs(ALL, BOUNDARY, "quick", seed)
    there, back = Step("seek", (2 * BOUNDARY,)), Step("seek", (BOUNDARY,))
    moves = (there, back), (Step("py_seek", (2 * BOUNDARY, 0)), Step("py_seek", (-BOUNDARY, 1)))
    after = {p.steps[2].op for p in made if p.steps[:2] in moves}
    assert {"read_byte", "read_into", "skip", "py_read", "py_readinto", "py_readline"} <= after


def test_calls_skip_from_each_point() -> None:
    made = programs(ALL, BOUNDARY, "normal", 0)
    starts = {p.steps[0].args[0] for p in made if p.steps[1:2] == (Step("skip", (3,)),)}
    assert {BOUNDARY, 2 * BOUNDARY, 4 * BOUNDARY} <= starts


def test_every_policy_reads_behind_the_third_multiple() -> None:
    made = list(policy_programs(ALL, BOUNDARY, ["random", "avro"]))
    used = {call[2] for p in made if p.opening for call in p.opening.calls}
    assert used == {"random", "avro"}
    assert all(p.opening and p.opening.calls[0][1] == READ_POLICY for p in made)
    assert max(positions(made)) > 3 * BOUNDARY


def test_operations_that_an_api_lacks_are_left_out() -> None:
    some = frozenset({"skip", "py_read"})
    made = programs(some, BOUNDARY, "quick", 0)
    assert {step.op for program in made for step in program.steps} == some
