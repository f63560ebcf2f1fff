"""The table of other tools in docs/how-to/fault-injection.md says what the tools do."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.docs.other_tools import PROBES
from tests.docs.pages import DOCS, hold_widths

#: Tools that are not installed; their cells are from documentation.
DOCUMENTED = {"toxiproxy", "VCR.py"}
_WORDS = {"yes": True, "no": False}
Cells = dict[tuple[str, str], str]


def table() -> list[str]:
    """Return the lines of the table of needs."""
    page = (DOCS / "how-to" / "fault-injection.md").read_text(encoding="utf-8")
    start = page.index("| a test needs |")
    return page[start : page.index("\n\n", start)].splitlines()


def cells(lines: list[str]) -> Cells:
    """Return the cells of a table that are not empty, by need and tool."""
    heading, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {
        (row[0], tool.strip("`")): cell
        for row in rows
        for tool, cell in zip(heading[1:], row[1:], strict=True)
        if cell
    }


def wrong(shown: Cells, measured: Mapping[tuple[str, str], bool]) -> list[str]:
    """Return the cells that were measured otherwise."""
    return [
        f"{tool}: {need}: the page says {shown[need, tool]}"
        for (need, tool), result in measured.items()
        if _WORDS[shown[need, tool]] != result
    ]


def test_every_cell_is_measured_or_documented() -> None:
    shown = cells(table())
    measured = {key for key in shown if key[1] not in DOCUMENTED}
    assert measured == PROBES.keys()
    assert {shown[key] for key in shown.keys() - measured} == {"doc"}
    hold_widths("\n".join(table()))


@pytest.mark.deep
def test_every_measured_cell_is_true() -> None:
    assert wrong(cells(table()), {key: probe() for key, probe in PROBES.items()}) == []


def test_a_wrong_cell_is_found() -> None:
    shown = cells(["| a | `x` | y |", "|---|---|---|", "| need | yes | no |"])
    assert wrong(shown, {("need", "x"): True, ("need", "y"): False}) == []
    assert wrong(shown, {("need", "x"): False}) == ["x: need: the page says yes"]
    assert wrong(shown, {("need", "y"): True}) == ["y: need: the page says no"]
