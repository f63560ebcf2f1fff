"""Who checks the checker of block readers: each mutant is found, and its clause is named."""

from __future__ import annotations

import pytest

from fscontract.contract.clauses import clauses
from fscontract.contract.suite.blockreader.check import CHECKED, check_reader
from fscontract.fakes.mutants.blockreader.registry import ReaderMutant, reader_mutants
from fscontract.pipeline.blockreader.binding import ReaderBinding


@pytest.mark.parametrize("mutant", reader_mutants(), ids=str)
def test_the_clause_that_a_mutant_breaks_is_named(mutant: ReaderMutant) -> None:
    """Told to look for one clause, the check finds the mutant that breaks it."""
    assert mutant.clause in check_reader(mutant.binding(), {mutant.clause}), mutant.says


def test_a_reader_without_end_is_found_by_the_count_of_its_records() -> None:
    """The whole check of it comes to an end, too."""
    (endless,) = (m for m in reader_mutants() if m.name == "EndlessWhenShort")
    found = check_reader(endless.binding())
    assert "without end" in found["rec.short-reads"].actual


def test_our_reader_breaks_nothing() -> None:
    """Every scenario, on the reader that the mutants are made from."""
    assert check_reader(ReaderBinding()) == {}


def test_every_checked_clause_is_in_the_document_and_has_a_mutant() -> None:
    """A clause without one may have a check that never fails."""
    testable = {c.id for c in clauses().values() if c.document == "blockreader" and c.testable}
    assert testable == CHECKED == {m.clause for m in reader_mutants()}


def test_every_reader_mutant_says_what_it_does_wrong() -> None:
    """The one sentence is what a reader of the table has to go by."""
    assert [m.name for m in reader_mutants() if not m.says.endswith(".")] == []
    assert len({m.name for m in reader_mutants()}) == len(reader_mutants())
