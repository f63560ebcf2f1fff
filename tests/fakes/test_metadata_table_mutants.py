"""Who checks the checker of metadata tables: the checks name the clause a mutant breaks."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.scenarios.metadata_table.check import check_table
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.metadata_table.registry import TableMutant, found_by, table_mutants
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import MetadataWriter


@pytest.mark.parametrize("mutant", table_mutants(), ids=str)
def test_the_check_of_its_clause_finds_a_mutant(mutant: TableMutant) -> None:
    """By what is seen, and not by an error of the check itself."""
    found = found_by(mutant)
    assert mutant.clause in found, f"{mutant}: {mutant.says}"
    for error in ("AttributeError", "TypeError", "NameError", "AssertionError", "KeyError"):
        assert not found[mutant.clause].actual.startswith(error)


class Strict(MetadataWriter):
    """Refuses to complete an action with another change than the table was told of."""

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
    assert (
        check_table(kind(), {"metadata.finish-change", "metadata.v2-hidden", "metadata.goes-on"})
        == {}
    )


def test_every_testable_clause_has_a_mutant_and_every_mutant_a_testable_clause() -> None:
    """A clause without a mutant may have a check that never fails."""
    wanted = {c.id for c in clauses().values() if c.api == "metadata-table" and c.testable}
    assert {m.clause for m in table_mutants()} == wanted


def test_every_mutant_says_what_it_does_wrong_and_has_a_name_of_its_own() -> None:
    """The one sentence is what a reader of the table has to go by."""
    assert [m.name for m in table_mutants() if not m.says.endswith(".")] == []
    names = [m.name for m in table_mutants()]
    assert len(set(names)) == len(names)
