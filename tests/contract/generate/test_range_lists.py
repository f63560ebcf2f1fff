"""Tests of programs of long and odd lists of ranges."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fscontract.contract.generate.range_lists import programs
from fscontract.contract.program.program import OPERATIONS

pytestmark = pytest.mark.all_programs

EVERY = frozenset(OPERATIONS)


def lists(**options: object) -> list[list[tuple[int, int]]]:
    """Return the lists without null ranges of all programs at quick."""
    made = programs(EVERY, "quick", 0, **options)  # type: ignore[arg-type]
    steps = [s for p in made for s in p.steps if s.op == "read_vectored"]
    return [list(s.args[0]) for s in steps if None not in s.args[0]]


def test_lists_have_up_to_200_ranges_in_every_order() -> None:
    """In order, reversed and shuffled."""
    long = [ranges for ranges in lists() if len(ranges) == 200]
    assert any(ranges == sorted(ranges) for ranges in long)
    assert any(ranges == sorted(ranges, reverse=True) for ranges in long)
    assert any(ranges not in (sorted(ranges), sorted(ranges, reverse=True)) for ranges in long)


def test_gaps_go_over_the_distances_of_the_target() -> None:
    """The distance that the target states is tried with a byte more and a byte less."""
    gaps = {
        second[0] - sum(first)
        for ranges in lists(distances=[3000])
        for first, second in pairwise(sorted(ranges))
    }
    assert {0, 1, 2, 2999, 3000, 3001, 4095, 4096, 4097} <= gaps


def test_a_range_past_the_end_is_everywhere_in_a_list() -> None:
    """First, last, and between two others."""
    late = [
        [sum(r) > 40 for r in ranges]
        for ranges in lists()
        if len(ranges) == 4 and ranges[-1][0] < 90
    ]
    assert {tuple(one) for one in late if sum(one) == 1} >= {
        tuple(i == at for i in range(4)) for at in range(4)
    }


def test_a_good_list_follows_each_refused_one() -> None:
    """On the same stream, and twice."""
    refused = [
        p
        for p in programs(EVERY, "quick", 0)
        if any(s.args and None in (s.args[0] or ()) for s in p.steps if s.op == "read_vectored")
    ]
    assert refused
    for program in refused:
        ranges = [s.args[0] for s in program.steps if s.op == "read_vectored"]
        assert ranges[1] == ranges[2]
        assert None not in ranges[1]


def test_the_seed_decides_the_programs() -> None:
    """The same seed gives the same ones."""
    assert programs(EVERY, "quick", 3) == programs(EVERY, "quick", 3)
    assert programs(EVERY, "quick", 3) != programs(EVERY, "quick", 4)


def test_a_given_file_is_not_read_as_another_one() -> None:
    """All programs are of the only length."""
    made = programs(EVERY, "quick", 0, only_length=9_000)
    assert made
    assert {p.length for p in made} == {9_000}
    assert programs(EVERY, "quick", 0, only_length=5) == []


def test_targets_without_vectored_reads_get_no_programs() -> None:
    """The calls around them alone show nothing."""
    assert programs(EVERY - {"read_vectored"}, "quick", 0) == []
