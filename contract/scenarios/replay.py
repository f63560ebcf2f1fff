"""Play the scenario of a replay file again."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.runner.crashes import Journal
from fscontract.contract.runner.replay import ReplayResult, validated
from fscontract.contract.runner.sandbox import Sandbox
from fscontract.contract.runner.time_budget import TimeBudget
from fscontract.contract.scenarios.check import (
    TIMEOUT,
    Findings,
    StepLimit,
    play_one,
    scenarios_of,
)
from fscontract.contract.scenarios.scenario import Scenario
from fscontract.contract.untrusted import short


def replay(
    binding: PipelineBinding,
    data: dict[str, Any],
    running: AbstractContextManager[None] | None = None,
) -> ReplayResult:
    """Play the scenario in `data`, the content of a replay file, on a part of a pipeline.

    It is played inside of `running`. Raise ProgramError for invalid data.
    """
    clause, _ = validated(data)
    kit = scenarios_of(binding)
    scenario = scenario_in(binding, data)
    findings, sandbox, time, journal = Findings(), Sandbox(), TimeBudget(), Journal()
    try:
        with running or nullcontext():
            limit = StepLimit(time, TIMEOUT, journal)
            play_one(findings, binding, kit, scenario, time, journal, limit)
    finally:
        sandbox.close()
    return _result(findings, clause, scenario.detail or scenario.description)


def scenario_in(binding: PipelineBinding, data: dict[str, Any]) -> Scenario[Any]:
    """Return the scenario of a part that a replay file names; ProgramError if there is none."""
    try:
        return scenarios_of(binding).labelled(data["scenario"], data["seed"])
    except LookupError:
        raise ProgramError(
            f"replay file: a {binding.api} has no scenario {short(data['scenario'])}"
        ) from None


def _result(findings: Findings, clause: str, scenario: str) -> ReplayResult:
    """Return what a scenario shows of the clause; of another one, if it holds."""
    found = findings.violations
    if found:
        outcome = "still fails" if clause in found else "fails otherwise"
        shown = found.get(clause) or next(iter(found.values()))
        return ReplayResult(clause, outcome, shown.actual, (shown.expected,), scenario=scenario)
    if findings.inexpressible:
        reason = next(iter(findings.inexpressible.values()))
        return ReplayResult(clause, "fails otherwise", reason, (), scenario=scenario)
    return ReplayResult(clause, "passes now", "as expected", (), scenario=scenario)
