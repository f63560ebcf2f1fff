"""The table of docs/findings.md, its sections, and the scripts that it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import DOCS

PAGE = DOCS / "findings.md"
#: Scripts of findings by their names; the other files of the directory are imported by them.
SCRIPTS = {
    path.name: path
    for path in sorted(Path(__file__).with_name("scripts").glob("*.py"))
    if re.match(r"[a-z]\d+_", path.name)
}
CONSEQUENCES = frozenset(
    {"data", "position", "hang", "leak", "exception", "cost", "claim"},
)


class Finding(NamedTuple):
    """A row of the table."""

    id: str
    anchor: str
    libraries: tuple[str, ...]
    versions: tuple[str, ...]
    title: str
    clauses: tuple[str, ...]
    consequence: str
    reported: str


def _row(line: str) -> Finding:
    link, libraries, versions, title, clauses, consequence, reported = line.strip("| ").split(" | ")
    match = re.fullmatch(r"\[(\w+)\]\(#(\S+)\)", link)
    assert match, line
    return Finding(
        match[1],
        match[2],
        tuple(libraries.split(", ")),
        tuple(versions.split(", ")),
        title,
        () if clauses == "none" else tuple(clauses.replace("`", "").split(", ")),
        consequence,
        reported,
    )


FINDINGS = [
    _row(line)
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \[[A-Z]+\d+\]\(#", line)
]
