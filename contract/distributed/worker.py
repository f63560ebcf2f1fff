"""Run a task in a process of the backend: build the target, and run one shard."""

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

#: The place in the run before all phases.
_BEFORE = (-1, 0)


def request_of(target: str, run: RunOptions, profile: Profile) -> dict[str, Any]:
    """Return the common request of all shards as an object; it contains the values of options."""
    content = None if run.content is None else run.content.absolute()
    clauses = tuple(chain.from_iterable(map(present_patterns, run.clauses)))
    exclude = tuple(chain.from_iterable(map(present_patterns, run.exclude)))
    encode = None if run.encode is None else _placed(run.encode)
    there = replace(run, clauses=clauses, exclude=exclude, content=content, encode=encode)
    there = replace(there, spark=None, jobs=1)
    return {
        "target": _placed(target),
        "run": protocol.to_json(there),
        # known failures may be in a file that exists on one side only
        "profile": protocol.to_json(replace(profile, known=())),
        "folder": os.getcwd(),
        "mark": token_hex(4),
    }


def _placed(target: str) -> str:
    """Return the target, with a relative path in it made absolute."""
    path, _, name = target.rpartition(":")
    return f"{os.path.abspath(path)}:{name}" if path.endswith(".py") else target


def run_shard(request: str) -> str:
    """Return the results of a shard, or an error; input and output are JSON."""
    try:
        answer = _run(json.loads(request))
    except BaseException as error:  # messages name the directory in which the run was started
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
    """Add the observations of the file that the driver wrote."""
    partial.exercised.update(seen.exercised)
    partial.unsaid |= seen.unsaid
    partial.counts["errors"] += len(seen.unanswered)
    partial.unanswered |= seen.unanswered
    for clause, counterexample in seen.counterexamples.items():
        at = replace(counterexample, actual=f"{counterexample.actual}, on {socket.gethostname()}")
        examined = Examined(clause, at)
        partial.records.append(Record(FAILED, _BEFORE, (), examined, Counter(), frozenset()))


@contextmanager
def _beside(folder: str) -> Iterator[None]:
    """Make modules of the directory in which the run was started importable, if it exists."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
