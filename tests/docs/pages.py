"""Tables of the documentation that the code makes."""

from __future__ import annotations

import os
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def hold(page: str, present: str, name: str = "") -> None:
    """The page has this table, between its marks; `UPDATE_DOCS=1` writes it."""
    path = DOCS / page
    of = f" of {name}" if name else ""
    start, end = f"<!-- table{of} -->\n", f"<!-- end of table{of} -->\n"
    before, rest = path.read_text(encoding="utf-8").split(start)
    shown, after = rest.split(end)
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(f"{before}{start}\n{present}\n{end}{after}", encoding="utf-8")
    else:
        assert shown == f"\n{present}\n"


def hold_widths(text: str) -> None:
    """Every row of a table has the columns of its heading: no cell holds a bar or a line break."""
    width = 0
    for line in text.splitlines():
        if not line.startswith("|"):
            width = 0
        else:
            assert width in (0, line.count("|"))
            width = line.count("|")
