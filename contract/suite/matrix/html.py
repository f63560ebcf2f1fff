"""The matrix as a page for browsers, with all of its cells, and filters."""

from __future__ import annotations

from fscontract import __version__
from fscontract.contract.clauses import Level
from fscontract.contract.suite.matrix.findings import Findings, unexplained
from fscontract.contract.suite.matrix.markdown import FACTS
from fscontract.contract.suite.matrix.table import GLYPHS, MEANINGS, Matrix
from fscontract.contract.suite.report.html import page


def render(matrix: Matrix, findings: Findings) -> str:
    """The page, which is one file and loads nothing."""
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
