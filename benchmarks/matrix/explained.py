"""Files of known failures, generated from reports: each entry refers to a finding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.matrix.targets import Target
from fscontract.contract.program.program import Program
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.known_failures import Known, kept_program, load_known, save_known

FINDINGS = Path(__file__).resolve().parents[2] / "docs" / "findings.md"
_SECTION = re.compile(r"^#{2,3} (?:([A-Z]+\d+) (.*))?", re.MULTILINE)
#: Outcomes that require an entry.
_RED = frozenset({"fail", "known", "lax", "hang", "crash"})


@cache
def findings() -> dict[str, tuple[str, frozenset[str]]]:
    """Return the title of each finding, and the clauses that its section names."""
    text = FINDINGS.read_text(encoding="utf-8")
    starts = [*_SECTION.finditer(text)]
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return {
        match[1]: (match[2], _named(text[match.end() : end]))
        for match, end in zip(starts, ends, strict=True)
        if match[1]
    }


def _named(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+", text)) & clauses().keys()


def write(target: Target, report: Path) -> list[str]:
    """Rewrite the target's file, or remove it; return the clauses without a finding.

    The report must come from a run without stale entries. Intermittent entries are kept.
    """
    data = json.loads(report.read_text(encoding="utf-8"))
    if not data.get("clauses"):  # the target could not be checked
        return []
    entries = _with_intermittent(target, tuple(_entries(target, data)))
    if not entries:
        target.known.unlink(missing_ok=True)
    else:
        heading = (
            f"# {target.label}: what fails, and the findings of docs/findings.md that say why.\n"
        )
        save_known(target.known, entries, heading)
    return sorted({entry.clause for entry in entries if not entry.issue})


def _with_intermittent(target: Target, entries: tuple[Known, ...]) -> tuple[Known, ...]:
    """Return the entries, with the intermittent ones of the existing file."""
    old = load_known(target.known) if target.known.exists() else ()
    stay = tuple(entry for entry in old if entry.intermittent)
    theirs = {entry.clause for entry in stay}
    return (*(entry for entry in entries if entry.clause not in theirs), *stay)


def _entries(target: Target, data: dict[str, Any]) -> Iterator[Known]:
    for clause in data.get("clauses", ()):
        if clause["outcome"] in _RED:
            ids = [i for i in target.findings.split() if clause["id"] in findings()[i][1]]
            titles = "; ".join(findings()[i][0] for i in ids)
            failures = [clause["counterexample"], *clause.get("others", ())]
            distinct: dict[str, dict[str, Any]] = {}
            for failure in failures:
                distinct.setdefault(failure["signature"], failure)
            for failure in distinct.values():
                yield Known(
                    clause["id"],
                    titles or "no finding yet",
                    failure["signature"],
                    " ".join(ids),
                    intermittent=bool(failure.get("interleaving")),
                    program=_program(clause["id"], failure),
                )


def _program(clause: str, failure: dict[str, Any]) -> Program | None:
    """Return the program of a failure in a report, None if an entry has none."""
    if failure["program"] is None or failure.get("before"):
        return None
    return kept_program(clauses()[clause], Program.from_json(failure["program"]))
