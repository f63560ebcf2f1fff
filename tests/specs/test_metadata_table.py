"""The document on the metadata table is complete and matches its scenarios."""

from __future__ import annotations

from fscontract.contract.scenarios.metadata_table import SCENARIOS
from fscontract.contract.spec.clauses import Clause, clauses, documents

#: The clauses of the document; ids are never dropped or reused.
IDS = """
place partitions files sizes root absent-partition empty-partition deleted size-larger size-new
deleted-twice associative live-only internal fixed-partitions index-partitions record-index
either-absent logs-once one-reader no-listing slices-cached opening-cheap time-travel
time-travel-bounds
init-listing init-empty init-pending init-once init-whole init-large one-deltacommit action-write
action-compaction action-clean action-rollback action-restore restore-deleted clean-missing
clean-failed from-instant v1-sync v1-order v1-stops v1-merged v1-read-only v1-async-clean v2-order
v2-hidden read-only single-writer several-writers lock-left rolled-back-writer unbegun
finish-change race
validate-listing validate-counts metrics commands own-schedule compaction-same
compaction-undecided compaction-late compaction-first compaction-pending compaction-retried
table-clean table-clean-pending archive archive-failed size-bounded failed-update recovered
rollback-older rollback-first rollback-unknown before-or-after goes-on no-leak fallback-absent
fallback-broken fallback-uncommitted warned damage torn-completed prune-range prune-unknown
prune-nulls prune-nan prune-text prune-types prune-replaced prune-partitions prune-time-travel
spark-index presto-lister
"""
#: Headings of the source document.
SECTIONS = {
    "Basics",
    "Schema",
    "Metadata Table partitioning scheme",
    "First time initialization",
    "Metadata updates and sync",
    "Design V1 (pre 0.10.0)",
    "Handling Async Operations",
    "Metadata Table Modes",
    "Metadata Table Reads",
    "Design V2 (0.10.0 onwards)",
    "Error Handling for Design V1 (pre 0.10.0)",
    "Error Handling for Design V2 (0.10.0 onwards)",
    "Query handling (read path)",
    "Rollout/Adoption Plan",
    "Metadata Table Metrics",
    "Spark",
    "Presto",
    "How to test using HUDI CLI",
}
#: What was fixed in the history of Hudi's table, each under one of its names.
HISTORY = {
    *("HUDI-3178", "HUDI-5407", "HUDI-5408", "HUDI-2458", "HUDI-7518", "HUDI-3365", "HUDI-8449"),
    *("HUDI-5348", "PR 2064", "18034", "18544", "20451"),
}


def _own() -> list[Clause]:
    return [c for c in clauses().values() if c.document == "metadata-table"]


def test_metadata_table_has_its_clauses_in_order() -> None:
    assert [c.id for c in _own()] == [f"metadata.{name}" for name in IDS.split()]


def test_metadata_table_clauses_have_the_metadata_table_api() -> None:
    assert documents()["metadata-table"].api == "metadata-table"
    assert {c.api for c in _own()} == {"metadata-table"}


def test_metadata_table_sections_are_headings_of_the_source() -> None:
    assert {c.section for c in _own()} == SECTIONS


def test_metadata_table_checks_are_the_scenarios_of_their_clauses() -> None:
    listed = {(check, c.id) for c in _own() for check in c.checks}
    assert listed == {
        (f"metadata.{s.name}", clause) for s in SCENARIOS.scenarios for clause in s.clauses
    }
    assert {c.id for c in _own() if c.testable} == SCENARIOS.clauses


def test_metadata_table_scenarios_have_unique_names_and_a_sentence() -> None:
    names = [s.name for s in SCENARIOS.scenarios]
    assert len(set(names)) == len(names)
    assert [s.name for s in SCENARIOS.scenarios if not s.description.endswith(".")] == []


def test_bugs_of_hudis_history_are_named_by_testable_clauses() -> None:
    named = {ref for c in _own() if c.testable for ref in c.refs}
    assert HISTORY - named == set()
