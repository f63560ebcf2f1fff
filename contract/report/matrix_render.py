"""Render the matrix as an HTML page and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from fscontract.contract import __version__
from fscontract.contract.report.html.page import page
from fscontract.contract.report.markdown import cell as escape
from fscontract.contract.report.matrix import (
    Cell,
    Column,
    DocumentRows,
    Findings,
    Link,
    Matrix,
    Row,
    unexplained,
)
from fscontract.contract.runner.result import GLYPHS, MEANINGS, Verdict
from fscontract.contract.spec.clauses import Level
from fscontract.contract.text import plural

#: A row with only these outcomes is counted, and not shown in full.
_QUIET = frozenset({Verdict.PASS, Verdict.UNDECLARED, Verdict.INEXPRESSIBLE, None})


def render_markdown(matrix: Matrix, findings: Findings, everything: bool = False) -> str:
    """Return the page; ends with a newline. With `everything`, all rows are shown."""
    return "".join(f"{line}\n" for line in _page(matrix, findings, everything))


def _page(matrix: Matrix, findings: Findings, everything: bool) -> Iterator[str]:
    yield f"# {escape(matrix.title)}"
    yield ""
    yield (
        f"{plural(len(matrix.columns), 'target')}, joined on {matrix.joined:%Y-%m-%d %H:%M} UTC "
        f"by `fscontract matrix` {__version__}. An empty cell: the run did not select the clause."
    )
    yield ""
    yield from (f"- `{GLYPHS[v]}` **{v.value}**: {MEANINGS[v]}" for v in matrix.outcomes)
    yield from ("", "## Targets", "")
    yield from _table([FACTS, *(_facts(column) for column in matrix.columns)])
    for part in matrix.parts:
        yield from _part(part, matrix, findings, everything)
    yield from ("## Counts", "")
    yield from _table(list(_counts(matrix)))
    yield from _without(matrix, findings)


FACTS = [
    *("Target", "Called", "Binding", "Profile", "Versions", "Effort", "Seed", "Started", "Verdict")
]


def _facts(column: Column) -> list[str]:
    versions = ", ".join(
        f"{k} {v}" for k, v in {"fscontract": column.version, **column.versions}.items()
    )
    seed = "" if column.seed is None else str(column.seed)
    verdict = f"{column.verdict}: {column.error}" if column.error else column.verdict
    facts = [column.label, column.target, column.binding, column.profile, versions, column.effort]
    return [escape(text) for text in (*facts, seed, column.started, verdict)]


def _part(
    part: DocumentRows, matrix: Matrix, findings: Findings, everything: bool
) -> Iterator[str]:
    yield f"## {escape(part.title)}"
    yield ""
    rows = [["Clause", "Level", *(escape(c.label) for c in matrix.columns)]]
    for section in part.sections:
        full = [_row(row, findings) for row in section.rows if everything or not _quiet(row)]
        if full and section.title:
            rows.append([f"**{escape(section.title)}**", *[""] * (len(rows[0]) - 1)])
        rows += full
    if len(rows) > 1:
        yield from _table(rows)
    if not everything:
        yield from _omitted([row for row in part.rows if _quiet(row)])


def _quiet(row: Row) -> bool:
    return {c.outcome for c in row.cells} <= _QUIET


def _row(row: Row, findings: Findings) -> list[str]:
    cells = (_cell(cell, findings) for cell in row.cells)
    return [escape(row.clause), escape(row.level), *cells]


def _cell(cell: Cell, findings: Findings) -> str:
    word = escape(cell.text)
    links = findings.links(cell.issue) if cell.red else ()
    return " ".join([word, *map(_link, links)])


def _link(link: Link) -> str:
    if not link.address:
        return escape(link.text)
    return f"[{escape(link.text)}]({quote(link.address, safe=_URL)})"


#: Characters that stay unescaped in an address; brackets, bars and spaces do not.
_URL = ":/?#@!$&'*+,;=%~"


def _omitted(rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    yield "<details>"
    yield f"<summary>{plural(len(rows), 'clause')} that no target violates</summary>"
    yield ""
    yield from _table(
        [["Clause", "Level", "Targets"]]
        + [[escape(r.clause), escape(r.level), escape(_counted(r))] for r in rows]
    )
    yield "</details>"
    yield ""


def _counted(row: Row) -> str:
    parts = [f"{row.counts[v]} {v.value}" for v in Verdict if row.counts[v]]
    empty = sum(cell.outcome is None for cell in row.cells)
    return ", ".join([*parts, *([f"{empty} not selected"] if empty else [])])


def _counts(matrix: Matrix) -> Iterator[list[str]]:
    yield ["Outcome", *(escape(c.label) for c in matrix.columns)]
    for verdict in matrix.outcomes:
        cells = (str(column.counts[verdict] or "") for column in matrix.columns)
        yield [escape(f"{GLYPHS[verdict]} {verdict.value}"), *cells]
    yield ["**conforms**", *(_conforms(column) for column in matrix.columns)]


def _conforms(column: Column) -> str:
    return "not set up" if column.error else "yes" if column.conforms else "**no**"


def _without(matrix: Matrix, findings: Findings) -> Iterator[str]:
    missing = unexplained(matrix, findings)
    yield "## Without a finding"
    yield ""
    if not missing:
        yield "None: every violation has a finding."
        return
    heading = ["Target", "Clause", "Outcome", "Seen", "Why"]
    rows = ([u.column.label, u.clause, u.cell.text, u.cell.actual, u.fault] for u in missing)
    yield from _table([heading, *([escape(text) for text in row] for row in rows)])


def _table(rows: Iterable[list[str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if number == 0:
            yield f"|{' --- |' * len(row)}"
    yield ""


def render_html(matrix: Matrix, findings: Findings) -> str:
    """Return the page as one file that loads nothing."""
    return page(
        "matrix.html.j2",
        "matrix.js",
        f":root {{ --columns: {len(matrix.columns)} }}\n",
        title=matrix.title,
        matrix=matrix,
        findings=findings,
        unexplained=unexplained(matrix, findings),
        facts=FACTS,
        glyphs=GLYPHS,
        meanings=MEANINGS,
        levels=[level.value for level in Level],
        version=__version__,
    )
