"""docs/openfile-options.md has the table that the code goes by."""

from __future__ import annotations

import os
from pathlib import Path

from fscontract.contract.openfile_options import option_table
from fscontract.contract.suite.report.options import render

PAGE = Path(__file__).resolve().parents[2] / "docs" / "openfile-options.md"
START, END = "<!-- table -->\n", "<!-- end of table -->\n"


def test_the_page_has_the_present_table() -> None:
    """`UPDATE_DOCS=1` writes it."""
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    shown, after = rest.split(END)
    present = f"\n{render(option_table())}\n"
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(f"{before}{START}{present}{END}{after}", encoding="utf-8")
    else:
        assert shown == present


def test_every_row_of_a_table_has_the_columns_of_its_heading() -> None:
    """No value holds a bar or a line break."""
    width = 0
    for line in render(option_table()).splitlines():
        if not line.startswith("|"):
            width = 0
        else:
            assert width in (0, line.count("|"))
            width = line.count("|")
