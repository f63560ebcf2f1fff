"""The functions of scaling as methods, which mutants of scaling change one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fscontract.pipeline.blockreader import scaling
from fscontract.pipeline.blockreader.scaling import (
    Decision,
    Partition,
    ScalingState,
)

Partitions = list[Partition[Any]]


class Report(NamedTuple):
    """What a partition reports at a time, and by what that is judged."""

    state: ScalingState
    policy: scaling.ScalingPolicy
    partition: int
    size: Any
    now: float


class Scaler:
    """Correct scaling, by the functions of `scaling`."""

    ScalingPolicy: Any = scaling.ScalingPolicy

    def process_stats(
        self,
        state: ScalingState,
        policy: scaling.ScalingPolicy,
        partition: int,
        size: Any,
        now: float,
    ) -> Decision:
        return self.decide(Report(state, policy, partition, size, now))

    def define_partitions(
        self,
        old: Sequence[Partition[Any]],
        required: int,
        make: Callable[[], Any],
        first: bool = False,
    ) -> Partitions:
        return self.redefined(scaling.define_partitions(old, required, make, first), list(old))

    def decide(self, report: Report) -> Decision:
        """Decide by a report how many partitions there are."""
        return scaling.process_stats(*report)

    def redefined(self, new: Partitions, old: Partitions) -> Partitions:
        """Return the partitions `new` that take the place of `old`."""
        return new
