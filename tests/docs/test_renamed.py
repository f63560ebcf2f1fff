"""Tests of docs/explanation/stability.md."""

from __future__ import annotations

import re

import pytest

from fscontract.contract.spec.clauses import renamed
from tests.docs.pages import DOCS

PAGE = (DOCS / "explanation" / "stability.md").read_text(encoding="utf-8")
KINDS = ("documents", "targets", "profiles")


def test_the_page_lists_every_renamed_group() -> None:
    rows = re.findall(r"^\| `([a-z0-9]+)\.\*` \| `([a-z-]+)\.\*` \|$", PAGE, re.MULTILINE)
    assert rows == [pair for version in renamed() for pair in version.groups.items()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_lists_every_renamed_document_target_and_profile(kind: str) -> None:
    rows = re.findall(rf"^\| {kind[:-1]} \| `([a-z]+)` \| `([a-z-]+)` \|$", PAGE, re.MULTILINE)
    assert rows == [pair for version in renamed() for pair in getattr(version, kind).items()]
