"""Scaling decisions: number of readers, and distribution of blocks.

The decisions are pure functions. They depend on the total backlog of all partitions, summed once
per interval; a single long queue does not matter. A Partitioner makes them for one queue.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.blockreader.readers import Counters

P = TypeVar("P")


@dataclass(frozen=True)
class ScalingPolicy:
    """Bounds of the number of readers; `interval` is in seconds."""

    min_readers: int = 1
    max_readers: int = 16
    interval: float = 120.0
    #: Enables scaling.
    collect_stats: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.min_readers <= self.max_readers:
            raise IllegalArgumentException(
                f"invalid bounds: min_readers={self.min_readers}, "
                f"max_readers={self.max_readers}; expected 1 <= min_readers <= max_readers"
            )
        if self.interval < 0:
            raise IllegalArgumentException(
                f"invalid interval: {self.interval}; must not be negative"
            )


@dataclass(frozen=True)
class ScalingState:
    """State of scaling: readers, time of the next decision, backlog by partition.

    The first report triggers a decision.
    """

    partition_count: int = 1
    next_time: float = float("-inf")
    backlog: Mapping[int, int] = field(default_factory=dict)


class Decision(NamedTuple):
    """State after a report, and whether the partitions must be redefined."""

    state: ScalingState
    repartition: bool


def floor_power_of_two(number: int) -> int:
    """Return the largest power of two that is at most `number`, which must be at least 1."""
    return 1 << (number.bit_length() - 1)


def required_partitions(total: int, policy: ScalingPolicy) -> int:
    """Return the number of readers for a backlog of `total` blocks.

    It is a power of two, within the bounds.
    """
    count = floor_power_of_two(total) if total > 0 else policy.min_readers
    if total > policy.max_readers:
        count = policy.max_readers
    return max(policy.min_readers, min(count, policy.max_readers))


def process_stats(
    state: ScalingState, policy: ScalingPolicy, partition: int, queue_size: int | None, now: float
) -> Decision:
    """Process the report of one partition: the blocks in its queue, or None if unknown.

    Once per interval the totals decide. If there are as many readers as waiting blocks, nothing
    changes, unless the number of readers is out of bounds. (processStats)
    """
    if not policy.collect_stats:
        return Decision(state, False)
    backlog = dict(state.backlog)
    if queue_size is not None:
        backlog[partition] = queue_size
    if now < state.next_time:
        return Decision(replace(state, backlog=backlog), False)
    total, count = sum(backlog.values()), state.partition_count
    allowed = policy.min_readers <= count <= policy.max_readers
    required = count if total == count and allowed else required_partitions(total, policy)
    return Decision(ScalingState(required, now + policy.interval, {}), required != count)


class Partitioner(Protocol):
    """Decides how many partitions read the blocks of one queue."""

    def partitions(self, backlog: int) -> int:
        """Return the number of partitions, at least 1, for this number of waiting blocks.

        Called before each distribution of blocks, so a partitioner can keep a history.
        """


class ScalingPartitioner:
    """Partitioner that follows the backlog: one decision per interval, within the policy's bounds.

    It starts with the policy's minimum, and stays there without `collect_stats`.
    """

    def __init__(self, policy: ScalingPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self.policy = policy
        self._clock = clock
        self._state = ScalingState(partition_count=required_partitions(0, policy))

    def partitions(self, backlog: int) -> int:
        """Return the number of partitions for this number of waiting blocks."""
        decision = process_stats(self._state, self.policy, 0, backlog, self._clock())
        self._state = decision.state
        return self._state.partition_count


@dataclass(frozen=True)
class Partition(Generic[P]):
    """A reader, its counters, its backlog in blocks, and the hashes of its blocks.

    It takes blocks whose hash, reduced by `mask`, is in `keys`.
    """

    reader: P
    counters: Counters = field(default_factory=Counters)
    backlog: int = 0
    keys: frozenset[int] = frozenset()
    mask: int = 0

    def takes(self, block_hash: int) -> bool:
        """Return True if a block with this hash belongs to this partition."""
        return block_hash & self.mask in self.keys


def define_partitions(
    partitions: Sequence[Partition[P]], required: int, make: Callable[[], P], first: bool = False
) -> list[Partition[P]]:
    """Return `required` partitions: add new ones with readers by `make`, or remove some.

    Those with the fewest waiting blocks are removed first, and the first remaining one takes over
    their counters. The `first` definition, before any reports, changes nothing. (definePartitions)
    """
    if required < 1:
        raise IllegalArgumentException(
            f"invalid number of partitions: {required}; must be at least 1"
        )
    if first:
        return list(partitions)
    surplus = max(0, len(partitions) - required)
    idle = sorted(range(len(partitions)), key=lambda i: partitions[i].backlog)[:surplus]
    remaining = [p for i, p in enumerate(partitions) if i not in idle]
    readers = [(p.reader, replace(p.counters), p.backlog) for p in remaining]
    for i in idle:
        readers[0][1].add(partitions[i].counters)
    readers += [(make(), Counters(), 0) for _ in range(required - len(readers))]
    mask = (1 << (required - 1).bit_length()) - 1
    return [
        Partition(reader, counters, backlog, _keys(index, required, mask), mask)
        for index, (reader, counters, backlog) in enumerate(readers)
    ]


def _keys(index: int, count: int, mask: int) -> frozenset[int]:
    """Return all hashes up to `mask` that are `index` modulo `count`."""
    return frozenset(range(index, mask + 1, count))
