"""Plans of faults drawn by Hypothesis."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings

from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan
from fscontract.fakes.strategies import fault_plans, faults

QUIET = settings(database=None, max_examples=2000, derandomize=True)


@given(fault_plans())
@settings(max_examples=200)
def test_every_plan_drawn_survives_json(plan: FaultPlan) -> None:
    """So every failure that is found can be saved."""
    assert FaultPlan.loads(plan.dumps()) == plan


@given(fault_plans({"short", "hang"}, requests=4, max_faults=2))
def test_plans_keep_to_what_was_asked_for(plan: FaultPlan) -> None:
    """The kinds, the number of faults, and the requests at which they begin."""
    assert plan.kinds <= {"short", "hang"}
    assert len(plan.faults) <= 2
    assert all(1 <= fault.nth <= 4 for fault in plan.faults)


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_is_found_and_shrinks_to_one_fault_without_numbers(kind: str) -> None:
    """Every part of a counterexample matters."""
    found = find(fault_plans(), lambda plan: kind in plan.kinds, settings=QUIET)
    assert found == FaultPlan((Fault(kind),))


def test_plans_shrink_to_no_fault_at_all() -> None:
    """A failure that has nothing to do with faults shows none."""
    assert find(fault_plans(), lambda _: True, settings=QUIET) == FaultPlan()


def test_numbers_shrink_to_the_smallest_that_matter() -> None:
    """One byte less and it would be well."""
    found = find(faults({"short", "reset"}), lambda f: f.limit > 4000 and f.nth > 2, settings=QUIET)
    assert found == Fault("short", 3, amount=4001)


@pytest.mark.parametrize("kinds", [(), ("shrt",), ("short", "shrt")])
def test_kinds_that_are_not_there_are_refused(kinds: tuple[str, ...]) -> None:
    """At once, and not when the first plan is drawn."""
    with pytest.raises(ValueError, match=r"^kinds must be some of short, "):
        fault_plans(kinds)


def test_plans_shrink_to_the_fewest_faults() -> None:
    """A failure that needs two faults shows these two."""
    needed = {"short", "reset"}
    plans = fault_plans({*needed, "hang"}, max_faults=4)
    found = find(plans, lambda plan: needed <= plan.kinds, settings=QUIET)
    assert sorted(map(str, found.faults)) == ["reset at 1", "short at 1"]
