"""What a task does: builds the target itself, and runs its part. Runs wherever it is sent."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from secrets import token_hex
from typing import Any

from fscontract.contract.distributed.file_visibility import Seen, Written, compare
from fscontract.contract.distributed.partial_results import FAILED, Partial, Record
from fscontract.contract.distributed.shard import Shard
from fscontract.contract.isolation import protocol
from fscontract.contract.runner import run_options, runner
from fscontract.contract.runner.counterexamples import Examined
from fscontract.contract.runner.internal_errors import exit_code_of, fault_of
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.settings import with_checks
from fscontract.contract.spec.clauses import present_patterns
from fscontract.contract.spec.known_failures import KnownError
from fscontract.contract.spec.profiles import Profile
from fscontract.contract.targets import marked

#: The order of what comes before all phases.
_BEFORE = (-1, 0)


def request_of(target: str, run: RunOptions, profile: Profile) -> dict[str, Any]:
    """What every part of a run goes by, as an object; values of options are in it."""
    content = None if run.content is None else run.content.absolute()
    clauses = tuple(chain.from_iterable(map(present_patterns, run.clauses)))
    there = replace(run, clauses=clauses, content=content, spark="")
    return {
        "target": _placed(target),
        "run": protocol.to_json(there),
        # a known failure of it may be in a file that is on one side only
        "profile": protocol.to_json(replace(profile, known=())),
        "folder": os.getcwd(),
        "mark": token_hex(4),
    }


def _placed(target: str) -> str:
    """The target, with a file in it named from wherever a task may be."""
    path, _, name = target.rpartition(":")
    return f"{os.path.abspath(path)}:{name}" if path.endswith(".py") else target


def run_shard(request: str) -> str:
    """The evidence of a part, or why there is none; JSON in and out."""
    try:
        answer = _run(json.loads(request))
    except BaseException as error:  # it is to be told where the run was started
        if exit_code_of(error) is None or isinstance(error, KnownError):
            fault = fault_of(error)
            answer = {"fault": fault.line, "trace": fault.trace}
        else:
            answer = {"target": str(error)}
    return json.dumps({**answer, "where": socket.gethostname()})


def _run(data: Mapping[str, Any]) -> dict[str, Any]:
    run = protocol.from_json(RunOptions, data["run"])
    with _beside(data["folder"]), marked(data["mark"]):
        target = data["target"]
        binding = run_options.resolve(target, run)
        clauses = with_checks(run_options.selected(run))
        profile = protocol.from_json(Profile, data["profile"])
        settings = run_options.settings_for(binding, run, clauses, profile=profile)
        settings = replace(settings, shard=protocol.from_json(Shard, data["part"]))
        seen = None
        if data["file"] is not None:
            file = protocol.from_json(Written, data["file"])
            seen = compare(run_options.resolve(target, run), file, run.timeout)
        partial = runner.gather(binding, settings)
        if seen is not None:
            _add(partial, seen)
        answer: dict[str, Any] = protocol.to_json(partial)
        return answer


def _add(partial: Partial, seen: Seen) -> None:
    """Add what was seen of the file that was written elsewhere."""
    partial.exercised.update(seen.exercised)
    partial.unsaid |= seen.unsaid
    partial.counts["errors"] += seen.errors
    for clause, counterexample in seen.counterexamples.items():
        at = replace(counterexample, actual=f"{counterexample.actual}, on {socket.gethostname()}")
        examined = Examined(clause, at)
        partial.records.append(Record(FAILED, _BEFORE, (), examined, Counter(), frozenset()))


@contextmanager
def _beside(folder: str) -> Iterator[None]:
    """Modules of the directory where the run was started can be imported, if it is there."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
