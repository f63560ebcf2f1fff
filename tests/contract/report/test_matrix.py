"""The matrix: which rows and columns it has, and how it is shown as Markdown."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.report import matrix_render
from fscontract.contract.report.matrix import (
    Findings,
    Matrix,
    join,
    load_findings,
    read_reports,
    unexplained,
)
from fscontract.contract.runner.result import GLYPHS, MEANINGS, Verdict
from fscontract.contract.spec.clauses import clauses
from tests.contract.report.matrices import judged, report, save

NOW = datetime(2026, 5, 4, 3, 2, tzinfo=timezone.utc)
PAGE = """# Findings
## Targets
### F1 Streams share `one` position, always
```text
### F9 No heading
```
### F2 Twice
### F2 Twice
"""


def joined(place: Path, *reports: Any) -> Matrix:
    """Return the matrix of these reports, each in a separate file."""
    paths = [save(place / f"{number}.json", data) for number, data in enumerate(reports)]
    return join([c for path in paths for c in read_reports(Path(path))], "Title", NOW)


def lines(matrix: Matrix, findings: Findings | None = None, everything: bool = True) -> list[str]:
    """The Markdown."""
    return matrix_render.render_markdown(matrix, findings or Findings(), everything).splitlines()


def test_rows_are_in_the_order_of_the_documents(tmp_path: Path) -> None:
    """Whatever the order in the reports, and grouped by document and section."""
    first = judged({"python.read.all": "pass", "seek.negative": "pass"}, "a")
    matrix = joined(
        tmp_path, first, judged({"close.state": "pass", "open.status-null": "pass"}, "b")
    )
    rows = [row.clause for part in matrix.parts for row in part.rows]
    assert rows == [name for name in clauses() if name in rows]
    assert len(rows) == 4
    assert [part.name for part in matrix.parts] == ["fsdatainputstream", "openfile", "python-file"]
    sections = [s.title for part in matrix.parts for s in part.sections]
    assert sections == [clauses()[name].section for name in rows]


def test_a_clause_that_a_run_was_not_asked_about_has_an_empty_cell(tmp_path: Path) -> None:
    """The outcome is unknown."""
    matrix = joined(
        tmp_path, judged({"seek.zero": "pass"}, "a"), judged({"seek.noop": "undeclared"}, "b")
    )
    cells = {row.clause: [c.text for c in row.cells] for part in matrix.parts for row in part.rows}
    assert cells == {"seek.zero": ["✓ pass", ""], "seek.noop": ["", "- undeclared"]}


def test_clauses_of_another_version_stand_last(tmp_path: Path) -> None:
    """They have no document here, and keep their level."""
    matrix = joined(tmp_path, judged({"later.clause": "fail", "seek.zero": "pass"}))
    assert [part.name for part in matrix.parts] == ["fsdatainputstream", "unknown"]
    (row,) = matrix.parts[-1].rows
    assert (row.clause, row.level) == ("later.clause", "MUST")


def test_every_outcome_has_a_glyph_of_its_own_and_a_meaning() -> None:
    """So that none can be taken for another without colour."""
    assert set(GLYPHS) == set(MEANINGS) == set(Verdict)
    assert len(set(GLYPHS.values())) == len(Verdict)


def test_columns_of_one_name_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    """Not by what they share; the rest keeps its name."""
    matrix = joined(
        tmp_path,
        judged({}, "a", seed=1, profile="p"),
        judged({}, "a", seed=2, profile="p"),
        judged({}, "b"),
    )
    assert [c.label for c in matrix.columns] == ["a (seed 1)", "a (seed 2)", "b"]


def test_two_runs_that_differ_in_nothing_are_told_apart_by_their_files(tmp_path: Path) -> None:
    """And two in one file by a number."""
    matrix = joined(tmp_path, [report("a"), report("a")], report("a"))
    first, second, third = (c.label for c in matrix.columns)
    assert "0.json" in first
    assert second == f"{first} #2"
    assert "1.json" in third


def test_the_totals_are_those_of_the_cells(tmp_path: Path) -> None:
    """Each outcome has a row, and conforms has one."""
    one = judged({"seek.zero": "pass", "seek.noop": "pass", "seek.negative": "known"}, "a")
    text = lines(joined(tmp_path, one, judged({"seek.zero": "hang"}, "b")))
    start = text.index("## Counts")
    assert text[start + 4 : start + 8] == snapshot(
        [
            "| ✓ pass | 2 |  |",
            "| ◆ known | 1 |  |",
            "| ∞ hang |  | 1 |",
            "| **conforms** | yes | **no** |",
        ]
    )


def test_a_target_that_was_not_set_up_has_a_column(tmp_path: Path) -> None:
    """It says why, and conforms to nothing."""
    lost = {"fscontract": "0.1.0", "target": "s3://b", "conforms": False, "error": "no way in"}
    text = lines(joined(tmp_path, lost, judged({"seek.zero": "pass"})))
    assert "| seek.zero | MUST |  | ✓ pass |" in text
    assert any("not set up: no way in" in line for line in text)
    assert "| **conforms** | not set up | yes |" in text


def test_rows_that_no_target_breaks_are_counted(tmp_path: Path) -> None:
    """Every one by its name, with how many came out how; the others are shown in full."""
    first = {"seek.zero": "pass", "seek.noop": "pass", "seek.negative": "fail"}
    second = {"seek.zero": "undeclared", "seek.negative": "pass"}
    matrix = joined(tmp_path, judged(first, "a"), judged(second, "b"))
    text = lines(matrix, everything=False)
    assert "<summary>2 clauses that no target violates</summary>" in text
    assert "| seek.zero | MUST | 1 pass, 1 undeclared |" in text
    assert "| seek.noop | MUST | 1 pass, 1 not selected |" in text
    assert "| seek.negative | MUST | ✗ fail | ✓ pass |" in text


@pytest.mark.parametrize("outcome", ["unexercised", "error", "fixed", "hang", "lax", "crash"])
def test_what_is_not_settled_is_shown_in_full(outcome: str, tmp_path: Path) -> None:
    """Only what holds, or does not apply, may be counted."""
    text = lines(joined(tmp_path, judged({"seek.zero": outcome})), everything=False)
    assert not any("that no target violates" in line for line in text)


def test_hostile_names_stay_in_their_cells(tmp_path: Path) -> None:
    """Bars, brackets, backticks, markup and line breaks are shown, and do nothing."""
    name = "a|b`c`[d](http://e)<script>\n# f"
    matrix = joined(tmp_path, judged({"x.|`<b>": "fail"}, name, "F1|[x](javascript:1)"))
    for line in lines(matrix):
        assert "<script>" not in line
        assert not re.search(r"(?<!\\)\]\(", line)
        assert not line.startswith("# f")
    heading = next(line for line in lines(matrix) if line.startswith("| Clause"))
    assert heading.replace("\\|", "").count("|") == 4


def test_ids_of_findings_become_links(tmp_path: Path) -> None:
    """Links use GitHub's anchors of headings; code blocks contain no headings."""
    (tmp_path / "f.md").write_text(PAGE)
    findings = load_findings(tmp_path / "f.md", "../f.md")
    addresses = {link.text: link.address for link in findings.links("F1, F2 F9 https://x/y")}
    assert addresses == {
        "F1": "../f.md#f1-streams-share-one-position-always",
        "F2": "../f.md#f2-twice",
        "F9": "",
        "https://x/y": "https://x/y",
    }
    text = lines(joined(tmp_path, judged({"seek.zero": "known"}, "a", "F1 F9")), findings)
    row = next(line for line in text if line.startswith("| seek.zero"))
    assert row.endswith("| ◆ known [F1](../f.md#f1-streams-share-one-position-always) F9 |")


@pytest.mark.parametrize(
    ("outcome", "issue", "fault"),
    [
        ("fail", "", "no issue is named"),
        ("lax", "", "no issue is named"),
        ("known", "F9", "F9: not in "),
        ("known", "F1 F9", "F9: not in "),
        ("known", "ask Ann", "ask Ann: not in "),
        ("known", "F1", ""),
        ("hang", "see https://x/y", ""),
        ("pass", "", ""),
        ("fixed", "", ""),
    ],
)
def test_what_is_broken_has_to_have_a_finding(
    outcome: str, issue: str, fault: str, tmp_path: Path
) -> None:
    """One that is there."""
    (tmp_path / "f.md").write_text(PAGE)
    findings = load_findings(tmp_path / "f.md", "f.md")
    matrix = joined(tmp_path, judged({"seek.zero": outcome}, "a", issue))
    assert [u.fault[: len(fault)] for u in unexplained(matrix, findings)] == [fault] * bool(fault)


def test_without_a_page_of_findings_any_issue_counts(tmp_path: Path) -> None:
    """It may be a ticket of the user's own."""
    matrix = joined(tmp_path, judged({"seek.zero": "known"}, "a", "STORE-12"))
    assert unexplained(matrix, Findings()) == []
