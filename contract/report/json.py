"""The report for programs: one JSON object for a target, in the shape of `report.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timezone
from typing import Any

from fscontract.contract import __version__
from fscontract.contract.report.text import escaped, unverified
from fscontract.contract.runner.result import (
    ClauseResult,
    Counterexample,
    Entry,
    NotSetUp,
    RunResult,
)


def render(entries: Sequence[Entry]) -> str:
    """An object for one target, a list of objects for several; ends with a newline."""
    data = [to_json(entry) for entry in entries]
    text = json.dumps(data[0] if len(data) == 1 else data, indent=2, ensure_ascii=False) + "\n"
    return escaped(text, lambda char: json.dumps(char)[1:-1])


def to_json(entry: Entry) -> dict[str, Any]:
    """One target as plain data; a target that could not be set up has `error` and no clauses."""
    if isinstance(entry, NotSetUp):
        return {
            "fscontract": __version__,
            "target": entry.target,
            "conforms": False,
            "error": entry.message,
        }
    return _run(entry)


def _run(result: RunResult) -> dict[str, Any]:
    started = result.started.astimezone(timezone.utc).isoformat(timespec="seconds")
    return {
        "fscontract": __version__,
        "target": result.target,
        "binding": result.binding,
        "profile": result.profile,
        "effort": result.effort,
        "seed": result.seed,
        "started": started.replace("+00:00", "Z"),
        "seconds": round(result.seconds, 3),
        "conforms": result.conforms,
        "clauses": [_clause(c) for c in result.clauses],
        "summary": result.summary,
        "unverified": [
            {"outcome": g.outcome.value, "reason": g.reason, "clauses": list(g.clauses)}
            for g in unverified(result)
        ],
        "counts": dict(result.counts),
        "versions": dict(result.versions),
        **({"warnings": list(result.warnings)} if result.warnings else {}),
        **({"incomplete": result.incomplete} if result.incomplete else {}),
    }


def _clause(result: ClauseResult) -> dict[str, Any]:
    found = result.counterexample
    data: dict[str, Any] = {
        "id": result.clause.id,
        "level": result.clause.level.value,
        "outcome": result.outcome.value,
        "exercised": result.exercised,
        "counterexample": None if found is None else _counterexample(found),
    }
    if result.reason:
        data["reason"] = result.reason
    if result.issue:
        data["issue"] = result.issue
    return data


def _counterexample(found: Counterexample) -> dict[str, Any]:
    data: dict[str, Any] = {
        "program": None if found.program is None else found.program.to_json(),
        "expected": list(found.expected),
        "actual": found.actual,
        "replay": found.replay,
        "signature": found.signature,
    }
    if found.step:
        data["step"] = found.step
    if found.interleaving:
        data["interleaving"] = list(found.interleaving)
    if found.schedule is not None:
        data["schedule"] = found.schedule
    return data
