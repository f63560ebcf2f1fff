"""Tests that the number of readers stays within bounds for any reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.blockreader.readers import Counters
from fscontract.pipeline.blockreader.scaling import (
    Partition,
    ScalingPartitioner,
    ScalingPolicy,
    ScalingState,
    define_partitions,
    process_stats,
    required_partitions,
)

BOUNDS = st.tuples(st.integers(1, 20), st.integers(0, 20)).map(lambda b: (b[0], b[0] + b[1]))
REPORTS = st.lists(
    st.tuples(st.integers(0, 9), st.none() | st.integers(0, 200), st.floats(0, 50)), max_size=30
)


@given(BOUNDS, st.integers(0, 10**6))
def test_required_partitions_are_within_bounds(bounds: tuple[int, int], total: int) -> None:
    """For any backlog."""
    assert bounds[0] <= required_partitions(total, ScalingPolicy(*bounds)) <= bounds[1]


@given(BOUNDS, REPORTS)
def test_a_decision_is_within_bounds(
    bounds: tuple[int, int], reports: list[tuple[int, int | None, float]]
) -> None:
    """After any reports, from any initial count."""
    policy, state, now = ScalingPolicy(*bounds, interval=10), ScalingState(50), 0.0
    for partition, size, pause in reports:
        now += pause
        decision = process_stats(state, policy, partition, size, now)
        assert decision.repartition == (decision.state.partition_count != state.partition_count)
        state = decision.state
        assert bounds[0] <= state.partition_count <= bounds[1]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**40))
def test_counters_add_up_and_each_block_has_one_partition(old: int, new: int, block: int) -> None:
    """For any change of the number of partitions."""
    partitions = [Partition(f"r{i}", Counters(blocks=i, bytes=10 * i)) for i in range(old)]
    defined = define_partitions(partitions, new, lambda: "new")
    assert len(defined) == new
    assert sum(p.counters.blocks for p in defined) == sum(range(old))
    assert [p.takes(block) for p in defined].count(True) == 1


@pytest.mark.parametrize("bounds", [(0, 3), (4, 3), (-1, -1)])
def test_invalid_bounds_are_rejected(bounds: tuple[int, int]) -> None:
    """There is at least one reader."""
    with pytest.raises(IllegalArgumentException):
        ScalingPolicy(*bounds)


def test_partitioner_decides_once_per_interval_within_its_bounds() -> None:
    """For any backlog; between two decisions nothing changes."""
    now = [0.0]
    partitioner = ScalingPartitioner(ScalingPolicy(3, 12, 10.0), lambda: now[0])
    decided = []
    for backlog in [0, 1, 3, 5, 12, 13, 100, 7]:
        decided.append(partitioner.partitions(backlog))
        assert partitioner.partitions(1000) == decided[-1]
        now[0] += 10.0
    assert decided == [3, 3, 3, 4, 8, 12, 12, 4]


def test_partitioner_without_stats_stays_at_the_minimum() -> None:
    policy = ScalingPolicy(3, 12, 0.0, collect_stats=False)
    partitioner = ScalingPartitioner(policy, lambda: 0.0)
    assert {partitioner.partitions(backlog) for backlog in (0, 5, 1000)} == {3}
