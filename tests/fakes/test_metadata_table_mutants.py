"""Mutation tests of the metadata table checks: each mutant is found by its clause."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.scenarios.check import find_violations
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.known_failures import failures
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline_checks import check_pipeline


@pytest.mark.parametrize("mutant", mutants("metadata-table"), ids=str)
def test_the_check_of_its_clause_finds_a_mutant(mutant: Mutant) -> None:
    """By what is seen, and not by an error of the check itself."""
    broken = mutant.broken()
    assert mutant.clause in broken, f"{mutant}: {mutant.says}"
    errors = ("AttributeError", "TypeError", "NameError", "AssertionError", "KeyError")
    for error in (*errors, "NotImplementedError"):
        assert not broken[mutant.clause].startswith(error)


def test_a_second_bug_is_seen_beside_a_known_one() -> None:
    """Whole numbers that are compared as floats fail otherwise than a bound of 0 that is lost."""
    first = mutant_named("metadata.prune-range-ZeroIsUnknown")
    both = first.combined(mutant_named("metadata.prune-range-ComparesAsFloats"))
    assert both is not None
    judged = select(["metadata.prune-*"])
    known = failures(check_pipeline(first.binding(), judged), "the first bug")
    result = check_pipeline(both.binding(), judged, known)
    new = [f.signature for c in result.clauses for f in c.counterexamples if not f.known]
    assert [signature.rpartition("; ")[0] for signature in new] == ["scenario: prune_large; x = N"]


class Strict(MetadataWriter):
    """Refuses to complete an action with another change than the table has applied."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._told: dict[str, Change] = {}

    def apply(self, instant: Instant, change: Change) -> None:
        if self._told.setdefault(instant.time, change) != change:
            raise MetadataException(self.path, f"{instant.time} has another change")
        super().apply(instant, change)


def test_a_table_that_refuses_another_change_is_right() -> None:
    """The clause leaves it to the writer whether the last change holds or is refused."""
    kind: type[TableBinding] = type("Binding", (TableBinding,), {"writer_class": Strict})
    clauses = {"metadata.finish-change", "metadata.v2-hidden", "metadata.goes-on"}
    assert find_violations(kind(), clauses).violations == {}
