"""Mutants of scaling, which add and remove readers at the wrong times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fscontract.fakes.mutants.correct_parts import Partitions, Report, Scaler
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blockreader import scaling
from fscontract.pipeline.blockreader.readers import Counters
from fscontract.pipeline.blockreader.scaling import (
    Decision,
    Partition,
    ScalingPolicy,
    floor_power_of_two,
)


class _CountScaler(Scaler):
    """Correct, if `count` returns the number of partitions that the totals require."""

    def decide(self, report: Report) -> Decision:
        decision, state = super().decide(report), report.state
        if decision.state.next_time == state.next_time:
            return decision
        total = sum({**state.backlog, report.partition: report.size or 0}.values())
        count = self.count(total, report.policy, decision.state.partition_count)
        changed = replace(decision.state, partition_count=count)
        return Decision(changed, count != state.partition_count)

    def count(self, total: int, policy: ScalingPolicy, correct: int) -> int:
        return correct


@mutant("scale.power", _CountScaler.count)
def as_many_as_blocks(self: _CountScaler, total: int, policy: ScalingPolicy, correct: int) -> int:
    """There is one reader for each waiting block."""
    return max(policy.min_readers, min(total, policy.max_readers))


@mutant("scale.bounds", _CountScaler.count)
def rounds_below_the_minimum(
    self: _CountScaler, total: int, policy: ScalingPolicy, correct: int
) -> int:
    """A power of two may be below the minimum of readers."""
    inside = policy.min_readers <= total <= policy.max_readers
    return floor_power_of_two(total) if inside else correct


@mutant("scale.minimum", Scaler.decide)
def never_fewer(self: Scaler, report: Report) -> Decision:
    """Without a backlog nothing changes."""
    return right(self).decide(report) if report.size else Decision(report.state, False)


@mutant("scale.maximum", _CountScaler.count)
def power_below_the_maximum(
    self: _CountScaler, total: int, policy: ScalingPolicy, correct: int
) -> int:
    """A large backlog gets a power of two instead of the maximum."""
    return floor_power_of_two(correct)


@mutant("scale.total", Scaler.decide)
def last_report_only(self: Scaler, report: Report) -> Decision:
    """The partition that reports decides alone."""
    return right(self).decide(report._replace(state=replace(report.state, backlog={})))


@mutant("scale.cleared", Scaler.decide)
def old_backlog(self: Scaler, report: Report) -> Decision:
    """Queue sizes are never forgotten."""
    decision = right(self).decide(report)
    backlog = {**report.state.backlog, report.partition: report.size}
    return decision._replace(state=replace(decision.state, backlog=backlog))


@mutant("scale.interval", Scaler.decide)
def decides_always(self: Scaler, report: Report) -> Decision:
    """Each report causes a decision."""
    return right(self).decide(report._replace(state=replace(report.state, next_time=report.now)))


@mutant("scale.interval-always", Scaler.decide)
def interval_stays(self: Scaler, report: Report) -> Decision:
    """The interval restarts only if the number of readers changes."""
    decision = right(self).decide(report)
    if decision.repartition:
        return decision
    return Decision(replace(decision.state, next_time=report.state.next_time), False)


@mutant("scale.unchanged", Scaler.decide)
def always_anew(self: Scaler, report: Report) -> Decision:
    """Each decision defines the partitions again."""
    state = right(self).decide(report).state
    return Decision(state, state.next_time != report.state.next_time)


@mutant("scale.disabled", Scaler.decide)
def collects_anyway(self: Scaler, report: Report) -> Decision:
    """Statistics are used although collecting them is switched off."""
    policy = replace(report.policy, collect_stats=True)
    return right(self).decide(report._replace(policy=policy))


@mutant("scale.no-port", Scaler.decide, name="NeedsAQueue")
def needs_a_queue(self: Scaler, report: Report) -> Decision:
    """A report without a queue fails."""
    return right(self).decide(report._replace(size=report.size + 0))


@mutant("scale.count", Scaler.redefined)
def only_grows(self: Scaler, new: Partitions, old: Partitions) -> Partitions:
    """Partitions are never removed."""
    return new + [replace(p) for p in old[len(new) :]]


@mutant("scale.counters", Scaler.redefined)
def counters_go(self: Scaler, new: Partitions, old: Partitions) -> Partitions:
    """The counters of a removed partition are lost."""
    own = {p.reader: p.counters for p in old}
    return [replace(p, counters=own.get(p.reader, Counters())) for p in new]


@mutant("scale.idle", Scaler.redefined)
def first_ones_go(self: Scaler, new: Partitions, old: Partitions) -> Partitions:
    """The first partitions are removed, although they have waiting blocks."""
    if len(new) >= len(old):
        return new
    last = old[-len(new) :]
    return [replace(p, reader=o.reader) for p, o in zip(new, last, strict=True)]


@mutant("scale.configured", Scaler.redefined)
def defaults(self: Scaler, new: Partitions, old: Partitions) -> Partitions:
    """New partitions are not configured."""
    known = {p.reader for p in old}
    return [p if p.reader in known else replace(p, reader="default") for p in new]


@mutant("scale.anew", Scaler.redefined)
def old_wrappers(self: Scaler, new: Partitions, old: Partitions) -> Partitions:
    """Remaining partitions are the same objects as before."""
    for partition in old[:1]:
        object.__setattr__(partition, "keys", new[0].keys)
        object.__setattr__(partition, "mask", new[0].mask)
    return [*old[:1], *new[1:]] if old[0].reader == new[0].reader else new


@mutant("scale.keys", Scaler.redefined)
def keys_by_index(self: Scaler, new: Partitions, old: Partitions) -> Partitions:
    """Each partition has one key, its index, which is too few unless their number is a power of
    two.
    """
    return [replace(p, keys=frozenset({i})) for i, p in enumerate(new)]


@mutant("scale.first")
class DefinesAtOnce(Scaler):
    """The first definition is treated like any other."""

    def define_partitions(
        self,
        old: Sequence[Partition[Any]],
        required: int,
        make: Callable[[], Any],
        first: bool = False,
    ) -> Partitions:
        return scaling.define_partitions(old, required, make)
