"""The tables of the models and the YAML documents name the same clauses."""

from __future__ import annotations

from fscontract.contract.models.acceptor import TABLES
from fscontract.contract.spec.clauses import clauses

IN_CODE = {(f"model.{op}", clause) for op, table in TABLES.items() for clause in table.all_clauses}


def test_clause_of_a_table_is_testable_in_a_document() -> None:
    testable = {c.id for c in clauses().values() if c.checks}
    assert {clause for _, clause in IN_CODE} <= testable


def test_model_check_of_a_document_is_in_a_table() -> None:
    listed = {
        (check, c.id)
        for c in clauses().values()
        for check in c.checks
        if check.startswith("model.")
    }
    assert listed <= IN_CODE


def test_clause_of_a_table_lists_a_check_of_the_model() -> None:
    listed = {c.id for c in clauses().values() if any(k.startswith("model.") for k in c.checks)}
    assert {clause for _, clause in IN_CODE} <= listed | {
        "consistency.either",
        "consistency.errors",
        "consistency.length",
    }
