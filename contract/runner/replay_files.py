"""The directory `.fscontract`: replay files of failures, and a record of the last runs.

The record has the clauses that failed in the last run of each target, for `check --last-failed`,
and the replay files of the last command, for `replay` without arguments.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fscontract.contract.runner.result import (
    FAILING,
    UNVERIFIED,
    ClauseResult,
    Counterexample,
    Verdict,
)
from fscontract.contract.runner.time_budget import EFFORTS
from fscontract.contract.spec.clauses import present
from fscontract.contract.targets import names_code
from fscontract.contract.untrusted import UntrustedError, load_json

#: Where commands keep the files, in the current directory.
DIRECTORY = Path(".fscontract")
_RECORD = "last-runs"  # no .json: `replay .fscontract/*.json` takes replay files alone
_NAME = re.compile(r"(?P<clause>.+)-[0-9a-f]{12}\.json")
#: Fields of a replay file that say on what, and with which declarations, the program failed.
_CONDITIONS = (
    *("target", "options", "file", "content", "encode"),
    *("binding", "profile", "features", "buffer", "seed"),
)
#: Fields that say which programs were run.
_EXTENT = ("effort", "selection")
#: Outcomes after which it is open whether a clause fails.
_OPEN = frozenset({Verdict.UNEXERCISED, Verdict.ERROR})


def make_directory(directory: Path) -> None:
    """Make the directory if it is missing, with a .gitignore that excludes all its files."""
    directory.mkdir(parents=True, exist_ok=True)
    ignore = directory / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


# Replay files ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReplayFiles:
    """The directory of replay files, and their fields that resolve the target again."""

    directory: Path
    target: Mapping[str, Any] = field(default_factory=dict)

    def written(self, result: ClauseResult, context: Mapping[str, Any]) -> ClauseResult:
        """Write the replay files of a clause; return the result with their paths."""
        clause, context = result.clause.id, {**context, **self.target}
        return result.showing(
            [write_replay(self.directory, clause, f, context) for f in result.counterexamples]
        )

    def remove_outdated(
        self, results: Iterable[ClauseResult], context: Mapping[str, Any], faults: bool = False
    ) -> None:
        """Remove the files of failures that this complete run would have shown again."""
        remove_outdated(self.directory, results, {**context, **self.target}, faults)


def write_replay(
    directory: Path, clause: str, counterexample: Counterexample, context: Mapping[str, Any]
) -> Counterexample:
    """Write the replay file of a counterexample; return the counterexample with its path.

    Runs that find the same program share the file, which has the effort and the selection of the
    first.
    """
    data: dict[str, Any] = {"fscontract-replay": 1, "clause": clause, **context}
    if counterexample.program is not None:
        data["program"] = counterexample.program.to_json()
    elif counterexample.threads is not None:
        data["threads"] = counterexample.threads
    elif counterexample.scenario:
        data["scenario"] = counterexample.scenario
    else:
        return counterexample
    data |= {"hangs": True} if counterexample.hangs else {}
    lasting = {name: value for name, value in data.items() if name not in _EXTENT}
    name = hashlib.sha256(_text(lasting).encode()).hexdigest()[:12]
    make_directory(directory)
    path = directory / f"{clause}-{name}.json"
    if not path.exists():
        path.write_text(_text(data), encoding="utf-8")
    target = str(context.get("target", ""))
    code, encode = target if names_code(target) else "", str(context.get("encode", ""))
    return replace(counterexample, replay=str(path), code=code, encode=encode)


def add_conditions(path: Path, counterexample: Counterexample) -> None:
    """Add to a replay file that other programs have to run before, or that it fails at times."""
    data = load_json(path)
    if counterexample.before:
        data["before"] = [program.to_json() for program in counterexample.before]
    if counterexample.intermittent:
        data["intermittent"] = True
    path.write_text(_text(data), encoding="utf-8")


def remove_outdated(
    directory: Path, results: Iterable[ClauseResult], context: Mapping[str, Any], faults: bool
) -> None:
    """Remove the replay files of failures that a complete run would have shown, but did not.

    A file stays if the run did not judge its clause, if another target, profile or seed wrote it,
    or if it is from a run that tried more: with a higher effort, faults, or another selection of
    clauses, unless all are selected now.
    """
    results = [result for result in results if result.outcome not in UNVERIFIED]
    judged = {result.clause.id for result in results}
    shown = {Path(f.replay).name for r in results for f in r.counterexamples if f.replay}
    for path in replays_in(directory):
        if _clause_of(path) not in judged or path.name in shown:
            continue
        with contextlib.suppress(UntrustedError, OSError):
            data = load_json(path)
            if isinstance(data, dict) and _is_repeated(data, context, faults):
                path.unlink()


def _is_repeated(data: Mapping[str, Any], context: Mapping[str, Any], faults: bool) -> bool:
    """Return whether a run with this context tries again what a replay file has."""
    if any(data.get(name) != context.get(name) for name in _CONDITIONS):
        return False
    if context.get("selection") not in (None, data.get("selection")):
        return False
    program = data.get("program")
    if isinstance(program, dict) and "faults" in program and not faults:
        return False
    effort = data.get("effort")
    return effort in EFFORTS and EFFORTS.index(effort) <= EFFORTS.index(context["effort"])


def replays_in(directory: Path) -> list[Path]:
    """Return the replay files of a directory, by name."""
    return sorted(path for path in directory.glob("*.json") if _NAME.fullmatch(path.name))


def _clause_of(path: Path) -> str:
    match = _NAME.fullmatch(path.name)
    return match["clause"] if match else ""


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


# The record of the last runs --------------------------------------------------------------------


@dataclass
class LastRuns:
    """The last run of each target, by `key_of`, and the replay files of the last command."""

    failed: dict[str, list[str]] = field(default_factory=dict)
    replays: list[str] = field(default_factory=list)

    def take(self, key: str, results: Sequence[ClauseResult]) -> None:
        """Add a run to the last command.

        A clause that the run did not judge fails as long as it did before.
        """
        undecided = {r.clause.id for r in results if r.outcome in _OPEN}
        others = self.failed_of(key) - {r.clause.id for r in results}
        kept = self.failed_of(key) & undecided
        failing = [result for result in results if result.outcome in FAILING]
        self.failed[key] = sorted({*others, *kept, *(r.clause.id for r in failing)})
        failures = (f for result in failing for f in result.counterexamples if not f.known)
        names = [Path(f.replay).name for f in failures if f.replay]
        self.replays = list(dict.fromkeys([*self.replays, *names]))

    def failed_of(self, key: str) -> frozenset[str]:
        """Return the clauses that failed in the last run that judged them."""
        return frozenset(map(present, self.failed.get(key, ())))


def key_of(replay_fields: Mapping[str, Any]) -> str:
    """Return the key of a target: how it was typed, with the names of its options."""
    return json.dumps(replay_fields, sort_keys=True)


def load_last_runs(directory: Path = DIRECTORY) -> LastRuns:
    """Return the record; an empty one if there is none, or if it is damaged."""
    try:
        data = load_json(directory / _RECORD)
        failed = {str(key): [str(name) for name in ids] for key, ids in data["failed"].items()}
        return LastRuns(failed, [str(name) for name in data["replays"]])
    except (UntrustedError, AttributeError, KeyError, TypeError):
        return LastRuns()


def save_last_runs(runs: LastRuns, directory: Path = DIRECTORY) -> None:
    """Write the record, if there is a directory or a failure; ignore a directory without access."""
    if not directory.is_dir() and not any(runs.failed.values()):
        return
    pending = directory / f"{_RECORD}.{os.getpid()}"
    with contextlib.suppress(OSError):
        make_directory(directory)
        pending.write_text(_text({"failed": runs.failed, "replays": runs.replays}), "utf-8")
        pending.replace(directory / _RECORD)
