"""docs/reference/command-line.md describes all commands and outcomes."""

from __future__ import annotations

import re

from fscontract.contract.runner.result import Verdict
from tests.docs.command_line import command_reference
from tests.docs.pages import DOCS, hold, hold_widths

PAGE = "reference/command-line.md"


def test_page_has_the_current_commands() -> None:
    """`UPDATE_DOCS=1` writes them."""
    hold(PAGE, command_reference(), "commands")


def test_page_lists_every_outcome() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (?:yes|no)[^|]* \|$", text, re.MULTILINE)
    assert sorted(rows) == sorted(str(verdict) for verdict in Verdict)


def test_every_row_has_the_columns_of_its_heading() -> None:
    hold_widths(command_reference())
