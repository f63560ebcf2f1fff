"""Reports made to measure, for tests of the matrix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fscontract import __version__
from fscontract.contract.runner.result import FAILING, UNVERIFIED, Verdict

_SHOWN = ("fail", "lax", "known", "hang", "crash")


def report(target: str = "memory", /, **more: Any) -> dict[str, Any]:
    """A report on no clause; see `judged`."""
    return judged({}, target, **more)


def judged(
    outcomes: Mapping[str, str], target: str = "memory", issue: str = "", **more: Any
) -> dict[str, Any]:
    """A report in which these clauses came out so; what is broken has the issue."""
    found = [_clause(name, outcome, issue) for name, outcome in outcomes.items()]
    verdicts = {Verdict(outcome) for outcome in outcomes.values()}
    bad = verdicts & (FAILING | {Verdict.ERROR})
    return {
        "fscontract": __version__,
        "target": target,
        "binding": "stream",
        "profile": "default",
        "effort": "quick",
        "seed": 0,
        "started": "2026-05-04T03:02:01Z",
        "seconds": 1.5,
        "conforms": not bad and bool(verdicts - UNVERIFIED),
        "clauses": found,
        "summary": {},
        "unverified": [],
        "counts": {},
        "versions": {},
        **more,
    }


def _clause(name: str, outcome: str, issue: str) -> dict[str, Any]:
    shown = {"program": None, "expected": ["EOF"], "actual": "returned 7", "replay": None}
    entry = {"id": name, "level": "MUST", "outcome": outcome, "exercised": 1}
    bad = outcome in _SHOWN
    extra = {"issue": issue} if bad and issue else {}
    return {**entry, "counterexample": shown if bad else None, **extra}


def save(path: Path, data: Any) -> str:
    """The path of a file that holds this as JSON."""
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)
