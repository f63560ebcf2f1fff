"""Scenarios of dynamic scaling: when readers are added and removed."""

from __future__ import annotations

from fscontract.contract.pipeline_bindings import CheckedScaling
from fscontract.contract.scenarios.blockreader.harness import ReaderHarness
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[ReaderHarness]()


def _running(harness: ReaderHarness, low: int = 1, high: int = 16) -> CheckedScaling:
    """Return a scaling with an interval of ten seconds that is over at 100.

    The first interval may begin with the scaling, or with its first report.
    """
    scaling = harness.scaling(low, high, 10.0, True)
    scaling.report(0, 0, 50.0)
    return scaling


def _after(harness: ReaderHarness, total: int, low: int = 1, high: int = 16) -> int:
    scaling = _running(harness, low, high)
    scaling.report(0, total, 100.0)
    return scaling.count


@scenario("scale.power")
def a_power_of_two_of_readers(harness: ReaderHarness) -> None:
    """The number of readers is the largest power of two up to the backlog."""
    totals = {1: 1, 2: 2, 3: 2, 4: 4, 7: 4, 10: 8, 12: 8, 15: 8, 16: 16}
    harness.expect({t: _after(harness, t) for t in totals}, totals, "readers by backlog")


@scenario("scale.bounds")
def readers_stay_within_bounds(harness: ReaderHarness) -> None:
    """The bounds apply although they are not powers of two."""
    for low, high in ((1, 16), (3, 10), (5, 7), (6, 6), (3, 3)):
        counts = [_after(harness, total, low, high) for total in range(40)]
        outside = [c for c in counts if not low <= c <= high]
        harness.expect(outside, [], f"readers outside {low} to {high}")


@scenario("scale.minimum")
def no_backlog_leaves_the_fewest_readers(harness: ReaderHarness) -> None:
    """Idle readers are removed."""
    scaling = _running(harness, low=2)
    scaling.report(0, 16, 100.0)
    harness.expect(scaling.report(0, 0, 200.0), True, "repartition")
    harness.expect(scaling.count, 2, "readers")


@scenario("scale.maximum")
def a_large_backlog_gets_the_most_readers(harness: ReaderHarness) -> None:
    """The maximum applies although it is not a power of two."""
    harness.expect(_after(harness, 1000, 1, 12), 12, "readers")


@scenario("scale.total")
def the_backlogs_of_all_partitions_count(harness: ReaderHarness) -> None:
    """Scaling uses the sum of all backlogs, once the interval is over."""
    scaling = _running(harness)
    scaling.report(0, 2, 100.0)
    for partition in range(2):
        scaling.report(partition, 4, 105.0)
    scaling.report(1, 5, 111.0)
    harness.expect(scaling.count, 8, "readers for 4 and 5 blocks")


@scenario("scale.cleared")
def an_old_backlog_is_forgotten(harness: ReaderHarness) -> None:
    """A removed partition does not count in the next interval."""
    scaling = _running(harness)
    scaling.report(7, 16, 100.0)
    scaling.report(0, 2, 111.0)
    harness.expect(scaling.count, 2, "readers for 2 blocks")


@scenario("scale.interval")
def nothing_changes_within_the_interval(harness: ReaderHarness) -> None:
    """The number of readers is constant within an interval, however large the backlog gets."""
    scaling = _running(harness)
    first = scaling.report(0, 10, 100.0)
    second = scaling.report(0, 16, 100.5)
    harness.expect(
        (first, second, scaling.count), (True, False, 8), "repartition twice, and readers"
    )


@scenario("scale.interval-always")
def the_interval_begins_anew_each_time(harness: ReaderHarness) -> None:
    """The interval also restarts after a decision to change nothing."""
    scaling = _running(harness)
    scaling.report(0, 1, 100.0)
    harness.expect(scaling.report(0, 8, 101.0), False, "repartition one second later")


@scenario("scale.unchanged")
def the_same_number_is_no_change(harness: ReaderHarness) -> None:
    """Partitions are not defined again if the number of readers stays the same."""
    scaling = _running(harness)
    scaling.report(0, 10, 100.0)
    harness.expect(scaling.report(0, 9, 111.0), False, "repartition for the same number")


@scenario("scale.disabled")
def scaling_can_be_switched_off(harness: ReaderHarness) -> None:
    """With scaling switched off, a backlog changes nothing."""
    scaling = harness.scaling(1, 16, 10.0, False)
    observed = (scaling.report(0, 100, 100.0), scaling.count)
    harness.expect(observed, (False, 1), "repartition, and readers")


@scenario("scale.no-port")
def a_report_may_lack_a_queue(harness: ReaderHarness) -> None:
    """A partition that has not started reports no queue size."""
    scaling = harness.scaling(1, 16, 10.0, True)
    try:
        scaling.report(0, None, 100.0)
    except (TypeError, IndexError, KeyError) as error:
        harness.expect(repr(error), "no failure")
    harness.expect(scaling.count, 1, "readers")


@scenario("scale.count")
def as_many_partitions_as_are_required(harness: ReaderHarness) -> None:
    """There are as many partitions as requested, more or fewer than before."""
    scaling = harness.scaling(1, 16, 10.0, True)
    for old, new in ((1, 8), (8, 1), (3, 3), (5, 2), (2, 6)):
        defined = scaling.define([0] * old, [0] * old, new, False)
        harness.expect(len(defined.readers), new, f"partitions instead of {old}")


@scenario("scale.counters")
def counters_survive(harness: ReaderHarness) -> None:
    """The counters of removed partitions are added to a remaining one."""
    scaling = harness.scaling(1, 16, 10.0, True)
    harness.expect(scaling.define([1] * 8, [0] * 8, 1, False).blocks, (8,), "blocks counted")


@scenario("scale.idle")
def idle_partitions_go(harness: ReaderHarness) -> None:
    """Partitions with waiting blocks are not removed."""
    scaling = harness.scaling(1, 16, 10.0, True)
    defined = scaling.define([0] * 4, [5, 0, 7, 0], 2, False)
    harness.expect(defined.readers, ("old0", "old2"), "partitions that stay")


@scenario("scale.configured")
def new_partitions_are_configured(harness: ReaderHarness) -> None:
    """New partitions are configured like the logical reader."""
    scaling = harness.scaling(1, 16, 10.0, True)
    defined = scaling.define([0], [0], 3, False)
    harness.expect(defined.readers, ("old0", "new", "new"), "configurations")


@scenario("scale.anew")
def partitions_are_new_objects(harness: ReaderHarness) -> None:
    """Partitions are new objects, because the platform ignores a change to a known one."""
    scaling = harness.scaling(1, 16, 10.0, True)
    harness.expect(
        scaling.define([0, 0], [0, 0], 4, False).reused, False, "an old object given back"
    )


@scenario("scale.keys")
def every_block_has_one_partition(harness: ReaderHarness) -> None:
    """Every block id maps to one partition, for any number of partitions."""
    scaling = harness.scaling(1, 16, 10.0, True)
    for count in (1, 2, 3, 5, 8):
        defined = scaling.define([0], [0], count, False)
        owners = [sum((i & defined.mask) in k for k in defined.keys) for i in range(64)]
        harness.expect(set(owners), {1}, f"partitions of a block among {count}")


@scenario("scale.first")
def the_first_definition_changes_nothing(harness: ReaderHarness) -> None:
    """Nothing changes before there are reports."""
    scaling = harness.scaling(1, 16, 10.0, True)
    defined = scaling.define([0, 0], [0, 0], 8, True)
    harness.expect(defined.readers, ("old0", "old1"), "partitions")
