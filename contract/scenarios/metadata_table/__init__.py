"""Scenarios of metadata tables, on a filesystem that logs calls and can crash at any write."""

from __future__ import annotations

from fscontract.contract.scenarios.metadata_table import (
    actions,
    contents,
    designs,
    failures,
    random_actions,
    record_index,
    services,
)
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.contract.scenarios.scenario import ScenarioSet

SCENARIOS: ScenarioSet[TableHarness] = ScenarioSet(
    TableHarness,
    (
        *contents.scenario.all,
        *record_index.scenario.all,
        *actions.scenario.all,
        *designs.scenario.all,
        *services.scenario.all,
        *failures.scenario.all,
    ),
    random_actions.random_scenario,
)
