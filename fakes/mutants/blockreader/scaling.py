"""Readers that come and go when they should not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fscontract.fakes.mutants.blockreader.registry import Scaler, reader_mutant
from fscontract.pipeline.blockreader import scaling
from fscontract.pipeline.blockreader.readers import Counters
from fscontract.pipeline.blockreader.scaling import (
    Decision,
    Partition,
    ScalingPolicy,
    ScalingState,
    floor_power_of_two,
)

_Partitions = list[Partition[Any]]


class Stats(Scaler):
    """Right, if `_wanted` gives what the totals ask for."""

    @classmethod
    def process_stats(
        cls, state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        decision = scaling.process_stats(state, policy, partition, size, now)
        if decision.state.next_time == state.next_time:
            return decision
        total = sum({**state.backlog, partition: size or 0}.values())
        wanted = cls._wanted(total, policy, decision.state.partition_count)
        changed = replace(decision.state, partition_count=wanted)
        return Decision(changed, wanted != state.partition_count)

    @staticmethod
    def _wanted(total: int, policy: ScalingPolicy, right: int) -> int:
        return right


@reader_mutant("scale.power", "scaler")
class AsManyAsBlocks(Stats):
    """There is a reader for each block that waits."""

    @staticmethod
    def _wanted(total: int, policy: ScalingPolicy, right: int) -> int:
        return max(policy.min_readers, min(total, policy.max_readers))


@reader_mutant("scale.bounds", "scaler")
class RoundsBelowTheMinimum(Stats):
    """A power of two may be less than the fewest readers."""

    @staticmethod
    def _wanted(total: int, policy: ScalingPolicy, right: int) -> int:
        inside = policy.min_readers <= total <= policy.max_readers
        return floor_power_of_two(total) if inside else right


@reader_mutant("scale.minimum", "scaler")
class NeverFewer(Stats):
    """Without a backlog nothing changes."""

    @classmethod
    def process_stats(
        cls, state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        decision = scaling.process_stats(state, policy, partition, size, now)
        return decision if size else Decision(state, False)


@reader_mutant("scale.maximum", "scaler")
class PowerBelowTheMaximum(Stats):
    """A large backlog gets a power of two."""

    @staticmethod
    def _wanted(total: int, policy: ScalingPolicy, right: int) -> int:
        return floor_power_of_two(right)


@reader_mutant("scale.total", "scaler")
class LastReportOnly(Scaler):
    """The partition that reports decides alone."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        alone = replace(state, backlog={})
        return scaling.process_stats(alone, policy, partition, size, now)


@reader_mutant("scale.cleared", "scaler")
class OldBacklog(Scaler):
    """Queue sizes are never forgotten."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        decision = scaling.process_stats(state, policy, partition, size, now)
        kept = {**state.backlog, partition: size}
        return decision._replace(state=replace(decision.state, backlog=kept))


@reader_mutant("scale.interval", "scaler")
class DecidesAlways(Scaler):
    """Each report decides."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        due = replace(state, next_time=now)
        return scaling.process_stats(due, policy, partition, size, now)


@reader_mutant("scale.interval-always", "scaler")
class IntervalStays(Scaler):
    """The interval begins anew only if the number of readers changes."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        decision = scaling.process_stats(state, policy, partition, size, now)
        if decision.repartition:
            return decision
        return Decision(replace(decision.state, next_time=state.next_time), False)


@reader_mutant("scale.unchanged", "scaler")
class AlwaysAnew(Scaler):
    """Each decision defines the partitions anew."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        decision = scaling.process_stats(state, policy, partition, size, now)
        return Decision(decision.state, decision.state.next_time != state.next_time)


@reader_mutant("scale.disabled", "scaler")
class CollectsAnyway(Scaler):
    """It makes no difference whether statistics are collected."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        policy = replace(policy, collect_stats=True)
        return scaling.process_stats(state, policy, partition, size, now)


@reader_mutant("scale.no-port", "scaler")
class NeedsAQueue(Scaler):
    """A report without a queue fails."""

    @staticmethod
    def process_stats(
        state: ScalingState, policy: ScalingPolicy, partition: int, size: Any, now: float
    ) -> Decision:
        return scaling.process_stats(state, policy, partition, size + 0, now)


# Partitions --------------------------------------------------------------------------------------


class Defined(Scaler):
    """Right, if `_change` leaves the partitions as they are defined."""

    @classmethod
    def define_partitions(
        cls,
        old: Sequence[Partition[Any]],
        required: int,
        make: Callable[[], Any],
        first: bool = False,
    ) -> _Partitions:
        return cls._change(scaling.define_partitions(old, required, make, first), list(old))

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        return new


@reader_mutant("scale.count", "scaler")
class OnlyGrows(Defined):
    """Partitions are never removed."""

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        return new + [replace(p) for p in old[len(new) :]]


@reader_mutant("scale.counters", "scaler")
class CountersGo(Defined):
    """What a removed partition has counted goes with it."""

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        own = {p.reader: p.counters for p in old}
        return [replace(p, counters=own.get(p.reader, Counters())) for p in new]


@reader_mutant("scale.idle", "scaler")
class FirstOnesGo(Defined):
    """The first partitions are removed, though they have blocks waiting."""

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        if len(new) >= len(old):
            return new
        last = old[-len(new) :]
        return [replace(p, reader=o.reader) for p, o in zip(new, last, strict=True)]


@reader_mutant("scale.configured", "scaler")
class Defaults(Defined):
    """New partitions are not configured."""

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        known = {p.reader for p in old}
        return [p if p.reader in known else replace(p, reader="default") for p in new]


@reader_mutant("scale.anew", "scaler")
class OldWrappers(Defined):
    """Partitions that stay are the objects that they were."""

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        for partition in old[:1]:
            object.__setattr__(partition, "keys", new[0].keys)
            object.__setattr__(partition, "mask", new[0].mask)
        return [*old[:1], *new[1:]] if old[0].reader == new[0].reader else new


@reader_mutant("scale.keys", "scaler")
class KeysByIndex(Defined):
    """Each partition has one key, its index, which is too few unless they are a power of two."""

    @staticmethod
    def _change(new: _Partitions, old: _Partitions) -> _Partitions:
        return [replace(p, keys=frozenset({i})) for i, p in enumerate(new)]


@reader_mutant("scale.first", "scaler")
class DefinesAtOnce(Scaler):
    """The first definition is one like any other."""

    @staticmethod
    def define_partitions(
        old: Sequence[Partition[Any]], required: int, make: Callable[[], Any], first: bool = False
    ) -> _Partitions:
        return scaling.define_partitions(old, required, make)
