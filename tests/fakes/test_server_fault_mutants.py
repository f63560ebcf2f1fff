"""Mutation tests of the checks of clients: each mutant is found by its clause."""

from __future__ import annotations

import pytest

from fscontract.contract.generate import fault_programs
from fscontract.contract.program.server_faults import HTTP, SERVER_FAULTS, clause_of_kind, kinds_at
from fscontract.contract.spec.clauses import SERVER_FAULTS as DOCUMENT
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.kinds import ServerKind, Subject
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.fakes.mutants.server_faults import VARIANTS

MUTANTS = mutants(DOCUMENT)
CLAUSES = tuple(c for c in clauses().values() if c.document == DOCUMENT)
#: A kind that strikes only writes: no clause of a stream is about it.
OF_WRITES = {"errors-in-200"}


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_suite_names_the_clause_that_a_mutant_breaks(mutant: Mutant) -> None:
    assert mutant.clause in mutant.broken(), mutant.says


def test_every_kind_has_a_clause_and_a_mutant() -> None:
    kinds = SERVER_FAULTS.keys() - OF_WRITES
    assert {c.id for c in CLAUSES} == {clause_of_kind(kind) for kind in kinds}
    assert {kind for m in MUTANTS for kind in m.faults} == kinds


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
def test_correct_clients_pass(variant: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they raise, and however they find the bytes."""
    monkeypatch.setitem(fault_programs.SERVER_PROGRAMS, "quick", 4)
    subject = Subject(variant, variant.__name__, CLAUSES, "quick", kinds_at(HTTP))
    assert ServerKind().broken(subject) == {}
