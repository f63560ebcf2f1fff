"""Parts of a run are the whole run, each program in one of them."""

from __future__ import annotations

from collections import Counter

import pytest

from fscontract.contract.distributed.shard import Shard


@pytest.mark.parametrize("of", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("block", [1, 5, 32])
@pytest.mark.parametrize("total", [0, 1, 31, 1000])
def test_each_program_is_in_one_part(of: int, block: int, total: int) -> None:
    """Also where there are more parts than blocks."""
    parts = [list(Shard(n, of).deal("seeded", 7, range(total), block)) for n in range(of)]
    assert sorted(item for part in parts for item in part) == list(range(total))


@pytest.mark.parametrize("of", [1, 3, 7])
def test_a_part_knows_where_in_the_run_it_is(of: int) -> None:
    """By the number of the phase, and that of the program in it, from 1."""
    seen = []
    for number in range(of):
        part = Shard(number, of)
        for phase in ("vectors", "exhaustive"):
            part.begin()
            seen += [(part.order, item) for item in part.deal(phase, 0, range(100), 8)]
    assert sorted(seen) == [((p, n + 1), n) for p in (0, 1) for n in range(100)]


def test_parts_have_about_as_much_as_each_other() -> None:
    """No part has two blocks more than another."""
    sizes = [len([*Shard(n, 7).deal("x", 3, range(36_437), 32)]) for n in range(7)]
    assert max(sizes) - min(sizes) <= 32


def test_phases_do_not_all_begin_with_the_first_part() -> None:
    """Else it would have all of the short ones."""
    names = [f"phase {n}" for n in range(40)]
    first = Counter(n for name in names for n in range(4) if [*Shard(n, 4).deal(name, 0, [1])])
    assert set(first) == {0, 1, 2, 3}


def test_checks_are_dealt_one_by_one() -> None:
    """Each to one part."""
    parts = [[unit for unit in range(9) if Shard(n, 4).has(unit)] for n in range(4)]
    assert sorted(unit for part in parts for unit in part) == list(range(9))


def test_the_search_has_nothing_else() -> None:
    """It comes after all parts, when it is known what fails."""
    part = Shard(seen=frozenset())
    assert [*part.deal("seeded", 0, [1, 2])] == []
    assert not part.has(0)
