"""A violation explains those of scenarios that use what its own does, or what fails mostly."""

from __future__ import annotations

import pytest

from fscontract.contract.scenarios.attribution import Evidence, explanations
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.registry import mutant_named
from tests.pipeline_checks import check_pipeline


def _uses(*texts: str) -> list[frozenset[str]]:
    """Return sets of letters."""
    return [frozenset(text) for text in texts]


def _failed(*texts: str, difference: str = "") -> list[Evidence]:
    """Return violations of scenarios that use these letters."""
    return [Evidence(text, frozenset(text), difference) for text in texts]


def test_scenario_that_uses_all_of_a_simpler_one_is_explained_by_it() -> None:
    assert explanations({"deep": _failed("abc"), "simple": _failed("ab")}, []) == {
        "simple": "simple",
        "deep": "simple",
    }


def test_each_scenario_of_a_clause_has_to_be_explained() -> None:
    found = explanations({"simple": _failed("ab"), "other": _failed("abc", "cde")}, _uses("c"))
    assert found["other"] == "other"


@pytest.mark.parametrize(
    ("difference", "passed", "cause"),
    [
        ("", ["ab"], "one"),
        ("", ["xz"], "other"),
        ("", ["xz", "xy", "xv"], "other"),
        ("files less", ["xz", "xy"], "one"),
        ("files less", ["xz", "xy", "xv"], "other"),
    ],
)
def test_common_part_explains_if_most_scenarios_with_it_fail(
    difference: str, passed: list[str], cause: str
) -> None:
    """Half of them are enough if the values differ in the same way."""
    failed = {
        "one": _failed("ax", difference=difference),
        "other": _failed("xbc", difference=difference),
    }
    assert explanations(failed, _uses(*passed))["other"] == cause


def test_different_differences_do_not_explain_each_other() -> None:
    failed = {
        "one": _failed("ax", difference="files less"),
        "other": _failed("xbc", difference="files more"),
    }
    assert explanations(failed, _uses("xz"))["other"] == "other"


def test_scenarios_that_name_nothing_explain_nothing() -> None:
    assert explanations({"one": _failed(""), "other": _failed("")}, []) == {
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
        "record.none-lost-DropsWhatIsFalse",
        "record.fixed-within-BeyondTheBlock",
        "split.modified-etag-BlindToEtag",
        "metadata.deleted-AddsOnly",
        "metadata.v2-order-DatasetFirst",
        *(
            pytest.param(slow, marks=pytest.mark.deep)
            for slow in ("metadata.place-TwoBases", "metadata.compaction-retried-NeverRetries")
        ),
    ],
)
def test_the_failures_of_a_mutant_are_of_one_cause(name: str) -> None:
    mutant = mutant_named(name)
    judged = [c for c in clauses().values() if c.document == mutant.document and c.testable]
    assert len(check_pipeline(mutant.binding(), judged).causes) == 1
