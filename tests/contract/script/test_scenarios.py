"""Failures of parts of pipelines as scripts: they fail on mutants, and pass on right parts."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

import pytest

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.scenarios.check import scenarios_of
from fscontract.contract.scenarios.scenario import Scenario, ScenarioSet
from fscontract.contract.script.calls import Source
from fscontract.contract.script.scenarios import scenario_script
from fscontract.contract.spec.clauses import select
from fscontract.contract.targets import PIPELINES, installed
from fscontract.fakes.mutants.registry import Mutant, mutants
from tests.contract.script.mutant_parts import make
from tests.packaging.test_public_api import PUBLIC
from tests.pipeline_checks import check_pipeline
from tests.script_runner import ScriptRunner

_MAKE = "tests.contract.script.mutant_parts:make"
_KINDS = ("splitter", "blockreader", "metadata-table")
_PARTS = {kind: installed(PIPELINES)[kind].load()({}) for kind in _KINDS}
#: Every n-th mutant of a kind.
_EVERY = {"splitter": 6, "blockreader": 5, "metadata-table": 9}
#: Two of them whose part raises an exception.
_RAISING = {"split.vanished-NeedsAll", "metadata.rollback-unknown-MustKnow"}
_MUTANTS = [
    mutant
    for kind, step in _EVERY.items()
    for number, mutant in enumerate(mutants(kind))
    if number % step == 0 or str(mutant) in _RAISING
]
#: Tests of the failures of all of them: one worker finds each once.
_FAILURES = pytest.mark.xdist_group("failures of parts")


@cache
def _failure(mutant: Mutant) -> Counterexample:
    """Return the first failure of a mutant, with its script."""
    source = Source(_MAKE, {"name": str(mutant)})
    result = check_pipeline(mutant.binding(), select([mutant.clause]), source=source)
    failure = result.clauses[0].counterexample
    assert failure is not None
    assert failure.script, failure.no_script
    return failure


def _run(script: str) -> str:
    """Run a script in this process; return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, "script", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


@_FAILURES
@pytest.mark.parametrize("mutant", _MUTANTS, ids=str)
def test_script_of_a_mutant_fails_and_passes_on_the_right_part(mutant: Mutant) -> None:
    script = _failure(mutant).script
    with pytest.raises(AssertionError, match=f"^{mutant.clause}: expected "):
        _run(script)
    printed = _run(script.replace(f'name="{mutant}"', f'name="{mutant}", right=True'))
    assert printed == "", "the calls are printed if the script fails"


@_FAILURES
def test_scripts_are_short() -> None:
    lengths = sorted(_failure(mutant).script.count("\n") for mutant in _MUTANTS)
    assert lengths[len(lengths) // 2] <= 35
    assert lengths[len(lengths) * 9 // 10] <= 60


def _scenarios() -> Iterator[tuple[PipelineBinding, ScenarioSet[Any], Scenario[Any]]]:
    for binding in _PARTS.values():
        kit = scenarios_of(binding)
        yield from ((binding, kit, scenario) for scenario in kit.scenarios)
        yield from ((binding, kit, kit.numbered(number, 0)) for number in range(1, 6))


def test_scripts_of_all_scenarios_import_only_public_names() -> None:
    count = 0
    for binding, kit, scenario in _scenarios():
        source = Source(_MAKE, {"name": "it"})
        script = scenario_script(binding, source, kit, scenario, scenario.charged)
        compile(script, scenario.label, "exec")
        for node in ast.walk(ast.parse(script)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fscontract"):
                assert node.module in PUBLIC
                public = import_module(node.module).__all__
                assert {alias.name for alias in node.names} <= {*public}, scenario.label
        count += 1
    assert count > 300


@pytest.mark.parametrize("kind", _KINDS)
def test_scripts_of_random_scenarios_pass_on_the_right_part(kind: str) -> None:
    binding = _PARTS[kind]
    kit = scenarios_of(binding)
    for number in (1, 2, 3):
        scenario = kit.numbered(number, 0)
        source = Source(f"{__name__}:_PARTS", {})
        script = scenario_script(binding, source, kit, scenario, scenario.charged)
        made = f"part = test_scenarios._PARTS[{kind!r}]"
        assert _run(script.replace("part = test_scenarios._PARTS()", made)) == ""


@pytest.mark.parametrize("kind", _KINDS)
def test_script_of_a_named_part_makes_it_by_its_entry_point(kind: str) -> None:
    binding = _PARTS[kind]
    kit = scenarios_of(binding)
    scenario = kit.scenarios[-1]
    script = scenario_script(binding, Source(kind, {}), kit, scenario, scenario.charged)
    assert "({})\n" in script
    assert _run(script) == ""


#: A part that a target names, not a callable that makes it.
made_part = make("split.trigger-Deaf")


def test_script_of_a_part_that_is_named_does_not_call_it(own_scripts: ScriptRunner) -> None:
    kit = scenarios_of(made_part)
    scenario = kit.labelled("trigger", 0)
    source = Source(f"{__name__}:made_part", {})
    script = scenario_script(made_part, source, kit, scenario, "split.trigger")
    assert "part = test_scenarios.made_part\n" in script
    ran = own_scripts.run(script)
    assert "trigger()\nbegin_window(2)\nsettle()\nemit_tuples()\nend_window()\ntaken() -> []" in (
        ran.output
    )
    assert "Violated: split.trigger: expected files after the trigger: ['/in/f'], got []" in (
        ran.output
    )


def test_script_of_another_clause_of_a_scenario_ends_at_its_violation() -> None:
    kit = scenarios_of(made_part)
    scenario = kit.labelled("recursive", 0)
    source = Source(f"{__name__}:made_part", {})
    script = scenario_script(made_part, source, kit, scenario, "split.directory")
    assert script.endswith(
        'play(recursive, SplitterHarness(part, "split.recursive"), "split.directory")\n'
    )


def test_script_of_a_hang_ends_in_time() -> None:
    kit = scenarios_of(made_part)
    scenario = kit.labelled("trigger", 0)
    failure = Counterexample(None, ("it ends",), "still running", how="scenario: trigger: hang")
    source = Source(f"{__name__}:made_part", {})
    script = scenario_script(made_part, source, kit, scenario, "split.trigger", failure)
    assert "faulthandler.dump_traceback_later(30, exit=True)\n" in script


def test_secrets_of_a_part_come_from_environment_variables() -> None:
    kit = scenarios_of(made_part)
    source = Source(_MAKE, {"name": "it", "secret_key": "hunter2"})
    make_script = partial(scenario_script, made_part, source, kit)
    script = make_script(kit.labelled("trigger", 0), "split.trigger")
    assert "hunter2" not in script
    assert 'secret_key=os.environ["SECRET_KEY"]' in script
