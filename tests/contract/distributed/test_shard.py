"""Shards together are the whole run, and each program is in one of them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from fscontract.contract.distributed.shard import Shard


@pytest.mark.parametrize("of", [1, 2, 3, 7, 40])
def test_each_program_is_in_exactly_one_shard(of: int) -> None:
    for block, total in product((1, 5, 32), (0, 1, 31, 1000)):
        shards = [list(Shard(n, of).deal("seeded", 7, range(total), block)) for n in range(of)]
        assert sorted(item for shard in shards for item in shard) == list(range(total))


@pytest.mark.parametrize("of", [1, 3, 7])
def test_shard_knows_the_phase_and_number_of_each_program(of: int) -> None:
    seen = []
    for number in range(of):
        part = Shard(number, of)
        for phase in ("vectors", "exhaustive"):
            part.begin()
            seen += [(part.order, item) for item in part.deal(phase, 0, range(100), 8)]
    assert sorted(seen) == [((p, n + 1), n) for p in (0, 1) for n in range(100)]


def test_shards_differ_by_one_block_at_most() -> None:
    sizes = [len([*Shard(n, 7).deal("x", 3, range(36_437), 32)]) for n in range(7)]
    assert max(sizes) - min(sizes) <= 32


def test_first_programs_of_phases_are_in_different_shards() -> None:
    names = [f"phase {n}" for n in range(40)]
    first = Counter(n for name in names for n in range(4) if [*Shard(n, 4).deal(name, 0, [1])])
    assert set(first) == {0, 1, 2, 3}


def test_each_check_is_in_exactly_one_shard() -> None:
    parts = [[unit for unit in range(9) if Shard(n, 4).has(unit)] for n in range(4)]
    assert sorted(unit for part in parts for unit in part) == list(range(9))


def test_shard_of_the_search_has_no_programs_and_checks() -> None:
    """It comes after all parts, when it is known what fails."""
    part = Shard(seen=frozenset())
    assert [*part.deal("seeded", 0, [1, 2])] == []
    assert not part.has(0)
