"""The line of figures in README.md."""

from __future__ import annotations

import os
import re

from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.registry import mutants
from tests.docs.pages import DOCS

README = DOCS.parent / "README.md"
_LINE = re.compile(r"^\*\*\d+ clauses, .*\*\*$", re.MULTILINE)


def figures() -> str:
    """Return the line with the present figures."""
    findings = (DOCS / "findings.md").read_text(encoding="utf-8")
    matrix = (DOCS / "matrix.md").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^(\d+) targets, joined", matrix, re.MULTILINE)
    found = len(re.findall(r"^### [A-Z]+\d+ ", findings, re.MULTILINE))
    return (
        f"**{len(clauses())} clauses, {len(list(mutants()))} mutants killed, "
        f"{targets} targets in the [matrix](docs/matrix.md), "
        f"{found} [findings](docs/findings.md) in released libraries.**"
    )


def test_readme_has_current_figures() -> None:
    """`UPDATE_DOCS=1` writes them; tests/fakes checks that each mutant is killed."""
    text = README.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS"):
        README.write_text(_LINE.sub(figures(), text), encoding="utf-8")
    else:
        assert _LINE.findall(text) == [figures()]


def test_readme_has_at_most_150_lines() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150
