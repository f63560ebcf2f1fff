"""Mutation tests of the splitter checks: each mutant is found by its clause."""

from __future__ import annotations

import pytest

from fscontract.contract.spec.clauses import select
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants
from tests.pipeline_checks import check_pipeline

MUTANTS = mutants("splitter")

#: Mutants in which the checks of their own clause find nothing else.
PRECISE = {
    "AllAtOnce",
    "AnyTime",
    "AnyVersion",
    "BlindToEtag",
    "BlindToSize",
    "BlindToTime",
    "FileEndsWithBlock",
    "ForgetsKnown",
    "ForgetsQueue",
    "GivesOnce",
    "HeaderIsData",
    "IdsByFile",
    "InputNotNamed",
    "LastIfWhole",
    "LaterOnly",
    "LinkedToFirst",
    "LinkedToSkipped",
    "LooksInside",
    "NoOperator",
    "OtherOrder",
    "PathForName",
    "TrustsAll",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_checks_name_the_clause_that_a_mutant_breaks(mutant: Mutant) -> None:
    """Of those that judge this clause, one at least does; the precise ones blame nothing else."""
    broken = mutant.broken()
    assert mutant.clause in broken, f"{mutant}: {mutant.says}"
    if mutant.name in PRECISE:
        assert broken.keys() == {mutant.clause}


def test_the_precise_mutants_are_there() -> None:
    assert {m.name for m in MUTANTS} >= PRECISE


def test_a_splitter_that_cuts_a_huge_file_into_millions_of_blocks_is_stopped_soon() -> None:
    mutant = mutant_named("split.block-size-SizeIn31Bits")
    (cover,) = check_pipeline(mutant.binding(), select(["split.cover"])).clauses
    assert cover.exercised < 100_000
