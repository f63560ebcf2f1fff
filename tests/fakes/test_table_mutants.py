"""Who checks the checker of metadata tables: the checks name the clause a mutant breaks."""

from __future__ import annotations

import pytest

from fscontract.contract.clauses import clauses
from fscontract.fakes.mutants.metadatatable.registry import TableMutant, found_by, table_mutants


@pytest.mark.parametrize("mutant", table_mutants(), ids=str)
def test_the_check_of_its_clause_finds_a_mutant(mutant: TableMutant) -> None:
    """By what is seen, and not by an error of the check itself."""
    found = found_by(mutant)
    assert mutant.clause in found, f"{mutant}: {mutant.says}"
    for error in ("AttributeError", "TypeError", "NameError", "AssertionError", "KeyError"):
        assert not found[mutant.clause].actual.startswith(error)


def test_every_testable_clause_has_a_mutant_and_every_mutant_a_testable_clause() -> None:
    """A clause without a mutant may have a check that never fails."""
    wanted = {c.id for c in clauses().values() if c.api == "metadatatable" and c.testable}
    assert {m.clause for m in table_mutants()} == wanted


def test_every_mutant_says_what_it_does_wrong_and_has_a_name_of_its_own() -> None:
    """The one sentence is what a reader of the table has to go by."""
    assert [m.name for m in table_mutants() if not m.says.endswith(".")] == []
    names = [m.name for m in table_mutants()]
    assert len(set(names)) == len(names)
