"""All calls that read without an opened stream."""

from __future__ import annotations

import pytest

from fscontract.contract.models.stream_state import opened
from fscontract.contract.models.without_stream import RULES, TABLES, right_values
from fscontract.contract.program.filesystem_calls import FEATURE_OF, WITHOUT_STREAM
from fscontract.contract.program.program import Step
from fscontract.contract.spec.clauses import Level, clauses


def test_every_call_has_rules_a_table_and_a_feature() -> None:
    assert RULES.keys() == TABLES.keys() == WITHOUT_STREAM.keys() == FEATURE_OF.keys()


@pytest.mark.parametrize("op", TABLES)
def test_clauses_of_a_table_need_its_feature_and_name_it(op: str) -> None:
    for name in TABLES[op].all_clauses:
        clause = clauses()[name]
        assert clause.level in (Level.MUST, Level.SHOULD)
        assert clause.needs[0] == FEATURE_OF[op]
        assert set(clause.needs[1:]) <= {"supports-seek", "fsspec-filesystem"}
        assert f"model.{op}" in clause.checks


def test_right_values_are_those_of_the_call() -> None:
    assert right_values(Step("fs_head", (2,)), opened(b"abc")) == (b"ab",)
