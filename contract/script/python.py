"""Write a failure as a Python script that needs only the library under test."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.binding import Binding
from fscontract.contract.program.opened_path import PATHS, OpenedPath
from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.costs import cost_script
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.injected_faults import injected_fault_script
from fscontract.contract.script.leaks import RELEASING, leak_script
from fscontract.contract.script.plan import file_content, plan
from fscontract.contract.script.sequential import SequentialScript
from fscontract.contract.script.server_faults import server_fault_script
from fscontract.contract.script.status import STATUS, status_script
from fscontract.contract.script.threads import threads_script
from fscontract.contract.script.unusual_paths import path_script
from fscontract.contract.spec.clauses import clauses


def _without_builder(program: Program) -> Program:
    """Return a program that opens its file directly, if the builder got no calls."""
    opening = program.opening
    if opening is None or opening.calls or opening.scene not in ("file", *PATHS):
        return program
    at = None if opening.scene == "file" else OpenedPath(opening.scene)
    return replace(program, opening=None, at=at)


def python_script(binding: Binding, source: Source, failure: Failure) -> str:
    """Return the script of a failure on a target; raise NoScript with the reason."""
    api = binding.script_api(source)
    if api is None:
        raise NoScript(f"the {binding.api} API has no scripts")
    program, fixed = failure.program, binding.fixed_content
    if failure.threads:
        return threads_script(api, source, failure, file_content(program, fixed, threads=True))
    if clauses()[failure.clause].cost is not None:
        return cost_script(api, source, failure)
    program = _without_builder(program)
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
