"""The tables and the YAML documents speak of the same clauses."""

from __future__ import annotations

from fscontract.contract.models.acceptor import TABLES
from fscontract.contract.spec.clauses import clauses

IN_CODE = {(f"model.{op}", clause) for op, table in TABLES.items() for clause in table.all_clauses}


def test_every_clause_that_a_table_names_is_in_a_document_and_is_testable() -> None:
    testable = {c.id for c in clauses().values() if c.checks}
    assert {clause for _, clause in IN_CODE} <= testable


def test_every_model_check_of_a_document_is_in_a_table() -> None:
    listed = {
        (check, c.id)
        for c in clauses().values()
        for check in c.checks
        if check.startswith("model.")
    }
    assert listed <= IN_CODE


def test_every_table_row_is_listed_by_its_clause_under_some_operation() -> None:
    listed = {c.id for c in clauses().values() if any(k.startswith("model.") for k in c.checks)}
    assert {clause for _, clause in IN_CODE} <= listed | {
        "consistency.either",
        "consistency.errors",
        "consistency.length",
    }
