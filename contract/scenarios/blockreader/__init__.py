"""Scenarios of block readers, and a model that judges every record that is delivered."""

from __future__ import annotations

from fscontract.contract.scenarios.blockreader import files, scaling, streams
from fscontract.contract.scenarios.blockreader.harness import ReaderHarness
from fscontract.contract.scenarios.scenario import ScenarioSet

SCENARIOS: ScenarioSet[ReaderHarness] = ScenarioSet(
    ReaderHarness,
    (*files.SCENARIOS, *streams.scenario.all, *scaling.scenario.all),
    files.random_scenario,
)
