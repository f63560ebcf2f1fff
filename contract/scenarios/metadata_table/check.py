"""Plays every scenario on a metadata table, and says which clauses were broken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from fscontract.contract.pipeline_bindings import MetadataTableBinding
from fscontract.contract.runner.sandbox import call_sandboxed, said_by
from fscontract.contract.scenarios.metadata_table import (
    actions,
    contents,
    designs,
    failures,
    pruning,
    services,
)
from fscontract.contract.scenarios.metadata_table.harness import Bench, Broken, Violated
from fscontract.contract.scenarios.metadata_table.instrumented_filesystem import Killed
from fscontract.contract.scenarios.metadata_table.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = tuple(
    scenario
    for module in (contents, actions, designs, services, failures, pruning)
    for scenario in module.scenario.all
)
CHECKED = frozenset(scenario.clause for scenario in SCENARIOS)


def check_table(
    binding: MetadataTableBinding, wanted: Collection[str] = CHECKED
) -> dict[str, Broken]:
    """The first finding of each clause that a table breaks, of those that are wanted."""
    return {broken.clause: broken for broken in findings(binding, wanted)}


def findings(
    binding: MetadataTableBinding,
    wanted: Collection[str],
    beat: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Broken]:
    """The same one by one; `beat` is told how many scenarios were played, and of how many."""
    found: set[str] = set()
    asked = [scenario for scenario in SCENARIOS if scenario.clause in wanted]
    for number, scenario in enumerate(asked, 1):
        broken = None if scenario.clause in found else _play(binding, scenario)
        if broken is not None:
            found.add(broken.clause)
            yield broken
        beat(number, len(asked))


def _play(binding: MetadataTableBinding, scenario: Scenario) -> Broken | None:
    bench = None
    try:
        bench = Bench(binding)
        scenario.play(bench)
    except Violated as violated:
        return Broken(scenario.clause, violated.expected, violated.actual)
    except Killed:
        return Broken(scenario.clause, scenario.says, "it went on after its process had died")
    except BaseException as error:  # a table under test may raise anything
        return Broken(scenario.clause, scenario.says, said_by(error))
    finally:
        if bench is not None:
            with suppress(Exception, Killed):
                call_sandboxed(bench.close)
    return None
