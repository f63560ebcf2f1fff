"""Mutation tests of the metadata table checks: each mutant is found by its clause."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.scenarios.check import find_violations
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import MetadataWriter


@pytest.mark.parametrize("mutant", mutants("metadata-table"), ids=str)
def test_the_check_of_its_clause_finds_a_mutant(mutant: Mutant) -> None:
    """By what is seen, and not by an error of the check itself."""
    broken = mutant.broken()
    assert mutant.clause in broken, f"{mutant}: {mutant.says}"
    for error in ("AttributeError", "TypeError", "NameError", "AssertionError", "KeyError"):
        assert not broken[mutant.clause].startswith(error)


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
