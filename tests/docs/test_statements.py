"""The pages on the statements of the documents about the pipelines."""

from __future__ import annotations

import ast
import re

import pytest

from fscontract.contract.spec.clauses import clauses
from tests.docs.pages import DOCS, hold_widths

PAGES = {
    name: (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("splitter-and-blockreader", "metadata-table")
}
DOCUMENTS = {
    "splitter-and-blockreader": {"splitter", "blockreader"},
    "metadata-table": {"metadata-table"},
}
HEAD = "| section | statement | shown by |"
PIPELINE = DOCS.parent / "tests" / "pipeline"
_ID = re.compile(r"`((?:split|block|record|scale|metadata)\.[a-z0-9-]+)`")
_TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


@pytest.fixture(params=sorted(PAGES))
def name(request: pytest.FixtureRequest) -> str:
    """The name of each page."""
    return str(request.param)


@pytest.fixture
def page(name: str) -> str:
    """The text of the page."""
    return PAGES[name]


def _rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("| ") and line != HEAD]


def _shown_by(row: str) -> str:
    return row.removesuffix(" |").rsplit(" | ", 1)[-1]


def test_every_row_has_a_clause_a_test_a_guide_or_a_reason(page: str) -> None:
    evidence = re.compile(rf"{_ID.pattern}|{_TEST.pattern}|\]\(\.\./how-to/|^\*otherwise\*: \w+")
    assert [row for row in _rows(page) if not evidence.search(_shown_by(row))] == []
    assert len(_rows(page)) > 50
    hold_widths(page)


def test_every_clause_of_the_page_exists(page: str) -> None:
    assert set(_ID.findall(page)) - clauses().keys() == set()


def test_every_clause_from_the_documents_is_on_the_page(name: str, page: str) -> None:
    """A clause with an origin comes from another source."""
    own = {c.id for c in clauses().values() if c.document in DOCUMENTS[name] and not c.origin}
    assert len(own) > 70
    assert own - set(_ID.findall(page)) == set()


def test_every_test_of_the_page_exists(page: str) -> None:
    named = set(_TEST.findall(page))
    assert len(named) > 15
    missing = {
        f"{path}::{function}"
        for path, function in named
        if not (PIPELINE / path).is_file() or function not in _functions(path)
    }
    assert missing == set()


def test_every_dotted_word_in_code_is_an_id_or_a_test(page: str) -> None:
    """A misspelt id or test would not be checked."""
    code = {text for row in _rows(page) for text in re.findall(r"`([^`]+)`", _shown_by(row))}
    odd = {t for t in code if ("." in t or "::" in t) and not _ID.match(f"`{t}`")}
    assert {t for t in odd if not _TEST.match(f"`{t}`")} == set()


def _functions(path: str) -> set[str]:
    tree = ast.parse((PIPELINE / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
