"""Who checks the checker of faults: the suite names the clause that each mutant breaks."""

from __future__ import annotations

import pytest

from fscontract.contract.program.faults import FAULTS
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.fakes.mutants.faults.registry import (
    FaultMutant,
    binding,
    fault_clauses,
    fault_mutants,
    is_named,
    kill_table,
    profile,
)
from fscontract.fakes.mutants.faults.variants import VARIANTS
from fscontract.fakes.mutants.registry import BROKEN

#: Each mutant with each of the kinds of faults that it mishandles.
PAIRS = [(mutant, kind) for mutant in fault_mutants() for kind in sorted(mutant.kinds)]
#: Mutants that break nothing but their own clause.
PRECISE = {
    "DeletedIsEof",
    "FailedOpenLeaks",
    "FailsTogether",
    "OpenLosesPatience",
    "PassesCorruptBytes",
}


@pytest.mark.parametrize(("mutant", "kind"), PAIRS, ids=[f"{m}-{kind}" for m, kind in PAIRS])
def test_suite_names_the_clause_when_this_kind_of_fault_happens(
    mutant: FaultMutant, kind: str
) -> None:
    """No other kind of fault is needed to find the mutant that mishandles this one."""
    assert is_named(mutant, [kind]), f"{mutant}: {mutant.says}"


def test_every_clause_and_every_kind_of_fault_has_a_mutant() -> None:
    """A kind without one may be brought about in vain."""
    assert {m.clause for m in fault_mutants()} == {c.id for c in fault_clauses()}
    assert {kind for m in fault_mutants() for kind in m.kinds} == FAULTS.keys()


def test_every_mutant_says_what_it_does_wrong_and_has_a_name_of_its_own() -> None:
    """The one sentence is what a reader of the table has to go by."""
    assert [m.name for m in fault_mutants() if not m.says.endswith(".")] == []
    assert len({m.name for m in fault_mutants()}) == len(fault_mutants())


@pytest.mark.parametrize("mutant", [m for m in fault_mutants() if m.name in PRECISE], ids=str)
def test_suite_blames_no_other_clause_of_faults(mutant: FaultMutant) -> None:
    """A run that looks for everything finds the mutant's clause broken, and that one alone."""
    (row,) = kill_table([mutant])
    assert row.named
    assert row.others == ()


@pytest.mark.parametrize("name", VARIANTS)
def test_correct_streams_that_meet_faults_otherwise_pass(name: str) -> None:
    """What no document forbids is no violation, be it unusual."""
    settings = Settings(profile(), fault_clauses(), faults="quick")
    result = check(binding(VARIANTS[name]()), settings)
    broken = {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in BROKEN}
    assert broken == {}
    assert result.conforms
