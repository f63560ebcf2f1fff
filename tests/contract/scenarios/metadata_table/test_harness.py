"""Tests of the scenarios of metadata tables with a table in another layout than Hudi's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, NoReturn
from unittest import mock

import pytest

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.pipeline_bindings import (
    DATASET,
    CheckedTableReader,
    CheckedWriter,
    TableChange,
    TableSettings,
)
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


class _WithoutServices(JsonTable):
    """A table of commits, cleans and rollbacks: actions have no step before they are completed."""

    def writer(self, *args: Any, **options: Any) -> CheckedWriter:
        writer = super().writer(*args, **options)
        for name in ("apply", "compact", "clean_table", "archive"):
            setattr(writer, name, _unsupported)
        return writer

    def listing(self, *args: Any, **options: Any) -> NoReturn:
        _unsupported()


def _unsupported(*args: object) -> NoReturn:
    raise UnsupportedOperationException("the table has no services")


def _outcomes(binding: JsonTable, *patterns: str) -> dict[str, Verdict]:
    """Return the outcomes of the clauses that match patterns."""
    results = check_pipeline(binding, select([*patterns])).clauses
    return {result.clause.id.removeprefix("metadata."): result.outcome for result in results}


def test_clauses_that_need_no_service_are_judged_for_a_table_without_services() -> None:
    judged = ["action-rollback", "recovered", "rollback-older", "rollback-first", "read-only"]
    judged += ["v2-hidden", "deleted", "deleted-twice", "either-absent", "size-larger", "files"]
    outcomes = _outcomes(_WithoutServices(), *(f"metadata.{name}" for name in judged))
    assert outcomes == dict.fromkeys(outcomes, Verdict.PASS)


class _WithoutRecovery(_WithoutServices):
    """A table whose writers leave the actions of others pending."""

    def writer(self, *args: Any, **options: Any) -> CheckedWriter:
        writer = super().writer(*args, **options)
        writer.recover = _unsupported  # type: ignore[method-assign]
        writer.begin = lambda action: writer._request()  # type: ignore[attr-defined, method-assign]
        return writer


def test_table_without_recovery_is_not_judged_by_clauses_of_actions_that_are_rolled_back() -> None:
    outcomes = _outcomes(_WithoutRecovery(), "metadata.recovered", "metadata.rolled-back-writer")
    assert outcomes == dict.fromkeys(outcomes, Verdict.INEXPRESSIBLE)


class _RollsBackNothing(_WithoutServices):
    """Rollbacks leave the files of the action."""

    def writer(self, *args: Any, **options: Any) -> CheckedWriter:
        writer = super().writer(*args, **options)
        roll_back = writer.roll_back
        writer.roll_back = lambda instant, deleted: roll_back(instant, {})  # type: ignore[method-assign]
        return writer


class _DeletesInAllPartitions(JsonTable):
    """A commit that deletes a file deletes those of its name in other partitions."""

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        writer, known = super().writer(filesystem, settings), self.reader
        finish = writer.finish

        def finished(instant: str, change: TableChange) -> None:
            names = {name for names in change.deleted.values() for name in names}
            partitions = known(filesystem).partitions() if names else []
            finish(instant, replace(change, deleted=dict.fromkeys(partitions, names)))

        writer.finish = finished  # type: ignore[method-assign]
        return writer


class _WritesWhenItReads(_WithoutServices):
    """A reader notes that it was there."""

    def reader(self, filesystem: FileSystem, *args: Any, **options: Any) -> CheckedTableReader:
        reader = super().reader(filesystem, *args, **options)
        with filesystem.create(f"{DATASET}/.hoodie/readers") as file:
            file.write(b"1")
        return reader


class _LeavesOutHidden(JsonTable):
    """The listing that makes a table leaves out names that begin with a dot or an underscore."""

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        writer = super().writer(filesystem, settings)
        initialize = writer.initialize

        def initialized() -> None:
            visible = ("/_", "/.i")
            listed = filesystem.list_status
            with mock.patch.object(filesystem, "list_status") as patched:
                patched.side_effect = lambda path: [
                    status
                    for status in listed(path)
                    if not any(mark in status.path for mark in visible)
                ]
                initialize()

        writer.initialize = initialized  # type: ignore[method-assign]
        return writer


class _InitializesAgain(JsonTable):
    """An initialisation lists the directories again, without an error."""

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        writer = super().writer(filesystem, settings)
        initialize = writer.initialize

        def initialized() -> None:
            with suppress(FileNotFoundError):
                filesystem.delete(f"{DATASET}/.hoodie/versions", recursive=True)
            initialize()

        writer.initialize = initialized  # type: ignore[method-assign]
        return writer


@pytest.mark.parametrize(
    ("binding", "clause"),
    [
        (_RollsBackNothing, "action-rollback"),
        (_RollsBackNothing, "recovered"),
        (_DeletesInAllPartitions, "deleted"),
        (_WritesWhenItReads, "read-only"),
        (_LeavesOutHidden, "init-listing"),
        (_InitializesAgain, "init-once"),
    ],
)
def test_bug_of_a_small_table_fails_its_clause(binding: type[JsonTable], clause: str) -> None:
    assert _outcomes(binding(), f"metadata.{clause}") == {clause: Verdict.FAIL}


class _Lenient(JsonTable):
    """A second initialisation does nothing, and lookups leave out partitions without files."""

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        writer = super().writer(filesystem, settings)
        initialize = writer.initialize

        def initialized() -> None:
            with suppress(ValueError):
                initialize()

        writer.initialize = initialized  # type: ignore[method-assign]
        return writer

    def reader(self, *args: Any, **options: Any) -> CheckedTableReader:
        reader = super().reader(*args, **options)
        files = reader.files

        def found(partitions: Iterable[str]) -> dict[str, Mapping[str, int]]:
            return {name: sizes for name, sizes in files(partitions).items() if sizes}

        reader.files = found  # type: ignore[method-assign]
        return reader


def test_second_initialisation_without_effect_and_lookups_without_empty_entries_are_right() -> None:
    outcomes = _outcomes(_Lenient(), "metadata.init-once", "metadata.absent-partition")
    assert outcomes == dict.fromkeys(outcomes, Verdict.PASS)
