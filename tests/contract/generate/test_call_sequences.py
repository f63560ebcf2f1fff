"""Tests of the samples of the enumeration."""

from __future__ import annotations

from itertools import pairwise, takewhile

import pytest

from fscontract.contract.generate import call_sequences
from fscontract.contract.program.program import Program, Step

pytestmark = pytest.mark.all_programs

OPERATIONS = frozenset({"get_pos", "read_byte", "read_into", "seek", "pread", "close", "py_read"})
LIMIT = 300


def _sample(seed: int) -> list[Program]:
    return call_sequences.sampled(
        call_sequences.short_programs(OPERATIONS, 64, "quick"), LIMIT, seed
    )


def test_each_operation_follows_each_other_one_in_every_sample() -> None:
    """So a failure that needs no more is found with every seed."""
    everything = call_sequences.short_programs(OPERATIONS, 64, "quick")
    possible = {(a.op, b.op) for p in everything for a, b in pairwise(p.steps) if p.streams == 1}
    in_both = set(_sample(1)) & set(_sample(2))
    assert {(a.op, b.op) for p in in_both for a, b in pairwise(p.steps)} >= possible


def test_each_call_follows_a_seek_and_a_close_in_every_sample() -> None:
    """A stream may forget that it is closed once it is not at its start."""
    closed = [Step("seek", (2,)), Step("close")]
    in_both = set(_sample(1)) & set(_sample(2))
    assert {p.steps[2].op for p in in_both if [*p.steps[:2]] == closed} == OPERATIONS


def test_a_move_back_from_the_end_and_a_read_are_in_every_sample() -> None:
    """A stream that has seen its end may move to a wrong place, and say that it is right."""
    moves = [Step("py_read", (-1,)), Step("seek", (2,)), Step("read_byte")]
    assert moves in [[*p.steps] for p in set(_sample(1)) & set(_sample(2))]


def test_the_position_is_asked_for_after_each_seek_in_every_sample() -> None:
    """A seek may move the stream although it fails, or be followed by an old position."""
    operations = OPERATIONS | {"py_seek", "py_tell"}
    for seed in range(3):
        source = call_sequences.short_programs(operations, 4096, "quick")
        sample = [p.steps for p in call_sequences.sampled(source, LIMIT, seed)]
        for seek in (Step("seek", (-1,)), Step("py_seek", (-1, 1)), Step("py_seek", (0, 9))):
            position = "get_pos" if seek.op == "seek" else "py_tell"
            assert (seek, Step(position)) in sample


def test_the_other_programs_of_a_sample_are_chosen_by_the_seed() -> None:
    assert len(_sample(1)) == LIMIT
    assert _sample(1) == _sample(1)
    assert set(_sample(1)) != set(_sample(2))


def test_shuffled_programs_begin_with_those_of_every_sample() -> None:
    first, second = (
        call_sequences.shuffled(call_sequences.short_programs(OPERATIONS, 64, "quick"), seed)
        for seed in (1, 2)
    )
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=True))
    common = {program for program, _ in pairs}
    assert {p for p in first if len(p.steps) == 1 and p.length == first[0].length} <= common
    assert {p for p in common if len(p.steps) == 1} <= set(_sample(3))
    assert sorted(map(str, first)) == sorted(map(str, second))


def test_all_operations_are_called_by_the_first_programs_of_a_slow_target() -> None:
    programs = call_sequences.shuffled(call_sequences.short_programs(OPERATIONS, 64, "quick"), 1)
    called = {step.op for program in programs[: len(OPERATIONS)] for step in program.steps}
    assert called == OPERATIONS


def test_the_position_is_shown_after_three_calls() -> None:
    """A last call that returns what it should may move the stream wrong."""
    made = call_sequences.short_programs(OPERATIONS, 64, "quick")
    long = [p for p in made if len(p.steps) > 3 and p.streams == 1]
    assert {p.steps[2].op for p in long} == OPERATIONS
    assert {p.steps[-1].op for p in long} == {"get_pos"}
