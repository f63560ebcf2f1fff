"""Write failures as scripts that need only the library under test, in Python or in Java.

A failure of a Java filesystem is a class with `main`, or a JUnit 5 test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fscontract.contract.binding import Binding
from fscontract.contract.program.opened_path import PATHS, OpenedPath
from fscontract.contract.program.program import Program
from fscontract.contract.runner.result import FAILING, Entry, NotSetUp, Verdict
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.costs import CostClass, cost_script
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.faults import injected_fault_script, server_fault_script
from fscontract.contract.script.java_sequential import OpenClass, SequentialClass
from fscontract.contract.script.leaks import RELEASING, LeakClass, leak_script
from fscontract.contract.script.openings import (
    STATUS,
    OpeningClass,
    PathClass,
    path_script,
    status_script,
)
from fscontract.contract.script.plan import file_content, plan
from fscontract.contract.script.sequential import SequentialScript
from fscontract.contract.script.threads import ThreadsClass, threads_script
from fscontract.contract.spec.clauses import clauses


def script(language: str, binding: Binding, source: Source, failure: Failure) -> str:
    """Return a failure as a script; raise NoScript with the reason."""
    if language in ("java", "junit"):
        return java_script(binding, source, failure, language == "junit")
    return python_script(binding, source, failure)


def default_language(binding: Binding) -> str:
    """Return the language of the API of a binding."""
    return "java" if binding.api == "hadoop" else "python"


def _without_builder(program: Program) -> Program:
    """Return a program that opens its file directly, if the builder got no calls."""
    opening = program.opening
    if opening is None or opening.calls or opening.scene not in ("file", *PATHS):
        return program
    at = None if opening.scene == "file" else OpenedPath(opening.scene)
    return replace(program, opening=None, at=at)


#: Why a failure that needs earlier programs has no script or class, if it has none.
_EARLIER = "earlier programs have to run first"


def _is_sequential(failure: Failure) -> bool:
    """Return whether the last call of one thread fails, on a file with its usual name."""
    program = failure.program
    shows = failure.clause not in RELEASING | {STATUS} and clauses()[failure.clause].cost is None
    return shows and not failure.threads and program.faults is None and program.at is None


def python_script(binding: Binding, source: Source, failure: Failure) -> str:
    """Return the script of a failure on a target; raise NoScript with the reason."""
    api = binding.script_api(source)
    if api is None:
        raise NoScript(f"the {binding.api} API has no scripts")
    program, fixed = failure.program, binding.fixed_content
    if failure.before and not _is_sequential(failure):
        raise NoScript(_EARLIER)
    if failure.threads:
        return threads_script(api, source, failure, file_content(program, fixed, threads=True))
    if clauses()[failure.clause].cost is not None:
        return cost_script(api, source, failure)
    program = _without_builder(program)
    if program.opening is not None and api.open_with is not None and program.steps:
        length = program.length if fixed is None else len(fixed)
        opened = api.open_with(program.opening.resolved(length, failure.buffer))
        api = replace(api, opening=lambda _, name: (f"{name} = {opened}",))
        program = replace(program, opening=None)
    failure = replace(failure, program=program)
    if program.faults is not None:
        injected = (api.injector or api.fetcher) and not api.is_served
        write = injected_fault_script if injected else server_fault_script
        return write(api, source, failure)
    if failure.clause in RELEASING:
        content = file_content(program, fixed)
        return leak_script(api, source, failure, content, fixed is not None)
    if program.at is not None and not program.at.is_file:
        return path_script(api, source, failure, fixed is not None)
    if failure.clause == STATUS:
        return status_script(api, source, failure, file_content(program, fixed))
    planned = plan(failure.clause, program, failure.features, failure.buffer, fixed)
    return SequentialScript(api, source, failure, planned).text()


def java_script(binding: Binding, source: Source, failure: Failure, junit: bool) -> str:
    """Return the class of a failure on a target; raise NoScript with the reason."""
    api = binding.java_api(source)
    if api is None:
        raise NoScript(f"the {binding.api} API is not one of Java; use --script python")
    program, fixed = failure.program, binding.fixed_content
    if failure.before:
        raise NoScript(_EARLIER)
    if failure.threads:
        return ThreadsClass(api, failure, file_content(program, fixed, threads=True)).text(junit)
    if program.faults is not None:
        raise NoScript("requests have to fail")
    if program.at is not None and not program.at.is_file:
        return PathClass(api, failure).text(junit)
    if failure.clause in RELEASING:
        return LeakClass(api, failure, file_content(program, fixed)).text(junit)
    if clauses()[failure.clause].cost is not None:
        return CostClass(api, failure).text(junit)
    if program.opening is not None:
        return OpeningClass(api, failure, file_content(program, fixed)).text(junit)
    planned = plan(failure.clause, program, failure.features, failure.buffer, fixed)
    if planned.last is None and not planned.reopens:
        return OpenClass(api, failure, planned.versions[0]).text(junit)
    return SequentialClass(api, failure, planned).text(junit)


def write_scripts(directory: Path, entries: Sequence[Entry]) -> tuple[int, list[tuple[str, str]]]:
    """Write a script for each failure that has one.

    Return their number, and each clause with a failure without one, with the reason. Raise OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written, missing = set(), []
    for entry in entries:
        for result in () if isinstance(entry, NotSetUp) else entry.clauses:
            if result.outcome not in FAILING | {Verdict.LAX}:
                continue
            for failure in result.counterexamples:
                if not failure.script:
                    missing.append((result.clause.id, failure.no_script or "it has no program"))
                    continue
                digest = hashlib.sha256(failure.script.encode()).hexdigest()[:12]
                suffix = "py" if failure.script.startswith('"""') else "java"
                path = directory / f"{result.clause.id}-{digest}.{suffix}"
                path.write_text(failure.script, encoding="utf-8")
                written.add(path)
    return len(written), [*dict.fromkeys(missing)]
