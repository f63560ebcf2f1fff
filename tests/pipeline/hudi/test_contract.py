"""Our metadata tables are held to their document."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from fscontract.contract.cli.main import main
from fscontract.contract.pipeline_bindings import MetadataTableBinding
from fscontract.contract.runner.result import Verdict
from fscontract.contract.scenarios.check import check_pipeline
from fscontract.contract.scenarios.metadata_table.failures import ACTIONS, deaths
from fscontract.contract.scenarios.metadata_table.harness import Bench
from fscontract.contract.scenarios.metadata_table.instrumented_filesystem import (
    DEATHS,
    Killed,
    Stage,
)
from fscontract.contract.spec.clauses import clauses, select
from fscontract.fakes.mutants.metadata_table.registry import table_mutants
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.binding import TableBinding


def test_our_tables_conform() -> None:
    """Every clause that can be checked is."""
    result = CliRunner().invoke(main, ["check", "metadata-table"])
    assert result.exit_code == 0, result.output
    checked = [c for c in clauses().values() if c.api == "metadata-table" and c.testable]
    assert f"conforms: {len(checked)} clauses hold" in result.output


def test_a_table_that_breaks_a_clause_does_not_conform() -> None:
    """With what was wanted, and what was seen."""
    mutant = next(m for m in table_mutants() if m.name == "AddsOnly")
    result = check_pipeline(mutant.binding, select([mutant.clause]))
    (found,) = result.clauses
    assert found.outcome is Verdict.FAIL
    assert found.counterexample is not None
    assert "day=1/a1 not there" in found.counterexample.actual


@pytest.fixture
def local(tmp_path_factory: pytest.TempPathFactory) -> MetadataTableBinding:
    """Tables in directories."""

    def directory() -> LocalFileSystem:
        return LocalFileSystem(str(tmp_path_factory.mktemp("root")))

    return TableBinding("local", directory)


@pytest.mark.parametrize("clause", ["metadata.files", "metadata.before-or-after", "metadata.race"])
def test_tables_in_a_directory_conform(local: MetadataTableBinding, clause: str) -> None:
    """Those clauses that depend on what a filesystem does."""
    result = check_pipeline(local, select([clause]))
    assert result.conforms, result.clauses[0].counterexample


@pytest.mark.deep
def test_every_action_dies_in_every_way_at_every_write(local: MetadataTableBinding) -> None:
    """In memory and in a directory; and it goes on from there."""
    for binding in (TableBinding(), local):
        bench = Bench(binding)
        for when in deaths(bench, every=True):
            writer = bench.next_writer()
            bench.commit(writer, {"day=1": {"next": 1}})
            bench.right(when)
            writer.compact()
            bench.right(f"{when}, compacted")


def test_an_action_has_enough_writes_to_die_at() -> None:
    """The enumeration is no shorter than what an action writes."""
    counts: dict[str, int] = {}
    for when in deaths(Bench(TableBinding())):
        name = when.partition(", ")[0]
        counts[name] = counts.get(name, 0) + 1
    assert counts.keys() == ACTIONS.keys()
    for name, (before, action) in ACTIONS.items():
        bench = Bench(TableBinding())
        writer = bench.table()
        before(bench, writer)
        bench.stage.forget()
        action(bench, writer)
        assert counts[name] == len(bench.stage.writes) >= 2, name


# The stage ---------------------------------------------------------------------------------


def _write(stage: Stage) -> None:
    with stage.create("/file") as file:
        file.write(b"12345678")


@pytest.mark.parametrize(
    ("death", "left"), [("before", None), ("after", b"12345678"), ("torn", b"1234")]
)
def test_a_stage_dies_as_it_is_told(death: str, left: bytes | None) -> None:
    """And is dead then, until it is revived."""
    assert death in DEATHS
    stage = Stage(MemoryFileSystem())
    stage.kill_at, stage.death = 2, death
    stage.mkdirs("/d")
    with pytest.raises(Killed):
        _write(stage)
    with pytest.raises(Killed):
        stage.list_status("/")
    stage.revive()
    names = [status.path for status in stage.list_status("/")]
    assert ("/file" in names) == (left is not None)
    if left is not None:
        with stage.open("/file") as stream, stream.as_file() as file:
            assert file.read() == left


def test_a_stage_dies_with_a_write_that_fails_too() -> None:
    stage = Stage(MemoryFileSystem())
    _write(stage)
    stage.kill_at, stage.death = 2, "after"
    with pytest.raises(Killed), stage.create("/file", overwrite=False) as file:
        file.write(b"other")
