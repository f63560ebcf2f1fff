"""How many partitions a micro-batch has: the decision of the block reader's auto-scaling."""

from __future__ import annotations

import time
from collections.abc import Callable

from fscontract.pipeline.blockreader.scaling import (
    ScalingPolicy,
    ScalingState,
    process_stats,
    required_partitions,
)
from fscontract.pipeline.datasource.request import Request


class PartitionScaling:
    """Decides once in an interval, by the blocks that wait; never outside of its bounds.

    All that waits is one queue here, that of the stream. Spark itself asks for executors, by the
    tasks that wait, if `spark.dynamicAllocation.enabled`.
    """

    def __init__(self, policy: ScalingPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self.policy = policy
        self._clock = clock
        count = required_partitions(0, policy)
        self._state = ScalingState(partition_count=count)

    @classmethod
    def of(cls, request: Request) -> PartitionScaling:
        """That of the options."""
        values = request.values
        low, high = values["minPartitions"], values["maxPartitions"]
        return cls(ScalingPolicy(low, high, values["scalingInterval"]))

    def partitions(self, backlog: int) -> int:
        """How many partitions, now that so many blocks wait."""
        now = self._clock()
        self._state = process_stats(self._state, self.policy, 0, backlog, now).state
        return self._state.partition_count
