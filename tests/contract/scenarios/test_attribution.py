"""A violation explains those of scenarios that use what its own does."""

from __future__ import annotations

import pytest

from fscontract.contract.scenarios.attribution import explanations
from fscontract.contract.scenarios.check import check_pipeline
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.registry import mutant_named


def _uses(*texts: str) -> list[frozenset[str]]:
    """Return sets of letters."""
    return [frozenset(text) for text in texts]


def test_scenario_that_uses_all_of_a_simpler_one_is_explained_by_it() -> None:
    assert explanations({"deep": _uses("abc"), "simple": _uses("ab")}, []) == {
        "simple": "simple",
        "deep": "simple",
    }


def test_each_scenario_of_a_clause_has_to_be_explained() -> None:
    found = explanations({"simple": _uses("ab"), "other": _uses("abc", "cde")}, _uses("c"))
    assert found["other"] == "other"


def test_common_part_explains_unless_a_scenario_with_it_passes() -> None:
    failed = {"one": _uses("ax"), "other": _uses("axb", "xbc")}
    assert explanations(failed, _uses("ab"))["other"] == "one"
    assert explanations(failed, _uses("xz"))["other"] == "other"


def test_scenarios_that_name_nothing_explain_nothing() -> None:
    assert explanations({"one": _uses(""), "other": _uses("")}, []) == {
        "one": "one",
        "other": "other",
    }


@pytest.mark.parametrize(
    "name",
    [
        "split.end-offset-LengthInBytes",
        "split.metadata-first-BlocksFirst",
        "block.time-TimeUncounted",
        "record.offset-OffsetIn32Bits",
    ],
)
def test_the_failures_of_a_mutant_are_of_one_cause(name: str) -> None:
    mutant = mutant_named(name)
    judged = [c for c in clauses().values() if c.document == mutant.document and c.testable]
    assert len(check_pipeline(mutant.binding(), judged).causes) == 1
