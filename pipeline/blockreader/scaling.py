"""Decide how many readers there should be, and which reader gets which block: pure functions.

The decision depends on the total backlog of all partitions, summed once in an interval; a single
long queue does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.blockreader.readers import Counters

P = TypeVar("P")


@dataclass(frozen=True)
class ScalingPolicy:
    """The bounds within which readers come and go; `interval` is in seconds."""

    min_readers: int = 1
    max_readers: int = 16
    interval: float = 120.0
    #: Whether there is any scaling at all.
    collect_stats: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.min_readers <= self.max_readers:
            raise IllegalArgumentException(
                f"1 <= min_readers <= max_readers, not {self.min_readers} and {self.max_readers}"
            )
        if self.interval < 0:
            raise IllegalArgumentException(f"a negative interval: {self.interval}")


@dataclass(frozen=True)
class ScalingState:
    """The state of scaling: the readers, the time of the next decision, the backlog by partition.

    The first report decides at once.
    """

    partition_count: int = 1
    next_time: float = float("-inf")
    backlog: Mapping[int, int] = field(default_factory=dict)


class Decision(NamedTuple):
    """The state after a report, and whether the partitions have to be defined anew."""

    state: ScalingState
    repartition: bool


def floor_power_of_two(number: int) -> int:
    """Return the largest power of two that is at most `number`, which is at least 1."""
    return 1 << (number.bit_length() - 1)


def required_partitions(total: int, policy: ScalingPolicy) -> int:
    """Return the readers for a backlog of `total` blocks: a power of two, within the bounds."""
    count = floor_power_of_two(total) if total > 0 else policy.min_readers
    if total > policy.max_readers:
        count = policy.max_readers
    return max(policy.min_readers, min(count, policy.max_readers))


def process_stats(
    state: ScalingState, policy: ScalingPolicy, partition: int, queue_size: int | None, now: float
) -> Decision:
    """Take the report of one partition: the blocks in its queue, None if it does not say.

    Once in an interval the totals decide. As many readers as there are blocks waiting are enough,
    so nothing changes then, unless their number is out of bounds. (processStats)
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


@dataclass(frozen=True)
class Partition(Generic[P]):
    """A reader, what it has done, how many blocks wait for it, and which blocks it gets.

    Those whose hash, reduced by `mask`, is one of `keys`.
    """

    reader: P
    counters: Counters = field(default_factory=Counters)
    backlog: int = 0
    keys: frozenset[int] = frozenset()
    mask: int = 0

    def takes(self, block_hash: int) -> bool:
        """Return whether a block with this hash is for this partition."""
        return block_hash & self.mask in self.keys


def define_partitions(
    partitions: Sequence[Partition[P]], required: int, make: Callable[[], P], first: bool = False
) -> list[Partition[P]]:
    """Return the partitions, `required` of them: new ones with readers by `make`, or without some.

    Those with the fewest blocks waiting go first, and the first that stays takes over their
    counters. The `first` definition, before there are any reports, leaves all as it is.
    (definePartitions)
    """
    if required < 1:
        raise IllegalArgumentException(f"there is at least one partition, not {required}")
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
