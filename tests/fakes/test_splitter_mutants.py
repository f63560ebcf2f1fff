"""Who checks the checker of splitters: the checks name the clause that each mutant breaks."""

from __future__ import annotations

import pytest

from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.splitter.registry import SplitterMutant, found_by, splitter_mutants

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


@pytest.mark.parametrize("mutant", splitter_mutants(), ids=str)
def test_checks_name_the_clause_that_a_mutant_breaks(mutant: SplitterMutant) -> None:
    """Of those that judge this clause, one at least does; the precise ones blame nothing else."""
    found = found_by(mutant)
    broken = {*found.failed, *found.hung}
    assert mutant.clause in broken, f"{mutant}: {mutant.says}"
    if mutant.name in PRECISE:
        assert broken == {mutant.clause}


def test_every_testable_clause_has_a_mutant_and_every_mutant_a_testable_clause() -> None:
    """A clause without a mutant may have a check that never fails."""
    wanted = {c.id for c in clauses().values() if c.api == "splitter" and c.testable}
    assert {m.clause for m in splitter_mutants()} == wanted


def test_every_mutant_says_what_it_does_wrong_and_has_a_name_of_its_own() -> None:
    """The one sentence is what a reader of the table has to go by."""
    assert [m.name for m in splitter_mutants() if not m.says.endswith(".")] == []
    names = [m.name for m in splitter_mutants()]
    assert len(set(names)) == len(names)
    assert set(names) >= PRECISE
