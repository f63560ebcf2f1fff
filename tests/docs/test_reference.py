"""docs/reference/clauses has a page for each document of clauses, made from the documents."""

from __future__ import annotations

import os
import re
from collections import defaultdict

import pytest

from fscontract.contract.spec.clauses import Clause, Document, clauses, documents, retired
from fscontract.fakes.mutants.registry import mutants
from tests.docs.generated_pages import reference_index, reference_page
from tests.docs.pages import DOCS

REFERENCE = DOCS / "reference" / "clauses"


def _of(name: str) -> list[Clause]:
    return [clause for clause in clauses().values() if clause.document == name]


def _page(document: Document) -> str:
    breaks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for mutant in mutants():
        breaks[mutant.clause].append((mutant.name, mutant.says))
    return reference_page(document, _of(document.name), breaks)


def _hold(name: str, present: str) -> None:
    path = REFERENCE / name
    if os.environ.get("UPDATE_DOCS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(present, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == present


@pytest.mark.parametrize("name", list(documents()))
def test_the_page_of_a_document_is_the_present_one(name: str) -> None:
    """`UPDATE_DOCS=1` writes it."""
    _hold(f"{name}.md", _page(documents()[name]))


def test_the_index_leads_to_every_page_and_there_is_no_other() -> None:
    """`UPDATE_DOCS=1` writes it."""
    _hold(
        "README.md",
        reference_index(((d, _of(d.name)) for d in documents().values()), retired().values()),
    )
    pages = {f"{name}.md" for name in documents()} | {"README.md"}
    assert {path.name for path in REFERENCE.iterdir()} == pages


def test_every_testable_clause_has_a_mutant_on_its_page() -> None:
    """The page of a clause shows a mutant that violates it."""
    broken = {mutant.clause for mutant in mutants()}
    assert [c.id for c in clauses().values() if c.testable and c.id not in broken] == []


@pytest.mark.parametrize("name", list(documents()))
def test_links_within_a_page_lead_to_its_clauses(name: str) -> None:
    """As GitHub and site generators make anchors of headings: without dots."""
    page = _page(documents()[name])
    anchors = {line[4:].replace(".", "") for line in page.splitlines() if line.startswith("### ")}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == anchors
