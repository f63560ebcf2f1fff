"""Tests of the metadata tables against their contract."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from fscontract.contract.cli.main import main
from fscontract.contract.pipeline_bindings import MetadataTableBinding
from fscontract.contract.runner.result import Verdict
from fscontract.contract.scenarios.metadata_table.failures import ACTIONS, deaths
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.contract.spec.clauses import clauses, select
from fscontract.fakes.mutants.registry import mutants
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.binding import TableBinding
from tests.pipeline_checks import check_pipeline


def test_our_tables_conform() -> None:
    """Every clause that can be checked is."""
    result = CliRunner().invoke(main, ["check", "metadata-table"])
    assert result.exit_code == 0, result.output
    checked = [c for c in clauses().values() if c.api == "metadata-table" and c.testable]
    assert f"conforms: {len(checked)} clauses hold" in result.output


def test_a_table_that_breaks_a_clause_does_not_conform() -> None:
    """With expected and observed behaviour."""
    mutant = next(m for m in mutants("metadata-table") if m.name == "AddsOnly")
    result = check_pipeline(mutant.binding(), select([mutant.clause]))
    (found,) = result.clauses
    assert found.outcome is Verdict.FAIL
    assert found.counterexample is not None
    assert "day=1/a1 must not be listed" in found.counterexample.actual


@pytest.fixture
def local(tmp_path_factory: pytest.TempPathFactory) -> MetadataTableBinding:
    """Tables in directories."""

    def directory() -> LocalFileSystem:
        return LocalFileSystem(str(tmp_path_factory.mktemp("root")))

    return TableBinding("local", directory)


@pytest.mark.parametrize("clause", ["metadata.files", "metadata.before-or-after", "metadata.race"])
def test_tables_in_a_directory_conform(local: MetadataTableBinding, clause: str) -> None:
    """Clauses that depend on the filesystem's behaviour."""
    slow_disk = 100.0  # seconds: each file is flushed to the disk
    result = check_pipeline(local, select([clause]), timeout=slow_disk)
    assert result.conforms, result.clauses[0].counterexample


@pytest.mark.deep
def test_every_action_dies_in_every_way_at_every_write(local: MetadataTableBinding) -> None:
    """In memory and in a directory; later actions succeed."""
    for binding in (TableBinding(), local):
        harness = TableHarness(binding)
        for when in deaths(harness, every=True):
            writer = harness.next_writer()
            harness.commit(writer, {"day=1": {"next": 1}})
            harness.expect_dataset(when)
            writer.compact()
            harness.expect_dataset(f"{when}, compacted")


def test_an_action_has_enough_writes_to_die_at() -> None:
    """The enumeration covers all writes of an action."""
    writes: dict[str, set[str]] = {}
    for when in deaths(TableHarness(TableBinding())):
        name, _, crash = when.partition(", ")
        writes.setdefault(name, set()).add(crash.partition(" (")[0])
    assert writes.keys() == ACTIONS.keys()
    for name, (before, action) in ACTIONS.items():
        harness = TableHarness(TableBinding())
        writer = harness.table()
        before(harness, writer)
        harness.fs.clear_log()
        action(harness, writer)
        assert len(writes[name]) == len(harness.fs.writes) >= 2, name
