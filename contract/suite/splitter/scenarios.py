"""Every scenario there is."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.suite.splitter import feeding, processing, recovery, scanning, windows
from fscontract.contract.suite.splitter.scenario import Scenario


def scenarios() -> Sequence[Scenario]:
    """The scenarios, in the order of the document."""
    modules = (processing, feeding, scanning, windows, recovery)
    return [scenario for module in modules for scenario in module.scenario.all]
