"""From a cell that is not as it should be to the finding that explains it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fscontract.contract.suite.matrix.reading import MatrixError
from fscontract.contract.suite.matrix.table import Cell, Column, Matrix
from fscontract.contract.untrusted import UntrustedError, load_text

_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*")
#: The number of a finding, such as F1 or HADOOP-12.
_ID = re.compile(r"[A-Za-z]+-?\d+")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


@dataclass(frozen=True)
class Link:
    """A word of an `issue`; `address` is empty if it leads nowhere."""

    text: str
    address: str = ""


@dataclass(frozen=True)
class Findings:
    """The findings of a Markdown file by their ids, each with its address.

    Without a file (`source` is "") whatever a known failure says of its issue counts as one.
    """

    source: str = ""
    anchors: Mapping[str, str] | None = None
    titles: Mapping[str, str] | None = None

    def links(self, issue: str) -> tuple[Link, ...]:
        """The words of an issue, with addresses where they are URLs or ids of findings."""
        return tuple(Link(word, self._address(word)) for word in re.split(r"[\s,]+", issue) if word)

    def _address(self, word: str) -> str:
        if word.startswith(("https://", "http://")):
            return word
        return (self.anchors or {}).get(word, "")

    def fault(self, cell: Cell) -> str:
        """What a cell lacks that has to have a finding, "" if it lacks nothing."""
        links = self.links(cell.issue)
        if not cell.red or (links and self.anchors is None):
            return ""
        if not links:
            return "no issue is named"
        nowhere = [x.text for x in links if not x.address and _ID.fullmatch(x.text)]
        if nowhere or not any(x.address for x in links):
            return f"{' '.join(nowhere) or cell.issue}: not in {self.source}"
        return ""


@dataclass(frozen=True)
class Unexplained:
    """A cell without a finding, and what it lacks."""

    column: Column
    clause: str
    cell: Cell
    fault: str


def load_findings(path: Path, address: str) -> Findings:
    """The findings of a file: headings that begin with an id, such as `### F1 What is wrong`.

    `address` is where links to the file lead.
    """
    try:
        text = load_text(path)
    except UntrustedError as error:
        raise MatrixError(str(error)) from None
    anchors: dict[str, str] = {}
    titles: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for heading in headings(text):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = f"-{seen[slug]}" if seen[slug] else ""
        seen[slug] += 1
        word, _, title = heading.partition(" ")
        if _ID.fullmatch(word) and title:
            anchors.setdefault(word, f"{address}#{slug}{number}")
            titles.setdefault(word, title)
    if not anchors:
        raise MatrixError(f"{path}: no heading such as '### F1 What is wrong'")
    return Findings(str(path), anchors, titles)


def headings(text: str) -> Iterator[str]:
    """The headings of a Markdown text, those in blocks of code left out."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and (found := _HEADING.fullmatch(line)):
            yield found[1]


def unexplained(matrix: Matrix, findings: Findings) -> list[Unexplained]:
    """The cells that should have a finding and have none, column by column."""
    return [
        Unexplained(column, clause, cell, fault)
        for column in matrix.columns
        for clause, cell in column.cells.items()
        if (fault := findings.fault(cell))
    ]
