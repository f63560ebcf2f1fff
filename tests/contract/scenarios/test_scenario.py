"""One kit plays the scenarios of all parts: comparisons, violations, time limits."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.scenarios import check
from fscontract.contract.scenarios import scenario as scenario_module
from fscontract.contract.scenarios.check import find_violations
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.scenario import Harness, Scenarios, ScenarioSet
from fscontract.contract.spec.clauses import Clause, Level
from fscontract.contract.spec.known_failures import Known
from tests.limits import DEADLOCK
from tests.pipeline_checks import check_pipeline


class Tap(PipelineBinding):
    """A part of a pipeline that does nothing."""

    api = "tap"
    name = "tap"


class TapHarness(Harness):
    """A harness that ends a scenario at its first violation."""

    closed: ClassVar[int] = 0

    def __init__(self, binding: Any, clause: str) -> None:
        super().__init__(clause)

    def close(self) -> None:
        TapHarness.closed += 1


class CollectingHarness(TapHarness):
    """A harness whose scenarios continue after a violation."""

    collects = True


@pytest.fixture
def scenario(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scenarios[TapHarness]]:
    """Register the scenarios of a tap."""
    scenarios = Scenarios[TapHarness]()
    monkeypatch.setattr(
        check, "scenarios_of", lambda binding: ScenarioSet(TapHarness, tuple(scenarios.all))
    )
    TapHarness.closed = 0
    yield scenarios
    assert scenarios.all


def _check(*clauses: str, timeout: float = DEADLOCK, known: Sequence[Known] = ()) -> RunResult:
    described = [
        Clause(clause, Level.MUST, "", "", "tap", checks=("tap.x",), api="tap")
        for clause in clauses
    ]
    return check_pipeline(Tap(), described, known, timeout=timeout)


def test_scenario_without_a_comparison_does_not_exercise_its_clause(
    scenario: Scenarios[TapHarness],
) -> None:
    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """Nothing is compared."""

    (result,) = _check("tap.drips").clauses
    assert (result.outcome, result.reason) == (Verdict.UNEXERCISED, "no scenario reached it")


def test_clause_that_a_scenario_does_not_reach_names_the_failure_before_it(
    scenario: Scenarios[TapHarness],
) -> None:
    @scenario("tap.drips", "tap.runs")
    def drips(harness: TapHarness) -> None:
        """It drips before it runs."""
        harness.expect(1, 2)
        harness.expect(3, 3, clause="tap.runs")

    @scenario("tap.stops", "tap.shuts")
    def stops(harness: TapHarness) -> None:
        """It stops, and nothing is compared for its other clause."""
        harness.expect(1, 1)

    *_, runs, shuts = _check("tap.drips", "tap.stops", "tap.runs", "tap.shuts").clauses
    assert runs.outcome is Verdict.UNEXERCISED
    assert runs.reason == "no scenario reached it: one failed by tap.drips before"
    assert shuts.reason == "no scenario reached it"


def test_exercised_counts_the_comparisons_of_a_clause(scenario: Scenarios[TapHarness]) -> None:
    @scenario("tap.drips", "tap.runs")
    def drips(harness: TapHarness) -> None:
        """Two clauses are judged."""
        harness.expect(1, 1)
        harness.judged()
        harness.expect(2, 2, clause="tap.runs")

    results = _check("tap.drips", "tap.runs", "tap.stops").clauses
    assert [r.exercised for r in results] == [2, 1, 0]
    assert [r.outcome for r in results] == ["pass", "pass", "unexercised"]
    assert TapHarness.closed == 1


def test_first_violation_ends_a_scenario(scenario: Scenarios[TapHarness]) -> None:
    reached = []

    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        harness.expect(1, 2, "drops")
        reached.append(harness)

    violation = find_violations(Tap(), {"tap.drips"}).violations["tap.drips"]
    assert (violation.expected, violation.actual, reached) == ("drops: 2", "1", [])


def test_collecting_harness_keeps_the_violations_of_other_clauses() -> None:
    harness = CollectingHarness(Tap(), "tap.drips")
    harness.expect(1, 2)
    harness.expect(3, 4, clause="tap.runs")
    assert [v.clause for v in harness.violations] == ["tap.drips", "tap.runs"]


@pytest.mark.parametrize("error", [LookupError("dry"), Killed()])
def test_exception_violates_the_charged_clause(
    scenario: Scenarios[TapHarness], error: BaseException
) -> None:
    @scenario("tap.runs", "tap.drips", charged="tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        raise error

    violations = find_violations(Tap(), {"tap.runs"}).violations
    assert {clause: v.expected for clause, v in violations.items()} == {"tap.drips": "It drips."}


def test_exceptions_are_shown_as_the_actual_value(scenario: Scenarios[TapHarness]) -> None:
    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        raise LookupError("dry")

    @scenario("tap.runs")
    def runs(harness: TapHarness) -> None:
        """It runs."""
        raise Killed

    violations = find_violations(Tap(), {"tap.drips", "tap.runs"}).violations
    assert {clause: v.actual for clause, v in violations.items()} == snapshot(
        {"tap.drips": "LookupError: dry", "tap.runs": "it continued after its process had crashed"}
    )


def test_exception_after_a_violation_is_not_a_second_violation(
    scenario: Scenarios[TapHarness],
) -> None:
    @scenario("tap.drips", charged="tap.runs")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        try:
            harness.expect(1, 2, clause="tap.drips")
        finally:
            raise LookupError

    assert [*find_violations(Tap(), {"tap.drips"}).violations] == ["tap.drips"]


def test_each_comparison_restarts_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    restarts: list[object] = []
    monkeypatch.setattr(scenario_module, "beat", restarts.append)
    harness = CollectingHarness(Tap(), "tap.drips")
    harness.expect(1, 2)
    harness.judged()
    harness.step()
    assert restarts == [harness] * 3


def test_hang_is_reported_with_violations_of_other_clauses(
    scenario: Scenarios[TapHarness],
) -> None:
    released = threading.Event()

    @scenario("tap.drips", "tap.runs")
    def drips(harness: TapHarness) -> None:
        """It drips, and hangs."""
        harness.expect(1, 1)
        released.wait(DEADLOCK)

    @scenario("tap.drips")
    def skipped(harness: TapHarness) -> None:
        """It would fail."""
        harness.expect(1, 2)

    @scenario("tap.runs")
    def runs(harness: TapHarness) -> None:
        """It runs dry."""
        harness.expect(1, 2)

    try:
        drip, run = _check("tap.drips", "tap.runs", timeout=0.2).clauses
    finally:
        released.set()
    assert (drip.outcome, drip.exercised) == (Verdict.HANG, 1)
    assert run.outcome is Verdict.FAIL


def test_operation_that_a_part_lacks_makes_its_clause_inexpressible(
    scenario: Scenarios[TapHarness],
) -> None:
    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        raise UnsupportedOperationException("this tap is dry")

    (result,) = _check("tap.drips").clauses
    assert (result.outcome, result.exercised) == (Verdict.INEXPRESSIBLE, 0)
    assert "this tap is dry" in result.reason


def test_known_violation_does_not_hide_another_one_of_its_clause(
    scenario: Scenarios[TapHarness],
) -> None:
    drops = [1, 2]

    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        harness.expect(drops[0], 2, "drops")

    @scenario("tap.drips")
    def drips_at_night(harness: TapHarness) -> None:
        """It drips at night."""
        harness.expect(drops[1], 2, "drops")

    (first,) = _check("tap.drips").clauses
    assert first.counterexample is not None
    known = [Known("tap.drips", "an old tap", first.counterexample.signature)]
    assert _check("tap.drips", known=known).clauses[0].outcome is Verdict.KNOWN
    drops[1] = 3
    assert _check("tap.drips", known=known).clauses[0].outcome is Verdict.FAIL


def test_violations_of_two_clauses_are_two_causes_unless_the_exception_is_the_same(
    scenario: Scenarios[TapHarness],
) -> None:
    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        harness.expect(1, 2)

    @scenario("tap.runs")
    def runs(harness: TapHarness) -> None:
        """It runs."""
        raise LookupError("no pipe 1")

    @scenario("tap.stops")
    def stops(harness: TapHarness) -> None:
        """It stops."""
        raise LookupError("no pipe 2")

    causes = _check("tap.drips", "tap.runs", "tap.stops").causes
    assert [cause.ids for cause in causes] == [("tap.drips",), ("tap.runs", "tap.stops")]


def test_exception_is_explained_by_a_violation_of_a_scenario_that_uses_less(
    scenario: Scenarios[TapHarness],
) -> None:
    @scenario("tap.drips")
    def drips(harness: TapHarness) -> None:
        """It drips."""
        harness.use("water")
        harness.expect(1, 2)

    @scenario("tap.runs")
    def runs(harness: TapHarness) -> None:
        """It runs."""
        harness.use("water", "a pipe")
        raise LookupError("no pipe")

    (cause,) = _check("tap.drips", "tap.runs").causes
    assert cause.ids == ("tap.drips", "tap.runs")
