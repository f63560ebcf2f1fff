"""Mutation tests of the fault checks: each mutant is found by its clause."""

from __future__ import annotations

from operator import attrgetter

import pytest

from fscontract.contract.program.faults import CHECKED
from fscontract.contract.spec.clauses import FAULTS as FAULTS_DOCUMENT
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.faults import VARIANTS
from fscontract.fakes.mutants.kinds import FaultKind, Subject
from fscontract.fakes.mutants.registry import Mutant, kill_table, mutants
from tests.samples import sampled

MUTANTS = mutants(FAULTS_DOCUMENT)
#: Each mutant with each of the kinds of faults that it mishandles.
PAIRS = [(mutant, kind) for mutant in MUTANTS for kind in sorted(mutant.faults)]
#: Mutants that break nothing but their own clause.
PRECISE = {
    "DeletedIsEof",
    "FailedOpenLeaks",
    "FailsTogether",
    "OpenLosesPatience",
    "PassesCorruptBytes",
}


@pytest.mark.parametrize(
    ("mutant", "kind"),
    sampled(3, PAIRS, lambda pair: f"{pair[0]}-{pair[1]}"),
    ids=[f"{m}-{kind}" for m, kind in PAIRS],
)
def test_suite_names_the_clause_when_this_kind_of_fault_happens(mutant: Mutant, kind: str) -> None:
    """No other kind of fault is needed to find the mutant that mishandles this one."""
    assert mutant.clause in mutant.broken(faults=[kind]), f"{mutant}: {mutant.says}"


def test_every_kind_that_the_suite_draws_has_a_mutant() -> None:
    """A kind without one may be brought about in vain."""
    assert {kind for m in MUTANTS for kind in m.faults} == CHECKED


@pytest.mark.parametrize("mutant", sampled(3, (m for m in MUTANTS if m.name in PRECISE)), ids=str)
def test_suite_blames_no_other_clause_of_faults(mutant: Mutant) -> None:
    """A run that looks for everything finds the mutant's clause broken, and that one alone."""
    (row,) = kill_table([mutant])
    assert row.named
    assert row.others == ()


@pytest.mark.parametrize(
    "variant", sampled(4, VARIANTS, attrgetter("__name__")), ids=lambda variant: variant.__name__
)
def test_correct_streams_that_meet_faults_otherwise_pass(variant: type) -> None:
    """Unusual behaviour that no document forbids is not a violation."""
    judged = tuple(c for c in clauses().values() if c.document == FAULTS_DOCUMENT and c.testable)
    subject = Subject(variant, variant.__name__, judged, "quick", CHECKED)
    assert FaultKind().broken(subject) == {}
