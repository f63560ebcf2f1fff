"""Scenarios of file splitters, and a model that judges every emitted record."""

from __future__ import annotations

from fscontract.contract.scenarios.scenario import ScenarioSet
from fscontract.contract.scenarios.splitter import processing, random_calls, scanning, windows
from fscontract.contract.scenarios.splitter.harness import SplitterHarness

SCENARIOS: ScenarioSet[SplitterHarness] = ScenarioSet(
    SplitterHarness,
    (*processing.scenario.all, *scanning.scenario.all, *windows.scenario.all),
    random_calls.random_scenario,
    model="splitter.model",
    described=True,
)
