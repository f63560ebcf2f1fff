"""The page on the coverage of other test suites."""

from __future__ import annotations

import re

from fscontract.contract.spec.clauses import clauses
from tests.docs.pages import DOCS

PAGE = (DOCS / "reference" / "coverage.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("|--")]
HEADS = ("| method |", "| suite |", "| document, statement |")
BEHAVIOURS = [line for line in ROWS if not line.startswith(HEADS)]
_ID = re.compile(r"`([a-z0-9-]+(?:\.[a-z0-9-]+)+)`")


def _of(row: str) -> list[str]:
    return _ID.findall(row.rsplit(" | ", 1)[-1])


def test_every_clause_of_the_page_exists() -> None:
    named = {name for row in BEHAVIOURS for name in _of(row)}
    assert len(named) > 100
    assert named - clauses().keys() == set()


def test_every_behaviour_has_a_clause_or_a_reason() -> None:
    bare = [row for row in BEHAVIOURS if not _of(row) and "*not covered*: " not in row]
    assert [row for row in bare if "the same clauses" not in row] == []


def test_untestable_clauses_are_marked_where_a_suite_tests_them() -> None:
    suites = PAGE.partition("## Statements")[0].splitlines()
    untestable = {c.id for c in clauses().values() if not c.testable}
    rows = [row for row in suites if row in BEHAVIOURS and untestable & {*_of(row)}]
    marks = ("(untestable)", "*not covered*")
    assert [row for row in rows if not any(mark in row for mark in marks)] == []


def test_notes_on_stricter_tests_are_on_the_page() -> None:
    noted = {c.id for c in clauses().values() if c.hadoop_test}
    strict = {name for row in BEHAVIOURS if "strict" in row.lower() for name in _of(row)}
    missing = noted - strict
    assert missing <= {
        "pread.neg-pos",
        "pread.space",
        "read-fully.neg-pos",
        "read-fully.space",
        "open.get-ioerror",
        "open.status-null",
    }
