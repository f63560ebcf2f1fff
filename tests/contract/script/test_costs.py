"""Scripts of programs that cost too much."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fscontract.contract.runner.cost_checks import cost_program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.registry import mutants
from tests.contract.script.formatting import is_formatted
from tests.script_runner import ScriptRunner

_TARGET = "tests.contract.script.mutant_filesystems:stored"
#: A clause and its mutant for each meter.
_MUTANTS = {
    cost.meter: (m.clause, str(m))
    for m in mutants("openfile")
    if (cost := clauses()[m.clause].cost) is not None
    and "default" in cost.budget
    and len(cost.steps) < 9
}


def _failure(clause: str, policy: str | None = None) -> Failure:
    cost = clauses()[clause].cost
    assert cost is not None
    features = load_profile("reference").features
    return Failure(clause, cost_program(cost, policy), features, 4096, {})


def _script(failure: Failure, name: str) -> str:
    target = resolve_target(_TARGET, {"name": name})
    return python_script(target, Source(_TARGET, {"name": name}), failure)


@pytest.mark.parametrize(("clause", "mutant"), _MUTANTS.values(), ids=_MUTANTS)
def test_stream_that_costs_too_much_fails_and_a_right_one_passes(
    clause: str, mutant: str, own_scripts: ScriptRunner
) -> None:
    script = _script(_failure(clause), mutant)
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, f"{broken.output}\n{script}"
    right = own_scripts.run(script.replace(f'name="{mutant}"', 'name=""'))
    assert right.code == 0, f"{right.output}\n{script}"


def test_budget_of_the_profile_replaces_that_of_the_clause() -> None:
    failure = _failure("open.cost-buffered")
    assert "right = 0 <= count <= 0" in _script(failure, "")
    assert "right = 0 <= count <= 7" in _script(replace(failure, budget={"default": 7}), "")


def test_budget_is_that_of_the_policy() -> None:
    assert "right = 0 <= count <= 2" in _script(_failure("open.cost-buffered", "random"), "")


def test_api_without_counters_has_no_script() -> None:
    target = resolve_target("memory://x", {})
    with pytest.raises(NoScript, match="the API has no counters of requests"):
        python_script(target, Source("memory://x"), _failure("open.cost-seek"))
