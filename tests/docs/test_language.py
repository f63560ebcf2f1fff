"""Hand-written pages are in plain English."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_examples import DOCUMENTS, ROOT

#: Generated pages, and parts of pages between these marks, take their text from elsewhere.
_GENERATED = re.compile(r"<!-- table.*?<!-- end of table[^>]*-->", re.DOTALL)
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
PAGES = [page for page in DOCUMENTS if page.name not in ("matrix.md", "CHANGELOG.md")]
AVOID = re.compile(
    r"\b(?:(?<!there )is no(?! longer)|so many|whoever|what becomes of|is told|is said|goes on"
    r"|of (?:its|their|your|one's) own|for ever|all else|as it is|comes? to|have to be of"
    r"|by itself|nobody|somebody|what is there|in words)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_avoids_unclear_phrases(page: Path) -> None:
    text = _CODE.sub("", _GENERATED.sub("", page.read_text(encoding="utf-8")))
    lines = " ".join(text.split())
    assert [lines[max(0, m.start() - 30) : m.end() + 30] for m in AVOID.finditer(lines)] == []
