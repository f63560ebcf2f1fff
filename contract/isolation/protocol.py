"""What the processes of an isolated run say to each other, as JSON; nothing else is let in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from fscontract.contract.program.program import Program
from fscontract.contract.runner.crashes import Crash
from fscontract.contract.runner.events import (
    Event,
    Interrupted,
    Judged,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.result import ClauseResult, Counterexample, RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.known_failures import Known, parse_known

_PLAIN: dict[str, type[RunStarted] | type[PhaseStarted] | type[Progress]] = {
    "started": RunStarted,
    "phase": PhaseStarted,
    "progress": Progress,
}
_WITH_RESULT: dict[str, type[Interrupted] | type[Judged] | type[RunFinished]] = {
    "interrupted": Interrupted,
    "judged": Judged,
    "finished": RunFinished,
}


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as an object with its name and its values."""
    if isinstance(event, ViolationFound):
        counterexample = counterexample_to_json(event.counterexample)
        return {"event": "violation", "clause": event.clause, "counterexample": counterexample}
    for name, kind in _WITH_RESULT.items():
        if isinstance(event, kind):
            return {"event": name, "result": result_to_json(event.result)}
    (name,) = (name for name, kind in _PLAIN.items() if isinstance(event, kind))
    return {"event": name, **asdict(event)}


def event_from_json(data: Mapping[str, Any]) -> Event:
    """The event that `event_to_json` wrote."""
    values = dict(data)
    name = values.pop("event")
    if name == "violation":
        return ViolationFound(values["clause"], counterexample_from_json(values["counterexample"]))
    if name in _WITH_RESULT:
        return _WITH_RESULT[name](result_from_json(values["result"]))
    return _PLAIN[name](**values)


def counterexample_to_json(counterexample: Counterexample) -> dict[str, Any]:
    """Return a counterexample as an object."""
    values = {name: getattr(counterexample, name) for name in Counterexample.__dataclass_fields__}
    program = counterexample.program
    return values | {"program": None if program is None else program.to_json()}


def counterexample_from_json(data: Mapping[str, Any]) -> Counterexample:
    """The counterexample that `counterexample_to_json` wrote."""
    program = None if data["program"] is None else Program.from_json(data["program"])
    lists = {name: tuple(data[name]) for name in ("expected", "interleaving", "outcomes")}
    return Counterexample(**{**data, **lists, "program": program})


def result_to_json(result: RunResult) -> dict[str, Any]:
    """The result of a run as an object; clauses go by their ids."""
    results = [
        {
            "clause": one.clause.id,
            "outcome": one.outcome.value,
            "exercised": one.exercised,
            "reason": one.reason,
            "issue": one.issue,
            "counterexamples": [counterexample_to_json(each) for each in one.counterexamples],
        }
        for one in result.clauses
    ]
    values = {name: getattr(result, name) for name in RunResult.__dataclass_fields__}
    return values | {"clauses": results, "started": result.started.isoformat()}


def result_from_json(data: Mapping[str, Any]) -> RunResult:
    """The result that `result_to_json` wrote."""
    results = tuple(map(_clause_result, data["clauses"]))
    started, warnings = datetime.fromisoformat(data["started"]), tuple(data["warnings"])
    return RunResult(**{**data, "clauses": results, "started": started, "warnings": warnings})


def _clause_result(data: Mapping[str, Any]) -> ClauseResult:
    failures = tuple(map(counterexample_from_json, data["counterexamples"]))
    return ClauseResult(
        clauses()[data["clause"]],
        Verdict(data["outcome"]),
        data["exercised"],
        next(iter(failures), None),
        data["reason"],
        data["issue"],
        failures[1:],
    )


def crash_to_json(crash: Crash) -> dict[str, Any]:
    """A crash as an object."""
    counterexample = counterexample_to_json(crash.counterexample)
    return {"clause": crash.clause, "counterexample": counterexample, "hung": crash.hung}


def crash_from_json(data: Mapping[str, Any]) -> Crash:
    """The crash that `crash_to_json` wrote."""
    return Crash(data["clause"], counterexample_from_json(data["counterexample"]), data["hung"])


def options_to_json(run: RunOptions) -> dict[str, Any]:
    """The options of a run as an object."""
    return asdict(run) | {"content": None if run.content is None else str(run.content)}


def options_from_json(data: Mapping[str, Any]) -> RunOptions:
    """The options that `options_to_json` wrote."""
    content = None if data["content"] is None else Path(data["content"])
    lists = {name: tuple(data[name]) for name in ("features", "clauses")}
    return RunOptions(**{**data, **lists, "content": content})


def known_to_json(known: tuple[Known, ...]) -> list[dict[str, Any]]:
    """Known failures as objects."""
    return [asdict(k) | {"until": k.until and k.until.isoformat()} for k in known]


def known_from_json(data: list[dict[str, Any]]) -> tuple[Known, ...]:
    """The known failures that `known_to_json` wrote."""
    return parse_known(data, "known")
