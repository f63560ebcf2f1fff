"""The page on the statements about the splitter and the block reader."""

from __future__ import annotations

import ast
import re

from fscontract.contract.spec.clauses import clauses
from tests.docs.pages import DOCS, hold_widths

PAGE = (DOCS / "reference" / "splitter-and-blockreader.md").read_text(encoding="utf-8")
HEAD = "| section | statement | shown by |"
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and line != HEAD]
PIPELINE = DOCS.parent / "tests" / "pipeline"
_ID = re.compile(r"`((?:split|block|record|scale)\.[a-z-]+)`")
_TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def _shown_by(row: str) -> str:
    return row.removesuffix(" |").rsplit(" | ", 1)[-1]


def test_every_row_has_a_clause_a_test_a_guide_or_a_reason() -> None:
    evidence = re.compile(rf"{_ID.pattern}|{_TEST.pattern}|\]\(\.\./how-to/|^\*otherwise\*: \w+")
    assert [row for row in ROWS if not evidence.search(_shown_by(row))] == []
    assert len(ROWS) > 50
    hold_widths(PAGE)


def test_every_clause_of_the_page_exists() -> None:
    assert set(_ID.findall(PAGE)) - clauses().keys() == set()


def test_every_clause_from_the_documents_is_on_the_page() -> None:
    """A clause with an origin comes from another source."""
    documents = {"splitter", "blockreader"}
    own = {c.id for c in clauses().values() if c.document in documents and not c.origin}
    assert len(own) > 70
    assert own - set(_ID.findall(PAGE)) == set()


def test_every_test_of_the_page_exists() -> None:
    named = set(_TEST.findall(PAGE))
    assert len(named) > 15
    missing = {
        f"{path}::{name}"
        for path, name in named
        if not (PIPELINE / path).is_file() or name not in _functions(path)
    }
    assert missing == set()


def test_every_dotted_word_in_code_is_an_id_or_a_test() -> None:
    """A misspelt id or test would not be checked."""
    code = {text for row in ROWS for text in re.findall(r"`([^`]+)`", _shown_by(row))}
    odd = {t for t in code if ("." in t or "::" in t) and not _ID.match(f"`{t}`")}
    assert {t for t in odd if not _TEST.match(f"`{t}`")} == set()


def _functions(path: str) -> set[str]:
    tree = ast.parse((PIPELINE / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
