"""Tests of the scenarios of metadata tables with a table in another layout than Hudi's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from fscontract.contract.pipeline_bindings import CheckedTableReader
from fscontract.contract.runner.result import ClauseResult, Verdict
from fscontract.contract.scenarios.metadata_table.harness import A, B, TableHarness
from fscontract.contract.spec.clauses import clauses, select
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.contract.scenarios.metadata_table.json_table import JsonTable
from tests.pipeline_checks import check_pipeline


def _results(binding: JsonTable) -> dict[Verdict, list[ClauseResult]]:
    """Return the results of all clauses by their outcomes."""
    judged = [c for c in clauses().values() if c.document == "metadata-table" and c.testable]
    by_outcome: dict[Verdict, list[ClauseResult]] = {}
    for result in check_pipeline(binding, judged).clauses:
        by_outcome.setdefault(result.outcome, []).append(result)
    return by_outcome


def test_right_table_in_another_layout_fails_by_its_place_alone() -> None:
    by_outcome = _results(JsonTable())
    assert [result.clause.id for result in by_outcome[Verdict.FAIL]] == ["metadata.place"]
    assert len(by_outcome[Verdict.PASS]) > 35
    reasons = {result.reason for result in by_outcome[Verdict.INEXPRESSIBLE]}
    assert any("not laid out as Hudi's" in reason for reason in reasons)


class _WithoutPartitions(JsonTable):
    """A table that lists no partitions."""

    def reader(self, *args: Any, **options: Any) -> CheckedTableReader:
        reader = super().reader(*args, **options)
        reader.partitions = list  # type: ignore[method-assign]
        return reader


def test_size_in_a_partition_that_is_missing_is_no_error_of_the_scenario() -> None:
    (result,) = check_pipeline(_WithoutPartitions(), select(["metadata.size-larger"])).clauses
    assert result.counterexample is not None
    assert "KeyError" not in result.counterexample.actual


class _WithEmptyAction(MetadataWriter):
    """Begins a table with an action without changes: it has two logs after a commit."""

    def initialize(self, *args: Any, **options: Any) -> None:
        super().initialize(*args, **options)
        self.commit(Change())


def test_table_with_several_logs_and_base_files_keeps_the_clauses_of_damage() -> None:
    kind: type[TableBinding] = type("Kind", (TableBinding,), {"writer_class": _WithEmptyAction})
    two_bases = mutant_named("metadata.place-TwoBases").binding()
    for binding in (kind(), two_bases):
        results = check_pipeline(binding, select(["metadata.warned", "metadata.torn-completed"]))
        assert [clause.outcome for clause in results.clauses] == [Verdict.PASS] * 2


def _dies(harness: TableHarness) -> None:
    harness.table()
    harness.fs.died = True


@pytest.mark.parametrize(
    ("play", "circumstances"),
    [
        (lambda harness: harness.commit(harness.table(), {A: {"a3": 1}}), set()),
        (lambda harness: harness.commit(harness.table(), None, {A: ["a1"]}), {"deleted files"}),
        (lambda harness: harness.clean(harness.table(), {A: ["a1"]}), {"deleted files"}),
        (lambda harness: harness.table({A: {"f": 1}, B: {"f": 1}}), {"a name in two partitions"}),
        (lambda harness: harness.table(compact_after=3), {"compact"}),
        (_dies, {"an action that is not completed", "a process that died"}),
    ],
)
def test_uses_of_a_scenario_name_what_the_table_contains(
    play: Callable[[TableHarness], object], circumstances: set[str]
) -> None:
    with closing(TableHarness(JsonTable())) as harness:
        play(harness)
        assert harness.uses - {"the usual", "commit", "clean"} == circumstances
